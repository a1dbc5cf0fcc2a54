//! The wire format against a network on loopback, and the table of errors.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Discord, error::parse_error, webhook::Webhook};
use crate::{
    Draft, ErrorKind, Platform, Progress, PublishedPost, Secrets, Session, Step,
    tests::test_server::{self, Network, draft, media, reply},
    validate,
};

const PATH: &str = "/api/v10/webhooks/11/to-ken_1";

fn session(network: &Network) -> Session {
    let account = test_server::account("11", json!({"guild_id": "77", "channel_id": "88"}));
    let address = format!("https://discord.com{PATH}");
    network.session(account, Secrets::new().with("webhook_url", address))
}

async fn publish(network: &Network, draft: &Draft) -> PublishedPost {
    assert_eq!(Discord.step(draft, None), Step::commit("execute_webhook"));
    match Discord.publish(&session(network), draft, None).await.unwrap() {
        Progress::Done(published) => published,
        other => panic!("{other:?}"),
    }
}

fn message() -> (u16, Value) {
    (200, json!({"id": "99", "channel_id": "88"}))
}

#[tokio::test]
async fn a_text_is_one_call_that_mentions_nobody() {
    let network = Network::start(|_| message()).await;
    let published = publish(&network, &draft("Hi @everyone", json!({"thread_id": "5"}))).await;
    assert_eq!(published.id, "99");
    assert_eq!(published.url.as_deref(), Some("https://discord.com/channels/77/88/99"));
    let seen = network.seen().remove(0);
    assert_eq!(seen.line, format!("POST /net{PATH}"));
    assert_eq!((seen.query("wait"), seen.query("thread_id")), (Some("true"), Some("5")));
    assert_eq!(seen.json(), json!({"content": "Hi @everyone", "allowed_mentions": {"parse": []}}));
}

#[tokio::test]
async fn the_thread_of_the_address_is_kept_and_used() {
    let network = Network::start(|seen| match seen.line.starts_with("GET") {
        true => (200, json!({"id": "11", "type": 1, "name": "News", "guild_id": "77"})),
        false => message(),
    })
    .await;
    let plain = session(&network);
    let with = |query: &str| {
        let address = format!("{}?{query}", plain.secrets.expose("webhook_url"));
        Session { secrets: Secrets::new().with("webhook_url", address), ..plain.clone() }
    };
    let threaded = with("wait=true&thread_id=999999999999999999");
    let identity = Discord.verify(&threaded).await.unwrap();
    assert_eq!(identity.remote_id, "11/999999999999999999");
    assert_eq!(identity.meta["thread_id"], "999999999999999999");
    assert_eq!(Discord.verify(&plain).await.unwrap().remote_id, "11");
    for (settings, thread) in [
        (json!({}), Some("999999999999999999")),
        (json!({"thread_id": "5"}), Some("5")),
        (json!({"thread_name": "New"}), None),
    ] {
        Discord.publish(&threaded, &draft("x", settings), None).await.unwrap();
        let seen = network.seen().pop().unwrap();
        assert_eq!((seen.query("wait"), seen.query("thread_id")), (Some("true"), thread));
    }
    let calls = network.seen().len();
    for query in ["thread_id=general", "thread_id="] {
        let error = Discord.verify(&with(query)).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::InvalidCredentials, "{query}");
    }
    assert_eq!(network.seen().len(), calls, "nothing is asked of an address that is not whole");
}

#[tokio::test]
async fn files_go_along_with_their_descriptions() {
    let network = Network::start(|_| message()).await;
    let settings = json!({"media_alt_texts": ["", "a film"], "thread_name": "New"});
    let mut post = draft("", settings);
    post.media = vec![media("one.png", "image/png"), media("two.mp4", "video/mp4")];
    publish(&network, &post).await;
    let body = network.seen().remove(0).text();
    let payload = body.split("\r\n\r\n").nth(1).unwrap().lines().next().unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(payload).unwrap(),
        json!({
            "allowed_mentions": {"parse": []},
            "thread_name": "New",
            "attachments": [
                {"id": "0", "filename": "one.png"},
                {"id": "1", "filename": "two.mp4", "description": "a film"},
            ],
        })
    );
    assert!(body.contains(
        "name=\"files[1]\"; filename=\"two.mp4\"\r\nContent-Type: video/mp4\r\n\r\ntwo.mp4"
    ));
}

