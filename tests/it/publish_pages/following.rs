//! A page that waits for something follows it to its end.

use fanfare_tests::Browser;
use serde_json::json;

use super::{person, post, posts::log_in, quiet};

#[tokio::test]
async fn a_post_is_followed_to_its_end() {
    let app = quiet().await;
    let (_, user) = person(&app, "ada@example.com").await;
    let account = user.connect("bluesky").await;
    let id = post(&user, json!({"account_id": account, "caption": "Followed"})).await;
    let mut browser = Browser::start().await;
    browser.set_viewport(1280, false).await;
    let badge = |page: &str| format!("document.querySelector('{page} .badge').textContent");
    log_in(&mut browser, &app, "ada@example.com", &format!("/dashboard/posts/{id}")).await;
    browser.eval("window.stays = true").await;
    assert_eq!(browser.eval(&badge("h1")).await, "scheduled");
    app.start_workers();
    browser.until(&format!("{} === 'published'", badge("h1"))).await;
    browser.until("!('follow' in document.getElementById('live').dataset) || document.querySelector('a[rel~=noreferrer]')").await;
    assert_eq!(browser.eval("window.stays").await, true, "the page was not loaded anew");
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[tokio::test]
async fn the_list_and_the_calendar_follow_their_posts() {
    let app = quiet().await;
    let (mut ada, user) = person(&app, "ada@example.com").await;
    let account = user.connect("bluesky").await;
    let id = post(&user, json!({"account_id": account, "caption": "Followed"})).await;
    let pages = [
        "/dashboard",
        "/dashboard/posts",
        "/dashboard/posts?view=month",
        "/dashboard/posts?view=week",
    ];
    for page in pages {
        let html = ada.get(page).await.expect(200).html;
        assert!(
            html.contains("data-follow") && html.contains("<noscript><meta http-equiv"),
            "{page}"
        );
    }
    app.start_workers();
    app.wait_for_status(&user, id, &["published"]).await;
    for page in pages {
        let html = ada.get(page).await.expect(200).html;
        assert!(!html.contains("data-follow") && !html.contains("http-equiv"), "{page}");
    }
}
