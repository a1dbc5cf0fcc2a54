//! Walks through posts, chains and carousels against a network on loopback, and the table of errors.

use serde_json::{Value, json};

use super::Threads;
use crate::{
    Draft, Platform, Progress, PublishedPost, Secrets, Session,
    tests::test_server::{self, Network},
};

mod errors;
mod recovery;
mod validation;
mod walks;

fn session(network: &Network) -> Session {
    network.session(
        test_server::account("55", json!({})),
        Secrets::new().with("access_token", "THtoken"),
    )
}

/// Publishes to the end; returns the steps (`phase name`) with what was made.
async fn walk(network: &Network, draft: &Draft) -> (Vec<String>, PublishedPost) {
    let (session, mut state, mut steps) = (session(network), None, Vec::new());
    loop {
        assert!(steps.len() < 50, "{steps:?}");
        let posts = network.lines().iter().filter(|line| line.starts_with("POST")).count();
        let step = Threads.step(draft, state.as_ref());
        steps.push(format!("{} {}", step.phase.as_str(), step.name));
        let progress = Threads.publish(&session, draft, state).await.unwrap();
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
    draft.post_type = "threads_thread".to_owned();
    draft.metadata.insert("threads_thread_posts".to_owned(), json!(texts));
    draft
}

fn resumed(progress: Progress) -> Value {
    match progress {
        Progress::Continue { state, .. } => state,
        Progress::Done(published) => panic!("{published:?}"),
    }
}
