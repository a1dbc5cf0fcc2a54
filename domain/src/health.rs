//! The health of the service.

use std::time::Duration;

use fanfare_entities::Millis;

use crate::{
    Domain,
    durable::{self, QueueStats},
};

/// If due work is not claimed for longer than this, in ms, no worker is running.
const LAG: Millis = 30_000;

/// The longest wait for the database.
const TIMEOUT: Duration = Duration::from_secs(3);

/// Returns the current problems, one sentence each; empty if there are none.
pub async fn problems(cx: &Domain) -> Vec<String> {
    let (database, queue) = tokio::join!(database(cx), queue(cx));
    database.into_iter().chain(queue).collect()
}

async fn database(cx: &Domain) -> Vec<String> {
    let asked = async {
        cx.db.now().await?;
        lags(cx).await
    };
    match tokio::time::timeout(TIMEOUT, asked).await {
        Ok(Ok(lags)) => lags,
        Ok(Err(_)) => vec!["The database cannot be read.".to_owned()],
        Err(_) => vec!["The database does not answer.".to_owned()],
    }
}

async fn lags(cx: &Domain) -> crate::Result<Vec<String>> {
    let mut found = Vec::new();
    for QueueStats { kind, oldest, .. } in durable::queue_stats(cx).await? {
        let Some(oldest) = oldest else { continue };
        let lag = cx.clock.now() - oldest;
        if lag > LAG {
            found.push(format!("{kind} lags behind by {} s: no worker takes it.", lag / 1000));
        }
    }
    Ok(found)
}

async fn queue(cx: &Domain) -> Option<String> {
    cx.queue.ping().await.err().map(|_| "The queue does not answer.".to_owned())
}
