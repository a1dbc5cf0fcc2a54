//! Analyses one stored file.

use fanfare_core::durable::{Lease, MAX_LEASE_EXPIRATIONS};
use fanfare_entities::media_analysis;
use fanfare_jobs::{AnalyseMedia, JobKind};
use fanfare_media::{Analysis, Flaw, analyse};
use fanfare_publishing::media::{self, analysis, analysis::AnalysisOutcome};

use tracing::Instrument;

use crate::{
    Context,
    lease::{self, Counted},
};

/// Claims an analysis if it is due, and analyses the file.
pub async fn run(job: AnalyseMedia, cx: Context) {
    let row = match analysis::claim(&cx.domain, &cx.name, job.id).await {
        Ok(Some(row)) => row,
        Ok(None) => return,
        Err(error) => {
            tracing::debug!(%error, "claim failed; the row will be enqueued again");
            return;
        }
    };
    let span = tracing::error_span!("analysis", asset.id = %row.uid, request.id = row.request_id);
    process(&cx, &row).instrument(span).await;
}

async fn process(cx: &Context, row: &media_analysis::Model) {
    tracing::debug!(mime = row.mime, "the analysis of a file was claimed");
    let lease = Lease { id: row.id.0, fencing_token: row.fencing_token };
    cx.failpoint.reach("analysis_claimed").await;
    let outcome =
        lease::while_leased(cx, JobKind::AnalyseMedia, lease, analyse_file(cx, row)).await;
    cx.failpoint.reach("analysis_done").await;
    cx.counters.media(JobKind::AnalyseMedia, outcome.measure());
    let poster =
        if let AnalysisOutcome::Done(_, poster) = &outcome { poster.clone() } else { None };
    match analysis::finish(&cx.domain, lease, row, outcome).await {
        Ok(true) => tracing::debug!("a file was analysed"),
        // Another worker has done it meanwhile, or the file was deleted.
        Ok(false) => lease::discard(cx, poster).await,
        Err(error) => {
            tracing::warn!(%error, "an analysis was not written; it will be made again");
        }
    }
}

async fn analyse_file(cx: &Context, row: &media_analysis::Model) -> AnalysisOutcome {
    if row.lease_expirations > MAX_LEASE_EXPIRATIONS {
        return AnalysisOutcome::Failed(lease::flaw_json(&Flaw::TooCostly));
    }
    let (store, settings) = (&cx.domain.store, fanfare_publishing::settings(&cx.domain));
    let found = analyse(store, &settings.tools, &settings.scratch, &row.path, &row.mime).await;
    let found = match found {
        Ok(found) => store_poster(cx, row, found).await,
        Err(flaw) => Err(flaw),
    };
    match found {
        Ok((found, poster)) => AnalysisOutcome::Done(Box::new(found.facts), poster),
        Err(flaw) => match lease::retry_at(&flaw, row.attempts, cx.now()) {
            Some(at) => AnalysisOutcome::Retry(at),
            None => AnalysisOutcome::Failed(lease::flaw_json(&flaw)),
        },
    }
}

async fn store_poster(
    cx: &Context,
    row: &media_analysis::Model,
    found: Analysis,
) -> Result<(Analysis, Option<String>), Flaw> {
    let Some(poster) = found.poster.clone() else { return Ok((found, None)) };
    let prefix = media::made_prefix(row.workspace_id);
    let path = cx.domain.store.put(&prefix, "image/jpeg", &poster).await?;
    Ok((found, Some(path)))
}
