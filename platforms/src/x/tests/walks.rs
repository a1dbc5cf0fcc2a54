//! Posts that go through.

use serde_json::{Value, json};

use super::{chain, made, session, walk};
use crate::{
    ErrorKind, Media, Platform, Progress, oauth,
    tests::test_server::{Network, Seen, at, draft, media},
    x::X,
};

/// Answers as an account that may do everything; videos are processed when they are asked about the second time.
fn well_behaved() -> impl FnMut(&Seen) -> (u16, Value) + Send + 'static {
    let (mut tweets, mut files, mut asked) = (0, 0, 0);
    move |seen| match seen.line.as_str() {
        "POST /net/2/tweets" => {
            tweets += 1;
            made(&format!("t{tweets}"))
        }
        "POST /net/2/media/upload" | "POST /net/2/media/upload/initialize" => {
            files += 1;
            (200, json!({"data": {"id": format!("m{files}"), "expires_after_secs": 86_400}}))
        }
        "POST /net/2/media/upload/m1/append" => (200, json!({"data": {"expires_at": 1}})),
        "POST /net/2/media/upload/m1/finalize" => {
            let info = json!({"state": "pending", "check_after_secs": 3});
            (200, json!({"data": {"id": "m1", "processing_info": info}}))
        }
        "GET /net/2/media/upload" => {
            asked += 1;
            let state = if asked > 1 { "succeeded" } else { "in_progress" };
            (200, json!({"data": {"id": "m1", "processing_info": {"state": state}}}))
        }
        "POST /net/2/media/metadata" => (200, json!({"data": {"id": "m1"}})),
        line => panic!("{line}"),
    }
}

#[tokio::test]
async fn a_text_is_one_call_with_its_settings() {
    let network = Network::start(well_behaved()).await;
    let settings = json!({
        "reply_settings": "mentionedUsers", "paid_partnership": true, "ai_disclosure": true,
        "poll": {"options": ["A", "B"]},
    });
    let (steps, published) = walk(&network, &draft("Hello", settings)).await;
    assert_eq!(steps, ["commit create_post"]);
    assert_eq!(published.id, "t1");
    assert_eq!(published.url.as_deref(), Some("https://x.com/name/status/t1"));
    let [seen] = &network.seen()[..] else { panic!() };
    assert!(seen.head.contains("authorization: bearer access-1"));
    assert_eq!(
        seen.json(),
        json!({
            "text": "Hello", "reply_settings": "mentionedUsers", "paid_partnership": true,
            "made_with_ai": true, "poll": {"options": ["A", "B"], "duration_minutes": 1_440},
        })
    );
}

#[tokio::test]
async fn everyone_is_not_a_word_that_x_knows() {
    let network = Network::start(well_behaved()).await;
    walk(&network, &draft("Hello", json!({"reply_settings": "everyone"}))).await;
    assert_eq!(network.seen()[0].json(), json!({"text": "Hello"}));
}

#[tokio::test]
async fn images_are_uploaded_and_described() {
    let network = Network::start(well_behaved()).await;
    let mut post = draft("Two", json!({"media_alt_texts": ["", "A dog"]}));
    post.media = vec![media("a.png", "image/png"), media("b.png", "image/png")];
    let (steps, _) = walk(&network, &post).await;
    assert_eq!(
        steps,
        [
            "prepare upload_image_1",
            "prepare upload_image_2",
            "prepare set_alt_text_2",
            "commit create_post"
        ]
    );
    let seen = network.seen();
    assert!(seen[0].text().contains("tweet_image") && seen[0].text().contains("a.png"));
    assert!(!seen[0].text().contains("media_type"), "the schema does not allow it");
    let described = json!({"id": "m2", "metadata": {"alt_text": {"text": "A dog"}}});
    assert_eq!(seen[2].json(), described);
    assert_eq!(seen[3].json(), json!({"text": "Two", "media": {"media_ids": ["m1", "m2"]}}));
}

#[tokio::test]
async fn a_video_goes_in_pieces_and_is_awaited() {
    let network = Network::start(well_behaved()).await;
    let mut post = draft("", json!({"media_alt_texts": ["No"]}));
    post.media = vec![media("film.mp4", "video/mp4")];
    let (steps, _) = walk(&network, &post).await;
    assert_eq!(
        steps,
        [
            "prepare initialize_upload_1",
            "prepare append_upload_1",
            "prepare finalize_upload_1",
            "prepare wait_media_1",
            "prepare wait_media_1",
            "commit create_post",
        ]
    );
    let seen = network.seen();
    let begun =
        json!({"media_type": "video/mp4", "total_bytes": 8, "media_category": "tweet_video"});
    assert_eq!(seen[0].json(), begun);
    let piece = seen[1].text();
    assert!(piece.contains("segment_index") && piece.contains("film.mp4"), "{piece}");
    assert_eq!((seen[3].query("command"), seen[3].query("media_id")), (Some("STATUS"), Some("m1")));
    assert_eq!(seen[5].json(), json!({"media": {"media_ids": ["m1"]}}));
}

