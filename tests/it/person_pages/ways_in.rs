//! Every visitor finds the way in from the first page, and every e-mail that nobody sends.

use fanfare_tests::{Options, TestApp, Visitor};

use super::Somebody;

/// The addresses that a page leads to.
fn links(html: &str) -> Vec<&str> {
    let parts = html.split("href=\"").skip(1);
    parts.filter_map(|rest| rest.split('"').next()).collect()
}

#[tokio::test]
async fn the_first_page_has_a_way_in_for_each_visitor() {
    let app = TestApp::start().await;
    let first = app.without_key().get("/").await.expect(200).text;
    let links = links(&first);
    for door in ["/login", "/signup", "/dashboard", "/docs", "/admin", "/dev/mail"] {
        assert!(links.contains(&door), "{door}: {links:?}");
    }
    // The owner of a service on this machine is named, and so is the first step.
    assert!(first.contains("owner@localhost") && links.contains(&"/forgot?email=owner@localhost"));
    let mut nobody = Visitor::nobody(&app);
    let login = nobody.get("/login").await.expect(200).html;
    assert!(login.contains("owner@localhost") && login.contains("href=\"/dev/mail\""), "{login}");
    let operators = nobody.get("/admin/login").await.expect(200).html;
    assert!(operators.contains("href=\"/login\""), "{operators}");
    let page = nobody.get("/forgot?email=owner@localhost").await.expect(200);
    assert!(page.html.contains("value=\"owner@localhost\""), "{}", page.html);
    let asked = [("csrf", page.hidden("csrf")), ("email", "owner@localhost".to_owned())];
    let sent = nobody.send("/forgot", &asked).await.expect(200).html;
    assert!(sent.contains("href=\"/dev/mail\"") && !sent.contains("spam"), "{sent}");
    let _ = nobody.get("/dev/mail").await.expect(200);
}

#[tokio::test]
async fn where_no_e_mail_is_sent_an_invitation_is_a_link() {
    let options =
        Options { base_url: Some("http://fanfare.example".to_owned()), ..Options::default() };
    let app = TestApp::with(options).await;
    let mut admin = Somebody::new(&app, "admin@example.com").await;
    let team = app.workspace(admin.id).await;
    admin.choose(team).await;
    let invite = [("email", "new@example.com"), ("role", "editor")];
    let sent = admin.send("/dashboard/team", "/dashboard/team/invitations", &invite).await;
    let html = sent.expect(200).html;
    assert!(html.contains("value=\"http://fanfare.example/invitations/"), "{html}");
    assert!(html.contains("has no mail server") && !html.contains("/dev/mail"), "{html}");
}

#[tokio::test]
async fn where_a_mail_server_sends_no_page_says_that_an_e_mail_is_shown() {
    let mailer = fanfare_mail::Mailer::new(&"smtp://127.0.0.1:9".into(), "Fanfare <a@b.example>");
    let options = Options { mailer: Some(mailer.unwrap()), workers: false, ..Options::default() };
    let app = TestApp::with(options).await;
    let mut nobody = Visitor::nobody(&app);
    for page in ["/login", "/forgot", "/signup"] {
        let html = nobody.get(page).await.expect(200).html;
        assert!(!html.contains("/dev/mail"), "{page}: {html}");
    }
    let first = app.without_key().get("/").await.expect(200).text;
    assert!(!first.contains("/dev/mail"), "{first}");
    // Nothing reaches the owner's address, so the operator sets the password.
    assert!(first.contains("fanfare admin password owner@localhost"), "{first}");
}

#[tokio::test]
async fn every_page_after_which_an_e_mail_comes_says_where_it_is() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let mut admin = Somebody::new(&app, "admin@example.com").await;
    let mut nobody = Visitor::nobody(&app);
    for page in ["/forgot", "/signup"] {
        let html = nobody.get(page).await.expect(200).html;
        assert!(html.contains("href=\"/dev/mail\""), "{page}: {html}");
    }
    let team = app.workspace(admin.id).await;
    admin.choose(team).await;
    let name = fanfare_people::users::workspaces_of(
        &app.domain,
        admin.id,
        fanfare_core::access::Role::Admin,
    );
    let name = name.await.unwrap().into_iter().find(|one| one.id == team).unwrap().name;
    let settings = "/dashboard/settings";
    let action = format!("{settings}/delete-workspace");
    let page = admin.page(settings).await;
    let sent =
        [("csrf", page.hidden("csrf")), ("workspace_id", team.to_string()), ("workspace", name)];
    let done = admin.browser.send(&action, &sent).await.expect(303).location;
    let html = admin.page(&done).await.html;
    assert!(html.contains("href=\"/dev/mail\""), "{html}");
}
