//! What somebody typed comes back with every refusal.

use fanfare_tests::TestApp;
use serde_json::json;

use super::Somebody;

/// A form, the fields that make it refused, and what was typed.
struct Refused {
    page: String,
    action: String,
    fields: Vec<(&'static str, String)>,
    typed: String,
}

/// A form whose typed text is in the field `name`, besides `others`.
fn refused(
    page: &str,
    action: &str,
    name: &'static str,
    typed: &str,
    others: &[(&'static str, &str)],
) -> Refused {
    let others = others.iter().map(|(name, value)| (*name, (*value).to_owned()));
    Refused {
        page: page.to_owned(),
        action: action.to_owned(),
        fields: others.chain([(name, typed.to_owned())]).collect(),
        typed: typed.to_owned(),
    }
}

#[tokio::test]
async fn every_form_brings_back_what_was_typed() {
    let app = TestApp::start().await;
    let mut ada = Somebody::new(&app, "ada@example.com").await;
    let account = ada.user.connect("x").await;
    let new = json!({"account_id": account, "caption": "Short", "scheduled_at": app.at(86_400)});
    let post = format!("/dashboard/posts/{}", ada.user.publish(new).await["id"]);
    let brand = format!("/dashboard/brands/{}", app.brand(ada.home, &[]).await);
    let hook = json!({"url": "https://example.com/hook"});
    let hook =
        ada.user.post("/api/v1/webhooks", hook).await.expect(201).body["webhook"]["id"].clone();
    let hook = format!("/dashboard/webhooks/{}", hook.as_str().unwrap());
    let account = account.to_string();
    let settings = "/dashboard/settings";
    let long =
        |of: &str| format!("{of} <b>&</b> {}", "words that nobody wants to type again ".repeat(40));
    let forms = [
        refused(&post, &format!("{post}/text"), "caption", &long("A post"), &[]),
        refused(&post, &format!("{post}/move"), "scheduled_at", "1999-12-31T10:00", &[]),
        refused(
            "/dashboard/posts/new",
            "/dashboard/posts/new",
            "caption",
            &long("New"),
            &[("do", "publish"), ("account_id", &account)],
        ),
        refused(
            "/dashboard/posts/new",
            "/dashboard/posts/new",
            "alt",
            "A cat, asleep",
            &[("do", "publish"), ("media", "https://example.com/a.png")],
        ),
        refused(settings, &format!("{settings}/name"), "name", &long("Ada"), &[]),
        refused(
            settings,
            &format!("{settings}/workspace"),
            "timezone",
            "Atlantis",
            &[("name", "Work")],
        ),
        refused(
            settings,
            &format!("{settings}/workspace"),
            "name",
            &long("Team"),
            &[("timezone", "UTC")],
        ),
        refused(
            settings,
            &format!("{settings}/times"),
            "times",
            "25:99, noon",
            &[("account_id", &account), ("days", "friday")],
        ),
        refused(
            "/dashboard/webhooks",
            "/dashboard/webhooks",
            "url",
            "not an address",
            &[("events", "*")],
        ),
        refused(
            "/dashboard/api",
            "/dashboard/api",
            "name",
            &long("Key"),
            &[("scopes", "posts:read")],
        ),
        refused(
            "/dashboard/apps",
            "/dashboard/apps",
            "redirect_uris",
            "ftp://example.com/back",
            &[("name", "App"), ("scopes", "posts:read")],
        ),
        refused("/dashboard/team", "/dashboard/team/workspaces", "name", &long("Team"), &[]),
        refused(
            "/dashboard/team",
            "/dashboard/team/invitations",
            "email",
            "nobody at example",
            &[("role", "viewer")],
        ),
        refused("/dashboard/team", "/dashboard/brands", "name", &long("Brand"), &[]),
        refused(&brand, &brand, "tone", &long("Loud").repeat(8), &[]),
        refused(
            "/dashboard/accounts",
            "/dashboard/accounts/sandbox",
            "username",
            &long("Name"),
            &[("platform", "x")],
        ),
        // Refusals without a page of their own.
        refused(&post, "/dashboard/posts/999999/text", "caption", "To a post that is gone", &[]),
        refused(&hook, "/dashboard/reviews/1", "text", "An answer to no review", &[]),
        refused(&hook, "/dashboard/inbox/comments/1", "text", "An answer to no comment", &[]),
        refused(&hook, "/dashboard/settings/nothing", "name", "A setting that is none", &[]),
    ];
    for Refused { page, action, fields, typed } in forms {
        let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let reply = ada.send(&page, &action, &fields).await;
        assert!((400..500).contains(&reply.status), "{action}: {} {}", reply.status, reply.html);
        let escaped = typed.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        assert!(reply.html.contains(escaped.trim()), "{action}: {}", reply.html);
        assert!(reply.html.contains("role=\"alert\""), "{action}: {}", reply.html);
    }
}

#[tokio::test]
async fn a_refused_text_is_in_its_open_form_and_marked() {
    let app = TestApp::start().await;
    let mut ada = Somebody::new(&app, "ada@example.com").await;
    let account = ada.user.connect("x").await;
    let new = json!({"account_id": account, "caption": "Short", "scheduled_at": app.at(86_400)});
    let post = format!("/dashboard/posts/{}", ada.user.publish(new).await["id"]);
    let long = "x ".repeat(300);
    let html =
        ada.send(&post, &format!("{post}/text"), &[("caption", &long)]).await.expect(400).html;
    let form = &html[html.find("Change the text").unwrap() - 200..];
    assert!(form.contains("<details class=\"confirm\" open>"), "{form}");
    assert!(form.contains("aria-invalid=\"true\"") && form.contains(long.trim()), "{form}");
    // The refusal takes the focus.
    assert!(html.contains("id=\"refusal\" role=\"alert\" tabindex=\"-1\" autofocus"), "{html}");
}

#[tokio::test]
async fn a_session_that_ended_and_a_form_of_elsewhere_lose_nothing() {
    let app = TestApp::start().await;
    let mut ada = Somebody::new(&app, "ada@example.com").await;
    let page = ada.page("/dashboard/posts/new").await;
    let fields = |csrf: String| {
        vec![
            ("csrf", csrf),
            ("do", "publish".to_owned()),
            ("caption", "Written for an hour".to_owned()),
        ]
    };
    let forged = ada.browser.send("/dashboard/posts/new", &fields("guessed".to_owned())).await;
    assert!(forged.expect(400).html.contains("Written for an hour"));
    let fields = fields(page.hidden("csrf"));
    let _ = ada.browser.send("/logout", &fields[..1]).await.expect(303);
    let ended = ada.browser.send("/dashboard/posts/new", &fields).await.expect(401);
    assert!(ended.html.contains("Written for an hour"), "{}", ended.html);
    assert!(ended.html.contains("Nothing was done.") && ended.html.contains("href=\"/login"));
    // Without any text there is nothing to keep.
    let empty = ada.browser.send("/dashboard/posts/new", &fields[..2]).await.expect(303);
    assert!(empty.location.starts_with("/login"), "{}", empty.location);
}
