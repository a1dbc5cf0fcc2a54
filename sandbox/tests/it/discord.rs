//! Discord: webhooks and their messages.

use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};

use crate::harness::{Account, Got, Net, png, send};

/// A webhook's address here; its credentials name Discord's own host.
fn hook(account: &Account) -> String {
    let url = account.credential("webhook_url").strip_prefix("https://discord.com").unwrap();
    format!("{}{url}", account.base)
}

async fn say(net: &Net, account: &Account, message: Value) -> Got {
    send(net.client.post(format!("{}?wait=true", hook(account))).json(&message)).await
}

#[tokio::test]
async fn a_message_is_sent_read_edited_and_deleted() {
    let net = Net::new().await;
    let account = net.account("discord").await;
    let webhook = send(net.client.get(hook(&account))).await.is(200);
    assert_eq!(
        (webhook["id"].as_str(), webhook["type"].as_u64()),
        (Some(account.remote_id.as_str()), Some(1))
    );
    assert_eq!(webhook["name"], account.username.as_str());
    let sent = say(
        &net,
        &account,
        json!({"content": " hello @everyone ", "allowed_mentions": {"parse": []}}),
    )
    .await;
    assert_eq!(sent.headers["x-ratelimit-limit"], "5");
    let sent = sent.is(200);
    assert_eq!(
        (sent["content"].as_str(), sent["mention_everyone"].as_bool()),
        (Some("hello @everyone"), Some(false))
    );
    assert_eq!(sent["channel_id"], webhook["channel_id"]);

    let message = format!(
        "{}/messages/{}",
        hook(&account).replace("/api/", "/api/v10/"),
        sent["id"].as_str().unwrap()
    );
    assert_eq!(send(net.client.get(&message)).await.is(200)["content"], "hello @everyone");
    let elsewhere = send(net.client.get(&message).query(&[("thread_id", "7")])).await;
    assert_eq!(elsewhere.is(404)["code"], 10003);
    let edited = send(net.client.patch(&message).json(&json!({"content": "bye"}))).await.is(200);
    assert!(edited["edited_timestamp"].is_string());
    let posts = net.posts(&account).await;
    assert_eq!(
        (posts[0]["text"].as_str(), posts[0]["id"].as_str()),
        (Some("bye"), sent["id"].as_str())
    );
    assert_eq!(posts[0]["allowed_mentions"], json!({"parse": []}));
    let page = send(net.client.get(posts[0]["url"].as_str().unwrap())).await;
    assert!(page.status == 200 && page.text.contains("bye"));
    assert_eq!(send(net.client.delete(&message)).await.status, 204);
    assert_eq!(send(net.client.get(&message)).await.is(404)["code"], 10008);
}

#[tokio::test]
async fn without_wait_there_is_no_answer() {
    let net = Net::new().await;
    let account = net.account("discord").await;
    let got = send(net.client.post(hook(&account)).json(&json!({"content": "quiet"}))).await;
    assert_eq!((got.status, got.text.as_str()), (204, ""));
    let form = net.client.post(hook(&account)).form(&[("content", "as a form")]);
    assert_eq!(send(form).await.status, 204);
    assert_eq!(net.posts(&account).await.len(), 2);
}

#[tokio::test]
async fn files_come_with_their_descriptions() {
    let net = Net::new().await;
    let account = net.account("discord").await;
    let form = |files: usize, payload: Value| {
        let form = Form::new().text("payload_json", payload.to_string());
        (0..files).fold(form, |form, n| {
            form.part(
                format!("files[{n}]"),
                Part::bytes(png(8, 4, n)).file_name(format!("{n}.png")),
            )
        })
    };
    let post =
        |form: Form| net.client.post(format!("{}?wait=true", hook(&account))).multipart(form);
    let payload = json!({"content": "two", "attachments": [{"id": "1", "description": "the second", "filename": "b.png"}]});
    let sent = send(post(form(2, payload))).await.is(200);
    assert_eq!(sent["attachments"][1]["description"], "the second");
    assert_eq!(
        (sent["attachments"][1]["filename"].as_str(), sent["attachments"][0]["width"].as_u64()),
        (Some("b.png"), Some(8))
    );
    assert_eq!(net.posts(&account).await[0]["media"][1]["alt"], "the second");

    send(post(form(10, json!({})))).await.is(200);
    assert_eq!(send(post(form(11, json!({})))).await.is(400)["code"], 30015);
    let lost = json!({"content": "x", "attachments": [{"id": "5", "description": "nothing"}]});
    assert_eq!(
        send(post(form(1, lost))).await.is(400)["errors"]["attachments"]["0"]["id"]["_errors"][0]["code"],
        "ATTACHMENT_NOT_FOUND"
    );
    let long = |n: usize| json!({"attachments": [{"id": "0", "description": "d".repeat(n)}]});
    send(post(form(1, long(1_024)))).await.is(200);
    send(post(form(1, long(1_025)))).await.is(400);
    // Ids are texts, of files too.
    let number = json!({"attachments": [{"id": 0, "description": "a number"}]});
    let flaw = send(post(form(1, number))).await.is(400);
    assert!(flaw["errors"]["attachments"]["0"]["id"].is_object(), "{flaw}");
    let named = |n: usize| json!({"attachments": [{"id": "0", "filename": "f".repeat(n)}]});
    send(post(form(1, named(1_024)))).await.is(200);
    send(post(form(1, named(1_025)))).await.is(400);
    let sized =
        |size: usize| Form::new().part("files[0]", Part::bytes(vec![1; size]).file_name("a.bin"));
    send(post(sized(10 << 20))).await.is(200);
    assert_eq!(send(post(sized((10 << 20) + 1))).await.is(413)["code"], 40005);
}

