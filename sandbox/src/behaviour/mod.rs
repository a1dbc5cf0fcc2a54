//! How an account's network behaves besides its faults: what `PUT /_control/{platform}/behaviour` sets. Lists lag,
//! clocks are off, texts come back changed, posts appear or vanish by other hands.

mod hide;
mod later;
mod play;
mod rewrite;
mod scripted;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::facts;
use crate::reply::Reply;
pub(crate) use later::{Courses, Ids, Later, LaterState, Shows, Visibility};
pub(crate) use play::{Played, after, before, prefaced};
pub(crate) use rewrite::Rewrite;
pub(crate) use scripted::Scripted;

/// The behaviour of an account's network. What is left out is as it usually is.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Behaviour {
    /// `real`: all that the vendor facts say of this network.
    #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
    pub like: Option<Like>,
    pub reads: Reads,
    /// The time by which this network's clock is ahead of the sandbox's, in milliseconds: of what is made with the
    /// account, and of `Date`.
    pub clock_ms: i64,
    /// Changes of texts in what reads and the answers to new posts show, in this order.
    pub rewrite: Vec<Rewrite>,
    /// Answers in place of the usual ones; the first that fits counts.
    pub answers: Vec<Scripted>,
    /// Further changes of a post after it was made with the account.
    pub later: Vec<Later>,
    /// Posts that somebody makes on the network itself, each time after one was made with the account.
    pub others: Vec<Other>,
    /// Names of headers, parameters and fields that have no effect, in lower case.
    pub ignores: Vec<String>,
    /// The audience of the posts that are made from now on.
    pub visibility: Visibility,
    pub ids: Ids,
    pub handles: Handles,
    pub hooks: Hooks,
    /// Text in front of every answer, such as notices of the network's own programs.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub preface: String,
}

/// A whole set of behaviours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Like {
    Real,
}

/// Lists and look-ups.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Reads {
    /// The time for which they do not show what was just made, in milliseconds.
    pub lag_ms: u32,
    /// The time for which the same request gets the same answer, in milliseconds; 0 for none. Such an answer has `Age`.
    pub cache_ms: u32,
    /// The header that such an answer has.
    pub cache_mark: CacheMark,
    /// The most entries of a page, whatever was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_max: Option<u32>,
    /// The most reads in a minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_minute: Option<u32>,
    /// The most characters of a text in a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_text_at: Option<usize>,
}

/// The mark of an answer out of a cache.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CacheMark {
    /// `Age`.
    #[default]
    Age,
    /// `X-Cache: HIT`.
    XCache,
    /// `CF-Cache-Status: HIT`.
    Cloudflare,
}

impl CacheMark {
    /// Marks an answer of this age, in milliseconds.
    pub fn mark(self, reply: Reply, age_ms: i64) -> Reply {
        match self {
            Self::Age => reply.with("age", age_ms / 1_000),
            Self::XCache => reply.with("x-cache", "HIT"),
            Self::Cloudflare => reply.with("cf-cache-status", "HIT"),
        }
    }
}

/// A post that somebody makes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Other {
    /// The time after the account's own post, in milliseconds.
    pub after_ms: u32,
    /// Its type, as the network's posts of others have it; empty for the usual one.
    #[serde(default)]
    pub kind: String,
    #[serde(default)]
    pub text: String,
    /// The number of its files.
    #[serde(default)]
    pub media: u8,
}

/// Containers, sessions and addresses of uploads.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Handles {
    /// The time after which the network has forgotten them, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vanish_ms: Option<u32>,
}

/// Webhooks.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Hooks {
    /// The time by which they are late, in milliseconds of the computer's clock.
    pub late_ms: u32,
    /// True if they do not come.
    pub drop: bool,
    /// True if each comes twice.
    pub twice: bool,
    /// True if they come in any order: each as late as it happens, up to `late_ms`.
    pub shuffle: bool,
}

impl Behaviour {
    /// Returns the behaviour with what the vendor facts say of the network, if it is asked for. What was set besides
    /// goes before it.
    pub fn of_network(self, network: &str) -> Self {
        if self.like.is_none() {
            return self;
        }
        let real = facts::of(network).map(|facts| facts.as_real().clone()).unwrap_or_default();
        let plain = Self::default();
        Self {
            like: self.like,
            reads: if self.reads == plain.reads { real.reads } else { self.reads },
            clock_ms: if self.clock_ms == 0 { real.clock_ms } else { self.clock_ms },
            rewrite: if self.rewrite.is_empty() { real.rewrite } else { self.rewrite },
            answers: if self.answers.is_empty() { real.answers } else { self.answers },
            later: if self.later.is_empty() { real.later } else { self.later },
            others: if self.others.is_empty() { real.others } else { self.others },
            ignores: if self.ignores.is_empty() { real.ignores } else { self.ignores },
            visibility: if self.visibility == plain.visibility {
                real.visibility
            } else {
                self.visibility
            },
            ids: if self.ids == plain.ids { real.ids } else { self.ids },
            handles: if self.handles == plain.handles { real.handles } else { self.handles },
            hooks: if self.hooks == plain.hooks { real.hooks } else { self.hooks },
            preface: if self.preface.is_empty() { real.preface } else { self.preface },
        }
    }

