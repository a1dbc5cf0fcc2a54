//! Lost answers, and containers that come to nothing.

use chrono::TimeDelta;
use serde_json::{Value, json};

use super::{IMAGE, VIDEO, resumed, session, with};
use crate::{
    Draft, ErrorKind, Platform, Progress, ReconcileOutcome, Session,
    instagram::Instagram,
    tests::test_server::{Network, at, settled},
};

fn publishing() -> Value {
    json!({"may_post": true, "main": {"container": "c1", "ready": true, "since": at(-60)}})
}

fn listed(id: &str, name: &str, text: &str, seconds: i64) -> Value {
    let time = at(seconds).format("%Y-%m-%dT%H:%M:%S+0000").to_string();
    json!({"id": id, name: text, "timestamp": time})
}

async fn reconcile(network: &Network, draft: &Draft, state: Value) -> ReconcileOutcome {
    settled(Instagram.reconcile(&session(network), draft, Some(state), at(0)).await.unwrap())
}

#[tokio::test]
async fn the_container_tells_whether_a_lost_call_arrived() {
    for (status, wanted) in [
        ("FINISHED", "absent"),
        ("ERROR", "ended"),
        ("EXPIRED", "ended"),
        ("IN_PROGRESS", "unknown"),
    ] {
        let network = Network::start(move |_| (200, json!({"status_code": status}))).await;
        let found = reconcile(&network, &with(&[IMAGE], "feed", json!({})), publishing()).await;
        let said = match found {
            ReconcileOutcome::NotCommitted => "absent",
            ReconcileOutcome::HandleEnded => "ended",
            _ => "unknown",
        };
        assert_eq!(said, wanted, "{status}");
        assert!(network.lines().iter().all(|line| line.starts_with("GET")));
    }
}

#[tokio::test]
async fn a_lost_post_is_found_by_text_and_time_and_a_story_by_time() {
    let network = Network::start(|seen| match seen.line.as_str() {
        "GET /net/v25.0/c1" => (200, json!({"status_code": "PUBLISHED"})),
        "GET /net/v25.0/55/media" => {
            let posts = [
                listed("p3", "caption", "Other", 5),
                listed("p2", "caption", "Words", 3),
                listed("p1", "caption", "Words", -200),
            ];
            (200, json!({ "data": posts }))
        }
        "GET /net/v25.0/55/stories" => (200, json!({"data": [listed("s1", "x", "", 1)]})),
        line => panic!("{line}"),
    })
    .await;
    for (post_type, id) in [("feed", "p2"), ("story", "s1")] {
        let post = with(&[IMAGE], post_type, json!({}));
        let found = reconcile(&network, &post, publishing()).await;
        let ReconcileOutcome::Committed(Progress::Continue { remote_id, public, .. }) = found
        else {
            panic!()
        };
        assert_eq!((remote_id.as_deref(), public), (Some(id), true));
    }
}

#[tokio::test]
async fn a_lost_comment_is_looked_for_below_the_post() {
    let network = Network::start(|seen| {
        assert_eq!(seen.line, "GET /net/v25.0/p1/comments");
        (200, json!({"data": [listed("k1", "text", "First!", 2)]}))
    })
    .await;
    let state = json!({"main": {"container": "c1", "ready": true, "published": "p1"}});
    let post = with(&[IMAGE], "feed", json!({"first_comment": "First!"}));
    let found = reconcile(&network, &post, state.clone()).await;
    let ReconcileOutcome::Committed(progress) = found else { panic!("{found:?}") };
    assert_eq!(Instagram.step(&post, Some(&resumed(progress))).name, "permalink");
    let other = with(&[IMAGE], "feed", json!({"first_comment": "Never sent"}));
    assert!(matches!(reconcile(&network, &other, state).await, ReconcileOutcome::NotCommitted));
}

async fn publish(network: &Network, later: i64, state: Value) -> crate::Result<Progress> {
    let session = session(network);
    let now = session.now + TimeDelta::seconds(later);
    let session = Session { now, ..session };
    Instagram.publish(&session, &with(&[VIDEO], "reel", json!({})), Some(state)).await
}

#[tokio::test]
async fn publishing_too_early_waits_and_is_no_error() {
    let network = Network::start(|seen| match seen.line.as_str() {
        "GET /net/v25.0/c1" => (200, json!({"status_code": "FINISHED"})),
        _ => (400, json!({"error": {"code": 9007, "error_subcode": 2_207_027}})),
    })
    .await;
    let progress = publish(&network, 0, publishing()).await.unwrap();
    let Progress::Continue { state, after, public, .. } = progress else { panic!() };
    assert_eq!((after.as_secs(), public), (1, false));
    let next = publish(&network, 1, state).await.unwrap();
    let state = resumed(next);
    assert!(publish(&network, 2_000, state).await.is_err(), "not for ever");
}

#[tokio::test]
async fn a_dead_container_is_the_reason_once_and_made_again_on_the_next_try() {
    let reason = "Error: Media upload has failed with error code 2207026";
    let network = Network::start(move |seen| match seen.line.as_str() {
        "GET /net/v25.0/c1" => (200, json!({"status_code": "ERROR", "status": reason})),
        "GET /net/v25.0/55/content_publishing_limit" => (200, json!({"data": []})),
        line => panic!("{line}"),
    })
    .await;
    let waiting = json!({"may_post": true, "main": {"container": "c1", "since": at(-60)}});
    let broken = resumed(publish(&network, 0, waiting).await.unwrap());
    let error = publish(&network, 0, broken.clone()).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::MediaRejected);
    let post = with(&[VIDEO], "reel", json!({}));
    assert_eq!(Instagram.step(&post, Some(&broken)).name, "create_container");
}

#[tokio::test]
async fn a_container_that_turns_out_to_be_public_is_looked_for() {
    let network = Network::start(|seen| match seen.line.as_str() {
        "GET /net/v25.0/c1" => (200, json!({"status_code": "PUBLISHED"})),
        _ => (400, json!({"error": {"message": "Already published", "code": 100}})),
    })
    .await;
    let error = publish(&network, 0, publishing()).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Ambiguous);
}
