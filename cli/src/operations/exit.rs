//! Exit codes.

use serde_json::Value;

use crate::account::LoginError;

/// The exit code of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// It is done.
    Fine = 0,
    /// The service refused it, or some items of a batch failed, or the reply could not be written.
    Refused = 1,
    /// The command is wrong.
    Usage = 2,
    /// There is no such thing.
    NotFound = 3,
    /// A log-in or a key is needed.
    LogIn = 4,
    /// The key, the role or the plan does not allow it.
    NotAllowed = 5,
    /// It does not fit the present state.
    Conflict = 6,
    /// A limit is reached.
    Limited = 7,
    /// The service does not answer.
    Unreachable = 8,
    /// The post or video failed, or every item of a batch did.
    Failed = 9,
    /// With `--wait`: it has not ended and nothing ends it soon, or it is done and cannot be followed.
    Pending = 10,
}

/// The codes, for help texts.
pub const CODES: &str = "Exit codes: 0 done, 1 refused, 2 wrong command, 3 not found, 4 not logged in, 5 not allowed, 6 does not fit the \
    present state, 7 limited, 8 no answer, 9 the post, video or every item failed, 10 --wait did not see its end.";

impl Exit {
    /// Returns the code of an HTTP status.
    pub const fn of(status: u16) -> Self {
        match status {
            200..=299 => Self::Fine,
            401 => Self::LogIn,
            402 | 403 => Self::NotAllowed,
            404 => Self::NotFound,
            409 | 412 | 422 => Self::Conflict,
            429 => Self::Limited,
            500.. => Self::Unreachable,
            _ => Self::Refused,
        }
    }

    /// Returns the code of an error of the command itself.
    pub fn of_error(error: &anyhow::Error) -> Self {
        if error.downcast_ref::<LoginError>().is_some() {
            Self::LogIn
        } else if error.downcast_ref::<std::io::Error>().is_some() {
            // The reply could not be written out.
            Self::Refused
        } else if error.downcast_ref::<reqwest::Error>().is_some() {
            Self::Unreachable
        } else {
            Self::Usage
        }
    }

    /// Returns the code of a batch, by how many of its items failed; `None` for any other reply.
    pub fn of_batch(reply: &Value) -> Option<Self> {
        let (failed, total) = (reply["failed"].as_u64()?, reply["total"].as_u64()?);
        Some(match failed {
            0 => Self::Fine,
            _ if failed == total => Self::Failed,
            _ => Self::Refused,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_batch_fails_by_its_items() {
        let of = |failed: u64| Exit::of_batch(&json!({"failed": failed, "total": 2, "posts": []}));
        assert_eq!([of(0), of(1), of(2)], [Exit::Fine, Exit::Refused, Exit::Failed].map(Some));
        assert_eq!(Exit::of_batch(&json!({"post": {}})), None);
    }
}
