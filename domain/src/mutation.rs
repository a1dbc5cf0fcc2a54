//! Mutations of the publish protocol: each switches one of its guards off, so that a test can show that the guard is needed.
//!
//! A mutation is named after the guard that it removes, and is asked for at the one place where that guard works. The
//! simulation in `tests/simulation/` turns each on in turn with [`turn_on`] and fails if it notices nothing: then the guard
//! is useless, or the simulation blind. A release build has no such switch: [`is_off`] is the constant `true`.

/// A guard that keeps posts from being lost, doubled, early or unwanted, as something that can be removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mutation {
    /// A row that waits is not taken before it is due.
    ClaimInTime,
    /// A row whose lease has not lapsed is not taken.
    ClaimUnheld,
    /// `post.publishing` is told once.
    EmittedOnce,
    /// A row that its workers do not survive is given up.
    TooManyExpirations,
    /// A step is written down only by the row's present holder.
    BeginStepFenced,
    /// Without a step written down there is no call: the row was deleted, paused, changed or taken.
    BeginStepObeyed,
    /// A publishing call waits for the earlier posts of its account.
    InAccountOrder,
    /// The start of a commit call is written down before it.
    SendingWritten,
    /// A commit call starts only at its post's time.
    CommitInTime,
    /// A commit call starts only right after it was written down.
    CommitAtOnce,
    /// The lease is renewed while a call lasts.
    LeaseRenewed,
    /// A result is written only by the row's present holder.
    CompleteStepFenced,
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

impl Mutation {
    /// Each of them.
    pub const ALL: [Self; 19] = [
        Self::ClaimInTime,
        Self::ClaimUnheld,
        Self::EmittedOnce,
        Self::TooManyExpirations,
        Self::BeginStepFenced,
        Self::BeginStepObeyed,
        Self::InAccountOrder,
        Self::SendingWritten,
        Self::CommitInTime,
        Self::CommitAtOnce,
        Self::LeaseRenewed,
        Self::CompleteStepFenced,
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
    static ON: std::cell::Cell<Option<Mutation>> = const { std::cell::Cell::new(None) };
}

/// Turns this mutation on for the current thread, in place of an earlier one; `None` turns all of them off.
#[cfg(debug_assertions)]
pub fn turn_on(mutation: Option<Mutation>) {
    ON.set(mutation);
}

/// Returns true if the mutation is off, so that its guard works.
#[cfg(debug_assertions)]
#[must_use]
pub fn is_off(mutation: Mutation) -> bool {
    ON.get() != Some(mutation)
}

/// Returns true: mutations are always off in a release build.
#[cfg(not(debug_assertions))]
#[must_use]
pub const fn is_off(_: Mutation) -> bool {
    true
}

/// Returns true if the mutation is on, so that its guard is missing.
#[must_use]
pub fn is_on(mutation: Mutation) -> bool {
    !is_off(mutation)
}

/// Returns a guard's part of a statement, unless its mutation is on.
pub(crate) fn unless(mutation: Mutation, clause: &'static str) -> &'static str {
    if is_off(mutation) { clause } else { "" }
}

/// Returns the part that a statement has only when the mutation is on.
pub(crate) fn when(mutation: Mutation, clause: &'static str) -> &'static str {
    if is_off(mutation) { "" } else { clause }
}
