//! Letters leave once, are wiped, and a forgotten password is replaced without telling anybody who has an account.

use std::time::Duration;

use fanfare_core::{failpoint, logins::LoginSource};
use fanfare_entities::{letter, secret};
use fanfare_mail::Mailer;
use fanfare_people::sign_in;
use fanfare_sandbox::smtp::{MailFault, MailServer};
use fanfare_tests::{Options, TestApp, Visitor, visitor::PASSWORD};
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter};
use serde_json::Value;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::service::{Dir, Service, eventually};

const NEW: &str = "another long enough one";

/// A mail server of a test, which ends with the value.
struct Post {
    server: MailServer,
    _stop: DropGuard,
}

impl Post {
    async fn open() -> Self {
        let stop = CancellationToken::new();
        let any = "127.0.0.1:0".parse().unwrap();
        let server = MailServer::serve(any, stop.clone()).await.unwrap();
        Self { server, _stop: stop.drop_guard() }
    }

    fn url(&self) -> String {
        format!("smtp://{}", self.server.address())
    }

    fn mailer(&self) -> Option<Mailer> {
        Some(Mailer::new(&self.url().into(), "Fanfare <hello@fanfare.example>").unwrap())
    }
}

async fn with(post: &Post) -> TestApp {
    TestApp::with(Options { mailer: post.mailer(), ..Options::default() }).await
}

/// Asks for a new password on the page; what the page answers.
async fn forget(visitor: &mut Visitor, email: &str) -> (u16, String) {
    let csrf = visitor.get("/forgot").await.expect(200).hidden("csrf");
    let shown = visitor.send("/forgot", &[("csrf", csrf), ("email", email.into())]).await;
    (shown.status, shown.html)
}

async fn set(visitor: &mut Visitor, link: &str, password: &str) -> (u16, String) {
    let fields = [("password", password.to_owned()), ("password_again", password.to_owned())];
    let shown = visitor.submit(link, &fields).await;
    (shown.status, shown.location)
}

/// The link in a letter's text.
fn link(text: &str) -> String {
    let mut words = text.split_whitespace();
    words.find(|word| word.contains("/set-password/")).expect("a link").to_owned()
}

#[tokio::test]
async fn a_forgotten_password_is_replaced_once_and_ends_every_log_in() {
    let post = Post::open().await;
    let app = with(&post).await;
    let (_, mut before) = Visitor::person(&app, "ada@example.com").await;
    let mut ada = Visitor::nobody(&app);
    for _ in 0..2 {
        let (status, html) = forget(&mut ada, " Ada@Example.com").await;
        assert_eq!((status, html.contains("Check your mail")), (200, true), "{html}");
    }
    let letters = app
        .eventually("two letters", || async {
            Some(post.server.letters()).filter(|letters| letters.len() == 2)
        })
        .await;
    assert_ne!(letters[0].header("Message-ID"), letters[1].header("Message-ID"));
    assert_eq!(letters[0].to, ["ada@example.com"]);
    assert_eq!(letters[0].header("From"), "Fanfare <hello@fanfare.example>");
    let links = [link(&letters[0].text()), link(&letters[1].text())];
    // Letters overtake one another; whichever link was made last is the good one.
    let mut pages = Vec::new();
    for link in &links {
        pages.push(ada.get(link).await.status);
    }
    pages.sort_unstable();
    assert_eq!(pages, [200, 404], "a newer link ends an older one");
    let mut good = String::new();
    for link in &links {
        if ada.get(link).await.status == 200 {
            good.clone_from(link);
        }
    }
    for bad in ["short", "1234567890", "ada@example.com"] {
        assert_eq!(set(&mut ada, &good, bad).await.0, 400, "{bad}");
    }
    let differ = [("password", NEW.to_owned()), ("password_again", "something else".to_owned())];
    assert_eq!(ada.submit(&good, &differ).await.status, 400);
    assert_eq!(set(&mut ada, &good, NEW).await, (303, "/dashboard/api".to_owned()));
    let _ = ada.get("/dashboard/api").await.expect(200);
    assert_eq!(before.get("/connect").await.status, 303, "earlier log-ins have ended");
    assert_eq!(set(&mut ada, &good, NEW).await.0, 404, "a link is good once");
    let mut again = Visitor::nobody(&app);
    assert_eq!(again.try_password_at("/login", "ada@example.com", PASSWORD).await.status, 401);
    let _ = again
        .try_password_at("/login?next=/dashboard/api", "ada@example.com", NEW)
        .await
        .expect(303);
}

