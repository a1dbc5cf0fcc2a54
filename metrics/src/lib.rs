//! The metrics that operators see.
//!
//! [`list`] names every metric, [`record`] has a function for each occasion, and [`install`] makes the process keep
//! what they record. Nothing here listens: whoever serves `/metrics` writes out what [`Recorded::render`] gives.

pub mod list;
pub mod record;

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use metrics::{Unit, describe_counter, describe_gauge, describe_histogram};
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};
use metrics_util::MetricKindMask;

use list::{ALL, Kind};

/// A gauge that nobody has set for this long is no longer shown: what was so then need not be so now. It is how the
/// gauges of a scheduler that no longer leads disappear.
const FORGOTTEN: Duration = Duration::from_secs(30);

/// Everything recorded in this process. Cheap to clone.
#[derive(Clone)]
pub struct Recorded(PrometheusHandle);

impl Recorded {
    /// The text that Prometheus reads.
    #[must_use]
    pub fn render(&self) -> String {
        self.0.render()
    }

    /// Moves what was recorded since into its buckets, so that memory does not grow while nobody reads; to be called
    /// every few seconds.
    pub fn settle(&self) {
        self.0.run_upkeep();
    }
}

/// Records from now on, once in a process.
///
/// # Errors
/// It was called before.
pub fn install() -> Result<Recorded, BuildError> {
    let handle = builder()?.install_recorder()?;
    describe();
    RECORDING.store(true, Ordering::Relaxed);
    Ok(Recorded(handle))
}

static RECORDING: AtomicBool = AtomicBool::new(false);

/// Returns true if anything is kept: what costs a query to find out need not be found out otherwise.
#[must_use]
pub fn is_recording() -> bool {
    RECORDING.load(Ordering::Relaxed)
}

fn builder() -> Result<PrometheusBuilder, BuildError> {
    let mut builder = PrometheusBuilder::new().idle_timeout(MetricKindMask::GAUGE, Some(FORGOTTEN));
    for metric in ALL {
        if let Kind::Histogram(buckets) = metric.kind {
            builder =
                builder.set_buckets_for_metric(Matcher::Full(metric.name.to_owned()), buckets)?;
        }
    }
    Ok(builder)
}

fn describe() {
    for metric in ALL {
        match metric.kind {
            Kind::Counter => describe_counter!(metric.name, Unit::Count, metric.help),
            Kind::Gauge => describe_gauge!(metric.name, metric.help),
            Kind::Histogram(_) => describe_histogram!(metric.name, metric.help),
        }
    }
}

#[cfg(test)]
mod tests;
