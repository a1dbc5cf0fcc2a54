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
async fn a_lost_post_is_found_by_text_and_time_and_a_story_once_lists_show_all() {
    let network = Network::start(|seen| match seen.line.as_str() {
        "GET /net/v26.0/c1" => (200, json!({"status_code": "PUBLISHED"})),
        "GET /net/v26.0/55/media" => {
            let posts = [
                listed("p3", "caption", "Other", 5),
                listed("p2", "caption", "Words", 3),
                listed("p1", "caption", "Words", -200),
            ];
            (200, json!({ "data": posts }))
        }
        "GET /net/v26.0/55/stories" => (200, json!({"data": [listed("s1", "x", "", 1)]})),
        line => panic!("{line}"),
    })
    .await;
    let story = with(&[IMAGE], "story", json!({}));
    let early = reconcile(&network, &story, publishing()).await;
    assert!(matches!(early, ReconcileOutcome::Unknown), "the list may lag: {early:?}");
    for (post_type, id) in [("feed", "p2"), ("story", "s1")] {
        let post = with(&[IMAGE], post_type, json!({}));
        let session = Session { now: at(600), ..session(&network) };
        let found = Instagram.reconcile(&session, &post, Some(publishing()), at(0)).await;
        let found = settled(found.unwrap());
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
        assert_eq!(seen.line, "GET /net/v26.0/p1/comments");
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
        "GET /net/v26.0/c1" => (200, json!({"status_code": "FINISHED"})),
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
        "GET /net/v26.0/c1" => (200, json!({"status_code": "ERROR", "status": reason})),
        "GET /net/v26.0/55/content_publishing_limit" => (200, json!({"data": []})),
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
        "GET /net/v26.0/c1" => (200, json!({"status_code": "PUBLISHED"})),
        _ => (400, json!({"error": {"message": "Already published", "code": 100}})),
    })
    .await;
    let error = publish(&network, 0, publishing()).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Ambiguous);
}

#[tokio::test]
async fn a_post_that_went_out_although_its_call_was_refused_is_looked_for() {
    for (code, subcode) in [(4, 2_207_051), (10, 0), (4, 0), (9, 2_207_042), (100, 33)] {
        let network = Network::start(move |seen| match seen.line.as_str() {
            "GET /net/v26.0/c1" => (200, json!({"status_code": "PUBLISHED"})),
            _ => (400, json!({"error": {"code": code, "error_subcode": subcode}})),
        })
        .await;
        let error = publish(&network, 0, publishing()).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Ambiguous, "{code}/{subcode}");
    }
}

fn missing() -> (u16, Value) {
    (
        400,
        json!({"error": {"message": "Unsupported get request", "code": 100, "error_subcode": 33}}),
    )
}

#[tokio::test]
async fn a_container_that_is_not_found_is_waited_for_and_then_made_anew() {
    let network = Network::start(|_| missing()).await;
    let waiting = json!({"may_post": true, "main": {"container": "c1", "since": at(0)}});
    let early = resumed(publish(&network, 59, waiting.clone()).await.unwrap());
    assert_eq!(early["main"]["container"], "c1");
    let anew = resumed(publish(&network, 61, waiting).await.unwrap());
    assert_eq!((&anew["main"]["container"], &anew["remade"]), (&json!(null), &json!(1)));
}

#[tokio::test]
async fn a_container_that_is_lost_is_looked_up_and_then_made_anew_a_few_times() {
    for (code, subcode) in [(24, 2_207_006), (24, 2_207_008), (100, 2_207_020), (100, 33)] {
        let network = Network::start(move |seen| match seen.line.as_str() {
            "GET /net/v26.0/c1" => (200, json!({"status_code": "FINISHED"})),
            _ => (400, json!({"error": {"code": code, "error_subcode": subcode}})),
        })
        .await;
        let error = publish(&network, 0, publishing()).await.unwrap_err();
        assert_eq!((error.kind, error.leaves_open()), (ErrorKind::Transient, true), "{subcode}");
        let mut looked_up = error.next_state.unwrap();
        for made in 1..=3 {
            let anew = resumed(publish(&network, 0, looked_up.clone()).await.unwrap());
            assert_eq!((&anew["main"]["container"], &anew["remade"]), (&json!(null), &json!(made)));
            looked_up["remade"] = anew["remade"].clone();
        }
        let error = publish(&network, 0, looked_up).await.unwrap_err();
        assert_eq!((error.kind, error.leaves_open()), (ErrorKind::Transient, false));
    }
}

#[tokio::test]
async fn a_fresh_post_that_is_not_found_disconnects_no_account() {
    let network = Network::start(|_| missing()).await;
    let state = json!({"main": {"container": "c1", "ready": true, "published": "p1"}});
    let post = with(&[IMAGE], "feed", json!({"first_comment": "First!"}));
    let error = Instagram.publish(&session(&network), &post, Some(state.clone())).await;
    assert_eq!(error.unwrap_err().kind, ErrorKind::Transient);
    let done = with(&[IMAGE], "feed", json!({}));
    let done = Instagram.publish(&session(&network), &done, Some(state)).await.unwrap();
    assert!(matches!(done, Progress::Done(_)), "{done:?}");
}

/// One item of six could not be fetched, once: <https://github.com/gitroomhq/postiz-app/pull/1900>.
#[tokio::test]
async fn a_file_that_could_not_be_fetched_is_fetched_again_and_named_at_last() {
    let refused = || {
        (
            400,
            json!({"error": {"message": "Only photo or video can be accepted", "code": 9_004, "error_subcode": 2_207_052}}),
        )
    };
    let post = with(&[IMAGE, IMAGE], "feed", json!({}));
    let network = Network::start(move |_| refused()).await;
    let mut state = json!({"may_post": true, "items": ["c1"]});
    for fetched in 1..=2 {
        let Progress::Continue { state: next, after, .. } =
            Instagram.publish(&session(&network), &post, Some(state)).await.unwrap()
        else {
            panic!("it goes on")
        };
        assert_eq!((&next["fetched_again"], &next["items"]), (&json!(fetched), &json!(["c1"])));
        assert!(after >= std::time::Duration::from_secs(10), "{after:?}");
        state = next;
    }
    let error = Instagram.publish(&session(&network), &post, Some(state)).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::MediaRejected);
    assert!(error.message.contains("file 2"), "{error}");

    let failed = Network::start(|_| {
        (200, json!({"status_code": "ERROR", "status": "Error: Media upload has failed with error code 2207052"}))
    })
    .await;
    let waiting = json!({"may_post": true, "items": ["c1", "c2"], "main": {"since": at(0)}});
    let Progress::Continue { state: next, .. } =
        Instagram.publish(&session(&failed), &post, Some(waiting)).await.unwrap()
    else {
        panic!("it goes on")
    };
    assert_eq!((&next["fetched_again"], &next["items"]), (&json!(1), &json!([])));
}