#[tokio::test]
async fn of_links_made_at_the_same_time_one_is_good() {
    let post = Post::open().await;
    let app = with(&post).await;
    app.person("ada@example.com").await;
    let mut ada = Visitor::nobody(&app);
    for _ in 0..12 {
        assert_eq!(forget(&mut ada, "ada@example.com").await.0, 200);
    }
    let letters = app
        .eventually("all letters", || async {
            Some(post.server.letters()).filter(|letters| letters.len() == 12)
        })
        .await;
    let mut good = 0;
    for letter in letters {
        good += usize::from(ada.get(&link(&letter.text())).await.status == 200);
    }
    assert_eq!(good, 1, "each newer link ends the ones before");
}

#[tokio::test]
async fn every_address_is_answered_alike() {
    let post = Post::open().await;
    let app =
        TestApp::with(Options { mailer: post.mailer(), limits_factor: 1.0, ..Options::default() });
    let app = app.await;
    app.person("ada@example.com").await;
    let mut eve = Visitor::nobody(&app);
    let known = forget(&mut eve, "ada@example.com").await;
    assert_eq!(forget(&mut eve, "nobody@example.com").await, known);
    // Beyond three an hour for one address nothing is sent, and nothing tells so.
    for _ in 0..3 {
        assert_eq!(forget(&mut eve, "ada@example.com").await, known);
    }
    app.eventually("all letters have ended", || async {
        let pending = letter::Column::DueAt.is_not_null();
        let left = letter::Entity::find().filter(pending).count(&app.domain.db.read).await.unwrap();
        (left == 0).then_some(())
    })
    .await;
    assert_eq!(post.server.letters().len(), 3);
    for _ in 0..5 {
        assert_eq!(forget(&mut eve, "somebody@example.com").await.0, 200);
    }
    assert_eq!(
        forget(&mut eve, "somebody-else@example.com").await.0,
        429,
        "of one network address"
    );
    let csrf = eve.get("/forgot").await.expect(200).hidden("csrf");
    let forged = [("csrf", format!("{csrf}0")), ("email", "a@b.c".into())];
    assert_eq!(eve.send("/forgot", &forged).await.status, 400);
}

#[tokio::test]
async fn a_link_expires() {
    let post = Post::open().await;
    let app = with(&post).await;
    app.person("ada@example.com").await;
    let mut ada = Visitor::nobody(&app);
    forget(&mut ada, "ada@example.com").await;
    let letter =
        app.eventually("a letter", || async { post.server.letters().first().cloned() }).await;
    let link = link(&letter.text());
    let _ = ada.get(&link).await.expect(200);
    app.advance(Duration::from_secs(3_601));
    assert_eq!(ada.get(&link).await.status, 404);
    assert_eq!(set(&mut ada, &link, NEW).await.0, 404);
    let guessed = format!("{}/guessed", link.rsplit_once('/').unwrap().0);
    assert_eq!(ada.get(&guessed).await.status, 404);
}

/// Moves the clock to the next try of the letter that waits for one; never while one is being sent, whose lease would end.
async fn to_next_try(app: &TestApp) {
    let rows = letter::Entity::find().all(&app.domain.db.read).await.unwrap();
    let waiting = rows.iter().filter(|row| row.lease_expirations == 0);
    if let Some(at) = waiting.filter_map(|row| row.due_at).min() {
        let wait = u64::try_from(at - app.clock.now()).unwrap_or_default();
        app.advance(Duration::from_millis(wait));
    }
}

