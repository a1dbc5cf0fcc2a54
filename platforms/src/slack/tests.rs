use serde_json::{Value, json};

use super::{Slack, error, settings};
use crate::{
    Account, Draft, ErrorKind, Phase, Platform, Progress, ReconcileOutcome, Secrets, Session,
    tests::test_server::{Network, Seen, account, at, draft, media, reply, settled},
};

const TS: &str = "1900000001.000200";

fn secrets() -> Secrets {
    Secrets::new().with("access_token", "xoxb-123").with("channel_id", "C1")
}

fn on(network: &Network) -> Session {
    let meta = json!({"channel_id": "C1", "url": "https://team.slack.example"});
    network.session(account("T1:C1", meta), secrets())
}

fn posting(seen: &Seen) -> (u16, Value) {
    let upload = seen.head.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
    match seen.line.trim_start_matches("GET ").trim_start_matches("POST ") {
        "/net/api/chat.postMessage" => (200, json!({"ok": true, "ts": TS, "channel": "C1"})),
        "/net/api/files.getUploadURLExternal" => (
            200,
            json!({"ok": true, "upload_url": format!("http://{upload}/net/up"), "file_id": "F1"}),
        ),
        "/net/api/files.info" => {
            (200, json!({"ok": true, "file": {"shares": {"public": {"C1": [{"ts": TS}]}}}}))
        }
        _ => (200, json!({"ok": true})),
    }
}

async fn walk(network: &Network, post: &Draft) -> (Vec<(String, Phase)>, crate::PublishedPost) {
    let session = on(network);
    let (mut state, mut steps) = (None, Vec::new());
    loop {
        let step = Slack.step(post, state.as_ref());
        steps.push((step.name, step.phase));
        match Slack.publish(&session, post, state).await.unwrap() {
            Progress::Done(done) => return (steps, done),
            Progress::Continue { state: next, .. } => state = Some(next),
        }
    }
}

#[tokio::test]
async fn a_text_is_joined_posted_and_carries_its_key() {
    let network = Network::start(posting).await;
    let post = draft("a < b & c", json!({"unfurl_links": false}));
    let (steps, done) = walk(&network, &post).await;
    assert_eq!(
        steps.iter().map(|one| one.0.as_str()).collect::<Vec<_>>(),
        ["join_channel", "post_message"]
    );
    assert_eq!(done.id, TS);
    assert!(done.url.unwrap().ends_with("/archives/C1/p1900000001000200"));
    let expected = json!({
        "channel": "C1", "text": "a &lt; b &amp; c", "unfurl_links": false,
        "metadata": {"event_type": "fanfare_post", "event_payload": {"key": post.key}},
    });
    assert_eq!(network.seen()[1].json(), expected);
}

#[tokio::test]
async fn files_are_reserved_uploaded_and_completed_in_one_message() {
    let network = Network::start(posting).await;
    let mut post = draft("Look", json!({"media_alt_texts": ["A cat"]}));
    post.media = vec![media("a.png", "image/png")];
    let (steps, done) = walk(&network, &post).await;
    let names: Vec<_> = steps.iter().map(|one| one.0.as_str()).collect();
    assert_eq!(
        names,
        ["join_channel", "reserve_file_1", "upload_file_1", "complete_upload", "find_message"]
    );
    assert_eq!(steps.iter().filter(|one| one.1 == Phase::Commit).count(), 1);
    assert_eq!(done.id, TS);
    let seen = network.seen();
    assert_eq!((seen[1].query("length"), seen[1].query("alt_txt")), (Some("5"), Some("A cat")));
    assert_eq!(seen[1].query("alt_text"), Some("A cat"));
    assert_eq!(seen[2].text(), "a.png");
    let expected = json!({"files": [{"id": "F1", "title": "a.png"}], "channel_id": "C1", "initial_comment": "Look"});
    assert_eq!(seen[3].json(), expected);
}

#[tokio::test]
async fn a_lost_message_is_found_by_its_key_or_its_files() {
    let post = draft("Look", json!({}));
    let key = json!({"event_type": "fanfare_post", "event_payload": {"key": post.key}});
    let files = json!({"files": [{"id": "F1"}], "joined": true});
    for (message, state, there) in [
        (json!({"ts": TS, "metadata": key}), json!({"joined": true}), true),
        (
            json!({"ts": TS, "metadata": {"event_payload": {"key": "other"}}}),
            json!({"joined": true}),
            false,
        ),
        (json!({"ts": TS, "files": [{"id": "F1"}]}), files.clone(), true),
        (json!({"ts": TS, "files": [{"id": "F2"}]}), files, false),
        (json!({"ts": TS}), json!({"joined": true}), false),
    ] {
        let network =
            Network::start(move |_| (200, json!({"ok": true, "messages": [message]}))).await;
        let found = Slack.reconcile(&on(&network), &post, Some(state), at(0)).await.unwrap();
        let found = settled(found);
        assert_eq!(matches!(found, ReconcileOutcome::Committed(_)), there, "{found:?}");
        let asked = &network.seen()[0];
        assert_eq!(asked.query("oldest"), Some("1899999400.000000"));
        assert_eq!(asked.query("latest"), Some("1900000600.000000"));
    }
}