#[tokio::test]
async fn limits_and_empty_messages() {
    let net = Net::new().await;
    let account = net.account("discord").await;
    say(&net, &account, json!({"content": "é".repeat(2_000)})).await.is(200);
    let long = say(&net, &account, json!({"content": "é".repeat(2_001)})).await.is(400);
    assert_eq!(long["code"], 50035);
    assert_eq!(long["errors"]["content"]["_errors"][0]["code"], "BASE_TYPE_MAX_LENGTH");
    for empty in [json!({}), json!({"content": "  \n"}), json!({"content": null})] {
        assert_eq!(say(&net, &account, empty).await.is(400)["code"], 50006);
    }
    assert_eq!(say(&net, &account, json!({"content": 5})).await.is(400)["code"], 50035);
    say(&net, &account, json!({"content": "x", "username": "u".repeat(80)})).await.is(200);
    say(&net, &account, json!({"content": "x", "username": "u".repeat(81)})).await.is(400);
    say(&net, &account, json!({"content": "x", "username": "My Discord"})).await.is(400);
    say(&net, &account, json!({"content": "x", "allowed_mentions": {"parse": ["all"]}}))
        .await
        .is(400);
    say(
        &net,
        &account,
        json!({"content": "x", "allowed_mentions": {"parse": ["users"], "users": ["1"]}}),
    )
    .await
    .is(400);
    assert_eq!(
        say(&net, &account, json!({"content": "x", "thread_name": "t"})).await.is(400)["code"],
        220_003
    );
    let broken =
        net.client.post(hook(&account)).header("content-type", "application/json").body("{");
    assert_eq!(send(broken).await.is(400)["code"], 50109);
    let embeds = |n: usize| json!({"embeds": vec![json!({"title": "t"}); n]});
    say(&net, &account, embeds(10)).await.is(200);
    say(&net, &account, embeds(11)).await.is(400);
    let long = |name: &str, n: usize| json!({"embeds": [{ name: "e".repeat(n) }]});
    let with = |embed: Value| json!({"embeds": [embed]});
    let fields = |n: usize| with(json!({"fields": vec![json!({"name": "n", "value": "v"}); n]}));
    for (fits, past, place) in [
        (long("title", 256), long("title", 257), "title"),
        (long("description", 4_096), long("description", 4_097), "description"),
        (with(json!({"color": 16_777_215})), with(json!({"color": 16_777_216})), "color"),
        (fields(25), fields(26), "fields"),
    ] {
        say(&net, &account, fits).await.is(200);
        let flaw = say(&net, &account, past).await.is(400);
        assert!(flaw["errors"]["embeds"]["0"][place].is_object(), "{flaw}");
    }
    for (name, value) in [
        ("avatar_url", json!(format!("https://example.org/{}", "a".repeat(2_048)))),
        ("components", json!(vec![json!({"type": 1}); 41])),
        ("applied_tags", json!(vec!["1"; 6])),
        ("tts", json!(5)),
        ("flags", json!([])),
    ] {
        let flaw = say(&net, &account, json!({"content": "x", name: value})).await.is(400);
        assert!(flaw["errors"][name].is_object(), "{flaw}");
    }
}

