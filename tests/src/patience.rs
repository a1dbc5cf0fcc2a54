//! The time for which tests wait.

use std::time::Duration;

/// Returns how long a test waits for something to happen, in real time: 30 s, or the seconds in `TEST_PATIENCE`. It
/// only ends failed tests, so that `make test` allows more, for machines that are busy with something else.
///
/// # Panics
/// `TEST_PATIENCE` is no number.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "the tests' own switch")]
pub fn patience() -> Duration {
    let given = std::env::var("TEST_PATIENCE");
    Duration::from_secs(given.map_or(30, |text| text.parse().expect("TEST_PATIENCE is in seconds")))
}
