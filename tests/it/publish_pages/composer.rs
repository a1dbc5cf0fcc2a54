//! `/dashboard/posts/new`: the composer.

use fanfare_core::access::Role;
use fanfare_people::users;
use fanfare_tests::{Browser, Options, TestApp, User, Visitor, visitor::PageReply};
use serde_json::{Value, json};

use super::{HOSTILE, choose, person, posts::log_in, quiet, send, workspace};

const PAGE: &str = "/dashboard/posts/new";

/// Presses a button of the composer.
async fn press(
    ada: &mut Visitor,
    once: &str,
    button: (&str, &str),
    fields: &[(&str, &str)],
) -> PageReply {
    let mut sent = vec![("once", once), button];
    sent.extend(fields);
    send(ada, PAGE, PAGE, &sent).await
}

async fn posts(user: &User) -> Vec<Value> {
    let list = user.get("/api/v1/posts").await.expect(200).body["posts"].clone();
    list.as_array().unwrap().clone()
}

fn once() -> String {
    uuid::Uuid::now_v7().to_string()
}

#[tokio::test]
async fn the_composer_says_what_is_missing_and_counts_as_the_network_does() {
    let app = quiet().await;
    let (mut ada, user) = person(&app, "ada@example.com").await;
    let first = ada.get(PAGE).await.expect(200).html;
    assert!(first.contains("A post needs an account"));
    let account = user.connect("bluesky").await.to_string();
    let other = user.connect("youtube").await.to_string();
    let empty = press(&mut ada, &once(), ("do", "check"), &[]).await.expect(200).html;
    assert!(empty.contains("No account is chosen"));
    // A family is one grapheme on Bluesky.
    let fields = [("account_id", account.as_str()), ("caption", "Hi 👨‍👩‍👧")];
    let right = press(&mut ada, &once(), ("do", "check"), &fields).await.expect(200).html;
    assert!(
        right.contains("4 of 300 graphemes") && right.contains("Nothing is missing."),
        "{right}"
    );
    let long = "x".repeat(301);
    let fields = [("account_id", account.as_str()), ("account_id", &other), ("caption", &long)];
    let wrong = press(&mut ada, &once(), ("do", "check"), &fields).await.expect(200).html;
    assert!(wrong.contains("301 of 300 graphemes") && wrong.contains("Shorten the caption"));
    assert!(wrong.contains("What is missing") && wrong.contains(&format!("set.{other}.")));
    // Nothing is made of what is wrong, on no account.
    let refused = press(&mut ada, &once(), ("do", "publish"), &fields).await;
    assert_eq!(refused.status, 400);
    let none = press(&mut ada, &once(), ("do", "schedule"), &fields[..1]).await;
    assert_eq!(none.status, 400);
    assert!(none.html.contains("There is no time yet."));
    assert_eq!(posts(&user).await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_post_is_scheduled_saved_and_sent_twice_without_harm() {
    let app = quiet().await;
    let (mut ada, user) = person(&app, "ada@example.com").await;
    let accounts = [user.connect("bluesky").await, user.connect("threads").await];
    let [first, second] = accounts.map(|id| id.to_string());
    let time = format!("{}T18:00", &app.at(2 * 86_400)[..10]);
    let fields = [("account_id", first.as_str()), ("caption", "Soup"), ("scheduled_at", &time)];
    let mark = once();
    let made = press(&mut ada, &mark, ("do", "schedule"), &fields).await.expect(303);
    let again = press(&mut ada, &mark, ("do", "schedule"), &fields).await.expect(303);
    assert_eq!(made.location, again.location, "the same form makes the same post");
    let listed = posts(&user).await;
    assert_eq!(listed.len(), 1);
    assert_eq!(made.location, format!("/dashboard/posts/{}", listed[0]["id"]));
    assert_eq!(listed[0]["scheduled_at"], format!("{time}:00.000Z"));
    let both = [
        ("account_id", first.as_str()),
        ("account_id", &second),
        ("caption", "For both\r\nof them"),
    ];
    let drafts = press(&mut ada, &once(), ("do", "draft"), &both).await.expect(303);
    assert!(drafts.location.starts_with("/dashboard/sets/"), "{}", drafts.location);
    let listed = posts(&user).await;
    assert_eq!(listed.len(), 3);
    assert_eq!((&listed[0]["status"], &listed[1]["status"]), (&json!("draft"), &json!("draft")));
    assert_eq!(listed[0]["caption"], "For both\nof them");
    assert_eq!(listed[0]["post_set_id"], listed[1]["post_set_id"]);
    assert!(drafts.location.ends_with(listed[0]["post_set_id"].as_str().unwrap()));
    assert_ne!(listed[0]["account_id"], listed[1]["account_id"]);
}

#[tokio::test]
async fn a_post_with_a_file_and_settings_is_published_now() {
    let app = TestApp::start().await;
    let (mut ada, user) = person(&app, "ada@example.com").await;
    let account = user.connect("mastodon").await;
    let id = account.to_string();
    let stored = user.upload("soup.png", "image/png", &fanfare_tests::files::png()).await;
    let url = stored["url"].as_str().unwrap();
    let page = ada.get(PAGE).await.expect(200).html;
    assert!(page.contains("soup.png") && page.contains(url));
    let visibility = format!("set.{id}.visibility");
    let fields = [
        ("account_id", id.as_str()),
        ("caption", "Soup"),
        ("media", url),
        (visibility.as_str(), "unlisted"),
    ];
    let made = press(&mut ada, &once(), ("do", "publish"), &fields).await.expect(303);
    let number = made.location.rsplit('/').next().unwrap().parse().unwrap();
    let public = app.wait_for_status(&user, number, &["published"]).await;
    assert_eq!(public["settings"]["visibility"], "unlisted");
    assert_eq!(public["media_urls"], json!([url]));
    assert_eq!(user.on_network("mastodon", account).await.len(), 1);
    let odd = [("account_id", id.as_str()), ("caption", "Soup"), (visibility.as_str(), HOSTILE)];
    let refused = press(&mut ada, &once(), ("do", "publish"), &odd).await;
    assert_eq!(refused.status, 400);
    assert!(!refused.html.contains("<script>alert") && refused.html.contains("visibility"));
}

#[tokio::test]
async fn models_help_for_the_credits_that_the_page_names() {
    let app = TestApp::start().await;
    let (mut ada, user) = person(&app, "ada@example.com").await;
    let account = user.connect("bluesky").await.to_string();
    let page = ada.get(PAGE).await.expect(200).html;
    assert!(page.contains("Write captions (1 credit)") && page.contains(" credits</option>"));
    let left =
        async || user.get("/api/v1/credits").await.body["wallet"]["available"].as_i64().unwrap();
    let before = left().await;
    let brief = "Brunch every Sunday from 10am, 9 euros";
    let fields = [("account_id", account.as_str()), ("brief", brief), ("caption", "Old")];
    let written = press(&mut ada, &once(), ("do", "captions"), &fields).await.expect(200);
    assert!(written.html.contains("Captions were written for 1 credit."), "{}", written.html);
    assert!(written.html.contains("name=\"use\"") && written.html.contains("9 euros"));
    assert_eq!(left().await, before - 1);
    let used = press(&mut ada, &once(), ("use", "A better one"), &fields).await.expect(200);
    assert!(used.html.contains(">\nA better one</textarea>"));
    let long = "x".repeat(301);
    let used = press(&mut ada, &once(), ("use", &long), &fields).await.expect(200);
    assert!(used.html.contains("What is missing") && !used.html.contains("Nothing is missing."));
    // An image becomes one of the files.
    let fields = [("account_id", account.as_str()), ("image_prompt", "A soup"), ("count", "2")];
    let drawn = press(&mut ada, &once(), ("do", "image"), &fields).await.expect(200);
    assert_eq!(drawn.html.matches("name=\"media\"").count(), 2, "{}", drawn.html);
    assert_eq!(drawn.html.matches("name=\"alt\"").count(), 2, "each has an alt text");
    let after = left().await;
    assert!(drawn.html.contains(&format!("for {} credits.", before - 1 - after)));
    // A film is a job with a line of its own.
    let fields = [("video_prompt", "A soup boils"), ("film", "6 720p"), ("ratio", "16:9")];
    let queued = press(&mut ada, &once(), ("do", "video"), &fields).await.expect(200);
    assert!(queued.html.contains("A soup boils"));
    let jobs = user.get("/api/v1/ai/video-jobs").await.expect(200).body;
    let credits = jobs["jobs"][0]["credits"].as_i64().unwrap();
    assert!(queued.html.contains(&format!("A video was ordered for {credits} credits.")));
    assert_eq!(left().await, after - credits);
    let empty = press(&mut ada, &once(), ("do", "captions"), &fields).await;
    assert_eq!(empty.status, 400, "a brief is needed");
    assert_eq!(left().await, after - credits);
}

#[tokio::test]
async fn the_composer_needs_its_token_and_the_role() {
    let app = quiet().await;
    let (mut ada, user) = person(&app, "ada@example.com").await;
    let account = user.connect("bluesky").await.to_string();
    for action in [PAGE, "/dashboard/posts/new/part"] {
        let forged = [("csrf", "guessed".to_owned()), ("do", "publish".to_owned())];
        assert_eq!(ada.send(action, &forged).await.status, 400, "{action}");
    }
    let workspace = workspace(&user).await;
    let text = workspace.to_string();
    let (editor, mut bob) = Visitor::person(&app, "bob@example.com").await;
    // A stranger's accounts are none.
    let fields = [("account_id", account.as_str()), ("caption", "Not mine")];
    let mut sent = vec![("once", "x"), ("do", "publish")];
    sent.extend(fields);
    let refused = send(&mut bob, "/dashboard", PAGE, &sent).await;
    assert_eq!(refused.status, 400, "{}", refused.html);
    users::set_member(&app.domain, workspace, editor, Role::Editor).await.unwrap();
    let chosen = choose(&mut bob, &text);
    let _ = chosen.await.expect(303);
    let refused = send(&mut bob, "/dashboard", PAGE, &sent).await;
    assert_eq!(refused.status, 403);
    assert!(refused.html.contains(">\nNot mine</textarea>"), "{}", refused.html);
    users::set_member(&app.domain, workspace, editor, Role::Viewer).await.unwrap();
    let page = bob.get(PAGE).await.expect(200).html;
    assert!(page.contains("lets you look, but not write") && !page.contains("<textarea"));
    assert_eq!(posts(&user).await, Vec::<Value>::new());
}

#[tokio::test]
async fn checks_while_somebody_writes_are_limited_and_say_when_to_go_on() {
    let options = Options { workers: false, limits_factor: 0.025, ..Options::default() };
    let app = TestApp::with(options).await;
    let (mut ada, _user) = person(&app, "ada@example.com").await;
    let csrf = ada.get(PAGE).await.expect(200).hidden("csrf");
    let part = [("csrf", csrf), ("part", "check".to_owned()), ("caption", "Hi".to_owned())];
    for _ in 0..3 {
        let _ = ada.send("/dashboard/posts/new/part", &part).await.expect(200);
    }
    let refused = ada.send("/dashboard/posts/new/part", &part).await.expect(429);
    assert!(refused.html.contains("checks of a post in the composer per minute"));
    app.advance(std::time::Duration::from_secs(61));
    let _ = ada.send("/dashboard/posts/new/part", &part).await.expect(200);
}

#[tokio::test]
async fn hostile_and_endless_texts_stay_texts() {
    let app = quiet().await;
    let (mut ada, user) = person(&app, "ada@example.com").await;
    let account = user.connect("bluesky").await.to_string();
    let long = format!("{HOSTILE}{}", "long ".repeat(20_000));
    let fields = [
        ("account_id", account.as_str()),
        ("caption", &long),
        ("brief", HOSTILE),
        ("media_url", HOSTILE),
    ];
    for button in ["check", "publish", "captions", "nonsense"] {
        let shown = press(&mut ada, HOSTILE, ("do", button), &fields).await;
        assert!(shown.status < 500, "{button}: {}", shown.status);
        assert!(
            !shown.html.contains("<script>alert") && !shown.html.contains("<img src=x"),
            "{button}"
        );
        assert!(shown.html.len() < 400_000, "{button} has {} bytes", shown.html.len());
    }
    let huge = "x".repeat(1_100_000);
    let fields = [("account_id", account.as_str()), ("caption", &huge)];
    assert_eq!(press(&mut ada, &once(), ("do", "check"), &fields).await.status, 413);
}

#[tokio::test]
async fn the_preview_keeps_up_while_somebody_writes_and_files_are_uploaded() {
    let app = TestApp::start().await;
    let (_, user) = person(&app, "ada@example.com").await;
    user.connect("bluesky").await;
    let mut browser = Browser::start().await;
    browser.set_viewport(1280, false).await;
    log_in(&mut browser, &app, "ada@example.com", PAGE).await;
    let write = "(() => { document.querySelector('[name=account_id]').click(); \
        const text = document.getElementById('caption'); text.value = 'Hello harbour'; \
        text.dispatchEvent(new Event('input', {bubbles: true})); })()";
    browser.eval(write).await;
    browser
        .until("document.getElementById('result').textContent.includes('13 of 300 graphemes')")
        .await;
    browser
        .until("document.getElementById('result').textContent.includes('Nothing is missing.')")
        .await;
    let png = fanfare_tests::files::png();
    let choose = format!(
        "(() => {{ const data = new DataTransfer(); \
         data.items.add(new File([new Uint8Array({})], 'harbour.png', {{type: 'image/png'}})); \
         const field = document.getElementById('files'); field.files = data.files; \
         field.dispatchEvent(new Event('change', {{bubbles: true}})); }})()",
        json!(png)
    );
    browser.eval(&choose).await;
    browser.until("document.getElementById('media').textContent.includes('harbour.png')").await;
    browser.until("document.querySelector('.preview img')").await;
    browser.eval("document.querySelector('details.confirm summary').click()").await;
    browser.eval("document.querySelector('button.danger').click()").await;
    browser.until("/posts\\/\\d+$/.test(location.pathname)").await;
    let made = posts(&user).await;
    assert_eq!((made.len(), &made[0]["caption"]), (1, &json!("Hello harbour")));
    assert_eq!(made[0]["media_urls"].as_array().unwrap().len(), 1);
    assert_eq!(browser.complaints, Vec::<String>::new());
}
