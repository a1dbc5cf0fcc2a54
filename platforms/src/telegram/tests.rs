//! The wire format against a network on loopback, and the table of errors.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Telegram, error::parse_error};
use crate::{
    Draft, Effect, Error, ErrorKind, Platform, Progress, PublishedPost, Secrets, Session, Step,
    tests::test_server::{self, Network, Seen, draft, media, reply},
    validate,
};

const TOKEN: &str = "42:AAbbccddeeffgghhiijjkk";

fn secrets() -> Secrets {
    Secrets::new().with("bot_token", TOKEN).with("chat_id", "-1001234")
}

fn session(network: &Network) -> Session {
    network.session(test_server::account("-1001234", json!({"chat_username": "news"})), secrets())
}

/// Answers every call with the next message ids; an album with two.
async fn network() -> Network {
    let mut next = 6;
    Network::start(move |seen| {
        next += 1;
        let result = if seen.line.ends_with("sendMediaGroup") {
            next += 1;
            json!([{"message_id": next - 1}, {"message_id": next}])
        } else {
            json!({ "message_id": next })
        };
        (200, json!({"ok": true, "result": result}))
    })
    .await
}

/// Publishes to the end; returns the steps with what was made.
async fn walk(network: &Network, draft: &Draft) -> (Vec<String>, PublishedPost) {
    let (session, mut state, mut steps) = (session(network), None, Vec::new());
    loop {
        let calls = network.seen().len();
        let step = Telegram.step(draft, state.as_ref());
        assert_eq!(step, Step::commit(step.name.clone()));
        steps.push(step.name);
        let progress = Telegram.publish(&session, draft, state).await.unwrap();
        assert_eq!(network.seen().len(), calls + 1);
        match progress {
            Progress::Done(published) => return (steps, published),
            Progress::Continue { state: next, after, remote_id, public } => {
                assert!(public && remote_id.is_some() && after == Duration::from_secs(1));
                state = Some(next);
            }
        }
    }
}

fn line(method: &str) -> String {
    format!("POST /net/bot{TOKEN}/{method}")
}

#[tokio::test]
async fn a_text_is_one_message() {
    let network = network().await;
    let settings = json!({
        "parse_mode": "HTML",
        "inline_buttons": [{"text": "Go", "url": "https://example.org"}, {"text": "On", "url": "https://example.com"}],
    });
    let (steps, published) = walk(&network, &draft("<b>Hi</b>", settings)).await;
    assert_eq!(steps, ["send_message"]);
    let url = Some("https://t.me/news/7".to_owned());
    assert_eq!(published, PublishedPost { id: "7".to_owned(), url, ..PublishedPost::default() });
    let seen = network.seen().remove(0);
    assert_eq!(seen.line, line("sendMessage"));
    assert_eq!(
        seen.json(),
        json!({
            "chat_id": "-1001234", "text": "<b>Hi</b>", "parse_mode": "HTML",
            "reply_markup": {"inline_keyboard": [
                [{"text": "Go", "url": "https://example.org"}],
                [{"text": "On", "url": "https://example.com"}],
            ]},
        })
    );
}

#[tokio::test]
async fn one_file_goes_by_the_method_of_its_kind() {
    let table = [
        ("image/png", "send_photo", "sendPhoto", "photo"),
        ("image/gif", "send_animation", "sendAnimation", "animation"),
        ("video/mp4", "send_video", "sendVideo", "video"),
    ];
    for (mime, step, method, field) in table {
        let network = network().await;
        let mut post = draft("Look", json!({}));
        post.media = vec![media("file.bin", mime)];
        let (steps, _) = walk(&network, &post).await;
        assert_eq!(steps, [step]);
        let seen = network.seen().remove(0);
        assert_eq!(seen.line, line(method));
        let body = seen.text();
        assert!(
            body.contains(&format!(
                "name=\"{field}\"; filename=\"file.bin\"\r\nContent-Type: {mime}"
            ))
        );
        assert!(body.contains("name=\"caption\"\r\n\r\nLook\r\n"));
        assert!(body.contains("name=\"chat_id\"\r\n\r\n-1001234\r\n"));
    }
}

