//! Posts against a network on loopback: chunks, slideshows, waiting, what is told of a lost answer, and the table of
//! errors.

use std::sync::{Arc, OnceLock};

use serde_json::{Value, json};

use super::{
    Tiktok,
    error::{failed, parse_error},
    state::{CHUNK, chunk_end, chunks},
};
use crate::{
    Draft, ErrorKind, Phase, Platform, Progress, PublishedPost, ReconcileOutcome, Secrets, Session,
    analytics::{CallBudget, FetchContext, MissingReason, PostRef},
    tests::test_server::{self, Network, Seen},
    validate::validate,
};

fn session(network: &Network) -> Session {
    let secrets =
        Secrets::new().with("access_token", "act.token").with("refresh_token", "rft.token");
    network.session(test_server::account("-000", json!({})), secrets)
}

fn post(settings: Value, media: &[&str]) -> Draft {
    let mut draft = test_server::draft("A film", settings);
    draft.media = media.iter().map(|mime| test_server::media("film.mp4", mime)).collect();
    draft
}

fn fine(data: Value) -> (u16, Value) {
    (200, json!({"data": data, "error": {"code": "ok", "message": "", "log_id": "1"}}))
}

/// A TikTok that takes everything; `status` is what it says of a post under way.
fn willing(base: &str, seen: &Seen, status: &Value) -> (u16, Value) {
    match seen.line.rsplit("/net").next().unwrap() {
        "/v2/post/publish/creator_info/query/" => fine(json!({
            "creator_username": "ann", "privacy_level_options": ["MUTUAL_FOLLOW_FRIENDS", "SELF_ONLY"],
            "comment_disabled": true, "max_video_post_duration_sec": 60,
        })),
        "/v2/post/publish/video/init/" => {
            fine(json!({"publish_id": "v1", "upload_url": format!("{base}/video/?upload_id=1")}))
        }
        "/v2/post/publish/content/init/" => fine(json!({"publish_id": "p1"})),
        "/video/" => (201, json!(null)),
        _ => fine(status.clone()),
    }
}

async fn network(status: Value) -> Network {
    let base = Arc::new(OnceLock::<String>::new());
    let known = base.clone();
    let network = Network::start(move |seen| willing(known.get().unwrap(), seen, &status)).await;
    base.set(network.base().to_owned()).unwrap();
    network
}

/// Publishes to the end, or until it has to be waited for.
async fn walk(network: &Network, draft: &Draft) -> (Vec<String>, crate::Result<PublishedPost>) {
    let (session, mut state, mut steps) = (session(network), None, Vec::new());
    loop {
        assert!(steps.len() < 20, "{steps:?}");
        let step = Tiktok.step(draft, state.as_ref());
        steps.push(format!("{} {}", step.phase.as_str(), step.name));
        match Tiktok.publish(&session, draft, state).await {
            Ok(Progress::Done(published)) => return (steps, Ok(published)),
            Ok(Progress::Continue { state: next, .. }) => state = Some(next),
            Err(error) => return (steps, Err(error)),
        }
    }
}

fn complete(ids: Value) -> Value {
    json!({"status": "PUBLISH_COMPLETE", "publicaly_available_post_id": ids})
}

#[tokio::test]
async fn a_creator_who_declined_the_user_name_can_be_connected() {
    // A field of a scope that was not granted fails the whole call.
    let network = Network::start(|seen| {
        let fields = seen.query("fields").unwrap();
        if fields.contains("username") {
            let error = json!({"code": "scope_not_authorized", "message": "", "log_id": "1"});
            return (401, json!({"data": {}, "error": error}));
        }
        fine(json!({"user": {"open_id": "-000", "display_name": "Ann Lee"}}))
    })
    .await;
    let granted = |scopes: &str| {
        let session = session(&network);
        let secrets = session.secrets.clone().with("scope", scopes);
        Session { secrets, ..session }
    };
    let found = Tiktok.verify(&granted("user.info.basic,video.publish")).await.unwrap();
    assert_eq!((found.remote_id.as_str(), found.username.as_str()), ("-000", "Ann Lee"));
    let all = granted("user.info.basic,user.info.profile,video.publish");
    Tiktok.verify(&all).await.unwrap_err();
}

