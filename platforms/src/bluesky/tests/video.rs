use chrono::TimeDelta;
use serde_json::{Value, json};

use super::{DID, account, blob, secrets, xrpc_error};
use crate::{
    Account, Draft, Effect, Error, ErrorKind, Media, Phase, Platform, Progress, Session,
    VideoService, WarningCode,
    bluesky::Bluesky,
    tests::test_server::{Network, Seen, at, draft, media},
    validate,
};

fn nsid(seen: &Seen) -> &str {
    seen.line.rsplit('/').next().unwrap()
}

/// A network on which the job goes through these states, one with each look; the last one stays.
fn answering(states: Vec<Value>) -> impl FnMut(&Seen) -> (u16, Value) + Send {
    let mut states = states.into_iter().peekable();
    move |seen| match nsid(seen) {
        "com.atproto.server.getServiceAuth" => {
            (200, json!({"token": format!("for-{}", seen.query("lxm").unwrap())}))
        }
        "app.bsky.video.getUploadLimits" => {
            (200, json!({"canUpload": true, "remainingDailyVideos": 3, "remainingDailyBytes": 100}))
        }
        "app.bsky.video.uploadVideo" => {
            (200, json!({"did": DID, "jobId": "job", "state": "JOB_STATE_CREATED"}))
        }
        "app.bsky.video.getJobStatus" => {
            let last = states.len() == 1;
            let state = if last { states.peek().cloned() } else { states.next() };
            (200, json!({"jobStatus": state}))
        }
        "com.atproto.repo.uploadBlob" => (200, json!({"blob": blob(&seen.text())})),
        "com.atproto.repo.applyWrites" => (200, json!({"results": []})),
        "com.atproto.server.describeServer" => {
            (200, json!({"did": "did:web:a", "availableUserDomains": [], "blobUploadLimit": 9}))
        }
        _ => xrpc_error(501, "MethodNotImplemented"),
    }
}

fn status(state: &str) -> Value {
    json!({"jobId": "job", "did": DID, "state": state})
}

fn done() -> Value {
    json!({"jobId": "job", "did": DID, "state": "JOB_STATE_COMPLETED", "blob": blob("processed")})
}

/// A session on a simulated network; the account lives on a server of its own.
fn session(network: &Network) -> Session {
    let mut account: Account = account();
    account.meta.insert("pds".into(), json!("https://oak.host.example"));
    Session { simulated: true, ..network.session(account, secrets()) }
}

fn post(settings: Value) -> Draft {
    let video = Media { dimensions: Some((9, 16)), ..media("clip.mp4", "video/mp4") };
    let captions = settings["captions"].as_array().cloned().unwrap_or_default();
    Draft {
        media: vec![video],
        caption_files: captions.iter().map(|_| media("WEBVTT", "text/vtt")).collect(),
        ..draft("Look", settings)
    }
}

/// Calls `publish` to the end. Returns the steps with the seconds that were waited after them, and the warnings.
async fn walk(
    mut session: Session,
    draft: &Draft,
) -> Result<(Vec<String>, Vec<WarningCode>), Error> {
    let (mut names, mut state) = (Vec::new(), None::<Value>);
    loop {
        let step = Bluesky.step(draft, state.as_ref());
        assert!(names.len() < 400, "{names:?}");
        match Bluesky.publish(&session, draft, state.take()).await? {
            Progress::Done(published) => {
                names.push(step.name);
                return Ok((names, published.warnings.iter().map(|one| one.code).collect()));
            }
            Progress::Continue { state: next, after, public, .. } => {
                assert_eq!((step.phase, public), (Phase::Prepare, false));
                names.push(format!("{} {}", step.name, after.as_secs()));
                session.now += TimeDelta::from_std(after).unwrap();
                state = Some(next);
            }
        }
    }
}

async fn refusal(network: &Network) -> Error {
    walk(session(network), &post(json!({}))).await.expect_err("a refusal")
}

