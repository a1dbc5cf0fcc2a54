//! Sending one e-mail.

use fanfare_core::{
    durable::{Lease, MAX_LEASE_EXPIRATIONS},
    mutation::{self, Mutation},
};
use fanfare_entities::letter;
use fanfare_jobs::{JobKind, SendMail};
use fanfare_mail::{Letter, SendError};
use fanfare_people::mail::{
    MailTransport,
    delivery::{self as letters, MailOutcome},
};
use tracing::Instrument;

use crate::{Context, lease, publish_post::retry_policy};

/// Claims an e-mail if it is due, and sends it.
pub async fn run(job: SendMail, cx: Context) {
    let row = match letters::claim(&cx.domain, &cx.name, job.id).await {
        Ok(Some(row)) => row,
        Ok(None) => return,
        Err(error) => {
            tracing::debug!(%error, "claim failed; the e-mail will be enqueued again");
            return;
        }
    };
    let span = tracing::error_span!("letter", letter.id = %row.uid);
    process(&cx, &row).instrument(span).await;
}

async fn process(cx: &Context, row: &letter::Model) {
    cx.failpoint.reach("letter_claimed").await;
    let lease = Lease { id: row.id.0, fencing_token: row.fencing_token };
    let outcome = lease::while_leased(cx, JobKind::SendMail, lease, send(cx, row)).await;
    cx.failpoint.reach("letter_sent").await;
    cx.counters.letter(&outcome);
    match letters::finish(&cx.domain, lease, &outcome).await {
        Ok(_) => tracing::debug!(?outcome, "the e-mail was worked on"),
        Err(error) => {
            tracing::warn!(%error, "an e-mail's result was not written; it will be tried again")
        }
    }
}

async fn send(cx: &Context, row: &letter::Model) -> MailOutcome {
    if row.lease_expirations > MAX_LEASE_EXPIRATIONS
        && mutation::is_off(Mutation::TooManyExpirations)
    {
        return MailOutcome::Failed("its workers ended before it was sent".to_owned());
    }
    let letter = match letters::render(&cx.domain, row).await {
        Ok(Some(letter)) => letter,
        Ok(None) => return MailOutcome::Dropped,
        Err(error) => {
            tracing::error!(%error, "an e-mail could not be written or opened");
            return retry_or_fail(cx, row, "the e-mail could not be written or opened".to_owned());
        }
    };
    cx.failpoint.reach("letter_written").await;
    deliver(cx, row, &letter).await
}

async fn deliver(cx: &Context, row: &letter::Model, letter: &Letter) -> MailOutcome {
    let mailer = match fanfare_people::mail::mail_transport(&cx.domain) {
        MailTransport::Smtp(mailer) => mailer,
        MailTransport::Shown => return MailOutcome::Sent,
        MailTransport::None => return retry_or_fail(cx, row, "no mail server is set".to_owned()),
    };
    match mailer.send(&row.uid.simple().to_string(), letter).await {
        Ok(()) => MailOutcome::Sent,
        Err(SendError::Refused(why)) => {
            tracing::warn!(why, "the mail server refused an e-mail");
            MailOutcome::Failed(why)
        }
        Err(SendError::Transient(why)) => {
            tracing::warn!(why, "the mail server did not take an e-mail");
            retry_or_fail(cx, row, why)
        }
    }
}

/// Returns the outcome of a failed try: the next try, after the same waits as for posts, or the failure after the last.
fn retry_or_fail(cx: &Context, row: &letter::Model, why: String) -> MailOutcome {
    match retry_policy::next_attempt_at(row.id.0, row.attempts + 1, None, cx.now()) {
        Some(at) => MailOutcome::Retry(at, why),
        None => MailOutcome::Failed(why),
    }
}
