//! Publishing one post, from the claim to the result.
//!
//! The order of things is the product: look, claim the row and write down what is about to be done, do it, write down what
//! came of it. Whatever dies in between leaves a row that says how far it came, and whoever takes the row next goes on from
//! there: from the start if no commit call was written down, by asking the network if one was.

mod attempt;
mod outcome;
mod patience;
pub mod permit;
mod reconcile;
mod run;
mod verdict;

use fanfare_domain::{
    accounts,
    posts::{self, Files, work::Seen},
};
use fanfare_entities::account::AccountStatus;
use fanfare_jobs::PublishPost;
use tokio::sync::OwnedSemaphorePermit;
use tracing::Instrument;

use crate::{
    Context,
    lane::Lane,
    shares::{Key, Seeker},
};
use run::Run;
use verdict::Failure;

/// Publishes a post if it is due and nobody else has it.
pub async fn run(job: PublishPost, cx: Context) {
    let lane = Lane::of(job.first);
    // Held until the post has a slot, while those are short.
    let seeking = cx.post_shares.seek(lane).await;
    let seen = match cx.look.call(lane, job.post_id).await {
        Ok(Some(seen)) => seen,
        // Paused, moved, deleted, published, or held by another worker.
        Ok(None) => return,
        Err(error) => {
            tracing::warn!(post.id = job.post_id, %error, "a post could not be read; it is rung for again");
            return;
        }
    };
    let row = &seen.taking.post;
    // Everything that is logged on the way of this post carries the id of the request that made it.
    let span = tracing::error_span!(
        "post",
        post.id = %row.id, request.id = row.request_id, platform = row.platform,
    );
    carry(cx, seen, (lane, seeking)).instrument(span).await;
}

/// How a post comes to its slot: with whom, and the permit to look for one.
type Way = (Lane, Option<OwnedSemaphorePermit>);

async fn carry(cx: Context, seen: Box<Seen>, way: Way) {
    let row = &seen.taking.post;
    tracing::debug!(fence = row.fence, laps = row.laps, "a post is due");
    let (id, lane) = (row.id.0, way.0);
    cx.failpoint.reach("looked").await;
    // In a task of its own: whatever happens to the worker, a call in flight is never cut off. It has many states and so
    // much room, which is taken once: whatever wraps it would move it.
    let context = cx.clone();
    let published = Box::pin(async move { publish(&context, seen, way).await });
    match tokio::spawn(published.in_current_span()).await {
        Ok(Ok(())) => return,
        Ok(Err(error)) => tracing::warn!(%error, "a post was left to its lease"),
        Err(panic) => tracing::error!(%panic, "publishing a post panicked"),
    }
    if let Err(error) = leave(&cx, lane, id).await {
        tracing::warn!(%error, "a post was not left to a lease");
    }
}

/// Has a lease of a row lapse that could not be published, if it is not held already: who breaks often enough is given up.
async fn leave(cx: &Context, lane: Lane, id: i64) -> fanfare_domain::Result<()> {
    if let Some(seen) = cx.look.call(lane, id).await? {
        cx.take.call(lane, seen.taking).await?;
    }
    Ok(())
}

/// Takes a post as far as it goes now.
async fn publish(
    cx: &Context,
    seen: Box<Seen>,
    (lane, seeking): Way,
) -> fanfare_domain::Result<()> {
    let Seen { taking, account, secret } = *seen;
    let post = &taking.post;
    let platform = (cx.connector)(posts::platform(&post.platform)?);
    let facts = account.as_deref().map(accounts::facts).unwrap_or_default();
    let posts::Ready { draft, files } = posts::readiness(&cx.domain, post, &facts).await?;
    let mut run = Run::open((cx, lane), platform, taking, draft).await?;
    if !run.begins_with_its_call() && !run.take().await? {
        return Ok(());
    }
    if run.is_worn_out(&facts) {
        return run.fail(Failure::worn_out()).await;
    }
    if run.is_missed() {
        return run.fail(Failure::missed(cx.domain.settings.max_lateness)).await;
    }
    match files {
        Files::Settled => {}
        Files::Waiting(until) | Files::Early(until) => return run.rest(until).await,
        Files::Broken(broken) => return run.fail(Failure::media(&broken)).await,
    }
    let Some((account, secret)) = account.zip(secret) else {
        return run.fail(Failure::disconnected()).await;
    };
    if account.status == AccountStatus::ReconnectRequired && run.row.sending_at.is_none() {
        return run.fail(Failure::reconnect_required(&account.platform)).await;
    }
    let keys = vec![Key::Platform(account.platform.clone()), Key::Account(account.id)];
    let seeker = Seeker { tenant: account.workspace_id, keys };
    match cx.post_shares.enter(lane, seeker).await {
        Ok(slot) => {
            run.slot = Some(slot);
            drop(seeking);
        }
        Err(full) => return run.park(full).await,
    }
    let session = accounts::session_with(&cx.domain, &account, &secret)?;
    run.publish(&account, session).await
}