#[tokio::test]
async fn a_video_goes_through_its_service_with_tokens_of_its_own() {
    let states = vec![status("JOB_STATE_ENCODING"), status("JOB_STATE_NEW"), done()];
    let network = Network::start(answering(states)).await;
    let captions = json!([{"lang": "en", "url": "u"}, {"lang": "pt-BR", "url": "v"}]);
    let settings = json!({"media_alt_texts": ["A cat jumps"], "captions": captions});
    let (steps, _) = walk(session(&network), &post(settings)).await.unwrap();
    let expected = [
        "check_video_limits 0",
        "upload_video 2",
        "await_video 2",
        "await_video 2",
        "await_video 0",
        "upload_captions_1 0",
        "upload_captions_2 0",
        "create_post",
    ];
    assert_eq!(steps, expected);

    let seen = network.seen();
    let of = |name: &str| seen.iter().filter(|one| nsid(one) == name).collect::<Vec<_>>();
    let tokens = of("com.atproto.server.getServiceAuth");
    assert!(tokens.iter().all(|one| one.head.contains("authorization: bearer access-token")));
    assert_eq!(tokens[0].query("aud"), Some("did:web:video.bsky.app"));
    assert_eq!(tokens[0].query("lxm"), Some("app.bsky.video.getUploadLimits"));
    assert_eq!(tokens[1].query("aud"), Some("did:web:oak.host.example"));
    assert_eq!(tokens[1].query("lxm"), Some("com.atproto.repo.uploadBlob"));
    assert_eq!(tokens[1].query("exp"), Some((at(0).timestamp() + 1_800).to_string().as_str()));
    let upload = of("app.bsky.video.uploadVideo")[0];
    assert!(upload.head.contains("authorization: bearer for-com.atproto.repo.uploadblob"));
    assert!(upload.head.contains("content-type: video/mp4"));
    assert!(upload.head.contains("content-length: 8"));
    assert_eq!((upload.query("did"), upload.query("name")), (Some(DID), Some("clip.mp4")));
    assert_eq!(upload.text(), "clip.mp4");
    assert!(!of("app.bsky.video.getJobStatus")[0].head.contains("authorization"));

    let record = &of("com.atproto.repo.applyWrites")[0].json()["writes"][0]["value"];
    let expected = json!({
        "$type": "app.bsky.embed.video",
        "video": blob("processed"),
        "alt": "A cat jumps",
        "aspectRatio": {"width": 9, "height": 16},
        "captions": [
            {"lang": "en", "file": blob("WEBVTT")}, {"lang": "pt-BR", "file": blob("WEBVTT")},
        ],
    });
    assert_eq!(record["embed"], expected);
}

#[tokio::test]
async fn equal_bytes_are_answered_with_the_job_that_there_is() {
    let mut others = answering(vec![done()]);
    let network = Network::start(move |seen| match nsid(seen) {
        "app.bsky.video.uploadVideo" => (
            409,
            json!({"did": DID, "jobId": "job", "state": "JOB_STATE_COMPLETED",
                "error": "already_exists", "message": "Video already processed"}),
        ),
        _ => others(seen),
    })
    .await;
    let (steps, _) = walk(session(&network), &post(json!({}))).await.unwrap();
    assert_eq!(steps, ["check_video_limits 0", "upload_video 2", "await_video 0", "create_post"]);
}

#[tokio::test]
async fn a_failed_job_is_final_or_tried_anew_by_its_code() {
    for (code, kind) in [
        (Some("validation_failure"), ErrorKind::MediaRejected),
        (Some("encoding_failure"), ErrorKind::MediaRejected),
        (Some("pds_upload_unsupported_blob_size"), ErrorKind::MediaRejected),
        (Some("pds_upload_failure"), ErrorKind::Transient),
        (Some("generic_failure"), ErrorKind::Transient),
        (Some("a_code_of_tomorrow"), ErrorKind::Transient),
        (None, ErrorKind::Transient),
    ] {
        let mut failed = status("JOB_STATE_FAILED");
        failed["message"] = json!("It is too wide.");
        failed["failureCode"] = json!(code);
        let network = Network::start(answering(vec![failed])).await;
        let error = refusal(&network).await;
        assert_eq!((error.kind, error.effect), (kind, Effect::ByKind), "{code:?}");
        assert!(error.message.contains("It is too wide."), "{}", error.message);
        let next = error.next_state.as_ref().map(|state| state["video"]["stage"].clone());
        let anew = (kind == ErrorKind::Transient).then(|| json!("allowed"));
        assert_eq!(next, anew, "{code:?}");
        if code == Some("pds_upload_unsupported_blob_size") {
            assert!(error.remedy.unwrap().contains("at most 9 bytes"));
        }
    }
}

#[tokio::test]
async fn processing_is_waited_for_half_an_hour() {
    let network = Network::start(answering(vec![status("JOB_STATE_COMPLETED")])).await;
    let error = refusal(&network).await;
    assert_eq!(error.kind, ErrorKind::Transient, "{}", error.message);
    assert_eq!(error.next_state.unwrap()["video"]["stage"], "allowed");
    let looks = network.lines().iter().filter(|line| line.ends_with("getJobStatus")).count();
    // 10 in the first 20 seconds, 20 to the end of the second minute, then 4 a minute for 28 minutes.
    assert_eq!(looks, 10 + 20 + 112);
}

