//! Enqueues due rows that are not queued yet and rows whose lease has expired, and sets timers for rows that are due
//! before its next turn.
//!
//! One process leads at a time. While the queue cannot be reached every worker schedules for itself, into its own
//! memory; the claim keeps them apart.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use fanfare_core::{
    Result,
    durable::{self, Leader, Lookahead, QueueStats, Selection},
};
use fanfare_entities::Millis;
use fanfare_jobs::{JobKind, JobRef};
use fanfare_metrics::record;
use fanfare_ops::ops::troubles;
use fanfare_publishing::posts::{
    dead_workers::DeadWorkers,
    publishing::{oldest_for_worker, waiting_for_worker},
};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use crate::{Context, paused_posts::PausedPosts, prefetch::Prefetch, queue_sampler::QueueSampler};

/// The longest sleep between two turns. Correctness never depends on an earlier wake-up.
const MAX_SLEEP: Duration = Duration::from_millis(250);

/// The sleep while more rows are due than the queue takes, or were in this turn.
const SHORT_SLEEP: Duration = Duration::from_millis(20);

/// The interval at which the waiting rows are counted.
const COUNT_EVERY: Duration = Duration::from_secs(5);

/// The interval at which dead workers are looked for.
const DEAD_WORKERS_EVERY: Duration = Duration::from_secs(1);

/// The most due rows to count; more would cost more than the number is worth.
const MAX_COUNTED: u32 = 100_000;

/// Schedules until `stop`.
pub async fn run(cx: &Context, stop: CancellationToken) {
    let mut scheduler = Scheduler {
        cx,
        leader: Leader::new(cx.name.clone()),
        selection: Selection::default(),
        lookahead: Lookahead::default(),
        prefetch: HashMap::new(),
        paused_posts: PausedPosts::default(),
        queue_sampler: QueueSampler::default(),
        queue_failed: false,
        counted_at: None,
        counting: None,
        dead_workers: DeadWorkers::default(),
        dead_workers_at: None,
    };
    while !stop.is_cancelled() {
        let begun = Instant::now();
        let (outcome, rest) = scheduler.turn().await.unwrap_or_else(|error| {
            tracing::debug!(%error, "a turn of the scheduler failed");
            (record::SchedulerTurn::Failed, MAX_SLEEP)
        });
        record::scheduler_turn(outcome, begun.elapsed(), cx.now());
        if outcome == record::SchedulerTurn::Led {
            scheduler.count_waiting();
        }
        tokio::select! {
            () = tokio::time::sleep(rest) => {}
            () = stop.cancelled() => {}
        }
    }
    if let Err(error) = scheduler.leader.resign(&cx.domain).await {
        tracing::debug!(%error, "the scheduler did not resign; its leadership will expire");
    }
}

struct Scheduler<'a> {
    cx: &'a Context,
    leader: Leader,
    selection: Selection,
    lookahead: Lookahead,
    prefetch: HashMap<JobKind, Prefetch>,
    paused_posts: PausedPosts,
    queue_sampler: QueueSampler,
    /// The queue failed in the last turn.
    queue_failed: bool,
    counted_at: Option<Instant>,
    counting: Option<AbortOnDropHandle<()>>,
    dead_workers: DeadWorkers,
    dead_workers_at: Option<Instant>,
}

