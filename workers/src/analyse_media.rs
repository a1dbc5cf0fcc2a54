//! Analyses one stored file.

use fanfare_domain::{
    durable::{Lease, MAX_LEASE_EXPIRATIONS},
    media::{self, analysis, analysis::Outcome},
};
use fanfare_entities::media_analysis;
use fanfare_jobs::{AnalyseMedia, JobKind};
use fanfare_media::{Analysis, Flaw, analyse};

use tracing::Instrument;

use crate::{
    Context,
    lease::{self, Counted},
};

/// Claims an analysis if it is due, and analyses the file.
pub async fn run(job: AnalyseMedia, cx: Context) {
    let row = match analysis::claim(&cx.domain, &cx.name, job.analysis_id).await {
        Ok(Some(row)) => row,
        Ok(None) => return,
        Err(error) => {
            tracing::debug!(%error, "claim failed; the row will be enqueued again");
            return;
        }
    };
    let span = tracing::error_span!("analysis", asset.id = %row.uid, request.id = row.request_id);
    carry(&cx, &row).instrument(span).await;
}

async fn carry(cx: &Context, row: &media_analysis::Model) {
    tracing::debug!(mime = row.mime, "the analysis of a file was claimed");
    let lease = Lease { id: row.id.0, fencing_token: row.fencing_token };
    cx.failpoint.reach("analysis_claimed").await;
    let outcome = lease::kept(cx, JobKind::AnalyseMedia, lease, look(cx, row)).await;
    cx.failpoint.reach("analysis_done").await;
    cx.counters.media(JobKind::AnalyseMedia, outcome.measure());
    let poster = if let Outcome::Done(_, poster) = &outcome { poster.clone() } else { None };
    match analysis::finish(&cx.domain, lease, row, outcome).await {
        Ok(true) => tracing::debug!("a file was analysed"),
        // Another worker has done it meanwhile, or the file was deleted.
        Ok(false) => lease::discard(cx, poster).await,
        Err(error) => {
            tracing::warn!(%error, "an analysis was not written; it will be made again");
        }
    }
}

async fn look(cx: &Context, row: &media_analysis::Model) -> Outcome {
    if row.lease_expirations > MAX_LEASE_EXPIRATIONS {
        return Outcome::Failed(lease::stored(&Flaw::TooCostly));
    }
    let (store, settings) = (&cx.domain.store, &cx.domain.settings);
    let found = analyse(store, &settings.tools, &settings.scratch, &row.path, &row.mime).await;
    let found = match found {
        Ok(found) => keep_poster(cx, row, found).await,
        Err(flaw) => Err(flaw),
    };
    match found {
        Ok((found, poster)) => Outcome::Done(Box::new(found.facts), poster),
        Err(flaw) => match lease::again(&flaw, row.attempts, cx.now()) {
            Some(at) => Outcome::Again(at),
            None => Outcome::Failed(lease::stored(&flaw)),
        },
    }
}

async fn keep_poster(
    cx: &Context,
    row: &media_analysis::Model,
    found: Analysis,
) -> Result<(Analysis, Option<String>), Flaw> {
    let Some(poster) = found.poster.clone() else { return Ok((found, None)) };
    let prefix = media::made_prefix(row.workspace_id);
    let path = cx.domain.store.keep(&prefix, "image/jpeg", &poster).await?;
    Ok((found, Some(path)))
}