#[tokio::test]
async fn a_job_that_is_gone_is_begun_anew() {
    let mut others = answering(vec![done()]);
    let network = Network::start(move |seen| match nsid(seen) {
        "app.bsky.video.getJobStatus" => xrpc_error(404, "JobNotFound"),
        _ => others(seen),
    })
    .await;
    let error = refusal(&network).await;
    assert_eq!(error.kind, ErrorKind::Transient);
    assert_eq!(error.next_state.unwrap()["video"]["stage"], "allowed");
}

#[tokio::test]
async fn a_token_that_the_service_refuses_says_nothing_about_the_account() {
    for (method, status, code) in [
        ("app.bsky.video.getUploadLimits", 401, "JwtExpired"),
        ("app.bsky.video.uploadVideo", 401, "BadJwtAudience"),
        ("app.bsky.video.uploadVideo", 400, "ExpiredToken"),
    ] {
        let mut others = answering(vec![done()]);
        let network = Network::start(move |seen| match nsid(seen) == method {
            true => xrpc_error(status, code),
            false => others(seen),
        })
        .await;
        let error = refusal(&network).await;
        assert_eq!(error.kind, ErrorKind::Transient, "{method} {code}");
    }
    // The account's own server refuses its own session.
    let mut others = answering(vec![done()]);
    let network = Network::start(move |seen| match nsid(seen) {
        "com.atproto.server.getServiceAuth" => xrpc_error(400, "ExpiredToken"),
        _ => others(seen),
    })
    .await;
    assert_eq!(refusal(&network).await.kind, ErrorKind::TokenExpired);
}

#[tokio::test]
async fn an_account_that_may_send_none_waits_unless_its_address_is_the_reason() {
    for (confirmed, limits, kind) in [
        (
            Some(true),
            json!({"canUpload": false, "message": "Daily limit reached."}),
            ErrorKind::QuotaExhausted,
        ),
        (None, json!({"canUpload": false}), ErrorKind::QuotaExhausted),
        (
            Some(true),
            json!({"canUpload": true, "remainingDailyBytes": 7}),
            ErrorKind::QuotaExhausted,
        ),
        (
            Some(false),
            json!({"canUpload": false, "error": "unconfirmed"}),
            ErrorKind::Misconfigured,
        ),
    ] {
        let (mut others, mut limits) = (answering(vec![done()]), Some(limits));
        let network = Network::start(move |seen| match nsid(seen) {
            "app.bsky.video.getUploadLimits" => (200, limits.take().unwrap()),
            "com.atproto.server.getSession" => (200, json!({"emailConfirmed": confirmed})),
            _ => others(seen),
        })
        .await;
        let error = refusal(&network).await;
        assert_eq!(error.kind, kind, "{}", error.message);
        if kind == ErrorKind::QuotaExhausted {
            assert_eq!(error.retry_after.map(|wait| wait.as_secs()), Some(3_600));
            assert!(error.is_of_post_alone && !error.message.contains(".."), "{}", error.message);
        } else {
            assert!(error.remedy.unwrap().contains("e-mail address"));
        }
        assert!(network.lines().iter().all(|line| !line.ends_with("uploadVideo")));
    }
}

#[tokio::test]
async fn an_upload_that_needs_a_confirmed_address_says_so() {
    let mut others = answering(vec![done()]);
    let network = Network::start(move |seen| match nsid(seen) {
        "app.bsky.video.uploadVideo" => {
            (401, json!({"jobStatus": {"did": "", "error": "unconfirmed_email", "jobId": "", "state": ""}}))
        }
        _ => others(seen),
    })
    .await;
    assert_eq!(refusal(&network).await.kind, ErrorKind::Misconfigured);
}

#[tokio::test]
async fn without_the_service_the_server_gets_the_video_if_it_is_not_too_large() {
    let off = |network: &Network| Session { video_service: VideoService::Off, ..session(network) };
    let network = Network::start(answering(Vec::new())).await;
    let (steps, warnings) = walk(off(&network), &post(json!({}))).await.unwrap();
    assert_eq!(steps, ["check_video_limits 0", "upload_video 0", "create_post"]);
    assert_eq!(warnings, [WarningCode::VideoProcessedAfterPublishing]);
    assert!(network.lines().iter().all(|line| !line.contains("app.bsky.video")));

    let mut large = post(json!({}));
    large.media[0].bytes = Some(10);
    let error = walk(off(&network), &large).await.expect_err("larger than the server takes");
    assert_eq!(error.kind, ErrorKind::MediaRejected);
    assert!(error.remedy.unwrap().contains("at most 9 bytes"));
}

