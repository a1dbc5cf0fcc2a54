//! Deliveries in any order, doubled and restated, come to what happened: compared with a second, plain account of it.
//!
//! `ORDER_SEEDS=1000` plays a thousand histories; each follows from its number alone.

use std::collections::BTreeMap;

use fanfare_conversations::inbox::inbound;
use fanfare_entities::{event, inbound_event, inbox_comment, inbox_conversation, inbox_message};
use fanfare_jobs::JobKind;
use fanfare_tests::{Options, TestApp};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};
use serde_json::{Value, json};

use super::{
    hooks::{deliver, remote_id},
    pro,
};

/// Histories that are played if nothing else is said.
const SEEDS: u64 = 200;

/// Batches in which the deliveries of a history come.
const BATCHES: usize = 4;

/// Most events in a delivery.
const TOGETHER: usize = 300;

/// Numbers that follow from a seed (SplitMix64).
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % end as u64).unwrap()
    }

    fn shuffle<T>(&mut self, all: &mut [T]) {
        for end in (1..all.len()).rev() {
            all.swap(end, self.below(end + 1));
        }
    }
}

/// The final state that a message or comment must have.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Item {
    text: String,
    hidden: bool,
    deleted: bool,
}

/// A history: the entries of webhooks that tell of it, in its order, and what comes of it.
struct History {
    entries: Vec<Value>,
    messages: BTreeMap<String, Item>,
    comments: BTreeMap<String, Item>,
    person: String,
    /// Text and direction of the last message, unless it was taken back.
    last: Option<(String, bool)>,
}

fn history(seed: u64, page: &str, start: i64) -> History {
    let (mut dice, person) = (Dice(seed), format!("9{seed:06}"));
    let (mut messages, mut comments) = (BTreeMap::new(), BTreeMap::new());
    let (mut entries, mut last) = (Vec::new(), None);
    for step in 0..10_i64 {
        // Each step has a second of its own, as Meta's times have no finer grain.
        let at = start + step;
        match dice.below(6) {
            0 | 1 => {
                let (id, out) = (format!("m_{seed}_{step}"), dice.below(3) == 0);
                let text = format!("Message {step}");
                entries.push(message(page, &person, (&id, out, at), Some(&text)));
                messages.insert(id.clone(), Item { text: text.clone(), ..Item::default() });
                last = Some((id, text, out));
            }
            2 => {
                let Some((id, _)) = messages.iter().nth(dice.below(8)) else { continue };
                let id = id.clone();
                entries.push(message(page, &person, (&id, false, at), None));
                messages.insert(id, Item { deleted: true, ..Item::default() });
            }
            3 => {
                let id = format!("1_{seed}{step}");
                let text = format!("Comment {step}");
                entries.push(comment(page, (&id, "add", at), Some(&text)));
                comments.insert(id, Item { text, ..Item::default() });
            }
            _ => {
                let Some((id, item)) = comments.iter_mut().nth(dice.below(4)) else { continue };
                let text = format!("Edit {step}");
                // A filter held it, and lets it go.
                if item.deleted {
                    entries.push(comment(page, (id, "add", at), Some(&text)));
                    (item.text, item.deleted) = (text, false);
                    continue;
                }
                let verb = ["edited", "hide", "unhide", "remove"][dice.below(4)];
                entries.push(comment(page, (id, verb, at), Some(&text)));
                match verb {
                    "edited" => item.text = text,
                    "remove" => {
                        *item = Item { deleted: true, hidden: item.hidden, ..Item::default() }
                    }
                    verb => item.hidden = verb == "hide",
                }
            }
        }
    }
    let last = last.filter(|(id, ..)| !messages[id].deleted).map(|(_, text, out)| (text, out));
    History { entries, messages, comments, person, last }
}

