//! YouTube's protocol: resumable uploads, processing, thumbnails, playlists, tokens, quotas.

use reqwest::{Client, redirect};
use serde_json::{Value, json};

use crate::harness::{Account, Got, Net, mp4, png, send, until};

const GRAIN: usize = 256 << 10;

async fn begin(net: &Net, account: &Account, resource: &Value, size: usize) -> Got {
    let url =
        format!("{}/upload/youtube/v3/videos?uploadType=resumable&part=snippet", account.base);
    let request = net.client.post(url).bearer_auth(account.credential("access_token"));
    let request = request.header("x-upload-content-length", size.to_string());
    send(request.header("x-upload-content-type", "video/mp4").json(resource)).await
}

fn film() -> Value {
    json!({"snippet": {"title": "A film", "description": "Of paper"}, "status": {"privacyStatus": "public"}})
}

async fn put(net: &Net, url: &str, range: &str, bytes: &[u8]) -> Got {
    send(net.client.put(url).header("content-range", range).body(bytes.to_vec())).await
}

async fn get(net: &Net, account: &Account, path: &str, token: &str) -> Got {
    send(net.client.get(format!("{}/youtube/v3/{path}", account.base)).bearer_auth(token)).await
}

/// A video that is public, and its id.
async fn upload(net: &Net, account: &Account, bytes: &[u8]) -> String {
    let begun = begin(net, account, &film(), bytes.len()).await;
    let url = begun.headers["location"].to_str().unwrap().to_owned();
    let range = format!("bytes 0-{}/{}", bytes.len() - 1, bytes.len());
    put(net, &url, &range, bytes).await.is(200)["id"].as_str().unwrap().to_owned()
}

async fn settled(net: &Net, account: &Account, id: &str) -> Value {
    until(async || {
        let path = format!("videos?part=status,processingDetails&id={id}");
        let shown = get(net, account, &path, account.credential("access_token")).await.is(200);
        let status = shown["items"][0]["status"].clone();
        (status["uploadStatus"] != "uploaded").then_some(status)
    })
    .await
}

#[tokio::test]
async fn a_video_goes_up_chunk_by_chunk_and_tells_how_much_has_arrived() {
    let net = Net::new().await;
    let account = net.account("youtube").await;
    let film_bytes = mp4(GRAIN + 100);
    let size = film_bytes.len();
    let begun = begin(&net, &account, &film(), size).await;
    let url = begun.headers["location"].to_str().unwrap().to_owned();
    let question = format!("bytes */{size}");
    let nothing = put(&net, &url, &question, b"").await;
    assert_eq!((nothing.status, nothing.headers.get("range")), (308, None));
    // Neither half a grain nor a chunk from the middle is taken.
    put(&net, &url, &format!("bytes 0-99/{size}"), &film_bytes[..100]).await.is(400);
    put(&net, &url, &format!("bytes 100-{}/{size}", size - 1), &film_bytes[100..]).await.is(400);
    let first =
        put(&net, &url, &format!("bytes 0-{}/{size}", GRAIN - 1), &film_bytes[..GRAIN]).await;
    assert_eq!((first.status, first.headers["range"].to_str().unwrap()), (308, "bytes=0-262143"));
    assert_eq!(put(&net, &url, &question, b"").await.headers["range"], "bytes=0-262143");
    assert!(net.posts(&account).await.is_empty());
    let rest = format!("bytes {GRAIN}-{}/{size}", size - 1);
    let made = put(&net, &url, &rest, &film_bytes[GRAIN..]).await.is(200);
    // Asked again it tells the same, and makes no second video.
    assert_eq!(put(&net, &url, &question, b"").await.is(200)["id"], made["id"]);
    assert_eq!(put(&net, &url, &rest, &film_bytes[GRAIN..]).await.is(200)["id"], made["id"]);
    let id = made["id"].as_str().unwrap();
    assert_eq!(settled(&net, &account, id).await["uploadStatus"], "processed");
    let held = net.posts(&account).await;
    assert_eq!((held.len(), held[0]["text"].as_str()), (1, Some("Of paper")));
    assert_eq!(held[0]["media"][0]["size"], json!(size));
    let page = send(net.client.get(held[0]["url"].as_str().unwrap())).await;
    assert!(page.status == 200 && page.text.contains("A film"), "{}", page.text);
    let gone = format!("{}/upload/youtube/v3/videos?upload_id=none", account.base);
    put(&net, &gone, &question, b"").await.is(404);
    net.settings(json!({"clock_offset_ms": 8 * 86_400_000_i64})).await;
    put(&net, &url, &question, b"").await.is(404);
}

