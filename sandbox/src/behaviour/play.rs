//! Plays an account's behaviour: what it changes before a call is handled, and in the reply.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;
use url::form_urlencoded;

use super::hide;
use super::scripted::Effect;
use super::{Behaviour, Courses, LaterState, Other, Visibility};
use crate::call::Call;
use crate::env::lock;
use crate::metrics::{self, MetricValue};
use crate::native_post::NativePost;
use crate::network::{Cx, Network, Phase, Refusal};
use crate::reply::Reply;
use crate::sim::{Account, Entry, Sim};

const MINUTE_MS: i64 = 60_000;
/// The names of parameters for the length of a page.
const PAGE_SIZES: [&str; 8] =
    ["limit", "per_page", "page_size", "max_results", "maxResults", "count", "max_count", "first"];
/// The names of fields that hold the handle of something that is not a post yet.
const HANDLES: [&str; 5] = ["id", "publish_id", "upload_url", "file_id", "media_id"];

/// The events so far on an account whose network behaves in another way than usual.
#[derive(Default)]
pub(crate) struct Played {
    /// The times of the last minute's reads.
    reads: VecDeque<i64>,
    /// Answers of reads, with the times at which they were made.
    cache: HashMap<String, (i64, Reply)>,
    /// Handles, with the times at which they were made.
    handles: HashMap<String, i64>,
    /// The deeds of others that are due, with their times.
    due: Vec<(i64, Due)>,
    /// What became of posts.
    courses: Courses,
}

impl Played {
    /// Returns true if others than its author see a post.
    pub fn is_for_others(&self, id: &str) -> bool {
        self.courses.is_for_others(id)
    }
}

/// Something that happens without a call.
enum Due {
    Post(Other),
    /// A post gets another state; true if it does not keep it.
    Set(String, LaterState, bool),
}

/// Prepares a call: lets happen what is due, and takes out what has no effect. `Err` is the answer to a call that is not
/// handled.
pub(crate) fn before<N: Network>(
    sim: &Sim<N>,
    account: &Account<N>,
    phase: Phase,
    operation: &str,
    call: &mut Call,
    now_ms: i64,
) -> Result<(), Reply> {
    let behaviour = account.behaviour();
    happen(sim, account, now_ms);
    if phase == Phase::Read {
        limit_reads::<N>(&behaviour, account, now_ms)?;
        if let Some(most) = behaviour.reads.page_max {
            cap_pages(call, most);
        }
        if let Some(reply) = cached(&behaviour, account, call, now_ms) {
            return Err(reply);
        }
    }
    behaviour.ignores.iter().for_each(|name| ignore(call, name));
    if forgotten(&behaviour, account, call, now_ms) || is_away(account, call) {
        return Err(N::refuse(Refusal { status: 404, retry_ms: 0, now_ms }));
    }
    match scripted(account, phase, operation, call) {
        Some((Effect::None, reply)) => Err(reply(&newest(sim, account), now_ms)),
        _ => Ok(()),
    }
}

/// Returns the reply to a call that was handled, as the network's behaviour changes it.
pub(crate) fn after<N: Network>(cx: &Cx<N>, phase: Phase, operation: &str, reply: Reply) -> Reply {
    let Some(account) = &cx.account else { return reply };
    let (behaviour, now_ms) = (account.behaviour(), cx.now_ms());
    let is_done = reply.status.is_success();
    if is_done && phase == Phase::Commit {
        plan(&behaviour, account, &newest(&cx.sim, account), now_ms);
    }
    if is_done && phase == Phase::Prepare && behaviour.handles.vanish_ms.is_some() {
        remember(account, &reply, now_ms);
    }
    let scripted = scripted(account, phase, operation, &cx.call);
    if scripted.is_some() {
        spend(account, phase, operation, &cx.call);
    }
    if let Some((Effect::Done, other)) = scripted {
        return other(&newest(&cx.sim, account), now_ms);
    }
    let reply = with_courses(account, reply);
    let shows_post = matches!(phase, Phase::Commit | Phase::Confirm);
    if shows_post && is_done && !behaviour.rewrite.is_empty() {
        return kept(&behaviour, reply);
    }
    if phase != Phase::Read {
        return reply;
    }
    let reply = shown(cx, account, &behaviour, reply);
    if behaviour.reads.cache_ms > 0 && is_done {
        let kept = (now_ms, reply.clone());
        lock(&account.course).cache.insert(key(&cx.call), kept);
    }
    reply
}

