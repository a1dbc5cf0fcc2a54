//! Rings for due rows that nobody rang for, and for rows whose lease has lapsed.
//!
//! One process leads at a time. While the queue cannot be reached every worker sweeps for itself, into its own memory;
//! the claim keeps them apart.

use std::time::Duration;

use fanfare_domain::{
    Result,
    work::{self, Lead, Turn},
};
use fanfare_entities::Millis;
use fanfare_jobs::Kind;
use tokio_util::sync::CancellationToken;

use crate::Context;

/// Longest sleep between two turns: no correctness rests on being woken earlier.
const REST: Duration = Duration::from_millis(250);

/// Fewest and most ids of one turn; in between as many as were rung in about 100 ms lately.
const RUNWAY: (usize, usize) = (64, 1_024);

/// Sweeps until `stop`.
pub async fn run(cx: &Context, stop: CancellationToken) {
    let mut sweep =
        Sweep { cx, lead: Lead::new(cx.name.clone()), turn: Turn::default(), trouble: false };
    while !stop.is_cancelled() {
        let rest = match sweep.once().await {
            Ok(rest) => rest,
            Err(error) => {
                tracing::debug!(%error, "a sweep failed");
                REST
            }
        };
        tokio::select! {
            () = tokio::time::sleep(rest) => {}
            () = stop.cancelled() => {}
        }
    }
    if let Err(error) = sweep.lead.resign(&cx.domain).await {
        tracing::debug!(%error, "the sweeper's lead is left to lapse");
    }
}

struct Sweep<'a> {
    cx: &'a Context,
    lead: Lead,
    turn: Turn,
    /// The queue failed in the last turn.
    trouble: bool,
}

impl Sweep<'_> {
    /// One turn over all kinds; says how long to rest.
    async fn once(&mut self) -> Result<Duration> {
        let cx = &self.cx.domain;
        let reached = cx.bell.forgot().await;
        let lost = matches!(reached, Ok(true)) || self.trouble;
        let alone = reached.is_err();
        self.trouble = alone;
        if !alone && !self.lead.take(cx).await? {
            return Ok(REST);
        }
        let mut rest = REST;
        for kind in Kind::ALL {
            let waiting = if alone { 0 } else { cx.bell.depth(kind).await.unwrap_or(0) };
            let runway = RUNWAY.1.saturating_sub(usize::try_from(waiting).unwrap_or(RUNWAY.1));
            if runway >= RUNWAY.0 {
                let ids = self.turn.ring(cx, kind, runway, lost || alone).await?;
                if !ids.is_empty() {
                    rest = Duration::from_millis(20);
                    self.push(kind, &ids, alone).await;
                }
            }
            rest = rest.min(self.until_next(kind).await?);
        }
        Ok(rest)
    }

    async fn push(&mut self, kind: Kind, ids: &[i64], alone: bool) {
        let cx = &self.cx.domain;
        if alone {
            cx.bell.push_local(kind, ids).await;
        } else if let Err(error) = cx.bell.push(kind, ids).await {
            tracing::debug!(%error, "the queue did not take rings; this process keeps them");
            self.trouble = true;
            cx.bell.push_local(kind, ids).await;
        }
    }

    /// Time until the next row of this kind is due, at least 5 ms.
    async fn until_next(&self, kind: Kind) -> Result<Duration> {
        let now = self.cx.now();
        let Some(due) = work::next_due_after(&self.cx.domain, kind, now).await? else {
            return Ok(REST);
        };
        let wait: Millis = (due - now).max(5);
        Ok(Duration::from_millis(wait.unsigned_abs()).min(REST))
    }
}
