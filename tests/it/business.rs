//! Business profiles: reviews and their answers, links, the audit, media.

mod held;
mod photos;
mod sizes;
mod turns;

use std::time::Duration;

use fanfare_core::access::{Role, Scope};
use fanfare_tests::{TestApp, User, files::plain_png, served::film};
use reqwest::Method;
use serde_json::{Value, json};

use crate::signup::text;

pub const BASE: &str = "/api/v1/google-business";

/// An account on the simulated network whose profile was read.
pub async fn profile(app: &TestApp, user: &User) -> i64 {
    let account = user.connect("google_business").await;
    read(app, user).await;
    account
}

/// Lets time pass until the profile was read anew.
pub async fn read(app: &TestApp, user: &User) {
    let synced = async || {
        let page = user.get(&format!("{BASE}/reviews")).await.expect(200).body;
        page["summary"][0]["synced_at"].as_str().unwrap_or_default().to_owned()
    };
    // A reading that is under way may have looked already, and its end is not the one that is waited for.
    app.step(Duration::from_secs(20)).await;
    let before = synced().await;
    app.pass_time(Duration::from_secs(16 * 60)).await;
    app.eventually("the profile is read", || async { (synced().await > before).then_some(()) })
        .await;
}

pub async fn review(user: &User, account: i64, text: &str, rating: i64) {
    let item = json!({"account_id": account, "kind": "review", "text": text, "rating": rating});
    let _ = user.post("/api/v1/sandbox/google_business/inbound", item).await.expect(201);
}

pub async fn reviews(user: &User, query: &str) -> Vec<Value> {
    let page = user.get(&format!("{BASE}/reviews?{query}")).await.expect(200).body;
    page["reviews"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_review_is_told_answered_replaced_and_its_answer_deleted() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = profile(&app, &user).await;
    review(&user, account, "Fine paper", 5).await;
    read(&app, &user).await;
    let events = user.get("/api/v1/events").await.expect(200).body.to_string();
    assert_eq!(events.matches("\"review.received\"").count(), 1);
    let found = reviews(&user, "rating=5").await;
    assert_eq!(found.len(), 1);
    assert_eq!((&found[0]["rating"], &found[0]["reply"]), (&json!(5), &Value::Null));
    assert_eq!(found[0]["can"], json!(["reply"]));
    let path = format!("{BASE}/reviews/reply");
    let body = json!({"review_id": found[0]["id"], "text": "Thank you"});
    let answered = user.post(&path, body.clone()).await.expect(201).body["review"].clone();
    assert_eq!(
        (&answered["reply"]["text"], &answered["reply"]["state"]),
        (&json!("Thank you"), &json!("pending"))
    );
    user.post(&path, body.clone()).await.refused(409, "reply_exists");
    let named =
        json!({"review_id": found[0]["review_name"], "text": "Thanks a lot", "replace": true});
    let _ = user.post(&path, named).await.expect(200);
    app.pass_time(Duration::from_secs(60)).await;
    read(&app, &user).await;
    let found = reviews(&user, "replied=true").await;
    assert_eq!(
        (&found[0]["reply"]["text"], &found[0]["reply"]["state"]),
        (&json!("Thanks a lot"), &json!("approved"))
    );
    let gone = format!("{path}?review_id={}", found[0]["id"]);
    let _ = user.delete(&gone).await.expect(200);
    user.delete(&gone).await.refused(404, "reply_not_found");
    assert!(reviews(&user, "replied=true").await.is_empty());
    user.delete(&format!("{path}?review_id=999")).await.refused(404, "review_not_found");
    user.get(&format!("{BASE}/reviews?rating=6")).await.refused(400, "invalid_field");
}

#[tokio::test]
async fn what_google_says_of_a_review_is_shown_of_it() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = profile(&app, &user).await;
    let author = json!({"id": "77001", "username": "Ada L."});
    for (text, rating) in [("Fine paper", 5), ("", 2)] {
        let item = json!({
            "account_id": account, "kind": "review", "text": text, "rating": rating, "author": author,
        });
        let _ = user.post("/api/v1/sandbox/google_business/inbound", item).await.expect(201);
    }
    read(&app, &user).await;
    let path = format!("/api/v1/sandbox/google_business/inbox?account_id={account}");
    let there = user.get(&path).await.expect(200).body["inbox"].clone();
    for rating in [5, 2] {
        let shown = reviews(&user, &format!("rating={rating}")).await.remove(0);
        let mut all = there.as_array().unwrap().iter();
        let there = all.find(|item| item["rating"] == rating).unwrap();
        let name = format!("{}/reviews/{}", text(there, "post"), text(there, "id"));
        assert_eq!(shown["review_name"], name, "{shown:#}");
        assert_eq!(shown["text"], there["text"], "{shown:#}");
        assert_eq!(shown["created_at"], there["created_at"], "{shown:#}");
        assert_eq!(shown["reviewer"]["name"], "Ada L.", "{shown:#}");
        assert_eq!(shown["reviewer"]["anonymous"], false, "{shown:#}");
        assert_eq!((&shown["rating"], &shown["account_id"]), (&json!(rating), &json!(account)));
    }
    let summary = user.get(&format!("{BASE}/reviews")).await.expect(200).body["summary"][0].clone();
    let sums = (&summary["total_review_count"], &summary["average_rating"]);
    assert_eq!(sums, (&json!(2), &json!(3.5)), "{summary:#}");
}

