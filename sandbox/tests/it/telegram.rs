//! Telegram: the Bot API over query, form, JSON and multipart.

use reqwest::multipart::Form;
use serde_json::{Value, json};

use crate::harness::{Account, Got, Net, send};

pub fn url(account: &Account, method: &str) -> String {
    format!("{}/bot{}/{method}", account.base, account.credential("bot_token"))
}

/// Calls a method with JSON, the account's chat filled in.
pub async fn call(net: &Net, account: &Account, method: &str, mut params: Value) -> Got {
    if params.get("chat_id").is_none() {
        params["chat_id"] = json!(account.credential("chat_id"));
    }
    send(net.client.post(url(account, method)).json(&params)).await
}

pub async fn refused(net: &Net, account: &Account, method: &str, params: Value) -> String {
    let got = call(net, account, method, params).await.is(400);
    assert_eq!((got["ok"].as_bool(), got["error_code"].as_u64()), (Some(false), Some(400)));
    got["description"].as_str().unwrap().strip_prefix("Bad Request: ").unwrap().to_owned()
}

#[tokio::test]
async fn the_bot_knows_itself_and_its_channel() {
    let net = Net::new().await;
    let (account, other) = (net.account("telegram").await, net.account("telegram").await);
    let me = send(net.client.get(url(&account, "getMe"))).await.is(200)["result"].clone();
    assert_eq!(me["is_bot"], true);
    let chat =
        send(net.client.get(url(&account, "getChat")).query(&[("chat_id", &account.remote_id)]))
            .await
            .is(200)["result"]
            .clone();
    assert_eq!(
        (chat["type"].as_str(), chat["username"].as_str()),
        (Some("channel"), Some(account.username.as_str()))
    );
    let member = call(&net, &account, "getChatMember", json!({"user_id": me["id"]})).await.is(200)
        ["result"]
        .clone();
    assert_eq!(
        (member["status"].as_str(), member["can_post_messages"].as_bool()),
        (Some("administrator"), Some(true))
    );

    assert_eq!(
        refused(&net, &account, "sendMessage", json!({"chat_id": "-1009", "text": "x"})).await,
        "chat not found"
    );
    assert_eq!(
        refused(&net, &account, "sendMessage", json!({"chat_id": "", "text": "x"})).await,
        "chat_id is empty"
    );
    let foreign =
        call(&net, &account, "sendMessage", json!({"chat_id": other.remote_id, "text": "x"}))
            .await
            .is(403);
    assert!(foreign["description"].as_str().unwrap().starts_with("Forbidden: bot is not a member"));
    let named = call(
        &net,
        &account,
        "SENDMESSAGE",
        json!({"chat_id": format!("@{}", account.username), "text": "x"}),
    )
    .await;
    named.is(200);
    let bot = |token: &str| send(net.client.get(format!("{}/bot{token}/getMe", account.base)));
    assert_eq!(bot("123:wrong").await.is(401)["description"], "Unauthorized");
    assert_eq!(bot("malformed").await.is(404)["description"], "Not Found");
    assert_eq!(send(net.client.get(url(&account, "getNothing"))).await.is(404)["error_code"], 404);
    assert!(
        net.calls(&account)
            .await
            .iter()
            .all(|c| !c["path"].as_str().unwrap().contains(account.credential("bot_token")))
    );
}