/// The entry that tells of a message, or without a text that it was taken back.
fn message(page: &str, person: &str, what: (&str, bool, i64), text: Option<&str>) -> Value {
    let (id, out, at) = what;
    let (from, to) = if out { (page, person) } else { (person, page) };
    let mut message = json!({"mid": id});
    match text {
        Some(text) => message["text"] = json!(text),
        None => message["is_deleted"] = json!(true),
    }
    if out {
        message["is_echo"] = json!(true);
    }
    json!({"id": page, "time": at * 1_000, "messaging": [{
        "sender": {"id": from}, "recipient": {"id": to}, "timestamp": at * 1_000, "message": message,
    }]})
}

fn comment(page: &str, (id, verb, at): (&str, &str, i64), text: Option<&str>) -> Value {
    let value = json!({
        "item": "comment", "verb": verb, "comment_id": id, "post_id": format!("{page}_1"),
        "parent_id": format!("{page}_1"), "from": {"id": "77", "name": "Ada"}, "message": text,
        "created_time": at,
    });
    json!({"id": page, "time": at, "changes": [{"field": "feed", "value": value}]})
}

/// Ids of the events that are due until then, or of all that are open.
async fn open(app: &TestApp, until: i64) -> Vec<i64> {
    use inbound_event::{Column, Entity};
    let open = Entity::find().select_only().column(Column::Id).filter(Column::DueAt.lte(until));
    open.into_tuple().all(&app.domain.db.write).await.unwrap()
}

/// Applies everything that is due, until nothing is.
async fn apply(app: &TestApp) {
    loop {
        let due = open(app, app.clock.now()).await;
        if due.is_empty() {
            return;
        }
        for id in due {
            inbound::run(&app.domain, "story", id).await.unwrap();
        }
    }
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the number of orders, for whoever wants more")]
async fn any_order_of_deliveries_comes_to_what_happened() {
    let seeds = std::env::var("ORDER_SEEDS").ok().and_then(|seeds| seeds.parse().ok());
    let seeds = seeds.unwrap_or(SEEDS);
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = pro(&app).await;
    let account = user.connect("facebook").await;
    let page = remote_id(&app, account).await;
    let start = app.clock.now() / 1_000 - 3_600;
    let histories: Vec<History> = (0..seeds).map(|seed| history(seed, &page, start)).collect();
    let mut batches = vec![Vec::new(); BATCHES];
    for (seed, history) in (0..).zip(&histories) {
        let mut dice = Dice(!seed);
        let mut entries = history.entries.clone();
        // Some come twice, some three times; the last batch brings everything once more.
        for _ in 0..dice.below(8) {
            if let Some(again) = history.entries.get(dice.below(12)) {
                entries.push(again.clone());
            }
        }
        dice.shuffle(&mut entries);
        for entry in entries {
            batches[dice.below(BATCHES)].push(entry);
        }
        batches[BATCHES - 1].extend(history.entries.iter().rev().cloned());
    }
    for batch in &batches {
        for entries in batch.chunks(TOGETHER) {
            deliver(&app, "facebook", &json!({"object": "page", "entry": entries})).await;
        }
        apply(&app).await;
    }
    assert!(open(&app, i64::MAX).await.is_empty(), "nothing waits for what has come");
    compare(&app, &histories).await;
}

#[tokio::test]
async fn something_new_has_its_turn_at_once_though_something_older_waits() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = pro(&app).await;
    let account = user.connect("facebook").await;
    let page = remote_id(&app, account).await;
    let start = app.clock.now() / 1_000 - 60;
    let tell = async |entry: Value| {
        deliver(&app, "facebook", &json!({"object": "page", "entry": [entry]})).await;
    };
    tell(comment(&page, ("1_1", "hide", start), None)).await;
    let waiting = open(&app, i64::MAX).await;
    assert_eq!(waiting.len(), 1);
    inbound::run(&app.domain, "story", waiting[0]).await.unwrap();
    assert_eq!(open(&app, app.clock.now()).await, [0; 0], "its comment is not there");
    tell(comment(&page, ("1_2", "add", start + 30), Some("Hello"))).await;
    let new = open(&app, app.clock.now()).await;
    assert_eq!(new.len(), 1);
    app.eventually("it is in the queue", || async {
        app.domain.queue.position(JobKind::ApplyInbound, new[0]).await.unwrap()
    })
    .await;
}

