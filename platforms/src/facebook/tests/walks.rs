//! Posts that go through.

use serde_json::{Value, json};

use super::{of_type, session, walk};
use crate::{
    Platform, Progress,
    facebook::Facebook,
    tests::test_server::{Network, Seen, draft, id, media},
};

/// Answers as a page that takes everything.
fn well_behaved() -> impl FnMut(&Seen) -> (u16, Value) + Send + 'static {
    let (mut photos, mut asked) = (0, 0);
    move |seen| match seen.line.as_str() {
        "POST /net/v26.0/55/feed" => {
            (200, json!({"id": "55_1", "permalink_url": "https://www.facebook.com/55/posts/1"}))
        }
        "POST /net/v26.0/55/photos" => {
            photos += 1;
            id(format!("ph{photos}"))
        }
        "POST /net/v26.0/55/videos" => id("v9"),
        "POST /net/v26.0/55/video_reels" | "POST /net/v26.0/55/video_stories" => {
            match seen.form("upload_phase").as_deref() {
                Some("start") => {
                    (200, json!({"video_id": "v1", "upload_url": "https://evil.example/take"}))
                }
                _ => (200, json!({"success": true, "post_id": "s7"})),
            }
        }
        "POST /net/video-upload/v26.0/v1" | "POST /net/v26.0/v1/thumbnails" => {
            (200, json!({"success": true}))
        }
        "POST /net/v26.0/55/photo_stories" => (200, json!({"success": true, "post_id": "s8"})),
        "POST /net/v26.0/55" => (200, json!({"success": true})),
        "GET /net/v26.0/v1" => {
            asked += 1;
            let phase = if asked > 1 { "complete" } else { "in_progress" };
            let status = json!({"video_status": "processing", "uploading_phase": {"status": phase}, "publishing_phase": {"status": phase}});
            (200, json!({"status": status, "permalink_url": "/reel/v1/", "post_id": "77"}))
        }
        "GET /net/v26.0/v9" => {
            asked += 1;
            let (whole, phase) =
                if asked > 1 { ("ready", "complete") } else { ("processing", "in_progress") };
            let status = json!({"video_status": whole, "publishing_phase": {"status": phase}});
            (200, json!({"status": status, "permalink_url": "/55/videos/9", "post_id": "55_79"}))
        }
        "GET /net/v26.0/ph1" => (200, json!({"link": "https://www.facebook.com/photo/ph1"})),
        line => panic!("{line}"),
    }
}

#[tokio::test]
async fn a_text_is_one_call() {
    let network = Network::start(well_behaved()).await;
    let (steps, published) =
        walk(&network, &draft("Hello", json!({"text_format_preset_id": "106018623298955"}))).await;
    assert_eq!(steps, ["commit publish"]);
    assert_eq!(published.id, "55_1");
    assert_eq!(published.url.as_deref(), Some("https://www.facebook.com/55/posts/1"));
    let [seen] = &network.seen()[..] else { panic!() };
    assert!(seen.head.contains("authorization: bearer eaapagetoken"));
    assert_eq!(seen.query("fields"), Some("id,permalink_url"));
    let sent = ["message", "published", "text_format_preset_id"].map(|name| seen.form(name));
    assert_eq!(sent.map(Option::unwrap), ["Hello", "true", "106018623298955"]);
}

#[tokio::test]
async fn photos_are_handed_over_and_then_posted_together() {
    let network = Network::start(well_behaved()).await;
    let mut post = draft("Two", json!({"media_alt_texts": ["A cat"]}));
    post.media = vec![media("a.jpg", "image/jpeg"), media("b.jpg", "image/jpeg")];
    let (steps, _) = walk(&network, &post).await;
    assert_eq!(steps, ["prepare upload_photo_1", "prepare upload_photo_2", "commit publish"]);
    let seen = network.seen();
    let photo = ["url", "published", "alt_text_custom"].map(|name| seen[0].form(name));
    assert_eq!(photo.map(Option::unwrap), ["https://media.example.org/a.jpg", "false", "A cat"]);
    assert_eq!(seen[1].form("alt_text_custom"), None);
    let attached: Value = serde_json::from_str(&seen[2].form("attached_media").unwrap()).unwrap();
    assert_eq!(attached, json!([{"media_fbid": "ph1"}, {"media_fbid": "ph2"}]));
}

#[tokio::test]
async fn a_video_is_fetched_by_facebook_and_awaited() {
    let network = Network::start(well_behaved()).await;
    let post = of_type("feed", "film.mp4", "video/mp4", json!({"title": "The film"}));
    let (steps, published) = walk(&network, &post).await;
    assert_eq!(steps, ["commit publish", "confirm wait_published", "confirm wait_published"]);
    assert_eq!((published.id.as_str(), published.names), ("v9", vec!["55_79".to_owned()]));
    assert_eq!(published.url.as_deref(), Some("https://www.facebook.com/55/videos/9"));
    let seen = &network.seen()[0];
    let sent = ["file_url", "description", "title"].map(|name| seen.form(name).unwrap());
    assert_eq!(sent, ["https://media.example.org/film.mp4", "Words", "The film"]);
}

