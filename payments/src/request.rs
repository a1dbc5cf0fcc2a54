//! Requests as data, so that they can be stored before they are sent.

use serde::{Deserialize, Serialize};

/// An HTTP method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Reads an object.
    Get,
    /// Creates or changes an object.
    Post,
    /// Deletes an object.
    Delete,
}

/// A request: its path and parameters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// The HTTP method.
    pub method: Method,
    /// The path below `/v1/`.
    pub path: String,
    /// Names (with brackets) and values.
    pub form: Vec<(String, String)>,
}

impl Request {
    /// Returns a request that reads.
    #[must_use]
    pub fn get(path: impl Into<String>) -> Self {
        Self { method: Method::Get, path: path.into(), form: Vec::new() }
    }

    /// Returns a request that creates or changes something.
    #[must_use]
    pub fn post(path: impl Into<String>) -> Self {
        Self { method: Method::Post, path: path.into(), form: Vec::new() }
    }

    /// Returns a request that deletes something.
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
    /// E-mail address of the customer.
    pub email: &'a str,
    /// Our id of the purchase, which Stripe returns in `client_reference_id` and the metadata.
    pub reference: &'a str,
    /// The URL that Stripe redirects to after the payment.
    pub success_url: &'a str,
    /// The URL that Stripe redirects to if the user does not pay.
    pub cancel_url: &'a str,
}

impl Checkout<'_> {
    /// The metadata key of our id of the purchase. It marks the checkout as ours, also when our row of it is gone.
    pub const SIGNUP: &'static str = "fanfare_signup";

    /// Returns the request that creates it.
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
            .with(format!("metadata[{}]", Self::SIGNUP), self.reference)
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
    /// E-mail address of a new customer.
    pub email: &'a str,
    /// Our id of the user, which Stripe returns in `client_reference_id`.
    pub reference: &'a str,
    /// The URL that Stripe redirects to.
    pub return_url: &'a str,
}

impl PackCheckout<'_> {
    /// The metadata key of the number of credits.
    pub const CREDITS: &'static str = "fanfare_credits";

    /// Returns the request that creates it.
    #[must_use]
    pub fn request(&self) -> Request {
        let request = Request::post("checkout/sessions")
            .with("mode", "payment")
            .with("line_items[0][price]", self.price)
            .with("line_items[0][quantity]", "1")
            .with("client_reference_id", self.reference)
            .with(format!("metadata[{}]", Self::CREDITS), self.credits.to_string())
            .with("success_url", format!("{}?paid={{CHECKOUT_SESSION_ID}}", self.return_url))
            .with("cancel_url", self.return_url);
        match self.customer {
            Some(customer) => request.with("customer", customer),
            None => request.with("customer_email", self.email).with("customer_creation", "always"),
        }
    }
}
