//! Callers of the API, who create and change posts.

use fanfare_core::{Act, clock::to_rfc3339};
use fanfare_entities::{Millis, PostId};
use fanfare_platforms::{RecoveryClass, Violations};
use fanfare_publishing::{
    accounts,
    posts::{self, NewPost, PostChanges, RetryPost, StatusChange},
};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{dice::Dice, network::class, world::World};

/// A post as its caller knows it.
#[derive(Debug, Clone)]
pub struct CallerPost {
    pub id: i64,
    pub account: usize,
    number: usize,
    versions: u32,
}

fn read<T: serde::de::DeserializeOwned>(body: Value) -> T {
    serde_json::from_value(body).expect("a body that can be read")
}

/// Creates a post on a random account; returns a line for the trace, and the post if it was created.
pub async fn create(world: &World, dice: &mut Dice, number: usize) -> (String, Option<CallerPost>) {
    let account = dice.place(world.accounts.len());
    let at = world.now() + dice.between(0, 90_000);
    let text = text(number, 0);
    post_same_text_elsewhere(world, account, &text);
    let of = &world.accounts[account];
    let body = json!({"account_id": of.id.0, "caption": text, "scheduled_at": to_rfc3339(at)});
    let made =
        posts::create(&world.callers[of.caller], read::<NewPost>(body), Violations::default())
            .await;
    let (platform, wait) = (of.platform, at - world.now());
    match made {
        Ok(posts::CreateOutcome::Checked(_)) => unreachable!("no dry run was asked for"),
        Ok(posts::CreateOutcome::Created(reply)) => {
            let body: Value = serde_json::from_str(reply.body()).expect("JSON");
            let id = body["post"]["id"].as_i64().expect("an id");
            let wish = CallerPost { id, account, number, versions: 0 };
            (format!("create post {id} on {platform} in {wait} ms"), Some(wish))
        }
        Err(error) => (format!("create on {platform}: {}", error.code().entry().code), None),
    }
}

/// Returns the text of a post. Every other post has the words of others.
fn text(number: usize, version: u32) -> String {
    if number.is_multiple_of(2) {
        return "The same words".to_owned();
    }
    format!("Post {number}, version {version}")
}

/// Publishes the same text outside of the service first, on networks that identify posts by their text.
pub fn post_same_text_elsewhere(world: &World, account: usize, text: &str) {
    let of = &world.accounts[account];
    if class(of.platform) != RecoveryClass::Search {
        return;
    }
    let mut network = world.network.lock();
    let now = network.now;
    network.now = now - 3_600_000;
    network.publish(of.remote_id.clone(), Uuid::nil(), text.to_owned());
    network.now = now;
}

/// Changes a post at random; returns a line for the trace.
pub async fn change(world: &World, dice: &mut Dice, wish: &mut CallerPost) -> String {
    let (act, id) = (&world.callers[world.accounts[wish.account].caller], PostId(wish.id));
    let at = world.now() + dice.between(0, 60_000);
    if dice.happens(30) {
        let gone = accounts::disconnect(act, world.accounts[wish.account].id).await;
        return format!("disconnect the account of post {}: {:?}", wish.id, gone.is_ok());
    }
    let (what, outcome) = match dice.place(8) {
        0 | 1 => {
            wish.versions += 1;
            let text = text(wish.number, wish.versions);
            post_same_text_elsewhere(world, wish.account, &text);
            ("edit", edit(act, id, json!({ "caption": text })).await)
        }
        2 => ("move", edit(act, id, json!({ "scheduled_at": to_rfc3339(at) })).await),
        3 => ("pause", status(act, id, json!({"status": "paused"})).await),
        4 => ("draft", status(act, id, json!({"status": "draft"})).await),
        5 => ("schedule", schedule(act, id, at, dice.happens(500)).await),
        6 => ("retry", retry(act, id, dice.happens(500)).await),
        _ => ("delete", posts::delete(act, id).await.map(drop)),
    };
    let outcome = outcome.err().map_or("done", |error| error.code().entry().code);
    format!("{what} post {}: {outcome}", wish.id)
}

type Outcome = fanfare_core::Result<()>;

async fn edit(act: &Act, id: PostId, body: Value) -> Outcome {
    posts::edit(act, id, read::<PostChanges>(body), Violations::default()).await.map(drop)
}

async fn status(act: &Act, id: PostId, body: Value) -> Outcome {
    posts::set_status(act, id, read::<StatusChange>(body)).await.map(drop)
}

async fn schedule(act: &Act, id: PostId, at: Millis, accepts_risk: bool) -> Outcome {
    let body = json!({"status": "scheduled", "scheduled_at": to_rfc3339(at),
        "acknowledge_duplicate_risk": accepts_risk});
    status(act, id, body).await
}

async fn retry(act: &Act, id: PostId, accepts_risk: bool) -> Outcome {
    let body = json!({ "acknowledge_duplicate_risk": accepts_risk });
    posts::retry(act, id, read::<RetryPost>(body)).await.map(drop)
}
