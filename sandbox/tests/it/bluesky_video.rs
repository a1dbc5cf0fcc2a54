//! Bluesky's video service: tokens, limits, jobs, uploads in parts.

use reqwest::Method;
use serde_json::{Value, json};

use crate::bluesky::{Pds, TIDS, record};
use crate::harness::{Got, Net, mp4, png, send, until};

const SERVICE: &str = "did:web:video.bsky.app";
const LIMITS: &str = "app.bsky.video.getUploadLimits";
const UPLOAD_BLOB: &str = "com.atproto.repo.uploadBlob";

/// The name of the account's server in tokens, as its address gives it.
fn server(pds: &Pds<'_>) -> String {
    let host = pds.account.base.split('/').nth(2).unwrap();
    format!("did:web:{}", host.replace(':', "%3A"))
}

/// A token that the account's server makes for another service.
async fn token(pds: &Pds<'_>, aud: &str, lxm: &str) -> String {
    let access = pds.session["accessJwt"].as_str().unwrap();
    let request = pds.get("com.atproto.server.getServiceAuth");
    let request = request.query(&[("aud", aud), ("lxm", lxm)]).bearer_auth(access);
    send(request).await.is(200)["token"].as_str().unwrap().to_owned()
}

async fn limits(pds: &Pds<'_>) -> Value {
    let token = token(pds, SERVICE, LIMITS).await;
    send(pds.get(LIMITS).bearer_auth(token)).await.is(200)
}

async fn upload(pds: &Pds<'_>, token: &str, kind: &str, bytes: Vec<u8>) -> Got {
    let path = format!("app.bsky.video.uploadVideo?did={}&name=a.mp4", pds.account.remote_id);
    let url = format!("{}/xrpc/{path}", pds.account.base);
    let request = pds.net.client.post(url).bearer_auth(token).header("content-type", kind);
    send(request.body(bytes)).await
}

async fn uploaded(pds: &Pds<'_>, bytes: Vec<u8>) -> String {
    let token = token(pds, &server(pds), UPLOAD_BLOB).await;
    let job = upload(pds, &token, "video/mp4", bytes).await.is(200)["jobStatus"].clone();
    assert_eq!(job["state"], "JOB_STATE_CREATED");
    job["jobId"].as_str().unwrap().to_owned()
}

async fn ended(pds: &Pds<'_>, job: &str, state: &'static str) -> Value {
    let query = format!("app.bsky.video.getJobStatus?jobId={job}");
    until(async || {
        let status = send(pds.get(&query)).await.is(200)["jobStatus"].clone();
        (status["state"] == state).then_some(status)
    })
    .await
}

async fn set(pds: &Pds<'_>, video: Value) {
    let body = json!({"remote_id": pds.account.remote_id, "video": video});
    pds.net.control(Method::PUT, "bluesky/video", body).await.is(200);
}

fn with_video(video: &Value) -> Value {
    let mut post = record("moving");
    post["embed"] = json!({"$type": "app.bsky.embed.video", "video": video, "alt": "it moves"});
    post
}

#[tokio::test]
async fn a_video_goes_through_the_video_service() {
    let net = Net::new().await;
    let pds = Pds::new(&net).await;
    let job = uploaded(&pds, mp4(10)).await;
    let blob = ended(&pds, &job, "JOB_STATE_COMPLETED").await["blob"].clone();
    let again = token(&pds, &server(&pds), UPLOAD_BLOB).await;
    let again = upload(&pds, &again, "video/mp4", mp4(10)).await.is(409);
    assert_eq!((&again["error"], &again["jobId"]), (&json!("already_exists"), &json!(job)));
    pds.write(TIDS[0], with_video(&blob)).await.is(200);
    assert_eq!(net.posts(&pds.account).await[0]["media"][0]["mime"], "video/mp4");

    let bad = uploaded(&pds, png(1, 1, 0)).await;
    let bad = ended(&pds, &bad, "JOB_STATE_FAILED").await;
    assert_eq!((&bad["blob"], &bad["failureCode"]), (&Value::Null, &json!("validation_failure")));
    send(pds.get("app.bsky.video.getJobStatus?jobId=nobodys")).await.is(404);
}