#[tokio::test]
async fn what_is_wrong_is_named() {
    let net = Net::new().await;
    let account = net.account("youtube").await;
    for (part, name, value, reason) in [
        ("snippet", "title", json!("n".repeat(101)), "invalidTitle"),
        ("snippet", "title", json!("a < b"), "invalidTitle"),
        ("snippet", "description", json!("é".repeat(2_501)), "invalidDescription"),
        ("snippet", "tags", json!(["n".repeat(501)]), "invalidTags"),
        ("snippet", "categoryId", json!("film"), "invalidCategoryId"),
        ("status", "privacyStatus", json!("friends"), "invalidVideoMetadata"),
    ] {
        let mut resource = film();
        resource[part][name] = value;
        let refused = begin(&net, &account, &resource, 100).await.is(400);
        assert_eq!(refused["error"]["errors"][0]["reason"], reason);
    }
    begin(&net, &account, &film(), 0).await.is(400);
    let id = upload(&net, &account, b"no film at all").await;
    let failed = settled(&net, &account, &id).await;
    assert_eq!(
        (failed["uploadStatus"].as_str(), failed["failureReason"].as_str()),
        (Some("failed"), Some("invalidFile"))
    );
}

#[tokio::test]
async fn a_video_gets_a_thumbnail_and_a_place() {
    let net = Net::new().await;
    let account = net.account("youtube").await;
    let token = account.credential("access_token");
    let id = upload(&net, &account, &mp4(10)).await;
    let set = async |id: &str, bytes: Vec<u8>| {
        let url = format!("{}/upload/youtube/v3/thumbnails/set?videoId={id}", account.base);
        send(net.client.post(url).bearer_auth(token).body(bytes)).await
    };
    set(&id, png(8, 8, 0)).await.is(200);
    set("none", png(8, 8, 0)).await.is(404);
    let refused = set(&id, b"GIF89a".to_vec()).await.is(400);
    assert_eq!(refused["error"]["errors"][0]["reason"], "imageFormatUnsupported");
    for (kind, status) in
        [("application/octet-stream", 200), ("image/png", 200), ("image/gif", 400)]
    {
        let url = format!("{}/upload/youtube/v3/thumbnails/set?videoId={id}", account.base);
        let request = net.client.post(url).bearer_auth(token).header("content-type", kind);
        send(request.body(png(8, 8, 0))).await.is(status);
    }

    let listed = get(&net, &account, "playlists?part=snippet&mine=true", token).await.is(200);
    let playlist = listed["items"][0]["id"].as_str().unwrap().to_owned();
    let place = async |playlist: &str, id: &str| {
        let resource = json!({"kind": "youtube#video", "videoId": id});
        let body = json!({"snippet": {"playlistId": playlist, "resourceId": resource}});
        let url = format!("{}/youtube/v3/playlistItems?part=snippet", account.base);
        send(net.client.post(url).bearer_auth(token).json(&body)).await
    };
    place(&playlist, &id).await.is(200);
    place("PLnone", &id).await.is(404);
    place(&playlist, "none").await.is(404);
    let held = net.posts(&account).await;
    assert!(held[0]["thumbnail"].is_string());
    assert_eq!(held[0]["playlists"], json!([playlist]));

    let channel = get(&net, &account, "channels?part=snippet&mine=true", token).await.is(200);
    assert_eq!(channel["items"][0]["id"], account.remote_id.as_str());
    let uploads = &channel["items"][0]["contentDetails"]["relatedPlaylists"]["uploads"];
    let path = format!("playlistItems?part=snippet&playlistId={}", uploads.as_str().unwrap());
    let newest = get(&net, &account, &path, token).await.is(200);
    assert_eq!(newest["items"][0]["snippet"]["resourceId"]["videoId"], id.as_str());
}

#[tokio::test]
async fn a_hundred_uploads_fill_a_day() {
    let net = Net::new().await;
    let account = net.account("youtube").await;
    net.settings(json!({"rate_limits": true})).await;
    for _ in 0..100 {
        begin(&net, &account, &film(), 100).await.is(200);
    }
    let full = begin(&net, &account, &film(), 100).await.is(403);
    assert_eq!(full["error"]["errors"][0]["reason"], "quotaExceeded");
    let token = account.credential("access_token");
    get(&net, &account, "channels?part=snippet&mine=true", token).await.is(200);
}

async fn token(net: &Net, account: &Account, path: &str, fields: &[(&str, &str)]) -> Got {
    let mut form = vec![("client_id", "1"), ("client_secret", "s")];
    form.extend(fields);
    send(net.client.post(format!("{}/{path}", account.base)).form(&form)).await
}

