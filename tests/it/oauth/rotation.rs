//! Codes and refresh tokens are good once: one of two at once wins, and a second use ends everything.

use std::time::Duration;

use fanfare_entities::{oauth_client, oauth_grant, oauth_token};
use fanfare_people::oauth_provider::{
    self, CodeExchange, OauthError, OauthRefusal, RefreshRequest,
};
use fanfare_tests::{Options, TestApp, Visitor};
use sea_orm::{EntityTrait, PaginatorTrait};

use super::{
    REDIRECT, VERIFIER, authorize, bearer, decide, let_in, parameter, post_form, redeem, refresh,
    register, text, usual,
};
use crate::service::{Dir, Service};

async fn quiet() -> TestApp {
    TestApp::with(Options { workers: false, ..Options::default() }).await
}

/// Without a grace time.
async fn strict() -> TestApp {
    TestApp::with(Options { workers: false, oauth_grace: 0, ..Options::default() }).await
}

const TICK: Duration = Duration::from_millis(1);

#[tokio::test]
async fn a_second_use_of_a_code_ends_what_came_of_the_first() {
    let app = quiet().await;
    let client = register(&app.origin).await;
    let (_, mut ada) = Visitor::person(&app, "ada@example.com").await;
    let back = decide(&mut ada, &authorize(&usual(&client)), "allow").await;
    let code = parameter(&back, "code");
    let tokens = redeem(&app.origin, &client, &code).await.expect(200);
    // A request made before the answer has only lost a race.
    let raced = CodeExchange {
        code: &code,
        client_id: &client,
        redirect_uri: REDIRECT,
        verifier: VERIFIER,
        resource: &[],
        received_at: app.clock.now() - 1,
    };
    let lost = oauth_provider::exchange(&app.domain, raced).await.unwrap_err();
    assert!(matches!(lost, OauthRefusal::Flaw(flaw) if flaw.error == OauthError::InvalidGrant));
    let _ = bearer(&app, &tokens).get("/api/v1/whoami").await.expect(200);
    // Another client's or address's attempt is none.
    app.advance(TICK);
    let other = register(&app.origin).await;
    redeem(&app.origin, &other, &code).await.refused(400, "invalid_grant");
    let _ = bearer(&app, &tokens).get("/api/v1/whoami").await.expect(200);
    redeem(&app.origin, &client, &code).await.refused(400, "invalid_grant");
    bearer(&app, &tokens).get("/api/v1/whoami").await.refused(401, "api_key_revoked");
    refresh(&app.origin, &client, text(&tokens, "refresh_token"))
        .await
        .refused(400, "invalid_grant");
}

#[tokio::test]
async fn a_wrong_verifier_spends_the_code_and_the_wrong_client_does_not() {
    let app = quiet().await;
    let (client, other) = (register(&app.origin).await, register(&app.origin).await);
    let (_, mut ada) = Visitor::person(&app, "ada@example.com").await;
    let page = authorize(&usual(&client));
    let code = parameter(&decide(&mut ada, &page, "allow").await, "code");
    redeem(&app.origin, &other, &code).await.refused(400, "invalid_grant");
    let _ = redeem(&app.origin, &client, &code).await.expect(200);
    let code = parameter(&decide(&mut ada, &page, "allow").await, "code");
    let wrong = [
        ("grant_type", "authorization_code"),
        ("code", code.as_str()),
        ("client_id", client.as_str()),
        ("redirect_uri", REDIRECT),
        ("code_verifier", "a-verifier-that-is-long-enough-but-not-the-right-one"),
    ];
    post_form(&app.origin, "/api/oauth/token", &wrong).await.refused(400, "invalid_grant");
    redeem(&app.origin, &client, &code).await.refused(400, "invalid_grant");
    let grants = oauth_grant::Entity::find().count(&app.domain.db.read).await.unwrap();
    assert_eq!(grants, 1, "nothing came of the second code");
    // A code is good for a minute.
    let code = parameter(&decide(&mut ada, &page, "allow").await, "code");
    app.advance(Duration::from_secs(60));
    redeem(&app.origin, &client, &code).await.refused(400, "invalid_grant");
}

