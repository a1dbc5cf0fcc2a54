//! Makes one change on a network: a reply, a hidden comment, a photo of a profile.

mod ledger;
mod permits;
mod run;
mod work;

use fanfare_conversations::outgoing;
use fanfare_core::{Code, Result};
use fanfare_entities::{account::AccountStatus, outgoing as entity};
use fanfare_jobs::SendOutgoing;
use fanfare_publishing::accounts;

use crate::{Context, engine};
use run::Run;

/// Claims a change if it is due, and makes it or finds out whether it was made.
pub async fn run(job: SendOutgoing, cx: Context) {
    let row = match outgoing::claim(&cx.domain, &cx.name, job.id).await {
        Ok(Some(row)) => row,
        Ok(None) => return,
        Err(error) => {
            tracing::debug!(%error, "claim failed; the change will be enqueued again");
            return;
        }
    };
    let id = row.id.0;
    cx.failpoint.reach("outgoing_claimed").await;
    // In a task of its own, so that a call in flight is never cut off, whatever happens to the worker.
    match tokio::spawn(async move { Box::pin(make(&cx, row)).await }).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(outgoing.id = id, %error, "a change is left to its lease"),
        Err(ended) => {
            // The worker counts and logs panics of all jobs. Anything else is the end of the process.
            if let Ok(panic) = ended.try_into_panic() {
                std::panic::resume_unwind(panic);
            }
        }
    }
}

/// Makes a claimed change, as far as that is possible now.
async fn make(cx: &Context, row: entity::Model) -> Result<()> {
    let Some(account) = accounts::row(&cx.domain, row.account_id).await? else {
        return Err(fanfare_core::Error::internal("a change of an account that is gone"));
    };
    let mut run = Run::open(cx, row, &account)?;
    if run.has_too_many_expirations() {
        return run.abandon().await;
    }
    if account.status != AccountStatus::Connected {
        return run.fail_disconnected().await;
    }
    if !run.fit().await? {
        return Ok(());
    }
    match accounts::session(&cx.domain, &account).await {
        Ok(Some(session)) => engine::execute(&mut run, &account, session).await,
        Ok(None) => run.fail_disconnected().await,
        Err(error) if error.code() == Code::Unavailable => Err(error),
        // No later attempt could open them either.
        Err(error) => {
            tracing::error!(account.id = %account.id, %error, "the credentials of an account cannot be opened");
            run.fail_unreadable().await
        }
    }
}
