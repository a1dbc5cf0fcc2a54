//! Calls whose answer was lost.

use serde_json::{Value, json};

use super::{chain, listed, session};
use crate::{
    Draft, ErrorKind, Platform, Progress, ReconcileOutcome,
    tests::test_server::{Network, at, draft},
    x::X,
};

async fn reconcile(network: &Network, draft: &Draft, state: Value) -> ReconcileOutcome {
    X.reconcile(&session(network), draft, Some(state), at(0)).await.unwrap()
}

async fn holding(tweets: Vec<Value>) -> Network {
    Network::start(move |seen| {
        assert_eq!(seen.line, "GET /net/2/users/55/tweets");
        assert_eq!(seen.query("exclude"), Some("retweets"));
        (200, json!({ "data": tweets }))
    })
    .await
}

#[tokio::test]
async fn a_lost_post_is_found_by_text_and_time() {
    let network =
        holding(vec![listed("3", "Other", 5), listed("2", "Hello", 3), listed("1", "Hello", -200)])
            .await;
    let found = reconcile(&network, &draft("Hello ", json!({})), json!({})).await;
    assert!(matches!(found, ReconcileOutcome::Committed(Progress::Done(one)) if one.id == "2"));
    let found = reconcile(&network, &draft("Never sent", json!({})), json!({})).await;
    assert!(matches!(found, ReconcileOutcome::NotCommitted));
    let empty = Network::start(|_| (200, json!({"meta": {"result_count": 0}}))).await;
    assert!(matches!(
        reconcile(&empty, &draft("x", json!({})), json!({})).await,
        ReconcileOutcome::NotCommitted
    ));
}

#[tokio::test]
async fn what_x_makes_of_a_text_is_seen_through() {
    let one = listed("2", "R&amp;D &lt;3 https://t.co/a https://t.co/m", 3);
    let network = holding(vec![one]).await;
    let post = draft("R&D <3 https://example.org/a", json!({}));
    assert!(matches!(reconcile(&network, &post, json!({})).await, ReconcileOutcome::Committed(_)));
}

#[tokio::test]
async fn a_lost_segment_is_none_of_those_that_are_known() {
    let network = holding(vec![listed("t2", "same", 1), listed("t1", "same", 0)]).await;
    let post = chain(&["same", "same ", "end"], json!({}));
    let found = reconcile(&network, &post, json!({"published": ["t1"]})).await;
    let ReconcileOutcome::Committed(Progress::Continue { state, remote_id, .. }) = found else {
        panic!()
    };
    assert_eq!(remote_id.as_deref(), Some("t2"));
    assert_eq!(X.step(&post, Some(&state)).name, "publish_segment_3");
}

#[tokio::test]
async fn what_x_says_it_has_is_looked_for_before_it_is_given_up() {
    for (there, text) in [(true, "Hello"), (false, "Else")] {
        let network = Network::start(move |seen| match seen.line.as_str() {
            "POST /net/2/tweets" => {
                let detail = "You are not allowed to create a Tweet with duplicate content.";
                (403, json!({"title": "Forbidden", "detail": detail, "type": "about:blank", "status": 403}))
            }
            _ => (200, json!({"data": [listed("1", text, 1)]})),
        })
        .await;
        match X.publish(&session(&network), &draft("Hello", json!({})), None).await {
            Ok(Progress::Done(published)) => assert!(there && published.id == "1"),
            Ok(other) => panic!("{other:?}"),
            Err(error) => assert!(!there && error.kind == ErrorKind::Rejected),
        }
    }
}

#[tokio::test]
async fn a_success_without_a_post_is_no_answer() {
    let network = Network::start(|_| {
        (200, json!({"errors": [{"detail": "Something went wrong", "title": "Oops"}]}))
    })
    .await;
    let error = X.publish(&session(&network), &draft("Hello", json!({})), None).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Ambiguous);
}