/// Returns a reply behind what the account's network prints in front of it.
pub(crate) fn prefaced<N: Network>(cx: &Cx<N>, reply: Reply) -> Reply {
    let preface = cx.account.as_ref().map(|account| account.behaviour().preface);
    match preface.filter(|preface| !preface.is_empty()) {
        Some(preface) => Reply { body: [preface.as_bytes(), &reply.body].concat().into(), ..reply },
        None => reply,
    }
}

type Answer = Box<dyn FnOnce(&str, i64) -> Reply + Send>;

/// Returns the answer that is scripted for a call.
fn scripted<N: Network>(
    account: &Account<N>,
    phase: Phase,
    operation: &str,
    call: &Call,
) -> Option<(Effect, Answer)> {
    let behaviour = lock(&account.behaviour);
    let found =
        behaviour.answers.iter().find(|answer| answer.fits(phase, operation, call))?.clone();
    drop(behaviour);
    let effect = found.effect;
    if effect == Effect::None {
        spend(account, phase, operation, call);
    }
    Some((effect, Box::new(move |newest, now_ms| found.reply(newest, now_ms))))
}

/// Counts a call that a scripted answer met.
fn spend<N: Network>(account: &Account<N>, phase: Phase, operation: &str, call: &Call) {
    let mut behaviour = lock(&account.behaviour);
    let found = behaviour.answers.iter_mut().find(|answer| answer.fits(phase, operation, call));
    if let Some(times) = found.and_then(|answer| answer.times.as_mut()) {
        *times = times.saturating_sub(1);
    }
}

/// Lets happen what others do by now.
fn happen<N: Network>(sim: &Sim<N>, account: &Account<N>, now_ms: i64) {
    let mut played = lock(&account.course);
    let due = std::mem::take(&mut played.due);
    let (happened, due): (Vec<_>, Vec<_>) = due.into_iter().partition(|(at, _)| *at <= now_ms);
    played.due = due;
    drop(played);
    for (at_ms, due) in happened {
        match due {
            Due::Post(other) => {
                let new = native_post(sim, account, other, at_ms);
                sim.change_all(account, |state| N::native_post(state, &account.identity, &new));
            }
            Due::Set(id, set, is_passing) => become_of(sim, account, (id, at_ms), set, is_passing),
        }
    }
}

/// Gives a post another state.
fn become_of<N: Network>(
    sim: &Sim<N>,
    account: &Account<N>,
    (id, at_ms): (String, i64),
    set: LaterState,
    is_passing: bool,
) {
    let courses = |change: &dyn Fn(&mut Courses)| change(&mut lock(&account.course).courses);
    match set {
        LaterState::Gone if is_passing => courses(&|all| all.set_away(&id, true)),
        LaterState::Gone => {
            sim.change_all(account, |state| (N::delete_post(state, &id), ()));
        }
        LaterState::Restored => courses(&|all| all.set_away(&id, false)),
        LaterState::AnotherId => {
            let unique = sim.env.unique_number();
            sim.change_all(account, |state| (N::another_id(state, &id, unique, at_ms), ()));
        }
        LaterState::Visibility(visibility) => courses(&|all| all.set_visibility(&id, visibility)),
        LaterState::State(state) => courses(&|all| all.set_state(&id, state.clone())),
        LaterState::Numbers(numbers) => {
            let number = |(name, number)| (name, Some(MetricValue::Number(number)));
            let metrics = numbers.into_iter().map(number).collect();
            let change = metrics::Change { date: None, post: Some(id), metrics };
            sim.record(&account.identity.remote_id, &Entry::Counted(change.clone()));
            lock(&account.metrics).apply(change);
        }
    }
}

/// Returns true if a call names a post that is removed for now.
fn is_away<N: Network>(account: &Account<N>, call: &Call) -> bool {
    let played = lock(&account.course);
    played.courses.away().any(|id| {
        call.path.split('/').any(|segment| segment == id)
            || call.query_pairs().any(|(_, value)| value == *id)
    })
}

fn native_post<N: Network>(
    sim: &Sim<N>,
    account: &Account<N>,
    other: Other,
    at_ms: i64,
) -> NativePost {
    let files = 0..other.media;
    NativePost {
        remote_id: account.identity.remote_id.clone(),
        unique: sim.env.unique_number(),
        at_ms,
        text: other.text,
        post_type: other.kind,
        media_urls: files.map(|n| format!("https://others.example/{at_ms}-{n}.jpg")).collect(),
    }
}