#[tokio::test]
async fn a_video_says_how_it_plays() {
    let network = network().await;
    let settings = json!({"start_timestamp": 3, "video_cover_url": "https://example.org/c.png"});
    let mut post = draft("", settings);
    post.media = vec![media("film.mp4", "video/mp4")];
    post.media[0].dimensions = Some((640, 360));
    post.media[0].duration_ms = Some(9_500);
    post.media[0].source = None;
    walk(&network, &post).await;
    assert_eq!(
        network.seen().remove(0).json(),
        json!({
            "chat_id": "-1001234", "video": "https://media.example.org/film.mp4",
            "supports_streaming": true, "width": 640, "height": 360, "duration": 9,
            "cover": "https://example.org/c.png", "start_timestamp": 3,
        })
    );
}

#[tokio::test]
async fn a_live_photo_is_a_photo_and_a_film_in_one_message() {
    let network = network().await;
    let settings = json!({"is_live_photo": true, "inline_buttons": [{"text": "Open", "url": "https://example.org"}]});
    let mut post = draft("It moves", settings);
    post.media = vec![media("a.jpg", "image/jpeg"), media("b.mp4", "video/mp4")];
    assert_eq!(codes(&post), Vec::<String>::new());
    let (steps, _) = walk(&network, &post).await;
    assert_eq!(steps, ["send_live_photo"]);
    let seen = &network.seen()[0];
    assert_eq!(seen.line, line("sendLivePhoto"));
    let form = seen.text();
    for part in [
        "name=\"photo\"; filename=\"a.jpg\"",
        "name=\"live_photo\"; filename=\"b.mp4\"",
        "It moves",
        "inline_keyboard",
    ] {
        assert!(form.contains(part), "{part}: {form}");
    }
    let still = Draft { media: vec![post.media[0].clone(), post.media[0].clone()], ..post.clone() };
    assert_eq!(codes(&still), ["settings.is_live_photo setting_invalid"]);
    (post.media[1].duration_ms, post.media[1].bytes) = (Some(10_001), Some(10_000_001));
    let broken = ["media_urls[1] video_too_long", "media_urls[1] video_exceeds_platform_limit"];
    assert_eq!(codes(&post), broken);
}

#[tokio::test]
async fn an_album_has_its_caption_on_the_first_item() {
    let network = network().await;
    let mut post = draft("Both", json!({"parse_mode": "MarkdownV2"}));
    post.media = vec![media("a.png", "image/png"), media("b.mp4", "video/mp4")];
    let (steps, published) = walk(&network, &post).await;
    assert_eq!(steps, ["send_album"]);
    assert_eq!(published.id, "7");
    let part = &published.parts[0];
    assert_eq!((published.parts.len(), part.name.as_str(), part.id.as_str()), (1, "album_2", "8"));
    // Both messages have their address, or neither.
    let of = |id: &str| published.url.as_ref().map(|url| url.replace("/7", &format!("/{id}")));
    assert_eq!(part.url, of("8"));
    let body = network.seen().remove(0).text();
    let list = body.split("name=\"media\"\r\n\r\n").nth(1).unwrap().lines().next().unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(list).unwrap(),
        json!([
            {"type": "photo", "media": "attach://file0", "caption": "Both", "parse_mode": "MarkdownV2"},
            {"type": "video", "media": "attach://file1", "supports_streaming": true},
        ])
    );
    assert!(body.contains("name=\"file1\"; filename=\"b.mp4\""));
}

