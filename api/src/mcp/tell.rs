//! Progress of a call that takes long, told to clients that ask for it with a `progressToken`: their reply becomes a stream.

use std::{future::Future, pin::pin, time::Duration};

use rmcp::{
    Peer, RoleServer,
    model::{ProgressNotificationParam, ProgressToken},
};
use tokio::{
    sync::watch::Receiver,
    time::{Instant, interval_at},
};

use crate::progress::Stage;

/// The time between two notices. A call that ends before the first one has an ordinary reply.
const PAUSE: Duration = Duration::from_secs(1);

/// Returns what comes of `work`; until then the client is told of each stage, and once a second that it goes on. Nothing is told before the
/// caller is let in, since a reply that has begun can no longer be a refusal.
pub async fn while_it_runs<T>(
    work: impl Future<Output = T>,
    mut stages: Receiver<Stage>,
    peer: &Peer<RoleServer>,
    token: &ProgressToken,
) -> T {
    let mut work = pin!(work);
    tokio::select! {
        biased;
        done = &mut work => return done,
        Ok(()) = stages.changed() => {}
    }
    let begun = Instant::now();
    let mut clock = interval_at(begun + PAUSE, PAUSE);
    let mut waits = stages.borrow().most.is_some();
    loop {
        // A call that was asked to wait does: its stream opens at once.
        if !waits {
            tokio::select! {
                biased;
                done = &mut work => return done,
                Ok(()) = stages.changed() => {}
                _ = clock.tick() => {}
            }
        }
        waits = false;
        let stage = stages.borrow_and_update().clone();
        if let Some(notice) = notice(token, &stage, begun.elapsed()) {
            // A client that has gone away is not told; its call goes on.
            let _ = peer.notify_progress(notice).await;
        }
    }
}

/// A notice counts seconds, for nothing else grows with every one. None after the time that was asked for.
fn notice(
    token: &ProgressToken,
    stage: &Stage,
    passed: Duration,
) -> Option<ProgressNotificationParam> {
    let passed = passed.as_secs_f64();
    let notice = ProgressNotificationParam::new(token.clone(), passed).with_message(&stage.what);
    match stage.most.map(f64::from) {
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
            let stage = Stage { what: "scheduled".to_owned(), most };
            notice(&token, &stage, Duration::from_secs(seconds))
        };
        let told = at(Some(5), 3).unwrap();
        assert_eq!((told.progress, told.total), (3.0, Some(5.0)));
        assert!(at(Some(5), 5).is_none());
        assert_eq!(at(None, 90).unwrap().total, None);
    }
}
