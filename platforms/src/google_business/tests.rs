//! Posts against a network on loopback: what is sent, how a post is looked over, what is told of a lost answer, which
//! locations are found, and the table of errors.

use serde_json::{Value, json};

use super::{GoogleBusiness, error::parse_error};
use crate::{
    Draft, ErrorKind, Phase, Platform, Progress, PublishedPost, ReconcileOutcome, Secrets, Session,
    tests::test_server::{self, Network},
    validate::validate,
};

const LOCATION: &str = "accounts/11/locations/22";
const NAME: &str = "accounts/11/locations/22/localPosts/33";

fn session(network: &Network) -> Session {
    let secrets = Secrets::new().with("access_token", "ya29.token").with("location", LOCATION);
    network.session(test_server::account("22", json!({})), secrets)
}

fn post(kind: &str, settings: Value) -> Draft {
    Draft { post_type: kind.to_owned(), ..test_server::draft("Come and see", settings) }
}

fn event() -> Value {
    json!({"title": "Evening", "schedule": {
        "start_date": {"year": 2031, "month": 3, "day": 7}, "start_time": {"hours": 19},
        "end_date": {"year": 2031, "month": 3, "day": 8},
    }})
}

/// Publishes to the end; returns the steps and the result.
async fn walk(network: &Network, draft: &Draft) -> (Vec<String>, crate::Result<PublishedPost>) {
    let (session, mut state, mut steps) = (session(network), None, Vec::new());
    loop {
        assert!(steps.len() < 20, "{steps:?}");
        let step = GoogleBusiness.step(draft, state.as_ref());
        steps.push(format!("{} {}", step.phase.as_str(), step.name));
        match GoogleBusiness.publish(&session, draft, state).await {
            Ok(Progress::Done(published)) => return (steps, Ok(published)),
            Ok(Progress::Continue { state: next, .. }) => state = Some(next),
            Err(error) => return (steps, Err(error)),
        }
    }
}

#[tokio::test]
async fn news_are_one_call() {
    let made = json!({"name": NAME, "state": "LIVE", "searchUrl": "https://local.example/33"});
    let network = Network::start(move |_| (200, made.clone())).await;
    let mut draft = post(
        "standard",
        json!({"language_code": "en", "call_to_action": {"action_type": "SHOP", "url": "https://example.org/"}}),
    );
    draft.media = vec![test_server::media("a.jpg", "image/jpeg")];
    let (steps, made) = walk(&network, &draft).await;
    assert_eq!(steps, ["commit create_local_post"]);
    let made = made.unwrap();
    assert_eq!((made.id.as_str(), made.url.as_deref()), (NAME, Some("https://local.example/33")));
    let seen = &network.seen()[0];
    assert_eq!(seen.line, format!("POST /net/v4/{LOCATION}/localPosts"));
    assert!(seen.head.contains("authorization: bearer ya29.token"));
    assert_eq!(
        seen.json(),
        json!({
            "topicType": "STANDARD", "languageCode": "en", "summary": "Come and see",
            "callToAction": {"actionType": "SHOP", "url": "https://example.org/"},
            "media": [{"mediaFormat": "PHOTO", "sourceUrl": "https://media.example.org/a.jpg"}],
        })
    );
}

#[tokio::test]
async fn an_offer_says_when_and_how_and_what_repeats_is_passed_on() {
    let network = Network::start(|_| (200, json!({"name": NAME, "state": "LIVE"}))).await;
    let repeats = json!({"weeklyPattern": {"daysOfWeek": ["FRIDAY"]}});
    let settings = json!({
        "event": event(), "recurrence_info": repeats,
        "offer": {"coupon_code": "CRANE", "redeem_online_url": "https://example.org/", "terms_conditions": "One each"},
    });
    let (_, made) = walk(&network, &post("offer", settings)).await;
    assert!(made.unwrap().url.unwrap().ends_with("/locations/22"));
    let body = network.seen()[0].json();
    assert_eq!((&body["topicType"], body.get("recurrenceInfo")), (&json!("OFFER"), None));
    assert_eq!(
        body["event"],
        json!({"title": "Evening", "schedule": {
            "startDate": {"year": 2031, "month": 3, "day": 7}, "startTime": {"hours": 19, "minutes": 0},
            "endDate": {"year": 2031, "month": 3, "day": 8},
        }, "recurrenceInfo": repeats})
    );
    assert_eq!(
        body["offer"],
        json!({"couponCode": "CRANE", "redeemOnlineUrl": "https://example.org/", "termsConditions": "One each"})
    );
}

