//! Progress notifications for clients that send a `progressToken`: the reply to a long call becomes a stream.

use std::{convert::Infallible, future::Future, time::Duration};

use rmcp::{
    Peer, RoleServer,
    model::{ProgressNotificationParam, ProgressToken},
};
use tokio::{
    sync::watch::Receiver,
    time::{Instant, interval_at},
};

use crate::progress::Stage;

/// The interval between two notifications. A call that ends before the first one has an ordinary reply.
const PAUSE: Duration = Duration::from_secs(1);

/// Runs `work` and notifies the client of each stage, and once a second in between. Nothing is sent before the caller
/// is authorized, since a stream that has begun can no longer become an error reply.
pub async fn run_with_progress<T>(
    work: impl Future<Output = T>,
    mut stages: Receiver<Stage>,
    peer: &Peer<RoleServer>,
    token: &ProgressToken,
) -> T {
    // The work goes on while a notification is sent: it may hold a connection to the database, and a client reads as
    // slowly as it likes.
    let notices = async {
        if stages.changed().await.is_err() {
            return std::future::pending::<Infallible>().await;
        }
        let begun = Instant::now();
        let mut clock = interval_at(begun + PAUSE, PAUSE);
        // A call with a `wait` takes long: its stream opens at once.
        let mut waits = stages.borrow().max_seconds.is_some();
        loop {
            if !waits {
                tokio::select! {
                    biased;
                    Ok(()) = stages.changed() => {}
                    _ = clock.tick() => {}
                }
            }
            waits = false;
            let stage = stages.borrow_and_update().clone();
            if let Some(notice) = notice(token, &stage, begun.elapsed()) {
                // If the client has disconnected, its call goes on.
                let _ = peer.notify_progress(notice).await;
            }
        }
    };
    tokio::select! {
        biased;
        done = work => done,
        never = notices => match never {},
    }
}

/// Returns a notification whose progress is the number of seconds passed, which must increase; `None` after the time
/// that the caller asked to wait.
fn notice(
    token: &ProgressToken,
    stage: &Stage,
    passed: Duration,
) -> Option<ProgressNotificationParam> {
    let passed = passed.as_secs_f64();
    let notice =
        ProgressNotificationParam::new(token.clone(), passed).with_message(&stage.description);
    match stage.max_seconds.map(f64::from) {
        Some(most) if passed >= most => None,
        Some(most) => Some(notice.with_total(most)),
        None => Some(notice),
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::NumberOrString;

    use super::*;

    #[test]
    fn a_notice_never_passes_its_total() {
        let token = ProgressToken(NumberOrString::Number(7));
        let at = |most, seconds| {
            let stage = Stage { description: "scheduled".to_owned(), max_seconds: most };
            notice(&token, &stage, Duration::from_secs(seconds))
        };
        let told = at(Some(5), 3).unwrap();
        assert_eq!((told.progress, told.total), (3.0, Some(5.0)));
        assert!(at(Some(5), 5).is_none());
        assert_eq!(at(None, 90).unwrap().total, None);
    }
}