#[tokio::test]
async fn a_letter_is_tried_again_under_its_id_and_given_up_when_it_is_refused() {
    let post = Post::open().await;
    let app = with(&post).await;
    app.person("ada@example.com").await;
    post.server.queue_faults(&[MailFault::Refuse(451), MailFault::LoseAnswer]);
    let mut ada = Visitor::nobody(&app);
    forget(&mut ada, "ada@example.com").await;
    let letters = app
        .eventually("the same letter twice", || async {
            to_next_try(&app).await;
            Some(post.server.letters()).filter(|letters| letters.len() == 2)
        })
        .await;
    assert_eq!(letters[0].header("Message-ID"), letters[1].header("Message-ID"));
    assert_eq!(letters[0].text(), letters[1].text(), "the link in it is the same");
    post.server.queue_faults(&[MailFault::Refuse(550)]);
    forget(&mut ada, "ada@example.com").await;
    app.eventually("it is given up", || async {
        let rows = letter::Entity::find().all(&app.domain.db.read).await.unwrap();
        rows.iter()
            .any(|row| row.status == letter::LetterStatus::Failed && row.attempts == 1)
            .then_some(())
    })
    .await;
    assert_eq!(post.server.letters().len(), 2);
}

#[tokio::test]
async fn a_letter_is_sealed_and_wiped_a_day_later() {
    let app = TestApp::start().await;
    app.person("ada@example.com").await;
    let mut ada = Visitor::nobody(&app);
    forget(&mut ada, "ada@example.com").await;
    let http = fanfare_tests::local_client();
    let url = format!("{}/dev/mail", app.origin);
    let ask = || async {
        let asked = http.get(&url).header("Accept", "application/json").send().await.unwrap();
        asked.json::<Value>().await.unwrap()["letters"].as_array().unwrap().clone()
    };
    let shown =
        app.eventually("a letter stands there", || async { ask().await.first().cloned() }).await;
    assert_eq!(shown["to"], "ada@example.com");
    let link = shown["links"][0].as_str().unwrap().to_owned();
    assert!(shown["text"].as_str().unwrap().contains(&link));
    assert!(http.get(&url).send().await.unwrap().text().await.unwrap().contains(&link));
    for (name, value) in [("X-Forwarded-For", "192.0.2.1"), ("Host", "evil.example")] {
        let refused = http.get(&url).header(name, value).send().await.unwrap();
        assert_eq!(refused.status(), 404, "{name}");
    }
    let sealed = || async {
        let kept = secret::Column::OwnerTable.eq("letters");
        secret::Entity::find().filter(kept).count(&app.domain.db.read).await.unwrap()
    };
    assert_eq!(sealed().await, 1);
    app.advance(Duration::from_secs(25 * 3_600));
    assert!(fanfare_ops::upkeep::clean_up(&app.domain).await.failed.is_empty());
    assert_eq!(sealed().await, 0);
    assert_eq!(ask().await, Vec::<Value>::new());
}

#[tokio::test]
async fn letters_stand_on_a_page_on_loopback_alone() {
    let post = Post::open().await;
    let base_url = Some("https://fanfare.example".to_owned());
    let public = TestApp::with(Options { base_url, workers: false, ..Options::default() }).await;
    let with_smtp = with(&post).await;
    for app in [&public, &with_smtp] {
        let url = format!("{}/dev/mail", app.origin);
        let asked = fanfare_tests::local_client().get(url).send().await.unwrap();
        assert_eq!(asked.status(), 404);
    }
    let refused =
        fanfare_people::mail::request_reset(&public.domain, "ada@example.com", "::1").await;
    assert_eq!(refused.unwrap_err().code().entry().code, "mail_not_configured");
}

/// Killed at each step on its way, a letter arrives, and always as the same one.
#[tokio::test]
async fn a_killed_worker_neither_loses_a_letter_nor_sends_another() {
    let post = Post::open().await;
    let url = post.url();
    let settings = |place: &'static str| {
        let mut settings = vec![
            ("FANFARE_SMTP_URL", url.as_str()),
            ("FANFARE_MAIL_FROM", "hello@fanfare.example"),
        ];
        if !place.is_empty() {
            settings.push(("FANFARE_FAILPOINT", place));
        }
        settings
    };
    let dir = Dir::new();
    for (round, place) in failpoint::MAILING.iter().enumerate() {
        let service = Service::start(&dir, round == 0, &settings(place));
        ask(&service.origin).await;
        eventually("the failpoint is reached", || async {
            let said = service.logged().iter().any(|line| line.contains("stopped at a failpoint"));
            said.then_some(())
        })
        .await;
        drop(service);
        let service = Service::start(&dir, false, &settings(""));
        eventually("the letter arrives", || async {
            let mut ids: Vec<_> = post.server.letters().iter().map(id).collect();
            ids.sort_unstable();
            ids.dedup();
            (ids.len() == round + 1).then_some(())
        })
        .await;
        drop(service);
    }
    let mut texts: Vec<_> =
        post.server.letters().iter().map(|one| (id(one), link(&one.text()))).collect();
    texts.sort_unstable();
    texts.dedup();
    assert_eq!(texts.len(), failpoint::MAILING.len(), "a letter always says the same");
}

