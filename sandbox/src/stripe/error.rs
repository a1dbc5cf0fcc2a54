//! Stripe's errors: `{"error": {"type", "code", "message", "param"}}`.

use serde_json::{Map, json};

use crate::reply::Reply;

/// An error response.
#[derive(Debug, Clone)]
pub(super) struct StripeError {
    status: u16,
    kind: &'static str,
    code: Option<&'static str>,
    message: String,
    param: Option<String>,
}

/// The result of an operation.
pub(super) type StripeResult<T = serde_json::Value> = Result<T, StripeError>;

impl StripeError {
    /// Creates the error of an invalid request.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self {
            status: 400,
            kind: "invalid_request_error",
            code: None,
            message: message.into(),
            param: None,
        }
    }

    /// Creates the error of a missing parameter.
    pub fn missing(param: &str) -> Self {
        Self::invalid(format!("Missing required param: {param}."))
            .with_code("parameter_missing")
            .about(param)
    }

    /// Creates the error of an unknown parameter.
    pub fn unknown(param: &str) -> Self {
        Self::invalid(format!("Received unknown parameter: {param}"))
            .with_code("parameter_unknown")
            .about(param)
    }

    /// Creates the error of an unknown id.
    pub fn no_such(what: &str, id: &str, param: &str) -> Self {
        Self::invalid(format!("No such {what}: '{id}'"))
            .with_code("resource_missing")
            .about(param)
            .with_status(404)
    }

    /// Creates the error of a declined card.
    pub fn declined() -> Self {
        Self {
            status: 402,
            kind: "card_error",
            code: Some("card_declined"),
            message: "Your card was declined.".to_owned(),
            param: None,
        }
    }

    /// Creates the error of an idempotency key that was used with other parameters.
    pub fn other_parameters(key: &str) -> Self {
        Self {
            kind: "idempotency_error",
            ..Self::invalid(format!(
                "Keys for idempotent requests can only be used with the same parameters they were first used with. \
                 Try using a key other than '{key}' if you meant to execute a different request."
            ))
        }
    }

    /// Creates the error of a missing or wrong API key.
    pub fn unauthorized() -> Self {
        Self::invalid("Invalid API Key provided.").with_status(401)
    }

    pub const fn with_code(mut self, code: &'static str) -> Self {
        self.code = Some(code);
        self
    }

    pub fn about(mut self, param: &str) -> Self {
        self.param = Some(param.to_owned());
        self
    }

    pub const fn with_status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    pub fn reply(&self) -> Reply {
        let mut error = Map::new();
        error.insert("type".to_owned(), self.kind.into());
        error.insert("message".to_owned(), self.message.as_str().into());
        if let Some(code) = self.code {
            error.insert("code".to_owned(), code.into());
        }
        if let Some(param) = &self.param {
            error.insert("param".to_owned(), param.as_str().into());
        }
        Reply::json(self.status, &json!({ "error": error }))
    }
}

pub(super) fn too_large() -> Reply {
    StripeError::invalid("The request is too large.").with_status(413).reply()
}

pub(super) fn broken() -> Reply {
    StripeError::invalid("The request cannot be read.").reply()
}

pub(super) fn api_error(message: &str) -> Reply {
    let refusal = StripeError { kind: "api_error", ..StripeError::invalid(message) };
    refusal.with_status(500).reply()
}
