//! Bluesky: sessions, blobs, commits, reads.

use reqwest::RequestBuilder;
use serde_json::{Value, json};

use crate::harness::{Account, Got, Net, png, send};

/// A logged-in client of one account.
pub struct Pds<'a> {
    pub net: &'a Net,
    pub account: Account,
    pub session: Value,
}

pub const TIDS: [&str; 4] = ["3jzfcijpj2z2a", "3jzfcijpj2z2b", "3jzfcijpj2z2c", "3jzfcijpj2z2d"];

impl<'a> Pds<'a> {
    pub async fn new(net: &'a Net) -> Self {
        let account = net.account("bluesky").await;
        let session = login(net, &account).await.is(200);
        Self { net, account, session }
    }

    pub fn get(&self, query: &str) -> RequestBuilder {
        self.net.client.get(format!("{}/xrpc/{query}", self.account.base))
    }

    pub fn post(&self, nsid: &str) -> RequestBuilder {
        let url = format!("{}/xrpc/{nsid}", self.account.base);
        self.net.client.post(url).bearer_auth(self.session["accessJwt"].as_str().unwrap())
    }

    /// One post as one `applyWrites`.
    pub async fn write(&self, rkey: &str, record: Value) -> Got {
        let write = json!({"$type": "com.atproto.repo.applyWrites#create", "collection": "app.bsky.feed.post", "rkey": rkey, "value": record});
        let body = json!({"repo": self.account.remote_id, "writes": [write]});
        send(self.post("com.atproto.repo.applyWrites").json(&body)).await
    }

    pub async fn upload(&self, mime: &str, bytes: Vec<u8>) -> Value {
        let request =
            self.post("com.atproto.repo.uploadBlob").header("content-type", mime).body(bytes);
        send(request).await.is(200)["blob"].clone()
    }
}

pub async fn login(net: &Net, account: &Account) -> Got {
    let body = json!({"identifier": account.credential("identifier"), "password": account.credential("app_password")});
    send(
        net.client
            .post(format!("{}/xrpc/com.atproto.server.createSession", account.base))
            .json(&body),
    )
    .await
}

pub fn record(text: &str) -> Value {
    json!({"$type": "app.bsky.feed.post", "text": text, "createdAt": "2026-11-21T10:00:00.000Z"})
}

#[tokio::test]
async fn a_session_is_made_refreshed_and_ended() {
    let net = Net::new().await;
    let mut pds = Pds::new(&net).await;
    assert_eq!(pds.session["did"], pds.account.remote_id.as_str());
    assert_eq!(pds.session["didDoc"]["service"][0]["serviceEndpoint"], pds.account.base.as_str());
    let who = pds.get("com.atproto.server.getSession");
    let who = send(who.bearer_auth(pds.session["accessJwt"].as_str().unwrap())).await.is(200);
    assert_eq!(who["handle"], pds.account.username.as_str());

    let first = pds.session["refreshJwt"].as_str().unwrap().to_owned();
    let url = |method: &str| format!("{}/xrpc/com.atproto.server.{method}", pds.account.base);
    let fresh = send(net.client.post(url("refreshSession")).bearer_auth(&first)).await.is(200);
    assert_ne!(fresh["refreshJwt"], first.as_str());
    // Within the grace the old one still works, two hours later no more.
    send(net.client.post(url("refreshSession")).bearer_auth(&first)).await.is(200);
    net.settings(json!({"clock_offset_ms": 2 * 3_600_000 + 1_000})).await;
    let late = send(net.client.post(url("refreshSession")).bearer_auth(&first)).await.is(400);
    assert_eq!(late["error"], "ExpiredToken");

    // By then the access token is old, too.
    let old = pds.write(TIDS[0], record("late")).await.is(400);
    assert_eq!(old["error"], "ExpiredToken");
    let second = fresh["refreshJwt"].as_str().unwrap().to_owned();
    pds.session = send(net.client.post(url("refreshSession")).bearer_auth(&second)).await.is(200);
    pds.write(TIDS[0], record("in time")).await.is(200);
    let third = pds.session["refreshJwt"].as_str().unwrap();
    send(net.client.post(url("deleteSession")).bearer_auth(third)).await.is(200);
    send(net.client.post(url("refreshSession")).bearer_auth(third)).await.is(400);
}

