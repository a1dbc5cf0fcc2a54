//! Changes and posts share what a network takes in a minute: all are accepted at once, and each is sent in its turn.

use std::time::Duration;

use fanfare_tests::{Options, TestApp, User, files::plain_png};
use serde_json::{Value, json};

use super::{BASE, profile, read, review, reviews};
use crate::inbox;

async fn paced() -> TestApp {
    TestApp::with(Options { sandbox_limits: true, ..Options::default() }).await
}

/// The times at which a network took a change or a post of its only account, in order, and how often it refused one.
async fn taken(app: &TestApp, platform: &str, paths: &[&str]) -> (Vec<String>, usize) {
    let accounts = app.simulator.accounts(platform).await;
    let id = accounts[0]["remote_id"].as_str().unwrap();
    let calls = app.simulator.calls(platform, id).await;
    let is_change = |call: &&Value| {
        let path = call["path"].as_str().unwrap();
        call["method"] != "GET" && paths.iter().any(|end| path.ends_with(end))
    };
    let changes: Vec<&Value> = calls.iter().filter(is_change).collect();
    let refused = changes.iter().filter(|call| call["status"] != 200).count();
    let times = changes.iter().map(|call| call["at"].as_str().unwrap().to_owned()).collect();
    (times, refused)
}

/// Fails if more than `most` of these times lie within a minute.
fn within_a_minute(times: &[String], most: usize) {
    let ms = |at: &String| chrono::DateTime::parse_from_rfc3339(at).unwrap().timestamp_millis();
    let mut times: Vec<i64> = times.iter().map(ms).collect();
    times.sort_unstable();
    for some in times.windows(most + 1) {
        assert!(some[most] - some[0] >= 60_000, "{} within {} ms", most + 1, some[most] - some[0]);
    }
}

async fn media(user: &User) -> Vec<Value> {
    let page = user.get(&format!("{BASE}/media?limit=100")).await.expect(200).body;
    page["media"].as_array().unwrap().clone()
}

#[tokio::test]
async fn photos_and_posts_of_a_location_share_its_ten_changes_a_minute() {
    const PHOTOS: usize = 12;
    let app = paced().await;
    let user = app.user().await;
    let account = profile(&app, &user).await;
    for nth in 0..PHOTOS {
        // Each has a file of its own: two changes of the same thing are not on their way together.
        let wide = u32::try_from(300 + nth).unwrap();
        let file = user.upload("room.png", "image/png", &plain_png(wide, 280)).await;
        let body =
            json!({"source_url": file["url"], "category": "INTERIOR", "account_id": account});
        let added = user.post(&format!("{BASE}/media"), body).await.expect(202).body;
        assert!(["sending", "live"].contains(&added["media"]["status"].as_str().unwrap()));
    }
    let mut posts = Vec::new();
    for nth in 0..2 {
        let post = json!({"account_id": account, "caption": format!("News {nth}")});
        posts.push(user.publish(post).await["id"].as_i64().unwrap());
    }
    // One more after all others: what is deleted counts like what is added.
    app.eventually_in_time("everything is out", Duration::from_secs(5), || async {
        let live = media(&user).await.iter().filter(|one| one["status"] == "live").count();
        let out = user.get("/api/v1/posts?status=published").await.expect(200).body;
        (live == PHOTOS && out["posts"].as_array().unwrap().len() == posts.len()).then_some(())
    })
    .await;
    let name = media(&user).await[0]["media_name"].as_str().unwrap().to_owned();
    let gone = user.delete(&format!("{BASE}/media?media_name={name}")).await;
    assert!([200, 202].contains(&gone.status), "{}", gone.text);
    app.eventually_in_time("one is gone", Duration::from_secs(5), || async {
        (media(&user).await.len() == PHOTOS - 1).then_some(())
    })
    .await;
    let (times, refused) = taken(&app, "google_business", &["/media", "/localPosts", &name]).await;
    assert_eq!((times.len(), refused), (PHOTOS + 2 + 1, 0));
    within_a_minute(&times, 10);
}

