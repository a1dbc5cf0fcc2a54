//! The objects of the account, as the API returns them, plus hidden fields whose names begin with `_`.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{
    JOURNAL, VERSION,
    error::{StripeError, StripeResult},
};
use crate::{
    env::Env,
    journal::NewLine,
    random::{self, BASE62},
};

/// The id of the object that stores the clock's offset.
const CLOCK: &str = "_clock";

/// All objects, by id.
pub(super) struct Objects {
    env: Arc<Env>,
    objects: BTreeMap<String, Value>,
    /// The account's time, in seconds.
    pub now: i64,
    /// Events whose delivery has begun since the start.
    pub sending: HashSet<String>,
}

impl Objects {
    pub fn new(env: &Arc<Env>) -> Self {
        Self { env: Arc::clone(env), objects: BTreeMap::new(), now: 0, sending: HashSet::new() }
    }

    /// Replays a change from the journal.
    pub fn replay(&mut self, id: &str, object: Value) {
        self.objects.insert(id.to_owned(), object);
    }

    /// Sets the time to the machine's plus the clock's offset.
    pub fn follow(&mut self, machine_ms: i64) {
        self.now = (machine_ms + self.lead_ms()) / 1_000;
    }

    /// Returns how far the account's clock is ahead of the simulator's, in milliseconds.
    pub fn lead_ms(&self) -> i64 {
        self.objects.get(CLOCK).and_then(Value::as_i64).unwrap_or(0)
    }

    pub fn set_lead_ms(&mut self, lead: i64) {
        self.store(CLOCK, lead.into());
    }

    /// Returns a number that grows with each object.
    fn next(&self) -> u64 {
        self.env.unique_number()
    }

    /// Stores an object under its id, here and in the journal.
    pub fn store(&mut self, id: &str, object: Value) {
        self.env.journal.push(&NewLine {
            realm: "",
            network: JOURNAL,
            account: id,
            entry: &object,
        });
        self.objects.insert(id.to_owned(), object);
    }

    /// Creates an object with a new id that begins with `start`; returns the id.
    pub fn add(&mut self, start: &str, kind: &str, body: Value) -> String {
        let id = format!("{start}_{}", random::text(BASE62, 24));
        self.add_as(&id, kind, body);
        id
    }

    /// Creates an object with this id.
    pub fn add_as(&mut self, id: &str, kind: &str, body: Value) {
        let mut object = Map::new();
        object.insert("id".to_owned(), id.into());
        object.insert("object".to_owned(), kind.into());
        object.insert("created".to_owned(), self.now.into());
        object.insert("livemode".to_owned(), false.into());
        object.insert("_n".to_owned(), self.next().into());
        if let Value::Object(body) = body {
            object.extend(body);
        }
        self.store(id, Value::Object(object));
    }

    /// Changes fields of an object.
    pub fn set(&mut self, id: &str, changes: Value) {
        let Some(mut object) = self.objects.get(id).cloned() else { return };
        if let (Value::Object(object), Value::Object(changes)) = (&mut object, changes) {
            object.extend(changes);
        }
        self.store(id, object);
    }

    /// Returns an object of a kind.
    pub fn get(&self, kind: &str, id: &str) -> Option<&Value> {
        self.objects.get(id).filter(|object| object["object"] == kind)
    }

    /// Returns the object with this id.
    pub fn any(&self, id: &str) -> Option<&Value> {
        self.objects.get(id)
    }

    /// Returns the object of a kind that a parameter names.
    pub fn find(&self, kind: &str, id: &str, param: &str) -> StripeResult<&Value> {
        self.get(kind, id).ok_or_else(|| StripeError::no_such(kind, id, param))
    }

    /// Returns all objects of a kind, newest first.
    pub fn all(&self, kind: &str) -> Vec<&Value> {
        let mut all: Vec<_> =
            self.objects.values().filter(|object| object["object"] == kind).collect();
        all.sort_by_key(|object| std::cmp::Reverse(object["_n"].as_u64()));
        all
    }

    /// Returns an object as the API shows it.
    pub fn shown(&self, id: &str) -> Value {
        self.objects.get(id).map_or(Value::Null, shown)
    }

    /// Emits an event about an object to the product.
    pub fn emit(&mut self, what: &str, id: &str) {
        let object = self.shown(id);
        let event = json!({
            "type": what, "api_version": VERSION, "data": {"object": object},
            "pending_webhooks": 1, "request": {"id": null, "idempotency_key": null},
            "_attempts": [],
        });
        self.add("evt", "event", event);
    }
}

/// Returns an object without its hidden fields.
pub(super) fn shown(object: &Value) -> Value {
    let Value::Object(object) = object else { return object.clone() };
    let shown = object.iter().filter(|(name, _)| !name.starts_with('_'));
    Value::Object(shown.map(|(name, value)| (name.clone(), value.clone())).collect())
}

/// Returns a field of an object as text; empty if there is none.
pub(super) fn text<'a>(object: &'a Value, name: &str) -> &'a str {
    object[name].as_str().unwrap_or_default()
}
