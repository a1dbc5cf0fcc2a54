//! Slack: messages, blocks, files; refusals come with 200.

use reqwest::RequestBuilder;
use serde_json::{Value, json};

use crate::harness::{Account, Got, Net, png, send, until};

fn by(account: &Account, request: RequestBuilder) -> RequestBuilder {
    request.bearer_auth(account.credential("access_token"))
}

async fn call(net: &Net, account: &Account, method: &str, mut arguments: Value) -> Value {
    if arguments.get("channel").is_none() && !method.starts_with("files") {
        arguments["channel"] = json!(account.remote_id);
    }
    let url = format!("{}/api/{method}", account.base);
    send(by(account, net.client.post(url)).json(&arguments)).await.is(200)
}

async fn ask(net: &Net, account: &Account, method: &str) -> Got {
    send(by(account, net.client.get(format!("{}/api/{method}", account.base)))).await
}

#[tokio::test]
async fn a_message_is_posted_and_found_by_its_metadata() {
    let net = Net::new().await;
    let account = net.account("slack").await;
    let bot = call(&net, &account, "auth.test", json!({})).await;
    assert!(bot["ok"] == true && bot["team_id"].as_str().unwrap().starts_with('T'));
    let channels =
        ask(&net, &account, "conversations.list?types=public_channel&limit=200").await.is(200);
    assert_eq!(channels["channels"][0]["id"], account.remote_id.as_str());
    assert_eq!(
        call(&net, &account, "conversations.history", json!({})).await["error"],
        "not_in_channel"
    );
    assert_eq!(
        call(&net, &account, "conversations.join", json!({})).await["channel"]["is_member"],
        true
    );
    let metadata = json!({"event_type": "post", "event_payload": {"key": "k1"}});
    let said = json!({"text": "a &lt; b", "metadata": metadata, "unfurl_links": false});
    let said = call(&net, &account, "chat.postMessage", said).await;
    assert_eq!((&said["ok"], &said["channel"]), (&json!(true), &json!(account.remote_id)));
    let oldest = format!(
        "conversations.history?channel={}&oldest=1.0&include_all_metadata=true",
        account.remote_id
    );
    let history = ask(&net, &account, &oldest).await.is(200);
    let found = &history["messages"][0];
    assert_eq!(
        (&found["ts"], &found["metadata"]["event_payload"]["key"]),
        (&said["ts"], &json!("k1"))
    );
    let posts = net.posts(&account).await;
    assert_eq!((&posts[0]["text"], &posts[0]["unfurl_links"]), (&json!("a < b"), &json!(false)));
    let link = call(&net, &account, "chat.getPermalink", json!({"message_ts": said["ts"]})).await;
    assert_eq!(send(net.client.get(link["permalink"].as_str().unwrap())).await.status, 200);
    let answer = json!({"text": "me too", "thread_ts": said["ts"], "reply_broadcast": true});
    assert_eq!(call(&net, &account, "chat.postMessage", answer).await["ok"], true);
    let replies = call(&net, &account, "conversations.replies", json!({"ts": said["ts"]})).await;
    assert_eq!(replies["messages"].as_array().unwrap().len(), 2);
    assert_eq!(call(&net, &account, "chat.delete", json!({"ts": said["ts"]})).await["ok"], true);
    assert_eq!(
        call(&net, &account, "chat.delete", json!({"ts": said["ts"]})).await["error"],
        "message_not_found"
    );
}