#[tokio::test]
async fn answers_and_posts_of_a_page_share_its_window() {
    const ANSWERS: usize = 12;
    let app = paced().await;
    let user = inbox::pro(&app).await;
    let (account, path) = inbox::lost::answerable(&app, &user, "facebook", false).await;
    app.pass_time(Duration::from_secs(61)).await;
    for nth in 0..ANSWERS {
        let body = json!({"text": format!("Answer {nth}")});
        let answer = user.post(&format!("{path}/reply"), body).await;
        let wanted = if nth < 10 { 201 } else { 202 };
        assert_eq!(answer.status, wanted, "{nth}: {}", answer.text);
    }
    let post = json!({"account_id": account, "caption": "News"});
    let post = user.publish(post).await["id"].as_i64().unwrap();
    app.eventually_in_time("everything is out", Duration::from_secs(5), || async {
        let shown = user.get(&path).await.expect(200).body;
        let sent = shown["replies"].as_array().unwrap().iter();
        let sent = sent.filter(|one| one["status"] == "sent").count();
        let out = user.get(&format!("/api/v1/posts/{post}")).await.expect(200).body;
        (sent == ANSWERS && out["post"]["status"] == "published").then_some(())
    })
    .await;
    let (times, refused) = taken(&app, "facebook", &["/comments", "/feed"]).await;
    // The post that is answered is among them.
    assert_eq!((times.len(), refused), (ANSWERS + 2, 0));
    within_a_minute(&times, 10);
}

#[tokio::test]
async fn what_is_hidden_and_deleted_counts_with_what_is_answered() {
    const COMMENTS: usize = 12;
    let app = paced().await;
    let user = inbox::pro(&app).await;
    let (account, path) = inbox::lost::answerable(&app, &user, "facebook", false).await;
    let mut comments = vec![path];
    for nth in 1..COMMENTS {
        comments
            .push(inbox::commented(&app, &user, "facebook", account, &format!("Hi {nth}")).await);
    }
    app.pass_time(Duration::from_secs(61)).await;
    let mut ends = Vec::new();
    for (nth, path) in comments.iter().enumerate() {
        let shown = user.get(path).await.expect(200).body["comment"].clone();
        ends.push(shown["platform_comment_id"].as_str().unwrap().to_owned());
        let done = match nth % 3 {
            0 => user.patch(path, json!({"hidden": true})).await,
            1 => user.delete(path).await,
            _ => user.post(&format!("{path}/reply"), json!({"text": "Thanks"})).await,
        };
        assert_eq!(done.status == 202, nth >= 10, "{nth}: {}", done.text);
        assert!(done.status < 300, "{nth}: {}", done.text);
    }
    app.eventually_in_time("everything is out", Duration::from_secs(5), || async {
        for (nth, path) in comments.iter().enumerate() {
            let shown = user.get(path).await.expect(200).body;
            let is_out = match nth % 3 {
                0 => shown["comment"]["hidden"] == true,
                1 => shown["comment"]["deleted"] == true,
                _ => shown["replies"][0]["status"] == "sent",
            };
            if !is_out {
                return None;
            }
        }
        Some(())
    })
    .await;
    ends.extend(["/comments".to_owned(), "/feed".to_owned()]);
    let ends: Vec<_> = ends.iter().map(String::as_str).collect();
    let (times, refused) = taken(&app, "facebook", &ends).await;
    // The post that they are below is among them.
    assert_eq!((times.len(), refused), (COMMENTS + 1, 0));
    within_a_minute(&times, 10);
}

#[tokio::test]
async fn answers_to_reviews_count_with_the_changes_of_their_location() {
    const REVIEWS: usize = 12;
    let app = paced().await;
    let user = app.user().await;
    let account = profile(&app, &user).await;
    for nth in 0..REVIEWS {
        review(&user, account, &format!("Review {nth}"), 4).await;
    }
    read(&app, &user).await;
    let found = reviews(&user, "limit=100").await;
    assert_eq!(found.len(), REVIEWS);
    for (nth, one) in found.iter().enumerate() {
        let body = json!({"review_id": one["id"], "text": "Thanks"});
        let answer = user.post(&format!("{BASE}/reviews/reply"), body).await;
        assert_eq!(answer.status, if nth < 10 { 201 } else { 202 }, "{nth}: {}", answer.text);
    }
    app.eventually_in_time("everything is out", Duration::from_secs(5), || async {
        let (times, _) = taken(&app, "google_business", &["/reply"]).await;
        (times.len() == REVIEWS).then_some(())
    })
    .await;
    let (times, refused) = taken(&app, "google_business", &["/reply"]).await;
    assert_eq!(refused, 0);
    within_a_minute(&times, 10);
}
