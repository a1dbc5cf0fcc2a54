//! The files of a post in the composer: each has its own place and alt text.

use fanfare_tests::{Browser, TestApp, User, files::plain_png};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{person, posts::log_in, send};

const PAGE: &str = "/dashboard/posts/new";
const ALTS: [&str; 3] = ["A cat, asleep", "", "Soup, bread and salt"];

async fn three_files(user: &User) -> [String; 3] {
    let mut urls = Vec::new();
    for (name, width) in [("one.png", 64), ("two.png", 80), ("three.png", 96)] {
        let stored = user.upload(name, "image/png", &plain_png(width, 64)).await;
        urls.push(stored["url"].as_str().unwrap().to_owned());
    }
    urls.try_into().unwrap()
}

/// What a network is to have of a file: the digest of its bytes, and its alt text.
async fn file(user: &User, url: &str, alt: &str) -> Value {
    let (_, _, bytes) = user.fetch(&json!(url), &[]).await;
    let digest: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    json!([digest, alt])
}

/// The digests and the alt texts of the files that the network got, in its order.
async fn on_network(app: &TestApp, user: &User, account: i64) -> Vec<Value> {
    let posts = app
        .eventually("it is public", || async {
            let posts = user.on_network("mastodon", account).await;
            (!posts.is_empty()).then_some(posts)
        })
        .await;
    let files = posts[0]["media"].as_array().unwrap().iter();
    files.map(|file| json!([file["sha256"], file["alt"].as_str().unwrap_or_default()])).collect()
}

#[tokio::test]
async fn each_file_has_its_own_alt_text_and_place() {
    let app = TestApp::start().await;
    let (mut ada, user) = person(&app, "ada@example.com").await;
    let account = user.connect("mastodon").await;
    let [one, two, three] = three_files(&user).await;
    let id = account.to_string();
    let files = |extra: (&'static str, &'static str)| {
        let mut fields = vec![("account_id", id.as_str()), ("caption", "Three")];
        for (url, alt) in [&one, &two, &three].into_iter().zip(ALTS) {
            fields.extend([("media", url.as_str()), ("alt", alt)]);
        }
        fields.push(extra);
        fields
    };
    // The third file moves up: its alt text goes along.
    let moved = send(&mut ada, PAGE, PAGE, &files(("up", "2"))).await.expect(200).html;
    let place = |text: &str| moved.find(&format!("value=\"{text}\"")).expect(text);
    assert!(place(&one) < place(&three) && place(&three) < place(&two), "{moved}");
    assert!(place(&three) < place(ALTS[2]) && place(ALTS[2]) < place(&two), "{moved}");
    let sent: Vec<_> = files(("do", "publish"));
    let made = send(&mut ada, PAGE, PAGE, &sent).await.expect(303);
    assert!(made.location.starts_with("/dashboard/posts/"));
    assert_eq!(
        on_network(&app, &user, account).await,
        [
            file(&user, &one, ALTS[0]).await,
            file(&user, &two, "").await,
            file(&user, &three, ALTS[2]).await
        ]
    );
}

#[tokio::test]
async fn files_are_added_and_moved_in_a_browser_and_kept_until_they_are_sent() {
    let app = TestApp::start().await;
    let (_, user) = person(&app, "ada@example.com").await;
    let account = user.connect("mastodon").await;
    let [one, two, _] = three_files(&user).await;
    let mut browser = Browser::start().await;
    browser.set_viewport(1280, false).await;
    log_in(&mut browser, &app, "ada@example.com", PAGE).await;
    browser.eval("document.querySelector('[name=account_id]').click()").await;
    let write = |id: &str, text: &str| {
        format!(
            "{{ const field = document.getElementById('{id}'); field.value = '{text}'; \
             field.dispatchEvent(new Event('input', {{bubbles: true}})); }}"
        )
    };
    for (url, count) in [(&one, 1), (&two, 2)] {
        let add = format!("document.querySelector('button[name=add][value={}]')", json!(url));
        browser.until(&add).await;
        // A user types on while the second file is on its way into the page.
        let typed = if count == 2 { write("alt-0", "First, of two") } else { String::new() };
        browser.eval(&format!("{add}.click(); {typed}")).await;
        browser.until(&format!("document.querySelectorAll('.files li').length === {count}")).await;
    }
    browser.eval(&format!("{} {}", write("alt-1", "Second"), write("caption", "Two"))).await;
    browser.eval("document.querySelector('button[name=up]').click()").await;
    browser.until("document.getElementById('alt-0').value === 'Second'").await;
    browser.until("document.activeElement.id === 'alt-0'").await;
    // Somebody leaves without sending, and finds everything again.
    browser.open(&format!("{}/dashboard", app.origin)).await;
    browser.open(&format!("{}{PAGE}", app.origin)).await;
    browser.until("document.getElementById('alt-1')?.value === 'First, of two'").await;
    assert_eq!(browser.eval("document.getElementById('caption').value").await, "Two");
    browser
        .until("document.getElementById('result').textContent.includes('Nothing is missing.')")
        .await;
    browser.eval("document.querySelector('details.confirm summary').click()").await;
    browser.eval("document.querySelector('button.danger').click()").await;
    browser.until("/posts\\/\\d+$/.test(location.pathname)").await;
    assert_eq!(
        on_network(&app, &user, account).await,
        [file(&user, &two, "Second").await, file(&user, &one, "First, of two").await]
    );
    browser.open(&format!("{}{PAGE}", app.origin)).await;
    browser.until("document.getElementById('caption')").await;
    assert_eq!(browser.eval("document.getElementById('caption').value").await, "");
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[tokio::test]
async fn files_are_added_without_scripts() {
    let app = super::quiet().await;
    let (mut ada, user) = person(&app, "ada@example.com").await;
    user.connect("mastodon").await;
    let [one, two, _] = three_files(&user).await;
    let added = send(&mut ada, PAGE, PAGE, &[("media", &one), ("alt", "One"), ("add", &two)]).await;
    let html = added.expect(200).html;
    assert_eq!(html.matches("name=\"media\"").count(), 2, "{html}");
    let gone =
        send(&mut ada, PAGE, PAGE, &[("media", &one), ("alt", "One"), ("remove", "0")]).await;
    assert_eq!(gone.expect(200).html.matches("name=\"media\"").count(), 0);
}