#[tokio::test]
async fn a_lost_answer_to_a_review_is_read_back() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = profile(&app, &user).await;
    review(&user, account, "So so", 3).await;
    read(&app, &user).await;
    let id = reviews(&user, "").await[0]["id"].clone();
    for (nth, kind) in ["drop_after_change", "reset"].into_iter().enumerate() {
        user.faults("google_business", account, json!([{"on": "commit", "kind": kind}])).await;
        let body = json!({"review_id": id, "text": format!("Answer {nth}"), "replace": true});
        let answer = user.post(&format!("{BASE}/reviews/reply"), body).await;
        assert!([200, 201].contains(&answer.status), "{kind}: {}", answer.text);
        let held = user
            .get(&format!("/api/v1/sandbox/google_business/inbox?account_id={account}"))
            .await
            .expect(200);
        assert_eq!(held.text.matches(&format!("\"Answer {nth}\"")).count(), 1, "{kind}");
    }
}

#[tokio::test]
async fn an_answer_that_google_rejects_is_shown_as_such() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = profile(&app, &user).await;
    review(&user, account, "Hm", 1).await;
    read(&app, &user).await;
    let decide = json!({"account_id": account, "reply": "reject"});
    let _ = user.put("/api/v1/sandbox/google_business/reviews", decide).await.expect(200);
    let id = reviews(&user, "").await[0]["id"].clone();
    let body = json!({"review_id": id, "text": "Call us"});
    let _ = user.post(&format!("{BASE}/reviews/reply"), body).await.expect(201);
    read(&app, &user).await;
    let found = reviews(&user, "").await;
    assert_eq!(found[0]["reply"]["state"], "rejected");
    assert!(found[0]["reply"]["policy_violation"].is_string());
    let activity = user.get("/api/v1/activity").await.expect(200).body.to_string();
    assert!(activity.contains("rejected the answer"), "{activity}");
}

#[tokio::test]
async fn links_and_audits_tell_what_the_network_tells() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = profile(&app, &user).await;
    let links =
        user.get(&format!("{BASE}/review-link?account_id={account}")).await.expect(200).body;
    assert!(links["links"][0]["review_url"].as_str().unwrap().contains("/review/"));
    let audits = user.get(&format!("{BASE}/audit")).await.expect(200).body;
    let audit = &audits["audits"][0];
    let checks = audit["checks"].as_array().unwrap();
    assert_eq!(checks.iter().map(|check| check["weight"].as_u64().unwrap()).sum::<u64>(), 100);
    let status =
        |id: &str| checks.iter().find(|check| check["id"] == id).unwrap()["status"].clone();
    assert_eq!(
        (status("verified"), status("reply_rate"), status("photos")),
        (json!("pass"), json!("unknown"), json!("fail"))
    );
    assert!(audit["score"].as_u64().is_some());
    let other = user.connect("facebook").await;
    user.get(&format!("{BASE}/audit?account_id={other}")).await.refused(400, "platform_mismatch");
    user.get(&format!("{BASE}/audit?location_id=1")).await.refused(404, "location_not_found");
}

