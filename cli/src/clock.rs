//! The current time, for the expiration of tokens.

/// Returns the seconds since 1970.
#[expect(clippy::disallowed_methods, reason = "a client has no clock but its machine's")]
pub fn now() -> i64 {
    chrono::Utc::now().timestamp()
}
