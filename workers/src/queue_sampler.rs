//! Records at intervals how much work waits in each queue, for the charts of operators.

use std::time::{Duration, Instant};

use fanfare_core::{Domain, Result};
use fanfare_ops::ops::queues;

/// The interval at which the queues are sampled.
const INTERVAL: Duration = Duration::from_secs(15);

/// Samples the queues; only the leading scheduler does.
#[derive(Debug, Default)]
pub struct QueueSampler {
    sampled: Option<Instant>,
}

impl QueueSampler {
    /// Takes a sample if the last one is old enough.
    ///
    /// # Errors
    /// The database's.
    pub async fn sample(&mut self, cx: &Domain) -> Result<()> {
        if self.sampled.is_some_and(|last| last.elapsed() < INTERVAL) {
            return Ok(());
        }
        self.sampled = Some(Instant::now());
        queues::sample(cx).await
    }
}