#[tokio::test]
async fn of_many_at_once_one_gets_tokens_and_they_live() {
    let app = strict().await;
    let second = app.second_instance().await;
    let client = register(&app.origin).await;
    let (_, mut ada) = Visitor::person(&app, "ada@example.com").await;
    let page = authorize(&usual(&client));
    let code = parameter(&decide(&mut ada, &page, "allow").await, "code");
    let origins = [app.origin.clone(), second];
    let mut asked = tokio::task::JoinSet::new();
    for n in 0..16 {
        let (origin, client, code) = (origins[n % 2].clone(), client.clone(), code.clone());
        asked.spawn(async move { redeem(&origin, &client, &code).await });
    }
    let mut won: Vec<_> = asked.join_all().await;
    won.retain(|said| said.status == 200);
    assert_eq!(won.len(), 1);
    let tokens = won.remove(0).body;
    let _ = bearer(&app, &tokens).get("/api/v1/whoami").await.expect(200);
    let token = text(&tokens, "refresh_token").to_owned();
    let mut asked = tokio::task::JoinSet::new();
    for n in 0..16 {
        let (origin, client, token) = (origins[n % 2].clone(), client.clone(), token.clone());
        asked.spawn(async move { refresh(&origin, &client, &token).await });
    }
    let mut won: Vec<_> = asked.join_all().await;
    won.retain(|said| said.status == 200);
    assert_eq!(won.len(), 1);
    let next = won.remove(0).body;
    let _ = bearer(&app, &next).get("/api/v1/whoami").await.expect(200);
    let _ = refresh(&app.origin, &client, text(&next, "refresh_token")).await.expect(200);
}

#[tokio::test]
async fn a_spent_refresh_token_ends_the_grant() {
    let app = strict().await;
    let client = register(&app.origin).await;
    let (_, mut ada) = Visitor::person(&app, "ada@example.com").await;
    let first = let_in(&app, &mut ada, &client).await;
    let second = refresh(&app.origin, &client, text(&first, "refresh_token")).await.expect(200);
    let _ = bearer(&app, &first).get("/api/v1/whoami").await.expect(200);
    let raced = RefreshRequest {
        token: text(&first, "refresh_token"),
        client_id: &client,
        scope: None,
        resource: &[],
        received_at: app.clock.now(),
    };
    assert!(oauth_provider::refresh(&app.domain, raced).await.is_err());
    let _ = bearer(&app, &second).get("/api/v1/whoami").await.expect(200);
    app.advance(TICK);
    refresh(&app.origin, &client, text(&first, "refresh_token"))
        .await
        .refused(400, "invalid_grant");
    for tokens in [&first, &second] {
        bearer(&app, tokens).get("/api/v1/whoami").await.refused(401, "api_key_revoked");
    }
    refresh(&app.origin, &client, text(&second, "refresh_token"))
        .await
        .refused(400, "invalid_grant");
}

#[tokio::test]
async fn a_refused_refresh_spends_nothing_and_a_narrow_one_narrows_one_token() {
    let app = quiet().await;
    let client = register(&app.origin).await;
    let (_, mut ada) = Visitor::person(&app, "ada@example.com").await;
    let tokens = let_in(&app, &mut ada, &client).await;
    let token = text(&tokens, "refresh_token");
    let ask = async |token: &str, name: &str, value: &str| {
        let fields = [
            ("grant_type", "refresh_token"),
            ("client_id", &client),
            ("refresh_token", token),
            (name, value),
        ];
        post_form(&app.origin, "/api/oauth/token", &fields).await
    };
    ask(token, "scope", "posts:read billing:read").await.refused(400, "invalid_scope");
    ask(token, "scope", "offline_access").await.refused(400, "invalid_scope");
    ask(token, "resource", "https://elsewhere.example").await.refused(400, "invalid_target");
    let narrow = ask(token, "scope", "posts:read").await.expect(200);
    assert_eq!(text(&narrow, "scope"), "posts:read");
    bearer(&app, &narrow).get("/api/v1/accounts").await.refused(403, "insufficient_scope");
    let whole = refresh(&app.origin, &client, text(&narrow, "refresh_token")).await.expect(200);
    assert_eq!(text(&whole, "scope"), text(&tokens, "scope"));
}