#[tokio::test]
async fn a_post_is_looked_over_before_it_is_public() {
    for (end, is_public) in [("LIVE", true), ("REJECTED", false)] {
        let mut asked = 0;
        let network = Network::start(move |seen| {
            asked += usize::from(seen.line.starts_with("GET"));
            let state = if asked < 2 { "PROCESSING" } else { end };
            (200, json!({"name": NAME, "state": state}))
        })
        .await;
        let (steps, made) = walk(&network, &post("standard", json!({}))).await;
        assert_eq!(
            steps[..3],
            ["commit create_local_post", "confirm look_at_state", "confirm look_at_state"]
        );
        match made {
            Ok(made) => assert!(is_public && made.id == NAME),
            Err(error) => assert!(!is_public && error.kind == ErrorKind::Rejected, "{error:?}"),
        }
    }
}

#[tokio::test]
async fn google_is_not_asked_for_ever_and_a_later_try_begins_anew() {
    let network = Network::start(|_| (200, json!({"name": NAME, "state": "PROCESSING"}))).await;
    let draft = post("standard", json!({}));
    let mut later = session(&network);
    let state = json!({"look": {"name": NAME, "since": later.now}});
    later.now += chrono::TimeDelta::minutes(6);
    let done = GoogleBusiness.publish(&later, &draft, Some(state)).await.unwrap();
    assert!(matches!(done, Progress::Done(_)), "{done:?}");
    let state = json!({"rejected": {"since": test_server::at(0)}});
    let again = GoogleBusiness.publish(&later, &draft, Some(state)).await.unwrap();
    let Progress::Continue { state, .. } = again else { panic!("{again:?}") };
    assert_eq!(GoogleBusiness.step(&draft, Some(&state)).phase, Phase::Commit);
    let refused = Network::start(|_| (200, json!({"name": NAME, "state": "REJECTED"}))).await;
    assert_eq!(walk(&refused, &draft).await.1.unwrap_err().kind, ErrorKind::Rejected);
}

#[tokio::test]
async fn a_lost_post_is_looked_for_among_the_latest() {
    let made = |id: &str, summary: &str, kind: &str, seconds: i64| {
        let at = test_server::at(seconds).to_rfc3339();
        json!({"name": format!("{LOCATION}/localPosts/{id}"), "summary": summary, "topicType": kind, "state": "LIVE", "createTime": at})
    };
    let posts = json!([
        made("1", "Another", "STANDARD", 3),
        made("2", "Come and see", "EVENT", -700),
        made("3", "Come and see", "STANDARD", 4),
        made("4", "Come and see", "STANDARD", -9_000),
    ]);
    let network = Network::start(move |_| (200, json!({"localPosts": posts}))).await;
    let (session, draft) = (session(&network), post("standard", json!({})));
    let found = GoogleBusiness.reconcile(&session, &draft, None, test_server::at(0)).await.unwrap();
    let found = test_server::settled(found);
    let ReconcileOutcome::Committed(Progress::Done(PublishedPost { id, .. })) = found else {
        panic!("{found:?}")
    };
    assert!(id.ends_with("/3"));
    let other = Draft { caption: "Unseen".to_owned(), ..draft.clone() };
    let found = GoogleBusiness.reconcile(&session, &other, None, test_server::at(0)).await.unwrap();
    assert!(matches!(test_server::settled(found), ReconcileOutcome::NotCommitted));
    assert_eq!(network.seen()[0].query("pageSize"), Some("100"));
}