#[tokio::test]
async fn a_file_that_is_gone_stops_the_post_before_anything_is_sent() {
    let network = Network::start(|_| message()).await;
    let mut post = draft("", json!({}));
    post.media = vec![media("one.png", "image/png")];
    post.media[0].source = None;
    let error = Discord.publish(&session(&network), &post, None).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::MediaRejected);
    assert!(network.seen().is_empty());
}

#[tokio::test]
async fn an_answer_without_a_message_is_ambiguous() {
    for body in [json!({}), json!({"id": "", "channel_id": "88"})] {
        let network = Network::start(move |_| (200, body.clone())).await;
        let error = Discord.publish(&session(&network), &draft("x", json!({})), None).await;
        assert_eq!(error.unwrap_err().kind, ErrorKind::Ambiguous);
    }
}

#[tokio::test]
async fn connecting_asks_the_webhook_about_itself() {
    let network = Network::start(|_| {
        (200, json!({"id": "11", "type": 1, "name": "News", "channel_id": "88", "guild_id": "77"}))
    })
    .await;
    let identity = Discord.verify(&session(&network)).await.unwrap();
    assert_eq!((identity.remote_id.as_str(), identity.username.as_str()), ("11", "News"));
    assert_eq!(Value::Object(identity.meta), json!({"guild_id": "77", "channel_id": "88"}));
    assert_eq!(network.lines(), [format!("GET /net{PATH}")]);
}

#[tokio::test]
async fn connecting_says_whether_the_webhook_or_the_network_is_to_blame() {
    let table = [
        (404, json!({"code": 10_015, "message": "Unknown Webhook"}), ErrorKind::InvalidCredentials),
        (503, json!({}), ErrorKind::Unreachable),
        (200, json!({"id": "11", "type": 2}), ErrorKind::InvalidCredentials),
    ];
    for (status, body, kind) in table {
        let network = Network::start(move |_| (status, body.clone())).await;
        assert_eq!(Discord.verify(&session(&network)).await.unwrap_err().kind, kind);
    }
}

#[tokio::test]
async fn only_discords_own_addresses_are_taken_unless_a_network_is_configured() {
    let network = Network::start(|_| message()).await;
    let configured = session(&network);
    let plain = Session { base: None, ..configured.clone() };
    let right = [
        "https://discord.com/api/webhooks/11/abc",
        "https://discordapp.com/api/v9/webhooks/11/abc",
        " https://canary.discord.com/api/webhooks/11/abc/ ",
        "https://ptb.discord.com/api/webhooks/11/abc?wait=true",
    ];
    for address in right {
        assert!(Webhook::parse(&plain, address).is_some(), "{address}");
    }
    let elsewhere = "http://127.0.0.1:8080/sandbox/discord/api/webhooks/11/abc";
    let moved = Webhook::parse(&configured, elsewhere).unwrap().url(&configured).unwrap();
    assert_eq!(moved.as_str(), format!("{}/api/webhooks/11/abc", network.base()));
    let wrong = [
        elsewhere,
        "http://discord.com/api/webhooks/11/abc",
        "https://discord.com:8443/api/webhooks/11/abc",
        "https://user@discord.com/api/webhooks/11/abc",
        "https://discord.com.example.org/api/webhooks/11/abc",
        "https://discord.com/x/api/webhooks/11/abc",
        "https://discord.com/api/webhooks/eleven/abc",
        "https://discord.com/api/webhooks/11",
        "https://discord.com/api/webhooks/11/abc/github",
        "https://discord.com/api/vX/webhooks/11/abc",
        "nonsense",
    ];
    for address in wrong {
        assert!(Webhook::parse(&plain, address).is_none(), "{address}");
    }
}

#[tokio::test]
async fn the_token_of_the_webhook_is_in_no_error() {
    let network =
        Network::start(|_| (400, json!({"code": 1, "message": "POST /webhooks/11/to-ken_1"})))
            .await;
    let session = session(&network);
    let error = Discord.publish(&session, &draft("x", json!({})), None).await.unwrap_err();
    assert_eq!(error.reply.clone().unwrap().message.unwrap(), "POST /webhooks/11/[redacted]");
    let address = session.secrets.expose("webhook_url");
    let webhook = Webhook::parse(&session, address).unwrap();
    assert!(!format!("{error:?} {webhook:?} {session:?}").contains("to-ken_1"));
    drop(network);
    let error = Discord.publish(&session, &draft("x", json!({})), None).await.unwrap_err();
    assert!(!format!("{error:?}").contains("to-ken_1"));
}