#[tokio::test]
async fn pieces_follow_each_other_and_x_says_when_to_ask() {
    let network = Network::start(well_behaved()).await;
    let mut post = draft("GIF", json!({}));
    let total = (4 << 20) + 3;
    post.media = vec![Media { bytes: Some(total), ..media("a.gif", "image/gif") }];
    let mut state = None;
    let mut names = Vec::new();
    for _ in 0..4 {
        names.push(X.step(&post, state.as_ref()).name);
        let progress = X.publish(&session(&network), &post, state).await.unwrap();
        let Progress::Continue { state: next, after, .. } = progress else { panic!() };
        if names.len() == 4 {
            assert_eq!(after.as_secs(), 3);
        }
        state = Some(next);
    }
    let expected =
        ["initialize_upload_1", "append_upload_1", "append_upload_1", "finalize_upload_1"];
    assert_eq!(names, expected);
    assert_eq!(network.seen()[0].json()["media_category"], "tweet_gif");
}

#[tokio::test]
async fn a_file_that_x_cannot_process_is_told() {
    let network = Network::start(|_| {
        let error = json!({"code": 3, "name": "UnsupportedMedia", "message": "file is currently unsupported"});
        (200, json!({"data": {"id": "m1", "processing_info": {"state": "failed", "error": error}}}))
    })
    .await;
    let mut post = draft("x", json!({}));
    post.media = vec![media("film.mp4", "video/mp4")];
    let pieces = json!({"id": "m1", "total": 8, "sent": 1, "finalized": at(-5)});
    let state = json!({ "upload": pieces });
    let error = X.publish(&session(&network), &post, Some(state)).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::MediaRejected);
    assert_eq!(error.reply.unwrap().message.as_deref(), Some("file is currently unsupported"));
}

#[tokio::test]
async fn a_chain_answers_its_own_last_post() {
    let network = Network::start(well_behaved()).await;
    let mut post = chain(&["one", "two", "three"], json!({"reply_settings": "verified"}));
    post.media = vec![media("a.png", "image/png")];
    let (steps, published) = walk(&network, &post).await;
    assert_eq!(
        steps,
        [
            "prepare upload_image_1",
            "commit publish_segment_1",
            "commit publish_segment_2",
            "commit publish_segment_3"
        ]
    );
    assert_eq!(published.id, "t1");
    let parts: Vec<_> =
        published.parts.iter().map(|part| (part.name.as_str(), part.id.as_str())).collect();
    assert_eq!(parts, [("segment_2", "t2"), ("segment_3", "t3")]);
    let seen = network.seen();
    assert_eq!(seen[1].json()["reply_settings"], "verified");
    assert_eq!(seen[2].json(), json!({"text": "two", "reply": {"in_reply_to_tweet_id": "t1"}}));
    assert_eq!(seen[3].json(), json!({"text": "three", "reply": {"in_reply_to_tweet_id": "t2"}}));
}

#[tokio::test]
async fn a_chain_is_public_from_its_first_post_on_and_taken_up_where_it_was_left() {
    let network = Network::start(well_behaved()).await;
    let post = chain(&["one", "two"], json!({}));
    let progress = X.publish(&session(&network), &post, None).await.unwrap();
    let Progress::Continue { public, state, remote_id, .. } = progress else { panic!() };
    assert_eq!((public, remote_id.as_deref()), (true, Some("t1")));
    assert_eq!(X.step(&post, Some(&state)).name, "publish_segment_2");
}

#[tokio::test]
async fn connecting_asks_who_the_token_belongs_to_and_what_it_pays_for() {
    let network = Network::start(|seen| {
        assert!(seen.query("user.fields").unwrap().contains("subscription_type"));
        let user = json!({"id": "55", "username": "name", "name": "A Name", "subscription_type": "Premium"});
        (200, json!({ "data": user }))
    })
    .await;
    let identity = X.verify(&session(&network)).await.unwrap();
    assert_eq!((identity.remote_id.as_str(), identity.username.as_str()), ("55", "name"));
    let account = crate::Account { meta: identity.meta, ..crate::Account::default() };
    assert_eq!(X.spec_of(&account).caption.max, 25_000);
    let refused = Network::start(|_| (401, json!({"title": "Unauthorized"}))).await;
    let error = X.verify(&session(&refused)).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::InvalidCredentials);
}

#[tokio::test]
async fn both_tokens_are_replaced_together() {
    let network = Network::start(|seen| {
        assert_eq!(seen.line, "POST /net/2/oauth2/token");
        assert!(seen.head.contains("authorization: basic "));
        assert_eq!(seen.form("refresh_token").as_deref(), Some("refresh-1"));
        let tokens =
            json!({"access_token": "access-2", "refresh_token": "refresh-2", "expires_in": 7_200});
        (200, tokens)
    })
    .await;
    let fresh = X.refresh(&session(&network)).await.unwrap().unwrap();
    assert_eq!(fresh.secrets.expose(oauth::ACCESS_TOKEN), "access-2");
    assert_eq!(fresh.secrets.expose(oauth::REFRESH_TOKEN), "refresh-2");
    assert_eq!(fresh.expires_at, Some(at(7_200)));
}
