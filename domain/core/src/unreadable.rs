//! Stored JSON columns that cannot be read.

use serde_json::{Map, Value};

use crate::error::Error;

/// The error for a stored column that cannot be read. Its content is unknown, so no code may treat it as empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the stored {0} cannot be read")]
pub struct UnreadableColumn(pub &'static str);

impl From<UnreadableColumn> for Error {
    fn from(unreadable: UnreadableColumn) -> Self {
        Self::internal(unreadable)
    }
}

/// Returns the JSON object in a column.
///
/// # Errors
/// The column contains something else.
pub fn read_object(
    column: &'static str,
    value: &Value,
) -> Result<Map<String, Value>, UnreadableColumn> {
    value.as_object().cloned().ok_or(UnreadableColumn(column))
}
