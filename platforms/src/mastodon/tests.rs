use serde_json::{Value, json};

use super::{Mastodon, error::parse_error, settings};
use crate::{
    Account, Draft, ErrorKind, Phase, Platform, Progress, ReconcileOutcome, Secrets, Session,
    tests::test_server::{Network, Seen, account, at, draft, media, reply, settled},
    validate,
};

fn secrets() -> Secrets {
    Secrets::new().with("instance_url", "https://m.example/").with("access_token", "token-123")
}

fn on(network: &Network) -> Session {
    let meta = json!({"instance_url": "https://m.example", "limits": {"max_characters": 600}});
    network.session(account("m.example:7", meta), secrets())
}

fn status(id: &str, seconds: i64) -> Value {
    json!({"id": id, "url": "https://m.example/@me/1", "created_at": at(seconds).to_rfc3339(), "media_attachments": [{"id": "5"}]})
}

fn with_file() -> Draft {
    let mut post = draft("Look", json!({"media_alt_texts": ["A cat"], "visibility": "private"}));
    post.media = vec![media("film.mp4", "video/mp4")];
    post
}

#[tokio::test]
async fn a_file_is_uploaded_and_waited_for_before_the_status() {
    let mut asked = 0;
    let network = Network::start(move |seen: &Seen| match seen.line.as_str() {
        "POST /net/api/v2/media" => (202, json!({"id": "5", "url": null})),
        "GET /net/api/v1/media/5" => {
            asked += 1;
            (if asked < 2 { 206 } else { 200 }, json!({"id": "5"}))
        }
        "POST /net/api/v1/statuses" => (200, status("9", 0)),
        other => panic!("{other}"),
    })
    .await;
    let (session, post) = (on(&network), with_file());
    let (mut state, mut names) = (None, Vec::new());
    let done = loop {
        let step = Mastodon.step(&post, state.as_ref());
        names.push(step.name.clone());
        match Mastodon.publish(&session, &post, state).await.unwrap() {
            Progress::Done(done) => break done,
            Progress::Continue { state: next, .. } => {
                assert_eq!(step.phase, Phase::Prepare);
                state = Some(next);
            }
        }
    };
    assert_eq!(names, ["upload_file_1", "wait_for_file_1", "wait_for_file_1", "create_status"]);
    assert_eq!((done.id.as_str(), done.url.as_deref()), ("9", Some("https://m.example/@me/1")));
    let seen = network.seen();
    assert!(seen[0].text().contains("A cat"));
    assert!(seen[3].head.contains(&format!("idempotency-key: {}", post.key)));
    assert_eq!(
        seen[3].json(),
        json!({"status": "Look", "media_ids": ["5"], "visibility": "private"})
    );
}

/// Mastodon's words for a file that it removed after a day, or that another status has (`config/locales/en.yml`).
const MEDIA_LOST: &str = "Validation failed: Media 5 not found or already attached to another post";

#[tokio::test]
async fn files_that_the_instance_has_lost_are_uploaded_again_once_the_status_was_looked_up() {
    let network = Network::start(|seen: &Seen| match seen.line.as_str() {
        "POST /net/api/v1/statuses" => (422, json!({"error": MEDIA_LOST})),
        "POST /net/api/v2/media" => (200, json!({"id": "6"})),
        other => panic!("{other}"),
    })
    .await;
    let (session, post) = (on(&network), with_file());
    let state = json!({"media": ["5"]});
    let error = Mastodon.publish(&session, &post, Some(state.clone())).await.unwrap_err();
    assert!(error.leaves_open() && error.kind == crate::ErrorKind::Transient, "{error:?}");
    let lost = error.next_state.unwrap();
    assert_eq!(lost["media"], json!(["5"]), "by which the status is looked for");
    assert_eq!(Mastodon.step(&post, Some(&lost)).name, "upload_file_1");
    let Progress::Continue { state: next, .. } =
        Mastodon.publish(&session, &post, Some(lost)).await.unwrap()
    else {
        panic!("it goes on")
    };
    assert_eq!((&next["media"], &next["again"]), (&json!(["6"]), &json!(1)));
    let often = json!({"media": ["5"], "again": 3});
    let error = Mastodon.publish(&session, &post, Some(often)).await.unwrap_err();
    assert_eq!(error.kind, crate::ErrorKind::Rejected, "{error:?}");
}

#[tokio::test]
async fn files_that_wait_for_most_of_a_day_are_uploaded_again() {
    let network = Network::start(|seen: &Seen| panic!("{}", seen.line)).await;
    let old = json!({"media": ["5"], "uploaded_at": at(-21 * 3600).to_rfc3339()});
    let Progress::Continue { state, .. } =
        Mastodon.publish(&on(&network), &with_file(), Some(old)).await.unwrap()
    else {
        panic!("it goes on")
    };
    assert_eq!((&state["media"], &state["again"]), (&json!([]), &json!(1)));
}

