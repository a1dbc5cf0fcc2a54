//! What a build without the feature `simulator` has in its place.

use anyhow::{Result, bail};
use fanfare_core::simulator::Simulator;
use fanfare_outbound::Client;
use fanfare_people::billing::Billing;

use super::SimulatorOptions;
use crate::config::Config;

/// A simulator of this process, which this build does not have.
pub struct OwnSimulator {
    /// The address at which the service reaches it.
    pub simulator: Simulator,
}

impl OwnSimulator {
    /// Fails.
    ///
    /// # Errors
    /// Always.
    pub async fn start(_: &Config, _: SimulatorOptions) -> Result<Self> {
        bail!(
            "this build has no simulator; build it with `--features simulator`, or name one that runs elsewhere in \
             FANFARE_SANDBOX_URL and set FANFARE_SIMULATOR=off"
        )
    }

    /// Stops it.
    pub async fn stop(self) {}
}

/// Returns the simulated Stripe account: there is none.
///
/// # Errors
/// None.
pub fn stripe(_: &Simulator, _: &Client) -> Result<Option<Billing>> {
    Ok(None)
}
