//! Copying one remote file into storage.

use fanfare_core::durable::{Lease, MAX_LEASE_EXPIRATIONS};
use fanfare_entities::{Millis, media_asset};
use fanfare_jobs::{CopyMedia, JobKind};
use fanfare_media::{CopyError, copy_if_changed, copy_remote};
use fanfare_publishing::media::{self, CopyOutcome, sizes};
use serde_json::{Value, json};
use tracing::Instrument;
use url::Url;

use crate::{Context, lease};

/// The most attempts to fetch a file.
const MAX_ATTEMPTS: i32 = 3;

/// The wait before each attempt but the first, in ms. After a cut connection the second one is made at once.
const RETRY_DELAYS: [i64; 2] = [0, 1_000];

/// Claims a copy if it is due, and copies the file.
pub async fn run(job: CopyMedia, cx: Context) {
    let row = match media::claim(&cx.domain, &cx.name, job.id).await {
        Ok(Some(row)) => row,
        Ok(None) => return,
        Err(error) => {
            tracing::debug!(%error, "claim failed; the row will be enqueued again");
            return;
        }
    };
    let span = tracing::error_span!("copy", asset.id = %row.uid, request.id = row.request_id);
    process(&cx, &row).instrument(span).await;
}

async fn process(cx: &Context, row: &media_asset::Model) {
    tracing::debug!(attempts = row.attempts, "the copy of a file was claimed");
    cx.failpoint.reach("copy_claimed").await;
    let lease = Lease { id: row.id.0, fencing_token: row.fencing_token };
    let outcome = lease::while_leased(cx, JobKind::CopyMedia, lease, copy(cx, row)).await;
    cx.failpoint.reach("copy_stored").await;
    cx.counters.copy(&outcome);
    match media::finish(&cx.domain, lease, outcome).await {
        Ok(_) => tracing::debug!("the copy of a file ended"),
        Err(error) => {
            tracing::warn!(%error, "a copy's result was not written; it will be made again");
        }
    }
}

async fn copy(cx: &Context, row: &media_asset::Model) -> CopyOutcome {
    let url = row.source_url.as_deref().and_then(|url| Url::parse(url).ok());
    let Some(url) = url.filter(|_| row.lease_expirations <= MAX_LEASE_EXPIRATIONS) else {
        return failed("remote_media_unavailable", "The file could not be copied.".to_owned());
    };
    let sizes = match sizes::plan_of(&cx.domain, row.workspace_id).await {
        Ok(plan) => sizes::max_sizes(plan),
        Err(_) => return CopyOutcome::Retry(retry_at(cx, row)),
    };
    let http = cx.domain.http.counted_as("media");
    let known = media::earlier_copy(&cx.domain, row).await.unwrap_or_default();
    let (store, prefix) = (&cx.domain.store, media::prefix(row));
    let copied = match known.as_ref().and_then(|known| known.source_etag.as_deref()) {
        Some(etag) => copy_if_changed(store, &http, &url, &prefix, sizes, etag).await,
        None => copy_remote(store, &http, &url, &prefix, sizes).await.map(Some),
    };
    match copied {
        Ok(Some(copied)) => CopyOutcome::Stored(copied),
        Ok(None) => known.map_or_else(
            || CopyOutcome::Retry(retry_at(cx, row)),
            |known| CopyOutcome::Unchanged(Box::new(known)),
        ),
        Err(CopyError::NotAllowed(message)) => failed("url_not_allowed", message),
        Err(CopyError::UnsupportedType { message }) => failed("media_type_unsupported", message),
        Err(CopyError::TooLarge { limit, actual }) => {
            let message = format!("The file is larger than {limit} bytes.");
            CopyOutcome::Failed(error("remote_media_too_large", &message, Some(limit), actual))
        }
        Err(CopyError::Unavailable { retryable: true, .. } | CopyError::Store(_))
            if row.attempts + 1 < MAX_ATTEMPTS =>
        {
            CopyOutcome::Retry(retry_at(cx, row))
        }
        Err(CopyError::Unavailable { message, .. }) => failed("remote_media_unavailable", message),
        Err(CopyError::Store(cause)) => {
            tracing::error!(cause, "the media store did not take a file");
            failed("unavailable", "The media store is not reachable right now.".to_owned())
        }
    }
}

/// Returns the time of the next attempt.
fn retry_at(cx: &Context, row: &media_asset::Model) -> Millis {
    let tried = usize::try_from(row.attempts).unwrap_or(usize::MAX);
    cx.now() + RETRY_DELAYS.get(tried).copied().unwrap_or(RETRY_DELAYS[1])
}

fn failed(code: &str, message: String) -> CopyOutcome {
    CopyOutcome::Failed(error(code, &message, None, None))
}

fn error(code: &str, message: &str, limit: Option<u64>, actual: Option<u64>) -> Value {
    json!({"code": code, "message": message, "limit": limit, "actual": actual})
}
