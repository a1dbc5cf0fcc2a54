//! Samples: counts of work per minute.
//!
//! Workers count in memory and add their counts with each heartbeat, so a chart costs the same for a thousand posts a
//! day and for ten million: neither posts nor their ledger are read for it. A row is `(minute, kind, platform, measure)
//! → n`.

use std::collections::BTreeMap;

use fanfare_core::{
    Domain, batches,
    db::statement,
    error::Result,
    rows::{Columns, Rows, Type},
    troubles,
};
use fanfare_entities::{Millis, sample};
use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, ExprTrait, FromQueryResult};

/// One minute, in ms.
pub const MINUTE: Millis = 60_000;

/// The time for which samples are kept, in ms: a day, and a little more for the chart of a day.
const RETENTION: Millis = 26 * 60 * MINUTE;

/// The time for which signs of troubles are kept, in ms: they are looked at for a quarter of an hour, and there are many.
const SIGNS_KEPT: Millis = 60 * MINUTE;

/// The upper ends of the classes of lateness, in ms; the last class has none.
pub const LATE: [Millis; 12] =
    [10, 25, 50, 100, 250, 500, 1_000, 2_500, 10_000, 60_000, 600_000, Millis::MAX];

/// The measures.
pub mod measure {
    /// Done: published, delivered, copied.
    pub const DONE: &str = "done";
    /// Failed for good.
    pub const FAILED: &str = "failed";
    /// Retried.
    pub const RETRIED: &str = "retried";
    /// Due and not claimed, when it was counted.
    pub const DEPTH: &str = "depth";
    /// Published, but others see it than it was meant for.
    pub const HIDDEN: &str = "hidden";
    /// A look at a published post without a log-in that showed it, and one that did not.
    pub const LOOK_OPEN: &str = "look:open";
    /// See [`LOOK_OPEN`].
    pub const LOOK_CLOSED: &str = "look:closed";
    /// The prefix of the classes of lateness.
    pub const LATE: &str = "late:";
    /// The prefix of the codes of failures.
    pub const ERROR: &str = "error:";
}

/// The key of a count.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SampleKey {
    /// Kind of work.
    pub kind: &'static str,
    /// Platform; empty for work that has none.
    pub platform: String,
    /// The measure.
    pub measure: String,
}

/// Returns the measure of work that began this late.
#[must_use]
pub fn lateness_measure(by: Millis) -> String {
    let class = LATE.iter().position(|end| by <= *end).unwrap_or(LATE.len() - 1);
    format!("{}{class}", measure::LATE)
}

/// Counts by key.
pub type SampleCounts = BTreeMap<SampleKey, i64>;

/// Adds counts to the current minute.
///
/// # Errors
/// The database's.
pub async fn add(cx: &Domain, counts: &SampleCounts) -> Result<()> {
    write(cx, counts, "samples.n + excluded.n").await
}

/// Records current values; the highest value of a minute is kept.
///
/// # Errors
/// The database's.
pub async fn record_peaks(cx: &Domain, values: &SampleCounts) -> Result<()> {
    write(cx, values, "CASE WHEN excluded.n > samples.n THEN excluded.n ELSE samples.n END").await
}

async fn write(cx: &Domain, counts: &SampleCounts, again: &str) -> Result<()> {
    const COLUMNS: Columns = &[
        ("minute", Type::Big),
        ("kind", Type::Text),
        ("platform", Type::Text),
        ("measure", Type::Text),
        ("n", Type::Big),
    ];
    if counts.is_empty() {
        return Ok(());
    }
    let minute = cx.clock.now() / MINUTE * MINUTE;
    // In the order of their keys, so that two workers that add to the same rows do not deadlock.
    let mut new = Rows::new(&cx.db.write, COLUMNS);
    for (key, n) in counts {
        let names = [key.kind.into(), key.platform.as_str().into(), key.measure.as_str().into()];
        let [kind, platform, measure] = names;
        new.push([minute.into(), kind, platform, measure, (*n).into()]);
    }
    let sql = format!(
        "{} ON CONFLICT (minute, kind, platform, measure) DO UPDATE SET n = {again}",
        new.insert_into("samples", 1)
    );
    cx.db.write.execute_raw(statement(&cx.db.write, sql, new.values())).await?;
    Ok(())
}

/// Deletes samples that no chart shows any more.
///
/// # Errors
/// The database's.
pub async fn prune(cx: &Domain) -> Result<u64> {
    let (minute, now) = (sample::Column::Minute, cx.clock.now());
    // Samples that the clean-up of the last hours has missed go with the rest.
    let signs = minute.between(now - 4 * SIGNS_KEPT, now - SIGNS_KEPT);
    let signs = signs.and(sample::Column::Measure.starts_with(troubles::PREFIX));
    let gone = batches::delete::<sample::Entity>(cx, minute, signs).await?;
    Ok(gone + batches::delete::<sample::Entity>(cx, minute, minute.lt(now - RETENTION)).await?)
}

/// A sum of samples over a step of time.
#[derive(Debug, Clone, FromQueryResult)]
pub struct SampleSum {
    /// Beginning of the step.
    pub at: Millis,
    /// Kind of work.
    pub kind: String,
    /// Platform; empty for work that has none.
    pub platform: String,
    /// The measure.
    pub measure: String,
    /// The count; for `depth` the highest value.
    pub n: i64,
}

/// Returns the samples since `from`, summed over steps of `step` ms.
///
/// # Errors
/// The database's.
pub async fn sums(cx: &Domain, from: Millis, step: Millis) -> Result<Vec<SampleSum>> {
    let conn = &cx.db.read;
    let sql = "SELECT minute / $2 * $2 AS at, kind, platform, measure, \
               CAST(CASE WHEN measure = 'depth' THEN max(n) ELSE sum(n) END AS BIGINT) AS n \
               FROM samples WHERE minute >= $1 GROUP BY 1, kind, platform, measure ORDER BY 1";
    let query = statement(conn, sql, [from.into(), step.into()]);
    let sums: Result<_, DbErr> = SampleSum::find_by_statement(query).all(conn).await;
    Ok(sums?)
}

/// Returns the lateness below which `share` of the counted work began; `None` if nothing was counted. Classes are
/// coarse: the result is the upper end of a class, and [`Millis::MAX`] for the last one.
#[must_use]
pub fn quantile(classes: &[i64; LATE.len()], share: f64) -> Option<Millis> {
    let all: i64 = classes.iter().sum();
    if all == 0 {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "counts of a day are far below 2^52")]
    let wanted = all as f64 * share;
    let mut seen = 0;
    for (class, n) in classes.iter().enumerate() {
        seen += n;
        #[expect(clippy::cast_precision_loss, reason = "counts of a day are far below 2^52")]
        if seen as f64 >= wanted {
            return Some(LATE[class]);
        }
    }
    Some(Millis::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_falls_into_its_class() {
        assert_eq!(
            (lateness_measure(-5), lateness_measure(10), lateness_measure(11)),
            ("late:0".into(), "late:0".into(), "late:1".into())
        );
        assert_eq!(lateness_measure(601_000), "late:11");
    }

    #[test]
    fn a_quantile_is_the_upper_end_of_its_class() {
        let mut classes = [0; LATE.len()];
        assert_eq!(quantile(&classes, 0.5), None);
        classes[1] = 99;
        classes[8] = 1;
        assert_eq!(quantile(&classes, 0.5), Some(25));
        assert_eq!(quantile(&classes, 0.99), Some(25));
        assert_eq!(quantile(&classes, 0.999), Some(10_000));
    }
}
