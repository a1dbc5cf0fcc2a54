//! Walks through posts of a page against a network on loopback, and the table of errors.

use serde_json::{Value, json};

use super::Facebook;
use crate::{
    Draft, Platform, Progress, PublishedPost, Secrets, Session,
    tests::test_server::{self, Network},
};

mod errors;
mod lost;
mod pages;
mod walks;

fn session(network: &Network) -> Session {
    let secrets = Secrets::new().with("access_token", "EAApagetoken");
    network.session(test_server::account("55", json!({})), secrets)
}

/// Publishes to the end; returns the steps (`phase name`) with what was made.
async fn walk(network: &Network, draft: &Draft) -> (Vec<String>, PublishedPost) {
    let (session, mut state, mut steps) = (session(network), None, Vec::new());
    loop {
        assert!(steps.len() < 30, "{steps:?}");
        let step = Facebook.step(draft, state.as_ref());
        steps.push(format!("{} {}", step.phase.as_str(), step.name));
        let posts = network.lines().iter().filter(|line| line.starts_with("POST")).count();
        let progress = Facebook.publish(&session, draft, state).await.unwrap();
        let after = network.lines().iter().filter(|line| line.starts_with("POST")).count();
        assert!(after - posts <= 1, "more than one change in {steps:?}");
        match progress {
            Progress::Done(published) => return (steps, published),
            Progress::Continue { state: next, .. } => state = Some(next),
        }
    }
}

fn of_type(post_type: &str, file: &'static str, mime: &str, settings: Value) -> Draft {
    let mut draft = test_server::draft("Words", settings);
    draft.post_type = post_type.to_owned();
    draft.media = vec![test_server::media(file, mime)];
    draft
}

fn post(id: &str, message: &str, seconds: i64) -> Value {
    let time = test_server::at(seconds).format("%Y-%m-%dT%H:%M:%S+0000").to_string();
    json!({"id": id, "message": message, "created_time": time, "permalink_url": "https://fb/p"})
}
