//! Posts that people make and delete on the networks themselves.

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::harness::{Account, Dir, Got, Net, send};

const TEXT: &str = "Made in the app";
/// The second of January 2026, 03:04:05.
const AT_MS: i64 = 1_767_323_045_000;

fn new_post(account: &Account) -> Value {
    let files = ["https://example.org/a.jpg", "https://example.org/b.jpg"];
    json!({"remote_id": account.remote_id, "text": TEXT, "created_ms": AT_MS, "media_urls": files})
}

async fn post(net: &Net, account: &Account, new: Value) -> String {
    let path = format!("{}/posts", account.platform);
    let made = net.control(Method::POST, &path, new).await.is(201);
    made["id"].as_str().unwrap().to_owned()
}

async fn delete(net: &Net, account: &Account, id: &str) -> Got {
    let path = format!("{}/posts?remote_id={}&id={id}", account.platform, account.remote_id);
    net.control(Method::DELETE, &path, Value::Null).await
}

async fn ids(net: &Net, account: &Account) -> Vec<String> {
    let posts = net.posts(account).await;
    posts.iter().map(|post| post["id"].as_str().unwrap().to_owned()).collect()
}

/// The account of a platform whose posts the platform lists: of LinkedIn's that is a page.
async fn account(net: &Net, platform: &str) -> Account {
    match platform {
        "linkedin" => net.named(platform, "company/acme").await,
        _ => net.account(platform).await,
    }
}

/// The call by which the network shows the account's posts, or one of them where it has no list; bots of Telegram read
/// nothing.
fn reading(net: &Net, account: &Account, id: &str) -> Option<RequestBuilder> {
    let own = &account.remote_id;
    let get = |path: &str| {
        let token = account.credentials["access_token"].as_str().unwrap_or_default();
        net.client.get(format!("{}/{path}", account.base)).bearer_auth(token)
    };
    let post = |path: &str, token: &str, body: Value| {
        let token = account.credential(token);
        net.client.post(format!("{}/{path}", account.base)).bearer_auth(token).json(&body)
    };
    Some(match account.platform.as_str() {
        "bluesky" => get(&format!("xrpc/app.bsky.feed.getAuthorFeed?actor={own}")),
        "devto" => get("api/articles/me").header("api-key", account.credential("api_key")),
        "discord" => {
            let (_, path) = account.credential("webhook_url").split_once("/api/").unwrap();
            get(&format!("api/{path}/messages/{id}"))
        }
        "facebook" => get(&format!("v25.0/{own}/published_posts")),
        "google_business" => get(&format!("v4/{}/localPosts", account.credential("location"))),
        "hashnode" => {
            let publication = account.credential("publication_id");
            let query = format!(
                "query {{ publication(id: \"{publication}\") {{ posts(first: 10) {{ edges {{ node {{ id }} }} }} }} }}"
            );
            post("", "personal_access_token", json!({ "query": query }))
        }
        "instagram" => get(&format!("v25.0/{own}/media")),
        "lemmy" => get(&format!("api/v3/user?username={}", account.username)),
        "linkedin" => {
            get(&format!("rest/posts?q=author&author={own}")).header("linkedin-version", "202608")
        }
        "mastodon" => get(&format!("api/v1/accounts/{own}/statuses")),
        "pinterest" => get("v5/pins"),
        "slack" => get(&format!("api/conversations.history?channel={own}")),
        "threads" => get(&format!("v1.0/{own}/threads")),
        "tiktok" => post("v2/video/list/?fields=id", "access_token", json!({})),
        "wordpress" => net.client.get(format!("{}/wp-json/wp/v2/posts", account.base)),
        "x" => get(&format!("2/users/{own}/tweets")),
        "youtube" => {
            let uploads = own.replacen("UC", "UU", 1);
            get(&format!("youtube/v3/playlistItems?part=snippet&playlistId={uploads}"))
        }
        "telegram" => return None,
        other => panic!("{other}: how does it show posts?"),
    })
}