#[tokio::test]
async fn all_locations_are_found_once() {
    let network = Network::start(|seen| {
        let location = |id: &str, title: &str| {
            json!({"name": format!("locations/{id}"), "title": title,
                "storefrontAddress": {"addressLines": ["1 Fold Street"], "locality": "Kyoto"},
                "metadata": {"canOperateLocalPost": id != "9", "placeId": "p"}})
        };
        let body = match (seen.line.as_str(), seen.query("pageToken")) {
            ("GET /net/v1/accounts", _) => {
                json!({"accounts": [{"name": "accounts/1"}, {"name": "accounts/11"}]})
            }
            ("GET /net/v1/accounts/1/locations", None) => {
                json!({"locations": [location("22", "Cranes")], "nextPageToken": "more"})
            }
            ("GET /net/v1/accounts/1/locations", Some(_)) => {
                json!({"locations": [location("9", "Chain")]})
            }
            _ => json!({"locations": [location("22", "Cranes")]}),
        };
        (200, body)
    })
    .await;
    let fresh = Session { secrets: Secrets::new().with("access_token", "t"), ..session(&network) };
    let found = GoogleBusiness.identities(&fresh).await.unwrap();
    let ids: Vec<_> = found.iter().map(|one| one.remote_id.as_str()).collect();
    assert_eq!(ids, ["22", "9"]);
    assert_eq!(found[0].display_name.as_deref(), Some("Cranes, 1 Fold Street, Kyoto"));
    assert_eq!(found[1].secrets.expose("location"), "accounts/1/locations/9");
    let chain = test_server::account("9", Value::Object(found[1].meta.clone()));
    assert_eq!(GoogleBusiness.account_violation(&chain).unwrap().code, "location_cannot_post");
    assert!(GoogleBusiness.account_violation(&test_server::account("22", json!({}))).is_none());
    // The session of an account names its location; here another account reached it first.
    let known = GoogleBusiness.verify(&session(&network)).await.unwrap();
    assert_eq!(known.secrets.expose("location"), "accounts/1/locations/22");
    let gone = Secrets::new().with("access_token", "t").with("location", "accounts/1/locations/7");
    let gone = Session { secrets: gone, ..session(&network) };
    let refused = GoogleBusiness.verify(&gone).await.unwrap_err();
    assert_eq!(refused.kind, ErrorKind::InvalidCredentials);
    let nobody = Network::start(|_| (200, json!({}))).await;
    let refused = GoogleBusiness.identities(&session(&nobody)).await.unwrap_err();
    assert_eq!(refused.kind, ErrorKind::InvalidCredentials);
}

#[tokio::test]
async fn errors_say_what_to_do() {
    let network = Network::start(|_| (200, json!({}))).await;
    let session = session(&network);
    let info = |reason: &str, quota: &str| json!([{"reason": reason, "metadata": {"quota_limit_value": quota}}]);
    let about =
        |field: &str| json!([{"errorDetails": [{"field": field, "message": "Fetching failed"}]}]);
    for (status, word, details, kind) in [
        (401, "UNAUTHENTICATED", json!([]), ErrorKind::TokenExpired),
        (403, "PERMISSION_DENIED", json!([]), ErrorKind::Reconnect),
        (403, "PERMISSION_DENIED", info("SERVICE_DISABLED", ""), ErrorKind::Misconfigured),
        (
            403,
            "PERMISSION_DENIED",
            info("ACCESS_TOKEN_SCOPE_INSUFFICIENT", ""),
            ErrorKind::Reconnect,
        ),
        (404, "NOT_FOUND", json!([]), ErrorKind::TargetGone),
        (400, "INVALID_ARGUMENT", json!([]), ErrorKind::Rejected),
        (400, "INVALID_ARGUMENT", about("media[0].source_url"), ErrorKind::MediaRejected),
        (409, "ABORTED", json!([]), ErrorKind::Transient),
        (429, "RESOURCE_EXHAUSTED", json!([]), ErrorKind::RateLimited),
        (429, "RESOURCE_EXHAUSTED", info("RATE_LIMIT_EXCEEDED", "0"), ErrorKind::Misconfigured),
        (500, "INTERNAL", json!([]), ErrorKind::Server),
        (503, "UNAVAILABLE", json!([]), ErrorKind::Server),
    ] {
        let body = json!({"error": {"code": status, "status": word, "message": "Of ya29.token.", "details": details}});
        let error = parse_error(&session, &test_server::reply(status, &[], &body));
        assert_eq!(error.kind, kind, "{status} {word}");
        assert!(!format!("{error:?}").contains("ya29.token"), "{error:?}");
        assert_eq!(error.retry_after.is_some(), kind == ErrorKind::RateLimited, "{word}");
    }
}