#[tokio::test]
async fn a_person_consents_and_the_refresh_token_stays() {
    let net = Net::new().await;
    let account = net.account("youtube").await;
    let client = Client::builder().no_proxy().redirect(redirect::Policy::none()).build().unwrap();
    let back = "http://127.0.0.1/back";
    let query = [
        ("client_id", "1"),
        ("redirect_uri", back),
        ("response_type", "code"),
        ("scope", "https://www.googleapis.com/auth/youtube.readonly"),
        ("access_type", "offline"),
        ("state", "s"),
    ];
    let page = client.get(format!("{}/o/oauth2/v2/auth", account.base)).query(&query);
    assert!(send(page.try_clone().unwrap()).await.text.contains(&account.username));
    let refused = send(page.try_clone().unwrap().query(&[("account", "none")])).await;
    assert!(refused.headers["location"].to_str().unwrap().contains("error=access_denied"));
    let given = send(page.query(&[("account", account.remote_id.as_str())])).await;
    let location = url::Url::parse(given.headers["location"].to_str().unwrap()).unwrap();
    let code = location.query_pairs().find(|(name, _)| name == "code").unwrap().1.into_owned();
    let fields =
        [("grant_type", "authorization_code"), ("code", code.as_str()), ("redirect_uri", back)];
    let tokens = token(&net, &account, "token", &fields).await.is(200);
    assert_eq!(token(&net, &account, "token", &fields).await.is(400)["error"], "invalid_grant");
    assert_eq!(tokens["expires_in"], 3_600);
    let access = tokens["access_token"].as_str().unwrap();
    let path = "channels?part=snippet&mine=true";
    get(&net, &account, path, access).await.is(200);
    // Playlists take a scope that was not asked for.
    let url = format!("{}/youtube/v3/playlistItems?part=snippet", account.base);
    let refused = send(net.client.post(url).bearer_auth(access).json(&json!({}))).await.is(403);
    assert_eq!(refused["error"]["errors"][0]["reason"], "insufficientPermissions");

    net.settings(json!({"clock_offset_ms": 3_601_000})).await;
    let old = get(&net, &account, path, access).await.is(401);
    assert_eq!(old["error"]["errors"][0]["reason"], "authError");
    let refresh = tokens["refresh_token"].as_str().unwrap();
    let again = [("grant_type", "refresh_token"), ("refresh_token", refresh)];
    let fresh = token(&net, &account, "token", &again).await.is(200);
    assert!(fresh.get("refresh_token").is_none());
    let fresh = token(&net, &account, "token", &again).await.is(200);
    let access = fresh["access_token"].as_str().unwrap();
    get(&net, &account, path, access).await.is(200);
    token(&net, &account, "revoke", &[("token", refresh)]).await.is(200);
    get(&net, &account, path, access).await.is(401);
    assert_eq!(token(&net, &account, "token", &again).await.is(400)["error"], "invalid_grant");
    token(&net, &account, "revoke", &[("token", refresh)]).await.is(400);
}

#[tokio::test]
async fn a_code_is_bound_to_its_verifier_and_offline_to_being_asked_for() {
    let net = Net::new().await;
    let account = net.account("youtube").await;
    let client = Client::builder().no_proxy().redirect(redirect::Policy::none()).build().unwrap();
    let back = "http://127.0.0.1/back";
    // The verifier and challenge of RFC 7636, appendix B.
    let query = [
        ("client_id", "1"),
        ("redirect_uri", back),
        ("response_type", "code"),
        ("scope", "https://www.googleapis.com/auth/youtube.upload"),
        ("code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"),
        ("code_challenge_method", "S256"),
        ("account", account.remote_id.as_str()),
    ];
    let given = send(client.get(format!("{}/o/oauth2/v2/auth", account.base)).query(&query)).await;
    let location = url::Url::parse(given.headers["location"].to_str().unwrap()).unwrap();
    let code = location.query_pairs().find(|(name, _)| name == "code").unwrap().1.into_owned();
    let with = async |verifier: &str| {
        let fields = [
            ("grant_type", "authorization_code"),
            ("code", code.as_str()),
            ("redirect_uri", back),
            ("code_verifier", verifier),
        ];
        token(&net, &account, "token", &fields).await
    };
    with("another").await.is(400);
    let tokens = with("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk").await.is(200);
    assert!(tokens.get("refresh_token").is_none());
}