#[tokio::test]
async fn texts_and_blocks_have_their_limits() {
    let net = Net::new().await;
    let account = net.account("slack").await;
    let post = async |message: Value| {
        let got = call(&net, &account, "chat.postMessage", message).await;
        got["error"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(post(json!({})).await, "no_text");
    assert_eq!(post(json!({"text": "x", "channel": "C0NOWHERE"})).await, "channel_not_found");
    assert_eq!(post(json!({"text": "n".repeat(40_001)})).await, "");
    assert_eq!(
        net.posts(&account).await[0]["text"].as_str().unwrap().len(),
        40_000,
        "it is cut off"
    );
    assert_eq!(post(json!({"markdown_text": "n".repeat(12_000)})).await, "");
    assert_eq!(post(json!({"markdown_text": "n".repeat(12_001)})).await, "msg_too_long");
    assert_eq!(post(json!({"markdown_text": "x", "text": "y"})).await, "markdown_text_conflict");
    let section = |length: usize| json!({"type": "section", "text": {"type": "mrkdwn", "text": "n".repeat(length)}});
    assert_eq!(post(json!({"blocks": [section(3_000)]})).await, "");
    assert_eq!(post(json!({"blocks": [section(3_001)]})).await, "invalid_blocks");
    assert_eq!(post(json!({"blocks": vec![json!({"type": "divider"}); 50]})).await, "");
    assert_eq!(
        post(json!({"blocks": vec![json!({"type": "divider"}); 51]})).await,
        "invalid_blocks"
    );
    assert_eq!(
        post(json!({"blocks": [{"type": "image", "image_url": "https://a.example/a.png"}]})).await,
        "invalid_blocks"
    );
    assert_eq!(post(json!({"blocks": "not a list"})).await, "invalid_blocks_format");
    assert_eq!(
        post(json!({"text": "x", "metadata": {"event_type": "a"}})).await,
        "invalid_metadata_format"
    );
    assert_eq!(post(json!({"text": "x", "thread_ts": "1.000000"})).await, "thread_not_found");
    assert_eq!(call(&net, &account, "chat.shout", json!({})).await["error"], "unknown_method");
}

#[tokio::test]
async fn files_go_to_a_place_and_become_one_message() {
    let net = Net::new().await;
    let account = net.account("slack").await;
    call(&net, &account, "conversations.join", json!({})).await;
    let mut files = Vec::new();
    for name in ["a.png", "b.png"] {
        let bytes = png(4, 4, 7);
        let path = format!(
            "files.getUploadURLExternal?filename={name}&length={}&alt_txt=A%20cat",
            bytes.len()
        );
        let place = ask(&net, &account, &path).await.is(200);
        let url = place["upload_url"].as_str().unwrap();
        assert_eq!(send(net.client.post(url).body(vec![1; 3])).await.status, 400, "another size");
        assert!(send(net.client.post(url).body(bytes)).await.text.starts_with("OK"));
        files.push(json!({"id": place["file_id"], "title": name}));
    }
    let message =
        json!({"files": files, "channel_id": account.remote_id, "initial_comment": "Two"});
    let made = call(&net, &account, "files.completeUploadExternal", message.clone()).await;
    assert_eq!(made["files"].as_array().map(Vec::len), Some(2));
    let again = call(&net, &account, "files.completeUploadExternal", message).await;
    assert_eq!(again["error"], "file_not_found", "a file is shared once");
    let path = format!("files.info?file={}", files[0]["id"].as_str().unwrap());
    let ts = until(|| async {
        let info = ask(&net, &account, &path).await.is(200);
        info["file"]["shares"]["public"][&account.remote_id][0]["ts"].as_str().map(str::to_owned)
    })
    .await;
    let posts = net.posts(&account).await;
    assert_eq!((posts.len(), posts[0]["id"].as_str()), (1, Some(ts.as_str())));
    assert_eq!((&posts[0]["media"][1]["alt"], &posts[0]["text"]), (&json!("A cat"), &json!("Two")));
    let empty = ask(&net, &account, "files.getUploadURLExternal?filename=a&length=0").await.is(200);
    assert_eq!(empty["error"], "invalid_arguments");
}

#[tokio::test]
async fn tokens_and_rates() {
    let net = Net::new().await;
    let account = net.account("slack").await;
    let test = format!("{}/api/auth.test", account.base);
    assert_eq!(send(net.client.post(&test)).await.is(200)["error"], "not_authed");
    assert_eq!(
        send(net.client.post(&test).bearer_auth("wrong")).await.is(200)["error"],
        "invalid_auth"
    );
    net.settings(json!({"rate_limits": true})).await;
    let post = || by(&account, net.client.post(format!("{}/api/chat.postMessage", account.base)));
    let message = json!({"channel": account.remote_id, "text": "x"});
    send(post().json(&message)).await.is(200);
    let full = send(post().json(&message)).await;
    assert_eq!((full.status, full.headers["retry-after"].to_str().unwrap()), (429, "1"));
    net.settings(json!({"rate_limits": false})).await;
    net.faults(&account, json!([{"kind": "token_expired"}])).await;
    assert_eq!(
        call(&net, &account, "chat.postMessage", json!({"text": "x"})).await["error"],
        "token_revoked"
    );
    net.faults(&account, json!([])).await;
    assert_eq!(call(&net, &account, "auth.revoke", json!({})).await["revoked"], true);
    assert_eq!(call(&net, &account, "auth.test", json!({})).await["error"], "token_revoked");
}

#[tokio::test]
async fn tokens_of_a_login_end_and_rotate() {
    let net = Net::new().await;
    let account = net.account("slack").await;
    let client = reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .unwrap();
    let page = format!(
        "{}/oauth/v2/authorize?client_id=app&redirect_uri=http://127.0.0.1/back&response_type=code&scope=chat:write&account={}",
        account.base, account.remote_id
    );
    let got = send(client.get(page)).await;
    let back = reqwest::Url::parse(got.headers["location"].to_str().unwrap()).unwrap();
    let code = back.query_pairs().find(|(name, _)| name == "code").unwrap().1.into_owned();
    let token = async |fields: &[(&str, &str)]| {
        let mut form = vec![("client_id", "app"), ("client_secret", "secret")];
        form.extend(fields);
        let url = format!("{}/api/oauth.v2.access", account.base);
        send(net.client.post(url).form(&form)).await.is(200)
    };
    let first = token(&[("code", &code), ("redirect_uri", "http://127.0.0.1/back")]).await;
    assert_eq!(first["expires_in"], 12 * 3_600);
    let test = async |token: &Value| {
        let url = format!("{}/api/auth.test", account.base);
        let said = send(net.client.post(url).bearer_auth(token.as_str().unwrap())).await.is(200);
        said["error"].as_str().unwrap_or("ok").to_owned()
    };
    assert_eq!(test(&first["access_token"]).await, "ok");
    assert_eq!(test(&first["refresh_token"]).await, "invalid_auth", "it only gives fresh ones");
    net.settings(json!({"clock_offset_ms": 12 * 3_600_000})).await;
    assert_eq!(test(&first["access_token"]).await, "token_expired");
    assert_eq!(test(&json!(account.credential("access_token"))).await, "ok", "it does not rotate");
    let old = first["refresh_token"].as_str().unwrap();
    let refresh = [("grant_type", "refresh_token"), ("refresh_token", old)];
    let second = token(&refresh).await;
    assert_eq!(test(&second["access_token"]).await, "ok");
    assert_ne!(second["refresh_token"], first["refresh_token"]);
    assert_eq!(token(&refresh).await["error"], "invalid_refresh_token", "it is good once");
}

#[tokio::test]
async fn history_comes_in_pages() {
    let net = Net::new().await;
    let account = net.account("slack").await;
    call(&net, &account, "conversations.join", json!({})).await;
    for text in ["one", "two", "three"] {
        call(&net, &account, "chat.postMessage", json!({ "text": text })).await;
    }
    let path = format!("conversations.history?channel={}&limit=2", account.remote_id);
    let first = ask(&net, &account, &path).await.is(200);
    assert_eq!((&first["messages"][1]["text"], &first["has_more"]), (&json!("two"), &json!(true)));
    let cursor = first["response_metadata"]["next_cursor"].as_str().unwrap();
    let last = ask(&net, &account, &format!("{path}&cursor={cursor}")).await.is(200);
    assert_eq!((&last["messages"][0]["text"], &last["has_more"]), (&json!("one"), &json!(false)));
    assert!(last["response_metadata"]["next_cursor"].is_null());
    let wrong = ask(&net, &account, &format!("{path}&cursor=x")).await.is(200);
    assert_eq!(wrong["error"], "invalid_cursor");
}