impl Scheduler<'_> {
    /// Takes one turn over all kinds of work. Returns its outcome and the time to rest.
    async fn turn(&mut self) -> Result<(record::SchedulerTurn, Duration)> {
        let cx = &self.cx.domain;
        let flushed = cx.queue.was_flushed().await;
        if !matches!(flushed, Ok(false)) || self.queue_failed {
            self.selection.forget();
        }
        let alone = flushed.is_err();
        self.queue_failed = alone;
        if !alone && !self.leader.acquire(cx).await? {
            return Ok((record::SchedulerTurn::Followed, MAX_SLEEP));
        }
        self.paused_posts.restore(cx).await?;
        self.queue_sampler.sample(cx).await?;
        if !alone {
            self.end_leases_of_dead_workers().await?;
        }
        let mut rest = MAX_SLEEP;
        let stats = durable::queue_stats(cx).await?;
        for QueueStats { kind, next, .. } in &stats {
            self.lookahead.look(cx, *kind, *next).await?;
        }
        for QueueStats { kind, oldest, next } in stats {
            if oldest.is_some() && self.enqueue_due(kind, alone).await? {
                rest = SHORT_SLEEP;
            }
            rest = rest.min(self.sleep_until_due(next));
        }
        Ok((if alone { record::SchedulerTurn::Alone } else { record::SchedulerTurn::Led }, rest))
    }

    async fn end_leases_of_dead_workers(&mut self) -> Result<()> {
        if self.dead_workers_at.is_some_and(|last| last.elapsed() < DEAD_WORKERS_EVERY) {
            return Ok(());
        }
        self.dead_workers_at = Some(Instant::now());
        let ended = self.dead_workers.end_leases(&self.cx.domain).await?;
        if ended > 0 {
            tracing::info!(rows = ended, "the work of dead workers is due again");
        }
        Ok(())
    }

    /// Enqueues due rows of one kind. Returns true if more are expected soon.
    async fn enqueue_due(&mut self, kind: JobKind, alone: bool) -> Result<bool> {
        let cx = &self.cx.domain;
        let queued = if alone { Ok(0) } else { cx.queue.depth(kind).await };
        // A row that was enqueued and is no longer queued was taken by a worker that died, or by one whose clock is
        // behind and for which it was not due yet.
        let lost = self.paused_posts.is_unsettled() || matches!(queued, Ok(0));
        let queued = usize::try_from(queued.unwrap_or(0)).unwrap_or(usize::MAX);
        let prefetch = self.prefetch.entry(kind).or_default();
        let room = prefetch.room(queued);
        let jobs = self.selection.select(cx, kind, room, lost).await?;
        if room > 0 {
            prefetch.pushed(jobs.len(), room);
        }
        let more = room == 0 || !jobs.is_empty();
        let jobs = self.paused_posts.unpaused(cx, kind, jobs).await?;
        self.push(kind, &jobs, alone).await;
        Ok(more)
    }

    /// Counts the waiting rows every few seconds, in the background. Only the leader counts, so that a fleet is counted
    /// once.
    fn count_waiting(&mut self) {
        let recent = self.counted_at.is_some_and(|last| last.elapsed() < COUNT_EVERY);
        let counting = self.counting.as_ref().is_some_and(|counting| !counting.is_finished());
        if recent || counting || !fanfare_metrics::is_recording() {
            return;
        }
        self.counted_at = Some(Instant::now());
        self.counting = Some(AbortOnDropHandle::new(tokio::spawn(count_waiting(self.cx.clone()))));
    }

    async fn push(&mut self, kind: JobKind, jobs: &[JobRef], alone: bool) {
        let cx = &self.cx.domain;
        if jobs.is_empty() {
            return;
        }
        if alone {
            cx.queue.push_local(kind, jobs).await;
        } else if let Err(error) = cx.queue.push(kind, jobs).await {
            tracing::debug!(%error, "the queue did not take jobs; this process keeps them");
            self.queue_failed = true;
            cx.queue.push_local(kind, jobs).await;
        }
    }

    /// Returns the time until a row is due, at least 5 ms.
    fn sleep_until_due(&self, due: Option<Millis>) -> Duration {
        let wait = due.map(|due| (due - self.cx.now()).max(5));
        wait.map_or(MAX_SLEEP, |wait| Duration::from_millis(wait.unsigned_abs()))
    }
}

/// Counts the waiting rows, which may take seconds while a hundred thousand rows are due.
async fn count_waiting(cx: Context) {
    let cx = &cx.domain;
    for stats in durable::queue_stats(cx).await.unwrap_or_default() {
        let kind = stats.kind;
        let oldest = if kind == JobKind::PublishPost {
            let waiting = waiting_for_worker(cx).await;
            if let Ok(waiting) = &waiting {
                record::late_posts(waiting.late);
            }
            waiting.map_or(stats.oldest, |waiting| waiting.oldest)
        } else {
            oldest_for_worker(cx, &stats).await.unwrap_or(stats.oldest)
        };
        let ids = cx.queue.depth(kind).await.unwrap_or(0);
        if let Ok(rows) = durable::count_due(cx, kind, MAX_COUNTED).await {
            let age = oldest.map_or(0, |due| (cx.clock.now() - due).max(0));
            record::waiting_work(
                kind.as_str(),
                ids,
                rows,
                Duration::from_millis(age.unsigned_abs()),
            );
        }
    }
    for one in troubles::of_networks(cx).await.unwrap_or_default() {
        record::network_trouble(one.platform, one.trouble, one.workspaces);
    }
    for platform in fanfare_platforms::all() {
        let spec = platform.spec();
        let left = spec.api_in_use().and_then(|api| api.time_left(cx.clock.date()));
        if let Some(left) = left {
            record::api_version_ends(spec.id.as_str(), left.num_seconds());
        }
    }
}
