//! Operators: who gets in, what they can hold back, and what is written down of it.

use std::time::Duration;

use fanfare_entities::{PostId, post};
use fanfare_ops::ops::{audit, fleet, pauses};
use fanfare_tests::{Operator, Options, Receiver, TestApp, User, operator::PASSWORD};
use sea_orm::{ActiveModelTrait, ActiveValue::NotSet, EntityTrait};
use serde_json::{Value, json};

const PAGES: &[&str] = &[
    "/admin",
    "/admin/queues",
    "/admin/work",
    "/admin/work/post/1",
    "/admin/fleet",
    "/admin/platforms",
    "/admin/webhooks",
    "/admin/waiting",
    "/admin/audit",
    "/admin/act/pause?target=all",
    "/admin/live/queues",
    "/admin/live/work/post/1",
    "/admin/nowhere/at/all",
];

async fn quiet() -> TestApp {
    TestApp::with(Options { workers: false, ..Options::default() }).await
}

#[tokio::test]
async fn nobody_sees_anything_without_a_log_in() {
    let app = quiet().await;
    let mut nobody = Operator::nobody(&app);
    for page in PAGES {
        let sent = nobody.get(page).await.expect(303);
        assert!(sent.location.starts_with("/admin/login"), "{page}: {}", sent.location);
        assert!(sent.html.is_empty());
    }
    let order = [("target", "all".to_owned()), ("reason", "x".to_owned())];
    // Whatever was typed comes back, with the way to log in.
    let sent = nobody.send("/admin/act/pause", &order).await.expect(401);
    assert!(sent.html.contains("/admin/login"), "{}", sent.html);
    // A user's key, however powerful, is no log-in.
    let user = app.user().await;
    assert!(!user.get("/admin/audit").await.text.contains("Audit log"));
    assert!(pauses::list(&app.domain).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_wrong_password_is_refused_and_tries_are_limited() {
    let app = quiet().await;
    Operator::log_in(&app, "ada@example.com").await;
    let mut visitor = Operator::nobody(&app);
    for (email, password) in
        [("ada@example.com", "wrong"), ("nobody@example.com", PASSWORD), ("", "")]
    {
        let refused = visitor.try_password(email, password).await.expect(401);
        assert!(refused.html.contains("The address or the password is wrong."));
        assert!(!visitor.cookie.contains("fanfare_operator"));
    }
    for _ in 0..4 {
        let _ = visitor.try_password("Ada@example.com ", "wrong").await.expect(401);
    }
    // Also the right one: who guesses learns nothing from a sixth try.
    let _ = visitor.try_password("ada@example.com", PASSWORD).await.expect(429);
    app.advance(Duration::from_secs(16 * 60));
    let _ = visitor.try_password("ada@example.com", PASSWORD).await.expect(303);
}

#[tokio::test]
async fn a_form_of_another_log_in_or_none_does_nothing() {
    let app = quiet().await;
    let mut ada = Operator::log_in(&app, "ada@example.com").await;
    let mut bob = Operator::log_in(&app, "bob@example.com").await;
    let form = bob.get("/admin/act/pause?target=all").await.expect(200);
    let order = |csrf: String| {
        [
            ("csrf", csrf),
            ("order", form.hidden("order")),
            ("target", "all".into()),
            ("reason", "x".into()),
        ]
    };
    for csrf in [form.hidden("csrf"), String::new(), "0".repeat(64)] {
        let refused = ada.send("/admin/act/pause", &order(csrf)).await.expect(400);
        assert!(refused.html.contains("was not made for your log-in"));
    }
    assert!(pauses::list(&app.domain).await.unwrap().is_empty());
    let _ = bob.send("/admin/act/pause", &order(form.hidden("csrf"))).await.expect(303);
    assert_eq!(pauses::list(&app.domain).await.unwrap()[0].operator, "bob@example.com");
}

#[tokio::test]
async fn a_log_in_ends_by_logging_out_by_time_and_by_a_new_password() {
    let app = quiet().await;
    let mut ada = Operator::log_in(&app, "ada@example.com").await;
    let mut copy = ada.clone();
    let csrf = ada.get("/admin/fleet").await.expect(200).hidden("csrf");
    let _ = ada.send("/admin/logout", &[("csrf", csrf)]).await.expect(303);
    let _ = copy.get("/admin/fleet").await.expect(303);
    let mut ada = Operator::log_in(&app, "ada@example.com").await;
    let mut other = Operator::log_in(&app, "ada@example.com").await;
    let _ = ada.get("/admin/fleet").await.expect(303);
    let _ = other.get("/admin/fleet").await.expect(200);
    app.advance(Duration::from_secs(12 * 3_600));
    let _ = other.get("/admin/fleet").await.expect(303);
}

#[tokio::test]
async fn many_are_sent_again_and_none_twice_without_saying_so() {
    let app = TestApp::start().await;
    let mut ada = Operator::log_in(&app, "ada@example.com").await;
    let user = app.user().await;
    let (account, sky) = (user.connect("telegram").await, user.connect("bluesky").await);
    let fault = |kind: &str| json!([{"on": "commit", "kind": kind, "status": 400}]);
    user.faults("bluesky", sky, fault("status")).await;
    let safe = user.publish(json!({"account_id": sky, "caption": "Refused"})).await["id"]
        .as_i64()
        .unwrap();
    app.wait_for_status(&user, safe, &["failed"]).await;
    user.faults("telegram", account, fault("drop_after_change")).await;
    let risky = user.publish(json!({"account_id": account, "caption": "Unknown"})).await["id"]
        .as_i64()
        .unwrap();
    let unknown = app.wait_for_status(&user, risky, &["failed"]).await;
    assert_eq!(unknown["error"]["code"], "outcome_unknown");
    let preview = ada.get("/admin/act/retry?status=failed").await.expect(200);
    assert!(preview.html.contains("Send 1 failed post again?"), "{}", preview.html);
    assert!(preview.html.contains("1 may be public already"));
    assert!(preview.html.contains("1 failed for a reason that sending them again does not fix"));
    assert!(preview.html.contains(&format!("name=\"risk\" value=\"{risky}\"")));
    assert!(!preview.html.contains(&format!("name=\"risk\" value=\"{safe}\"")));
    let (safe_id, risky_id) = (safe.to_string(), risky.to_string());
    let both = [("post", safe_id.as_str()), ("post", risky_id.as_str())];
    let done = ada.act("retry", &both, "The network is back").await;
    assert!(done.html.contains("Sent again: 1. Left out: 1."), "{}", done.html);
    app.wait_for_status(&user, safe, &["published"]).await;
    assert_eq!(user.on_network("telegram", account).await.len(), 1);
    let said = [("post", risky_id.as_str()), ("risk", risky_id.as_str())];
    ada.act("retry", &said, "It is not in the channel").await;
    app.wait_for_status(&user, risky, &["published"]).await;
    assert_eq!(user.on_network("telegram", account).await.len(), 2);
}

#[tokio::test]
async fn an_order_sent_twice_is_carried_out_once_and_written_down() {
    let app = quiet().await;
    let mut ada = Operator::log_in(&app, "ada@example.com").await;
    let form = ada.get("/admin/act/pause?target=platform:threads").await.expect(200);
    let mut order = vec![
        ("csrf", form.hidden("csrf")),
        ("order", form.hidden("order")),
        ("target", "platform:threads".to_owned()),
        ("reason", "  ".to_owned()),
    ];
    let refused = ada.send("/admin/act/pause", &order).await.expect(400);
    assert!(refused.html.contains("A reason is needed."));
    order[3].1 = "Quota <b>gone</b>".to_owned();
    let _ = ada.send("/admin/act/pause", &order).await.expect(303);
    ada.act("resume", &[("target", "platform:threads")], "Again").await;
    // The browser sends the first form once more: nothing is paused by it.
    let again = ada.send("/admin/act/pause", &order).await.expect(303);
    let said = ada.get(&again.location).await.expect(200).html;
    assert!(
        said.contains("nothing was done now") && said.contains("Paused publishing to threads.")
    );
    let other = ada.send("/admin/act/resume", &order).await.expect(409);
    assert!(other.html.contains("already used for another action"), "{}", other.html);
    assert!(pauses::list(&app.domain).await.unwrap().is_empty());
    let log = audit::list(&app.domain, None).await.unwrap().entries;
    let acts: Vec<_> = log.iter().map(|entry| entry.action.as_str()).collect();
    assert_eq!(acts, ["resume", "pause", "log_in", "operator"]);
    assert_eq!(
        (log[1].operator.as_str(), log[1].target.as_str()),
        ("ada@example.com", "platform:threads")
    );
    assert!(log[1].request_id.starts_with("req_"));
    let page = ada.get("/admin/audit").await.expect(200);
    assert!(page.html.contains("Quota &lt;b&gt;gone&lt;/b&gt;") && !page.html.contains("<b>gone"));
}

#[tokio::test]
async fn a_webhook_that_failed_is_sent_again_what_it_did_not_hear() {
    let app = TestApp::start().await;
    let mut ada = Operator::log_in(&app, "ada@example.com").await;
    let user = app.user().await;
    let receiver = Receiver::start().await;
    receiver.respond_with(410);
    let url = format!("{}?token=secret", receiver.url);
    let hook = json!({"url": url, "events": ["*"]});
    let hook = user.post("/api/v1/webhooks", hook).await.expect(201).body["webhook"].clone();
    let id = hook["id"].as_str().unwrap();
    let _ = user.post(&format!("/api/v1/webhooks/{id}/test"), json!({})).await.expect(202);
    let page = app
        .eventually("it is disabled", || async {
            let page = ada.clone().get("/admin/webhooks").await.expect(200);
            page.html.contains("410 Gone").then_some(page)
        })
        .await;
    assert!(!page.html.contains("/hook") && !page.html.contains("token=secret"), "{}", page.html);
    receiver.respond_with(200);
    let heard = receiver.received().len();
    let done = ada.act("replay", &[("webhook", id)], "They moved back").await;
    assert!(done.html.contains("Sent again: 1."), "{}", done.html);
    app.eventually("it hears", || async { (receiver.received().len() > heard).then_some(()) })
        .await;
    app.eventually("it is no longer failing", || async {
        ada.clone()
            .get("/admin/webhooks")
            .await
            .html
            .contains("All webhooks receive their deliveries.")
            .then_some(())
    })
    .await;
    // Operators do not enable a webhook that its owner has disabled.
    let off = json!({"enabled": false});
    let _ = user.patch(&format!("/api/v1/webhooks/{id}"), off).await.expect(200);
    let form = ada.get(&format!("/admin/act/replay?webhook={id}")).await.expect(200);
    let order = [
        ("csrf", form.hidden("csrf")),
        ("order", form.hidden("order")),
        ("webhook", id.to_owned()),
        ("reason", "x".to_owned()),
    ];
    let refused = ada.send("/admin/act/replay", &order).await.expect(409);
    assert!(refused.html.contains("only the owner can enable it"));
}

#[tokio::test]
async fn a_delivery_that_waits_for_its_next_try_is_tried_at_once() {
    let app = TestApp::start().await;
    let mut ada = Operator::log_in(&app, "ada@example.com").await;
    let user = app.user().await;
    let receiver = Receiver::start().await;
    receiver.respond_with(500);
    let hook = json!({"url": receiver.url, "events": ["*"]});
    let hook = user.post("/api/v1/webhooks", hook).await.expect(201).body["webhook"].clone();
    let id = hook["id"].as_str().unwrap();
    let _ = user.post(&format!("/api/v1/webhooks/{id}/test"), json!({})).await.expect(202);
    app.eventually("it waits", || async {
        let page = ada.clone().get("/admin/webhooks").await.expect(200);
        page.html.contains("500").then_some(())
    })
    .await;
    receiver.respond_with(200);
    let heard = receiver.received().len();
    let preview = ada.get(&format!("/admin/act/replay?webhook={id}")).await.expect(200);
    assert!(preview.html.contains("1 that wait for their next try"), "{}", preview.html);
    let done = ada.act("replay", &[("webhook", id)], "It hears again").await;
    assert!(done.html.contains("Sent again: 1."), "{}", done.html);
    app.eventually("it hears", || async { (receiver.received().len() > heard).then_some(()) })
        .await;
}

#[tokio::test]
async fn what_is_told_leads_to_its_post_and_a_wrong_address_to_a_page() {
    let app = TestApp::start().await;
    let mut ada = Operator::log_in(&app, "ada@example.com").await;
    let user = app.user().await;
    let receiver = Receiver::start().await;
    let hook = json!({"url": receiver.url, "events": ["post.published"]});
    let _ = user.post("/api/v1/webhooks", hook).await.expect(201);
    let account = user.connect("bluesky").await;
    let post = user.publish(json!({"account_id": account, "caption": "x"})).await;
    let story = format!("/admin/work/post/{}", post["id"]);
    app.wait_for_status(&user, post["id"].as_i64().unwrap(), &["published"]).await;
    let page = ada.get(&story).await.expect(200);
    let (_, delivery) = page.html.split_once("/admin/work/delivery/").expect("it was told");
    let (delivery, _) = delivery.split_once('"').unwrap();
    let page = ada.get(&format!("/admin/work/delivery/{delivery}")).await.expect(200);
    assert!(page.html.contains(&format!("{story}\"")), "{}", page.html);
    let unknown = ["/admin/work/post/1/2/3", "/admin/work/mail/1", "/admin/work/post/one"];
    for wrong in ["/admin/quues", "/admin/live/nothing"].into_iter().chain(unknown) {
        let page = ada.get(wrong).await.expect(404);
        assert!(page.html.contains("Back to the dashboard"), "{wrong}: {}", page.html);
    }
}

/// An account, and a post of it that its network has refused.
async fn refused(app: &TestApp, user: &User) -> (i64, Value) {
    let account = user.connect("bluesky").await;
    let gone = json!([{"on": "commit", "kind": "status", "status": 400}]);
    user.faults("bluesky", account, gone).await;
    let post = user.publish(json!({"account_id": account, "caption": "x"})).await;
    (account, app.wait_for_status(user, post["id"].as_i64().unwrap(), &["failed"]).await)
}

#[tokio::test]
async fn more_failed_posts_than_one_order_takes_are_told_of() {
    let app = TestApp::start().await;
    let mut ada = Operator::log_in(&app, "ada@example.com").await;
    let user = app.user().await;
    let (_, post) = refused(&app, &user).await;
    let id = post["id"].as_i64().unwrap();
    let one = ada.get("/admin/act/retry?status=failed").await.expect(200);
    assert!(!one.html.contains("more match"));
    let db = &app.domain.db.write;
    let row = post::Entity::find_by_id(PostId(id)).one(db).await.unwrap().unwrap();
    let copy = post::ActiveModel { id: NotSet, ..post::ActiveModel::from(row).reset_all() };
    post::Entity::insert_many(vec![copy; 200]).exec(db).await.unwrap();
    let most = ada.get("/admin/act/retry?status=failed").await.expect(200);
    assert!(most.html.contains("Send 200 failed posts again?"));
    assert!(most.html.contains("more match"), "one is left over");
}

#[tokio::test]
async fn draining_says_who_takes_the_share_of_a_worker() {
    let app = TestApp::start().await;
    let mut ada = Operator::log_in(&app, "ada@example.com").await;
    let name = app
        .eventually("a worker is heard of", || async {
            fleet::list(&app.domain).await.unwrap().first().map(|worker| worker.name.clone())
        })
        .await;
    let alone = ada.get(&format!("/admin/act/drain?worker={name}")).await.expect(200);
    assert!(alone.html.contains("No other worker serves"), "{}", alone.html);
    let nobody = ada.get("/admin/act/drain?worker=nobody").await.expect(404);
    assert!(nobody.html.contains("Use a name from the fleet page"), "{}", nobody.html);
}

#[tokio::test]
async fn a_search_finds_by_each_of_its_filters_and_says_what_is_wrong_with_them() {
    let app = TestApp::start().await;
    let mut ada = Operator::log_in(&app, "ada@example.com").await;
    let user = app.user().await;
    let (account, post) = refused(&app, &user).await;
    let id = post["id"].as_i64().unwrap();
    let (code, space) = (&post["error"]["code"], &post["workspace_id"]);
    let row = format!("/admin/work/post/{id}\"");
    for (filter, found) in [
        (String::new(), true),
        (format!("id={id}"), true),
        (format!("id={}", id + 1), false),
        ("status=failed".into(), true),
        ("status=published".into(), false),
        ("platform=bluesky".into(), true),
        ("platform=telegram".into(), false),
        (format!("account={account}"), true),
        (format!("account={}", account + 1), false),
        (format!("workspace={}", space.as_str().unwrap()), true),
        ("workspace=00000000-0000-0000-0000-000000000001".into(), false),
        (format!("error={}", code.as_str().unwrap()), true),
        ("error=missed".into(), false),
    ] {
        let page = ada.get(&format!("/admin/work?{filter}")).await.expect(200);
        assert_eq!(page.html.contains(&row), found, "{filter}: {}", page.html);
    }
    for (bad, said) in [
        ("id=x", "is not a valid value of id"),
        ("status=sent", "There is no status"),
        ("platform=myspace", "There is no platform"),
        ("kind=mail", "There is no kind of work"),
        ("kind=delivery&platform=bluesky", "Only posts have a platform"),
        ("cursor=x", "is not a valid value of cursor"),
    ] {
        let page = ada.get(&format!("/admin/work?{bad}")).await.expect(400);
        assert!(page.html.contains(said), "{bad}: {}", page.html);
        assert!(page.html.contains("name=\"kind\""), "the form is there to be corrected");
    }
}

/// The pages of operators to which a page leads.
fn leads_to(html: &str) -> impl Iterator<Item = String> {
    let links = html.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    links.filter(|link| link.starts_with("/admin")).map(|link| link.replace("&amp;", "&"))
}

#[tokio::test(flavor = "multi_thread")]
async fn texts_of_people_stand_on_no_page_of_operators() {
    const CANARY: &str = "zqcanary";
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let later = json!({"account_id": account, "caption": CANARY, "scheduled_at": app.at(3_600)});
    let later = user.publish(later).await["id"].as_i64().unwrap();
    let published = json!({"account_id": account, "caption": CANARY});
    let published = user.publish(published).await["id"].as_i64().unwrap();
    app.wait_for_status(&user, published, &["published"]).await;
    let refused = user.connect("mastodon").await;
    let fault = json!([{"on": "commit", "kind": "status", "status": 422}]);
    user.faults("mastodon", refused, fault).await;
    let failed = json!({"account_id": refused, "caption": CANARY});
    let failed = user.publish(failed).await["id"].as_i64().unwrap();
    app.wait_for_status(&user, failed, &["failed"]).await;

    let mut ada = Operator::log_in(&app, "ada@example.com").await;
    let mut open = vec!["/admin".to_owned()];
    open.extend([later, published, failed].map(|id| format!("/admin/work/post/{id}")));
    let mut seen = std::collections::BTreeSet::new();
    while let Some(path) = open.pop() {
        let path = path.split('#').next().unwrap().to_owned();
        if seen.len() == 60 || !seen.insert(path.clone()) {
            continue;
        }
        let page = ada.get(&path).await;
        assert!(!page.html.contains(CANARY), "{path}: {}", page.html);
        open.splice(0..0, leads_to(&page.html));
    }
    for page in ["/admin/work", "/admin/queues", "/admin/webhooks", "/admin/audit"] {
        assert!(seen.iter().any(|path| path.starts_with(page)), "{page} was not read: {seen:?}");
    }
    for line in [&["work"][..], &["work", "--status", "failed", "--json"], &["audit"]] {
        let said = crate::worker::command(&app).arg("ops").args(line).output().unwrap();
        assert!(!String::from_utf8_lossy(&said.stdout).contains(CANARY), "{line:?}");
    }
    for id in [later, published, failed] {
        let story = ["ops", "story", &id.to_string()];
        let said = crate::worker::command(&app).args(story).output().unwrap();
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        assert!(said.contains("Caption: 8 characters") && !said.contains(CANARY), "{said}");
    }
}