/// A filter holds a comment and lets it go, twice; its creation time stays. Each is applied once, and it is announced once.
#[tokio::test]
async fn a_comment_that_comes_back_is_shown_again_and_announced_once() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = pro(&app).await;
    let account = user.connect("facebook").await;
    let page = remote_id(&app, account).await;
    let start = app.clock.now() / 1_000 - 60;
    let state = async || {
        let rows = inbox_comment::Entity::find().all(&app.domain.db.write).await.unwrap();
        rows.into_iter().map(|row| (row.text, row.deleted, row.unanswered)).collect::<Vec<_>>()
    };
    for (seconds, verb) in [(0, "add"), (10, "remove"), (20, "add"), (30, "remove"), (40, "add")] {
        let mut entry = comment(&page, ("1_1", verb, start + seconds), Some("Held for a while"));
        entry["changes"][0]["value"]["created_time"] = json!(start);
        // It comes twice, as all events may.
        for _ in 0..2 {
            let told = json!({"object": "page", "entry": [entry]});
            deliver(&app, "facebook", &told).await;
            apply(&app).await;
        }
        let shown = match verb {
            "add" => ("Held for a while".to_owned(), false, true),
            _ => (String::new(), true, false),
        };
        assert_eq!(state().await, [shown], "{verb} after {seconds} s");
    }
    // What was sent long ago and comes last changes nothing.
    let late = comment(&page, ("1_1", "remove", start + 31), None);
    deliver(&app, "facebook", &json!({"object": "page", "entry": [late]})).await;
    apply(&app).await;
    assert!(!state().await[0].1, "the later event wins");
    let announced = event::Entity::find().filter(event::Column::EventType.eq("comment.received"));
    assert_eq!(announced.all(&app.domain.db.write).await.unwrap().len(), 1);
}

async fn compare(app: &TestApp, histories: &[History]) {
    let db = &app.domain.db.write;
    let messages = inbox_message::Entity::find().all(db).await.unwrap();
    let mut found: BTreeMap<String, Item> = BTreeMap::new();
    for row in messages {
        let item = Item { text: row.text, hidden: false, deleted: row.deleted };
        let twice = found.insert(row.remote_id.unwrap(), item);
        assert!(twice.is_none(), "a message stands here once");
    }
    let wanted: BTreeMap<_, _> = histories.iter().flat_map(|one| one.messages.clone()).collect();
    assert_eq!(found, wanted);
    let comments = inbox_comment::Entity::find().all(db).await.unwrap();
    let mut found: BTreeMap<String, Item> = BTreeMap::new();
    for row in comments {
        // Of one that is deleted it does not matter whether it was hidden.
        let hidden = row.hidden && !row.deleted;
        let item = Item { text: row.text, hidden, deleted: row.deleted };
        assert!(found.insert(row.remote_id.unwrap(), item).is_none(), "a comment stands here once");
    }
    let plain = |(id, item): (&String, &Item)| {
        (id.clone(), Item { hidden: item.hidden && !item.deleted, ..item.clone() })
    };
    let wanted: BTreeMap<_, _> =
        histories.iter().flat_map(|one| one.comments.iter().map(plain)).collect();
    assert_eq!(found, wanted);
    let conversations = inbox_conversation::Entity::find().all(db).await.unwrap();
    for history in histories.iter().filter(|one| !one.messages.is_empty()) {
        let row = conversations.iter().find(|row| row.participant_id == history.person).unwrap();
        let Some((text, out)) = &history.last else { continue };
        assert_eq!((&row.last_text, row.last_outbound), (text, *out), "of {}", history.person);
        assert_eq!(row.unanswered, !out, "of {}", history.person);
    }
}
