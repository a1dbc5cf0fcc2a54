//! Until it is paid, a signup does not read the table of users: a known e-mail takes as long as an unknown one.

use std::collections::HashSet;

use fanfare_tests::{Options, TestApp, Visitor};
use sea_orm::ConnectionTrait;
use serde_json::Value;

use super::{poll, start, step, text};

/// Signups of each kind, one after the other.
const TRIES: usize = 100;

/// Returns a signup's reply without its id and times.
fn shape(said: &Value) -> String {
    let mut said = said.clone();
    for name in ["session_id", "checkout_redirect_url", "checkout_url", "poll_url", "expires_at"] {
        said[name] = name.into();
    }
    for name in ["created_at", "email"] {
        said[name] = Value::Null;
    }
    said.to_string()
}

#[tokio::test]
async fn nobody_is_looked_up_before_a_payment() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let _ = Visitor::person(&app, "ada@example.com").await;
    // A query of this table fails from now on.
    let away = "ALTER TABLE users RENAME TO users_away";
    app.domain.db.write.execute_unprepared(away).await.unwrap();
    let mut shapes = [HashSet::new(), HashSet::new()];
    for nth in 0..TRIES {
        let emails = ["ada@example.com".to_owned(), format!("nobody{nth}@example.com")];
        for (email, shapes) in emails.iter().zip(&mut shapes) {
            let started = start(&app, email).await;
            shapes.insert(shape(&started));
            shapes.insert(shape(&poll(&app, &started).await));
        }
    }
    assert_eq!(shapes[0], shapes[1]);
    for email in ["ada@example.com", "nobody@example.com"] {
        let started = start(&app, email).await;
        let mut visitor = Visitor::nobody(&app);
        let place = text(&started, "checkout_redirect_url");
        let _ = visitor.get(place).await.expect(200);
        let _ = visitor.get(&format!("{place}/checkout")).await.expect(303);
        step(&app, &started, "decline").await;
        assert_eq!(poll(&app, &started).await["status"], "checkout_opened", "{email}");
        step(&app, &started, "cancel").await;
    }
}
