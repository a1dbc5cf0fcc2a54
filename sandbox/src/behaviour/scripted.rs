//! Answers in place of the usual ones.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::call::Call;
use crate::env::utc;
use crate::network::Phase;
use crate::reply::Reply;

/// An answer, and the calls that get it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scripted {
    /// A phase of publishing, or the name of an operation in the vendor facts.
    pub on: String,
    /// Words that the path, the query or the body contains; any if it is left out.
    #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
    /// The number of calls that it meets; all if it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u32>,
    #[serde(default)]
    pub effect: Effect,
    pub status: u16,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, String)>,
    /// `{id}` in its texts is the id of the account's newest post, `{now}` the network's time, `{urn_now}` a number
    /// made from it.
    #[serde(default)]
    pub body: Value,
}

/// The effect of a call whose answer is another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Effect {
    /// Nothing.
    #[default]
    None,
    /// All of it.
    Done,
}

impl Scripted {
    /// Returns true if the answer is for this call.
    pub fn fits(&self, phase: Phase, operation: &str, call: &Call) -> bool {
        let is_phase = serde_json::to_value(phase).is_ok_and(|name| name == self.on.as_str());
        let contains = |words: &str| {
            let body = String::from_utf8_lossy(&call.body);
            [&call.path, &call.query].iter().any(|text| text.contains(words))
                || body.contains(words)
        };
        (is_phase || self.on == operation)
            && self.times != Some(0)
            && self.words.as_deref().is_none_or(contains)
    }

    /// Returns the answer.
    pub fn reply(&self, newest_id: &str, now_ms: i64) -> Reply {
        let filled = |text: &str| {
            let now = utc(now_ms).format("%Y-%m-%dT%H:%M:%SZ").to_string();
            let text = text.replace("{id}", newest_id).replace("{now}", &now);
            text.replace("{urn_now}", &now_ms.unsigned_abs().saturating_mul(1_000).to_string())
        };
        let body = match &self.body {
            Value::Null => String::new(),
            Value::String(text) => filled(text),
            body => filled(&body.to_string()),
        };
        let reply = Reply::raw(self.status, body);
        self.headers
            .iter()
            .fold(reply, |reply, (name, value)| reply.with_header(name, &filled(value)))
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use salvo::http::{HeaderMap, Method};
    use serde_json::json;

    use super::Scripted;
    use crate::call::Call;
    use crate::network::Phase;

    fn call(path: &str, body: &str) -> Call {
        Call {
            method: Method::POST,
            path: path.to_owned(),
            query: String::new(),
            headers: HeaderMap::new(),
            body: Bytes::from(body.to_owned()),
        }
    }

    #[test]
    fn an_answer_is_for_a_phase_or_an_operation_with_its_words() {
        let of = |on: &str, words: Option<&str>| -> Scripted {
            serde_json::from_value(json!({"on": on, "match": words, "status": 400})).unwrap()
        };
        let call = call("2/tweets", r#"{"text": "hello"}"#);
        assert!(of("commit", None).fits(Phase::Commit, "create post", &call));
        assert!(of("create post", Some("hello")).fits(Phase::Commit, "create post", &call));
        assert!(!of("create post", Some("other")).fits(Phase::Commit, "create post", &call));
        assert!(!of("read", None).fits(Phase::Commit, "create post", &call));
    }

    #[test]
    fn the_body_names_the_newest_post_and_the_time() {
        let answer: Scripted = serde_json::from_value(json!({
            "on": "commit", "status": 422, "headers": [["x-a", "{id}"]], "body": {"message": "duplicate of {id} at {now}"},
        }))
        .unwrap();
        let reply = answer.reply("7", 0);
        let body: serde_json::Value = serde_json::from_slice(&reply.body).unwrap();
        assert_eq!(body["message"], "duplicate of 7 at 1970-01-01T00:00:00Z");
        assert_eq!(reply.headers[0].1, "7");
    }
}
