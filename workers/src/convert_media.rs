//! Converts one file into a form that a network accepts.

use fanfare_core::durable::{Lease, MAX_LEASE_EXPIRATIONS};
use fanfare_entities::{media_analysis, media_variant};
use fanfare_jobs::{ConvertMedia, JobKind};
use fanfare_media::{Facts, Flaw, Profile, Variant, convert};
use fanfare_publishing::media::{self, variants, variants::ConversionOutcome};
use tracing::Instrument;

use crate::{
    Context,
    lease::{self, Counted},
};

/// Claims a conversion if it is due, and makes the file.
pub async fn run(job: ConvertMedia, cx: Context) {
    let (row, source) = match variants::claim(&cx.domain, &cx.name, job.id).await {
        Ok(Some(claimed)) => claimed,
        Ok(None) => return,
        Err(error) => {
            tracing::debug!(%error, "claim failed; the row will be enqueued again");
            return;
        }
    };
    let request = source.as_ref().and_then(|source| source.request_id.as_deref());
    let span = tracing::error_span!("conversion", asset.id = %row.uid, request.id = request);
    process(&cx, &row, source.as_ref()).instrument(span).await;
}

async fn process(cx: &Context, row: &media_variant::Model, source: Option<&media_analysis::Model>) {
    tracing::debug!(profile = row.profile, "the conversion of a file was claimed");
    let lease = Lease { id: row.id.0, fencing_token: row.fencing_token };
    cx.failpoint.reach("conversion_claimed").await;
    let made =
        lease::while_leased(cx, JobKind::ConvertMedia, lease, convert_file(cx, row, source)).await;
    let path = made.as_ref().ok().map(|made| made.path.clone());
    let outcome = match made {
        Ok(made) => ConversionOutcome::Done(made),
        Err(flaw) => match lease::retry_at(&flaw, row.attempts, cx.now()) {
            Some(at) => ConversionOutcome::Retry(at),
            None => ConversionOutcome::Failed(lease::flaw_json(&flaw)),
        },
    };
    cx.failpoint.reach("conversion_done").await;
    cx.counters.media(JobKind::ConvertMedia, outcome.measure());
    match variants::finish(&cx.domain, lease, row, outcome).await {
        Ok(true) => tracing::debug!("a file was converted"),
        // Another worker has made it meanwhile, or the file was deleted.
        Ok(false) => lease::discard(cx, path).await,
        Err(error) => {
            tracing::warn!(%error, "a conversion was not written; it will be made again");
        }
    }
}

async fn convert_file(
    cx: &Context,
    row: &media_variant::Model,
    source: Option<&media_analysis::Model>,
) -> Result<Variant, Flaw> {
    if row.lease_expirations > MAX_LEASE_EXPIRATIONS {
        return Err(Flaw::TooCostly);
    }
    let gone = || Flaw::Unreadable("it is no longer stored".to_owned());
    let source = source.ok_or_else(gone)?;
    let profile = row.profile.parse::<Profile>().map_err(|error| Flaw::Unfit(error.to_string()))?;
    let facts = source
        .facts
        .clone()
        .ok_or_else(|| Flaw::Temporary("its analysis is missing".to_owned()))?;
    let facts: Facts = serde_json::from_value(facts)
        .map_err(|_| Flaw::Unfit("what was found out about it cannot be read".to_owned()))?;
    let (store, settings) = (&cx.domain.store, fanfare_publishing::settings(&cx.domain));
    let prefix = media::made_prefix(row.workspace_id);
    let from = (source.path.as_str(), &facts);
    convert(store, &settings.tools, &settings.scratch, from, &profile, &prefix).await
}