#[tokio::test]
async fn a_token_is_for_one_service_and_one_method_and_ends() {
    let net = Net::new().await;
    let pds = Pds::new(&net).await;
    let (home, access) = (server(&pds), pds.session["accessJwt"].as_str().unwrap().to_owned());
    let refused = |got: Got, error: &str| assert_eq!(got.is(401)["error"], error);
    refused(send(pds.get(LIMITS)).await, "AuthenticationRequired");
    // The server's own token is none that another service can verify.
    refused(send(pds.get(LIMITS).bearer_auth(&access)).await, "BadJwtSignature");
    for (aud, lxm, error) in [
        (home.as_str(), LIMITS, "BadJwtAudience"),
        (SERVICE, UPLOAD_BLOB, "BadJwtLexiconMethod"),
        (SERVICE, "", "BadJwtLexiconMethod"),
    ] {
        let wrong = token(&pds, aud, lxm).await;
        refused(send(pds.get(LIMITS).bearer_auth(wrong)).await, error);
    }
    for (aud, lxm, error) in [
        (SERVICE, UPLOAD_BLOB, "BadJwtAudience"),
        (home.as_str(), "app.bsky.video.uploadVideo", "BadJwtLexiconMethod"),
    ] {
        let wrong = token(&pds, aud, lxm).await;
        refused(upload(&pds, &wrong, "video/mp4", mp4(9)).await, error);
    }
    let right = token(&pds, &home, UPLOAD_BLOB).await;
    upload(&pds, &right, "video/mp4", mp4(9)).await.is(200);
    net.settings(json!({"clock_offset_ms": 61_000})).await;
    refused(upload(&pds, &right, "video/mp4", mp4(8)).await, "JwtExpired");
}

#[tokio::test]
async fn an_upload_has_its_type_its_length_and_its_account() {
    let net = Net::new().await;
    let (pds, other) = (Pds::new(&net).await, Pds::new(&net).await);
    let token = token(&pds, &server(&pds), UPLOAD_BLOB).await;
    // Bytes of a length that is not said.
    let pieces = futures_util::stream::iter([Ok::<_, std::io::Error>(mp4(9))]);
    let path = format!("app.bsky.video.uploadVideo?did={}&name=a.mp4", pds.account.remote_id);
    let endless = net.client.post(format!("{}/xrpc/{path}", pds.account.base)).bearer_auth(&token);
    let endless = endless.header("content-type", "video/mp4");
    send(endless.body(reqwest::Body::wrap_stream(pieces))).await.is(411);
    let wrong = upload(&pds, &token, "video/webm", mp4(9)).await.is(400);
    assert_eq!(wrong["error"], "InvalidRequest");
    let stolen = format!(
        "{}/xrpc/app.bsky.video.uploadVideo?did={}&name=a.mp4",
        pds.account.base, other.account.remote_id
    );
    let stolen = net.client.post(stolen).bearer_auth(&token).header("content-type", "video/mp4");
    assert_eq!(send(stolen.body(mp4(9))).await.is(401)["error"], "Unauthorized");
    let unnamed = format!(
        "{}/xrpc/app.bsky.video.uploadVideo?did={}",
        pds.account.base, pds.account.remote_id
    );
    let unnamed = net.client.post(unnamed).bearer_auth(&token).header("content-type", "video/mp4");
    assert_eq!(send(unnamed.body(mp4(9))).await.is(400)["error"], "InvalidRequest");
    assert_eq!(limits(&pds).await["remainingDailyVideos"], 25, "nothing of it counts");
}

