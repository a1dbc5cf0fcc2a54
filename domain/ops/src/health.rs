//! The health of the service.

use std::time::Duration;

use fanfare_core::{Domain, durable};
use fanfare_entities::Millis;
use fanfare_publishing::posts::publishing;

/// If due work is not claimed for longer than this, in ms, no worker is running.
const LAG: Millis = 30_000;

/// The longest wait for the database.
const TIMEOUT: Duration = Duration::from_secs(3);

/// The problems of a process that answers requests, one sentence each.
#[derive(Debug, Default)]
pub struct Problems {
    /// Those that keep it from answering.
    pub unready: Vec<String>,
    /// Those that it works on with.
    pub degraded: Vec<String>,
}

/// Returns the current problems. A process that answers requests needs the database alone: without the queue it accepts
/// work all the same, since the row is the work, and what no worker takes is no fault of it. One that is being stopped is not
/// ready, though it still answers.
pub async fn problems(cx: &Domain) -> Problems {
    if cx.stopping.begun.is_cancelled() {
        // A process that is being stopped is no longer asked about the rest.
        let unready = vec!["This process is being stopped.".to_owned()];
        return Problems { unready, ..Problems::default() };
    }
    let (database, queue) = tokio::join!(database(cx), queue(cx));
    match database {
        Ok(lags) => {
            let degraded = queue.into_iter().chain(lags).collect();
            Problems { degraded, ..Problems::default() }
        }
        Err(problem) => Problems { unready: vec![problem], degraded: queue.into_iter().collect() },
    }
}

/// Returns which work lags behind, or why the database cannot be used.
async fn database(cx: &Domain) -> Result<Vec<String>, String> {
    let asked = async {
        cx.db.now().await?;
        lags(cx).await
    };
    match tokio::time::timeout(TIMEOUT, asked).await {
        Ok(Ok(lags)) => Ok(lags),
        Ok(Err(_)) => Err("The database cannot be read.".to_owned()),
        Err(_) => Err("The database does not answer.".to_owned()),
    }
}

async fn lags(cx: &Domain) -> fanfare_core::Result<Vec<String>> {
    let mut found = Vec::new();
    let lag_of = |oldest: Option<Millis>| oldest.map(|oldest| cx.clock.now() - oldest);
    let is_long = |lag: &Millis| *lag > LAG;
    for stats in durable::queue_stats(cx).await? {
        if lag_of(stats.oldest).filter(is_long).is_none() {
            continue;
        }
        if let Some(lag) = lag_of(publishing::oldest_for_worker(cx, &stats).await?).filter(is_long)
        {
            let kind = stats.kind;
            found.push(format!("{kind} lags behind by {} s: no worker takes it.", lag / 1000));
        }
    }
    Ok(found)
}

async fn queue(cx: &Domain) -> Option<String> {
    cx.queue.ping().await.err().map(|_| "The queue does not answer.".to_owned())
}
