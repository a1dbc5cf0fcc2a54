//! Composing for several accounts: they make one set, or nothing.

use fanfare_tests::{Browser, TestApp, User, Visitor, visitor::PageReply};
use serde_json::{Value, json};

use super::{person, posts::log_in, quiet, send};

const PAGE: &str = "/dashboard/posts/new";

async fn press(ada: &mut Visitor, button: &str, fields: &[(&str, &str)]) -> PageReply {
    let once = uuid::Uuid::now_v7().to_string();
    let sent = [&[("once", once.as_str()), ("do", button)], fields].concat();
    send(ada, PAGE, PAGE, &sent).await
}

async fn list(user: &User, what: &str) -> Vec<Value> {
    let body = user.get(&format!("/api/v1/{}", what.replace('_', "-"))).await.expect(200).body;
    body[what].as_array().unwrap().clone()
}

#[tokio::test]
async fn composing_for_three_accounts_makes_one_set() {
    let app = quiet().await;
    let (mut ada, user) = person(&app, "ada@example.com").await;
    let mut accounts = Vec::new();
    for platform in ["bluesky", "mastodon", "threads"] {
        accounts.push(user.connect(platform).await);
    }
    let ids: Vec<String> = accounts.iter().map(i64::to_string).collect();
    let (own, empty) = (format!("own.{}.caption", ids[0]), format!("own.{}.caption", ids[1]));
    let time = format!("{}T18:00", &app.at(2 * 86_400)[..10]);
    let fields = [
        ("account_id", ids[0].as_str()),
        ("account_id", &ids[1]),
        ("account_id", &ids[2]),
        ("caption", "For all\r\nof them"),
        (&own, "For Bluesky"),
        (&empty, " \r\n"),
        ("scheduled_at", &time),
    ];
    let checked = press(&mut ada, "check", &fields).await.expect(200).html;
    assert!(checked.contains("Nothing is missing."), "{checked}");
    assert_eq!(checked.matches(">Own text</summary>").count(), 3, "{checked}");
    assert!(checked.contains(">\nFor Bluesky</textarea>"), "{checked}");
    assert!(checked.contains("<p class=\"words\">For Bluesky</p>"), "in its preview");
    let once = [("once", "01970000-0000-7000-8000-000000000001"), ("do", "schedule")];
    let sent = [&once, &fields[..]].concat();
    let made = send(&mut ada, PAGE, PAGE, &sent).await.expect(303);
    let again = send(&mut ada, PAGE, PAGE, &sent).await.expect(303);
    assert_eq!(made.location, again.location, "the same form makes the same set");
    let sets = list(&user, "post_sets").await;
    assert_eq!(sets.len(), 1);
    let id = sets[0]["id"].as_str().unwrap();
    assert_eq!(made.location, format!("/dashboard/sets/{id}"));
    let set =
        user.get(&format!("/api/v1/post-sets/{id}")).await.expect(200).body["post_set"].clone();
    assert_eq!(set["caption"], "For all\nof them");
    let targets = set["targets"].as_array().unwrap();
    assert_eq!(targets.iter().map(|one| &one["account_id"]).collect::<Vec<_>>(), accounts);
    let from: Vec<_> = targets.iter().map(|one| &one["from"]["caption"]).collect();
    assert_eq!(from, ["target", "shared", "shared"]);
    let posts = list(&user, "posts").await;
    assert_eq!(posts.len(), 3);
    assert!(posts.iter().all(|post| post["scheduled_at"] == format!("{time}:00.000Z")));
    let shown = ada.get(&made.location).await.expect(200).html;
    for words in ["Bluesky", "Mastodon", "Threads", "For Bluesky", "For all", ">scheduled</span>"] {
        assert!(shown.contains(words), "{words} in {shown}");
    }
    // One account still makes a post, with its own text if it has one.
    let single = press(&mut ada, "draft", &[fields[0], fields[3], fields[4]]).await.expect(303);
    assert!(single.location.starts_with("/dashboard/posts/"), "{}", single.location);
    let posts = list(&user, "posts").await;
    assert_eq!(
        (&posts[0]["caption"], &posts[0]["post_set_id"]),
        (&json!("For Bluesky"), &Value::Null)
    );
    assert_eq!(list(&user, "post_sets").await.len(), 1);
}

