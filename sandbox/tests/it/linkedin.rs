//! LinkedIn's protocol: uploads in its way, posts with what it refuses, pages, and who may read what.

use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Account, Got, Net, mp4, png, send, until};

fn urn(account: &Account) -> &str {
    &account.remote_id
}

async fn ask(net: &Net, account: &Account, method: Method, path: &str, body: &Value) -> Got {
    let mut request = net
        .client
        .request(method, format!("{}/{path}", account.base))
        .bearer_auth(account.credential("access_token"))
        .header("linkedin-version", "202608");
    if !body.is_null() {
        request = request.json(body);
    }
    send(request).await
}

fn text(author: &str, commentary: &str) -> Value {
    json!({
        "author": author, "commentary": commentary, "visibility": "PUBLIC",
        "distribution": {"feedDistribution": "MAIN_FEED", "targetEntities": [], "thirdPartyDistributionChannels": []},
        "lifecycleState": "PUBLISHED", "isReshareDisabledByAuthor": false,
    })
}

async fn post(net: &Net, account: &Account, body: &Value) -> Got {
    ask(net, account, Method::POST, "rest/posts", body).await
}

/// Uploads a file in one piece and answers its URN.
async fn upload(net: &Net, account: &Account, kind: &str, bytes: Vec<u8>) -> String {
    let wanted = json!({"initializeUploadRequest": {"owner": urn(account)}});
    let path = format!("rest/{kind}s?action=initializeUpload");
    let value = ask(net, account, Method::POST, &path, &wanted).await.is(200)["value"].clone();
    send(net.client.put(value["uploadUrl"].as_str().unwrap()).body(bytes)).await.is(201);
    value[kind].as_str().unwrap().to_owned()
}

async fn page(net: &Net) -> Account {
    let named = json!({"username": "company/acme"});
    let made = net.control(Method::POST, "linkedin/accounts", named).await.is(201);
    Account {
        platform: "linkedin".to_owned(),
        remote_id: made["remote_id"].as_str().unwrap().to_owned(),
        username: made["username"].as_str().unwrap().to_owned(),
        credentials: made["credentials"].clone(),
        base: made["base_url"].as_str().unwrap().to_owned(),
    }
}

#[tokio::test]
async fn a_text_is_public_at_once_and_the_same_again_is_a_duplicate() {
    let net = Net::new().await;
    let account = net.account("linkedin").await;
    let made = post(&net, &account, &text(urn(&account), r"Hello \(you\)")).await;
    assert_eq!(made.status, 201, "{}", made.text);
    let id = made.headers["x-restli-id"].to_str().unwrap().to_owned();
    let again = post(&net, &account, &text(urn(&account), r"Hello \(you\)")).await.is(422);
    assert!(again["message"].as_str().unwrap().contains(&id), "{again}");
    let held = net.posts(&account).await;
    assert_eq!((held.len(), held[0]["text"].as_str()), (1, Some("Hello (you)")));
    let shown = send(net.client.get(format!("{}/feed/update/{id}", account.base))).await;
    assert!(shown.status == 200 && shown.text.contains("Hello (you)"), "{}", shown.text);
    let path = format!("rest/posts/{id}");
    for _ in 0..2 {
        ask(&net, &account, Method::DELETE, &path, &Value::Null).await.is(204);
    }
    assert!(net.posts(&account).await.is_empty());
}

