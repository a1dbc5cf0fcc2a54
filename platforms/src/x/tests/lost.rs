//! Calls whose answer was lost.

use serde_json::{Value, json};

use super::{chain, listed, session};
use crate::{
    Draft, ErrorKind, Platform, Progress, ReconcileOutcome,
    tests::test_server::{Network, at, draft, settled},
    x::X,
};

async fn reconcile(network: &Network, draft: &Draft, state: Value) -> ReconcileOutcome {
    settled(X.reconcile(&session(network), draft, Some(state), at(0)).await.unwrap())
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
async fn a_text_that_x_has_already_is_refused_without_a_look() {
    let network = Network::start(|seen| {
        assert_eq!(seen.line, "POST /net/2/tweets");
        let detail = "You are not allowed to create a Tweet with duplicate content.";
        (403, json!({"title": "Forbidden", "detail": detail, "type": "about:blank", "status": 403}))
    })
    .await;
    let made = X.publish(&session(&network), &draft("Hello", json!({})), None).await;
    assert_eq!(made.unwrap_err().kind, ErrorKind::Duplicate);
}

#[tokio::test]
async fn the_whole_of_a_long_text_is_compared() {
    let long = format!("{}the end", "word ".repeat(100));
    let mut cut = listed("2", &format!("{}… https://t.co/x", &long[..270]), 3);
    let post = draft(&long, json!({}));
    // A text that begins alike is a doubt; the whole one is not.
    let network = holding(vec![cut.clone()]).await;
    assert!(matches!(reconcile(&network, &post, json!({})).await, ReconcileOutcome::Unknown));
    cut["note_tweet"] = json!({ "text": long });
    let network = holding(vec![cut]).await;
    assert!(matches!(reconcile(&network, &post, json!({})).await, ReconcileOutcome::Committed(_)));
}

#[tokio::test]
async fn posts_are_found_in_the_newer_vocabulary_too() {
    let long = format!("{}the end", "word ".repeat(100));
    let mut cut = listed("2", &format!("{}… https://t.co/x", &long[..270]), 3);
    cut["note_post"] = json!({ "text": long });
    let network = Network::start(move |seen| match seen.query("tweet.fields") {
        Some(_) => {
            let message =
                "The query parameter [tweet.fields] is not one of [post.fields,start_time]";
            (400, json!({"title": "Invalid Request", "errors": [{"message": message}]}))
        }
        None => {
            assert_eq!(seen.query("post.fields"), Some("created_at,attachments,note_post"));
            (200, json!({ "data": [cut] }))
        }
    })
    .await;
    let found = reconcile(&network, &draft(&long, json!({})), json!({})).await;
    assert!(matches!(found, ReconcileOutcome::Committed(_)));
    assert_eq!(network.lines().len(), 2);
}

#[tokio::test]
async fn only_posts_since_the_call_are_paid_for() {
    let network = holding(vec![listed("2", "Hello", 3)]).await;
    let _ = reconcile(&network, &draft("Hello", json!({})), json!({})).await;
    let since = at(-600).format("%Y-%m-%dT%H:%M:%SZ").to_string();
    assert_eq!(network.seen()[0].query("start_time"), Some(since.as_str()));
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