#[tokio::test]
async fn limits_are_counted_and_can_be_set() {
    let net = Net::new().await;
    let pds = Pds::new(&net).await;
    uploaded(&pds, mp4(100)).await;
    let left = limits(&pds).await;
    assert_eq!((&left["canUpload"], &left["remainingDailyVideos"]), (&json!(true), &json!(24)));
    set(&pds, json!({"remaining_daily_videos": 1})).await;
    uploaded(&pds, mp4(101)).await;
    let left = limits(&pds).await;
    assert_eq!((&left["canUpload"], &left["remainingDailyVideos"]), (&json!(false), &json!(0)));
    assert!(left["message"].is_string());
    set(&pds, json!({"email_confirmed": false})).await;
    assert_eq!(limits(&pds).await["error"], "unconfirmed_email");
    let access = pds.session["accessJwt"].as_str().unwrap();
    let session = send(pds.get("com.atproto.server.getSession").bearer_auth(access)).await.is(200);
    assert_eq!(session["emailConfirmed"], false);
    let token = token(&pds, &server(&pds), UPLOAD_BLOB).await;
    let refused = upload(&pds, &token, "video/mp4", mp4(102)).await.is(400);
    let expected = json!({"did": "", "error": "unconfirmed_email", "jobId": "", "state": ""});
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(refused["jobStatus"][name], *value, "{name}");
    }
    set(&pds, json!({})).await;
    assert_eq!(limits(&pds).await["canUpload"], true);
}

#[tokio::test]
async fn a_job_fails_as_it_is_set_and_leaves_no_blob() {
    let net = Net::new().await;
    let pds = Pds::new(&net).await;
    set(&pds, json!({"fail": "encoding_failure", "seconds": 0})).await;
    let job = uploaded(&pds, mp4(50)).await;
    let failed = ended(&pds, &job, "JOB_STATE_FAILED").await;
    assert_eq!(failed["failureCode"], "encoding_failure");
    set(&pds, json!({"fail": "", "seconds": 0})).await;
    assert_eq!(job, uploaded(&pds, mp4(50)).await, "a failed job is begun anew");
    assert!(ended(&pds, &job, "JOB_STATE_FAILED").await.get("failureCode").is_none());
    set(&pds, json!({"seconds": 0})).await;
    uploaded(&pds, mp4(50)).await;
    let blob = ended(&pds, &job, "JOB_STATE_COMPLETED").await["blob"].clone();
    pds.write(TIDS[0], with_video(&blob)).await.is(200);
    let body = json!({"remote_id": pds.account.remote_id, "video": {"fail": "bad_luck"}});
    assert_eq!(net.control(Method::PUT, "bluesky/video", body).await.is(400)["field"], "fail");
}

#[tokio::test]
async fn a_video_that_was_never_uploaded_is_in_no_record() {
    let net = Net::new().await;
    let pds = Pds::new(&net).await;
    set(&pds, json!({"seconds": 3_600})).await;
    let job = uploaded(&pds, mp4(60)).await;
    let cid = job.rsplit('.').next().unwrap();
    let blob = json!({"$type": "blob", "ref": {"$link": cid}, "mimeType": "video/mp4", "size": mp4(60).len()});
    let early = pds.write(TIDS[0], with_video(&blob)).await.is(400);
    assert_eq!(early["error"], "BlobNotFound", "it is not processed yet");
    let picture = pds.upload("image/png", png(2, 2, 0)).await;
    assert_eq!(pds.write(TIDS[0], with_video(&picture)).await.is(400)["error"], "InvalidMimeType");
    net.settings(json!({"clock_offset_ms": 3_601_000})).await;
    pds.write(TIDS[0], with_video(&blob)).await.is(200);
}

#[tokio::test]
async fn captions_are_files_of_their_kind_and_size() {
    let net = Net::new().await;
    let pds = Pds::new(&net).await;
    let job = uploaded(&pds, mp4(70)).await;
    let blob = ended(&pds, &job, "JOB_STATE_COMPLETED").await["blob"].clone();
    let vtt = |bytes: usize| [b"WEBVTT\n\n".to_vec(), vec![b'a'; bytes - 8]].concat();
    let edge = pds.upload("text/vtt", vtt(20_000)).await;
    let past = pds.upload("text/vtt", vtt(20_001)).await;
    let plain = pds.upload("text/plain", vtt(100)).await;
    let write = |tid: &'static str, captions: Value| {
        let mut post = with_video(&blob);
        post["embed"]["captions"] = captions;
        pds.write(tid, post)
    };
    let one = |file: &Value| json!([{"lang": "en", "file": file}]);
    assert_eq!(write(TIDS[0], one(&past)).await.is(400)["error"], "BlobTooLarge");
    assert_eq!(write(TIDS[0], one(&plain)).await.is(400)["error"], "InvalidMimeType");
    write(TIDS[0], json!([{"lang": "not a language", "file": edge}])).await.is(400);
    write(TIDS[0], json!(vec![json!({"lang": "en", "file": edge}); 21])).await.is(400);
    write(TIDS[0], one(&edge)).await.is(200);
    let posts = net.posts(&pds.account).await;
    assert_eq!(posts[0]["captions"], json!([{"lang": "en", "bytes": 20_000}]));
}