#[tokio::test]
async fn a_reel_is_begun_handed_over_finished_and_awaited() {
    let network = Network::start(well_behaved()).await;
    let post = of_type("reel", "film.mp4", "video/mp4", json!({}));
    let (steps, published) = walk(&network, &post).await;
    assert_eq!(
        steps,
        [
            "prepare start_video",
            "prepare upload_video",
            "commit publish",
            "confirm wait_published",
            "confirm wait_published"
        ]
    );
    assert_eq!((published.id.as_str(), published.names), ("v1", vec!["55_77".to_owned()]));
    let seen = network.seen();
    assert_eq!(seen[1].line, "POST /net/video-upload/v26.0/v1", "and not where the answer says");
    assert!(seen[1].head.contains("authorization: oauth eaapagetoken"));
    assert!(seen[1].head.contains("file_url: https://media.example.org/film.mp4"));
    let sent = ["upload_phase", "video_id", "video_state", "description"];
    let sent = sent.map(|name| seen[2].form(name).unwrap());
    assert_eq!(sent, ["finish", "v1", "PUBLISHED", "Words"]);
}

#[tokio::test]
async fn a_reel_gets_the_image_that_is_to_stand_for_it() {
    let mut inner = well_behaved();
    let network = Network::start(move |seen| match seen.line.as_str() {
        "GET /net/cover.jpg" => (200, json!("no image, by its type")),
        _ => inner(seen),
    })
    .await;
    let settings = json!({"reel_cover_url": format!("{}/cover.jpg", network.base())});
    let post = of_type("reel", "film.mp4", "video/mp4", settings);
    let state = json!({"video": "v1", "uploaded": true});
    assert_eq!(Facebook.step(&post, Some(&state)).name, "set_cover");
    let error = Facebook.publish(&session(&network), &post, Some(state)).await.unwrap_err();
    assert_eq!(error.kind, crate::ErrorKind::MediaRejected);
    let covered = json!({"video": "v1", "uploaded": true, "covered": true});
    assert_eq!(Facebook.step(&post, Some(&covered)).name, "publish");
}

#[tokio::test]
async fn stories_are_published_by_a_call_of_their_own() {
    let network = Network::start(well_behaved()).await;
    let (steps, published) =
        walk(&network, &of_type("story", "a.png", "image/png", json!({}))).await;
    assert_eq!(steps, ["prepare upload_photo_1", "commit publish"]);
    assert_eq!(published.id, "s8");
    assert_eq!(published.url.as_deref(), Some("https://www.facebook.com/stories/s8"));
    let (steps, published) =
        walk(&network, &of_type("story", "a.mp4", "video/mp4", json!({}))).await;
    assert_eq!(steps[2], "prepare wait_video");
    assert_eq!(steps.last().unwrap(), "commit publish");
    assert_eq!(published.id, "s7");
}

#[tokio::test]
async fn a_cover_photo_is_set() {
    let network = Network::start(well_behaved()).await;
    let settings = json!({"offset_y": 20, "no_feed_story": true});
    let (steps, published) =
        walk(&network, &of_type("cover_photo", "a.png", "image/png", settings)).await;
    assert_eq!(steps, ["prepare upload_photo_1", "commit publish", "confirm permalink"]);
    assert_eq!(published.id, "ph1");
    let seen = &network.seen()[1];
    let sent = ["cover", "offset_y", "no_feed_story"].map(|name| seen.form(name).unwrap());
    assert_eq!(sent, ["ph1", "20", "true"]);
}

#[tokio::test]
async fn a_background_that_facebook_does_not_take_is_left_out() {
    let coloured = draft("Hello", json!({"text_format_preset_id": "1"}));
    let malformed = json!({"error": {"message": "(#100) Param text_format_preset_id must be a valid ID", "code": 100}});
    let retired = json!({"error": {"message": "An unknown error occurred", "code": 1}});
    for (status, body) in [(400, malformed), (500, retired)] {
        let network = Network::start(move |seen| {
            if seen.form("text_format_preset_id").is_some() {
                return (status, body.clone());
            }
            (200, json!({"id": "55_1", "permalink_url": "https://fb/1"}))
        })
        .await;
        let session = session(&network);
        // A failure that is no refusal is looked up first; then the post goes on without the background.
        let state = match Facebook.publish(&session, &coloured, None).await {
            Ok(Progress::Continue { state, .. }) => Some(state).filter(|_| status == 400),
            Ok(other) => panic!("{other:?}"),
            Err(error) => error.next_state.filter(|_| error.kind == crate::ErrorKind::Server),
        };
        let made = Facebook.publish(&session, &coloured, Some(state.unwrap())).await.unwrap();
        assert!(matches!(made, Progress::Done(published) if published.id == "55_1"));
    }
}

