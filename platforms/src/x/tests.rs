//! Walks through posts and chains against a network on loopback, and the table of errors.

use serde_json::{Value, json};

use super::X;
use crate::{
    Draft, Platform, Progress, PublishedPost, Secrets, Session,
    tests::test_server::{self, Network},
};

mod errors;
mod lost;
mod rules;
mod walks;

fn session(network: &Network) -> Session {
    let secrets =
        Secrets::new().with("access_token", "access-1").with("refresh_token", "refresh-1");
    network.session(test_server::account("55", json!({})), secrets)
}

/// Publishes to the end; returns the steps (`phase name`) with what was made.
async fn walk(network: &Network, draft: &Draft) -> (Vec<String>, PublishedPost) {
    let (session, mut state, mut steps) = (session(network), None, Vec::new());
    loop {
        assert!(steps.len() < 40, "{steps:?}");
        let step = X.step(draft, state.as_ref());
        steps.push(format!("{} {}", step.phase.as_str(), step.name));
        let posts = network.lines().iter().filter(|line| line.starts_with("POST")).count();
        let progress = X.publish(&session, draft, state).await.unwrap();
        let after = network.lines().iter().filter(|line| line.starts_with("POST")).count();
        assert!(after - posts <= 1, "more than one change in {steps:?}");
        match progress {
            Progress::Done(published) => return (steps, published),
            Progress::Continue { state: next, .. } => state = Some(next),
        }
    }
}

fn chain(texts: &[&str], settings: Value) -> Draft {
    let mut draft = test_server::draft("", settings);
    draft.post_type = "x_thread".to_owned();
    draft.metadata.insert("x_thread_tweets".to_owned(), json!(texts));
    draft
}

fn made(id: &str) -> (u16, Value) {
    (201, json!({"data": {"id": id, "text": "…"}}))
}

fn listed(id: &str, text: &str, seconds: i64) -> Value {
    json!({"id": id, "text": text, "created_at": test_server::at(seconds).to_rfc3339()})
}
