//! Posts that go through.

use serde_json::{Value, json};

use super::{IMAGE, VIDEO, session, walk, well_behaved, with};
use crate::{
    ErrorKind, Platform,
    instagram::Instagram,
    tests::test_server::{Network, Seen},
};

fn made(network: &Network) -> Vec<Seen> {
    network.seen().into_iter().filter(|seen| seen.line.ends_with("/55/media")).collect()
}

fn object(seen: &Seen, name: &str) -> Value {
    serde_json::from_str(&seen.form(name).unwrap()).unwrap()
}

#[tokio::test]
async fn an_image_with_all_that_belongs_to_it() {
    let network = Network::start(well_behaved()).await;
    let settings = json!({
        "media_alt_texts": ["A cat"], "user_tags": [{"username": "cat", "x": 0.5, "y": 0.25}],
        "collaborators": ["dog"], "ai_disclosure": true, "first_comment": "First!",
        "companion_story": true,
    });
    let (steps, published) = walk(&network, &with(&[IMAGE], "feed", settings)).await;
    assert_eq!(
        steps,
        [
            "prepare check_quota",
            "prepare create_container",
            "prepare wait_container",
            "prepare wait_container",
            "prepare create_story",
            "commit publish",
            "commit first_comment",
            "prepare wait_story",
            "prepare wait_story",
            "commit publish_story",
            "confirm permalink",
        ]
    );
    assert_eq!(published.id, "p1");
    let parts: Vec<_> =
        published.parts.iter().map(|part| (part.name.as_str(), part.id.as_str())).collect();
    assert_eq!(parts, [("first_comment", "k1"), ("story", "p2")]);
    let made = made(&network);
    let sent = ["image_url", "caption", "alt_text", "is_ai_generated"];
    let sent = sent.map(|name| made[0].form(name).unwrap());
    assert_eq!(sent, ["https://media.example.org/a.jpg", "Words", "A cat", "true"]);
    assert_eq!(made[0].form("media_type"), None);
    assert_eq!(object(&made[0], "user_tags"), json!([{"username": "cat", "x": 0.5, "y": 0.25}]));
    assert_eq!(object(&made[0], "collaborators"), json!(["dog"]));
    assert_eq!(made[1].form("media_type").as_deref(), Some("STORIES"));
    assert_eq!(made[1].form("caption"), None);
    assert!(made[0].head.contains("authorization: bearer eaapagetoken"));
}

#[tokio::test]
async fn a_carousel_is_made_of_items_that_are_ready() {
    let network = Network::start(well_behaved()).await;
    let settings = json!({"is_ai_generated": true, "media_alt_texts": ["", "", "third"]});
    let (steps, published) =
        walk(&network, &with(&[IMAGE, VIDEO, IMAGE], "carousel", settings)).await;
    let items = ["prepare create_item_1", "prepare create_item_2", "prepare create_item_3"];
    assert_eq!(steps[1..4], items);
    assert_eq!(steps[4], "prepare wait_items");
    assert_eq!(published.id, "p4");
    let made = made(&network);
    assert!(made[..3].iter().all(|seen| seen.form("is_carousel_item").as_deref() == Some("true")));
    assert!(made[..3].iter().all(|seen| seen.form("is_ai_generated").is_none()), "an error there");
    assert_eq!(made[1].form("media_type").as_deref(), Some("VIDEO"));
    assert_eq!(made[2].form("alt_text").as_deref(), Some("third"));
    let parent = ["media_type", "children", "caption", "is_ai_generated"];
    let parent = parent.map(|name| made[3].form(name).unwrap());
    assert_eq!(parent, ["CAROUSEL", "c1,c2,c3", "Words", "true"]);
}

