use serde_json::json;

use super::{Devto, client::parse_error, publish, settings};
use crate::{
    Account, ErrorKind, Platform, Progress, ReconcileOutcome, Secrets,
    tests::test_server::{Network, account, at, draft, media, reply, settled},
};

fn secrets() -> Secrets {
    Secrets::new().with("api_key", "key-123456")
}

#[tokio::test]
async fn an_article_is_one_call() {
    let network = Network::start(|_| (201, json!({"id": 7, "url": "https://dev.to/me/a-1"}))).await;
    let session = network.session(account("3", json!({})), secrets());
    let settings = json!({"tags": ["rust"], "media_alt_texts": ["", "A [dog]"]});
    let mut post = draft("# Title\n\nText", settings);
    post.media = vec![media("a.png", "image/png"), media("b.png", "image/png")];
    let done = Devto.publish(&session, &post, None).await.unwrap();
    let Progress::Done(published) = done else { panic!("{done:?}") };
    assert_eq!(
        (published.id.as_str(), published.url.as_deref()),
        ("7", Some("https://dev.to/me/a-1"))
    );
    let seen = &network.seen()[0];
    assert_eq!(seen.line, "POST /net/api/articles");
    assert!(seen.head.contains("api-key: key-123456"));
    assert!(seen.head.contains("accept: application/vnd.forem.api-v1+json"));
    let expected = json!({"article": {
        "title": "Title", "body_markdown": "Text\n\n![A dog](<https://media.example.org/b.png>)",
        "published": true, "main_image": "https://media.example.org/a.png", "tags": ["rust"],
    }});
    assert_eq!(seen.json(), expected);
}

#[test]
fn what_is_marked_as_made_with_ai_is_told() {
    for (settings, level) in [
        (json!({}), None),
        (json!({"ai_generated": true}), Some("fully_autonomous")),
        (json!({"ai_disclosure": true}), Some("fully_autonomous")),
        (json!({"ai_generated": false}), None),
        (json!({"ai_disclosure_level": "some_ai"}), Some("some_ai")),
        (json!({"ai_generated": true, "ai_disclosure_level": "some_ai"}), Some("some_ai")),
        (json!({"ai_disclosure_level": "no_ai"}), Some("no_ai")),
    ] {
        let post = draft("Title\n\nText", settings.clone());
        let made = super::publish::article(&post, &post.settings().unwrap());
        assert_eq!(made.ai_disclosure_level.as_deref(), level, "{settings}");
        let sent = serde_json::to_value(&made).unwrap();
        assert_eq!(sent.get("ai_disclosure_level").is_some(), level.is_some(), "{settings}");
        assert!(Devto.check(&post).is_empty(), "{settings}");
    }
    let post = draft("Title", json!({"ai_generated": true, "ai_disclosure_level": "no_ai"}));
    assert_eq!(Devto.check(&post)[0].field, "settings.ai_disclosure_level");
}

#[tokio::test]
async fn a_lost_article_is_found_by_title_text_and_time() {
    let post = draft("Title\n\nText", json!({}));
    let time = |seconds| at(seconds).to_rfc3339();
    for (article, there) in [
        (
            json!({"title": "Title", "body_markdown": "Title\n\nText", "published_at": time(1)}),
            true,
        ),
        (json!({"title": "Others", "body_markdown": "Other", "published_at": time(1)}), false),
        (
            json!({"title": "Title", "body_markdown": "Title\n\nText", "published_at": time(-600)}),
            false,
        ),
        (json!({"title": "Title", "body_markdown": "Title\n\nText", "published_at": null}), false),
    ] {
        let mut article = article;
        (article["id"], article["url"]) = (json!(5), json!("https://dev.to/x"));
        let network = Network::start(move |seen| match seen.query("page") {
            Some("1") => (200, json!([article])),
            _ => (200, json!([])),
        })
        .await;
        let session = network.session(Account::default(), secrets());
        let found = settled(Devto.reconcile(&session, &post, None, at(0)).await.unwrap());
        assert_eq!(matches!(found, ReconcileOutcome::Committed(_)), there, "{found:?}");
        assert_eq!(matches!(found, ReconcileOutcome::NotCommitted), !there);
    }
}

/// DEV takes no title twice within five minutes, so an article with it is a doubt, whatever its text is.
#[tokio::test]
async fn a_title_is_compared_as_forem_keeps_it() {
    let post = draft("One \u{2211}\u{200b}title\n\nText", json!({}));
    for (text, wanted) in [("One \u{2211}\u{200b}title\n\nText", true), ("Other", false)] {
        let article = json!({
            "id": 5, "url": "https://dev.to/x", "title": "One title", "body_markdown": text,
            "published_at": at(1).to_rfc3339(),
        });
        let network = Network::start(move |seen| match seen.query("page") {
            Some("1") => (200, json!([article])),
            _ => (200, json!([])),
        })
        .await;
        let session = network.session(Account::default(), secrets());
        let found = settled(Devto.reconcile(&session, &post, None, at(0)).await.unwrap());
        assert_eq!(matches!(found, ReconcileOutcome::Committed(_)), wanted, "{found:?}");
        assert!(!matches!(found, ReconcileOutcome::NotCommitted), "{found:?}");
    }
}

#[tokio::test]
async fn the_key_says_who_it_is() {
    let network = Network::start(|_| (200, json!({"id": 3, "username": "me", "name": ""}))).await;
    let identity = Devto.verify(&network.session(Account::default(), secrets())).await.unwrap();
    assert_eq!((identity.remote_id.as_str(), identity.username.as_str()), ("3", "me"));
    let network = Network::start(|_| (401, json!({"error": "unauthorized", "status": 401}))).await;
    let error = Devto.verify(&network.session(Account::default(), secrets())).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::InvalidCredentials);
}

#[tokio::test]
async fn every_error_says_what_to_do() {
    let network = Network::start(|_| (200, json!({}))).await;
    let session = network.session(Account::default(), secrets());
    for (status, said, kind) in [
        (401, "unauthorized", ErrorKind::Reconnect),
        (403, "forbidden", ErrorKind::PermissionMissing),
        (422, "Validation failed: Canonical url has already been taken", ErrorKind::Rejected),
        (
            422,
            "Validation failed: Title has already been used in the last five minutes",
            ErrorKind::Duplicate,
        ),
        (422, "Validation failed: Tag list exceed the maximum of 4 tags", ErrorKind::Rejected),
        (429, "Rate limit reached", ErrorKind::RateLimited),
        (500, "", ErrorKind::Server),
    ] {
        let error =
            parse_error(&session, &reply(status, &[("retry-after", "9")], &json!({"error": said})));
        assert_eq!(error.kind, kind, "{said}");
    }
    let repeated = parse_error(&session, &reply(422, &[], &json!({"error": "bad key-123456"})));
    assert!(!format!("{repeated:?}").contains("key-123456"));
}

#[test]
fn tags_are_plain() {
    let found = settings::check(&draft("x", json!({"tags": ["ok1", "Web-Dev"]})));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].field, "settings.tags[1]");
    assert!(publish::article(&draft("x", json!({})), &Default::default()).main_image.is_none());
}
