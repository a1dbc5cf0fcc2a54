//! The queues: waiting work, its lateness, and the work that was done.

use std::collections::BTreeMap;

use fanfare_core::{Domain, db::statement, error::Result};
use fanfare_entities::Millis;
use fanfare_jobs::JobKind;
use sea_orm::FromQueryResult;
use serde::Serialize;

use super::{
    networks,
    samples::{self, LATE, MINUTE, SampleCounts, SampleKey, SampleSum, measure, quantile},
};

/// The most due rows that are counted, since counting takes time for each row.
pub const MAX_COUNTED: i64 = 10_000;

/// The period of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChartSpan {
    /// The last hour, minute by minute.
    Hour,
    /// The last day, by quarters of an hour.
    Day,
}

impl ChartSpan {
    /// Returns the length of one step, in ms.
    #[must_use]
    pub const fn step(self) -> Millis {
        match self {
            Self::Hour => MINUTE,
            Self::Day => 15 * MINUTE,
        }
    }

    /// Returns the number of steps.
    #[must_use]
    pub const fn steps(self) -> i64 {
        match self {
            Self::Hour => 60,
            Self::Day => 96,
        }
    }
}

/// The state of one queue: a kind of work, and for posts one network.
#[derive(Debug, Clone, Serialize)]
pub struct QueueState {
    /// The kind of work.
    pub kind: &'static str,
    /// Network; empty for work that has none.
    pub platform: String,
    /// The number of due rows that are not claimed; at most [`MAX_COUNTED`] are counted.
    pub depth: i64,
    /// The time for which the oldest of them has been due, in ms.
    pub oldest: Option<Millis>,
    /// The number of queued ids, of all networks together; `None` if the queue does not answer.
    pub queued: Option<u64>,
    /// Work done in the last hour.
    pub done: i64,
    /// Work that failed for good in the last hour.
    pub failed: i64,
    /// Attempts of the last hour that are retried.
    pub retried: i64,
    /// Half of what began in the last hour was no later than this, in ms.
    pub p50: Option<Millis>,
    /// 99 % of it was no later than this, in ms.
    pub p99: Option<Millis>,
    /// Minute by minute, the last one still running.
    pub hour: Vec<ChartPoint>,
    /// By quarters of an hour.
    pub day: Vec<ChartPoint>,
}

/// A step of a chart.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct ChartPoint {
    /// Beginning of the step.
    pub at: Millis,
    /// Done in it.
    pub done: i64,
    /// Failed in it.
    pub failed: i64,
    /// Attempts in it that are retried.
    pub retried: i64,
    /// The most waiting rows in it.
    pub depth: i64,
}

/// Due rows that are not claimed.
#[derive(Debug, Clone, FromQueryResult)]
pub struct WaitingRows {
    /// Network; empty for work that has none.
    pub platform: String,
    /// The number of rows, at most [`MAX_COUNTED`] in all.
    pub depth: i64,
    /// The time at which the oldest was due.
    pub oldest: Option<Millis>,
}

/// Returns the due rows of this kind that are not claimed, by network.
///
/// # Errors
/// The database's.
pub async fn count_waiting(cx: &Domain, kind: JobKind) -> Result<Vec<WaitingRows>> {
    let conn = &cx.db.read;
    let platform = if kind == JobKind::PublishPost { "platform" } else { "''" };
    let sql = format!(
        "SELECT platform, CAST(count(*) AS BIGINT) AS depth, min(due_at) AS oldest FROM \
         (SELECT {platform} AS platform, due_at FROM {} WHERE due_at <= $1 ORDER BY due_at \
         LIMIT {MAX_COUNTED}) AS due GROUP BY platform",
        kind.table()
    );
    Ok(WaitingRows::find_by_statement(statement(conn, sql, [cx.clock.now().into()]))
        .all(conn)
        .await?)
}

/// Records how much work waits, for the charts.
///
/// # Errors
/// The database's.
pub async fn sample(cx: &Domain) -> Result<()> {
    let mut values = SampleCounts::new();
    for kind in JobKind::ALL {
        for one in count_waiting(cx, kind).await? {
            let measure = measure::DEPTH.to_owned();
            values.insert(
                SampleKey { kind: kind.as_str(), platform: one.platform, measure },
                one.depth,
            );
        }
    }
    samples::record_peaks(cx, &values).await
}