    /// Returns the answer to a call that made something: it shows the texts as the network kept them.
    pub fn kept(&self, mut body: Value) -> Value {
        rewrite::rewrite(&mut body, &self.rewrite);
        body
    }

    /// Returns what a read shows: without the objects with these ids, which were made a moment ago, and with changed
    /// texts.
    pub fn shown(&self, mut body: Value, fresh: &[String]) -> Value {
        if !fresh.is_empty() {
            hide::hide(&mut body, fresh);
        }
        if let Some(most) = self.reads.cut_text_at {
            rewrite::cut_in_lists(&mut body, most, false);
        }
        if !self.rewrite.is_empty() {
            rewrite::rewrite(&mut body, &self.rewrite);
        }
        body
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Behaviour;

    fn behaviour(rewrite: Value) -> Behaviour {
        serde_json::from_value(json!({ "rewrite": rewrite })).unwrap()
    }

    #[test]
    fn what_was_just_made_is_not_shown() {
        let fresh = ["7".to_owned(), "urn:x:8".to_owned()];
        let body = json!({
            "data": [{"id": 7}, {"id": "9", "parent": 7}, {"post": {"id": "7"}}, {"urn": "urn:x:8", "id": "urn:x:8"}],
            "publication": {"post": {"id": "7", "slug": "a"}},
        });
        let shown = json!({"data": [{"id": "9", "parent": 7}], "publication": {"post": null}});
        assert_eq!(behaviour(json!([])).shown(body, &fresh), shown);
    }

    #[test]
    fn texts_come_back_changed() {
        let changed = behaviour(json!([
            {"op": "nfd"}, {"op": "fold"}, {"op": "trim"}, {"op": "strip"}, {"op": "entities"},
        ]));
        let body = json!({"id": "é", "items": [{"text": "é &\n <b> \u{200b}"}]});
        let shown = json!({"id": "é", "items": [{"text": "e\u{301} &amp; &lt;b&gt; "}]});
        assert_eq!(changed.shown(body, &[]), shown);
        let cut = behaviour(json!([{"op": "cut"}])).shown(json!({"text": "one two"}), &[]);
        assert_eq!(cut, json!({"text": "one …"}));
    }

    #[test]
    fn a_change_may_be_of_one_field_and_have_a_measure() {
        let changed = behaviour(json!([
            {"op": "hashtag_form", "field": "commentary"}, {"op": "cut", "at": 30},
            {"op": "drop_query", "at": "utm_"},
        ]));
        let body = json!({"commentary": "hi #rust", "text": "see https://a.example/b?utm_source=x&c=1 now and more"});
        let shown = json!({"commentary": "hi {hashtag|\\#|rust}", "text": "see https://a.example/b?c=1 no…"});
        let order = behaviour(json!([
            {"op": "hashtag_form", "field": "commentary"}, {"op": "drop_query", "at": "utm_"}, {"op": "cut", "at": 30},
        ]));
        assert_eq!(order.shown(body.clone(), &[]), shown);
        assert_ne!(changed.shown(body, &[]), shown);
    }

    #[test]
    fn images_words_and_times_come_back_changed() {
        let changed = behaviour(json!([
            {"op": "image_proxy", "field": "body", "at": "https://l.example/p?url="},
            {"op": "mask", "field": "body", "at": "darned"},
            {"op": "zone", "field": "date_gmt", "at": 2},
        ]));
        let body = json!({
            "body": "A darned, ![x](https://a.example/b.png?c=1) y", "date_gmt": "2026-11-29T01:00:00",
        });
        let shown = json!({
            "body": "A *removed*, ![x](https://l.example/p?url=https%3A%2F%2Fa.example%2Fb.png%3Fc%3D1) y",
            "date_gmt": "2026-11-28T23:00:00",
        });
        assert_eq!(changed.shown(body.clone(), &[]), shown);
        assert_eq!(changed.kept(body), shown);
    }

    #[test]
    fn lists_cut_texts_and_look_ups_do_not() {
        let cut: Behaviour = serde_json::from_value(json!({"reads": {"cut_text_at": 5}})).unwrap();
        let body = json!({"text": "one two", "data": [{"text": "one two"}]});
        let shown = json!({"text": "one two", "data": [{"text": "one t…"}]});
        assert_eq!(cut.shown(body, &[]), shown);
    }

    #[test]
    fn a_misspelt_control_is_refused() {
        for wrong in [json!({"list_lag": 5}), json!({"reads": {"lag": 5}}), json!({"as": "fake"})] {
            assert!(serde_json::from_value::<Behaviour>(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
