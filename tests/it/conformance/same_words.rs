//! Posts of one account with the same words: as many are called published as there are on the network, and none under
//! the id of another, whatever is lost on the way, however the network's lists lag, its clock is off or its texts come
//! back changed.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use fanfare_core::failpoint::{Failpoint, Hook};
use fanfare_entities::{post, post::PostStatus};
use fanfare_tests::{Options, TestApp, User, networks};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// An account on a network.
struct Place {
    name: &'static str,
    account: i64,
    remote_id: String,
}

/// An account on every network, all of one workspace.
struct Everywhere {
    app: TestApp,
    user: User,
    places: Vec<Place>,
}

/// What became of the posts of one text on one account.
#[derive(Debug, Default)]
struct Ends {
    published: Vec<Value>,
    unknown: usize,
    refused: Vec<Value>,
}

impl Everywhere {
    async fn open(options: Options) -> Self {
        let app = TestApp::with(options).await;
        let user = app.user().await;
        let mut places = Vec::new();
        for name in networks::all() {
            let account = user.connect(name).await;
            let remote_id = networks::newest_account(&app, name).await;
            places.push(Place { name, account, remote_id });
        }
        Self { app, user, places }
    }

    /// Makes a post with these words on every account.
    async fn post(&self, text: &str) {
        for place in &self.places {
            let mut body = networks::post(place.name, place.account);
            body["caption"] = json!(text);
            // The networks' clock goes on while ours stands still; copying files takes seconds.
            self.app.pass_time(Duration::from_millis(1)).await;
            let _ = self.user.publish(body).await;
        }
    }

    /// Lets time pass until all posts have ended.
    async fn end(&self) {
        // Media are looked at in real time: if the clock jumped meanwhile, their leases would end.
        for _ in 0..20 {
            self.app.step(Duration::from_millis(100)).await;
        }
        for _ in 0..200 {
            let open = [PostStatus::Scheduled, PostStatus::Publishing, PostStatus::Processing];
            let open = post::Entity::find().filter(post::Column::Status.is_in(open));
            if open.one(&self.app.domain.db.write).await.expect("an answer").is_none() {
                return;
            }
            self.app.step(Duration::from_secs(10)).await;
        }
        panic!("posts never end");
    }

    async fn faults(&self, kind: &str) {
        for place in &self.places {
            let faults = match kind {
                "" => json!([]),
                "hang" => json!([{"on": "commit", "kind": "hang", "ms": 50}]),
                kind => json!([{"on": "commit", "kind": kind}]),
            };
            self.user.faults(place.name, place.account, faults).await;
        }
    }

    async fn behave(&self, behaviour: Value) {
        for place in &self.places {
            self.app.simulator.behave(place.name, &place.remote_id, &behaviour).await;
        }
    }

    /// Makes a post with these words on every account, as a person does on the network itself.
    async fn post_by_hand(&self, text: &str) {
        for place in &self.places {
            let media = networks::needed_media(place.name);
            self.app.simulator.post_by_hand(place.name, &place.remote_id, text, &media).await;
        }
    }