#[test]
fn what_does_not_go_together_is_told() {
    let broken = |kind: &str, settings: Value| {
        let found = validate(&GoogleBusiness, &crate::Account::default(), &post(kind, settings));
        found.into_iter().map(|one| (one.field, one.code)).collect::<Vec<_>>()
    };
    let invalid = |name: &str| vec![(format!("settings.{name}"), "setting_invalid")];
    let button = |kind: &str, url: bool| {
        let mut button = json!({"action_type": kind});
        if url {
            button["url"] = json!("https://example.org/");
        }
        json!({"call_to_action": button})
    };
    assert_eq!(broken("standard", button("CALL", false)), []);
    assert_eq!(broken("standard", button("CALL", true)), invalid("call_to_action.url"));
    assert_eq!(broken("standard", button("BOOK", false)), invalid("call_to_action.url"));
    assert_eq!(broken("standard", json!({"event": event()})), invalid("event"));
    assert_eq!(broken("event", json!({"event": event(), "offer": {}})), invalid("offer"));
    assert_eq!(broken("standard", json!({"recurrence_info": {}})), invalid("recurrence_info"));
    assert_eq!(broken("standard", json!({"language_code": "en_US"})), invalid("language_code"));
    let required = vec![("settings.event".to_owned(), "setting_required")];
    assert_eq!(broken("event", json!({})), required);
    assert_eq!(broken("offer", json!({})), required);
    let mut offer = button("SHOP", true);
    offer["event"] = event();
    assert_eq!(broken("offer", offer), invalid("call_to_action"));
    let dated = |name: &str, day: Value| {
        let mut event = event();
        event["schedule"][name] = day;
        broken("event", json!({ "event": event }))
    };
    let no_day = json!({"year": 2031, "month": 2, "day": 30});
    assert_eq!(dated("start_date", no_day), invalid("event.schedule.start_date"));
    let early = json!({"year": 2031, "month": 3, "day": 6});
    assert_eq!(dated("end_date", early), invalid("event.schedule.end_date"));
    assert_eq!(dated("end_date", json!({"year": 2031, "month": 3, "day": 7})), []);
    let mut small = post("standard", json!({}));
    small.media = vec![test_server::media("a.jpg", "image/jpeg")];
    for (size, expected) in [((400, 300), 0), ((400, 299), 1), ((399, 300), 1)] {
        small.media[0].dimensions = Some(size);
        let found = validate(&GoogleBusiness, &crate::Account::default(), &small);
        assert_eq!(found.len(), expected, "{size:?}: {found:?}");
    }
    let silent = Draft { caption: String::new(), ..post("event", json!({"event": event()})) };
    assert_eq!(validate(&GoogleBusiness, &crate::Account::default(), &silent).to_vec(), []);
}

#[tokio::test]
async fn a_review_of_an_unknown_form_costs_itself_alone() {
    let review = |name: &str| {
        json!({
            "name": name, "starRating": "FIVE", "comment": "Good",
            "createTime": "2030-01-01T00:00:00Z", "updateTime": "2030-01-01T00:00:00Z",
        })
    };
    let strange = json!({"name": "reviews/2", "createTime": "yesterday"});
    let listed = json!({"reviews": [review("reviews/1"), strange, review("reviews/3")]});
    let network = Network::start(move |_| (200, listed.clone())).await;
    let business = GoogleBusiness.business_profile().unwrap();
    let read = business.reviews(&session(&network), None).await.unwrap();
    let names: Vec<_> = read.page.items.iter().map(|one| one.name.as_str()).collect();
    assert_eq!((names.as_slice(), read.unread), (["reviews/1", "reviews/3"].as_slice(), 1));
}
