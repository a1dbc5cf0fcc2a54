//! Rings for due rows that nobody rang for, and for rows whose lease has lapsed; for rows that will be due before its
//! next turns it sets timers.
//!
//! One process leads at a time. While the queue cannot be reached every worker sweeps for itself, into its own memory;
//! the claim keeps them apart.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use fanfare_domain::{
    Result,
    work::{self, Foresight, Lead, Outlook, Silent, Turn},
};
use fanfare_entities::Millis;
use fanfare_jobs::{JobKind, JobRef};
use fanfare_metrics::record;
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use crate::{Context, keeper::Keeper, runway::Runway};

/// Longest sleep between two turns: no correctness rests on being woken earlier.
const REST: Duration = Duration::from_millis(250);

/// The sleep while there is more due than the queue takes, or was just now.
const SHORT: Duration = Duration::from_millis(20);

/// How often what waits is counted.
const MEASURE: Duration = Duration::from_secs(5);

/// How often dead workers are looked for.
const SEARCH: Duration = Duration::from_secs(1);

/// Counting more due rows than this would cost more than it tells.
const MOST_COUNTED: u32 = 100_000;

/// Sweeps until `stop`.
pub async fn run(cx: &Context, stop: CancellationToken) {
    let mut sweep = Sweep {
        cx,
        lead: Lead::new(cx.name.clone()),
        turn: Turn::default(),
        foresight: Foresight::default(),
        runways: HashMap::new(),
        keeper: Keeper::default(),
        trouble: false,
        measured: None,
        counting: None,
        silent: Silent::default(),
        searched: None,
    };
    while !stop.is_cancelled() {
        let begun = Instant::now();
        let (outcome, rest) = sweep.once().await.unwrap_or_else(|error| {
            tracing::debug!(%error, "a sweep failed");
            (record::Sweep::Failed, REST)
        });
        record::sweep(outcome, begun.elapsed(), cx.now());
        if outcome == record::Sweep::Led {
            sweep.measure();
        }
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
    foresight: Foresight,
    runways: HashMap<JobKind, Runway>,
    keeper: Keeper,
    /// The queue failed in the last turn.
    trouble: bool,
    /// When what waits was counted last, and the counting.
    measured: Option<Instant>,
    counting: Option<AbortOnDropHandle<()>>,
    /// The dead workers, and when they were last looked for.
    silent: Silent,
    searched: Option<Instant>,
}

impl Sweep<'_> {
    /// One turn over all kinds; says how it went and how long to rest.
    async fn once(&mut self) -> Result<(record::Sweep, Duration)> {
        let cx = &self.cx.domain;
        let reached = cx.queue.was_flushed().await;
        if !matches!(reached, Ok(false)) || self.trouble {
            self.turn.forget();
        }
        let alone = reached.is_err();
        self.trouble = alone;
        if !alone && !self.lead.take(cx).await? {
            return Ok((record::Sweep::Followed, REST));
        }
        self.keeper.tend(cx).await?;
        if !alone && self.searched.is_none_or(|last| last.elapsed() >= SEARCH) {
            self.searched = Some(Instant::now());
            let ended = self.silent.end_leases(cx).await?;
            if ended > 0 {
                tracing::info!(rows = ended, "the work of dead workers is due again");
            }
        }
        let mut rest = REST;
        let outlook = work::outlook(cx).await?;
        for Outlook { kind, next, .. } in &outlook {
            self.foresight.look(cx, *kind, *next).await?;
        }
        for Outlook { kind, oldest, next } in outlook {
            if oldest.is_some() && self.ring(kind, alone).await? {
                rest = SHORT;
            }
            rest = rest.min(self.until(next));
        }
        Ok((if alone { record::Sweep::Alone } else { record::Sweep::Led }, rest))
    }

    /// Rings for what is due of one kind; true if more is to be expected soon.
    async fn ring(&mut self, kind: JobKind, alone: bool) -> Result<bool> {
        let cx = &self.cx.domain;
        let waiting = if alone { Ok(0) } else { cx.queue.depth(kind).await };
        // What was rung a while ago and stands on no queue was taken off it by somebody who died, or who came a moment
        // early by a clock that is a little behind.
        let lost = self.keeper.is_unsettled() || matches!(waiting, Ok(0));
        let waiting = usize::try_from(waiting.unwrap_or(0)).unwrap_or(usize::MAX);
        let runway = self.runways.entry(kind).or_default();
        let room = runway.room(waiting);
        let rings = self.turn.ring(cx, kind, room, lost).await?;
        if room > 0 {
            runway.pushed(rings.len(), room);
        }
        let more = room == 0 || !rings.is_empty();
        let rings = self.keeper.unpaused(cx, kind, rings).await?;
        self.push(kind, &rings, alone).await;
        Ok(more)
    }

    /// Counts every few seconds what waits, beside the turns; only the leader does, so that a fleet is counted once.
    fn measure(&mut self) {
        let recent = self.measured.is_some_and(|last| last.elapsed() < MEASURE);
        let counting = self.counting.as_ref().is_some_and(|counting| !counting.is_finished());
        if recent || counting || !fanfare_metrics::is_recording() {
            return;
        }
        self.measured = Some(Instant::now());
        self.counting = Some(AbortOnDropHandle::new(tokio::spawn(measure(self.cx.clone()))));
    }

    async fn push(&mut self, kind: JobKind, rings: &[JobRef], alone: bool) {
        let cx = &self.cx.domain;
        if rings.is_empty() {
            return;
        }
        if alone {
            cx.queue.push_local(kind, rings).await;
        } else if let Err(error) = cx.queue.push(kind, rings).await {
            tracing::debug!(%error, "the queue did not take rings; this process keeps them");
            self.trouble = true;
            cx.queue.push_local(kind, rings).await;
        }
    }

    /// Time until a row is due, at least 5 ms.
    fn until(&self, due: Option<Millis>) -> Duration {
        let wait = due.map(|due| (due - self.cx.now()).max(5));
        wait.map_or(REST, |wait| Duration::from_millis(wait.unsigned_abs()))
    }
}

/// Counts what waits. It may take seconds while a hundred thousand rows are due.
async fn measure(cx: Context) {
    let cx = &cx.domain;
    for Outlook { kind, oldest, .. } in work::outlook(cx).await.unwrap_or_default() {
        let ids = cx.queue.depth(kind).await.unwrap_or(0);
        if let Ok(rows) = work::count_due(cx, kind, MOST_COUNTED).await {
            let age = oldest.map_or(0, |due| (cx.clock.now() - due).max(0));
            record::waiting(kind.as_str(), ids, rows, Duration::from_millis(age.unsigned_abs()));
        }
    }
}