#[tokio::test]
async fn a_token_must_be_whole_and_of_the_right_kind() {
    let net = Net::new().await;
    let pds = Pds::new(&net).await;
    let ask = |token: String| send(pds.get("com.atproto.server.getSession").bearer_auth(token));
    let access = pds.session["accessJwt"].as_str().unwrap();
    let broken = format!("{}x", &access[..access.len() - 1]);
    assert_eq!(ask(broken).await.is(400)["error"], "InvalidToken");
    assert_eq!(ask("nonsense".into()).await.is(400)["error"], "InvalidToken");
    let refresh = pds.session["refreshJwt"].as_str().unwrap().to_owned();
    assert_eq!(ask(refresh).await.is(400)["message"], "Bad token scope");
    assert_eq!(
        send(pds.get("com.atproto.server.getSession")).await.is(401)["error"],
        "AuthMissing"
    );
}

#[tokio::test]
async fn a_post_with_an_image_is_committed_once() {
    let net = Net::new().await;
    let pds = Pds::new(&net).await;
    let blob = pds.upload("application/octet-stream", png(40, 30, 100)).await;
    assert_eq!(blob["mimeType"], "image/png");
    let mut record = record("Look: https://example.com #cat");
    record["embed"] = json!({"$type": "app.bsky.embed.images", "images": [{"image": blob, "alt": "a cat", "aspectRatio": {"width": 40, "height": 30}}]});
    record["facets"] = json!([{"index": {"byteStart": 6, "byteEnd": 25}, "features": [{"$type": "app.bsky.richtext.facet#link", "uri": "https://example.com"}]}]);
    let done = pds.write(TIDS[0], record.clone()).await.is(200);
    let uri = done["results"][0]["uri"].as_str().unwrap();
    assert_eq!(uri, format!("at://{}/app.bsky.feed.post/{}", pds.account.remote_id, TIDS[0]));

    // The same key again is an error, and nothing is there twice.
    pds.write(TIDS[0], record.clone()).await.is(500);
    let posts = net.posts(&pds.account).await;
    assert_eq!(posts.len(), 1);
    assert_eq!(posts[0]["id"], uri);
    assert_eq!(posts[0]["text"], "Look: https://example.com #cat");
    assert_eq!(posts[0]["media"][0]["alt"], "a cat");
    assert_eq!(posts[0]["facets"][0]["index"]["byteStart"], 6);

    let query = format!(
        "com.atproto.repo.getRecord?repo={}&collection=app.bsky.feed.post&rkey={}",
        pds.account.username, TIDS[0]
    );
    let read = send(pds.get(&query)).await.is(200);
    assert_eq!(read["cid"], done["results"][0]["cid"]);
    assert_eq!(read["value"], record);
}

#[tokio::test]
async fn put_record_may_be_sent_again() {
    let net = Net::new().await;
    let pds = Pds::new(&net).await;
    let put = |text: &str| {
        let body = json!({"repo": pds.account.remote_id, "collection": "app.bsky.feed.post", "rkey": TIDS[0], "record": record(text)});
        send(pds.post("com.atproto.repo.putRecord").json(&body))
    };
    let first = put("one").await.is(200);
    let again = put("one").await.is(200);
    assert_eq!(first["cid"], again["cid"]);
    assert!(first["commit"].is_object() && again["commit"].is_null());
    let other = put("two").await.is(200);
    assert_ne!(first["cid"], other["cid"]);
    assert_eq!(net.posts(&pds.account).await.len(), 1);
}

#[tokio::test]
async fn gates_come_in_the_same_commit_or_nothing_does() {
    let net = Net::new().await;
    let pds = Pds::new(&net).await;
    let commit = |gate: Value| {
        let create = "com.atproto.repo.applyWrites#create";
        let writes = json!([
            {"$type": create, "collection": "app.bsky.feed.post", "rkey": TIDS[1], "value": record("no quotes please")},
            {"$type": create, "collection": "app.bsky.feed.postgate", "rkey": TIDS[1], "value": gate},
        ]);
        send(
            pds.post("com.atproto.repo.applyWrites")
                .json(&json!({"repo": pds.account.remote_id, "writes": writes})),
        )
    };
    let mut gate = json!({"$type": "app.bsky.feed.postgate", "createdAt": "2026-11-21T10:00:00Z",
        "embeddingRules": [{"$type": "app.bsky.feed.postgate#disableRule"}]});
    commit(gate.clone()).await.is(400);
    assert!(net.posts(&pds.account).await.is_empty());
    gate["post"] = json!(format!("at://{}/app.bsky.feed.post/{}", pds.account.remote_id, TIDS[1]));
    commit(gate).await.is(200);
    let posts = net.posts(&pds.account).await;
    assert_eq!(
        posts[0]["postgate"]["embeddingRules"][0]["$type"],
        "app.bsky.feed.postgate#disableRule"
    );
}

