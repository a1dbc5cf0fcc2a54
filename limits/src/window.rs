use std::time::Duration;

/// A fixed window: at most `limit` in a period of length `span`. The period starts with the first amount taken.
#[derive(Debug, Clone)]
pub struct Window {
    /// The name, which is unique among the windows of the owner.
    pub name: String,
    /// The largest amount that the window allows.
    pub limit: u64,
    /// The duration of the period.
    pub span: Duration,
    /// The amount to take. 0 only reads the window.
    pub cost: u64,
}

impl Window {
    /// Creates a window from which 1 is taken.
    #[must_use]
    pub fn new(name: impl Into<String>, limit: u64, span: Duration) -> Self {
        Self { name: name.into(), limit, span, cost: 1 }
    }

    pub(crate) fn span_ms(&self) -> i64 {
        millis(self.span)
    }
}

/// The state of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    /// The largest amount that the window allows.
    pub limit: u64,
    /// The amount that is left.
    pub remaining: u64,
    /// The time until the window resets.
    pub reset_in: Duration,
}

/// The result of [`Limits::take`](crate::Limits::take).
#[derive(Debug, Clone)]
pub struct TakeResult {
    /// The state of each window, in the order of the request.
    pub counts: Vec<Count>,
    /// The window that had too little left, or of several the one that resets last. If set, nothing was taken.
    pub refused_by: Option<usize>,
}

impl TakeResult {
    /// Returns true if everything was taken.
    #[must_use]
    pub const fn is_allowed(&self) -> bool {
        self.refused_by.is_none()
    }

    /// Creates the result from the state of each window before the call.
    pub(crate) fn from_counts(windows: &[Window], counts: Vec<Count>, allowed: bool) -> Self {
        let lacking = windows.iter().zip(&counts).enumerate();
        let lacking = lacking.filter(|(_, (window, count))| count.remaining < window.cost);
        let last = lacking.max_by_key(|(_, (_, count))| count.reset_in).map(|(place, _)| place);
        Self { refused_by: if allowed { None } else { last.or(Some(0)) }, counts }
    }
}

/// Returns a duration in milliseconds, at least 1.
pub(crate) fn millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX / 4).max(1)
}