#[tokio::test]
async fn another_service_is_named_in_its_token() {
    let network = Network::start(answering(vec![done()])).await;
    let address = network.base().parse().unwrap();
    let session =
        Session { simulated: false, video_service: VideoService::At(address), ..session(&network) };
    walk(session, &post(json!({}))).await.unwrap();
    let seen = network.seen();
    let port = network.base().split(':').nth(2).unwrap().split('/').next().unwrap();
    assert_eq!(seen[0].query("aud"), Some(format!("did:web:127.0.0.1%3A{port}").as_str()));
    assert_eq!(seen[1].line, "GET /net/xrpc/app.bsky.video.getUploadLimits");
}

#[tokio::test]
async fn the_number_of_videos_left_is_read() {
    let network = Network::start(answering(Vec::new())).await;
    assert_eq!(Bluesky.videos_left(&session(&network)).await.unwrap(), Some(3));
    let off = Session { video_service: VideoService::Off, ..session(&network) };
    assert_eq!(Bluesky.videos_left(&off).await.unwrap(), None);
}

#[test]
fn captions_are_checked() {
    let codes = |draft: &Draft| {
        let found = validate(&Bluesky, &Account::default(), draft);
        found.iter().map(|one| format!("{} {}", one.field, one.code)).collect::<Vec<_>>()
    };
    let en = json!({"lang": "en", "url": "https://a.example/en.vtt"});
    assert_eq!(codes(&post(json!({"captions": [en]}))), Vec::<String>::new());
    assert_eq!(codes(&post(json!({"captions": []}))), Vec::<String>::new());

    let again = json!({"lang": "EN", "url": "https://a.example/b.vtt"});
    let nowhere = json!({"lang": "english", "url": "https://a.example/c.vtt"});
    let mut draft = post(json!({"captions": [en, again, nowhere]}));
    draft.caption_files[0].mime = "image/png".into();
    draft.caption_files[1].bytes = Some(20_001);
    draft.caption_files[2].mime = String::new();
    let expected = [
        "settings.captions[0].url setting_invalid",
        "settings.captions[1].lang setting_invalid",
        "settings.captions[1].url setting_invalid",
        "settings.captions[2].lang setting_invalid",
        "settings.captions[2].url setting_invalid",
    ];
    assert_eq!(codes(&draft), expected);
    draft.caption_files.clear();
    assert_eq!(codes(&draft).len(), 2, "files that were not looked up are not judged");

    let silent = Draft { media: Vec::new(), ..post(json!({"captions": [en]})) };
    assert_eq!(codes(&silent), ["settings.captions setting_invalid"]);
    let many: Vec<_> = (b'a'..b'v')
        .map(|end| json!({"lang": format!("x{}", char::from(end)), "url": "https://a.example"}))
        .collect();
    assert_eq!(codes(&post(json!({"captions": many}))), ["settings.captions setting_invalid"]);
}

#[test]
fn a_video_stands_alone_and_is_converted_if_need_be() {
    let codes = |draft: &Draft| {
        let found = validate(&Bluesky, &Account::default(), draft);
        found.iter().map(|one| one.code).collect::<Vec<_>>()
    };
    let mut draft = post(json!({}));
    assert!(codes(&draft).is_empty());
    draft.media[0].duration_ms = Some(180_001);
    assert_eq!(codes(&draft), ["video_too_long"]);
    draft.media[0].duration_ms = Some(180_000);
    draft.media[0].bytes = Some(300_000_001);
    assert_eq!(codes(&draft), ["video_exceeds_platform_limit"]);
    let beside = |mime| {
        let mut draft = post(json!({}));
        draft.media.push(media("other", mime));
        draft
    };
    assert_eq!(codes(&beside("image/png")), ["mixed_media_unsupported"]);
    assert_eq!(codes(&beside("video/mp4")), ["too_many_media"]);
    for mime in ["video/webm", "video/quicktime"] {
        let mut draft = post(json!({}));
        draft.media = vec![media("clip", mime)];
        let conversion = crate::conversions(Bluesky.spec(), &draft)[0].expect("a conversion");
        assert_eq!((conversion.mime, conversion.bytes_max), ("video/mp4", 300_000_000));
        assert!(codes(&draft).is_empty(), "{mime}");
    }
}