fn id(letter: &fanfare_sandbox::smtp::ReceivedMail) -> String {
    letter.header("Message-ID").to_owned()
}

/// Asks for a new password for the owner of an embedded installation.
async fn ask(origin: &str) {
    let http = fanfare_tests::local_client();
    let form = http.get(format!("{origin}/forgot")).send().await.unwrap();
    let cookie =
        form.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let html = form.text().await.unwrap();
    let csrf = html.split("name=\"csrf\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    let fields = [("csrf", csrf), ("email", "owner@localhost")];
    let sent = http.post(format!("{origin}/forgot")).header("Cookie", cookie).form(&fields);
    assert_eq!(sent.send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn a_person_without_a_password_gets_one_by_letter() {
    let post = Post::open().await;
    let app = with(&post).await;
    app.person("bob@example.com").await;
    let mut bob = Visitor::nobody(&app);
    forget(&mut bob, "bob@example.com").await;
    let letter =
        app.eventually("a letter", || async { post.server.letters().first().cloned() }).await;
    assert_eq!(set(&mut bob, &link(&letter.text()), NEW).await.0, 303);
    let from = LoginSource { address: "::1", remembered: None };
    sign_in::log_in(&app.domain, ("bob@example.com", NEW.into()), from).await.unwrap();
}

/// Spellings of one mailbox, and texts that hold another address than they seem to.
const SPELLINGS: [&str; 14] = [
    "victim@target.example",
    "VICTIM@target.example",
    "victim@TARGET.example",
    " victim@target.example ",
    "a<victim@target.example>",
    "<victim@target.example>",
    "\"A\" <victim@target.example>",
    "\"victim\"@target.example",
    "victim(x)@target.example",
    "victim@target.example.",
    "victim@target.example,a@b.example",
    "a@b@target.example",
    "victim@target.example\r\nBcc: a@b.example",
    "victim @target.example",
];

#[tokio::test]
async fn one_mailbox_gets_no_more_letters_in_other_spellings() {
    let post = Post::open().await;
    let options = Options { mailer: post.mailer(), limits_factor: 1.0, ..Options::default() };
    let app = TestApp::with(options).await;
    let (_, mut admin) = Visitor::person(&app, "admin@example.com").await;
    let owner =
        fanfare_people::users::find_or_create(&app.domain, "admin@example.com").await.unwrap();
    let team = app.workspace(owner).await;
    let _ = app.person("victim@target.example").await;
    let csrf = admin.get("/dashboard/settings").await.hidden("csrf");
    let chosen = [("csrf", csrf.clone()), ("workspace_id", team.to_string())];
    let _ = admin.send("/dashboard/workspace", &chosen).await.expect(303);
    let mut nobody = Visitor::nobody(&app);
    for spelling in SPELLINGS {
        let _ = forget(&mut nobody, spelling).await;
        let invited = [
            ("csrf", csrf.clone()),
            ("workspace_id", team.to_string()),
            ("email", spelling.to_owned()),
            ("role", "viewer".to_owned()),
        ];
        let status = admin.send("/dashboard/team/invitations", &invited).await.status;
        let is_plain = fanfare_mail::canonical_address(spelling).is_some();
        assert!(is_plain || status == 400, "{spelling:?}: {status}");
        let signup =
            serde_json::json!({"email": spelling, "name": "A", "tier": "starter", "source": "x"});
        let answer = app.without_key().post("/api/v1/signup", signup).await;
        assert!(
            is_plain || answer.status == 400 || answer.status == 429,
            "{spelling:?}: {}",
            answer.text
        );
    }
    app.wait_until_idle().await;
    let letters = post.server.letters();
    let recipients: std::collections::BTreeSet<String> =
        letters.iter().flat_map(|letter| letter.to.clone()).collect();
    assert_eq!(recipients.into_iter().collect::<Vec<_>>(), ["victim@target.example"]);
    // Three links, and three invitations, an hour.
    assert!((3..=6).contains(&letters.len()), "{}", letters.len());
}
