//! Videos against a network on loopback: chunks, what arrived of them, what is beside a video, and the table of errors.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use serde_json::{Value, json};

use super::{
    Youtube, content,
    error::{failed, parse_error, until_midnight},
    settings::Settings,
    state::{CHUNK, chunk_end},
};
use crate::{
    Draft, ErrorKind, Phase, Platform, Progress, PublishedPost, ReconcileOutcome, Secrets, Session,
    tests::test_server::{self, Network, Seen},
    validate::validate,
};

type Answer = (u16, Vec<(&'static str, String)>, Value);

fn session(network: &Network) -> Session {
    let secrets = Secrets::new().with("access_token", "ya29.token").with("refresh_token", "1//r");
    network.session(test_server::account("UC1", json!({})), secrets)
}

fn post(settings: Value) -> Draft {
    let mut draft = test_server::draft("A film\nabout paper", settings);
    draft.media = vec![test_server::media("film.mp4", "video/mp4")];
    draft
}

fn plain(status: u16, body: Value) -> Answer {
    (status, Vec::new(), body)
}

/// A YouTube that takes everything.
fn willing(base: &str, seen: &Seen) -> Answer {
    match seen.line.split("/net").collect::<Vec<_>>().as_slice() {
        ["POST ", "/upload/youtube/v3/videos"] => {
            let address = format!("{base}/upload/youtube/v3/videos?upload_id=u1");
            (200, vec![("location", address)], json!({}))
        }
        ["PUT ", _] => plain(200, json!({"id": "v1"})),
        ["GET ", "/youtube/v3/videos"] => {
            plain(200, json!({"items": [{"id": "v1", "status": {"uploadStatus": "processed"}}]}))
        }
        _ => plain(200, json!({"id": "made"})),
    }
}

/// A network that answers as told, and otherwise takes everything.
async fn network(told: impl Fn(&Seen) -> Option<Answer> + Send + 'static) -> Network {
    let base = Arc::new(OnceLock::<String>::new());
    let known = base.clone();
    let answer =
        move |seen: &Seen| told(seen).unwrap_or_else(|| willing(known.get().unwrap(), seen));
    let network = Network::telling(answer).await;
    base.set(network.base().to_owned()).unwrap();
    network
}

/// Publishes to the end, or until an error.
async fn walk(network: &Network, draft: &Draft) -> (Vec<String>, crate::Result<PublishedPost>) {
    let (session, mut state, mut steps) = (session(network), None, Vec::new());
    loop {
        assert!(steps.len() < 20, "{steps:?}");
        let step = Youtube.step(draft, state.as_ref());
        steps.push(format!("{} {}", step.phase.as_str(), step.name));
        match Youtube.publish(&session, draft, state).await {
            Ok(Progress::Done(published)) => return (steps, Ok(published)),
            Ok(Progress::Continue { state: next, .. }) => state = Some(next),
            Err(error) => return (steps, Err(error)),
        }
    }
}

#[tokio::test]
async fn a_video_is_there_after_its_last_byte() {
    let network = network(|_| None).await;
    let draft = post(json!({
        "tags": ["paper crane"], "ai_disclosure": true, "brand_partner": "Paper Ltd",
        "notify_subscribers": false, "add_shorts_hashtag": true, "privacy_status": "unlisted",
    }));
    let (steps, made) = walk(&network, &draft).await;
    assert_eq!(
        steps,
        ["prepare begin_upload", "commit upload_last_chunk", "confirm look_at_processing"]
    );
    let made = made.unwrap();
    assert!(made.id == "v1" && made.url.unwrap().ends_with("/watch?v=v1"));
    let seen = network.seen();
    assert_eq!(seen[0].query("notifySubscribers"), Some("false"));
    assert!(seen[0].head.contains("x-upload-content-length: 8"), "{}", seen[0].head);
    let body = seen[0].json();
    assert_eq!(body["snippet"]["title"], "A film");
    assert_eq!(body["snippet"]["description"], "A film\nabout paper\n\n#Shorts");
    assert_eq!(
        body["status"],
        json!({"privacyStatus": "unlisted", "selfDeclaredMadeForKids": false, "containsSyntheticMedia": true})
    );
    assert_eq!(body["paidProductPlacementDetails"], json!({"hasPaidProductPlacement": true}));
    assert!(seen[1].head.contains("content-range: bytes 0-7/8"));
    assert_eq!(seen[1].text(), "film.mp4");
}

#[test]
fn chunks_cover_a_file_and_are_whole_grains() {
    for size in [1, CHUNK, CHUNK + 1, 3 * CHUNK - 1] {
        let (mut at, mut count) = (0, 0);
        while at < size {
            let end = chunk_end(size, at);
            assert!(
                end > at && (end == size || (end - at).is_multiple_of(256 << 10)),
                "{size} {at}"
            );
            (at, count) = (end, count + 1);
        }
        assert_eq!((at, count), (size, size.div_ceil(CHUNK)));
    }
}

#[tokio::test]
async fn an_upload_goes_on_where_the_network_says() {
    let network = network(|seen| {
        let whole = seen.head.contains("bytes 0-7/8");
        whole.then(|| (308, vec![("range", "bytes=0-3".to_owned())], json!(null)))
    })
    .await;
    let (steps, made) = walk(&network, &post(json!({}))).await;
    assert_eq!(steps.iter().filter(|step| step.ends_with("upload_last_chunk")).count(), 2);
    assert_eq!(made.unwrap().id, "v1");
    let seen = network.seen();
    assert!(seen[2].head.contains("content-range: bytes 4-7/8"), "{}", seen[2].head);
    assert_eq!(seen[2].text(), ".mp4");
}

#[tokio::test]
async fn an_address_that_is_gone_is_asked_for_again_and_not_for_ever() {
    let gone = |seen: &Seen| seen.line.starts_with("PUT").then(|| plain(404, json!({})));
    let network = network(gone).await;
    let mut draft = post(json!({}));
    draft.media[0].bytes = Some(2 * CHUNK);
    let (session, mut state, mut begun) = (session(&network), None, 0);
    // Nothing is there before the last chunk.
    let error = loop {
        begun += usize::from(Youtube.step(&draft, state.as_ref()).name == "begin_upload");
        match Youtube.publish(&session, &draft, state).await {
            Ok(Progress::Continue { state: next, .. }) => state = Some(next),
            Err(error) => break error,
            Ok(other) => panic!("{other:?}"),
        }
    };
    assert_eq!((begun, error.kind), (3, ErrorKind::TargetGone));
}

/// A channel that lists these videos, and knows nothing of the upload.
async fn forgetful(status: u16, videos: Value) -> Network {
    network(move |seen| {
        Some(match seen.line.split("/net").nth(1).unwrap_or_default() {
            "/youtube/v3/channels" => {
                let lists = json!({"relatedPlaylists": {"uploads": "UU1"}});
                plain(200, json!({"items": [{"contentDetails": lists}]}))
            }
            "/youtube/v3/playlistItems" => {
                assert_eq!(seen.query("playlistId"), Some("UU1"));
                plain(200, json!({"items": videos}))
            }
            _ if seen.line.starts_with("PUT") => plain(status, json!({})),
            _ => return None,
        })
    })
    .await
}

fn listed(id: &str, title: &str, at: i64) -> Value {
    json!({"snippet": {
        "title": title, "description": "A film\nabout paper",
        "publishedAt": test_server::at(at).to_rfc3339(), "resourceId": {"videoId": id},
    }})
}

#[tokio::test]
async fn a_forgotten_upload_is_looked_for_in_the_channel_before_another_is_begun() {
    let draft = post(json!({}));
    for status in [404, 410] {
        for (videos, found) in [
            (json!([listed("v9", "A film", 1)]), Some("v9")),
            (json!([listed("v8", "Another", 1)]), None),
            (json!([listed("v7", "A film", -3_600)]), None),
            (json!([]), None),
        ] {
            let network = forgetful(status, videos.clone()).await;
            let address = format!("{}/upload/youtube/v3/videos?upload_id=u1", network.base());
            let state = json!({"stage": {"upload": {"address": address, "size": 8, "sent": 0}}});
            let session = session(&network);
            let error = Youtube.publish(&session, &draft, Some(state)).await.unwrap_err();
            assert_eq!((error.kind, error.leaves_open()), (ErrorKind::Transient, true));
            let state = error.next_state.unwrap();
            assert_eq!(Youtube.step(&draft, Some(&state)).phase, Phase::Prepare);
            let looked = Youtube.reconcile(&session, &draft, Some(state), test_server::at(0)).await;
            let is_there = match test_server::settled(looked.unwrap()) {
                ReconcileOutcome::Committed(Progress::Continue { remote_id, .. }) => remote_id,
                ReconcileOutcome::NotCommitted => None,
                other => panic!("{videos}: {other:?}"),
            };
            assert_eq!(is_there.as_deref(), found, "{videos}");
        }
    }
}

#[tokio::test]
async fn what_fails_beside_a_video_never_fails_it() {
    let refuse = |seen: &Seen| {
        let error = json!({"error": {"message": "no", "errors": [{"reason": "forbidden"}]}});
        seen.line.contains("playlistItems").then(|| plain(403, error))
    };
    let settings = json!({"playlist_id": "PL1"});
    let (steps, made) = walk(&network(refuse).await, &post(settings.clone())).await;
    assert!(steps.contains(&"confirm add_to_playlist".to_owned()), "{steps:?}");
    assert_eq!(made.unwrap().parts, []);
    let willing = network(|_| None).await;
    let parts = walk(&willing, &post(settings)).await.1.unwrap().parts;
    assert_eq!((parts[0].name.as_str(), parts[0].id.as_str()), ("playlist_item", "made"));
    // A lost answer is not asked for again: twice in a playlist is worse than not at all.
    let lost =
        network(|seen| seen.line.contains("playlistItems").then(|| plain(503, json!({})))).await;
    let (steps, made) = walk(&lost, &post(json!({"playlist_id": "PL1"}))).await;
    assert!(made.is_ok() && steps.len() == 4, "{steps:?}");
}

#[tokio::test]
async fn a_video_that_is_rejected_says_why_and_is_begun_anew_by_the_next_try() {
    let reject = |seen: &Seen| {
        let status = json!({"uploadStatus": "rejected", "rejectionReason": "length"});
        seen.line.starts_with("GET").then(|| plain(200, json!({"items": [{"status": status}]})))
    };
    let (_, refused) = walk(&network(reject).await, &post(json!({}))).await;
    assert_eq!(refused.unwrap_err().kind, ErrorKind::MediaRejected);
    let willing = network(|_| None).await;
    let mut later = session(&willing);
    let state = json!({"stage": {"failed": {"reason": "length", "since": later.now}}, "id": "v0"});
    later.now += chrono::TimeDelta::minutes(1);
    let begun = Youtube.publish(&later, &post(json!({})), Some(state)).await.unwrap();
    let Progress::Continue { state, .. } = begun else { panic!("{begun:?}") };
    assert_eq!(Youtube.step(&post(json!({})), Some(&state)).name, "upload_last_chunk");
}

#[tokio::test]
async fn a_lost_answer_is_asked_for_again() {
    let draft = post(json!({}));
    for (answer, there) in [
        (plain(200, json!({"id": "v1"})), true),
        ((308, vec![("range", "bytes=0-3".to_owned())], json!(null)), false),
    ] {
        let status = answer.0;
        let network = network(move |_| Some(answer.clone())).await;
        let address = format!("{}/upload/youtube/v3/videos?upload_id=u1", network.base());
        let state = json!({"stage": {"upload": {"address": address, "size": 8, "sent": 0}}});
        assert_eq!(Youtube.step(&draft, Some(&state)).phase, Phase::Commit);
        let session = session(&network);
        let found =
            Youtube.reconcile(&session, &draft, Some(state), test_server::at(0)).await.unwrap();
        match found {
            ReconcileOutcome::Committed(Progress::Continue { public: true, .. }) => {
                assert!(there, "{status}")
            }
            ReconcileOutcome::NotCommitted => assert_eq!((there, status), (false, 308)),
            other => panic!("{status}: {other:?}"),
        }
        assert!(network.seen()[0].head.contains("content-range: bytes */8"));
    }
}

#[tokio::test]
async fn the_token_is_sent_nowhere_else() {
    let elsewhere = |seen: &Seen| {
        let address = "https://elsewhere.example/upload".to_owned();
        seen.line.starts_with("POST").then(|| (200, vec![("location", address)], json!({})))
    };
    let (steps, refused) = walk(&network(elsewhere).await, &post(json!({}))).await;
    assert_eq!((steps.len(), refused.unwrap_err().kind), (1, ErrorKind::Transient));
}

#[tokio::test]
async fn errors_say_what_to_do() {
    let network = network(|_| None).await;
    let session = session(&network);
    for (status, reason, kind) in [
        (401, "authError", ErrorKind::TokenExpired),
        (401, "youtubeSignupRequired", ErrorKind::TargetGone),
        (403, "insufficientPermissions", ErrorKind::Reconnect),
        (403, "quotaExceeded", ErrorKind::QuotaExhausted),
        (403, "rateLimitExceeded", ErrorKind::RateLimited),
        (400, "uploadLimitExceeded", ErrorKind::QuotaExhausted),
        (400, "invalidTitle", ErrorKind::Rejected),
        (400, "mediaBodyRequired", ErrorKind::MediaRejected),
        (403, "forbidden", ErrorKind::PermissionMissing),
        (503, "backendError", ErrorKind::Server),
    ] {
        let body = json!({"error": {"code": status, "message": "said ya29.token", "errors": [{"reason": reason}]}});
        let error = parse_error(&session, &test_server::reply(status, &[], &body));
        assert_eq!(error.kind, kind, "{status} {reason}");
        assert!(!format!("{error:?}").contains("ya29.token"));
        let waits = matches!(kind, ErrorKind::RateLimited | ErrorKind::QuotaExhausted);
        assert_eq!(error.retry_after.is_some(), waits, "{reason}");
        assert_eq!(error.is_app_wide, reason == "quotaExceeded");
    }
    assert_eq!(failed("duplicate").kind, ErrorKind::Rejected);
    assert_eq!(failed("uploadAborted").kind, ErrorKind::Transient);
}

#[test]
fn a_quota_is_renewed_at_midnight_in_california() {
    for (now, hours) in [
        ("2030-01-15T07:00:00Z", 1),
        ("2030-01-15T08:00:00Z", 24),
        ("2030-07-15T08:00:00Z", 23),
        ("2030-03-10T08:00:00Z", 23),
    ] {
        let left = until_midnight(now.parse().unwrap());
        assert_eq!(left, Duration::from_secs(hours * 3_600), "{now}");
    }
}

#[test]
fn what_does_not_go_together_is_told() {
    let broken = |draft: &Draft| {
        let found = validate(&Youtube, &crate::Account::default(), draft);
        found.into_iter().map(|one| (one.field, one.code)).collect::<Vec<_>>()
    };
    let invalid = |name: &str| vec![(format!("settings.{name}"), "setting_invalid")];
    assert_eq!(broken(&post(json!({"title": "a < b"}))), invalid("title"));
    assert_eq!(broken(&post(json!({"category_id": "film"}))), invalid("category_id"));
    assert_eq!(broken(&post(json!({"tags": ["a,b"]}))), invalid("tags"));
    // Two words and their quotes fill it; the comma between two is one too many.
    let words = format!("{} {}", "n".repeat(248), "n".repeat(249));
    assert_eq!(broken(&post(json!({"tags": [words]}))), []);
    assert_eq!(broken(&post(json!({"tags": [words, "n"]}))), invalid("tags"));
    let mut short = Draft { post_type: "short".to_owned(), ..post(json!({})) };
    short.media[0].dimensions = Some((1_920, 1_080));
    let shape = vec![("media_urls[0]".to_owned(), "video_exceeds_platform_limit")];
    assert_eq!(broken(&short), shape);
    let long = |caption: String| Draft {
        caption,
        ..post(json!({"title": "t", "add_shorts_hashtag": true}))
    };
    let too_long = vec![("caption".to_owned(), "caption_too_long")];
    assert_eq!(broken(&long("é".repeat(2_495))), []);
    assert_eq!(broken(&long("é".repeat(2_496))), too_long);
    let untitled = Draft { caption: String::new(), ..post(json!({})) };
    assert_eq!(broken(&untitled), [("settings.title".to_owned(), "setting_required")]);
    assert_eq!(Youtube.warnings(&post(json!({"brand_partner": "Paper Ltd"}))).len(), 1);
    let there = Draft { caption: "see #shorts".to_owned(), ..post(json!({})) };
    let asked = Settings { add_shorts_hashtag: true, ..Settings::default() };
    assert_eq!(content::description(&there, &asked), "see #shorts");
}