#[test]
fn each_error_says_what_to_do() {
    let table = [
        (400, json!({"code": 50_006}), ErrorKind::Rejected),
        (400, json!({"code": 50_035}), ErrorKind::Rejected),
        (400, json!({"code": 220_001}), ErrorKind::Rejected),
        (400, json!({"code": 40_005}), ErrorKind::MediaRejected),
        (413, json!({}), ErrorKind::MediaRejected),
        (401, json!({"code": 50_027}), ErrorKind::Reconnect),
        (404, json!({"code": 10_015}), ErrorKind::Reconnect),
        (404, json!({"code": 10_003}), ErrorKind::Rejected),
        (403, json!({"code": 50_013}), ErrorKind::PermissionMissing),
        (429, json!({"retry_after": 1.5}), ErrorKind::RateLimited),
        (302, json!({}), ErrorKind::TargetGone),
        (408, json!({}), ErrorKind::Ambiguous),
        (502, json!("no object"), ErrorKind::Server),
    ];
    for (status, body, kind) in table {
        assert_eq!(
            parse_error(&test_server::offline(), &reply(status, &[], &body)).kind,
            kind,
            "{status} {body}"
        );
    }
}

#[test]
fn the_most_exact_waiting_time_counts() {
    let headers = [("retry-after", "9"), ("x-ratelimit-reset-after", "3.5")];
    let wait = |headers: &[(&'static str, &str)], body: Value| {
        parse_error(&test_server::offline(), &reply(429, headers, &body)).retry_after
    };
    assert_eq!(wait(&headers, json!({"retry_after": 0.25})), Some(Duration::from_millis(250)));
    assert_eq!(wait(&headers, json!({})), Some(Duration::from_secs(9)));
    assert_eq!(wait(&headers[1..], json!({})), Some(Duration::from_millis(3_500)));
    // Without a time it is no limit of the webhook.
    assert_eq!(wait(&[], json!({"retry_after": -1.0})), Some(Duration::from_secs(900)));
}

#[test]
fn a_block_of_the_services_address_stops_every_webhook() {
    let read = |body: Value, headers: &[(&'static str, &str)]| {
        parse_error(&test_server::offline(), &reply(429, headers, &body))
    };
    let blocked = json!({"code": 0, "message": "You are being blocked from accessing our API temporarily due to exceeding our rate limits frequently."});
    for error in [read(blocked, &[]), read(json!("error code: 1015"), &[])] {
        assert!(error.is_app_wide, "{error:?}");
        assert_eq!(error.retry_after, Some(Duration::from_secs(900)));
    }
    let usual = read(json!({"code": 0, "retry_after": 1.0}), &[("x-ratelimit-limit", "5")]);
    assert!(!usual.is_app_wide, "{usual:?}");
}

#[test]
fn the_reason_deep_in_a_form_error_is_shown() {
    let body = json!({
        "code": 50_035, "message": "Invalid Form Body",
        "errors": {"content": {"_errors": [{"code": "BASE_TYPE_MAX_LENGTH", "message": "Must be 2000 or fewer."}]}},
    });
    let shown = parse_error(&test_server::offline(), &reply(400, &[], &body)).reply.unwrap();
    assert_eq!(shown.message.unwrap(), "Invalid Form Body: content: Must be 2000 or fewer.");
    assert_eq!(shown.code.unwrap(), "50035");
}

#[test]
fn drafts_are_checked() {
    let codes = |post: &Draft| {
        let found = validate(&Discord, &crate::Account::default(), post);
        found.iter().map(|one| format!("{} {}", one.field, one.code)).collect::<Vec<_>>()
    };
    assert!(codes(&draft(&"x".repeat(2_000), json!({"ai_generated": true}))).is_empty());
    assert_eq!(codes(&draft(&"x".repeat(2_001), json!({}))), ["caption caption_too_long"]);
    assert_eq!(codes(&draft("", json!({}))), ["caption caption_required"]);
    let both = json!({"thread_id": "x", "thread_name": "y"});
    assert_eq!(
        codes(&draft("x", both)),
        ["settings.thread_name setting_invalid", "settings.thread_id setting_invalid"]
    );
    let mut post = draft("", json!({}));
    post.media = vec![media("a.png", "image/png"); 11];
    assert_eq!(codes(&post), ["media_urls too_many_media"]);
    post.media.truncate(1);
    post.media[0].bytes = Some(20 * 1024 * 1024 + 1);
    assert!(codes(&post).is_empty(), "it is made smaller");
    post.media[0].animated = true;
    assert_eq!(codes(&post), ["media_urls[0] media_too_large"]);
}