    /// Returns the number of posts that each network holds.
    async fn held(&self) -> BTreeMap<&'static str, usize> {
        let mut held = BTreeMap::new();
        for place in &self.places {
            let posts = self.user.on_network(place.name, place.account).await;
            let is_of_others =
                |post: &&Value| post["media"].to_string().contains("//others.example/");
            held.insert(place.name, posts.iter().filter(|post| !is_of_others(post)).count());
        }
        held
    }

    async fn ends(&self, place: &Place, text: &str) -> Ends {
        let path = format!("/api/v1/posts?account_id={}&limit=100", place.account);
        let posts = self.user.get(&path).await.expect(200).body["posts"].clone();
        let mut ends = Ends::default();
        let mut ids = BTreeSet::new();
        for post in posts.as_array().unwrap() {
            if post["status"] == "published" {
                let id = post["platform_post_id"].to_string();
                assert!(ids.insert(id), "{}: one id for two posts: {post:#}", place.name);
            }
            if post["caption"] != text {
                continue;
            }
            match (post["status"].as_str(), post["error"]["code"].as_str()) {
                (Some("published"), _) => ends.published.push(post.clone()),
                (_, Some("outcome_unknown")) => ends.unknown += 1,
                (_, Some("duplicate_content")) => ends.refused.push(post.clone()),
                _ => panic!("{}: {post:#}", place.name),
            }
        }
        ends
    }

    /// Checks that as many posts with these words are called published as came to the networks since `before`. What is
    /// not known may be there or not; with `certain`, networks that can be asked leave nothing unknown.
    async fn judge(&self, story: &str, text: &str, before: &BTreeMap<&str, usize>, certain: bool) {
        let held = self.held().await;
        for place in &self.places {
            let ends = self.ends(place, text).await;
            let made = held[place.name] - before[place.name];
            let story = format!("{story}, {}: {made} there, {ends:#?}", place.name);
            let called = ends.published.len();
            assert!(called <= made && made <= called + ends.unknown, "{story}");
            let is_askable = networks::can_be_asked(place.name);
            assert!(!certain || !is_askable || ends.unknown == 0, "{story}");
            for refused in &ends.refused {
                is_a_refusal(&story, refused);
            }
        }
    }

    /// Plays one post with words that no other has.
    async fn once(&self, story: &str, text: &str, fault: &str) {
        let before = self.held().await;
        self.faults(fault).await;
        self.post(text).await;
        self.end().await;
        self.judge(story, text, &before, true).await;
    }

    /// Plays two posts with the same words, of which the second meets a fault.
    async fn twice(&self, text: &str, fault: &str) {
        let before = self.held().await;
        self.faults("").await;
        self.post(text).await;
        self.end().await;
        self.faults(fault).await;
        self.post(text).await;
        self.end().await;
        self.judge(&format!("twice, {fault:?}"), text, &before, false).await;
    }
}

/// A refusal of a repetition says so, and is final.
fn is_a_refusal(story: &str, post: &Value) {
    let error = &post["error"];
    let said = error["message"].as_str().unwrap_or_default();
    assert!(said.contains("refuses the same text again within some time"), "{story}");
    assert_eq!(error["retryable"], false, "{story}");
}

#[tokio::test]
async fn a_repetition_is_never_taken_for_the_post_that_it_repeats() {
    let all = Everywhere::open(Options::default()).await;
    for fault in ["", "reset", "drop_after_change", "hang"] {
        all.twice(&format!("The same words again, with {fault:?}"), fault).await;
    }
    // Some networks refuse it; then the refusal names the first one.
    let mut refusing = 0;
    for place in &all.places {
        let ends = all.ends(place, "The same words again, with \"\"").await;
        for refused in &ends.refused {
            refusing += 1;
            let first = ends.published[0]["platform_post_url"].as_str().unwrap();
            let said = refused["error"]["message"].as_str().unwrap();
            assert!(said.ends_with(&format!("the earlier post is {first}.")), "{said}");
        }
    }
    assert!(refusing >= 3, "{refusing} networks refuse a repetition");
}

#[tokio::test]
async fn what_a_person_posted_by_hand_is_nobody_elses() {
    let all = Everywhere::open(Options::default()).await;
    for fault in ["", "reset", "drop_after_change"] {
        let text = format!("Words of a person, with {fault:?}");
        all.post_by_hand(&text).await;
        all.app.step(Duration::from_secs(60)).await;
        let before = all.held().await;
        all.faults(fault).await;
        all.post(&text).await;
        all.end().await;
        all.judge(&format!("after one by hand, {fault:?}"), &text, &before, false).await;
    }
}

#[tokio::test]
async fn a_list_that_lags_proves_no_absence() {
    let all = Everywhere::open(Options::default()).await;
    for (lag, fault) in
        [(0, "reset"), (45, "drop_after_change"), (90, "drop_after_change"), (90, "reset")]
    {
        all.behave(json!({ "reads": {"lag_ms": lag * 1_000} })).await;
        let story = format!("lists that lag {lag} s, {fault}");
        all.once(&story, &format!("Words for {story}"), fault).await;
    }
}

#[tokio::test]
async fn what_a_cache_keeps_proves_no_absence() {
    let all = Everywhere::open(Options::default()).await;
    for (mark, fault) in
        [("age", "drop_after_change"), ("x_cache", "reset"), ("cloudflare", "drop_after_change")]
    {
        all.behave(json!({"reads": {"cache_ms": 600_000, "cache_mark": mark}})).await;
        let (story, text) = (format!("cached, {mark}, {fault}"), format!("Words kept by {mark}"));
        let before = all.held().await;
        all.faults(fault).await;
        all.post(&text).await;
        all.end().await;
        all.judge(&story, &text, &before, false).await;
    }
}