#[tokio::test]
async fn what_needs_several_messages_is_sent_one_by_one() {
    let network = network().await;
    let settings = json!({
        "inline_buttons": [{"text": "Go", "url": "https://example.org"}],
        "poll": {"question": "Which?", "options": ["A", "B"], "allows_multiple_answers": true},
    });
    let mut post = draft("Vote", settings);
    post.media = vec![media("a.png", "image/png"), media("b.png", "image/png")];
    let (steps, published) = walk(&network, &post).await;
    assert_eq!(steps, ["send_album", "send_caption", "send_poll"]);
    let parts: Vec<_> =
        published.parts.iter().map(|part| (part.name.as_str(), part.id.as_str())).collect();
    assert_eq!(parts, [("album_2", "8"), ("caption", "9"), ("poll", "10")]);
    let seen = network.seen();
    assert!(!seen[0].text().contains("Vote"));
    assert_eq!(seen[1].json()["text"], "Vote");
    assert!(seen[1].json()["reply_markup"].is_object());
    assert_eq!(
        seen[2].json(),
        json!({
            "chat_id": "-1001234", "question": "Which?", "options": [{"text": "A"}, {"text": "B"}],
            "allows_multiple_answers": true,
        })
    );
}

#[tokio::test]
async fn a_poll_takes_the_caption_before_it_or_stands_alone() {
    let poll = json!({"poll": {"question": "Which?", "options": ["A", "B"]}});
    let first = network().await;
    assert_eq!(walk(&first, &draft("Vote", poll.clone())).await.0, ["send_caption", "send_poll"]);
    let second = network().await;
    assert_eq!(walk(&second, &draft("", poll)).await.0, ["send_poll"]);
}

#[tokio::test]
async fn a_private_channel_has_an_address_for_members_and_a_group_has_none() {
    let network = network().await;
    let table = [("-1001234", Some("https://t.me/c/1234/7")), ("-55", None)];
    for (remote_id, url) in table {
        let session = network.session(test_server::account(remote_id, json!({})), secrets());
        let done = Telegram.publish(&session, &draft("x", json!({})), None).await.unwrap();
        let Progress::Done(published) = done else { panic!("{done:?}") };
        assert_eq!(published.url.as_deref(), url);
    }
}