/// Does the network itself show a post? True where it shows nobody's.
async fn shows(net: &Net, account: &Account, id: &str) -> Option<bool> {
    if account.platform == "slack" {
        let path = format!("{}/api/conversations.join", account.base);
        let joined = net.client.post(path).bearer_auth(account.credential("access_token"));
        send(joined.form(&[("channel", &account.remote_id)])).await.is(200);
    }
    let got = send(reading(net, account, id)?).await;
    let mark = id.rsplit('/').next().unwrap();
    assert!(got.status == 200 || account.platform == "discord", "{}", got.text);
    Some(got.status == 200 && got.text.contains(mark))
}

/// A sandbox on a copy of the journal, as a kill would leave it at this moment.
async fn after_a_kill(dir: &Dir, accounts: &mut [(Account, String)]) -> (Dir, Net) {
    let copy = Dir::new();
    std::fs::create_dir_all(&copy.0).unwrap();
    std::fs::copy(dir.journal(), copy.journal()).unwrap();
    let net = Net::at(&copy).await;
    for (account, _) in accounts {
        account.base = net.url(&format!("shared/{}", account.platform));
    }
    (copy, net)
}

#[tokio::test]
async fn a_post_is_made_and_deleted_on_every_network() {
    let dir = Dir::new();
    let net = Net::at(&dir).await;
    let platforms = net.control(Method::GET, "platforms", Value::Null).await.is(200);
    let mut made = Vec::new();
    for platform in platforms["platforms"].as_array().unwrap() {
        let account = account(&net, platform.as_str().unwrap()).await;
        let id = post(&net, &account, new_post(&account)).await;
        assert_ne!(shows(&net, &account, &id).await, Some(false), "{platform}");
        made.push((account, id));
    }
    let (dir, net) = after_a_kill(&dir, &mut made).await;
    for (account, id) in &made {
        let platform = &account.platform;
        let posts = net.posts(account).await;
        let [shown] = posts.as_slice() else { panic!("{platform}: {posts:?}") };
        assert_eq!((&shown["id"], &shown["text"]), (&json!(id), &json!(TEXT)), "{platform}");
        assert!(
            shown["created_at"].as_str().unwrap().starts_with("2026-01-02T03:04:05"),
            "{shown}"
        );
        assert!(!shown["media"].as_array().unwrap().is_empty(), "{platform}");
        assert_ne!(shows(&net, account, id).await, Some(false), "{platform}");
        delete(&net, account, id).await.is(200);
    }
    let (_dir, net) = after_a_kill(&dir, &mut made).await;
    for (account, id) in &made {
        assert_eq!(ids(&net, account).await, Vec::<String>::new(), "{}", account.platform);
        assert_ne!(shows(&net, account, id).await, Some(true), "{}", account.platform);
        delete(&net, account, id).await.is(404);
    }
}

#[tokio::test]
async fn posts_of_the_same_moment_are_told_apart() {
    let net = Net::new().await;
    let platforms = net.control(Method::GET, "platforms", Value::Null).await.is(200);
    for platform in platforms["platforms"].as_array().unwrap() {
        let account = account(&net, platform.as_str().unwrap()).await;
        let mut made = Vec::new();
        for text in ["one", "two", "three"] {
            let new = json!({"remote_id": account.remote_id, "text": text, "created_ms": AT_MS});
            made.push(post(&net, &account, new).await);
        }
        delete(&net, &account, &made.remove(1)).await.is(200);
        let mut left = ids(&net, &account).await;
        left.sort();
        made.sort();
        assert_eq!(left, made, "{platform}");
    }
}

/// The same login under another name.
fn under(account: &Account, remote_id: &str) -> Account {
    Account {
        platform: account.platform.clone(),
        remote_id: remote_id.to_owned(),
        username: account.username.clone(),
        credentials: account.credentials.clone(),
        base: account.base.clone(),
    }
}

