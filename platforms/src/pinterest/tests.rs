//! Pins against a network on loopback: what is sent, videos, what is told of a lost answer, and the table of errors.

use std::collections::BTreeSet;

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::{Pinterest, analytics::MetricsReader, error::parse_error};
use crate::{
    Draft, ErrorKind, Phase, Platform, Progress, PublishedPost, ReconcileOutcome, Secrets, Session,
    analytics::{Analytics, CallBudget, Day, FetchContext, MissingReason, PostRef, name},
    tests::test_server::{self, Network, Seen},
    validate::validate,
};

fn session(network: &Network) -> Session {
    let secrets = Secrets::new().with("access_token", "pina_token");
    network.session(test_server::account("9", json!({})), secrets)
}

fn pin(settings: Value, media: &[&str]) -> Draft {
    let mut settings = settings;
    settings["board"] = json!("549");
    let mut draft = test_server::draft("About it", settings);
    draft.media = media.iter().map(|mime| test_server::media("film.mp4", mime)).collect();
    draft
}

/// Publishes to the end; returns the steps and the result.
async fn walk(network: &Network, draft: &Draft) -> (Vec<String>, crate::Result<PublishedPost>) {
    let (session, mut state, mut steps) = (session(network), None, Vec::new());
    loop {
        assert!(steps.len() < 20, "{steps:?}");
        let step = Pinterest.step(draft, state.as_ref());
        steps.push(step.name);
        match Pinterest.publish(&session, draft, state).await {
            Ok(Progress::Done(published)) => return (steps, Ok(published)),
            Ok(Progress::Continue { state: next, .. }) => state = Some(next),
            Err(error) => return (steps, Err(error)),
        }
    }
}

#[tokio::test]
async fn pictures_are_one_call() {
    let network = Network::start(|_| test_server::id("77")).await;
    let settings = json!({"title": "A crane", "link": "https://example.org/a", "media_alt_texts": ["Red paper"]});
    let (steps, made) = walk(&network, &pin(settings, &["image/png"])).await;
    assert_eq!(steps, ["create_pin"]);
    let made = made.unwrap();
    assert!(made.id == "77" && made.url.unwrap().ends_with("/pin/77"));
    assert_eq!(
        network.seen()[0].json(),
        json!({
            "board_id": "549", "title": "A crane", "description": "About it", "link": "https://example.org/a",
            "alt_text": "Red paper",
            "media_source": {"source_type": "image_url", "url": "https://media.example.org/film.mp4"},
        })
    );
    walk(&network, &pin(json!({}), &["image/png", "image/png"])).await.1.unwrap();
    let source = network.seen()[1].json()["media_source"].clone();
    assert_eq!(
        (source["source_type"].as_str(), source["items"].as_array().unwrap().len()),
        (Some("multiple_image_urls"), 2)
    );
}

#[tokio::test]
async fn a_video_is_sent_with_everything_that_was_asked_for() {
    let base = std::sync::Arc::new(std::sync::OnceLock::<String>::new());
    let known = base.clone();
    let mut asked = 0;
    let network = Network::start(move |seen| match seen.line.as_str() {
        "POST /net/v5/media" => (201, json!({"media_id": "5", "upload_url": format!("{}/store", known.get().unwrap()), "upload_parameters": {"key": "k", "policy": "p"}})),
        "GET /net/v5/media/5" => {
            asked += 1;
            (200, json!({"status": if asked > 1 { "succeeded" } else { "processing" }}))
        }
        "POST /net/store" => (204, json!(null)),
        _ => test_server::id("78"),
    })
    .await;
    base.set(network.base().to_owned()).unwrap();
    let (steps, made) = walk(&network, &pin(json!({}), &["video/mp4"])).await;
    assert_eq!(
        steps,
        ["register_video", "upload_video", "wait_for_video", "wait_for_video", "create_pin"]
    );
    made.unwrap();
    let seen = network.seen();
    let form = seen[1].text();
    let place = |part: &str| form.find(part).unwrap();
    assert!(
        place("name=\"key\"") < place("name=\"file\"")
            && place("name=\"policy\"") < place("name=\"file\"")
    );
    assert!(form.contains("film.mp4") && !seen[1].head.contains("pina_token"));
    let source = seen.last().unwrap().json()["media_source"].clone();
    assert_eq!(
        source,
        json!({"source_type": "video_id", "media_id": "5", "cover_image_key_frame_time": 0})
    );
}