#[tokio::test]
async fn within_the_grace_everybody_gets_the_same_next_token_and_none_is_dead() {
    let app = quiet().await;
    let second = app.second_instance().await;
    let client = register(&app.origin).await;
    let (_, mut ada) = Visitor::person(&app, "ada@example.com").await;
    let first = let_in(&app, &mut ada, &client).await;
    let token = text(&first, "refresh_token").to_owned();
    let origins = [app.origin.clone(), second];
    let mut asked = tokio::task::JoinSet::new();
    for n in 0..16 {
        let (origin, client, token) = (origins[n % 2].clone(), client.clone(), token.clone());
        asked.spawn(async move { refresh(&origin, &client, &token).await.expect(200) });
    }
    let mut all = asked.join_all().await;
    // The answer was lost, and the client comes again.
    app.advance(Duration::from_secs(29));
    all.push(refresh(&app.origin, &client, &token).await.expect(200));
    let next = text(&all[0], "refresh_token").to_owned();
    assert_ne!(next, token);
    let mut access = std::collections::HashSet::new();
    for tokens in &all {
        assert_eq!(text(tokens, "refresh_token"), next);
        assert!(access.insert(text(tokens, "access_token").to_owned()));
        let _ = bearer(&app, tokens).get("/api/v1/whoami").await.expect(200);
    }
    let _ = bearer(&app, &first).get("/api/v1/whoami").await.expect(200);
    // Another client's use within the grace is none.
    let other = register(&app.origin).await;
    refresh(&app.origin, &other, &token).await.refused(400, "invalid_grant");
    let last = refresh(&app.origin, &client, &next).await.expect(200);
    // An answer within the grace leads on even after its successor was used.
    assert_eq!(
        text(&refresh(&app.origin, &client, &token).await.expect(200), "refresh_token"),
        next
    );
    app.advance(Duration::from_secs(2));
    refresh(&app.origin, &client, &token).await.refused(400, "invalid_grant");
    for tokens in all.iter().chain([&first, &last]) {
        bearer(&app, tokens).get("/api/v1/whoami").await.refused(401, "api_key_revoked");
    }
}

#[tokio::test]
async fn of_fifteen_grants_that_four_connections_refresh_at_once_none_is_lost() {
    let app = quiet().await;
    let client = register(&app.origin).await;
    let (_, mut ada) = Visitor::person(&app, "ada@example.com").await;
    for _ in 0..15 {
        let first = let_in(&app, &mut ada, &client).await;
        let token = text(&first, "refresh_token");
        let all = (0..4).map(|_| refresh(&app.origin, &client, token));
        for said in futures_util::future::join_all(all).await {
            let tokens = said.expect(200);
            let _ = bearer(&app, &tokens).get("/api/v1/whoami").await.expect(200);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_restart_everything_is_known() {
    let dir = Dir::new();
    let service = Service::start(&dir, true, &[]);
    let client = register(&service.origin).await;
    drop(service);
    let service = Service::start(&dir, false, &[]);
    let code = [
        ("grant_type", "authorization_code"),
        ("code", "unknown"),
        ("client_id", client.as_str()),
        ("redirect_uri", REDIRECT),
        ("code_verifier", VERIFIER),
    ];
    // The client is known still, so what is wrong is the code.
    post_form(&service.origin, "/api/oauth/token", &code).await.refused(400, "invalid_grant");
}

#[tokio::test]
async fn what_has_ended_is_forgotten_in_time() {
    let app = quiet().await;
    let (client, unused) = (register(&app.origin).await, register(&app.origin).await);
    let (_, mut ada) = Visitor::person(&app, "ada@example.com").await;
    let tokens = let_in(&app, &mut ada, &client).await;
    let day = Duration::from_secs(86_400);
    let known = async |id: &str| {
        oauth_client::Entity::find_by_id(id).one(&app.domain.db.read).await.unwrap().is_some()
    };
    let grants = async || oauth_grant::Entity::find().all(&app.domain.db.read).await.unwrap();
    app.advance(8 * day);
    assert!(fanfare_ops::upkeep::clean_up(&app.domain).await.failed.is_empty());
    assert!(known(&client).await && !known(&unused).await, "an unused client goes after a week");
    let next = refresh(&app.origin, &client, text(&tokens, "refresh_token")).await.expect(200);
    app.advance(29 * day);
    assert!(fanfare_ops::upkeep::clean_up(&app.domain).await.failed.is_empty());
    assert_eq!(grants().await[0].ended_at, None, "a refresh token is left");
    let _ = refresh(&app.origin, &client, text(&next, "refresh_token")).await.expect(200);
    app.advance(31 * day);
    assert!(fanfare_ops::upkeep::clean_up(&app.domain).await.failed.is_empty());
    assert!(grants().await[0].ended_at.is_some(), "no token of it is good");
    app.advance(91 * day);
    assert!(fanfare_ops::upkeep::clean_up(&app.domain).await.failed.is_empty());
    assert!(grants().await.is_empty() && !known(&client).await);
    assert_eq!(oauth_token::Entity::find().count(&app.domain.db.read).await.unwrap(), 0);
}