/// As Google's discovery document of the Data API says, revision 20261104.
#[tokio::test]
async fn statistics_come_in_batches_and_parts_are_known() {
    let net = Net::new().await;
    let account = net.account("youtube").await;
    let token = account.credential("access_token");
    let id = upload(&net, &account, &mp4(10)).await;
    let metrics =
        json!({"remote_id": account.remote_id, "post": id, "metrics": {"views": 9, "likes": 4}});
    net.control(reqwest::Method::PUT, "youtube/metrics", metrics).await.is(200);
    let ask = async |query: &str| {
        get(&net, &account, &format!("videos:batchGetStats?{query}"), token).await
    };
    let told = ask(&format!("part=id,statistics&id={id},none")).await.is(200);
    assert_eq!(told["kind"], "youtube#batchGetStatsResponse");
    let items = told["items"].as_array().unwrap();
    assert_eq!((items.len(), &items[0]["id"]), (1, &json!(id)));
    assert_eq!(items[0]["statistics"], json!({"viewCount": "9", "likeCount": "4"}));
    assert!(items[0].get("snippet").is_none());
    let apart = ask(&format!("part=statistics&part=snippet&id={id}&id=none")).await.is(200);
    assert!(apart["items"][0]["snippet"]["publishTime"].is_string());
    let reason = |got: Value| got["error"]["errors"][0]["reason"].clone();
    assert_eq!(reason(ask(&format!("part=status&id={id}")).await.is(400)), "unknownPart");
    assert_eq!(reason(ask(&format!("id={id}")).await.is(400)), "missingRequiredParameter");
    ask(&format!("part=id&id={}", vec!["v"; 50].join(","))).await.is(200);
    assert_eq!(
        reason(ask(&format!("part=id&id={}", vec!["v"; 51].join(","))).await.is(400)),
        "invalidParameter"
    );
    let shown = get(&net, &account, &format!("videos?part=status&id={id}"), token).await.is(200);
    assert!(
        shown["items"][0].get("statistics").is_none() && shown["items"][0]["status"].is_object()
    );
    assert_eq!(
        reason(get(&net, &account, &format!("videos?part=stats&id={id}"), token).await.is(400)),
        "unknownPart"
    );
}

/// The document gives resumable uploads a path of their own; client libraries use the other with `uploadType`.
#[tokio::test]
async fn an_upload_begins_at_either_path() {
    let net = Net::new().await;
    let account = net.account("youtube").await;
    let bytes = mp4(10);
    let url = format!(
        "{}/resumable/upload/youtube/v3/videos?uploadType=resumable&part=snippet",
        account.base
    );
    let request = net.client.post(url).bearer_auth(account.credential("access_token"));
    let request = request.header("x-upload-content-length", bytes.len().to_string());
    let begun = send(request.header("x-upload-content-type", "video/mp4").json(&film())).await;
    let place = begun.headers["location"].to_str().unwrap().to_owned();
    let range = format!("bytes 0-{}/{}", bytes.len() - 1, bytes.len());
    put(&net, &place, &range, &bytes).await.is(200);
}

/// Reports take five scopes, and not all that other calls take.
#[tokio::test]
async fn a_report_is_read_with_what_reads_a_channel() {
    let net = Net::new().await;
    let account = net.account("youtube").await;
    let client = Client::builder().no_proxy().redirect(redirect::Policy::none()).build().unwrap();
    for (scope, status) in [
        ("youtube.readonly", 200),
        ("yt-analytics.readonly", 200),
        ("youtube.force-ssl", 403),
        ("youtube.upload", 403),
    ] {
        let back = "http://127.0.0.1/back";
        let named = format!("https://www.googleapis.com/auth/{scope}");
        let query = [
            ("client_id", "1"),
            ("redirect_uri", back),
            ("response_type", "code"),
            ("scope", named.as_str()),
            ("account", account.remote_id.as_str()),
        ];
        let given =
            send(client.get(format!("{}/o/oauth2/v2/auth", account.base)).query(&query)).await;
        let location = url::Url::parse(given.headers["location"].to_str().unwrap()).unwrap();
        let code = location.query_pairs().find(|(name, _)| name == "code").unwrap().1.into_owned();
        let fields =
            [("grant_type", "authorization_code"), ("code", code.as_str()), ("redirect_uri", back)];
        let tokens = token(&net, &account, "token", &fields).await.is(200);
        let report = net.client.get(format!(
            "{}/v2/reports?ids=channel==MINE&startDate=2026-11-01&endDate=2026-11-02&metrics=views&dimensions=day",
            account.base
        ));
        send(report.bearer_auth(tokens["access_token"].as_str().unwrap())).await.is(status);
    }
}