#[tokio::test]
async fn a_declined_list_of_posts_leaves_their_numbers_unknown_and_the_account_connected() {
    let network = Network::start(|_| {
        let error = json!({"code": "scope_not_authorized", "message": "", "log_id": "1"});
        (401, json!({"data": {}, "error": error}))
    })
    .await;
    let (session, skipped) = (session(&network), std::collections::BTreeSet::new());
    let reading = FetchContext::new(&session, &Free, &skipped);
    let post = PostRef {
        id: "7".to_owned(),
        post_type: "feed".to_owned(),
        format: "video".to_owned(),
        url: None,
    };
    let read = Tiktok.analytics().unwrap().posts(&reading, &[post]).await.unwrap();
    assert_eq!(read[0].as_ref().unwrap()["likes"], Err(MissingReason::Permission));
    assert!(reading.findings().missing_permissions.contains("video.list"));
}

/// A budget without end.
struct Free;

#[async_trait::async_trait]
impl CallBudget for Free {
    async fn acquire(&self) -> crate::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_video_is_public_after_its_last_byte() {
    let network = network(complete(json!([7_400_000_000_000_000_001_u64]))).await;
    let settings = json!({"ai_disclosure": true, "video_cover_timestamp_ms": 5});
    let (steps, made) = walk(&network, &post(settings, &["video/mp4"])).await;
    assert_eq!(
        steps,
        [
            "prepare creator_info",
            "prepare begin_video",
            "commit upload_last_chunk",
            "confirm wait_until_public"
        ]
    );
    let made = made.unwrap();
    assert_eq!(made.id, "7400000000000000001");
    assert!(made.url.unwrap().ends_with("/@ann/video/7400000000000000001"));
    let seen = network.seen();
    let body = seen[1].json();
    assert_eq!(
        body["source_info"],
        json!({"source": "FILE_UPLOAD", "video_size": 8, "chunk_size": 8, "total_chunk_count": 1})
    );
    let info = &body["post_info"];
    // The widest that the creator offers, and what the creator has switched off stays off.
    assert_eq!(
        (info["privacy_level"].as_str(), info["disable_comment"].as_bool()),
        (Some("MUTUAL_FOLLOW_FRIENDS"), Some(true))
    );
    assert_eq!(
        (info["is_aigc"].as_bool(), info["video_cover_timestamp_ms"].as_u64()),
        (Some(true), Some(5))
    );
    assert!(
        seen[2].head.contains("content-range: bytes 0-7/8") && !seen[2].head.contains("act.token")
    );
    assert_eq!(seen[2].text(), "film.mp4");
}

#[test]
fn a_large_video_goes_out_in_chunks_of_which_the_last_carries_the_rest() {
    for (size, count) in
        [(1, 1), (CHUNK, 1), (2 * CHUNK - 1, 1), (2 * CHUNK, 2), (4_000_000_000, 381)]
    {
        assert_eq!(chunks(size), count, "{size}");
        let (mut at, mut sent) = (0, 0);
        while at < size {
            let end = chunk_end(size, at);
            assert!(end > at && (end - at <= 2 * CHUNK), "{size} {at}");
            (at, sent) = (end, sent + 1);
        }
        assert_eq!((at, sent), (size, count));
    }
}

#[tokio::test]
async fn a_slideshow_is_one_call_that_names_its_images() {
    let network = network(complete(json!(["9"]))).await;
    let settings = json!({"title": "Crane", "auto_add_music": true, "photo_cover_index": 1});
    let (steps, made) = walk(&network, &post(settings, &["image/jpeg", "image/jpeg"])).await;
    assert_eq!(
        steps,
        ["prepare creator_info", "commit begin_slideshow", "confirm wait_until_public"]
    );
    assert!(made.unwrap().url.unwrap().ends_with("/@ann/photo/9"));
    let body = network.seen()[1].json();
    assert_eq!(
        (body["post_info"]["title"].as_str(), body["post_info"]["description"].as_str()),
        (Some("Crane"), Some("A film"))
    );
    assert!(body["post_info"].get("is_aigc").is_none());
    assert_eq!(body["source_info"]["photo_images"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_private_post_has_no_id_of_its_own() {
    let network = network(complete(json!([]))).await;
    let (_, made) =
        walk(&network, &post(json!({"privacy_level": "SELF_ONLY"}), &["image/jpeg"])).await;
    let made = made.unwrap();
    assert_eq!(made.id, "p1");
    assert!(made.url.unwrap().ends_with("/@ann"));
}

#[tokio::test]
async fn what_the_creator_does_not_offer_is_refused_before_anything_is_sent() {
    let network = network(complete(json!([]))).await;
    let draft = post(json!({"privacy_level": "PUBLIC_TO_EVERYONE"}), &["video/mp4"]);
    let (steps, refused) = walk(&network, &draft).await;
    assert_eq!(steps, ["prepare creator_info"]);
    let error = refused.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Rejected);
    assert!(error.remedy.unwrap().contains("MUTUAL_FOLLOW_FRIENDS, SELF_ONLY"));
    let mut long = post(json!({}), &["video/mp4"]);
    long.media[0].duration_ms = Some(61_000);
    assert_eq!(walk(&network, &long).await.1.unwrap_err().kind, ErrorKind::MediaRejected);
}

#[tokio::test]
async fn a_post_that_failed_says_why_and_is_begun_anew_by_the_next_try() {
    let network =
        network(json!({"status": "FAILED", "fail_reason": "picture_size_check_failed"})).await;
    let draft = post(json!({}), &["video/mp4"]);
    let (steps, refused) = walk(&network, &draft).await;
    assert_eq!(steps.len(), 5, "{steps:?}");
    assert_eq!(refused.unwrap_err().kind, ErrorKind::MediaRejected);
    let mut later = session(&network);
    let state = json!({"stage": {"failed": {"reason": "internal", "since": later.now}}});
    later.now += chrono::TimeDelta::minutes(1);
    let begun = Tiktok.publish(&later, &draft, Some(state)).await.unwrap();
    let Progress::Continue { state, .. } = begun else { panic!("{begun:?}") };
    assert_eq!(Tiktok.step(&draft, Some(&state)).name, "begin_video");
}

/// A TikTok that refuses the last chunk of a video with this status, and then says this of it.
async fn refusing(status: u16, told: Value) -> Network {
    let base = Arc::new(OnceLock::<String>::new());
    let known = base.clone();
    let network = Network::start(move |seen| match seen.line.starts_with("PUT") {
        true => (status, json!("refused")),
        false => willing(known.get().unwrap(), seen, &told),
    })
    .await;
    base.set(network.base().to_owned()).unwrap();
    network
}

#[tokio::test]
async fn a_refused_last_chunk_begins_another_video_only_if_the_first_is_not_there() {
    let behind = json!({"status": "PROCESSING_UPLOAD", "uploaded_bytes": 0});
    let whole = json!({"status": "PROCESSING_UPLOAD", "uploaded_bytes": 8});
    let failed = json!({"status": "FAILED", "fail_reason": "internal"});
    let draft = post(json!({}), &["video/mp4"]);
    for status in [403, 404, 410, 416] {
        for (told, next) in [
            (&behind, None),
            (&whole, Some("wait_until_public")),
            (&complete(json!(["9"])), Some("wait_until_public")),
            (&failed, Some("begin_video")),
        ] {
            let network = refusing(status, told.clone()).await;
            let url = format!("{}/video/?upload_id=1", network.base());
            let state = json!({"stage": {"upload": {"publish_id": "v1", "upload_url": url, "size": 8, "sent": 0}}});
            let answer = Tiktok.publish(&session(&network), &draft, Some(state)).await;
            let named = |state: &Value| Tiktok.step(&draft, Some(state)).name;
            match (answer, next) {
                (Ok(Progress::Continue { state, .. }), Some(next)) => {
                    assert_eq!(named(&state), next, "{status} {told}");
                }
                // Its bytes may be there already, although they are not told yet.
                (Err(error), None) => {
                    assert!(error.leaves_open(), "{status}");
                    let again = if status == 416 { "upload_last_chunk" } else { "begin_video" };
                    assert_eq!(named(&error.next_state.unwrap()), again, "{status}");
                }
                other => panic!("{status} {told}: {other:?}"),
            }
        }
    }
}

#[tokio::test]
async fn a_post_that_is_not_found_yet_is_waited_for() {
    for status in [400, 404] {
        let network = Network::start(move |_| {
            let error = json!({"code": "invalid_publish_id", "message": "", "log_id": "1"});
            (status, json!({"data": {}, "error": error}))
        })
        .await;
        let session = session(&network);
        let state = json!({"stage": {"wait": {"publish_id": "v1", "since": session.now}}});
        let draft = post(json!({}), &["video/mp4"]);
        let error = Tiktok.publish(&session, &draft, Some(state)).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Transient, "{status}");
    }
}

#[tokio::test]
async fn a_lost_answer_is_settled_by_the_bytes_that_arrived() {
    let draft = post(json!({}), &["video/mp4"]);
    let state = json!({"stage": {"upload": {"publish_id": "v1", "upload_url": "https://u.example", "size": 8, "sent": 0}}});
    assert_eq!(Tiktok.step(&draft, Some(&state)).phase, Phase::Commit);
    for (status, there) in [
        (json!({"status": "PROCESSING_UPLOAD", "uploaded_bytes": 0}), false),
        (json!({"status": "PROCESSING_UPLOAD", "uploaded_bytes": 8}), true),
        (complete(json!(["9"])), true),
    ] {
        let network = network(status.clone()).await;
        let found = Tiktok
            .reconcile(&session(&network), &draft, Some(state.clone()), test_server::at(0))
            .await
            .unwrap();
        match found {
            ReconcileOutcome::Committed(Progress::Continue { public: true, .. }) => {
                assert!(there, "{status}")
            }
            ReconcileOutcome::NotCommitted => assert!(!there, "{status}"),
            other => panic!("{status}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_slideshow_whose_answer_was_lost_is_looked_for_and_never_called_absent() {
    let at = test_server::at(1).timestamp();
    let listed = json!({"videos": [{"id": "5", "title": "", "video_description": "A film", "create_time": at}]});
    let network = network(listed).await;
    let state = json!({"stage": "begin"});
    let draft = post(json!({}), &["image/jpeg"]);
    assert_eq!(Tiktok.recovery_class(&crate::Account::default(), &draft).as_str(), "search");
    let found = Tiktok
        .reconcile(&session(&network), &draft, Some(state.clone()), test_server::at(0))
        .await
        .unwrap();
    let found = test_server::settled(found);
    assert!(
        matches!(found, ReconcileOutcome::Committed(Progress::Done(PublishedPost { ref id, .. })) if id == "5"),
        "{found:?}"
    );
    let mut other = draft;
    other.caption = "Another".to_owned();
    let found = Tiktok
        .reconcile(&session(&network), &other, Some(state), test_server::at(0))
        .await
        .unwrap();
    assert!(matches!(test_server::settled(found), ReconcileOutcome::Unknown));
}

#[tokio::test]
async fn errors_say_what_to_do() {
    let network = network(json!({})).await;
    let session = session(&network);
    for (status, code, kind) in [
        (401, "access_token_invalid", ErrorKind::TokenExpired),
        (401, "scope_not_authorized", ErrorKind::Reconnect),
        (429, "rate_limit_exceeded", ErrorKind::RateLimited),
        (403, "spam_risk_too_many_posts", ErrorKind::QuotaExhausted),
        (403, "url_ownership_unverified", ErrorKind::Misconfigured),
        (403, "reached_active_user_cap", ErrorKind::Misconfigured),
        (403, "privacy_level_option_mismatch", ErrorKind::Rejected),
        (400, "invalid_params", ErrorKind::Rejected),
        (403, "spam_risk_user_banned_from_posting", ErrorKind::Restricted),
        (200, "internal_error", ErrorKind::Transient),
        (500, "internal_error", ErrorKind::Server),
        (503, "", ErrorKind::Server),
    ] {
        let body = json!({"error": {"code": code, "message": "said act.token"}});
        let error = parse_error(&session, &test_server::reply(status, &[], &body));
        assert_eq!(error.kind, kind, "{status} {code}");
        assert!(!format!("{error:?}").contains("act.token"));
        let waits = matches!(kind, ErrorKind::RateLimited | ErrorKind::QuotaExhausted);
        assert_eq!(error.retry_after.is_some(), waits, "{code}");
    }
    assert_eq!(failed("duration_check_failed").kind, ErrorKind::MediaRejected);
    assert_eq!(failed("photo_pull_failed").kind, ErrorKind::Transient);
    assert_eq!(failed("auth_removed").kind, ErrorKind::Reconnect);
    assert_eq!(failed("something_new").kind, ErrorKind::Rejected);
}

#[tokio::test]
async fn the_access_token_is_what_is_given_back() {
    let network = Network::start(|_| (200, json!({}))).await;
    assert!(Tiktok.revoke(&session(&network)).await.unwrap());
    let seen = &network.seen()[0];
    assert_eq!(seen.line, "POST /net/v2/oauth/revoke/");
    assert_eq!(
        (seen.form("token").as_deref(), seen.form("client_key").as_deref()),
        (Some("act.token"), Some("app"))
    );
}

#[test]
fn what_does_not_go_together_is_told() {
    let broken = |draft: &Draft| {
        let found = validate(&Tiktok, &crate::Account::default(), draft);
        found.into_iter().map(|one| (one.field, one.code)).collect::<Vec<_>>()
    };
    let invalid = |name: &str| vec![(format!("settings.{name}"), "setting_invalid")];
    assert_eq!(
        broken(&post(json!({"media_type": "PHOTO"}), &["video/mp4"])),
        invalid("media_type")
    );
    assert_eq!(
        broken(&post(json!({"photo_cover_index": 1}), &["image/jpeg"])),
        invalid("photo_cover_index")
    );
    let both = json!({"privacy_level": "SELF_ONLY", "brand_content_toggle": true});
    assert_eq!(broken(&post(both, &["video/mp4"])), invalid("brand_content_toggle"));
    assert_eq!(broken(&post(json!({"title": "🎬".repeat(46)}), &["image/jpeg"])), invalid("title"));
    let mut small = post(json!({}), &["video/mp4"]);
    small.media[0].dimensions = Some((320, 1_080));
    assert_eq!(broken(&small), [("media_urls[0]".to_owned(), "video_exceeds_platform_limit")]);
    // A video's caption is its title; a slideshow's is a description.
    let long = |media| Draft { caption: "n".repeat(2_201), ..post(json!({}), &[media]) };
    assert_eq!(broken(&long("video/mp4")), [("caption".to_owned(), "caption_too_long")]);
    assert_eq!(broken(&long("image/jpeg")), []);
    let still = json!({"ai_generated": true, "disable_duet": true});
    assert_eq!(Tiktok.warnings(&post(still, &["image/jpeg"])).len(), 2);
}
