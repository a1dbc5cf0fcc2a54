//! Versions of networks' APIs: what the service says of their ends, and raising one without a release.

use std::{process::Command, time::Duration};

use fanfare_tests::{Operator, Options, TestApp};
use serde_json::{Value, json};

use crate::service::{Dir, Service, eventually};

/// What raises the versions, and the permissions of the app at LinkedIn.
const RAISED: [(&str, &str); 7] = [
    ("FANFARE_GRAPH_VERSION", "v27.0"),
    ("FANFARE_FACEBOOK_CLIENT_ID", "1"),
    ("FANFARE_FACEBOOK_CLIENT_SECRET", "s"),
    ("FANFARE_LINKEDIN_VERSION", "202609"),
    ("FANFARE_LINKEDIN_SCOPES", "r_member_postAnalytics"),
    ("FANFARE_LINKEDIN_CLIENT_ID", "1"),
    ("FANFARE_LINKEDIN_CLIENT_SECRET", "s"),
];

/// The milliseconds of a day.
const DAY: i64 = 86_400_000;

/// Returns the begin of a day, such as 2027-08-16, in Unix milliseconds.
fn begin_of(day: &str) -> i64 {
    let time = humantime::parse_rfc3339(&format!("{day}T00:00:00Z")).expect("a day");
    let since = time.duration_since(std::time::UNIX_EPOCH).expect("a day after 1970");
    i64::try_from(since.as_millis()).expect("a day of this age")
}

fn one<'a>(platforms: &'a Value, id: &str) -> &'a Value {
    let mut all = platforms["platforms"].as_array().unwrap().iter();
    all.find(|one| one["id"] == id).unwrap()
}

#[tokio::test]
async fn a_raised_version_is_used_and_told_as_not_tested() {
    let dir = Dir::new();
    let service = Service::start(&dir, true, &RAISED);
    let user = service.user();
    let platforms = user.get("/api/v1/platforms").await.expect(200).body;
    let facebook = one(&platforms, "facebook");
    assert_eq!(facebook["api_version"]["version"], "v27.0");
    // Meta has announced no end of it.
    assert_eq!(facebook["api_version"]["ends"], Value::Null);
    assert_eq!(facebook["api_version"]["ends_basis"], "none");
    let linkedin = one(&platforms, "linkedin");
    assert_eq!(linkedin["api_version"]["version"], "202609");
    let scopes = linkedin["scopes"].as_array().unwrap();
    assert!(scopes.contains(&json!("r_member_postAnalytics")), "{scopes:?}");
    assert!(scopes.contains(&json!("w_member_social")), "beside the usual ones: {scopes:?}");
    // The newer version is asked for.
    let account = user.connect("facebook").await;
    let post = user.publish(json!({"account_id": account, "caption": "Hello"})).await;
    let path = format!("/api/v1/posts/{}", post["id"]);
    eventually("the post is published", || async {
        let shown = user.get(&path).await.expect(200).body["post"].clone();
        (shown["status"] == "published").then_some(())
    })
    .await;

    let mut doctor = Command::new(env!("CARGO_BIN_EXE_fanfare"));
    let told = doctor.arg("doctor").env("FANFARE_DATA_DIR", &*dir).envs(RAISED).output().unwrap();
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    for wanted in [
        "version v27.0 of Facebook's API is not tested with this release, which was made for v26.0",
        "version 202609 of LinkedIn's API is not tested with this release, which was made for 202608",
    ] {
        assert!(told.contains(wanted), "{told}");
    }
}

/// The page says it three times, each time more urgently, as `doctor` and the alarm do by their own tests.
#[tokio::test]
async fn operators_see_that_a_version_ends() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let platforms = user.get("/api/v1/platforms").await.expect(200).body;
    let ends = one(&platforms, "linkedin")["api_version"]["ends"].as_str().unwrap().to_owned();
    let ends = begin_of(&ends);
    for (days, told) in [(181, ""), (179, "before"), (59, "soon"), (13, "now")] {
        let at = ends - days * DAY;
        let by = u64::try_from(at - app.domain.clock.now()).expect("the end is far away");
        app.pass_time(Duration::from_millis(by)).await;
        let mut ada = Operator::log_in(&app, &format!("ada{days}@example.com")).await;
        let page = ada.get("/admin/platforms").await.expect(200).html;
        let row = page.split("<tr").find(|row| row.contains("202608")).expect("LinkedIn's row");
        let shown = format!("ends in {days} days");
        assert!(
            row.contains(&shown) || row.contains(&format!("ends in {} days", days - 1)),
            "{row}"
        );
        let remedy = format!("update Fanfare {told}");
        assert_eq!(row.contains("update Fanfare"), !told.is_empty(), "{days}: {row}");
        assert!(told.is_empty() || row.contains(&remedy), "{days}: {row}");
    }
}