#[tokio::test]
async fn a_video_that_facebook_cannot_process_is_told() {
    let network = Network::start(|_| {
        let error = json!({"status": "error", "error": {"message": "Bad codec"}});
        (200, json!({"status": {"video_status": "error", "processing_phase": error}}))
    })
    .await;
    let post = of_type("reel", "a.mp4", "video/mp4", json!({}));
    let state = json!({"video": "v1", "uploaded": true, "published": "v1"});
    let error = Facebook.publish(&session(&network), &post, Some(state)).await.unwrap_err();
    assert_eq!(error.kind, crate::ErrorKind::MediaRejected);
    assert_eq!(error.reply.unwrap().message.as_deref(), Some("Bad codec"));
}

#[tokio::test]
async fn a_draft_is_told_as_one_after_a_while() {
    let network = Network::start(|_| {
        let phase = json!({"status": "not_started", "publish_status": "draft"});
        let status = json!({"video_status": "ready", "processing_phase": {"status": "complete"}, "publishing_phase": phase});
        (200, json!({ "status": status }))
    })
    .await;
    let post = of_type("feed", "a.mp4", "video/mp4", json!({}));
    let session = session(&network);
    for (seconds, is_told) in [(10, false), (200, true)] {
        let since = session.now - chrono::TimeDelta::seconds(seconds);
        let state = json!({"published": "v9", "since": since});
        let told = Facebook.publish(&session, &post, Some(state)).await;
        assert_eq!(told.is_err(), is_told, "{told:?}");
        if let Err(error) = told {
            assert_eq!(error.kind, crate::ErrorKind::Rejected);
            assert!(error.message.contains("draft"), "{error}");
        }
    }
}

#[test]
fn upright_videos_of_the_feed_are_reels_or_refused() {
    let upright = |milliseconds: u64, mime: &str| {
        let mut draft = of_type("feed", "a.mp4", mime, json!({}));
        draft.media[0].dimensions = Some((1_080, 1_920));
        draft.media[0].duration_ms = Some(milliseconds);
        draft
    };
    let refused = |draft: &crate::Draft| Facebook.check(draft).into_iter().next();
    let short = upright(20_000, "video/mp4");
    assert_eq!(refused(&short), None);
    assert_eq!(Facebook.step(&short, None).name, "start_video");
    let other = refused(&upright(20_000, "video/quicktime")).unwrap();
    assert_eq!(json!(other.fix), json!([{"op": "add", "path": "/post_type", "value": "reel"}]));
    let long = refused(&upright(100_000, "video/mp4")).unwrap();
    assert!(long.fix.is_empty() && long.remedy.contains("reel"), "{long:?}");
}

#[tokio::test]
async fn what_is_public_stays_so_while_it_is_awaited() {
    let network = Network::start(well_behaved()).await;
    let post = of_type("reel", "a.mp4", "video/mp4", json!({}));
    let state = json!({"video": "v1", "uploaded": true});
    let progress = Facebook.publish(&session(&network), &post, Some(state)).await.unwrap();
    let Progress::Continue { public, remote_id, .. } = progress else { panic!() };
    assert_eq!((public, remote_id.as_deref()), (true, Some("v1")));
}

#[tokio::test]
async fn videos_are_labelled_as_made_with_ai_and_texts_cannot_be() {
    let label = |settings: &Value, post_type: &str, mime: Option<&str>| {
        let mut post = draft("Words", settings.clone());
        post.post_type = post_type.to_owned();
        post.media = mime.into_iter().map(|mime| media("film.mp4", mime)).collect();
        async move {
            let network = Network::start(well_behaved()).await;
            walk(&network, &post).await;
            let sent = network.seen().into_iter().filter(|seen| seen.line.starts_with("POST"));
            let labels = sent.filter_map(|seen| Some((seen.form("is_ai_generated")?, seen.line)));
            labels.collect::<Vec<_>>()
        }
    };
    let asked = json!({"ai_generated": true});
    for (post_type, edge) in
        [("feed", "videos"), ("reel", "video_reels"), ("story", "video_stories")]
    {
        let sent = label(&asked, post_type, Some("video/mp4")).await;
        assert_eq!(sent, [("true".to_owned(), format!("POST /net/v26.0/55/{edge}"))]);
    }
    assert!(label(&json!({}), "feed", Some("video/mp4")).await.is_empty());
    assert!(label(&asked, "feed", None).await.is_empty());
    let told = Facebook.warnings(&draft("Words", asked));
    assert_eq!((told.len(), told[0].code), (1, crate::WarningCode::SettingNotApplied));
}