#[tokio::test]
async fn a_reel_has_a_cover_a_sound_and_a_trial() {
    let network = Network::start(well_behaved()).await;
    let settings = json!({
        "audio_id": "77", "reel_cover_url": "https://e.org/c.jpg", "reel_thumb_offset": 1_500, "user_tags": [{"username": "cat"}],
    });
    walk(&network, &with(&[VIDEO], "feed", settings)).await;
    let trial = json!({"is_trial_reel": true, "collaborators": ["dog"]});
    walk(&network, &with(&[VIDEO], "reel", trial)).await;
    let made = made(&network);
    let sent = ["media_type", "video_url", "cover_url", "thumb_offset", "share_to_feed"];
    let sent = sent.map(|name| made[0].form(name).unwrap());
    let film = "https://media.example.org/a.mp4";
    assert_eq!(sent, ["REELS", film, "https://e.org/c.jpg", "1500", "true"]);
    assert_eq!(object(&made[0], "audio_configuration"), json!({"audio_id": "77"}));
    assert_eq!(object(&made[0], "user_tags"), json!([{"username": "cat"}]));
    assert_eq!(object(&made[1], "trial_params"), json!({"graduation_strategy": "MANUAL"}));
    assert_eq!((made[1].form("collaborators"), made[1].form("share_to_feed")), (None, None));
}

#[tokio::test]
async fn a_story_has_no_text() {
    let network = Network::start(well_behaved()).await;
    let (steps, _) = walk(&network, &with(&[VIDEO], "story", json!({}))).await;
    assert_eq!(steps[1], "prepare create_container");
    let story = &made(&network)[0];
    assert_eq!(story.form("media_type").as_deref(), Some("STORIES"));
    assert_eq!(story.form("caption"), None);
}

#[tokio::test]
async fn a_used_up_quota_is_found_before_anything_is_made() {
    let network = Network::start(|_| {
        (200, json!({"data": [{"quota_usage": 50, "config": {"quota_total": 50}}]}))
    })
    .await;
    let post = with(&[IMAGE], "feed", json!({}));
    let error = Instagram.publish(&session(&network), &post, None).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::QuotaExhausted);
    assert_eq!(error.retry_after.unwrap().as_secs(), 3_600);
    assert_eq!(network.lines(), ["GET /net/v26.0/55/content_publishing_limit"]);
}

#[tokio::test]
async fn a_comment_that_is_refused_says_that_the_post_is_public() {
    let network =
        Network::start(|_| (400, json!({"error": {"code": 100, "message": "No comments"}}))).await;
    let post = with(&[IMAGE], "feed", json!({"first_comment": "First!"}));
    let state = json!({"main": {"container": "c1", "ready": true, "published": "p1"}});
    assert_eq!(Instagram.step(&post, Some(&state)).name, "first_comment");
    let error = Instagram.publish(&session(&network), &post, Some(state)).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Rejected);
    assert!(error.message.starts_with("The post is public"), "{error}");
}

#[tokio::test]
async fn a_poll_stands_on_the_published_container_and_what_instagram_left_out_is_told() {
    let poll = json!({"poll": {"options": ["Tea", "Coffee"], "open_ended": true}});
    for (shown, is_told) in
        [(json!({"option_a": "Tea", "option_b": "Coffee"}), false), (json!(null), true)]
    {
        let mut behaved = well_behaved();
        let network = Network::start(move |seen| match seen.line.as_str() {
            line if line.ends_with("/poll_attachment") => (200, shown.clone()),
            _ => behaved(seen),
        })
        .await;
        let draft = with(&[IMAGE, IMAGE], "carousel", poll.clone());
        let (_, published) = walk(&network, &draft).await;
        let containers = made(&network);
        let polls = containers.iter().map(|seen| seen.form("poll_attachment")).collect::<Vec<_>>();
        let wanted = json!({"option_a": "Tea", "option_b": "Coffee"});
        assert_eq!(polls, [None, None, Some(wanted.to_string())], "not on the items");
        assert_eq!(containers[2].form("is_poll_duration_extended").as_deref(), Some("true"));
        let told: Vec<_> = published.warnings.iter().map(|one| one.code).collect();
        let wanted = is_told.then_some(crate::WarningCode::AddonNotAttached);
        assert_eq!(told, wanted.into_iter().collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn a_prompt_is_asked_for_by_its_own_parameter() {
    let mut behaved = well_behaved();
    let network = Network::start(move |seen| match seen.line.as_str() {
        line if line.ends_with("/prompt_response") => (200, json!({"data": []})),
        _ => behaved(seen),
    })
    .await;
    let draft = with(&[VIDEO], "reel", json!({"comment_prompt": true}));
    let (_, published) = walk(&network, &draft).await;
    assert!(published.warnings.is_empty());
    let container = &made(&network)[0];
    assert_eq!(container.form("is_comment_prompt_used").as_deref(), Some("true"));
    assert_eq!(container.form("poll_attachment"), None);
}