/// Returns the state of every queue, now and over the last hour and day.
///
/// # Errors
/// The database's.
pub async fn list(cx: &Domain) -> Result<Vec<QueueState>> {
    let now = cx.clock.now();
    let (hour, day) =
        (series(cx, now, ChartSpan::Hour).await?, series(cx, now, ChartSpan::Day).await?);
    let mut queues = Vec::new();
    for kind in JobKind::ALL {
        let queued = cx.queue.depth(kind).await.ok();
        let waiting = count_waiting(cx, kind).await?;
        for platform in platforms(kind) {
            let mut queue = QueueState::of(kind, platform, queued);
            if let Some(one) = waiting.iter().find(|one| one.platform == platform) {
                queue.depth = one.depth;
                queue.oldest = one.oldest.map(|oldest| now - oldest);
            }
            queue.fill(&hour, &day, now);
            queues.push(queue);
        }
    }
    Ok(queues)
}

fn platforms(kind: JobKind) -> Vec<&'static str> {
    if kind != JobKind::PublishPost {
        return vec![""];
    }
    networks::platform_ids()
}

async fn series(cx: &Domain, now: Millis, span: ChartSpan) -> Result<Vec<SampleSum>> {
    samples::sums(cx, begin(now, span), span.step()).await
}

fn begin(now: Millis, span: ChartSpan) -> Millis {
    now / span.step() * span.step() - (span.steps() - 1) * span.step()
}

impl QueueState {
    fn of(kind: JobKind, platform: &str, queued: Option<u64>) -> Self {
        Self {
            kind: kind.as_str(),
            platform: platform.to_owned(),
            depth: 0,
            oldest: None,
            queued,
            done: 0,
            failed: 0,
            retried: 0,
            p50: None,
            p99: None,
            hour: Vec::new(),
            day: Vec::new(),
        }
    }

    fn fill(&mut self, hour: &[SampleSum], day: &[SampleSum], now: Millis) {
        let mine = |sum: &&SampleSum| sum.kind == self.kind && sum.platform == self.platform;
        let hour: Vec<&SampleSum> = hour.iter().filter(mine).collect();
        let day: Vec<&SampleSum> = day.iter().filter(mine).collect();
        let count = |name: &str| -> i64 {
            hour.iter().filter(|sum| sum.measure == name).map(|sum| sum.n).sum()
        };
        let classes: [i64; LATE.len()] =
            std::array::from_fn(|class| count(&format!("{}{class}", measure::LATE)));
        (self.done, self.failed, self.retried) =
            (count(measure::DONE), count(measure::FAILED), count(measure::RETRIED));
        (self.p50, self.p99) = (quantile(&classes, 0.5), quantile(&classes, 0.99));
        self.hour = points(&hour, now, ChartSpan::Hour);
        self.day = points(&day, now, ChartSpan::Day);
    }

    /// Returns true if nothing was attempted and nothing waited in the last day.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        let quiet =
            |point: &ChartPoint| point.done + point.failed + point.retried + point.depth == 0;
        self.day.iter().all(quiet)
    }

    /// Returns its name for people.
    #[must_use]
    pub fn name(&self) -> String {
        let kind = self.kind.replace('_', " ");
        if self.platform.is_empty() { kind } else { format!("{kind}: {}", self.platform) }
    }
}

/// Returns a point for every step, also for steps in which nothing happened.
fn points(sums: &[&SampleSum], now: Millis, span: ChartSpan) -> Vec<ChartPoint> {
    let first = begin(now, span);
    let mut points: BTreeMap<Millis, ChartPoint> = (0..span.steps())
        .map(|step| first + step * span.step())
        .map(|at| (at, ChartPoint { at, ..ChartPoint::default() }))
        .collect();
    for sum in sums {
        let Some(point) = points.get_mut(&sum.at) else { continue };
        match sum.measure.as_str() {
            measure::DONE => point.done = sum.n,
            measure::FAILED => point.failed = sum.n,
            measure::RETRIED => point.retried = sum.n,
            measure::DEPTH => point.depth = sum.n,
            _ => {}
        }
    }
    points.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_has_a_point_for_every_step_and_ends_now() {
        let now = 1_000 * MINUTE + 1;
        let sum = SampleSum {
            at: 1_000 * MINUTE,
            kind: String::new(),
            platform: String::new(),
            measure: measure::DONE.to_owned(),
            n: 7,
        };
        let points = points(&[&sum], now, ChartSpan::Hour);
        assert_eq!(points.len(), 60);
        assert_eq!(points.last().map(|point| (point.at, point.done)), Some((1_000 * MINUTE, 7)));
    }
}
