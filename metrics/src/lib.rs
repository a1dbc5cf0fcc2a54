//! The metrics that operators see.
//!
//! [`list`] names every metric, [`record`] has a function for each kind of event, and [`install`] makes the process
//! keep the recorded values. This crate does not listen on a port; the caller serves [`MetricsHandle::render`] at
//! `/metrics`.

pub mod list;
pub mod record;

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use metrics::{Unit, describe_counter, describe_gauge, describe_histogram};
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};
use metrics_util::MetricKindMask;

use list::{ALL, MetricKind};

/// The time for which a gauge is shown after it was last set, because an old value may no longer be true. This removes
/// the gauges of a scheduler that is no longer the leader.
const GAUGE_TIMEOUT: Duration = Duration::from_secs(30);

/// A handle to all metrics recorded in this process. Cheap to clone.
#[derive(Clone)]
pub struct MetricsHandle(PrometheusHandle);

impl MetricsHandle {
    /// Returns the metrics in the Prometheus text format.
    #[must_use]
    pub fn render(&self) -> String {
        self.0.render()
    }

    /// Moves newly recorded values into their buckets, so that memory does not grow while nobody reads them. Must be
    /// called
    /// every few seconds.
    pub fn run_upkeep(&self) {
        self.0.run_upkeep();
    }
}

/// Starts recording. May be called once per process.
///
/// # Errors
/// Returns an error if it was called before.
pub fn install() -> Result<MetricsHandle, BuildError> {
    let handle = builder()?.install_recorder()?;
    describe();
    RECORDING.store(true, Ordering::Relaxed);
    Ok(MetricsHandle(handle))
}

static RECORDING: AtomicBool = AtomicBool::new(false);

/// Returns true if metrics are recorded. Otherwise values that cost a query need not be determined.
#[must_use]
pub fn is_recording() -> bool {
    RECORDING.load(Ordering::Relaxed)
}

fn builder() -> Result<PrometheusBuilder, BuildError> {
    let mut builder =
        PrometheusBuilder::new().idle_timeout(MetricKindMask::GAUGE, Some(GAUGE_TIMEOUT));
    for metric in ALL {
        if let MetricKind::Histogram(buckets) = metric.kind {
            builder =
                builder.set_buckets_for_metric(Matcher::Full(metric.name.to_owned()), buckets)?;
        }
    }
    Ok(builder)
}

fn describe() {
    for metric in ALL {
        match metric.kind {
            MetricKind::Counter => describe_counter!(metric.name, Unit::Count, metric.help),
            MetricKind::Gauge => describe_gauge!(metric.name, metric.help),
            MetricKind::Histogram(_) => describe_histogram!(metric.name, metric.help),
        }
    }
}

#[cfg(test)]
mod tests;
