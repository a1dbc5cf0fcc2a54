//! Calls as data, so that they can be written down before they are sent.

use serde::{Deserialize, Serialize};

/// An HTTP method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Reads.
    Get,
    /// Makes or changes.
    Post,
    /// Ends.
    Delete,
}

/// A call: where, and its parameters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// The payment.
    pub method: Method,
    /// Below `/v1/`.
    pub path: String,
    /// Names, with brackets, and values.
    pub form: Vec<(String, String)>,
}

impl Request {
    /// Returns a call that reads.
    #[must_use]
    pub fn get(path: impl Into<String>) -> Self {
        Self { method: Method::Get, path: path.into(), form: Vec::new() }
    }

    /// Returns a call that makes or changes something.
    #[must_use]
    pub fn post(path: impl Into<String>) -> Self {
        Self { method: Method::Post, path: path.into(), form: Vec::new() }
    }

    /// Returns a call that ends something.
    #[must_use]
    pub fn delete(path: impl Into<String>) -> Self {
        Self { method: Method::Delete, path: path.into(), form: Vec::new() }
    }

    /// Adds a parameter.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.form.push((name.into(), value.into()));
        self
    }
}

/// A checkout of a subscription.
#[derive(Debug, Clone)]
pub struct Checkout<'a> {
    /// Prices of its items.
    pub prices: &'a [String],
    /// Address of the customer.
    pub email: &'a str,
    /// Our id of what is bought, found again in `client_reference_id` and the metadata.
    pub reference: &'a str,
    /// Returns the address that a person goes on to after the payment.
    pub success_url: &'a str,
    /// The address for a person who does not pay.
    pub cancel_url: &'a str,
}

impl Checkout<'_> {
    /// Returns the call that opens it.
    #[must_use]
    pub fn request(&self) -> Request {
        let mut request = Request::post("checkout/sessions").with("mode", "subscription");
        for (place, price) in self.prices.iter().enumerate() {
            request = request
                .with(format!("line_items[{place}][price]"), price)
                .with(format!("line_items[{place}][quantity]"), "1");
        }
        request
            .with("customer_email", self.email)
            .with("client_reference_id", self.reference)
            .with("metadata[reference]", self.reference)
            .with("subscription_data[metadata][reference]", self.reference)
            .with("success_url", self.success_url)
            .with("cancel_url", self.cancel_url)
    }
}

/// A checkout of a pack of credits.
#[derive(Debug, Clone)]
pub struct PackCheckout<'a> {
    /// The price.
    pub price: &'a str,
    /// The number of credits.
    pub credits: u32,
    /// The customer, if there is one.
    pub customer: Option<&'a str>,
    /// Address of a customer who is new.
    pub email: &'a str,
    /// Our id of the person, found again in `client_reference_id`.
    pub reference: &'a str,
    /// The address that the person goes on to.
    pub return_url: &'a str,
}

impl PackCheckout<'_> {
    /// The name in the metadata under which the number of credits stands.
    pub const CREDITS: &'static str = "fanfare_credits";

    /// Returns the call that opens it.
    #[must_use]
    pub fn request(&self) -> Request {
        let request = Request::post("checkout/sessions")
            .with("mode", "payment")
            .with("line_items[0][price]", self.price)
            .with("line_items[0][quantity]", "1")
            .with("client_reference_id", self.reference)
            .with(format!("metadata[{}]", Self::CREDITS), self.credits.to_string())
            .with("success_url", self.return_url)
            .with("cancel_url", self.return_url);
        match self.customer {
            Some(customer) => request.with("customer", customer),
            None => request.with("customer_email", self.email).with("customer_creation", "always"),
        }
    }
}
