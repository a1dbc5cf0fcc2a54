//! A tool signs a person up who has no account, and is let in at the end.

use fanfare_tests::{TestApp, Visitor, visitor::PASSWORD};
use serde_json::{Value, json};
use url::Url;

use super::{
    CHALLENGE, REDIRECT, authorize, bearer, decide, parameter, redeem, register, text, usual,
};
use crate::signup::{becomes, step};

/// The link to set a password in the letter to this address.
async fn link(app: &TestApp, email: &str) -> String {
    app.eventually("a letter", || async {
        let asked = fanfare_tests::local_client().get(format!("{}/dev/mail", app.origin));
        let said: Value =
            asked.header("Accept", "application/json").send().await.unwrap().json().await.unwrap();
        let letters = said["letters"].as_array().unwrap().clone();
        let theirs = letters.iter().filter(|letter| letter["to"] == email);
        let words = theirs.flat_map(|letter| text(letter, "text").split_whitespace());
        words.map(str::to_owned).find(|word| word.contains("/set-password/"))
    })
    .await
}

async fn set_password(visitor: &mut Visitor, link: &str) -> String {
    let fields = [("password", PASSWORD.to_owned()), ("password_again", PASSWORD.to_owned())];
    visitor.submit(link, &fields).await.expect(303).location
}

#[tokio::test]
async fn a_tool_signs_somebody_up_and_is_let_in_at_the_end() {
    let app = TestApp::start().await;
    let client = register(&app.origin).await;
    let new = json!({
        "email": "ada@example.com", "name": "Ada", "tier": "pro", "api_addon": true,
        "client_id": client, "redirect_uri": REDIRECT, "code_challenge": CHALLENGE,
        "scope": "posts:read posts:write", "state": "xyz",
    });
    let started = app.without_key().post("/api/v1/signup", new).await.expect(201).body;
    let page: Url = text(&started, "authorize_url").parse().unwrap();
    assert_eq!(
        (page.path(), parameter(&page, "client_id")),
        ("/api/oauth/authorize", client.clone())
    );
    assert_eq!(parameter(&page, "code_challenge_method"), "S256");
    step(&app, &started, "pay").await;
    becomes(&app, &started, "paid").await;
    let mut ada = Visitor::nobody(&app);
    let next = set_password(&mut ada, &link(&app, "ada@example.com").await).await;
    assert_eq!(format!("{}{next}", app.origin), page.as_str(), "the letter leads to the page");
    let polled = becomes(&app, &started, "ready").await;
    assert_eq!(polled["authorize_url"], started["authorize_url"]);
    let back = decide(&mut ada, &next, "allow").await;
    becomes(&app, &started, "completed").await;
    let tokens = redeem(&app.origin, &client, &parameter(&back, "code")).await.expect(200);
    let _ = bearer(&app, &tokens).get("/api/v1/posts").await.expect(200);
}

#[tokio::test]
async fn an_app_names_all_of_it_or_none() {
    let app = TestApp::start().await;
    let client = register(&app.origin).await;
    let start = async |more: Value| {
        let mut new = json!({"email": "ada@example.com", "name": "Ada"});
        new.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        app.without_key().post("/api/v1/signup", new).await
    };
    let half = start(json!({"client_id": client})).await.refused(400, "field_required").body;
    let fields: Vec<_> = half["validation_errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| text(one, "field"))
        .collect();
    assert_eq!(fields, ["redirect_uri", "code_challenge"]);
    let whole = |name: &str, value: &str| {
        let mut whole =
            json!({"client_id": client, "redirect_uri": REDIRECT, "code_challenge": CHALLENGE});
        whole[name] = value.into();
        whole
    };
    for (name, value) in [
        ("client_id", "dyn_unknown"),
        ("redirect_uri", "https://evil.example/cb"),
        ("code_challenge", "short"),
        ("code_challenge_method", "plain"),
        ("resource", "https://elsewhere.example"),
        ("state", &"s".repeat(1_025)),
    ] {
        let refused = start(whole(name, value)).await.refused(400, "invalid_field").body;
        assert_eq!(refused["validation_errors"][0]["field"], name, "{refused}");
    }
    assert_eq!(start(json!({})).await.expect(201).body["authorize_url"], Value::Null);
}

#[tokio::test]
async fn the_log_in_offers_to_sign_up_and_comes_back() {
    let app = TestApp::start().await;
    let client = register(&app.origin).await;
    let mut asked = usual(&client);
    asked.push(("login_hint", "bob@example.com"));
    let page = authorize(&asked);
    let mut bob = Visitor::nobody(&app);
    let login = bob.get(&page).await.expect(303).location;
    let login = bob.get(&login).await.expect(200);
    assert!(login.html.contains("value=\"bob@example.com\""), "the tool's hint is filled in");
    let form = bob.get(&login.link("Sign up")).await.expect(200);
    assert_eq!(form.hidden("next"), page);
    let mut fields = vec![
        ("csrf", form.hidden("csrf")),
        ("next", page.clone()),
        ("name", "Bob".to_owned()),
        ("email", "not an address".to_owned()),
        ("tier", "pro".to_owned()),
        ("api_addon", "1".to_owned()),
    ];
    let wrong = bob.send("/signup", &fields).await.expect(400);
    assert!(
        wrong.html.contains("is not an e-mail address") && wrong.html.contains("value=\"Bob\"")
    );
    fields[3].1 = "bob@example.com".to_owned();
    let begun = bob.send("/signup", &fields).await.expect(303).location;
    let shown = bob.get(&begun).await.expect(200);
    assert!(shown.html.contains("pro with the API add-on"));
    let session = begun.rsplit('/').next().unwrap();
    let polled =
        app.without_key().get(&format!("/api/v1/signup/sessions/{session}")).await.expect(200);
    let started = polled.body["signup_session"].clone();
    step(&app, &started, "pay").await;
    becomes(&app, &started, "paid").await;
    let next = set_password(&mut bob, &link(&app, "bob@example.com").await).await;
    let back = decide(&mut bob, &next, "allow").await;
    let _ = redeem(&app.origin, &client, &parameter(&back, "code")).await.expect(200);
    fields[0].1 = "guessed".to_owned();
    assert_eq!(bob.send("/signup", &fields).await.status, 400);
}
