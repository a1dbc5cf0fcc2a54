//! Publishing one post, from the claim to the result.
//!
//! The order matters: claim the row, record the step, make the call, record its result. A worker that dies in between
//! leaves a row that says how far it came, and the next worker goes on from there: it starts again if no commit call
//! was recorded, and asks the network if one was.

mod acquire;
mod after_restore;
mod attempt;
mod lost_answers;
mod outcome;
pub mod rate_limit;
mod reconcile;
mod retries;
pub(crate) mod retry_policy;
mod run;
mod work;

use fanfare_entities::account::AccountStatus;
use fanfare_jobs::PublishPost;
use fanfare_platforms::Account;
use fanfare_publishing::{
    accounts,
    network_limits::LimitNames,
    posts::{self, FilesState},
};
use tracing::Instrument;

use crate::{Context, engine};
use retry_policy::Failure;
use run::Run;

/// Claims a post if it is due, and publishes it.
pub async fn run(job: PublishPost, cx: Context) {
    let claimed = match cx.claim.call((), job.id).await {
        Ok(Some(claimed)) => claimed,
        // Paused, moved, deleted, published, held by another worker, or behind another post of its account.
        Ok(None) => return,
        Err(error) => {
            tracing::warn!(post.id = job.id, %error, "claim failed; the post will be enqueued again");
            return;
        }
    };
    let row = &claimed.post;
    // Every log line about this post carries the id of the request that made it.
    let span = tracing::error_span!(
        "post",
        post.id = %row.id, request.id = row.request_id, platform = row.platform,
    );
    process(cx, claimed).instrument(span).await;
}

async fn process(cx: Context, claimed: Box<posts::publishing::ClaimedPost>) {
    tracing::debug!(
        fencing_token = claimed.post.fencing_token,
        lease_expirations = claimed.post.lease_expirations,
        "a post was claimed"
    );
    cx.failpoint.reach("claimed").await;
    // In a task of its own, so that a call in flight is never cut off, whatever happens to the worker. The future is
    // large; the box keeps the wrappers around it from moving it.
    let published = Box::pin(async move { publish(&cx, claimed).await });
    match tokio::spawn(published.in_current_span()).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%error, "a post was left to its lease"),
        Err(ended) => {
            // The worker counts and logs panics of all jobs. Anything else is the end of the process.
            if let Ok(panic) = ended.try_into_panic() {
                std::panic::resume_unwind(panic);
            }
        }
    }
}

/// Takes all steps of a claimed post that can be taken now.
async fn publish(
    cx: &Context,
    claimed: Box<posts::publishing::ClaimedPost>,
) -> fanfare_core::Result<()> {
    let posts::publishing::ClaimedPost { post, account, secret } = *claimed;
    let platform = (cx.connector)(fanfare_publishing::platforms::from_row(&post.platform)?);
    let (facts, unreadable) = match account.as_deref().map(accounts::facts).transpose() {
        Ok(facts) => (facts.unwrap_or_default(), None),
        Err(unreadable) => (Account::default(), Some(unreadable)),
    };
    let posts::Readiness { draft, files } =
        posts::check_readiness(&cx.domain, &post, &facts).await?;
    let files = unreadable.map_or(files, FilesState::Unreadable);
    let mut run = Run::open(cx, platform, post, draft).await?;
    if run.has_too_many_expirations() {
        return run.fail(Failure::too_many_expirations()).await;
    }
    if run.is_missed() {
        return run
            .fail(Failure::missed(fanfare_publishing::settings(&cx.domain).max_lateness))
            .await;
    }
    match files {
        FilesState::Settled => {}
        FilesState::Waiting(until) => return run.wait_for_media(until).await,
        FilesState::Early(until) => return run.defer_until(until).await,
        FilesState::Broken(broken) => return run.fail(Failure::media(&broken)).await,
        FilesState::Unreadable(unreadable) => {
            tracing::error!(%unreadable, "a post was not published");
            let failure = Failure::unreadable(unreadable, run.may_be_public());
            return run.fail(failure).await;
        }
    }
    let Some((account, secret)) = account.zip(secret) else {
        return run.fail(Failure::disconnected()).await;
    };
    if account.status == AccountStatus::ReconnectRequired && run.row.sending_at.is_none() {
        return run.fail(Failure::reconnect_required(&account.platform)).await;
    }
    match accounts::session_with(&cx.domain, &account, &secret) {
        Ok(mut session) => {
            let id = platform.spec().id;
            accounts::renew(&cx.domain, id, &account, &mut session).await?;
            run.limit_names = Some(LimitNames::of(platform, &account, &session));
            engine::execute(&mut run, &account, session).await
        }
        // No later attempt could open them either.
        Err(error) => {
            tracing::error!(account.id = %account.id, %error, "the credentials of an account cannot be opened");
            run.fail(Failure::unreadable_credentials()).await
        }
    }
}