#[tokio::test]
async fn fewer_files_than_asked_for_are_warned_of() {
    let network =
        Network::start(|_: &Seen| (200, json!({"id": "9", "created_at": at(0).to_rfc3339()})))
            .await;
    let state = json!({"media": ["5"]});
    let done = Mastodon.publish(&on(&network), &with_file(), Some(state)).await.unwrap();
    let Progress::Done(done) = done else { panic!("it is public") };
    assert_eq!(done.warnings[0].code, crate::WarningCode::FewerFiles);
}

#[tokio::test]
async fn a_lost_status_is_found_by_text_files_and_time() {
    let state = json!({"media": ["5"]});
    for (text, seconds, there) in [("Look", 1, true), ("Other", 1, false), ("Look", -600, false)] {
        let network = Network::start(move |seen: &Seen| match seen.line.as_str() {
            "GET /net/api/v1/accounts/7/statuses" if seen.query("max_id").is_some() => {
                (200, json!([]))
            }
            "GET /net/api/v1/accounts/7/statuses" => (200, json!([status("9", seconds)])),
            _ => (200, json!({"id": "9", "text": text, "spoiler_text": ""})),
        })
        .await;
        let found =
            Mastodon.reconcile(&on(&network), &with_file(), Some(state.clone()), at(0)).await;
        assert_eq!(
            matches!(settled(found.unwrap()), ReconcileOutcome::Committed(_)),
            there,
            "{text}"
        );
    }
}

#[tokio::test]
async fn the_limits_of_the_instance_are_kept_and_hold() {
    let network = Network::start(|seen: &Seen| match seen.line.as_str() {
        "GET /net/api/v1/accounts/verify_credentials" => {
            (200, json!({"id": "7", "username": "me", "display_name": "", "url": "https://m.example/@me"}))
        }
        "GET /net/api/v2/instance" => (404, json!({"error": "Not Found"})),
        _ => (200, json!({"configuration": {"statuses": {"max_characters": 5000, "max_media_attachments": 6}}})),
    })
    .await;
    let session = network.session(Account::default(), secrets());
    let identity = Mastodon.verify(&session).await.unwrap();
    assert_eq!(
        (identity.remote_id.as_str(), identity.username.as_str()),
        ("m.example:7", "me@m.example")
    );
    let account = Account { meta: identity.meta, ..Account::default() };
    let long = draft(&"n".repeat(5_000), json!({}));
    assert!(validate(&Mastodon, &account, &long).is_empty());
    assert!(!validate(&Mastodon, &Account::default(), &long).is_empty());
    assert_eq!(Mastodon.spec_of(&account).media.total_max, 6);
}

#[tokio::test]
async fn every_error_says_what_to_do() {
    let network = Network::start(|_| (200, json!({}))).await;
    let session = on(&network);
    let reset = at(90).to_rfc3339();
    for (status, said, kind) in [
        (401, "The access token is invalid", ErrorKind::Reconnect),
        (403, "This action is outside the authorized scopes", ErrorKind::Reconnect),
        (404, "Record not found", ErrorKind::Rejected),
        (
            422,
            "Cannot attach files that have not finished processing. Try again in a moment!",
            ErrorKind::Transient,
        ),
        (422, "Validation failed: File content type is not supported", ErrorKind::MediaRejected),
        (422, "Validation failed: Text can't be blank", ErrorKind::Rejected),
        (429, "Too many requests", ErrorKind::RateLimited),
        (503, "", ErrorKind::Server),
    ] {
        let error = parse_error(
            &session,
            &reply(status, &[("x-ratelimit-reset", &reset)], &json!({"error": said})),
        );
        assert_eq!(error.kind, kind, "{said}");
        if status == 429 {
            assert_eq!(error.retry_after.unwrap().as_secs(), 90);
        }
    }
}

#[test]
fn rules_across_fields() {
    let fields = |post: &Draft| -> Vec<String> {
        settings::check(post).into_iter().map(|one| one.field).collect()
    };
    let mut gifs = draft(
        "x",
        json!({"language": "en_US", "poll": {"options": ["a", "b", "a"], "expires_in": 300}}),
    );
    gifs.media = vec![media("a.png", "image/png"), media("b.gif", "image/gif")];
    assert_eq!(fields(&gifs), ["media_urls[1]", "settings.language", "settings.poll.options[2]"]);
    assert_eq!(settings::warnings(&gifs).len(), 1);
    let warned = draft("https://example.org/a", json!({"spoiler_text": "five!"}));
    assert_eq!(Mastodon.caption_length(&warned), 23 + 5);
}
