use std::time::Duration;

use crate::window::millis;

/// At most `limit` calls in any period of length `span`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rate {
    /// The most calls.
    pub limit: u32,
    /// The length of the period.
    pub span: Duration,
}

/// Something that outgoing calls are counted against: an account, a workspace, an app.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Subject {
    /// Its name, the same in every process. Stands in Redis, so it must not be a secret.
    pub name: String,
    /// Its limits; none: only whether it is blocked matters.
    pub rates: Vec<Rate>,
}

/// A call that asks to be made.
#[derive(Debug, Clone)]
pub struct Request {
    /// The owner of the call: a call that must wait keeps its reserved time under this id.
    pub id: String,
    /// The call's own name, which no other call has: it is counted under it.
    pub call: String,
    /// It could have been made under this name and was not, since something else was not ready: what was counted then
    /// counts no more, and those that wait for later times do not come before it.
    pub is_again: bool,
    /// The subjects it is counted against, all or none.
    pub subjects: Vec<Subject>,
}

/// The decision on a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// It may be made now, and has been counted.
    Now,
    /// A time is reserved for it: ask again after this duration.
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
    /// The keys of the calls it is counted among.
    pub(crate) fn calls_keys(&self) -> impl Iterator<Item = String> {
        let counted = self.subjects.iter().filter(|subject| !subject.rates.is_empty());
        counted.map(|subject| Subject::calls_key(&subject.name))
    }
}

impl Subject {
    /// The key that says until when it is blocked. The braces put all decisions on one node of a cluster: calls of
    /// different apps, workspaces and accounts are decided together.
    pub(crate) fn blocked_key(name: &str) -> String {
        format!("fanfare:{{permits}}:{name}:closed")
    }

    /// The key of the calls counted against it.
    pub(crate) fn calls_key(name: &str) -> String {
        format!("fanfare:{{permits}}:{name}:calls")
    }

    /// Returns how long a call counts: the longest span of its limits, in ms, or 0 without any.
    pub(crate) fn span(&self) -> i64 {
        self.rates.iter().map(|rate| millis(rate.span)).max().unwrap_or(0)
    }
}