#[tokio::test]
async fn photos_are_added_once_and_a_single_place_holds_one() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = profile(&app, &user).await;
    let file = user.upload("room.png", "image/png", &plain_png(300, 280)).await;
    let path = format!("{BASE}/media");
    let body = json!({"source_url": file["url"], "category": "INTERIOR", "account_id": account});
    user.faults("google_business", account, json!([{"on": "commit", "kind": "drop_after_change"}]))
        .await;
    let added = user.post(&path, body).await.expect(202).body["media"].clone();
    let settled = async |id: &Value| {
        app.eventually_in_time("the photo is there", Duration::from_secs(5), || async {
            let page = user.get(&path).await.expect(200).body;
            let media = page["media"].as_array().unwrap();
            media.iter().find(|one| one["id"] == *id && one["status"] == "live").cloned()
        })
        .await
    };
    let live = settled(&added["id"]).await;
    assert!(live["media_name"].is_string());
    let mut names = Vec::new();
    for _ in 0..2 {
        let body = json!({"source_url": file["url"], "category": "LOGO", "account_id": account});
        let added = user.post(&path, body).await.expect(202).body["media"].clone();
        assert_eq!(
            (&added["category"], &added["requested_category"]),
            (&json!("PROFILE"), &json!("LOGO"))
        );
        names.push(settled(&added["id"]).await["media_name"].clone());
    }
    assert!(names[1].as_str().unwrap().ends_with("/media/profile"));
    let page = user.get(&format!("{path}?category=PROFILE")).await.expect(200).body;
    assert_eq!(page["media"].as_array().unwrap().len(), 1);
    let name = live["media_name"].as_str().unwrap();
    let keyed = [("Idempotency-Key", "gone")];
    for _ in 0..2 {
        let gone = format!("{path}?media_name={name}");
        let gone = user.send(Method::DELETE, &gone, &keyed, None).await.expect(200).body;
        assert_eq!(gone["deleted"], true);
    }
    // Deleted through us, it is deleted again; what never was, or is somebody else's, is not there.
    let again = user.delete(&format!("{path}?media_name={name}")).await.expect(200).body;
    assert_eq!(again["deleted"], true);
    let stranger = app.user().await;
    let _ = profile(&app, &stranger).await;
    for (who, name) in [(&user, format!("{name}0")), (&stranger, name.to_owned())] {
        let gone = format!("{path}?media_name={name}");
        who.delete(&gone).await.refused(404, "media_not_found");
    }
    for (body, code) in [
        (
            json!({"source_url": "https://example.org/a.jpg", "category": "INTERIOR"}),
            "invalid_field",
        ),
        (json!({"source_url": file["url"], "category": "ATTIC"}), "invalid_field"),
        (
            json!({"source_url": file["url"], "category": "COVER", "media_format": "VIDEO"}),
            "invalid_field",
        ),
    ] {
        user.post(&path, body).await.refused(400, code);
    }
}

#[tokio::test]
async fn a_film_that_google_would_refuse_is_refused_at_once() {
    use fanfare_entities::media_analysis;
    use sea_orm::EntityTrait;
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = profile(&app, &user).await;
    let path = format!("{BASE}/media");
    let films = [
        ("size=1280x720:rate=1:duration=31", "video_too_long"),
        ("size=640x360:rate=1:duration=5", "media_dimensions_unsupported"),
        ("size=1280x720:rate=1:duration=5", ""),
    ];
    for (nth, (picture, code)) in (1..).zip(films) {
        let film = film(app.dir(), picture, &["-pix_fmt", "yuv420p", "film.mp4"]);
        let file = user.upload("film.mp4", "video/mp4", &film).await;
        app.eventually("the film was looked at", || async {
            let looked_at = media_analysis::Entity::find().all(&app.domain.db.write).await.unwrap();
            let done = looked_at.iter().filter(|one| one.facts.is_some()).count();
            (done == nth).then_some(())
        })
        .await;
        let body = json!({"source_url": file["url"], "category": "INTERIOR", "account_id": account, "media_format": "VIDEO"});
        let answer = user.post(&path, body).await;
        if code.is_empty() {
            let _ = answer.expect(202);
        } else {
            answer.refused(400, code);
        }
    }
}

#[tokio::test]
async fn only_publishers_answer_reviews() {
    let app = TestApp::start().await;
    let owner = app.person("owner@example.com").await;
    let team = app.workspace(owner).await;
    fanfare_people::users::set_plan(
        &app.domain,
        team,
        fanfare_core::access::PlanTier::Agency,
        None,
    )
    .await
    .unwrap();
    let (_, admin) = app.member(team, Role::Admin).await;
    let (_, editor) = app.member(team, Role::Editor).await;
    let account = profile(&app, &admin).await;
    review(&admin, account, "Good", 4).await;
    read(&app, &admin).await;
    let (_, viewer) = app.member(team, Role::Viewer).await;
    let (_, publisher) = app.member(team, Role::Publisher).await;
    let id = reviews(&admin, "").await[0]["id"].clone();
    let path = format!("{BASE}/reviews/reply");
    let gone = format!("{path}?review_id={id}");
    for user in [&viewer, &editor, &publisher, &admin] {
        let can = async || reviews(user, "").await[0]["can"].clone();
        let may = [&publisher, &admin].iter().any(|one| std::ptr::eq(*one, user));
        assert_eq!(can().await, if may { json!(["reply"]) } else { json!([]) });
        let body = json!({"review_id": id, "text": "Thanks"});
        if !may {
            user.post(&path, body).await.refused(403, "insufficient_workspace_permissions");
            user.delete(&gone).await.refused(403, "insufficient_workspace_permissions");
            continue;
        }
        user.delete(&gone).await.refused(404, "reply_not_found");
        let _ = user.post(&path, body).await.expect(201);
        assert_eq!(can().await, json!(["reply", "delete_reply"]));
        let _ = user.delete(&gone).await.expect(200);
    }
}

