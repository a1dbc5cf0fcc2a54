use std::time::Duration;

/// So much in such a time. A window starts with the first that is taken from it and lasts its length.
#[derive(Debug, Clone)]
pub struct Window {
    /// What is counted, unique among its owner's windows.
    pub name: String,
    /// How much it holds.
    pub limit: u64,
    /// How long it lasts.
    pub span: Duration,
    /// How much is asked for; 0 only looks.
    pub cost: u64,
}

impl Window {
    /// One of `limit`.
    #[must_use]
    pub fn new(name: impl Into<String>, limit: u64, span: Duration) -> Self {
        Self { name: name.into(), limit, span, cost: 1 }
    }

    pub(crate) fn span_ms(&self) -> i64 {
        millis(self.span)
    }
}

/// Where a window stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    /// How much it holds.
    pub limit: u64,
    /// How much of it is left.
    pub remaining: u64,
    /// In how long it starts anew.
    pub reset_in: Duration,
}

/// What came of asking.
#[derive(Debug, Clone)]
pub struct Taken {
    /// Where each window stands now, in the order they were given.
    pub counts: Vec<Count>,
    /// The window that did not hold enough; of several the one that starts anew last. Nothing was taken then.
    pub refused_by: Option<usize>,
}

impl Taken {
    /// True if everything was taken.
    #[must_use]
    pub const fn is_allowed(&self) -> bool {
        self.refused_by.is_none()
    }

    /// The answer, from what each window held before.
    pub(crate) fn from_counts(windows: &[Window], counts: Vec<Count>, allowed: bool) -> Self {
        let lacking = windows.iter().zip(&counts).enumerate();
        let lacking = lacking.filter(|(_, (window, count))| count.remaining < window.cost);
        let last = lacking.max_by_key(|(_, (_, count))| count.reset_in).map(|(place, _)| place);
        Self { refused_by: if allowed { None } else { last.or(Some(0)) }, counts }
    }
}

/// A duration in ms, at least one.
pub(crate) fn millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX / 4).max(1)
}
