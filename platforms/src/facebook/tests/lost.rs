//! Calls whose answer was lost.

use serde_json::{Value, json};

use super::{of_type, post, session};
use crate::{
    Draft, ErrorKind, Platform, Progress, ReconcileOutcome, RecoveryClass,
    facebook::Facebook,
    tests::test_server::{Network, account, at, draft, settled},
};

async fn reconcile(network: &Network, draft: &Draft, state: Value) -> ReconcileOutcome {
    settled(Facebook.reconcile(&session(network), draft, Some(state), at(0)).await.unwrap())
}

#[tokio::test]
async fn a_lost_post_is_found_by_text_and_time() {
    let network = Network::start(|seen| {
        assert_eq!(seen.line, "GET /net/v26.0/55/published_posts");
        let posts = [post("3", "Other", 5), post("2", "Hello", 3), post("1", "Hello", -200)];
        (200, json!({ "data": posts }))
    })
    .await;
    let found = reconcile(&network, &draft("Hello ", json!({})), json!({})).await;
    let ReconcileOutcome::Committed(Progress::Done(published)) = found else { panic!("{found:?}") };
    assert_eq!((published.id.as_str(), published.url.as_deref()), ("2", Some("https://fb/p")));
    let found = reconcile(&network, &draft("Never sent", json!({})), json!({})).await;
    assert!(matches!(found, ReconcileOutcome::NotCommitted));
}

#[tokio::test]
async fn a_lost_video_is_looked_for_among_the_videos() {
    let network = Network::start(|seen| {
        assert_eq!(seen.line, "GET /net/v26.0/55/videos");
        let mut video = post("v2", "", 3);
        video["description"] = json!("Words");
        video.as_object_mut().unwrap().remove("message");
        (200, json!({"data": [video]}))
    })
    .await;
    let film = of_type("feed", "a.mp4", "video/mp4", json!({}));
    let found = reconcile(&network, &film, json!({})).await;
    // It is awaited until the network says that it is published.
    let ReconcileOutcome::Committed(Progress::Continue { remote_id, public, state, .. }) = found
    else {
        panic!("{found:?}")
    };
    assert_eq!((remote_id.as_deref(), public), (Some("v2"), true));
    assert_eq!(Facebook.step(&film, Some(&state)).name, "wait_published");
}

#[tokio::test]
async fn a_lost_post_without_words_is_found_by_its_photos() {
    let photo = |id: &str| json!({"media_type": "photo", "target": {"id": id}});
    let album =
        json!({"media_type": "album", "subattachments": {"data": [photo("ph1"), photo("ph2")]}});
    for (attached, wanted) in [
        (Some(photo("ph1")), "found"),
        (Some(album), "found"),
        (Some(photo("ph9")), "absent"),
        (Some(json!({"media_type": "link"})), "doubt"),
        (None, "doubt"),
    ] {
        let network = Network::start(move |_| {
            let mut one = post("2", "", 3);
            if let Some(attached) = &attached {
                one["attachments"] = json!({ "data": [attached] });
            }
            (200, json!({ "data": [one] }))
        })
        .await;
        let mut wordless = of_type("feed", "a.png", "image/png", json!({}));
        wordless.caption = String::new();
        let found = reconcile(&network, &wordless, json!({"photos": ["ph1"]})).await;
        let said = match found {
            ReconcileOutcome::Committed(_) => "found",
            ReconcileOutcome::NotCommitted => "absent",
            _ => "doubt",
        };
        assert_eq!(said, wanted);
    }
}

#[tokio::test]
async fn a_reel_tells_itself_whether_it_was_published() {
    for (phase, absent) in [("not_started", true), ("in_progress", false), ("complete", false)] {
        let network = Network::start(move |_| {
            (200, json!({"status": {"video_status": "x", "publishing_phase": {"status": phase}}}))
        })
        .await;
        let reel = of_type("reel", "a.mp4", "video/mp4", json!({}));
        let found = reconcile(&network, &reel, json!({"video": "v1", "uploaded": true})).await;
        assert_eq!(matches!(found, ReconcileOutcome::NotCommitted), absent, "{phase} {found:?}");
    }
}

#[tokio::test]
async fn the_page_tells_which_photo_is_its_cover() {
    let network =
        Network::start(|_| (200, json!({"cover": {"cover_id": "ph1"}, "id": "55"}))).await;
    let cover = of_type("cover_photo", "a.png", "image/png", json!({}));
    let found = reconcile(&network, &cover, json!({"photos": ["ph1"]})).await;
    assert!(matches!(found, ReconcileOutcome::Committed(_)), "{found:?}");
    let found = reconcile(&network, &cover, json!({"photos": ["ph2"]})).await;
    assert!(matches!(found, ReconcileOutcome::NotCommitted), "{found:?}");
}

#[test]
fn each_form_has_its_class() {
    let account = account("55", json!({}));
    let class = |draft: &Draft| Facebook.recovery_class(&account, draft);
    assert_eq!(class(&draft("x", json!({}))), RecoveryClass::Search);
    let photo_story = of_type("story", "a.png", "image/png", json!({}));
    assert_eq!(class(&photo_story), RecoveryClass::Blind);
    let video_story = of_type("story", "a.mp4", "video/mp4", json!({}));
    assert_eq!(class(&video_story), RecoveryClass::Handle);
}

#[tokio::test]
async fn a_text_that_the_page_has_already_is_refused_without_a_look() {
    let network = Network::start(|seen| {
        assert_eq!(seen.line, "POST /net/v26.0/55/feed");
        (400, json!({"error": {"message": "Duplicate status message", "code": 506}}))
    })
    .await;
    let made = Facebook.publish(&session(&network), &draft("Hello", json!({})), None).await;
    assert_eq!(made.unwrap_err().kind, ErrorKind::Duplicate);
}

#[tokio::test]
async fn photos_without_words_are_no_proof() {
    let network = Network::start(|_| (200, json!({"data": [post("2", "", 3)]}))).await;
    let found = reconcile(&network, &draft("", json!({})), json!({})).await;
    assert!(matches!(found, ReconcileOutcome::Unknown), "{found:?}");
}