#[tokio::test]
async fn tags_that_are_not_taken_are_left_out() {
    let network = Network::start(|seen| {
        let refused = json!({"code": 1, "message": "Invalid request: product_tags is not allowed"});
        if seen.text().contains("product_tags") { (400, refused) } else { test_server::id("79") }
    })
    .await;
    let (steps, made) = walk(&network, &pin(json!({"product_tags": ["1"]}), &["image/png"])).await;
    assert_eq!(steps, ["create_pin", "create_pin"]);
    assert_eq!(made.unwrap().id, "79");
    assert_eq!(network.seen()[0].json()["product_tags"], json!([{"pin_id": "1"}]));
}

#[tokio::test]
async fn a_lost_pin_is_looked_for_on_its_board() {
    let made = |id: &str, title: Value, seconds: i64| {
        let at = test_server::at(seconds).format("%Y-%m-%dT%H:%M:%S").to_string();
        json!({"id": id, "title": title, "description": "About it", "link": null, "created_at": at})
    };
    let items = json!([
        made("1", json!("Other"), 3),
        made("2", json!(null), 3),
        made("3", json!(null), -9_000)
    ]);
    let network = Network::start(move |_| (200, json!({"items": items, "bookmark": null}))).await;
    let (session, draft) = (session(&network), pin(json!({}), &["image/png"]));
    let found = Pinterest.reconcile(&session, &draft, None, test_server::at(0)).await.unwrap();
    let found = test_server::settled(found);
    assert!(
        matches!(found, ReconcileOutcome::Committed(Progress::Done(PublishedPost { ref id, .. })) if id == "2"),
        "{found:?}"
    );
    let other = pin(json!({"title": "Unseen"}), &["image/png"]);
    let found = Pinterest.reconcile(&session, &other, None, test_server::at(0)).await.unwrap();
    assert!(matches!(test_server::settled(found), ReconcileOutcome::NotCommitted));
    assert_eq!(network.lines()[0], "GET /net/v5/boards/549/pins");
    assert_eq!(Pinterest.step(&draft, None).phase, Phase::Commit);
}

#[tokio::test]
async fn boards_are_listed_page_by_page() {
    let network = Network::start(|seen| match seen.query("bookmark") {
        None => (
            200,
            json!({"items": [{"id": "1", "name": "One", "privacy": "PUBLIC"}], "bookmark": "b"}),
        ),
        Some(_) => (
            200,
            json!({"items": [{"id": "2", "name": "Two", "privacy": "SECRET"}], "bookmark": null}),
        ),
    })
    .await;
    let listed = crate::Tools::run(&Pinterest, &session(&network), "pinterest.boards", &Map::new())
        .await
        .unwrap();
    assert_eq!(listed["boards"][1], json!({"id": "2", "name": "Two", "privacy": "SECRET"}));
    assert_eq!(listed["more"], false);
    crate::Tools::run(&Pinterest, &session(&network), "pinterest.pins", &Map::new())
        .await
        .unwrap_err();
}

#[tokio::test]
async fn errors_say_what_to_do() {
    let network = Network::start(|_| test_server::id("1")).await;
    let session = session(&network);
    for (status, message, kind) in [
        (400, "Unable to reach the URL. Please check it.", ErrorKind::Transient),
        (400, "Sorry! The image is broken", ErrorKind::MediaRejected),
        (400, "Invalid request: title is longer than 100", ErrorKind::Rejected),
        (401, "Authentication failed.", ErrorKind::TokenExpired),
        (403, "You are not permitted.", ErrorKind::PermissionMissing),
        (404, "Board not found.", ErrorKind::Rejected),
        (409, "", ErrorKind::Transient),
        (429, "", ErrorKind::RateLimited),
        (500, "", ErrorKind::Server),
    ] {
        let body = json!({"code": 1, "message": message});
        let reply = test_server::reply(status, &[("x-ratelimit-reset", "42")], &body);
        let error = parse_error(&session, &reply);
        assert_eq!(error.kind, kind, "{status} {message}");
        assert_eq!(error.retry_after.map(|wait| wait.as_secs()), (status == 429).then_some(42));
    }
    let echo = test_server::reply(400, &[], &json!({"message": "pina_token is bad"}));
    assert!(!format!("{:?}", parse_error(&session, &echo)).contains("pina_token"));
}

