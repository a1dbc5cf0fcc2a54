//! Errands: the jobs that call others than networks. Videos are ordered and billed once and paid for if they arrive,
//! e-mails arrive, and payments are credited once, whatever dies on the way.

mod driver;
mod judge;
mod money;
mod outside;
mod requests;
mod rows;

use std::collections::BTreeSet;

use fanfare_core::mutation::Mutation;
use fanfare_jobs::{ApplyStripeEvent, JobKind, MakeVideo, SendMail};
use fanfare_workers::Context;

use crate::{SEEDS, given, seed_run::each};
use driver::Play;

/// A kind of errand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Errand {
    /// Videos that a model makes.
    Videos,
    /// E-mails.
    Mails,
    /// Stripe's events about packs of credits.
    Payments,
}

impl Errand {
    const ALL: [Self; 3] = [Self::Videos, Self::Mails, Self::Payments];

    /// Returns the kind of its jobs.
    const fn job(self) -> JobKind {
        match self {
            Self::Videos => JobKind::MakeVideo,
            Self::Mails => JobKind::SendMail,
            Self::Payments => JobKind::ApplyStripeEvent,
        }
    }

    /// Works on a row.
    async fn work(self, id: i64, cx: Context) {
        match self {
            Self::Videos => fanfare_workers::make_video(MakeVideo { id }, cx).await,
            Self::Mails => fanfare_workers::send_mail(SendMail { id }, cx).await,
            Self::Payments => {
                fanfare_workers::apply_stripe_event(ApplyStripeEvent { id }, cx).await
            }
        }
    }

    /// Returns the failpoints at which a row may kill its workers.
    const fn fatal_places(self) -> [&'static str; 3] {
        match self {
            Self::Videos => ["video_sending", "video_sent", "video_stored"],
            Self::Mails => ["letter_written"; 3],
            Self::Payments => ["event_applying"; 3],
        }
    }

    /// Returns the ends that rows must have reached in some of the seeds of a run.
    const fn ends(self) -> &'static [&'static str] {
        match self {
            Self::Videos => {
                &["completed", "outcome_unknown", "provider_error", "provider_unreachable"]
            }
            Self::Mails => &["sent", "failed"],
            Self::Payments => &["applied", "failed"],
        }
    }

    /// Returns true if the guard that a mutation removes works for this kind.
    const fn has_guard(self, mutation: Mutation) -> bool {
        matches!(
            (self, mutation),
            (
                _,
                Mutation::ClaimInTime
                    | Mutation::ClaimUnheld
                    | Mutation::TooManyExpirations
                    | Mutation::CompleteStepFenced
            ) | (
                // An event of Stripe is received again at once until it is committed, so that nobody sees a job before that.
                Self::Videos | Self::Mails,
                Mutation::EnqueueAfterCommit
            ) | (
                Self::Videos,
                Mutation::SendingWritten
                    | Mutation::BeginStepFenced
                    | Mutation::BeginStepObeyed
                    | Mutation::LostIsNotFailed
                    | Mutation::Reconciled
            )
        )
    }
}

#[test]
fn no_video_is_billed_twice_or_paid_for_in_vain() {
    nothing_breaks(Errand::Videos);
}

#[test]
fn no_email_is_lost_or_sent_again_without_need() {
    nothing_breaks(Errand::Mails);
}

#[test]
fn no_payment_is_lost_or_credited_twice() {
    nothing_breaks(Errand::Payments);
}

fn nothing_breaks(errand: Errand) {
    if let Some(seed) = given("SEED") {
        let story = Play::of(errand, seed);
        eprintln!("{}", story.trace.join("\n"));
        return story.is_good();
    }
    let ends = each(0..given("SEEDS").unwrap_or(SEEDS), |seed| {
        let story = Play::of(errand, seed);
        story.is_good();
        story.ends
    });
    let ends: BTreeSet<String> = ends.into_iter().flatten().collect();
    for end in errand.ends() {
        assert!(ends.contains(*end), "nothing ended as {end}: {ends:?}");
    }
}

#[test]
fn the_same_seed_tells_the_same_story() {
    for errand in Errand::ALL {
        let (one, two) = (Play::of(errand, 1), Play::of(errand, 1));
        assert_eq!(one.trace, two.trace, "{errand:?}");
    }
}

#[cfg(debug_assertions)]
#[test]
fn each_mutation_is_noticed() {
    const SEEDS: u64 = 1_000;
    let pairs = Errand::ALL.into_iter().flat_map(|kind| Mutation::ALL.map(|one| (kind, one)));
    let guard = crate::named("GUARD");
    let is_asked = |one: &Mutation| guard.as_ref().is_none_or(|name| format!("{one:?}") == *name);
    let pairs: Vec<_> = pairs.filter(|(kind, one)| kind.has_guard(*one) && is_asked(one)).collect();
    let noticed = each(0..pairs.len() as u64, |number| {
        let (kind, mutation) = pairs[usize::try_from(number).expect("a small number")];
        let first = (0..SEEDS).find_map(|seed| {
            fanfare_core::mutation::turn_on(Some(mutation));
            let broken = Play::of(kind, seed).broken;
            fanfare_core::mutation::turn_on(None);
            broken.map(|broken| (seed, broken))
        });
        (kind, mutation, first)
    });
    for (kind, mutation, first) in &noticed {
        eprintln!("{kind:?}, {mutation:?}: {first:?}");
    }
    for (kind, mutation, first) in noticed {
        assert!(first.is_some(), "{kind:?}: {mutation:?} was not noticed in {SEEDS} seeds");
    }
}