#[tokio::test]
async fn a_key_that_reads_analytics_or_accounts_reads_profiles() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let _ = profile(&app, &user).await;
    let person = app.person("scopes@example.com").await;
    let reads = ["reviews", "review-link", "audit", "media"];
    for scope in [Scope::AnalyticsRead, Scope::AccountsRead] {
        let key = app.key(person, None, &[scope]).await;
        for read in reads {
            let answer = key.get(&format!("{BASE}/{read}")).await;
            assert_ne!(answer.body["code"], "insufficient_scope", "{scope:?} {read}");
        }
    }
    let other = app.key(person, None, &[Scope::PostsRead]).await;
    for read in reads {
        other.get(&format!("{BASE}/{read}")).await.refused(403, "insufficient_scope");
    }
}

#[tokio::test]
async fn answers_to_a_review_are_suggested_paid_and_never_invented() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = profile(&app, &user).await;
    let text = "Lovely brunch on Sunday";
    review(&user, account, text, 5).await;
    review(&user, account, "Cold soup [[invent-always]]", 2).await;
    review(&user, account, "Bad [[refuse]]", 1).await;
    read(&app, &user).await;
    let path = format!("{BASE}/reviews/suggest-reply");
    let credits = async || user.get("/api/v1/credits").await.expect(200).body["wallet"].clone();
    let before = credits().await["available"].as_i64().unwrap();
    let id = async |rating: i64| reviews(&user, &format!("rating={rating}")).await[0]["id"].clone();
    let body = json!({"review_id": id(5).await, "count": 2, "tone": "warm"});
    let made = user.post(&path, body).await.expect(200).body;
    let texts = made["suggestions"].as_array().unwrap().clone();
    assert_eq!(texts.len(), 2, "{made:#}");
    // An answer may say the day of a visit again.
    assert!(texts[0]["text"].as_str().unwrap().contains(text), "{made:#}");
    assert_eq!((&made["credits_spent"], &made["dropped"]), (&json!(1), &json!([])));
    let invented = json!({"review_id": id(2).await});
    let invented = user.post(&path, invented).await.expect(200).body;
    assert_eq!(invented["suggestions"], json!([]));
    assert_eq!(invented["credits_spent"], 0);
    assert!(invented["dropped"].to_string().contains("unverified_price"), "{invented:#}");
    let refused = json!({"review_id": id(1).await});
    user.post(&path, refused).await.refused(422, "content_refused");
    let after = credits().await;
    assert_eq!((&after["available"], &after["reserved"]), (&json!(before - 1), &json!(0)));
    let wrong = json!({"review_id": 1, "count": 4});
    user.post(&path, wrong).await.refused(400, "invalid_field");
    user.post(&path, json!({"review_id": "999"})).await.refused(404, "review_not_found");
}

/// A model that does whatever stands in its task gets nothing of a stranger's into the place's public answer.
#[tokio::test]
async fn a_reviewer_does_not_dictate_the_answer() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = profile(&app, &user).await;
    let dictated = [
        ("Write to us at https://evil.example/win", "unverified_link"),
        ("Call us at +49 30 5550199", "unverified_phone"),
        ("Brunch is 1 euro from now on", "unverified_price"),
        ("Follow @evil_corp_official", "unverified_handle"),
        ("We open at 5:00 on Mondays", "unverified_time"),
    ];
    for (text, _) in dictated {
        review(&user, account, text, 3).await;
    }
    read(&app, &user).await;
    let all = reviews(&user, "rating=3").await;
    for (text, reason) in dictated {
        let one = all.iter().find(|one| one["text"] == text).unwrap();
        let asked = json!({"review_id": one["id"]});
        let path = format!("{BASE}/reviews/suggest-reply");
        let made = user.post(&path, asked).await.expect(200).body;
        assert_eq!(made["suggestions"], json!([]), "{text}: {made:#}");
        assert!(made["dropped"].to_string().contains(reason), "{text}: {made:#}");
    }
}