#[tokio::test]
async fn a_channel_is_connected_unless_the_bot_cannot_post_there() {
    for (channel, is_fine) in [
        (json!({"id": "C1", "name": "news"}), true),
        (json!({"id": "C1", "name": "news", "is_archived": true}), false),
        (json!({"id": "C1", "name": "news", "is_private": true}), false),
        (json!({"id": "C1", "name": "news", "is_private": true, "is_member": true}), true),
    ] {
        let network = Network::start(move |seen: &Seen| match seen.line.as_str() {
            "POST /net/api/auth.test" => {
                (200, json!({"ok": true, "team": "Team", "team_id": "T1", "user_id": "U1", "url": "https://t.slack.example/"}))
            }
            _ => (200, json!({"ok": true, "channel": channel})),
        })
        .await;
        let verified = Slack.verify(&network.session(Account::default(), secrets())).await;
        assert_eq!(verified.is_ok(), is_fine);
        if let Ok(identity) = verified {
            assert_eq!(
                (identity.remote_id.as_str(), identity.username.as_str()),
                ("T1:C1", "#news")
            );
        }
    }
}

#[tokio::test]
async fn every_error_says_what_to_do() {
    let network = Network::start(|_| (200, json!({}))).await;
    let session = on(&network);
    for (code, kind) in [
        ("invalid_auth", ErrorKind::Reconnect),
        ("token_expired", ErrorKind::TokenExpired),
        ("missing_scope", ErrorKind::Reconnect),
        ("channel_not_found", ErrorKind::Rejected),
        ("is_archived", ErrorKind::Rejected),
        ("not_in_channel", ErrorKind::Rejected),
        ("msg_too_long", ErrorKind::Rejected),
        ("invalid_blocks", ErrorKind::Rejected),
        ("file_uploads_disabled", ErrorKind::MediaRejected),
        ("ratelimited", ErrorKind::RateLimited),
        ("internal_error", ErrorKind::Server),
        ("something_new", ErrorKind::Rejected),
    ] {
        let body = json!({"ok": false, "error": code});
        let error = error::error_of_response(&session, &reply(200, &[], &body), &body);
        assert_eq!(error.kind, kind, "{code}");
    }
    let busy = error::error_of_reply(
        &session,
        &reply(429, &[("retry-after", "30")], &json!({"ok": false, "error": "ratelimited"})),
    );
    assert_eq!((busy.kind, busy.retry_after.unwrap().as_secs()), (ErrorKind::RateLimited, 30));
}

#[test]
fn rules_across_fields() {
    let fields = |settings: Value| -> Vec<String> {
        settings::check(&draft("x", settings)).into_iter().map(|one| one.field).collect()
    };
    assert_eq!(
        fields(json!({"markdown": true, "blocks": [{"type": "divider"}]})),
        ["settings.markdown"]
    );
    assert_eq!(fields(json!({"reply_broadcast": true})), ["settings.reply_broadcast"]);
    assert_eq!(fields(json!({"thread_ts": "17000000001123456"})), ["settings.thread_ts"]);
    assert_eq!(fields(json!({"blocks": [{"type": "nothing"}]})), ["settings.blocks[0]"]);
    let long = json!({"blocks": [{"type": "section", "text": {"text": "n".repeat(3_001)}}]});
    assert_eq!(fields(long), ["settings.blocks[0].text.text"]);
    let markdown = draft(&"n".repeat(12_001), json!({"markdown": true}));
    assert_eq!(settings::check(&markdown)[0].field, "caption");
    let mut files = draft("x", json!({"unfurl_links": true}));
    files.media = vec![media("a.png", "image/png")];
    assert_eq!(settings::warnings(&files).len(), 1);
    let fields = |draft: &Draft| {
        settings::warnings(draft).into_iter().map(|one| one.field).collect::<Vec<_>>()
    };
    files.settings = json!({"blocks": [{"type": "divider"}]}).as_object().cloned().unwrap();
    assert_eq!(fields(&files), ["caption"]);
    files.caption = String::new();
    assert!(fields(&files).is_empty());
}
