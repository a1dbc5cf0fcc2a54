//! What is written about a workspace while its rows are being removed leaves nothing behind.

use fanfare_core::{Domain, Tx, events::NewEvent};

use super::*;

/// The number of pieces after each of which something happens: more than one pass over all tables has.
const PIECES: usize = 150;

/// Writes an event of the workspace after each piece of its deletion.
struct Talks {
    cx: Domain,
    workspace: WorkspaceId,
    left: AtomicUsize,
}

impl std::fmt::Debug for Talks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Talks")
    }
}

#[async_trait]
impl Hook for Talks {
    async fn reach(&self, name: &str) {
        let take =
            || self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
        if name != "deletion_piece" || take().is_err() {
            return;
        }
        let mut tx = Tx::begin(&self.cx).await.unwrap();
        tx.emit(NewEvent {
            workspace_id: self.workspace,
            event_type: "post.published",
            streamed: true,
            data: "{}".to_owned(),
            post_id: None,
            account_id: None,
            brand_id: None,
            platform: None,
            status: None,
            message: "A post went out while its workspace was removed.".to_owned(),
            request_id: None,
        });
        tx.commit().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_at_any_moment_of_a_deletion_leaves_no_delivery() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let stop = CancellationToken::new();
    app.start_workers_of(app.other_process().await, stop.clone());
    let (person, user) = owner(&app).await;
    let place = fill(&app, person, &user, CANARY).await;
    app.wait_until_idle().await;
    stop.cancel();
    let _ = user.delete(&leave(place.id, CANARY)).await.expect(202);
    app.pass_time(30 * DAY).await;
    let talks =
        Talks { cx: app.domain.clone(), workspace: place.id, left: AtomicUsize::new(PIECES) };
    let failpoint = Failpoint::with_hook(Arc::new(talks));
    app.start_workers_of(app.other_process_at(failpoint).await, CancellationToken::new());
    let _ = until_done(&app, &user, place.id).await;
    let kept = rows_of(&app, place.id).await;
    assert!(!kept.contains_key("webhook_deliveries") && !kept.contains_key("events"), "{kept:?}");
}
