//! Mutations of the publish protocol: each switches off one of its guards, so that a test can show that the guard is
//! needed.
//!
//! A mutation is named after the guard that it removes, and is checked only where that guard works. The simulation in
//! `tests/simulation/` turns on each one with [`turn_on`] and fails if it does not notice: then the guard is useless,
//! or the simulation is blind. A release build has no such switch: [`is_off`] is the constant `true`.

/// The removal of a guard that keeps posts from being lost, published twice, too early or unwanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mutation {
    /// A waiting row is not claimed before it is due.
    ClaimInTime,
    /// A row whose lease has not expired is not claimed.
    ClaimUnheld,
    /// `post.publishing` is emitted once.
    EmittedOnce,
    /// A row is abandoned after too many lease expirations.
    TooManyExpirations,
    /// Only the present holder of a row records a step.
    BeginStepFenced,
    /// If a step could not be recorded, no call is made: the row was deleted, paused, changed or claimed.
    BeginStepObeyed,
    /// A publishing call waits for the earlier posts of its account.
    InAccountOrder,
    /// The start of a commit call is recorded before the call.
    SendingWritten,
    /// A commit call starts only at its post's time.
    CommitInTime,
    /// A commit call starts only right after it was recorded.
    CommitAtOnce,
    /// The lease is renewed while a call lasts.
    LeaseRenewed,
    /// Only the present holder of a row writes a result.
    CompleteStepFenced,
    /// A commit call without an answer does not count as failed.
    LostIsNotFailed,
    /// An unsettled commit call is reconciled before anything else is done.
    Reconciled,
    /// It is reconciled only when it can no longer be carried out.
    Settled,
    /// Only a post that became public after the call began counts as its result.
    FoundSince,
    /// The result of another row is not taken for that of the call, nor what another row may have made.
    FoundUnowned,
    /// A call counts as not carried out only after two complete lists, some time apart, did not show it.
    AbsentTwice,
    /// While a call is repeated under its key, its post can neither be changed nor fail.
    RepeatedStaysOpen,
    /// Pausing, rescheduling or changing a post takes it from its holder.
    ChangeTakesRow,
    /// Jobs are enqueued only after the commit.
    EnqueueAfterCommit,
}

impl Mutation {
    /// All mutations.
    pub const ALL: [Self; 21] = [
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
        Self::FoundUnowned,
        Self::AbsentTwice,
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
pub fn unless(mutation: Mutation, clause: &'static str) -> &'static str {
    if is_off(mutation) { clause } else { "" }
}

/// Returns the part that a statement has only when the mutation is on.
pub(crate) fn when(mutation: Mutation, clause: &'static str) -> &'static str {
    if is_off(mutation) { "" } else { clause }
}