#[tokio::test]
async fn each_location_has_posts_of_its_own() {
    let net = Net::new().await;
    let business = net.account("google_business").await;
    let token = business.credential("access_token");
    let path =
        format!("{}/v1/accounts/{}/locations?readMask=name", business.base, business.remote_id);
    let listed = send(net.client.get(path).bearer_auth(token)).await.is(200);
    let [main, harbour] = [0, 1].map(|nth| {
        let name = listed["locations"][nth]["name"].as_str().unwrap();
        under(&business, name.strip_prefix("locations/").unwrap())
    });
    let id = post(&net, &harbour, new_post(&harbour)).await;
    assert!(id.contains(&harbour.remote_id), "{id}");
    assert_eq!((ids(&net, &main).await.len(), ids(&net, &harbour).await), (0, vec![id.clone()]));
    delete(&net, &main, &id).await.is(404);
    delete(&net, &harbour, &id).await.is(200);
}

#[tokio::test]
async fn a_member_and_its_page_have_posts_of_their_own() {
    let net = Net::new().await;
    let member = net.account("linkedin").await;
    let page = under(&member, &format!("company/{}-co", member.username));
    let of_page = post(&net, &page, new_post(&page)).await;
    let posted = net.posts(&page).await;
    let urn = posted[0]["author"].as_str().unwrap();
    assert!(urn.starts_with("urn:li:organization:"), "{urn}");
    let of_member = post(&net, &member, new_post(&member)).await;
    assert_eq!(ids(&net, &member).await, std::slice::from_ref(&of_member));
    assert_eq!(ids(&net, &under(&member, urn)).await, std::slice::from_ref(&of_page));
    delete(&net, &member, &of_page).await.is(404);
    delete(&net, &member, &of_member).await.is(200);
}

#[tokio::test]
async fn several_files_are_a_carousel() {
    let net = Net::new().await;
    for (platform, version) in [("instagram", "v25.0"), ("threads", "v1.0")] {
        let account = net.account(platform).await;
        let id = post(&net, &account, new_post(&account)).await;
        let posts = net.posts(&account).await;
        assert_eq!(posts[0]["media"].as_array().unwrap().len(), 2, "{platform}");
        let path = format!("{}/{version}/{id}?fields=media_type,children", account.base);
        let token = account.credential("access_token");
        let shown = send(net.client.get(path).bearer_auth(token)).await.is(200);
        assert_eq!(shown["media_type"], "CAROUSEL_ALBUM", "{platform}");
        assert_eq!(shown["children"]["data"].as_array().unwrap().len(), 2, "{platform}");
    }
}

#[tokio::test]
async fn a_film_of_a_page_is_deleted_with_its_post() {
    let net = Net::new().await;
    let page = net.account("facebook").await;
    let film = json!(["https://example.org/a.mp4"]);
    for kind in ["feed", "reel", "story"] {
        let new = json!({"remote_id": page.remote_id, "text": kind, "post_type": kind, "media_urls": film});
        let id = post(&net, &page, new).await;
        assert_eq!(ids(&net, &page).await, std::slice::from_ref(&id));
        let list = format!("{}/v25.0/{}/videos", page.base, page.remote_id);
        let videos = || send(net.client.get(&list).bearer_auth(page.credential("access_token")));
        let listed = videos().await.is(200)["data"].as_array().unwrap().len();
        assert_eq!(listed, usize::from(kind != "story"), "{kind}");
        delete(&net, &page, &id).await.is(200);
        assert_eq!(videos().await.is(200)["data"], json!([]), "{kind}");
    }
}

#[tokio::test]
async fn an_album_is_deleted_as_a_whole() {
    let net = Net::new().await;
    let channel = net.account("telegram").await;
    let id = post(&net, &channel, new_post(&channel)).await;
    let album = &net.posts(&channel).await[0];
    assert_eq!(album["media"].as_array().unwrap().len(), 2);
    delete(&net, &channel, &id).await.is(200);
    let token = channel.credential("bot_token");
    for message in album["message_ids"].as_array().unwrap() {
        let path = format!("{}/bot{token}/deleteMessage", channel.base);
        let asked = json!({"chat_id": channel.remote_id, "message_id": message});
        let refused = send(net.client.post(path).json(&asked)).await.is(400);
        assert_eq!(refused["description"], "Bad Request: message to delete not found");
    }
}
