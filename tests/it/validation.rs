//! Random posts on every network: a dry run, a create and `missing` say the same, a refusal writes nothing, and what is
//! accepted is accepted by the network too.

use std::{collections::BTreeSet, time::Duration};

use fanfare_tests::{TestApp, User, networks};
use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use serde_json::{Map, Value, json};

/// Posts tried on each network.
const POSTS: usize = 60;

/// Settings that name something of which only the network knows whether it, or the account, has it.
const REMOTE: &[&str] = &[
    "thread_name",
    "thread_id",
    "quote_url",
    "quoted_status_id",
    "quote_post_id",
    "audio_id",
    "publication_id",
    "series_id",
    "organization_id",
    "blocks",
    "canonical_url",
    "privacy_level",
];

/// Throws of dice, the same in every run.
struct Dice(Vec<u32>, usize);

impl Dice {
    fn new(seed: u8) -> Self {
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
        let mut runner = TestRunner::new_with_rng(Config::default(), rng);
        let throws = proptest::collection::vec(0u32..1_000_000, 65_537);
        Self(throws.new_tree(&mut runner).expect("a strategy without a filter").current(), 0)
    }

    /// A number below `n`.
    fn below(&mut self, n: usize) -> usize {
        self.1 = (self.1 + 1) % self.0.len();
        self.0[self.1] as usize % n.max(1)
    }

    fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// A text of about `length` letters, some of which are more than a byte and more than a character.
fn text(dice: &mut Dice, length: usize) -> String {
    const PIECES: &[&str] = &["a", "Wort ", "é", "👩‍👩‍👧", "日本", "\n", "#tag ", "<b>", "_", "*"];
    let mut text = String::new();
    while text.chars().count() < length {
        let piece: &&str = dice.one(PIECES);
        text.push_str(piece);
    }
    text
}

/// A value for a setting: mostly as its schema wants it, sometimes anything else.
fn value(dice: &mut Dice, schema: &Value) -> Value {
    if dice.below(6) == 0 {
        let long = text(dice, 40);
        return dice
            .one(&[json!(null), json!(-7), json!(true), json!(long), json!([]), json!({})])
            .clone();
    }
    if let Some(choices) = schema["enum"].as_array() {
        return dice.one(choices).clone();
    }
    match schema["type"].as_str() {
        Some("boolean") => json!(dice.below(2) == 0),
        Some("integer") => json!(dice.below(3_000)),
        Some("array") => {
            let items = (0..dice.below(5)).map(|_| value(dice, &schema["items"])).collect();
            Value::Array(items)
        }
        Some("object") => Value::Object(settings(dice, schema, &Value::Null)),
        _ if schema["format"] == "uri" => json!("https://example.com/a"),
        _ => {
            let length = dice.below(30);
            json!(text(dice, length))
        }
    }
}

fn settings(dice: &mut Dice, schema: &Value, needed: &Value) -> Map<String, Value> {
    let mut settings = Map::new();
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    for (name, schema) in &properties {
        if dice.below(5) == 0 {
            settings.insert(name.clone(), value(dice, schema));
        }
    }
    // Required settings are left out now and then, but are mostly right.
    for (name, needed) in needed.as_object().into_iter().flatten() {
        match dice.below(8) {
            0 => settings.remove(name),
            _ => settings.insert(name.clone(), needed.clone()),
        };
    }
    if dice.below(12) == 0 {
        settings.insert("no_such_setting".to_owned(), json!(1));
    }
    settings
}

fn post(dice: &mut Dice, platform: &str, account: i64, schema: &Value, types: &[String]) -> Value {
    let needed = networks::needed_settings(platform);
    let length = *dice.one(&[0, 1, 12, 120, 299, 300, 301, 499, 500, 501, 1_999, 2_001, 4_097]);
    let mut post = json!({
        "account_id": account, "caption": text(dice, length),
        "settings": settings(dice, schema, &needed), "scheduled_at": "2099-01-01T00:00:00Z",
    });
    if dice.below(8) > 0 {
        post["media_urls"] = json!(networks::needed_media(platform));
    }
    if dice.below(3) == 0 {
        let post_type = dice.one(types).clone();
        let thread = networks::connector(platform).spec().thread;
        if let Some(thread) = thread.filter(|thread| thread.post_type == post_type) {
            let segments: Vec<_> = (0..dice.below(4)).map(|_| text(dice, 200)).collect();
            post["metadata"] = json!({ thread.metadata_key: segments });
        }
        post["post_type"] = json!(post_type);
    }
    // The other place for the type mostly says the same.
    if post["settings"].get("post_type").is_some() && dice.below(6) > 0 {
        let chosen = post["post_type"].as_str().unwrap_or(&types[0]).to_owned();
        post["settings"]["post_type"] = json!(chosen);
    }
    post
}

/// Returns the violations, by field and code; nothing if the answer is not a refusal.
fn wrong(list: &Value) -> BTreeSet<(String, String)> {
    let text = |one: &Value, name: &str| one[name].as_str().unwrap_or_default().to_owned();
    let all = list.as_array().into_iter().flatten();
    all.inspect(|one| {
        let told = ["field", "code", "message", "remedy"].iter().all(|name| one[*name].is_string());
        assert!(told, "{one:#}");
    })
    .map(|one| (text(one, "field"), text(one, "code")))
    .collect()
}

/// The laws, for one post.
async fn obey(user: &User, body: &Value) -> Option<i64> {
    let mut dry_run = body.clone();
    dry_run["dry_run"] = json!(true);
    let planned = user.post("/api/v1/posts", dry_run).await;
    let made = user.post("/api/v1/posts", body.clone()).await;
    assert!([201, 400].contains(&made.status), "{body:#}: {}", made.text);
    let same = wrong(&planned.body["validation_errors"]);
    let refused = wrong(&made.body["validation_errors"]);
    // The type of a file is known once it is copied, which neither a dry run nor a refused post does.
    let has_files = body["media_urls"].as_array().is_some_and(|files| !files.is_empty());
    let judges_alike = |less: &BTreeSet<_>, more: &BTreeSet<_>| {
        less == more || (has_files && less.is_subset(more))
    };
    assert!(judges_alike(&same, &refused), "a dry run: {same:?}, a create: {refused:?}: {body:#}");
    assert_eq!(planned.status == 200, same.is_empty(), "{body:#}: {}", planned.text);
    assert_eq!(made.status == 201, refused.is_empty(), "{body:#}: {}", made.text);
    let mut draft = body.clone();
    draft["status"] = json!("draft");
    let draft = user.post("/api/v1/posts", draft).await;
    if draft.status == 201 {
        let id = draft.body["post"]["id"].clone();
        let missing = user.get(&format!("/api/v1/posts/{id}/missing")).await.expect(200).body;
        let told = wrong(&missing["missing"]);
        assert!(
            judges_alike(&refused, &told),
            "a create: {refused:?}, missing: {told:?}: {body:#}"
        );
        assert_eq!(missing["ready"] == true, refused.is_empty(), "{missing:#}");
        let _ = user.delete(&format!("/api/v1/posts/{id}")).await.expect(200);
    }
    (made.status == 201).then(|| made.body["post"]["id"].as_i64().unwrap())
}

async fn count(user: &User) -> usize {
    let listed = user.get("/api/v1/posts?status=scheduled&limit=100").await.expect(200).body;
    listed["posts"].as_array().unwrap().len()
}

#[tokio::test]
async fn every_judge_of_a_post_judges_the_same_on_a_third_of_all_networks() {
    judge_alike(0).await;
}

#[tokio::test]
async fn every_judge_of_a_post_judges_the_same_on_another_third() {
    judge_alike(1).await;
}

#[tokio::test]
async fn every_judge_of_a_post_judges_the_same_on_the_other_networks() {
    judge_alike(2).await;
}

/// Judges posts on every third network, beginning with this one: the three parts run side by side.
async fn judge_alike(first: usize) {
    let app = TestApp::start().await;
    for (seed, platform) in networks::all().into_iter().enumerate().skip(first).step_by(3) {
        let user = app.user().await;
        let account = user.connect(platform).await;
        let described = user.get(&format!("/api/v1/accounts/{account}/schema")).await.expect(200);
        let schema = described.body["schema"].clone();
        let types: Vec<String> = described.body["post_types"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|one| one["name"].as_str().or(one.as_str()).map(str::to_owned))
            .collect();
        assert!(schema["properties"].is_object() && !types.is_empty(), "{:#}", described.body);
        let mut dice = Dice::new(u8::try_from(seed).unwrap() + 1);
        let mut accepted = Vec::new();
        for _ in 0..POSTS {
            let body = post(&mut dice, platform, account, &schema, &types);
            let remote = REMOTE.iter().any(|name| body["settings"].get(*name).is_some());
            accepted.extend(obey(&user, &body).await.map(|id| (id, remote)));
            assert_eq!(count(&user).await, accepted.len(), "a refusal writes nothing: {body:#}");
        }
        assert!(!accepted.is_empty() && accepted.len() < POSTS, "{platform}: {}", accepted.len());
        for (id, _) in accepted.iter().filter(|(_, remote)| !remote) {
            // Some networks refuse for minutes what looks like the post before.
            app.pass_time(Duration::from_secs(301)).await;
            let now = json!({"status": "scheduled", "scheduled_at": app.at(0)});
            let _ = user.put(&format!("/api/v1/posts/{id}/status"), now).await.expect(200);
            let post = app
                .eventually_in_time("the post ends", Duration::from_secs(5), || async {
                    let path = format!("/api/v1/posts/{id}");
                    let post = user.get(&path).await.body["post"].clone();
                    (post["status"] == "published" || post["status"] == "failed").then_some(post)
                })
                .await;
            assert_eq!(post["status"], "published", "{platform} refused what was valid: {post:#}");
        }
    }
}