#[tokio::test]
async fn what_is_not_as_it_must_be_is_refused() {
    let net = Net::new().await;
    let account = net.account("linkedin").await;
    let author = urn(&account);
    let with = |name: &str, value: Value| {
        let mut post = text(author, "a");
        post[name] = value;
        post
    };
    for (body, status) in [
        (with("lifecycleState", json!("DRAFT")), 422),
        (with("visibility", json!("NOBODY")), 422),
        (with("commentary", json!("n".repeat(3_001))), 422),
        (with("commentary", json!("")), 422),
        (with("surprise", json!(1)), 422),
        (with("author", json!("urn:li:person:nobody")), 403),
        (with("content", json!({"media": {"id": "urn:li:image:none"}})), 422),
        (
            with(
                "content",
                json!({"poll": {"question": "q", "options": [{"text": "a"}], "settings": {"duration": "ONE_DAY"}}}),
            ),
            422,
        ),
        (with("content", json!({"article": {"source": "https://a.example"}})), 422),
        (
            with(
                "content",
                json!({"article": {"source": "https://a.example", "title": "n".repeat(401)}}),
            ),
            422,
        ),
        (
            with(
                "content",
                json!({"article": {"source": "https://a.example", "title": "t", "subtitle": "s"}}),
            ),
            422,
        ),
        (with("distribution", json!({"feedDistribution": "MAIN_FEED", "target": []})), 422),
        (with("contentCallToActionLabel", json!("JOIN")), 422),
    ] {
        post(&net, &account, &body).await.is(status);
    }
    post(&net, &account, &with("commentary", json!("n".repeat(3_000)))).await.is(201);
    let request = net.client.post(format!("{}/rest/posts", account.base)).json(&text(author, "b"));
    let token = account.credential("access_token");
    send(request.try_clone().unwrap().bearer_auth(token)).await.is(400);
    for version in ["202401", "202511", "202613", "209912"] {
        let named = request.try_clone().unwrap().bearer_auth(token);
        let named = send(named.header("linkedin-version", version)).await;
        assert_eq!(named.is(426)["code"], "NONEXISTENT_VERSION", "{version}");
    }
}

#[tokio::test]
async fn images_go_up_whole_and_their_alt_texts_stay() {
    let net = Net::new().await;
    let account = net.account("linkedin").await;
    let first = upload(&net, &account, "image", png(20, 10, 0)).await;
    let second = upload(&net, &account, "image", png(20, 10, 1)).await;
    let mut body = text(urn(&account), "two");
    body["content"] =
        json!({"multiImage": {"images": [{"id": first, "altText": "A cat"}, {"id": second}]}});
    post(&net, &account, &body).await.is(201);
    let media = net.posts(&account).await[0]["media"].clone();
    assert_eq!(
        (media[0]["alt"].as_str(), media[1]["mime"].as_str()),
        (Some("A cat"), Some("image/png"))
    );
    // A member's application may ask after videos only.
    let path = format!("rest/images/{first}");
    ask(&net, &account, Method::GET, &path, &Value::Null).await.is(403);
    // 36,152,320 pixels and no more.
    net.settings(json!({"processing_ms": 0})).await;
    let large = upload(&net, &account, "image", png(6_100, 6_000, 0)).await;
    let mut body = text(urn(&account), "large");
    body["content"] = json!({"media": {"id": large}});
    post(&net, &account, &body).await.is(422);
}

#[tokio::test]
async fn a_video_goes_up_in_parts_and_is_processed() {
    let net = Net::new().await;
    let account = net.account("linkedin").await;
    let film = mp4(5 << 20);
    let wanted = json!({"initializeUploadRequest": {"owner": urn(&account), "fileSizeBytes": film.len(), "uploadCaptions": false, "uploadThumbnail": true}});
    let started =
        ask(&net, &account, Method::POST, "rest/videos?action=initializeUpload", &wanted).await;
    let value = started.is(200)["value"].clone();
    let parts = value["uploadInstructions"].as_array().unwrap().clone();
    assert_eq!((parts.len(), parts[0]["lastByte"].as_u64()), (2, Some(4_194_303)));
    let mut etags = Vec::new();
    for part in &parts {
        let place = |name: &str| usize::try_from(part[name].as_u64().unwrap()).unwrap();
        let bytes = film[place("firstByte")..=place("lastByte")].to_vec();
        let url = part["uploadUrl"].as_str().unwrap();
        send(net.client.put(url).body(bytes[1..].to_vec())).await.is(400);
        let sent = send(net.client.put(url).body(bytes)).await;
        etags.push(sent.headers["etag"].to_str().unwrap().to_owned());
    }
    let thumbnail =
        net.client.put(value["thumbnailUploadUrl"].as_str().unwrap()).body(png(2, 2, 0));
    send(thumbnail.header("media-type-family", "STILLIMAGE")).await.is(201);
    let video = value["video"].as_str().unwrap();
    let finish = |etags: Vec<String>| json!({"finalizeUploadRequest": {"video": video, "uploadToken": value["uploadToken"], "uploadedPartIds": etags}});
    let path = "rest/videos?action=finalizeUpload";
    ask(&net, &account, Method::POST, path, &finish(etags[..1].to_vec())).await.is(422);
    let mut body = text(urn(&account), "film");
    body["content"] = json!({"media": {"id": video, "title": "The film"}});
    post(&net, &account, &body).await.is(422);
    ask(&net, &account, Method::POST, path, &finish(etags)).await.is(200);
    let path = format!("rest/videos/{video}");
    until(async || {
        let shown = ask(&net, &account, Method::GET, &path, &Value::Null).await.is(200);
        (shown["status"] == "AVAILABLE").then_some(())
    })
    .await;
    let made = post(&net, &account, &body).await;
    assert!(made.headers["x-restli-id"].to_str().unwrap().starts_with("urn:li:ugcPost:"));
    assert_eq!(net.posts(&account).await[0]["media"][0]["size"], film.len());
}

