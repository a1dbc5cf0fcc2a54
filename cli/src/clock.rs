//! The current time, for the expiration of tokens.

/// Returns the present day, as YYYY-MM-DD.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "a client has no clock but its machine's")]
pub fn today() -> String {
    chrono::Utc::now().format("%Y-%m-%d").to_string()
}

/// Returns the seconds since 1970.
#[expect(clippy::disallowed_methods, reason = "a client has no clock but its machine's")]
pub fn now() -> i64 {
    chrono::Utc::now().timestamp()
}