/// Plans what happens after a post was made.
fn plan<N: Network>(behaviour: &Behaviour, account: &Account<N>, post: &str, now_ms: i64) {
    let mut played = lock(&account.course);
    for other in &behaviour.others {
        played.due.push((now_ms + i64::from(other.after_ms), Due::Post(other.clone())));
    }
    let comes_back = behaviour.later.iter().any(|later| later.set == LaterState::Restored);
    for later in &behaviour.later {
        let at_ms = now_ms + i64::from(later.after_ms);
        played.due.push((at_ms, Due::Set(post.to_owned(), later.set.clone(), comes_back)));
    }
    if behaviour.visibility == Visibility::Author {
        played.courses.set_visibility(post, Visibility::Author);
    }
}

/// Returns the id of the account's newest post; empty if it has none.
fn newest<N: Network>(sim: &Sim<N>, account: &Account<N>) -> String {
    let posts = account.read(|state| N::posts(state, &account.identity, &sim.pages()));
    posts.last().map(|post| post.id.clone()).unwrap_or_default()
}

/// Refuses a read that is one too many in a minute.
fn limit_reads<N: Network>(
    behaviour: &Behaviour,
    account: &Account<N>,
    now_ms: i64,
) -> Result<(), Reply> {
    let Some(most) = behaviour.reads.per_minute else { return Ok(()) };
    let mut played = lock(&account.course);
    played.reads.retain(|at_ms| *at_ms > now_ms - MINUTE_MS);
    match played.reads.front() {
        Some(first) if played.reads.len() >= most as usize => {
            let retry_ms = (first + MINUTE_MS - now_ms).unsigned_abs();
            Err(N::refuse(Refusal { status: 429, retry_ms, now_ms }))
        }
        _ => {
            played.reads.push_back(now_ms);
            Ok(())
        }
    }
}

/// Shortens the pages that a call asks for.
fn cap_pages(call: &mut Call, most: u32) {
    let capped = |name: &str, value: &str| match value.parse::<u32>() {
        Ok(number) if PAGE_SIZES.contains(&name) => number.min(most).to_string(),
        _ => value.to_owned(),
    };
    let over = |text: &[u8]| {
        let pairs = form_urlencoded::parse(text);
        let pairs = pairs.map(|(name, value)| (name.to_string(), capped(&name, &value)));
        form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
    };
    if !call.query.is_empty() {
        call.query = over(call.query.as_bytes());
    }
    match call.media_type().as_str() {
        "application/x-www-form-urlencoded" => call.body = Bytes::from(over(&call.body)),
        "application/json" => change_json(call, |name, value| {
            if let (true, Some(number)) = (PAGE_SIZES.contains(&name), value.as_u64()) {
                *value = number.min(u64::from(most)).into();
            }
            true
        }),
        _ => {}
    }
}

/// Takes a header, parameter or field out of a call.
fn ignore(call: &mut Call, name: &str) {
    call.headers.remove(name);
    if call.query_value(name).is_some() {
        let pairs: Vec<_> = call.query_pairs().filter(|(key, _)| key != name).collect();
        call.query = form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
    }
    if call.media_type() == "application/json" {
        change_json(call, |field, _| !field.eq_ignore_ascii_case(name));
    }
}

/// Changes the fields of a JSON body; `keep` says whether one stays.
fn change_json(call: &mut Call, mut keep: impl FnMut(&str, &mut Value) -> bool) {
    let Ok(Value::Object(mut fields)) = call.json() else { return };
    fields.retain(|name, value| keep(name, value));
    call.body = Bytes::from(Value::Object(fields).to_string());
}

fn key(call: &Call) -> String {
    format!("{} {}?{} {}", call.method, call.path, call.query, String::from_utf8_lossy(&call.body))
}

/// Returns the answer that a cache still has.
fn cached<N: Network>(
    behaviour: &Behaviour,
    account: &Account<N>,
    call: &Call,
    now_ms: i64,
) -> Option<Reply> {
    let life_ms = i64::from(behaviour.reads.cache_ms);
    let played = lock(&account.course);
    let (at_ms, reply) = played.cache.get(&key(call)).filter(|_| life_ms > 0)?;
    let age_ms = now_ms - at_ms;
    (age_ms < life_ms).then(|| behaviour.reads.cache_mark.mark(reply.clone(), age_ms))
}

