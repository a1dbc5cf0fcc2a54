//! What speaks against a request.

use std::fmt;

/// Something in a request that its operation has not. Each network says it in its own words.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Objection {
    /// A name that is not known, in the query or in the body, inside the object at this path (`poll.options.0`, empty
    /// at the top).
    Name { in_query: bool, path: String, name: String },
    /// A name that an answer lacks.
    Missing { path: String, name: String },
    /// A value that is not allowed, and why.
    Value { in_query: bool, path: String, why: String },
    /// A field that no such object has.
    Field { field: String, node: String },
    /// A metric that no such object has.
    Metric(String),
    /// The permissions that the request's token lacks.
    Permission(Vec<String>),
}

impl Objection {
    /// Returns the path of the parameter or field, with dots: `poll.options.0`.
    pub fn path(&self) -> String {
        match self {
            Self::Name { path, name, .. } | Self::Missing { path, name, .. } => {
                if path.is_empty() {
                    name.clone()
                } else {
                    format!("{path}.{name}")
                }
            }
            Self::Value { path, .. } => path.clone(),
            Self::Field { .. } => "fields".into(),
            Self::Metric(_) => "metric".into(),
            Self::Permission(_) => String::new(),
        }
    }
}

impl fmt::Display for Objection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name { .. } => write!(f, "{} is not known", self.path()),
            Self::Missing { .. } => write!(f, "{} is missing", self.path()),
            Self::Value { path, why, .. } => write!(f, "{path}: {why}"),
            Self::Field { field, node } => write!(f, "{node} has no field {field}"),
            Self::Metric(name) => write!(f, "{name} is no metric"),
            Self::Permission(names) => write!(f, "the token lacks {}", names.join(", ")),
        }
    }
}