#[test]
fn what_does_not_go_together_is_told() {
    let broken = |draft: &Draft| {
        let found = validate(&Pinterest, &crate::Account::default(), draft);
        found.into_iter().map(|one| (one.field, one.code)).collect::<Vec<_>>()
    };
    assert_eq!(broken(&pin(json!({}), &["image/png"])), []);
    assert_eq!(broken(&pin(json!({}), &[])), [("media_urls".to_owned(), "media_required")]);
    let mut named = pin(json!({}), &["image/png"]);
    named.settings["board"] = json!("my board");
    assert_eq!(broken(&named), [("settings.board".to_owned(), "setting_invalid")]);
    let cover = pin(json!({"cover_image_url": "https://example.org/a.png"}), &["image/png"]);
    assert_eq!(broken(&cover), [("settings.cover_image_url".to_owned(), "setting_invalid")]);
    let long = format!("https://example.org/{}", "n".repeat(2_029));
    assert_eq!(
        broken(&pin(json!({"link": long}), &["image/png"])),
        [("settings.link".to_owned(), "setting_invalid")]
    );
    let mut uneven = pin(json!({}), &["image/png", "image/png"]);
    uneven.media[0].dimensions = Some((2, 3));
    uneven.media[1].dimensions = Some((3, 2));
    assert_eq!(broken(&uneven), [("media_urls[1]".to_owned(), "mixed_media_unsupported")]);
    let labelled = pin(json!({"ai_generated": true, "product_tags": ["1"]}), &["image/png"]);
    assert_eq!(crate::warnings(&Pinterest, &labelled).len(), 2);
}

/// Calls without limits.
struct Free;

#[async_trait]
impl CallBudget for Free {
    async fn acquire(&self) -> crate::Result<()> {
        Ok(())
    }
}

fn posts() -> Vec<PostRef> {
    vec![PostRef { id: "77".into(), post_type: "feed".into(), format: "image".into(), url: None }]
}

fn day() -> Day {
    let date = test_server::at(0).date_naive();
    Day { date, since: test_server::at(0), until: test_server::at(86_400) }
}

/// A Pinterest that takes these metrics, and refuses each other one with the whole call.
fn taking(
    known: &'static [&'static str],
    report: fn(&[&str]) -> Value,
) -> impl Fn(&Seen) -> (u16, Value) {
    move |seen| {
        let asked: Vec<&str> = seen.query("metric_types").unwrap_or_default().split(',').collect();
        match asked.iter().find(|name| !known.contains(name)) {
            Some(name) => {
                let message = format!("Invalid request: '{name}' is not one of {known:?}");
                (400, json!({"code": 1, "message": message}))
            }
            None => (200, report(&asked)),
        }
    }
}

/// What was asked for is in the summary; the lifetime has its own two metrics and is `{}` otherwise
/// (<https://github.com/pinterest/api-description>, 5.23.0).
fn report_of_pin(asked: &[&str]) -> Value {
    let (life, period): (Vec<_>, Vec<_>) =
        asked.iter().partition(|name| name.starts_with("TOTAL_"));
    let told = |names: Vec<&&str>| -> Value {
        names
            .into_iter()
            .map(|name| ((*name).to_owned(), json!(name.len())))
            .collect::<Map<_, _>>()
            .into()
    };
    json!({"all": {"daily_metrics": [], "lifetime_metrics": told(life), "summary_metrics": told(period)}})
}

