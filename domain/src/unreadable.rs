//! JSON columns that do not hold what they should.

use serde_json::{Map, Value};

use crate::error::Error;

/// Says which stored column cannot be read. What it held is unknown, so nothing may go on as if it had been empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the stored {0} cannot be read")]
pub struct Unreadable(pub &'static str);

impl From<Unreadable> for Error {
    fn from(unreadable: Unreadable) -> Self {
        Self::internal(unreadable)
    }
}

/// Returns the object that a column holds.
///
/// # Errors
/// It holds something else.
pub(crate) fn object(
    column: &'static str,
    value: &Value,
) -> Result<Map<String, Value>, Unreadable> {
    value.as_object().cloned().ok_or(Unreadable(column))
}
