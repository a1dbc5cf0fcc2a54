use serde_json::{Value, json};

use super::{Lemmy, error::parse_error, settings};
use crate::{
    Account, Draft, ErrorKind, Phase, Platform, Progress, ReconcileOutcome, Secrets, Session,
    tests::test_server::{Network, Seen, account, at, draft, media, reply, settled},
};

fn secrets() -> Secrets {
    Secrets::new()
        .with("instance_url", "https://lemmy.example/")
        .with("username", "me")
        .with("password", "secret-123")
        .with("jwt", "token-123")
}

fn on(network: &Network) -> Session {
    let meta = json!({"instance_url": "https://lemmy.example", "name": "me"});
    network.session(account("lemmy.example:7", meta), secrets())
}

fn answers(seen: &Seen) -> (u16, Value) {
    match seen.line.as_str() {
        "GET /net/api/v3/community" => (404, json!({"error": "couldnt_find_community"})),
        "GET /net/api/v3/resolve_object" => (200, json!({"community": {"community": {"id": 5}}})),
        "POST /net/pictrs/image" => (201, json!({"msg": "ok", "files": [{"file": "a.png"}]})),
        "POST /net/api/v3/post" => (200, json!({"post_view": {"post": {"id": 9}}})),
        other => panic!("{other}"),
    }
}

fn post() -> Draft {
    let mut post = draft(
        "Title\n\nText",
        json!({"community": "rust@other.example", "media_alt_texts": ["A cat"]}),
    );
    post.media = vec![media("a.png", "image/png")];
    post
}

#[tokio::test]
async fn a_post_is_prepared_step_by_step_and_made_in_one_call() {
    let network = Network::start(answers).await;
    let (session, post) = (on(&network), post());
    let (mut state, mut names) = (None, Vec::new());
    let done = loop {
        let step = Lemmy.step(&post, state.as_ref());
        names.push(step.name.clone());
        match Lemmy.publish(&session, &post, state).await.unwrap() {
            Progress::Done(done) => break done,
            Progress::Continue { state: next, .. } => {
                assert_eq!(step.phase, Phase::Prepare);
                state = Some(next);
            }
        }
    };
    assert_eq!(names, ["find_community", "resolve_community", "upload_image_1", "create_post"]);
    assert_eq!(done.url.as_deref(), Some("https://lemmy.example/post/9"));
    let seen = network.seen();
    assert_eq!(seen[1].query("q"), Some("!rust@other.example"));
    let expected = json!({
        "name": "Title", "community_id": 5, "body": "Text", "alt_text": "A cat",
        "url": format!("{}/pictrs/image/a.png", network.base()),
    });
    assert_eq!(seen[3].json(), expected);
}

#[tokio::test]
async fn a_lost_post_is_found_by_title_text_and_time() {
    let post = draft("Title\n\nText", json!({"community": "a@b.example"}));
    for (name, body, seconds, there) in
        [("Title", "Text", 1, true), ("Title", "Other", 1, false), ("Title", "Text", -600, false)]
    {
        let published = at(seconds).format("%Y-%m-%dT%H:%M:%S%.6f").to_string();
        let view = json!({"post": {"id": 3, "name": name, "body": body, "published": published}});
        let network = Network::start(move |seen| match seen.query("page") {
            Some("1") => (200, json!({"posts": [view]})),
            _ => (200, json!({"posts": []})),
        })
        .await;
        let found = Lemmy.reconcile(&on(&network), &post, None, at(0)).await.unwrap();
        let found = settled(found);
        assert_eq!(matches!(found, ReconcileOutcome::Committed(_)), there, "{found:?}");
    }
}

#[tokio::test]
async fn an_account_logs_in_and_logs_in_again() {
    let network = Network::start(|seen| match seen.line.as_str() {
        "POST /net/api/v3/user/login" => (200, json!({"jwt": "fresh"})),
        _ => (200, json!({"my_user": {"local_user_view": {"person": {"id": 7, "name": "me"}}}})),
    })
    .await;
    let session = network.session(Account::default(), secrets());
    let identity = Lemmy.verify(&session).await.unwrap();
    assert_eq!(identity.remote_id, "lemmy.example:7");
    assert_eq!(
        (identity.username.as_str(), identity.secrets.expose("jwt")),
        ("me@lemmy.example", "fresh")
    );
    let fresh = Lemmy.refresh(&on(&network)).await.unwrap().unwrap();
    assert_eq!(
        (fresh.secrets.expose("jwt"), fresh.secrets.expose("password")),
        ("fresh", "secret-123")
    );
    let refusing = Network::start(|_| (401, json!({"error": "incorrect_login"}))).await;
    assert_eq!(Lemmy.refresh(&on(&refusing)).await.unwrap_err().kind, ErrorKind::Reconnect);
    let anonymous = refusing.session(Account::default(), secrets());
    assert_eq!(Lemmy.verify(&anonymous).await.unwrap_err().kind, ErrorKind::InvalidCredentials);
}

#[tokio::test]
async fn every_error_says_what_to_do() {
    let network = Network::start(|_| (200, json!({}))).await;
    let session = on(&network);
    for (status, code, kind) in [
        (401, "not_logged_in", ErrorKind::TokenExpired),
        (401, "incorrect_login", ErrorKind::InvalidCredentials),
        (400, "missing_totp_token", ErrorKind::InvalidCredentials),
        (400, "rate_limit_error", ErrorKind::RateLimited),
        (400, "slurs", ErrorKind::Rejected),
        (400, "only_mods_can_post_in_community", ErrorKind::Rejected),
        (400, "banned_from_community", ErrorKind::Rejected),
        (400, "couldnt_create_post", ErrorKind::Server),
        (400, "something_new", ErrorKind::Rejected),
        (413, "", ErrorKind::MediaRejected),
        (503, "", ErrorKind::Server),
    ] {
        let error = parse_error(&session, &reply(status, &[], &json!({"error": code})));
        assert_eq!(error.kind, kind, "{code}");
    }
    let wait = parse_error(&session, &reply(400, &[], &json!({"error": "rate_limit_error"})));
    assert_eq!(wait.retry_after.unwrap().as_secs(), 60);
}

#[test]
fn a_community_and_a_title_are_needed() {
    let fields = |caption: &str, settings: Value| -> Vec<String> {
        settings::check(&draft(caption, settings)).into_iter().map(|one| one.field).collect()
    };
    let good = json!({"community": "rust@a.example"});
    assert!(fields("Hello", good.clone()).is_empty());
    assert_eq!(fields("Hi", good.clone()), ["settings.title"]);
    assert_eq!(fields("Hello", json!({"community": "!rust@a.example"})), ["settings.community"]);
    assert_eq!(fields("Hello", json!({"community": "rust"})), ["settings.community"]);
    let long = json!({"community": "rust@a.example", "url": format!("https://a.example/{}", "a".repeat(2_000))});
    assert_eq!(fields("Hello", long), ["settings.url"]);
}

#[test]
fn a_first_line_that_is_too_long_is_said_whole() {
    let settings = settings::Settings::default();
    assert_eq!(settings.title_and_body("# One\n\nTwo"), ("One".to_owned(), "Two"));
    let long = format!("{}\nTwo", "a".repeat(201));
    let (title, body) = settings.title_and_body(&long);
    assert_eq!((title.chars().count(), body), (200, long.as_str()));
}