#[tokio::test]
async fn a_forum_takes_threads_alone() {
    let net = Net::new().await;
    let account = net.named("discord", "News forum").await;
    let code = |got: Got, status: u16| got.is(status)["code"].as_u64().unwrap();
    assert_eq!(code(say(&net, &account, json!({"content": "x"})).await, 400), 220_001);
    let long = json!({"content": "x", "thread_name": "t".repeat(101)});
    assert_eq!(code(say(&net, &account, long).await, 400), 50035);
    let opened = json!({"content": "first", "thread_name": "t".repeat(100)});
    let first = say(&net, &account, opened.clone()).await.is(200);
    // A thread is a channel, with the id of the message that opened it.
    assert_eq!(first["channel_id"], first["id"]);
    let in_thread = async |id: &str, message: &Value| {
        let url = format!("{}?wait=true&thread_id={id}", hook(&account));
        send(net.client.post(url).json(message)).await
    };
    let id = first["id"].as_str().unwrap();
    let second = in_thread(id, &json!({"content": "second"})).await.is(200);
    assert_eq!(second["channel_id"], first["id"]);
    assert_eq!(code(in_thread(id, &opened).await, 400), 220_002);
    assert_eq!(code(in_thread("5", &json!({"content": "x"})).await, 404), 10_003);
    let held = net.posts(&account).await;
    assert_eq!((held.len(), &held[1]["thread_id"]), (2, &first["id"]));
}

#[tokio::test]
async fn polls_have_their_limits() {
    let net = Net::new().await;
    let account = net.account("discord").await;
    let poll = |question: usize, answers: usize, answer: usize, hours: u64| {
        let answers = vec![json!({"poll_media": {"text": "a".repeat(answer)}}); answers];
        json!({"poll": {"question": {"text": "q".repeat(question)}, "answers": answers, "duration": hours}})
    };
    let sent = say(&net, &account, poll(300, 10, 55, 768)).await.is(200);
    assert_eq!(sent["poll"]["answers"][9]["answer_id"], 10);
    for (past, field) in [
        (poll(301, 2, 1, 1), "question"),
        (poll(1, 11, 1, 1), "answers"),
        (poll(1, 2, 56, 1), "answers"),
        (poll(1, 2, 1, 769), "duration"),
    ] {
        let flaw = say(&net, &account, past).await.is(400);
        assert!(flaw["errors"]["poll"][field].is_object(), "{flaw}");
    }
}

#[tokio::test]
async fn a_webhook_needs_its_token() {
    let net = Net::new().await;
    let account = net.account("discord").await;
    let api = format!("{}/api/webhooks", account.base);
    let wrong = send(net.client.get(format!("{api}/{}/wrong", account.remote_id))).await.is(401);
    assert_eq!(wrong["code"], 50027);
    assert_eq!(
        send(net.client.get(format!("{api}/123456789012345678/wrong"))).await.is(404)["code"],
        10015
    );
    assert_eq!(send(net.client.get(format!("{api}/abc/wrong"))).await.is(400)["code"], 50035);
    let calls = net.calls(&account).await;
    assert_eq!(calls[0]["path"], format!("/api/webhooks/{}/[redacted]", account.remote_id));

    net.faults(&account, json!([{"kind": "token_expired"}])).await;
    say(&net, &account, json!({"content": "x"})).await.is(401);
    assert_eq!(say(&net, &account, json!({"content": "x"})).await.is(401)["code"], 50027);
    net.faults(&account, json!([])).await;
    say(&net, &account, json!({"content": "x"})).await.is(200);
}

#[tokio::test]
async fn messages_are_paced_when_limits_are_on() {
    let net = Net::new().await;
    let account = net.account("discord").await;
    net.settings(json!({"rate_limits": true})).await;
    // Five in two seconds or thirty in a minute: however slow the machine, the 31st is refused.
    let mut sent = 0;
    let limited = loop {
        let got = say(&net, &account, json!({"content": "x"})).await;
        if got.status == 429 {
            break got;
        }
        got.is(200);
        sent += 1;
        assert!(sent <= 30, "nothing was refused");
    };
    assert!(sent >= 5);
    assert!(limited.headers.contains_key("retry-after"));
    assert!(limited.headers.contains_key("x-ratelimit-reset-after"));
    let body = limited.is(429);
    assert!(body["retry_after"].as_f64().unwrap() <= 60.0 && body["global"] == false);
    net.settings(json!({"clock_offset_ms": 60_001})).await;
    say(&net, &account, json!({"content": "x"})).await.is(200);
    net.faults(&account, json!([{"kind": "status", "status": 429, "ms": 1_500}])).await;
    let refused = say(&net, &account, json!({"content": "x"})).await.is(429);
    assert_eq!(refused["retry_after"], 1.5);
}
