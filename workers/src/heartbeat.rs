//! Heartbeats: report that this process is alive, what it runs and what it has counted, and read whether it must drain.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use fanfare_entities::Millis;
use fanfare_jobs::JobKind;
use fanfare_ops::ops::{
    fleet::{self, Heartbeat, RunningJob},
    samples,
};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::{Context, Options};

/// The interval between heartbeats.
const INTERVAL: Duration = Duration::from_secs(2);

/// The most running rows to report; operators look for the oldest.
const MAX_REPORTED: usize = 20;

/// The jobs that a process is running, and whether it is draining.
#[derive(Debug)]
pub struct InFlight {
    running: Mutex<BTreeMap<(Millis, JobKind, i64), usize>>,
    drained: watch::Sender<bool>,
    panics: AtomicU64,
}

impl Default for InFlight {
    fn default() -> Self {
        Self {
            running: Mutex::default(),
            drained: watch::channel(false).0,
            panics: AtomicU64::default(),
        }
    }
}

impl InFlight {
    /// Records that a row is being worked on, until the guard is dropped.
    pub fn begin(&self, kind: JobKind, id: i64, now: Millis) -> InFlightGuard<'_> {
        let key = (now, kind, id);
        *self.running().entry(key).or_default() += 1;
        InFlightGuard { in_flight: self, key }
    }

    /// Returns how many jobs have panicked in this process.
    pub fn panics(&self) -> u64 {
        self.panics.load(Ordering::Relaxed)
    }

    fn running(&self) -> MutexGuard<'_, BTreeMap<(Millis, JobKind, i64), usize>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the process is draining (`true`) or takes work (`false`).
    pub async fn wait_for_drained(&self, drained: bool) {
        let mut heard = self.drained.subscribe();
        // The sender lives as long as `self`.
        let _ = heard.wait_for(|now| *now == drained).await;
    }

    /// Returns how many rows are being worked on, and the oldest of them.
    fn snapshot(&self) -> (i32, Vec<RunningJob>) {
        let running = self.running();
        let named = running.keys().take(MAX_REPORTED).map(|(since, kind, id)| RunningJob {
            kind: kind.as_str().to_owned(),
            id: *id,
            since: *since,
        });
        (i32::try_from(running.values().sum::<usize>()).unwrap_or(i32::MAX), named.collect())
    }
}

/// Marks a row as being worked on until it is dropped.
#[derive(Debug)]
pub struct InFlightGuard<'a> {
    in_flight: &'a InFlight,
    key: (Millis, JobKind, i64),
}

impl Drop for InFlightGuard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.in_flight.panics.fetch_add(1, Ordering::Relaxed);
        }
        let mut running = self.in_flight.running();
        if let Some(count) = running.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                running.remove(&self.key);
            }
        }
    }
}

/// Writes heartbeats until everything else has ended, which `ended` says; then removes the worker's row.
pub async fn run(cx: Context, options: Options, ended: CancellationToken) {
    let queues: Vec<_> = options.queues.iter().map(|queue| queue.as_str()).collect();
    let mut beat = Heartbeat {
        name: cx.name.clone(),
        host: hostname(),
        pid: i64::from(std::process::id()),
        version: env!("CARGO_PKG_VERSION"),
        queues: queues.join(","),
        slots: i32::try_from(options.slots).unwrap_or(i32::MAX),
        running: Vec::new(),
        running_count: 0,
        started_at: cx.now(),
    };
    while !ended.is_cancelled() {
        (beat.running_count, beat.running) = cx.in_flight.snapshot();
        match fleet::write_heartbeat(&cx.domain, &beat).await {
            Ok(drain) => set_drained(&cx, drain),
            Err(error) => tracing::debug!(%error, "a heartbeat was not written"),
        }
        write_counts(&cx).await;
        tokio::select! {
            () = tokio::time::sleep(INTERVAL) => {}
            () = ended.cancelled() => {}
        }
    }
    write_counts(&cx).await;
    if let Err(error) = fleet::remove(&cx.domain, &cx.name).await {
        tracing::debug!(%error, "the worker was not signed off; the fleet will notice");
    }
}

fn set_drained(cx: &Context, drain: bool) {
    let changed =
        cx.in_flight.drained.send_if_modified(|now| std::mem::replace(now, drain) != drain);
    if changed {
        tracing::info!(drain, "an operator changed whether this worker takes work");
    }
}

/// Writes what was counted since the last heartbeat. Counts that cannot be written are written with the next one.
async fn write_counts(cx: &Context) {
    let counts = cx.counters.take();
    if let Err(error) = samples::add(&cx.domain, &counts).await {
        tracing::debug!(%error, "counts were not written");
        cx.counters.give_back(counts);
    }
}

/// Returns the name of the machine.
#[must_use]
pub fn hostname() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = host.trim();
    if host.is_empty() { "host".to_owned() } else { host.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_runs_is_counted_until_it_ends() {
        let in_flight = InFlight::default();
        let first = in_flight.begin(JobKind::PublishPost, 7, 5);
        let second = in_flight.begin(JobKind::CopyMedia, 9, 3);
        let (count, named) = in_flight.snapshot();
        assert_eq!((count, named[0].id, named[1].id), (2, 9, 7));
        drop((first, second));
        assert_eq!(in_flight.snapshot().0, 0);
    }
}