#[tokio::test]
async fn a_document_needs_a_title() {
    let net = Net::new().await;
    let account = net.account("linkedin").await;
    let document = upload(&net, &account, "document", b"%PDF-1.7".to_vec()).await;
    let mut body = text(urn(&account), "report");
    body["content"] = json!({"media": {"id": document}});
    post(&net, &account, &body).await.is(422);
    body["content"]["media"]["title"] = json!("Report");
    post(&net, &account, &body).await.is(201);
}

#[tokio::test]
async fn a_page_posts_under_its_own_name_and_reads_what_it_posted() {
    let net = Net::new().await;
    let page = page(&net).await;
    assert_eq!(page.credential("organization"), urn(&page));
    let get = async |path: &str| ask(&net, &page, Method::GET, path, &Value::Null).await;
    let listed =
        get("rest/organizationAcls?q=roleAssignee&state=APPROVED").await.is(200)["elements"][0]
            .clone();
    assert_eq!(
        (&listed["organization"], &listed["state"]),
        (&json!(urn(&page)), &json!("APPROVED"))
    );
    let number = urn(&page).rsplit(':').next().unwrap();
    let named = get(&format!("rest/organizations?ids=List({number},1)")).await.is(200);
    assert_eq!(named["results"][number]["vanityName"], "acme");
    assert_eq!(named["errors"]["1"]["status"], 403, "another's: {named}");
    let found = get("rest/organizations?q=vanityName&vanityName=acme").await;
    assert_eq!(format!("urn:li:organization:{}", found.is(200)["elements"][0]["id"]), urn(&page));
    // The calls without a version have ended.
    get("v2/organizationalEntityAcls?q=roleAssignee").await.is(403);
    get("v2/organizations?q=vanityName&vanityName=acme").await.is(403);
    // New apps may not read the address of a member's page.
    get("v2/me").await.is(403);

    post(&net, &page, &text(urn(&page), "From the page")).await.is(201);
    let member = ask(&net, &page, Method::GET, "v2/userinfo", &Value::Null).await.is(200);
    let member = format!("urn:li:person:{}", member["sub"].as_str().unwrap());
    post(&net, &page, &text(&member, "From its administrator")).await.is(201);
    let held = net.posts(&page).await;
    assert_eq!((held.len(), held[0]["text"].as_str()), (1, Some("From the page")));
    let list = |author: &str| {
        format!("rest/posts?q=author&author={}&count=10", author.replace(':', "%3A"))
    };
    let posts = ask(&net, &page, Method::GET, &list(urn(&page)), &Value::Null).await.is(200);
    assert_eq!(posts["elements"][0]["commentary"], "From the page");
    ask(&net, &page, Method::GET, &list(&member), &Value::Null).await.is(403);
    // The page is notified of a mention.
    let other = net.account("linkedin").await;
    post(&net, &other, &text(urn(&other), &format!("Hi @[acme]({})", urn(&page)))).await.is(201);
    let told = format!(
        "rest/organizationalEntityNotifications?q=criteria&organizationalEntity={}&actions=List(SHARE_MENTION)&timeRange=(start:0,end:1)",
        urn(&page).replace(':', "%3A")
    );
    let told = ask(&net, &page, Method::GET, &told, &Value::Null).await.is(200);
    assert_eq!(told["elements"].as_array().unwrap().len(), 1, "{told}");
}

#[tokio::test]
async fn a_member_has_150_requests_a_day() {
    let net = Net::new().await;
    let account = net.account("linkedin").await;
    net.settings(json!({"rate_limits": true})).await;
    for n in 0..150 {
        post(&net, &account, &text(urn(&account), &format!("number {n}"))).await.is(201);
    }
    let full = post(&net, &account, &text(urn(&account), "one more")).await;
    assert!(full.headers.get("retry-after").is_none());
    assert!(full.is(429)["message"].as_str().unwrap().contains("DAY"));
}
