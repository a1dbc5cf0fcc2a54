//! A grant and its person's password: what needs the password, what survives a new one, and what nobody learns of it.

use std::time::Duration;

use fanfare_people::sign_in;
use fanfare_tests::{Options, TestApp, Visitor, visitor::PASSWORD};

use super::{bearer, let_in, refresh, register, text};
use crate::service::{Dir, Service};

#[tokio::test]
async fn an_old_log_in_needs_the_password_to_end_a_grant() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let client = register(&app.origin).await;
    let (_, mut ada) = Visitor::person(&app, "ada@example.com").await;
    let tokens = let_in(&app, &mut ada, &client).await;
    app.advance(Duration::from_secs(3_000));
    let tokens = refresh(&app.origin, &client, text(&tokens, "refresh_token")).await.expect(200);
    app.advance(Duration::from_secs(601));
    let page = ada.get("/dashboard/apps").await.expect(200);
    let end = action(&page.html, "/end");
    let mut fields = vec![("csrf", page.hidden("csrf"))];
    let refused = ada.send(&end, &fields).await.expect(400);
    assert!(refused.html.contains("needs your password"), "{}", refused.html);
    fields.push(("password", "not her password".to_owned()));
    let refused = ada.send(&end, &fields).await.expect(400);
    assert!(refused.html.contains("The password is wrong"), "{}", refused.html);
    let _ = bearer(&app, &tokens).get("/api/v1/whoami").await.expect(200);
    fields[1].1 = PASSWORD.to_owned();
    let _ = ada.send(&end, &fields).await.expect(303);
    bearer(&app, &tokens).get("/api/v1/whoami").await.refused(401, "api_key_revoked");
    refresh(&app.origin, &client, text(&tokens, "refresh_token"))
        .await
        .refused(400, "invalid_grant");
}

fn action(html: &str, end: &str) -> String {
    let mut all = html.split("action=\"").skip(1).map(|rest| &rest[..rest.find('"').unwrap()]);
    all.find(|action| action.ends_with(end)).unwrap_or_else(|| panic!("no {end}")).to_owned()
}

#[tokio::test]
async fn a_new_password_ends_log_ins_and_leaves_tools_to_the_person() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let client = register(&app.origin).await;
    let (_, mut before) = Visitor::person(&app, "ada@example.com").await;
    let tokens = let_in(&app, &mut before, &client).await;
    let new = "another long enough one";
    sign_in::set_password(&app.domain, "ada@example.com", new.into()).await.unwrap();
    assert_eq!(before.get("/dashboard/apps").await.status, 303, "earlier log-ins have ended");
    let _ = bearer(&app, &tokens).get("/api/v1/whoami").await.expect(200);
    let mut ada = Visitor::nobody(&app);
    let _ = ada.try_password_at("/login", "ada@example.com", new).await.expect(303);
    let page = ada.get("/dashboard/apps").await.expect(200);
    assert!(page.html.contains("A tool"), "{}", page.html);
    let csrf = [("csrf", page.hidden("csrf"))];
    let _ = ada.send(&action(&page.html, "/end"), &csrf).await.expect(303);
    bearer(&app, &tokens).get("/api/v1/whoami").await.refused(401, "api_key_revoked");
}

/// The time of an answer is that of one comparison of hashes, whoever asks. Times are not measured here: what takes the time is
/// counted.
#[tokio::test]
async fn a_log_in_compares_one_hash_whether_somebody_is_known_or_not() {
    let dir = Dir::new();
    let log = ("FANFARE_LOG", "error,fanfare_core::passwords=trace");
    let service = Service::start(&dir, true, &[log, ("FANFARE_LIMITS_FACTOR", "1000")]);
    let mut owner = Visitor::of(&service.origin);
    let compared = |service: &Service| {
        service.logged().iter().filter(|line| line.contains("a password is compared")).count()
    };
    // Known without a password, unknown, and known with one.
    for email in ["owner@localhost", "nobody@example.com"] {
        let before = compared(&service);
        let wrong = owner.try_password_at("/login", email, "a wrong password").await.expect(401);
        assert_eq!(counted(&service, before).await, 1, "{email}");
        assert!(!wrong.html.contains("no such"), "{}", wrong.html);
    }
    crate::command_login::set_password(&mut owner, &service.origin).await;
    let mut pages = Vec::new();
    for email in ["owner@localhost", "nobody@example.com"] {
        let before = compared(&service);
        let mut somebody = Visitor::of(&service.origin);
        let wrong = somebody.try_password_at("/login", email, "a wrong password").await;
        assert_eq!(counted(&service, before).await, 1, "{email}");
        // The address that was typed in and the form's token are the only differences.
        let csrf = wrong.hidden("csrf");
        pages.push((
            wrong.status,
            wrong.html.replace(&format!("value=\"{email}\""), "").replace(&csrf, ""),
        ));
    }
    assert_eq!(pages[0], pages[1]);
    // A person who forgot a password, or signs up, is not looked up before the answer, and nothing is compared.
    let before = compared(&service);
    for email in ["owner@localhost", "nobody@example.com"] {
        let csrf = owner.get("/forgot").await.expect(200).hidden("csrf");
        let sent = owner.send("/forgot", &[("csrf", csrf), ("email", email.to_owned())]).await;
        assert!(sent.expect(200).html.contains("Check your mail"));
        let new = serde_json::json!({"email": email, "name": "Ada"});
        let http = fanfare_tests::local_client();
        let sent = http.post(format!("{}/api/v1/signup", service.origin)).json(&new);
        assert_eq!(sent.send().await.unwrap().status().as_u16(), 201, "{email}");
    }
    assert_eq!(compared(&service), before);
}

/// Waits for the log of what was answered; the comparisons since then.
async fn counted(service: &Service, before: usize) -> usize {
    crate::service::eventually("a password is compared", || async {
        let lines = service.logged();
        let all = lines.iter().filter(|line| line.contains("a password is compared")).count();
        (all > before).then_some(all - before)
    })
    .await
}