fn chat(kind: &'static str, member: Value) -> impl FnMut(&Seen) -> (u16, Value) + Send + 'static {
    move |seen| {
        let result = match seen.line.rsplit('/').next().unwrap() {
            "getMe" => json!({"id": 42, "username": "my_bot"}),
            "getChat" => json!({"id": -1001234, "type": kind, "title": "News", "username": "news"}),
            _ => {
                assert_eq!(seen.query("user_id"), Some("42"));
                member.clone()
            }
        };
        (200, json!({"ok": true, "result": result}))
    }
}

async fn verify(network: &Network, chat_id: &str) -> Result<crate::Identity, Error> {
    let secrets = Secrets::new().with("bot_token", TOKEN).with("chat_id", chat_id);
    Telegram.verify(&network.session(crate::Account::default(), secrets)).await
}

#[tokio::test]
async fn connecting_keeps_the_number_of_the_chat() {
    let member = json!({"status": "administrator", "can_post_messages": true});
    let network = Network::start(chat("channel", member)).await;
    let identity = verify(&network, "@news").await.unwrap();
    assert_eq!((identity.remote_id.as_str(), identity.username.as_str()), ("-1001234", "news"));
    assert_eq!(identity.secrets.expose("chat_id"), "-1001234");
    assert_eq!(
        Value::Object(identity.meta),
        json!({"chat_username": "news", "chat_type": "channel", "title": "News", "bot_username": "my_bot"})
    );
    assert_eq!(network.seen()[1].query("chat_id"), Some("@news"));
}

#[tokio::test]
async fn the_bot_must_be_allowed_to_post() {
    let table = [
        ("channel", json!({"status": "administrator", "can_post_messages": false}), false),
        ("channel", json!({"status": "administrator"}), false),
        ("channel", json!({"status": "member"}), false),
        ("supergroup", json!({"status": "member"}), true),
        ("group", json!({"status": "left"}), false),
        ("supergroup", json!({"status": "restricted", "can_send_messages": true}), true),
        ("private", json!({"status": "left"}), true),
    ];
    for (kind, member, allowed) in table {
        let network = Network::start(chat(kind, member.clone())).await;
        let outcome = verify(&network, "-1001234").await;
        assert_eq!(outcome.is_ok(), allowed, "{kind} {member}");
        if let Err(error) = outcome {
            assert_eq!(error.kind, ErrorKind::InvalidCredentials);
            assert!(error.remedy.is_some());
        }
    }
}

#[tokio::test]
async fn bad_credentials_are_told_before_and_after_asking() {
    let body = json!({"ok": false, "error_code": 401, "description": "Unauthorized"});
    let network = Network::start(move |_| (401, body.clone())).await;
    assert_eq!(verify(&network, "@news").await.unwrap_err().kind, ErrorKind::InvalidCredentials);
    assert_eq!(verify(&network, "news").await.unwrap_err().kind, ErrorKind::InvalidCredentials);
    assert_eq!(network.seen().len(), 1);
}

#[tokio::test]
async fn the_token_of_the_bot_is_in_no_error() {
    let description = format!("Bad Request: {TOKEN} is wrong");
    let body = json!({"ok": false, "error_code": 400, "description": description});
    let network = Network::start(move |_| (400, body.clone())).await;
    let session = session(&network);
    let error = Telegram.publish(&session, &draft("x", json!({})), None).await.unwrap_err();
    assert_eq!(error.reply.clone().unwrap().message.unwrap(), "Bad Request: [redacted] is wrong");
    drop(network);
    let gone = Telegram.publish(&session, &draft("x", json!({})), None).await.unwrap_err();
    assert!(!format!("{error:?} {gone:?} {session:?}").contains("AAbbcc"));
}

#[tokio::test]
async fn an_answer_that_says_nothing_is_ambiguous() {
    for body in [json!({"ok": true}), json!({"ok": true, "result": []}), json!("<html>")] {
        let network = Network::start(move |_| (200, body.clone())).await;
        let error = Telegram.publish(&session(&network), &draft("x", json!({})), None).await;
        assert_eq!(error.unwrap_err().kind, ErrorKind::Ambiguous);
    }
}

#[test]
fn each_error_says_what_to_do() {
    let table = [
        (401, "Unauthorized", ErrorKind::Reconnect),
        (404, "Not Found", ErrorKind::Reconnect),
        (403, "Forbidden: bot was kicked from the channel chat", ErrorKind::Reconnect),
        (400, "Bad Request: chat not found", ErrorKind::Reconnect),
        (
            400,
            "Bad Request: not enough rights to send photos to the chat",
            ErrorKind::PermissionMissing,
        ),
        (400, "Bad Request: can't parse entities: Unsupported start tag", ErrorKind::Rejected),
        (400, "Bad Request: message is too long", ErrorKind::Rejected),
        (400, "Bad Request: wrong file identifier/HTTP URL specified", ErrorKind::MediaRejected),
        (400, "Bad Request: failed to get HTTP URL content", ErrorKind::MediaRejected),
        (400, "Bad Request: PHOTO_INVALID_DIMENSIONS", ErrorKind::MediaRejected),
        (413, "Request Entity Too Large", ErrorKind::MediaRejected),
        (409, "Conflict", ErrorKind::Transient),
        (500, "Internal Server Error", ErrorKind::Server),
    ];
    for (status, description, kind) in table {
        let body = json!({"ok": false, "error_code": status, "description": description});
        let error = parse_error(&reply(status, &[], &body));
        assert_eq!(error.kind, kind, "{description}");
        assert_eq!(error.reply.unwrap().message.as_deref(), Some(description));
    }
    assert_eq!(parse_error(&reply(502, &[], &json!("html"))).kind, ErrorKind::Server);
}

#[test]
fn parameters_of_an_error_are_used() {
    let body = json!({"error_code": 429, "parameters": {"retry_after": 35}});
    let error = parse_error(&reply(429, &[("retry-after", "9")], &body));
    assert_eq!(
        (error.kind, error.retry_after),
        (ErrorKind::RateLimited, Some(Duration::from_secs(35)))
    );
    let body = json!({"error_code": 400, "parameters": {"migrate_to_chat_id": -100_777}});
    let error = parse_error(&reply(400, &[], &body));
    assert_eq!((error.kind, error.effect), (ErrorKind::TokenExpired, Effect::None));
    assert!(error.remedy.unwrap().contains("-100777"));
}

#[tokio::test]
async fn only_a_group_that_became_a_supergroup_has_another_id() {
    let moved =
        json!({"ok": false, "error_code": 400, "parameters": {"migrate_to_chat_id": -100_777}});
    let here = json!({"ok": true, "result": {"id": -1_001_234, "type": "group"}});
    for (status, body, id) in [(400, moved, Some("-100777")), (200, here, None)] {
        let network = Network::start(move |_| (status, body.clone())).await;
        let found = Telegram.refresh(&session(&network)).await.unwrap();
        let id = id.map(str::to_owned);
        assert_eq!(found.as_ref().and_then(|found| found.remote_id.clone()), id);
        assert_eq!(found.map(|found| found.secrets.expose("chat_id").to_owned()), id);
        assert_eq!(network.seen().len(), 1);
    }
    let gone = json!({"ok": false, "error_code": 401, "description": "Unauthorized"});
    let network = Network::start(move |_| (401, gone.clone())).await;
    assert_eq!(Telegram.refresh(&session(&network)).await.unwrap_err().kind, ErrorKind::Reconnect);
}

fn codes(post: &Draft) -> Vec<String> {
    let found = validate(&Telegram, &crate::Account::default(), post);
    found.iter().map(|one| format!("{} {}", one.field, one.code)).collect()
}

#[test]
fn captions_count_after_their_markup_was_read() {
    let bold = format!("<b>{}</b>", "x".repeat(4_096));
    assert!(codes(&draft(&bold, json!({"parse_mode": "HTML"}))).is_empty());
    assert_eq!(codes(&draft(&bold, json!({}))), ["caption caption_too_long"]);
    assert_eq!(codes(&draft(&"😀".repeat(2_049), json!({}))), ["caption caption_too_long"]);
    let mut post = draft(&"x".repeat(1_025), json!({}));
    post.media = vec![media("a.png", "image/png")];
    assert_eq!(codes(&post), ["caption caption_too_long"]);
    let broken = draft("1.5", json!({"parse_mode": "MarkdownV2"}));
    assert_eq!(codes(&broken), ["caption caption_markup_invalid"]);
}

#[test]
fn drafts_are_checked() {
    let poll = json!({"poll": {"question": "Which?", "options": ["A", "B"]}});
    assert!(codes(&draft("", poll)).is_empty());
    assert_eq!(codes(&draft("", json!({}))), ["caption caption_required"]);
    let few = json!({"poll": {"question": "Which?", "options": ["A"]}});
    assert_eq!(codes(&draft("x", few)), ["settings.poll.options setting_invalid"]);
    let cover = json!({"video_cover_url": "https://example.org/c.png"});
    assert_eq!(codes(&draft("x", cover)), ["settings.video_cover_url setting_invalid"]);
    let mut album =
        draft("", json!({"inline_buttons": [{"text": "Go", "url": "https://example.org"}]}));
    album.media = vec![media("a.gif", "image/gif"), media("b.png", "image/png")];
    assert_eq!(
        codes(&album),
        ["media_urls[0] mixed_media_unsupported", "settings.inline_buttons setting_invalid"]
    );
    let mut video = draft("x", json!({}));
    video.media = vec![media("a.mp4", "video/mp4")];
    video.media[0].bytes = Some(20_000_001);
    assert_eq!(codes(&video), ["media_urls[0] video_exceeds_platform_limit"]);
}
