//! The kinds of work that a simulation plays, one at a time.

use fanfare_core::mutation::Mutation;
use fanfare_entities::Millis;
use fanfare_jobs::{JobKind, PublishPost, SendOutgoing};
use fanfare_platforms::{Phase, PlatformId};
use fanfare_workers::Context;

/// A kind of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Posts, which callers also change.
    Posts,
    /// Replies, as direct messages of the same conversation.
    Replies,
}

impl Kind {
    pub const ALL: [Self; 2] = [Self::Posts, Self::Replies];

    /// Returns the kind of its jobs.
    pub const fn job(self) -> JobKind {
        match self {
            Self::Posts => JobKind::PublishPost,
            Self::Replies => JobKind::SendOutgoing,
        }
    }

    /// Works on a row.
    pub async fn work(self, id: i64, cx: Context) {
        match self {
            Self::Posts => fanfare_workers::publish_post(PublishPost { id }, cx).await,
            Self::Replies => fanfare_workers::send_outgoing(SendOutgoing { id }, cx).await,
        }
    }

    /// Returns the failpoints at which a row may kill its workers.
    pub const fn fatal_places(self) -> [&'static str; 3] {
        match self {
            Self::Posts => ["arming", "prepare_called", "commit_called"],
            Self::Replies => ["outgoing_armed", "outgoing_prepare_called", "outgoing_called"],
        }
    }

    /// Returns the time-out of a call, in ms.
    pub fn deadline(self, platform: PlatformId, phase: Phase) -> Millis {
        let spec = fanfare_platforms::find(platform).spec();
        match (self, phase) {
            (Self::Posts, Phase::Commit) => {
                Millis::try_from(spec.commit_deadline.as_millis()).expect("a short time")
            }
            (Self::Posts, Phase::Prepare) => 150_000,
            (Self::Replies, Phase::Commit) => 20_000,
            (_, Phase::Prepare | Phase::Confirm) => 25_000,
        }
    }

    /// Returns the ends that rows must have reached in some of the seeds of a run: status and code.
    pub const fn ends(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Posts => &[
                ("published", ""),
                ("failed", "outcome_unknown"),
                ("failed", "platform_unavailable"),
                ("failed", "content_rejected"),
                ("failed", "internal_error"),
            ],
            Self::Replies => &[
                ("published", ""),
                ("failed", "outcome_unknown"),
                ("failed", "provider_unreachable"),
                ("failed", "content_refused"),
            ],
        }
    }

    /// Returns true if the guard that a mutation removes works for this kind.
    pub const fn has_guard(self, mutation: Mutation) -> bool {
        match self {
            Self::Posts => true,
            Self::Replies => !matches!(
                mutation,
                // Replies have no time, no order, no event of their beginning, and nobody changes them.
                Mutation::EmittedOnce
                    | Mutation::InAccountOrder
                    | Mutation::CommitInTime
                    | Mutation::ChangeTakesRow
                    // Each step leases anew for longer than its call may take.
                    | Mutation::LeaseRenewed
                    // A reply under a key is repeated in any case.
                    | Mutation::RepeatedStaysOpen
            ),
        }
    }
}
