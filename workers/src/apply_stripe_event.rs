//! Applies one Stripe event.

use fanfare_core::{
    durable::{Lease, MAX_LEASE_EXPIRATIONS},
    mutation::{self, Mutation},
};
use fanfare_entities::stripe_event;
use fanfare_jobs::{ApplyStripeEvent, JobKind};
use fanfare_people::billing::events::{self, EventOutcome};
use tracing::Instrument;

use crate::{Context, lease, publish_post::retry_policy};

/// The most attempts at an event. The last waits are two hours each, since Stripe may be away for long.
const MAX_ATTEMPTS: i32 = 20;

/// Claims a Stripe event if it is due, and applies it.
pub async fn run(job: ApplyStripeEvent, cx: Context) {
    let row = match events::claim(&cx.domain, &cx.name, job.id).await {
        Ok(Some(row)) => row,
        Ok(None) => return,
        Err(error) => {
            tracing::debug!(%error, "claim failed; the event will be enqueued again");
            return;
        }
    };
    let span = tracing::error_span!("stripe_event", event.id = row.event_id, event.kind = row.kind);
    process(&cx, &row).instrument(span).await;
}

async fn process(cx: &Context, row: &stripe_event::Model) {
    cx.failpoint.reach("event_claimed").await;
    let lease = Lease { id: row.id.0, fencing_token: row.fencing_token };
    let outcome =
        lease::while_leased(cx, JobKind::ApplyStripeEvent, lease, Box::pin(apply(cx, row))).await;
    cx.failpoint.reach("event_applied").await;
    cx.counters.event(&outcome);
    match events::finish(&cx.domain, lease, &outcome).await {
        Ok(_) => tracing::debug!(?outcome, "the event was worked on"),
        Err(error) => {
            tracing::warn!(%error, "an event's result was not written; it will be applied again")
        }
    }
}

async fn apply(cx: &Context, row: &stripe_event::Model) -> EventOutcome {
    if row.lease_expirations > MAX_LEASE_EXPIRATIONS
        && mutation::is_off(Mutation::TooManyExpirations)
    {
        return EventOutcome::Failed("its workers ended before it was applied".to_owned());
    }
    cx.failpoint.reach("event_applying").await;
    match events::apply(&cx.domain, row).await {
        Ok(()) => EventOutcome::Applied,
        Err(error) => {
            let why = error.message().to_owned();
            let tries = row.attempts + 1;
            if tries >= MAX_ATTEMPTS {
                tracing::error!(why, "an event of Stripe was given up");
                return EventOutcome::Failed(why);
            }
            tracing::warn!(why, "an event of Stripe was not applied; it is tried again");
            EventOutcome::Retry(
                retry_policy::wait_until(row.id.0, row.attempts, None, cx.now()),
                why,
            )
        }
    }
}
