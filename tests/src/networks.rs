//! Helpers for stories about every network: example posts, and the calls that a simulated network received.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use fanfare_platforms::{self as platforms, Example, Platform, RecoveryClass};
use serde_json::{Value, json};

use crate::{Picture, TestApp, User};

/// Returns the names of all networks.
#[must_use]
pub fn all() -> Vec<&'static str> {
    platforms::all().iter().map(|platform| platform.spec().id.as_str()).collect()
}

/// Returns the networks that can be asked about the outcome of a call, or those that cannot.
#[must_use]
pub fn that_can_be_asked(asked: bool) -> Vec<&'static str> {
    all().into_iter().filter(|name| can_be_asked(name) == asked).collect()
}

/// Returns true if the network can be asked about the outcome of a call.
#[must_use]
pub fn can_be_asked(name: &str) -> bool {
    connector(name).spec().recovery_class != RecoveryClass::Blind
}

/// Returns the connector of a network.
///
/// # Panics
/// There is no such network.
#[must_use]
pub fn connector(name: &str) -> &'static dyn Platform {
    platforms::find(name.parse().expect("a network"))
}

/// Returns the required settings of a network, from its first example.
#[must_use]
pub fn needed_settings(name: &str) -> Value {
    let spec = connector(name).spec();
    let given = example(&spec.examples[0])["settings"].clone();
    let required = spec.settings.iter().filter(|setting| setting.required);
    Value::Object(
        required.map(|setting| (setting.name.to_owned(), given[setting.name].clone())).collect(),
    )
}

/// Returns the body of an example.
#[must_use]
pub fn example(example: &Example) -> Value {
    serde_json::from_str(example.post).expect("an example is JSON")
}

/// Returns the addresses of the files that a network's usual post needs, of the types in its first example.
#[must_use]
pub fn needed_media(name: &str) -> Vec<String> {
    let spec = connector(name).spec();
    let rules = spec.post_types[0].media.unwrap_or(spec.media);
    let types = spec.examples[0].media.iter().take(rules.min).enumerate();
    types.map(|(place, mime)| Picture::lasting().file(mime, place)).collect()
}

/// Returns the body of a post for an account of a network, with a unique text and everything that is required.
#[must_use]
pub fn post(name: &str, account: i64) -> Value {
    static COUNT: AtomicUsize = AtomicUsize::new(1);
    let caption = format!("Only once, number {}", COUNT.fetch_add(1, Ordering::Relaxed));
    let (settings, media) = (needed_settings(name), needed_media(name));
    json!({"account_id": account, "caption": caption, "settings": settings, "media_urls": media})
}

/// Returns an example as the body of a post, with files that `picture` serves and the ids of an `earlier` post.
#[must_use]
pub fn body_of(one: &Example, account: i64, picture: &Picture, earlier: &Value) -> Value {
    let text = |name: &str| earlier[name].as_str().unwrap_or_default();
    let filled = one
        .post
        .replace("<earlier>", text("platform_post_id"))
        .replace("<earlier_url>", text("platform_post_url"));
    let mut body: Value = serde_json::from_str(&filled).expect("an example is JSON");
    body["account_id"] = json!(account);
    let files = one.media.iter().enumerate();
    let urls: Vec<_> = files.map(|(place, mime)| picture.file(mime, place)).collect();
    body["media_urls"] = json!(urls);
    body
}

/// Puts the address of a stored WebVTT file in the place of each `<captions_url>`.
///
/// # Panics
/// The service refuses the file.
pub async fn store_captions(user: &User, body: &mut Value) {
    const PLACE: &str = "<captions_url>";
    let text = body.to_string();
    if text.contains(PLACE) {
        let file = user.upload("captions.vtt", "text/vtt", b"WEBVTT\n").await;
        let url = file["public_url"].as_str().expect("an address");
        *body = serde_json::from_str(&text.replace(PLACE, url)).expect("JSON");
    }
}

/// Advances the clocks until a post has ended.
pub async fn ended(app: &TestApp, user: &User, id: &Value) -> Value {
    let path = format!("/api/v1/posts/{id}");
    let shown = || async { user.get(&path).await.body["post"].clone() };
    let has_ended = |post: &Value| post["status"] == "published" || post["status"] == "failed";
    // The analysis of a file takes real time: if the clock jumped meanwhile, its lease would end repeatedly.
    app.eventually_in_time("its files are looked at", Duration::from_millis(100), || async {
        let post = shown().await;
        let files = post["media"].as_array().cloned().unwrap_or_default();
        let looked_at = files.iter().all(|file| file["analysis"] != "pending");
        (looked_at || has_ended(&post)).then_some(())
    })
    .await;
    app.eventually_in_time("the post ends", Duration::from_secs(20), || async {
        Some(shown().await).filter(has_ended)
    })
    .await
}

/// Creates a post, and advances the clocks until it has ended.
pub async fn publish(app: &TestApp, user: &User, body: Value) -> Value {
    let post = user.publish(body).await;
    ended(app, user, &post["id"]).await
}

/// A publishing call to a network.
#[derive(Debug, Clone)]
pub struct CommitCall {
    /// Words in its request line.
    pub words: String,
    /// The number of earlier calls with the same words.
    pub skip: usize,
}

/// Returns the first publishing call to the newest account of a network, after the first `since` calls.
///
/// # Panics
/// The network was never asked to publish.
pub async fn commit_call(app: &TestApp, name: &str, since: usize) -> CommitCall {
    let calls = calls(app, name).await.split_off(since);
    let words = |call: &Value| {
        let path = call["path"].as_str().unwrap_or_default();
        let pieces = path.split("[redacted]").filter(|piece| piece.len() > 1);
        format!("{} {}", call["method"].as_str().unwrap_or_default(), pieces.last().unwrap_or("/"))
    };
    let at = calls.iter().position(|call| call["phase"] == "commit");
    let at = at.unwrap_or_else(|| panic!("{name} was never asked to publish: {calls:#?}"));
    let wanted = words(&calls[at]);
    let skip = calls[..at].iter().filter(|call| words(call) == wanted).count();
    CommitCall { words: wanted, skip }
}

/// Returns the calls to the newest account of a network, oldest first.
///
/// # Panics
/// The sandbox does not answer.
pub async fn calls(app: &TestApp, name: &str) -> Vec<Value> {
    app.simulator.calls(name, &newest_account(app, name).await).await
}

/// Returns the network's id of its newest account.
///
/// # Panics
/// The sandbox does not answer, or has none.
pub async fn newest_account(app: &TestApp, name: &str) -> String {
    let accounts = app.simulator.accounts(name).await;
    let youngest = accounts.iter().max_by_key(|one| one["created_at"].as_str().map(str::to_owned));
    youngest.expect("an account")["remote_id"].as_str().expect("an id").to_owned()
}
