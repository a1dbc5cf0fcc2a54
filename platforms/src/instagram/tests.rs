//! Walks through posts against a network on loopback, and the table of errors.

use serde_json::{Value, json};

use super::Instagram;
use crate::{
    Draft, Platform, Progress, PublishedPost, Secrets, Session,
    tests::test_server::{self, Network, Seen, id},
};

mod accounts;
mod errors;
mod recovery;
mod rules;
mod walks;

fn session(network: &Network) -> Session {
    let secrets = Secrets::new().with("access_token", "EAApagetoken");
    let meta = json!({"instagram_business_account_id": "55", "page_id": "7"});
    network.session(test_server::account("55", meta), secrets)
}

/// Publishes to the end; returns the steps (`phase name`) with what was made.
async fn walk(network: &Network, draft: &Draft) -> (Vec<String>, PublishedPost) {
    let (session, mut state, mut steps) = (session(network), None, Vec::new());
    loop {
        assert!(steps.len() < 40, "{steps:?}");
        let step = Instagram.step(draft, state.as_ref());
        steps.push(format!("{} {}", step.phase.as_str(), step.name));
        let posts = network.lines().iter().filter(|line| line.starts_with("POST")).count();
        let progress = Instagram.publish(&session, draft, state).await.unwrap();
        let after = network.lines().iter().filter(|line| line.starts_with("POST")).count();
        assert!(after - posts <= 1, "more than one change in {steps:?}");
        match progress {
            Progress::Done(published) => return (steps, published),
            Progress::Continue { state: next, .. } => state = Some(next),
        }
    }
}

/// Gives every container and post a number; containers are in progress once, then finished.
fn well_behaved() -> impl FnMut(&Seen) -> (u16, Value) + Send + 'static {
    let mut made = 0;
    let mut asked = Vec::new();
    move |seen| match seen.line.as_str() {
        "GET /net/v26.0/55/content_publishing_limit" => {
            (200, json!({"data": [{"quota_usage": 3, "config": {"quota_total": 50}}]}))
        }
        "POST /net/v26.0/55/media" => {
            made += 1;
            id(format!("c{made}"))
        }
        "POST /net/v26.0/55/media_publish" => {
            id(seen.form("creation_id").unwrap().replace('c', "p"))
        }
        line if line.starts_with("POST /net/v26.0/p") && line.ends_with("/comments") => id("k1"),
        line if line.starts_with("GET /net/v26.0/c") => {
            let first = !asked.contains(&seen.line);
            asked.push(seen.line.clone());
            (200, json!({"status_code": if first { "IN_PROGRESS" } else { "FINISHED" }}))
        }
        line if line.starts_with("GET /net/v26.0/p") => {
            (200, json!({"permalink": "https://www.instagram.com/p/x/"}))
        }
        line => panic!("{line}"),
    }
}

fn with(files: &[(&'static str, &str)], post_type: &str, settings: Value) -> Draft {
    let mut draft = test_server::draft("Words", settings);
    draft.post_type = post_type.to_owned();
    draft.media = files.iter().map(|(name, mime)| test_server::media(name, mime)).collect();
    draft
}

const IMAGE: (&str, &str) = ("a.jpg", "image/jpeg");
const VIDEO: (&str, &str) = ("a.mp4", "video/mp4");

fn resumed(progress: Progress) -> Value {
    match progress {
        Progress::Continue { state, .. } => state,
        Progress::Done(published) => panic!("{published:?}"),
    }
}