#[tokio::test]
async fn a_video_in_parts_is_one_job() {
    const PART: usize = 8 << 20;
    let net = Net::new().await;
    let pds = Pds::new(&net).await;
    let whole = mp4(PART);
    let token = token(&pds, &server(&pds), UPLOAD_BLOB).await;
    let ask = |method: &str, body: Value| {
        let url = format!("{}/xrpc/app.bsky.video.{method}", pds.account.base);
        send(net.client.post(url).bearer_auth(&token).json(&body))
    };
    let start =
        |size: usize| ask("startUpload", json!({"sizeBytes": size, "mimeType": "video/mp4"}));
    let webm = json!({"sizeBytes": 9, "mimeType": "video/webm"});
    assert_eq!(ask("startUpload", webm).await.is(400)["error"], "UnsupportedContentType");
    let long = json!({"sizeBytes": 9, "mimeType": "video/mp4", "durationMs": 180_001});
    assert_eq!(ask("startUpload", long).await.is(400)["error"], "VideoTooLong");
    assert_eq!(start(300_000_001).await.is(400)["error"], "VideoTooLarge");
    let begun = start(whole.len()).await.is(200);
    assert_eq!((&begun["partSizeBytes"], &begun["partCount"]), (&json!(PART), &json!(2)));
    let id = begun["jobId"].as_str().unwrap().to_owned();
    let part = |number: usize, bytes: Vec<u8>| {
        let path = format!("app.bsky.video.uploadPart?jobId={id}&partNumber={number}");
        let request = net.client.post(format!("{}/xrpc/{path}", pds.account.base));
        let request =
            request.bearer_auth(&token).header("content-type", "application/octet-stream");
        send(request.body(bytes))
    };
    let finish = || ask("finishUpload", json!({"jobId": id}));
    part(1, whole[..PART].to_vec()).await.is(200);
    assert_eq!(part(2, vec![0; 3]).await.is(400)["error"], "PartSizeMismatch");
    assert_eq!(part(3, vec![0; 3]).await.is(400)["error"], "InvalidPartNumber");
    assert_eq!(finish().await.is(400)["error"], "MissingParts");
    // Parts and the end may be sent again.
    for _ in 0..2 {
        part(2, whole[PART..].to_vec()).await.is(200);
    }
    let done = finish().await.is(200);
    assert_eq!(finish().await.is(200)["completedJobId"], done["completedJobId"]);
    assert_eq!(part(2, whole[PART..].to_vec()).await.is(400)["error"], "UploadAlreadyCompleted");
    let job = done["completedJobId"].as_str().unwrap();
    assert!(ended(&pds, job, "JOB_STATE_COMPLETED").await["blob"].is_object());
    let query = format!("app.bsky.video.getUploadStatus?jobId={id}");
    let status = send(pds.get(&query).bearer_auth(&token)).await.is(200);
    assert_eq!((&status["state"], &status["receivedParts"]), (&json!("completed"), &json!([1, 2])));

    let other = start(9).await.is(200)["jobId"].clone();
    let abort = || ask("abortUpload", json!({"jobId": other}));
    assert_eq!(abort().await.is(200)["state"], "aborted");
    assert_eq!(abort().await.is(200)["state"], "aborted");
    let end = ask("finishUpload", json!({"jobId": other})).await.is(400);
    assert_eq!(end["error"], "UploadAborted");
    assert_eq!(
        ask("finishUpload", json!({"jobId": "none"})).await.is(400)["error"],
        "UploadNotFound"
    );
}