#[tokio::test]
async fn a_text_is_sent_in_every_encoding() {
    let net = Net::new().await;
    let account = net.account("telegram").await;
    let params = [("chat_id", account.remote_id.as_str()), ("text", "as a form")];
    let form = send(net.client.post(url(&account, "sendMessage")).form(&params)).await.is(200);
    assert_eq!(form["result"]["message_id"], 1);
    let query = [("chat_id", account.remote_id.as_str()), ("text", "as a query")];
    send(net.client.get(url(&account, "sendMessage")).query(&query)).await.is(200);
    let parts = Form::new().text("chat_id", account.remote_id.clone()).text("text", "as parts");
    send(net.client.post(url(&account, "sendMessage")).multipart(parts)).await.is(200);
    let sent = call(
        &net,
        &account,
        "sendMessage",
        json!({"text": "as JSON", "reply_parameters": {"message_id": 1}}),
    )
    .await
    .is(200);
    assert_eq!(sent["result"]["reply_to_message"]["message_id"], 1);
    let posts = net.posts(&account).await;
    let texts: Vec<_> = posts.iter().map(|post| post["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["as a form", "as a query", "as parts", "as JSON"]);
    assert_eq!(posts[3]["reply_to"], 1);
    let page = send(net.client.get(posts[3]["url"].as_str().unwrap())).await;
    assert!(page.status == 200 && page.text.contains("as JSON"));
    assert_eq!(
        refused(
            &net,
            &account,
            "sendMessage",
            json!({"text": "x", "reply_parameters": {"message_id": 99}})
        )
        .await,
        "message to be replied not found"
    );
    call(&net, &account, "deleteMessage", json!({"message_id": 1})).await.is(200);
    assert_eq!(net.posts(&account).await.len(), 3);
}

/// <https://core.telegram.org/bots/api#responseparameters>
#[tokio::test]
async fn a_group_that_became_a_supergroup_names_its_new_id() {
    let net = Net::new().await;
    let account = net.account("telegram").await;
    net.behave("telegram", &account, json!({"ids": {"object": "supergroup"}})).await;
    for method in ["sendMessage", "getChat", "sendMediaGroup"] {
        let old = call(&net, &account, method, json!({"text": "x"})).await.is(400);
        assert!(old["description"].as_str().unwrap().contains("upgraded to a supergroup"));
        let id = old["parameters"]["migrate_to_chat_id"].as_i64().unwrap();
        assert_ne!(id.to_string(), account.remote_id);
        let sent = call(&net, &account, "sendMessage", json!({"chat_id": id, "text": "x"})).await;
        assert_eq!(sent.is(200)["result"]["chat"]["id"], id);
        let chat = call(&net, &account, "getChat", json!({ "chat_id": id })).await.is(200);
        assert_eq!(
            (&chat["result"]["id"], &chat["result"]["type"]),
            (&json!(id), &json!("supergroup"))
        );
    }
    // Only what was sent to the new one is there.
    assert_eq!(net.posts(&account).await.len(), 3);
}

#[tokio::test]
async fn lengths_are_counted_after_parsing() {
    let net = Net::new().await;
    let account = net.account("telegram").await;
    let text = |text: String, mode: &'static str| {
        call(&net, &account, "sendMessage", json!({"text": text, "parse_mode": mode}))
    };
    text("a".repeat(4_096), "").await.is(200);
    text("a".repeat(4_097), "").await.is(400);
    text("😀".repeat(2_048), "").await.is(200);
    text("😀".repeat(2_049), "").await.is(400);
    text(format!("<b>{}</b>", "a".repeat(4_096)), "HTML").await.is(200);
    assert_eq!(
        refused(&net, &account, "sendMessage", json!({"text": "<b> </b>", "parse_mode": "HTML"}))
            .await,
        "message text is empty"
    );
    assert_eq!(refused(&net, &account, "sendMessage", json!({})).await, "message text is empty");
    assert_eq!(
        refused(&net, &account, "sendMessage", json!({"text": "a".repeat(4_097)})).await,
        "message is too long"
    );
}

#[tokio::test]
async fn entities_are_parsed_or_refused() {
    let net = Net::new().await;
    let account = net.account("telegram").await;
    let parsed = async |text: &str, mode: &str| {
        let sent = call(&net, &account, "sendMessage", json!({"text": text, "parse_mode": mode}))
            .await
            .is(200)["result"]
            .clone();
        let entities = sent["entities"].as_array().cloned().unwrap_or_default();
        let short = entities
            .iter()
            .map(|e| format!("{} {}+{}", e["type"].as_str().unwrap(), e["offset"], e["length"]));
        (sent["text"].as_str().unwrap().to_owned(), short.collect::<Vec<_>>().join(", "))
    };
    for (source, mode, text, entities) in [
        ("é <b>bold <i>both</i></b> &lt;x&gt;", "HTML", "é bold both <x>", "bold 2+9, italic 7+4"),
        ("<a href=\"https://e.com/?a=1&amp;b=2\">link</a>", "HTML", "link", "text_link 0+4"),
        ("<pre><code class=\"language-rust\">fn</code></pre>", "HTML", "fn", "pre 0+2"),
        (
            "<blockquote expandable>q</blockquote><span class=\"tg-spoiler\">s</span>",
            "HTML",
            "qs",
            "expandable_blockquote 0+1, spoiler 1+1",
        ),
        ("  <b>trimmed</b> ", "html", "trimmed", "bold 0+7"),
        (
            "*b* _i_ __u__ ~s~ ||p|| `c`",
            "MarkdownV2",
            "b i u s p c",
            "bold 0+1, italic 2+1, underline 4+1, strikethrough 6+1, spoiler 8+1, code 10+1",
        ),
        (
            "*b _bi_*\\. [t](https://e\\.com)",
            "MarkdownV2",
            "b bi. t",
            "bold 0+4, italic 2+2, text_link 6+1",
        ),
        ("```rust\nlet x = 1;\n```", "MarkdownV2", "let x = 1;", "pre 0+10"),
        (">one\n>two\nout", "MarkdownV2", "one\ntwo\nout", "blockquote 0+7"),
        (
            "*old* _style_ [l](https://e.com)",
            "Markdown",
            "old style l",
            "bold 0+3, italic 4+5, text_link 10+1",
        ),
        ("😀 *x*", "MarkdownV2", "😀 x", "bold 3+1"),
    ] {
        assert_eq!(parsed(source, mode).await, (text.to_owned(), entities.to_owned()), "{source}");
    }
    for (source, mode, flaw) in [
        ("<b>open", "HTML", "Can't find end tag corresponding to start tag \"b\""),
        (
            "<b>x</i>",
            "HTML",
            "Unmatched end tag at byte offset 4, expected \"</b>\", found \"</i>\"",
        ),
        ("x</b>", "HTML", "Unexpected end tag at byte offset 1"),
        ("1 <2> 3", "HTML", "Unsupported start tag \"2\" at byte offset 2"),
        ("a <b", "HTML", "Unclosed start tag at byte offset 2"),
        (
            "Hello.",
            "MarkdownV2",
            "Character '.' is reserved and must be escaped with the preceding '\\'",
        ),
        ("*open", "MarkdownV2", "Can't find end of Bold entity at byte offset 0"),
        ("[t](https://e", "MarkdownV2", "Can't find end of a URL at byte offset 3"),
        ("_open", "Markdown", "Can't find end of the entity starting at byte offset 0"),
    ] {
        let got =
            refused(&net, &account, "sendMessage", json!({"text": source, "parse_mode": mode}))
                .await;
        assert_eq!(got, format!("can't parse entities: {flaw}"));
    }
    assert_eq!(
        refused(&net, &account, "sendMessage", json!({"text": "x", "parse_mode": "BBCode"})).await,
        "unsupported parse_mode"
    );
}

#[tokio::test]
async fn keyboards_are_checked() {
    let net = Net::new().await;
    let account = net.account("telegram").await;
    let with =
        |button: Value| json!({"text": "x", "reply_markup": {"inline_keyboard": [[button]]}});
    let sent = call(
        &net,
        &account,
        "sendMessage",
        with(json!({"text": "Read", "url": "https://example.com"})),
    )
    .await
    .is(200);
    assert_eq!(sent["result"]["reply_markup"]["inline_keyboard"][0][0]["text"], "Read");
    assert!(net.posts(&account).await[0]["reply_markup"].is_object());
    for (button, flaw) in [
        (json!({"url": "https://example.com"}), "Can't find field \"text\""),
        (json!({"text": "x"}), "Text buttons are unallowed"),
        (json!({"text": "x", "url": "ftp://example.com"}), "Unsupported URL protocol"),
        (json!({"text": "x", "url": "nowhere"}), "Wrong HTTP URL"),
    ] {
        let got = refused(&net, &account, "sendMessage", with(button)).await;
        assert!(got.contains(flaw), "{got}");
    }
    refused(&net, &account, "sendMessage", json!({"text": "x", "reply_markup": "{"})).await;
}

#[tokio::test]
async fn polls_have_their_limits() {
    let net = Net::new().await;
    let account = net.account("telegram").await;
    let poll = |question: usize, options: usize, option: usize| json!({"question": "q".repeat(question), "options": vec![json!({"text": "o".repeat(option)}); options]});
    let sent = call(&net, &account, "sendPoll", poll(300, 12, 100)).await.is(200);
    assert_eq!(sent["result"]["poll"]["options"].as_array().unwrap().len(), 12);
    for past in [
        poll(0, 2, 1),
        poll(301, 2, 1),
        poll(1, 0, 1),
        poll(1, 13, 1),
        poll(1, 2, 0),
        poll(1, 2, 101),
    ] {
        refused(&net, &account, "sendPoll", past).await;
    }
    let mut open = poll(1, 2, 1);
    open["is_anonymous"] = json!(false);
    assert!(refused(&net, &account, "sendPoll", open).await.starts_with("non-anonymous polls"));
}

#[tokio::test]
async fn limits_and_faults_name_their_time() {
    let net = Net::new().await;
    let account = net.account("telegram").await;
    net.faults(&account, json!([{"kind": "status", "status": 429, "ms": 7_000}, {"kind": "status", "status": 403}, {"kind": "status", "status": 502}])).await;
    let limited = call(&net, &account, "sendMessage", json!({"text": "x"})).await.is(429);
    assert_eq!(limited["parameters"]["retry_after"], 7);
    assert_eq!(limited["description"], "Too Many Requests: retry after 7");
    assert!(
        call(&net, &account, "sendMessage", json!({"text": "x"})).await.is(403)["description"]
            .as_str()
            .unwrap()
            .starts_with("Forbidden")
    );
    call(&net, &account, "sendMessage", json!({"text": "x"})).await.is(502);
    net.settings(json!({"rate_limits": true})).await;
    for _ in 0..20 {
        call(&net, &account, "sendMessage", json!({"text": "x"})).await.is(200);
    }
    let full = call(&net, &account, "sendMessage", json!({"text": "x"})).await.is(429);
    assert!(full["parameters"]["retry_after"].as_u64().unwrap() <= 60);
    net.settings(json!({"rate_limits": false})).await;
    net.faults(&account, json!([{"kind": "token_expired"}])).await;
    call(&net, &account, "sendMessage", json!({"text": "x"})).await.is(401);
    call(&net, &account, "getMe", json!({})).await.is(401);
}
