//! Published, but others see it than it was meant for: what a network says of that stands on the post, and on the page of operators.
//! Where it does not tell, they learn what to look at, and what a look without a log-in has shown.

use fanfare_tests::{Operator, Picture, TestApp, User, networks};
use serde_json::{Value, json};
use tokio::sync::Mutex;

/// What is asked for, what the network does (`all`, or the author alone), and the difference that it says.
type Case = (&'static str, &'static str, &'static str, Option<(&'static str, &'static str)>);

const YOUTUBE: &str = "privacy_status";
const MASTODON: &str = "visibility";
const TIKTOK: &str = "privacy_level";
/// Asked of LinkedIn, which has one audience: a video of a page.
const VIDEO: &str = "video";

/// Asked × given for each network that has visibility. The first name is that of the network, the second the audience.
const CASES: [Case; 26] = [
    ("youtube", "public", "all", None),
    ("youtube", "unlisted", "all", None),
    ("youtube", "private", "all", None),
    ("youtube", "public", "author", Some(("public", "private"))),
    ("youtube", "unlisted", "author", Some(("unlisted", "private"))),
    ("youtube", "private", "author", None),
    ("mastodon", "public", "all", None),
    ("mastodon", "unlisted", "all", None),
    ("mastodon", "private", "all", None),
    ("mastodon", "public", "author", Some(("public", "private"))),
    ("mastodon", "unlisted", "author", Some(("unlisted", "private"))),
    ("mastodon", "private", "author", None),
    ("tiktok", "PUBLIC_TO_EVERYONE", "all", None),
    ("tiktok", "SELF_ONLY", "all", None),
    ("tiktok", "PUBLIC_TO_EVERYONE", "author", Some(("PUBLIC_TO_EVERYONE", "nobody"))),
    ("tiktok", "SELF_ONLY", "author", None),
    ("wordpress", "", "all", None),
    ("wordpress", "", "author", Some(("publish", "pending"))),
    ("google_business", "", "all", None),
    ("google_business", "", "author", Some(("public", "nobody"))),
    ("lemmy", "", "all", None),
    ("lemmy", "", "author", Some(("public", "nobody"))),
    // A page's video is read once more.
    ("linkedin", VIDEO, "all", None),
    ("linkedin", VIDEO, "author", Some(("PUBLIC", "CONNECTIONS"))),
    // Nothing in the answers tells.
    ("linkedin", "", "author", None),
    ("pinterest", "", "author", None),
];

/// A page on LinkedIn, whose posts an app may read.
async fn page(user: &User) -> i64 {
    let body = json!({"platform": "linkedin", "kind": "page"});
    let made = user.post("/api/v1/sandbox/accounts", body).await.expect(201).body;
    made["account"]["id"].as_i64().unwrap()
}

async fn publish(app: &TestApp, user: &User, platform: &str, asked: &str, given: &str) -> Value {
    let account = if asked == VIDEO { page(user).await } else { user.connect(platform).await };
    let remote = networks::newest_account(app, platform).await;
    // A location is named with its account.
    app.simulator.behave(platform, &remote, &json!({ "visibility": given })).await;
    let mut body = networks::post(platform, account);
    if asked == VIDEO {
        let file = Picture::lasting().video("square");
        Picture::make(std::slice::from_ref(&file)).await;
        body["media_urls"] = json!([file]);
    }
    let setting = match platform {
        "youtube" => YOUTUBE,
        "mastodon" => MASTODON,
        "tiktok" => TIKTOK,
        _ => "",
    };
    if !setting.is_empty() {
        body["settings"][setting] = json!(asked);
    }
    let post = networks::publish(app, user, body).await;
    assert_eq!(user.on_network(platform, account).await.len(), 1, "{platform}");
    post
}

#[tokio::test]
async fn a_post_that_others_see_than_asked_for_says_so() {
    let app = TestApp::start().await;
    for (platform, asked, given, difference) in CASES {
        let story = format!("{platform}: {asked:?} asked, seen by {given}");
        let user = app.user().await;
        let post = publish(&app, &user, platform, asked, given).await;
        assert_eq!(post["status"], "published", "{story}: {post:#}");
        let warnings = post["warnings"].as_array().unwrap();
        let told: Vec<_> =
            warnings.iter().filter(|one| one["code"] == "visibility_differs").collect();
        let Some((asked, given)) = difference else {
            assert!(told.is_empty(), "{story}: {told:#?}");
            continue;
        };
        assert_eq!(told.len(), 1, "{story}: {post:#}");
        let parameters = &told[0]["parameters"];
        assert_eq!((&parameters["asked"], &parameters["given"]), (&json!(asked), &json!(given)));
        let message = told[0]["message"].as_str().unwrap();
        assert!(message.contains("fewer people see it"), "{story}: {message}");
        assert!(message.matches(". ").count() >= 2, "{story}: a cause and a remedy: {message}");
    }
}

/// Waits until the operators' page shows this text in the row of a network.
async fn operators_see(app: &TestApp, operator: &Mutex<Operator>, platform: &str, text: &str) {
    app.eventually(&format!("operators see {text:?} of {platform}"), || async {
        let page = operator.lock().await.get("/admin/platforms").await.expect(200).html;
        let mut rows = page.split("<tr");
        let row =
            rows.find(|row| row.contains(&format!("<strong>{platform}</strong>")))?.to_owned();
        row.contains(text).then_some(())
    })
    .await;
}

#[tokio::test]
async fn operators_see_what_others_do_not() {
    let app = TestApp::start().await;
    let operator = Mutex::new(Operator::log_in(&app, "ops@example.org").await);
    operators_see(&app, &operator, "youtube", "as asked").await;
    publish(&app, &app.user().await, "youtube", "public", "author").await;
    operators_see(&app, &operator, "youtube", "1 not as asked").await;
    operators_see(&app, &operator, "facebook", "the platform does not say").await;
    publish(&app, &app.user().await, "facebook", "", "author").await;
    operators_see(&app, &operator, "facebook", "development mode").await;
    operators_see(&app, &operator, "facebook", "did not show the post").await;
    publish(&app, &app.user().await, "pinterest", "", "all").await;
    operators_see(&app, &operator, "pinterest", "showed the post").await;
    operators_see(&app, &operator, "pinterest", "trial access").await;
}

/// An app with trial access may be refused: that is the operator's to mend, and no fault of the account.
#[tokio::test]
async fn a_trial_of_the_app_is_no_fault_of_the_account() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("pinterest").await;
    let remote = networks::newest_account(&app, "pinterest").await;
    let body = json!({
        "code": 29, "message": "Apps with Trial access may not create Pins in production.",
    });
    let refused = json!({"answers": [{"on": "commit", "status": 403, "body": body}]});
    app.simulator.behave("pinterest", &remote, &refused).await;
    let post = networks::publish(&app, &user, networks::post("pinterest", account)).await;
    assert_eq!(
        (&post["status"], &post["error"]["code"]),
        (&json!("failed"), &json!("misconfigured"))
    );
    assert_eq!(post["error"]["retry_safe"], true, "{post:#}");
    let accounts = user.get("/api/v1/accounts").await.expect(200).body["accounts"].clone();
    assert_eq!(accounts[0]["status"], "connected", "{accounts:#}");
}