#[tokio::test]
async fn a_refused_target_makes_nothing_and_keeps_what_was_typed() {
    let app = quiet().await;
    let (mut ada, user) = person(&app, "ada@example.com").await;
    let ids = [user.connect("mastodon").await, user.connect("bluesky").await];
    let [mastodon, bluesky] = ids.map(|id| id.to_string());
    let own = format!("own.{bluesky}.caption");
    let visibility = format!("set.{mastodon}.visibility");
    let long = "x".repeat(301);
    let fields = [
        ("account_id", mastodon.as_str()),
        ("account_id", &bluesky),
        ("caption", "Short"),
        (&own, &long),
        (&visibility, "unlisted"),
    ];
    let refused = press(&mut ada, "publish", &fields).await.expect(400).html;
    assert_eq!(list(&user, "posts").await, Vec::<Value>::new());
    assert_eq!(list(&user, "post_sets").await, Vec::<Value>::new());
    let field = |html: &str, name: &str| {
        let areas = html.split("<textarea").skip(1).map(|area| area.split("</textarea>").next());
        let mut found = areas.flatten().filter(|area| area.contains(&format!("name=\"{name}\"")));
        found.next().unwrap_or_else(|| panic!("no {name} in {html}")).to_owned()
    };
    let own_field = field(&refused, &own);
    assert!(
        own_field.contains("aria-invalid=\"true\"") && own_field.ends_with(&long),
        "{own_field}"
    );
    let shared = field(&refused, "caption");
    assert!(!shared.contains("aria-invalid") && shared.ends_with("\nShort"), "{shared}");
    assert!(refused.contains("<option value=\"unlisted\" selected>"), "{refused}");
    // A shared text that one network does not take is shown at that account.
    let fields = [fields[0], fields[1], ("caption", long.as_str())];
    let refused = press(&mut ada, "publish", &fields).await.expect(400).html;
    assert!(field(&refused, "caption").contains("aria-invalid=\"true\""), "{refused}");
    let accounts: Vec<_> =
        refused.split("<fieldset>").filter(|part| part.contains("own.")).collect();
    assert_eq!(accounts.len(), 2, "{refused}");
    for part in accounts {
        let is_wrong = part.contains("problems");
        assert_eq!(is_wrong, part.contains(&own), "{part}");
        assert_eq!(is_wrong, part.contains(" open><summary>Own text</summary>"), "{part}");
    }
    // A text of its own mends it.
    let fields = [fields[0], fields[1], fields[2], (own.as_str(), "Short")];
    let made = press(&mut ada, "draft", &fields).await.expect(303);
    assert!(made.location.starts_with("/dashboard/sets/"), "{}", made.location);
    assert_eq!(list(&user, "posts").await.len(), 2);
}

#[tokio::test]
async fn a_text_that_an_account_has_already_is_pointed_out() {
    let app = quiet().await;
    let (mut ada, user) = person(&app, "ada@example.com").await;
    let ids = [user.connect("mastodon").await, user.connect("bluesky").await];
    let [mastodon, bluesky] = ids.map(|id| id.to_string());
    let text = "We open our second shop at the harbour on Sunday";
    let known = super::tomorrow(&app, &user, ids[1], text).await;
    let time = format!("{}T18:00", &app.at(2 * 86_400)[..10]);
    let fields = [
        ("account_id", mastodon.as_str()),
        ("account_id", &bluesky),
        ("caption", "Something else entirely, about soup"),
        ("scheduled_at", &time),
    ];
    let fresh = press(&mut ada, "check", &fields).await.expect(200).html;
    assert!(!fresh.contains("Worth a look"), "{fresh}");
    let fields = [fields[0], fields[1], ("caption", text), fields[3]];
    let checked = press(&mut ada, "check", &fields).await.expect(200).html;
    assert!(
        checked.contains("Nothing is missing.") && checked.contains("Worth a look"),
        "{checked}"
    );
    let made = press(&mut ada, "schedule", &fields).await.expect(303);
    assert!(made.location.ends_with(&format!("?alike={known}")), "{}", made.location);
    let shown = ada.get(&made.location).await.expect(200).html;
    let link = format!("<a href=\"/dashboard/posts/{known}\">post {known}</a>");
    assert!(shown.contains("already or goes out there") && shown.contains(&link), "{shown}");
}

#[tokio::test]
async fn each_account_gets_a_text_of_its_own_while_somebody_writes() {
    let app = TestApp::start().await;
    let (_, user) = person(&app, "ada@example.com").await;
    let accounts = [user.connect("bluesky").await, user.connect("mastodon").await];
    let mut browser = Browser::start().await;
    browser.set_viewport(390, false).await;
    log_in(&mut browser, &app, "ada@example.com", PAGE).await;
    let write = |id: &str, text: &str| {
        format!(
            "{{ const field = document.getElementById('{id}'); field.value = '{text}'; \
             field.dispatchEvent(new Event('input', {{bubbles: true}})); }}"
        )
    };
    let choose = "document.querySelectorAll('[name=account_id]').forEach(one => one.click())";
    browser.eval(choose).await;
    let own = format!("own.{}.caption", accounts[0]);
    browser.until(&format!("document.getElementById('{own}')")).await;
    browser
        .eval(&format!("{} {}", write("caption", "For all"), write(&own, "For one alone")))
        .await;
    let shows =
        |text: &str| format!("document.getElementById('result').textContent.includes('{text}')");
    browser.until(&format!("{} && {}", shows("13 of 300 graphemes"), shows("7 of 500"))).await;
    // What was typed for one account is kept, too.
    browser.open(&format!("{}/dashboard", app.origin)).await;
    browser.open(&format!("{}{PAGE}", app.origin)).await;
    browser.until(&format!("document.getElementById('{own}')?.value === 'For one alone'")).await;
    browser.eval("document.querySelector('button[value=draft]').click()").await;
    browser.until("/dashboard\\/sets\\/[0-9a-f-]+$/.test(location.pathname)").await;
    let wide = browser.eval("document.documentElement.scrollWidth").await.as_u64();
    assert!(wide <= Some(390), "{wide:?}");
    let set = list(&user, "post_sets").await[0]["id"].as_str().unwrap().to_owned();
    let set =
        user.get(&format!("/api/v1/post-sets/{set}")).await.expect(200).body["post_set"].clone();
    assert_eq!(set["targets"][0]["overrides"]["caption"], "For one alone");
    // It was sent, so the next one begins empty.
    browser.open(&format!("{}{PAGE}", app.origin)).await;
    browser.until("document.getElementById('caption')").await;
    assert_eq!(browser.eval("document.getElementById('caption').value").await, "");
    assert_eq!(browser.complaints, Vec::<String>::new());
}
