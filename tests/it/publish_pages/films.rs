//! The line of a film on the composer: it lives without a reload.

use fanfare_tests::{Browser, Options, TestApp};
use serde_json::json;

use super::{person, posts::log_in};
use crate::films;

#[tokio::test]
async fn the_line_of_a_film_keeps_up_until_the_film_can_be_used() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let (_, user) = person(&app, "ada@example.com").await;
    user.connect("bluesky").await;
    let mut browser = Browser::start().await;
    browser.set_viewport(1280, false).await;
    log_in(&mut browser, &app, "ada@example.com", "/dashboard/posts/new").await;
    browser
        .eval(
            "document.getElementById('video_prompt').value = 'A soup boils'; \
             document.querySelector('button[value=video]').click()",
        )
        .await;
    let line = "document.querySelector('#jobs li').textContent";
    browser
        .until(&format!("document.querySelector('#jobs li') && {line}.includes('queued')"))
        .await;
    assert_eq!(browser.eval(&format!("{line}.includes('A soup boils')")).await, true);
    browser.eval("window.stays = true").await;
    app.start_workers();
    let jobs = user.get("/api/v1/ai/video-jobs").await.expect(200).body;
    let done = films::ended(&app, &user, &jobs["jobs"][0]).await;
    assert_eq!(done["status"], "completed", "{done}");
    let box_of_film = format!(
        "document.querySelector('#jobs button[name=add][value={}]')",
        json!(done["video_url"])
    );
    browser.until(&format!("{line}.includes('completed') && {box_of_film}")).await;
    assert_eq!(browser.eval("window.stays").await, true, "the page was not loaded anew");
    // A job that has ended is not polled any more, and its video becomes a file of the post.
    browser.until("!document.querySelector('#jobs [data-open]')").await;
    browser.eval(&format!("{box_of_film}.click()")).await;
    let file = format!(
        "document.querySelector('.files [name=media]')?.value === {}",
        json!(done["video_url"])
    );
    browser.until(&file).await;
    assert_eq!(browser.complaints, Vec::<String>::new());
}
