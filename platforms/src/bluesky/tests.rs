mod card;
mod errors;
mod publish;
mod verify;
mod video;
mod web;

use serde_json::{Value, json};

use super::Bluesky;
use crate::{
    Account, Draft, Phase, Platform, Progress, PublishedPost, Result, Secrets, Session,
    tests::test_server,
};

const DID: &str = "did:plc:me";

fn account() -> Account {
    Account { username: "me.example".to_owned(), ..test_server::account(DID, json!({"did": DID})) }
}

fn secrets() -> Secrets {
    Secrets::new()
        .with("identifier", "@me.example")
        .with("app_password", "abcd-efgh")
        .with("access_jwt", "access-token")
        .with("refresh_jwt", "refresh-token")
}

/// Calls `publish` until the post is public; the names of the steps, and what was made.
async fn walk(session: &Session, draft: &Draft) -> Result<(Vec<String>, PublishedPost)> {
    let mut names = Vec::new();
    let mut state: Option<Value> = None;
    loop {
        let step = Bluesky.step(draft, state.as_ref());
        names.push(step.name);
        assert!(names.len() < 20, "{names:?}");
        match Bluesky.publish(session, draft, state.take()).await? {
            Progress::Done(published) => {
                assert_eq!(step.phase, Phase::Commit);
                return Ok((names, published));
            }
            Progress::Continue { state: next, after, public, .. } => {
                assert_eq!((step.phase, after.is_zero(), public), (Phase::Prepare, true, false));
                state = Some(next);
            }
        }
    }
}

fn blob(name: &str) -> Value {
    json!({"$type": "blob", "ref": {"$link": name}, "mimeType": "image/png", "size": 5})
}

fn xrpc_error(status: u16, code: &str) -> (u16, Value) {
    (status, json!({"error": code, "message": format!("{code} happened")}))
}
