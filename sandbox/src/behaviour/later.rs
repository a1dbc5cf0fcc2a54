//! Changes of a post after it was made: its state, its audience, and the names under which the network knows it.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::hide::is_named;

/// The audience of a post.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Visibility {
    /// Everybody for whom it was made.
    #[default]
    All,
    /// Its author alone, whatever was asked for.
    Author,
}

/// The names that a network has for one post.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Ids {
    /// The kind of the name in the answer to the call that makes it, such as `ugcPost`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// The kind of the name in lists and webhooks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub post: Option<String>,
    /// The time for which the network does not tell the other name of what was just made, in milliseconds.
    pub late_ms: u32,
}

/// A change of a post that the network makes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Later {
    /// The time after it was made, in milliseconds.
    pub after_ms: u32,
    pub set: LaterState,
}

/// The new state of a post.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LaterState {
    /// The network or somebody removes it.
    Gone,
    /// It is there again.
    Restored,
    /// Its author edits it on the network, which gives it another id.
    AnotherId,
    Visibility(Visibility),
    /// The network's word for its state.
    State(String),
    /// Its numbers, by our names.
    Numbers(BTreeMap<String, i64>),
}

/// The places where a network shows the state of a post: JSON pointers into the objects with its id.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shows {
    /// Where it says who sees the post, and what it says of one that only its author sees. Empty if it does not say.
    pub author_only: &'static [(&'static str, &'static str)],
    /// Where it says whether the post was accepted; empty if nowhere.
    pub state: &'static str,
}

impl Shows {
    /// Of a network that says nothing.
    pub const NOTHING: Self = Self { author_only: &[], state: "" };
}

/// The course of one post.
#[derive(Debug, Default)]
struct Course {
    is_authors: bool,
    is_away: bool,
    state: Option<String>,
}

/// The courses of an account's posts, by id.
#[derive(Debug, Default)]
pub(crate) struct Courses(HashMap<String, Course>);

impl Courses {
    fn of(&mut self, id: &str) -> &mut Course {
        self.0.entry(id.to_owned()).or_default()
    }

    pub fn set_visibility(&mut self, id: &str, visibility: Visibility) {
        self.of(id).is_authors = visibility == Visibility::Author;
    }

    pub fn set_state(&mut self, id: &str, state: String) {
        self.of(id).state = Some(state);
    }

    pub fn set_away(&mut self, id: &str, is_away: bool) {
        self.of(id).is_away = is_away;
    }

    /// Returns true if others than the author see a post.
    pub fn is_for_others(&self, id: &str) -> bool {
        self.0.get(id).is_none_or(|course| !course.is_authors && !course.is_away)
    }

    /// Returns the ids of posts that are removed and may come back.
    pub fn away(&self) -> impl Iterator<Item = &String> {
        self.0.iter().filter(|(_, course)| course.is_away).map(|(id, _)| id)
    }

    /// Returns true if no post's course changes what reads show.
    pub fn is_usual(&self) -> bool {
        self.0.is_empty()
    }

    /// Shows posts as they are by now.
    pub fn show(&self, body: &mut Value, shows: Shows) {
        match body {
            Value::Array(list) => list.iter_mut().for_each(|one| self.show(one, shows)),
            Value::Object(fields) => {
                for (id, course) in &self.0 {
                    if is_named(fields, id) {
                        course.show(fields, shows);
                    }
                }
                fields.values_mut().for_each(|value| self.show(value, shows));
            }
            _ => {}
        }
    }
}

impl Course {
    fn show(&self, object: &mut Map<String, Value>, shows: Shows) {
        if self.is_authors {
            shows.author_only.iter().for_each(|(place, word)| put(object, place, word));
        }
        if let Some(state) = &self.state {
            put(object, shows.state, state);
        }
    }
}

/// Replaces the value that an object has at this place. A word that is JSON, such as `true`, is no text.
fn put(object: &mut Map<String, Value>, place: &str, word: &str) {
    let Some((first, rest)) =
        place.strip_prefix('/').map(|path| path.split_once('/').unwrap_or((path, "")))
    else {
        return;
    };
    let Some(field) = object.get_mut(first) else { return };
    let found = if rest.is_empty() { Some(field) } else { field.pointer_mut(&format!("/{rest}")) };
    if let Some(found) = found {
        *found = serde_json::from_str(word).unwrap_or_else(|_| json!(word));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Courses, Later, Shows, Visibility};

    const SHOWS: Shows =
        Shows { author_only: &[("/status/privacy", "private")], state: "/status/upload" };

    #[test]
    fn an_object_with_the_id_shows_what_became_of_the_post() {
        let mut courses = Courses::default();
        courses.set_visibility("7", Visibility::Author);
        courses.set_state("8", "rejected".to_owned());
        let public = json!({"privacy": "public", "upload": "processed"});
        let mut body = json!({"items": [{"id": "7", "status": public}, {"id": "8", "status": public}, {"id": 9, "status": public}]});
        courses.show(&mut body, SHOWS);
        assert_eq!(
            body["items"][0]["status"],
            json!({"privacy": "private", "upload": "processed"})
        );
        assert_eq!(body["items"][1]["status"], json!({"privacy": "public", "upload": "rejected"}));
        assert_eq!(body["items"][2]["status"], public);
        let mut without = json!({"id": "7", "snippet": {}});
        courses.show(&mut without, SHOWS);
        assert_eq!(without, json!({"id": "7", "snippet": {}}), "only what is shown changes");
        assert!(!courses.is_for_others("7") && courses.is_for_others("8"));
    }

    #[test]
    fn a_later_state_is_a_word_or_has_a_value() {
        for set in [
            json!("gone"),
            json!("restored"),
            json!("another_id"),
            json!({"visibility": "author"}),
            json!({"state": "REJECTED"}),
            json!({"numbers": {"likes": 3}}),
        ] {
            let later = json!({"after_ms": 1, "set": set});
            assert!(serde_json::from_value::<Later>(later).is_ok(), "{set}");
        }
        let wrong = json!({"after_ms": 1, "set": {"visibility": "nobody"}});
        assert!(serde_json::from_value::<Later>(wrong).is_err());
    }
}