#[tokio::test]
async fn replies_and_quotes_are_counted_and_listed() {
    let net = Net::new().await;
    let (author, other) = (Pds::new(&net).await, Pds::new(&net).await);
    let root = author.write(TIDS[0], record("root")).await.is(200)["results"][0].clone();
    let strong = json!({"uri": root["uri"], "cid": root["cid"]});
    let mut reply = record("reply");
    reply["reply"] = json!({"root": strong, "parent": strong});
    other.write(TIDS[0], reply).await.is(200);
    let mut quote = record("quote");
    quote["embed"] = json!({"$type": "app.bsky.embed.record", "record": strong});
    other.write(TIDS[1], quote).await.is(200);

    let query = format!(
        "app.bsky.feed.getPosts?uris={}&uris=at://{}/app.bsky.feed.post/{}",
        root["uri"].as_str().unwrap(),
        other.account.remote_id,
        TIDS[3]
    );
    let posts = send(author.get(&query)).await.is(200);
    assert_eq!(posts["posts"].as_array().unwrap().len(), 1, "an unknown post is left out");
    assert_eq!(
        (posts["posts"][0]["replyCount"].as_u64(), posts["posts"][0]["quoteCount"].as_u64()),
        (Some(1), Some(1))
    );

    let list = |cursor: &str| {
        send(other.get(&format!(
            "com.atproto.repo.listRecords?repo={}&collection=app.bsky.feed.post&limit=1{cursor}",
            other.account.remote_id
        )))
    };
    let newest = list("").await.is(200);
    assert_eq!(newest["records"][0]["value"]["text"], "quote");
    let next = list(&format!("&cursor={}", newest["cursor"].as_str().unwrap())).await.is(200);
    assert_eq!(next["records"][0]["value"]["text"], "reply");
    assert_eq!(net.posts(&other.account).await[0]["reply_to"], root["uri"]);
    let resolved = send(
        author
            .get(&format!("com.atproto.identity.resolveHandle?handle={}", other.account.username)),
    )
    .await
    .is(200);
    assert_eq!(resolved["did"], other.account.remote_id.as_str());
    send(author.get("com.atproto.identity.resolveHandle?handle=nobody.test")).await.is(400);
}

#[tokio::test]
async fn a_deleted_record_is_gone_and_may_be_deleted_again() {
    let net = Net::new().await;
    let pds = Pds::new(&net).await;
    pds.write(TIDS[0], record("soon gone")).await.is(200);
    let body =
        json!({"repo": pds.account.remote_id, "collection": "app.bsky.feed.post", "rkey": TIDS[0]});
    let gone = send(pds.post("com.atproto.repo.deleteRecord").json(&body)).await.is(200);
    assert!(gone["commit"]["rev"].is_string());
    assert_eq!(
        send(pds.post("com.atproto.repo.deleteRecord").json(&body)).await.is(200),
        json!({})
    );
    let query = format!(
        "com.atproto.repo.getRecord?repo={}&collection=app.bsky.feed.post&rkey={}",
        pds.account.remote_id, TIDS[0]
    );
    assert_eq!(send(pds.get(&query)).await.is(400)["error"], "RecordNotFound");
}

#[tokio::test]
async fn a_page_shows_the_post_escaped() {
    let net = Net::new().await;
    let pds = Pds::new(&net).await;
    pds.write(TIDS[0], record("<script>alert(1)</script>")).await.is(200);
    let post = net.posts(&pds.account).await[0].clone();
    let page = send(net.client.get(post["url"].as_str().unwrap())).await;
    assert_eq!(page.status, 200);
    assert!(page.text.contains("&lt;script&gt;alert(1)") && !page.text.contains("<script>"));
    let by_did =
        send(net.client.get(format!(
            "{}/profile/{}/post/{}",
            pds.account.base, pds.account.remote_id, TIDS[0]
        )))
        .await;
    assert_eq!(by_did.status, 200);
    let all =
        send(net.client.get(format!("{}/ui/{}", pds.account.base, pds.account.remote_id))).await;
    assert!(
        all.text.contains("prefers-color-scheme:dark") && all.text.contains(&pds.account.username)
    );
    assert_eq!(send(net.client.get(format!("{}/ui/nobody", pds.account.base))).await.status, 404);
}