#[tokio::test]
async fn the_clock_of_the_network_decides_what_came_after_the_call() {
    let all = Everywhere::open(Options::default()).await;
    for (minutes, fault) in [(4, "drop_after_change"), (-4, "drop_after_change"), (-4, "reset")] {
        all.behave(json!({ "clock_ms": minutes * 60_000 })).await;
        let story = format!("a clock {minutes} minutes off, {fault}");
        all.once(&story, &format!("Words for {story}"), fault).await;
        all.twice(&format!("The same words for {story}"), fault).await;
    }
}

#[tokio::test]
async fn a_text_that_the_network_changed_is_the_same_text() {
    let all = Everywhere::open(Options::default()).await;
    let text = "De\u{301}compose\u{301} & \"apart\"\n\n of\u{200b}ten ";
    for (number, rewrite) in
        [&["nfc", "strip", "fold", "trim"][..], &["entities"], &["nfd"]].iter().enumerate()
    {
        let ops: Vec<_> = rewrite.iter().map(|op| json!({ "op": op })).collect();
        all.behave(json!({ "rewrite": ops })).await;
        let text = format!("{number}. {text}");
        all.once(&format!("rewritten by {rewrite:?}"), &text, "drop_after_change").await;
    }
    // A text that was cut is a doubt, never an absence.
    all.behave(json!({"rewrite": [{"op": "cut"}]})).await;
    let before = all.held().await;
    all.faults("drop_after_change").await;
    let text = "A text of some length, whose second half is not shown";
    all.post(text).await;
    all.end().await;
    all.judge("a text that is cut", text, &before, false).await;
}

/// Stops work for ever at a failpoint, as a kill does, while it is on.
#[derive(Debug)]
struct Death {
    at: &'static str,
    is_on: AtomicBool,
    reached: AtomicUsize,
}

#[async_trait]
impl Hook for Death {
    async fn reach(&self, name: &str) {
        if name == self.at && self.is_on.load(Ordering::SeqCst) {
            self.reached.fetch_add(1, Ordering::SeqCst);
            std::future::pending::<()>().await;
        }
    }
}

async fn killed_at(at: &'static str) {
    let mut all = Everywhere::open(Options { workers: false, ..Options::default() }).await;
    // A worker holds a slot for each post that it dies with.
    let places = std::mem::take(&mut all.places);
    let mut places = places.into_iter();
    loop {
        all.places = places.by_ref().take(9).collect();
        if all.places.is_empty() {
            return;
        }
        let death = Arc::new(Death { at, is_on: false.into(), reached: 0.into() });
        let hook = Failpoint::with_hook(Arc::clone(&death) as Arc<dyn Hook>);
        let (domain, stop) = (all.app.other_process_at(hook).await, CancellationToken::new());
        let _dying = all.app.start_workers_of(domain, stop.clone());
        let (before, text) = (all.held().await, "The same words, and a worker that dies");
        all.post(text).await;
        all.end().await;
        death.is_on.store(true, Ordering::SeqCst);
        all.post(text).await;
        let wanted = all.places.len();
        all.app
            .eventually_in_time("all calls are reached", Duration::from_secs(2), || async {
                (death.reached.load(Ordering::SeqCst) >= wanted).then_some(())
            })
            .await;
        stop.cancel();
        all.app.expire_leases().await;
        let stop = CancellationToken::new();
        let _heir = all.app.start_workers_of(all.app.other_process().await, stop.clone());
        all.end().await;
        all.judge(&format!("twice, a kill at {at}"), text, &before, false).await;
        stop.cancel();
    }
}

#[tokio::test]
async fn a_worker_that_dies_before_its_call_takes_no_other_post_for_its_own() {
    killed_at("commit_armed").await;
}

#[tokio::test]
async fn a_worker_that_dies_after_its_call_takes_no_other_post_for_its_own() {
    killed_at("commit_called").await;
}

#[tokio::test]
async fn as_many_are_called_published_as_the_networks_hold_when_they_are_as_they_really_are() {
    let all = Everywhere::open(Options::default()).await;
    for fault in ["", "drop_after_change", "reset"] {
        all.behave(json!({"as": "real"})).await;
        let text = format!("Words for real networks, with {fault:?}");
        let before = all.held().await;
        all.faults(fault).await;
        all.post(&text).await;
        all.end().await;
        all.judge(&format!("as real, {fault:?}"), &text, &before, false).await;
    }
    all.behave(json!({"as": "real"})).await;
    all.twice("The same words on real networks", "drop_after_change").await;
}