#[tokio::test]
async fn the_numbers_of_a_pin_stand_in_its_summary_and_those_of_its_life_apart() {
    let network = Network::start(taking(
        &[
            "IMPRESSION",
            "SAVE",
            "VIDEO_MRC_VIEW",
            "PIN_CLICK",
            "OUTBOUND_CLICK",
            "TOTAL_REACTIONS",
            "TOTAL_COMMENTS",
        ],
        report_of_pin,
    ))
    .await;
    let (session, skipped) = (session(&network), BTreeSet::new());
    let reading = FetchContext::new(&session, &Free, &skipped);
    let read = MetricsReader.posts(&reading, &posts()).await.unwrap().remove(0).unwrap();
    for (name, number) in [
        (name::IMPRESSIONS, 10),
        (name::SAVES, 4),
        (name::PLAYS, 14),
        (name::CLICKS, 9 + 14),
        (name::LIKES, 15),
        (name::COMMENTS, 14),
    ] {
        assert_eq!(read[name], Ok(number), "{name}");
    }
    assert_eq!(network.seen().len(), 1);
    assert!(reading.findings().refused.is_empty());
}

#[tokio::test]
async fn a_refused_metric_costs_itself_alone() {
    let network = Network::start(taking(
        &["IMPRESSION", "SAVE", "PIN_CLICK", "TOTAL_COMMENTS"],
        report_of_pin,
    ))
    .await;
    let (first, skipped) = (session(&network), BTreeSet::new());
    let reading = FetchContext::new(&first, &Free, &skipped);
    let read = MetricsReader.posts(&reading, &posts()).await.unwrap().remove(0).unwrap();
    assert_eq!((read[name::IMPRESSIONS], read[name::COMMENTS]), (Ok(10), Ok(14)));
    assert_eq!((read[name::PLAYS], read[name::CLICKS]), (Err(MissingReason::Platform), Ok(9)));
    let refused = reading.findings().refused.into_iter().collect::<Vec<_>>();
    assert_eq!(refused, ["OUTBOUND_CLICK", "TOTAL_REACTIONS", "VIDEO_MRC_VIEW"]);
    // They are not asked for again.
    let calls = network.seen().len();
    MetricsReader.posts(&reading, &posts()).await.unwrap();
    assert_eq!(network.seen().len(), calls + 1);
    // A refusal of everything is about something else.
    let network = Network::start(taking(&[], report_of_pin)).await;
    let second = session(&network);
    let reading = FetchContext::new(&second, &Free, &skipped);
    let refused = MetricsReader.posts(&reading, &posts()).await.unwrap_err();
    assert_eq!(refused.reply.unwrap().status, 400);
    assert!(reading.findings().refused.is_empty());
}

#[tokio::test]
async fn days_are_asked_for_what_accounts_have() {
    // The metrics of `user_account/analytics` in the same description.
    let known = &[
        "ENGAGEMENT",
        "ENGAGEMENT_RATE",
        "IMPRESSION",
        "OUTBOUND_CLICK",
        "OUTBOUND_CLICK_RATE",
        "PIN_CLICK",
        "PIN_CLICK_RATE",
        "SAVE",
        "SAVE_RATE",
    ];
    let report = |asked: &[&str]| -> Value {
        let told: Map<_, _> =
            asked.iter().map(|name| ((*name).to_owned(), json!(name.len()))).collect();
        let date = test_server::at(0).date_naive().to_string();
        json!({"all": {"daily_metrics": [{"date": date, "data_status": "READY", "metrics": told}]}})
    };
    let network = Network::start(taking(known, report)).await;
    let (first, skipped) = (session(&network), BTreeSet::new());
    let reading = FetchContext::new(&first, &Free, &skipped);
    let read = MetricsReader.days(&reading, &[day()]).await.unwrap().remove(0);
    assert_eq!((read.numbers[name::VIEWS], read.numbers[name::SAVES]), (Ok(10), Ok(4)));
    assert_eq!(read.numbers[name::CLICKS], Ok(9 + 14));
    assert!(!read.numbers.contains_key(name::PROFILE_VIEWS));
    assert_eq!(network.seen().len(), 1);
    // One that Pinterest no longer takes costs itself, and the days stay.
    let network = Network::start(taking(&["IMPRESSION", "SAVE"], report)).await;
    let second = session(&network);
    let reading = FetchContext::new(&second, &Free, &skipped);
    let read = MetricsReader.days(&reading, &[day()]).await.unwrap().remove(0);
    assert_eq!((read.numbers[name::VIEWS], read.numbers[name::SAVES]), (Ok(10), Ok(4)));
    assert_eq!(read.numbers["pinterest_engagements"], Err(MissingReason::Platform));
}
