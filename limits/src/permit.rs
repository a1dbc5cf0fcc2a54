use std::time::Duration;

use crate::window::millis;

/// So many calls in any time of this length, wherever it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rate {
    /// How many.
    pub limit: u32,
    /// In which time.
    pub span: Duration,
}

/// Something that outgoing calls are counted against: an account, a workspace, an app.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Subject {
    /// Its name, the same in every process. Stands in Redis, so it must not be a secret.
    pub name: String,
    /// Its limits; none: only whether it is closed matters.
    pub rates: Vec<Rate>,
}

/// A call that wants to be made.
#[derive(Debug, Clone)]
pub struct Request {
    /// Whose call it is: who has to wait keeps its place under this name.
    pub id: String,
    /// The call's own name, which no other call has: it is counted under it.
    pub call: String,
    /// It could have been made under this name and was not, since something else was not ready: what was counted then
    /// counts no more, and those that wait for later times do not come before it.
    pub is_again: bool,
    /// What it is counted against, all or none.
    pub subjects: Vec<Subject>,
}

/// What a call is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permit {
    /// It may be made now, and has been counted.
    Now,
    /// It has a place in the line: ask again after this time.
    After(Duration),
}

impl Permit {
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
    /// The key that says until when it is closed. The braces put all permits on one node of a cluster: calls of
    /// different apps, workspaces and accounts are decided together.
    pub(crate) fn closed_key(name: &str) -> String {
        format!("fanfare:{{permits}}:{name}:closed")
    }

    /// The key of the calls counted against it.
    pub(crate) fn calls_key(name: &str) -> String {
        format!("fanfare:{{permits}}:{name}:calls")
    }

    /// How long a call counts: the longest of its limits, in ms; 0 without any.
    pub(crate) fn span(&self) -> i64 {
        self.rates.iter().map(|rate| millis(rate.span)).max().unwrap_or(0)
    }
}
