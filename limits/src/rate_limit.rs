use std::time::Duration;

use crate::window::millis;

/// At most `limit` calls in any period of length `span`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rate {
    /// The largest number of calls.
    pub limit: u32,
    /// The duration of the period.
    pub span: Duration,
}

/// Something that outgoing calls count against: an account, a workspace or an app.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Subject {
    /// The name, which is the same in every process. It is stored in Redis, so it must not be a secret.
    pub name: String,
    /// The limits. If empty, only a block can delay the call.
    pub rates: Vec<Rate>,
}

/// A request to make an outgoing call.
#[derive(Debug, Clone)]
pub struct Request {
    /// The id of the call's owner. A call that must wait keeps its reserved time under this id.
    pub id: String,
    /// The unique name under which the call is counted.
    pub call: String,
    /// The name of an earlier attempt that was allowed but not made because something else was not ready. It no longer
    /// counts, and calls that wait for later times do not overtake this call.
    pub is_again: bool,
    /// The subjects that the call counts against, all or none.
    pub subjects: Vec<Subject>,
}

/// The decision on a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// The call may be made now and has been counted.
    Now,
    /// A time is reserved for the call. Ask again after this duration.
    After(Duration),
}

impl Decision {
    pub(crate) fn after(wait: i64) -> Self {
        match u64::try_from(wait) {
            Ok(wait) if wait > 0 => Self::After(Duration::from_millis(wait)),
            _ => Self::Now,
        }
    }
}

impl Request {
    /// Returns the keys of the windows in which the call is counted.
    pub(crate) fn calls_keys(&self) -> impl Iterator<Item = String> {
        let counted = self.subjects.iter().filter(|subject| !subject.rates.is_empty());
        counted.map(|subject| Subject::calls_key(&subject.name))
    }
}

impl Subject {
    /// Returns the key of a subject's block. The braces put all subjects on one cluster node, because one call can
    /// count
    /// against an app, a workspace and an account.
    pub(crate) fn blocked_key(name: &str) -> String {
        format!("fanfare:{{permits}}:{name}:closed")
    }

    /// Returns the key of the calls that count against a subject.
    pub(crate) fn calls_key(name: &str) -> String {
        format!("fanfare:{{permits}}:{name}:calls")
    }

    /// Returns how long a call counts, in milliseconds: the longest span of the subject's limits, or 0 without limits.
    pub(crate) fn span(&self) -> i64 {
        self.rates.iter().map(|rate| millis(rate.span)).max().unwrap_or(0)
    }
}