/// Stores the handles that a reply hands out.
fn remember<N: Network>(account: &Account<N>, reply: &Reply, now_ms: i64) {
    let Ok(body) = serde_json::from_slice::<Value>(&reply.body) else { return };
    let mut found = Vec::new();
    handles_in(&body, &mut found);
    lock(&account.course).handles.extend(found.into_iter().map(|handle| (handle, now_ms)));
}

fn handles_in(value: &Value, found: &mut Vec<String>) {
    let Value::Object(fields) = value else { return };
    for (name, value) in fields {
        match value {
            Value::String(text) if HANDLES.contains(&name.as_str()) => found.push(text.clone()),
            Value::Number(number) if HANDLES.contains(&name.as_str()) => {
                found.push(number.to_string())
            }
            value => handles_in(value, found),
        }
    }
}

/// Returns true if a call names a handle that the network has forgotten.
fn forgotten<N: Network>(
    behaviour: &Behaviour,
    account: &Account<N>,
    call: &Call,
    now_ms: i64,
) -> bool {
    let Some(life_ms) = behaviour.handles.vanish_ms else { return false };
    let played = lock(&account.course);
    if played.handles.is_empty() {
        return false;
    }
    let body = String::from_utf8_lossy(&call.body);
    let names = |handle: &str| {
        call.path.split('/').any(|segment| segment == handle)
            || call.query_pairs().any(|(_, value)| value == handle)
            || body.contains(handle)
            || handle.ends_with(&format!("/{}", call.path))
    };
    let mut dead =
        played.handles.iter().filter(|(_, at_ms)| now_ms - **at_ms >= i64::from(life_ms));
    dead.any(|(handle, _)| names(handle))
}

/// Returns a reply that shows posts as they are by now.
fn with_courses<N: Network>(account: &Account<N>, reply: Reply) -> Reply {
    let played = lock(&account.course);
    if played.courses.is_usual() {
        return reply;
    }
    let Ok(mut body) = serde_json::from_slice::<Value>(&reply.body) else { return reply };
    let away: Vec<_> = played.courses.away().cloned().collect();
    if !away.is_empty() {
        hide::hide(&mut body, &away);
    }
    played.courses.show(&mut body, N::SHOWS);
    Reply { body: serde_json::to_vec(&body).unwrap_or_default().into(), ..reply }
}

/// Returns the answer to a call that made something, with the texts that were kept.
fn kept(behaviour: &Behaviour, reply: Reply) -> Reply {
    let Ok(body) = serde_json::from_slice(&reply.body) else { return reply };
    let body = serde_json::to_vec(&behaviour.kept(body)).unwrap_or_default();
    Reply { body: body.into(), ..reply }
}

/// Returns what a read shows.
fn shown<N: Network>(
    cx: &Cx<N>,
    account: &Arc<Account<N>>,
    behaviour: &Behaviour,
    reply: Reply,
) -> Reply {
    let reads = &behaviour.reads;
    if reads.lag_ms == 0 && reads.cut_text_at.is_none() && behaviour.rewrite.is_empty() {
        return reply;
    }
    let Ok(body) = serde_json::from_slice(&reply.body) else { return reply };
    let fresh = match reads.lag_ms {
        0 => Vec::new(),
        lag_ms => fresh_ids(cx, account, cx.now_ms() - i64::from(lag_ms)),
    };
    let body = serde_json::to_vec(&behaviour.shown(body, &fresh)).unwrap_or_default();
    Reply { body: body.into(), ..reply }
}

/// Returns the ids of posts and of the account's own items that were made after `since_ms`.
fn fresh_ids<N: Network>(cx: &Cx<N>, account: &Account<N>, since_ms: i64) -> Vec<String> {
    let is_fresh = |time: &str| {
        let made = chrono::DateTime::parse_from_rfc3339(time);
        made.is_ok_and(|made| made.timestamp_millis() > since_ms)
    };
    account.read(|state| {
        let posts = N::posts(state, &account.identity, &cx.sim.pages()).into_iter();
        let posts = posts.filter(|post| is_fresh(&post.created_at)).map(|post| post.id);
        let own = N::own_items(state, &account.identity);
        let mailed = N::mailbox(state).map(|mail| mail.all()).unwrap_or_default();
        let items = mailed.into_iter().filter(|item| item.own).chain(&own);
        let items = items.filter(|item| item.at_ms > since_ms).map(|item| item.id.clone());
        posts.chain(items).collect()
    })
}
