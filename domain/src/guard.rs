//! The guards of the publish protocol by name, so that a test can take one away and see that it is missed.
//!
//! Each stands in the code at the one place where it does its work. [`fall`] takes one away for the thread that calls it,
//! which the simulation of `tests/simulation/` does with each in turn: were one useless, or the simulation blind, that test
//! would fail. In a release build there is no such switch: [`stands`] is the constant `true`.

/// One rule that keeps posts from being lost, doubled, early or unwanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    /// A row that waits is not taken before it is due.
    ClaimInTime,
    /// A row whose lease has not lapsed is not taken.
    ClaimUnheld,
    /// `post.publishing` is told once.
    ToldOnce,
    /// A row that its workers do not survive is given up.
    WornOut,
    /// A step is written down only by the row's present holder.
    ArmFenced,
    /// Without a step written down there is no call: the row was deleted, paused, changed or taken.
    ArmObeyed,
    /// A publishing call waits for the earlier posts of its account.
    InLine,
    /// The start of a commit call is written down before it.
    SendingWritten,
    /// A commit call starts only at its post's time.
    CommitInTime,
    /// A commit call starts only right after it was written down.
    CommitAtOnce,
    /// The lease is renewed while a call lasts.
    LeaseRenewed,
    /// A result is written only by the row's present holder.
    RecordFenced,
    /// A commit call without an answer has not failed.
    LostIsNotFailed,
    /// A commit call that was under way is asked about before anything else is done.
    Reconciled,
    /// It is asked about only when it can no longer be carried out.
    Settled,
    /// Only what was made public since the call began is taken for its result.
    FoundSince,
    /// While a call is made again under its key, its post can neither be changed nor have failed.
    RepeatedStaysOpen,
    /// Pausing, moving or changing a post takes it from its holder.
    ChangeTakesRow,
    /// Jobs are enqueued only after the commit.
    EnqueueAfterCommit,
}

impl Guard {
    /// Each of them.
    pub const ALL: [Self; 19] = [
        Self::ClaimInTime,
        Self::ClaimUnheld,
        Self::ToldOnce,
        Self::WornOut,
        Self::ArmFenced,
        Self::ArmObeyed,
        Self::InLine,
        Self::SendingWritten,
        Self::CommitInTime,
        Self::CommitAtOnce,
        Self::LeaseRenewed,
        Self::RecordFenced,
        Self::LostIsNotFailed,
        Self::Reconciled,
        Self::Settled,
        Self::FoundSince,
        Self::RepeatedStaysOpen,
        Self::ChangeTakesRow,
        Self::EnqueueAfterCommit,
    ];
}

#[cfg(debug_assertions)]
thread_local! {
    static FALLEN: std::cell::Cell<Option<Guard>> = const { std::cell::Cell::new(None) };
}

/// Takes this guard away for what runs on this thread, until the next call.
#[cfg(debug_assertions)]
pub fn fall(guard: Option<Guard>) {
    FALLEN.set(guard);
}

/// Does this guard do its work?
#[cfg(debug_assertions)]
#[must_use]
pub fn stands(guard: Guard) -> bool {
    FALLEN.get() != Some(guard)
}

/// Does this guard do its work? Always.
#[cfg(not(debug_assertions))]
#[must_use]
pub const fn stands(_: Guard) -> bool {
    true
}

/// Was this guard taken away?
#[must_use]
pub fn is_down(guard: Guard) -> bool {
    !stands(guard)
}

/// A guard's part of a statement.
pub(crate) fn with(guard: Guard, clause: &'static str) -> &'static str {
    if stands(guard) { clause } else { "" }
}

/// What a statement says only without its guard.
pub(crate) fn without(guard: Guard, clause: &'static str) -> &'static str {
    if stands(guard) { "" } else { clause }
}
