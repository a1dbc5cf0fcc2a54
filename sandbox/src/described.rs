//! Judges recorded requests and answers by a description of a network: the facts of this crate, or one in the same form
//! that was made of a vendor's own package.

use std::collections::BTreeSet;

use bytes::Bytes;
use percent_encoding::percent_decode_str;
use salvo::http::{HeaderMap, HeaderName, HeaderValue, Method};

use crate::call::Call;
use crate::facts::Facts;

/// A request as it was sent.
pub struct Request(Call);

impl Request {
    /// Creates a request to a network. `path` is the one below the network's root, as it was sent; `None` for a method that is none.
    #[must_use]
    pub fn new(
        method: &str,
        path: &str,
        query: &str,
        headers: &[(String, String)],
        body: Vec<u8>,
    ) -> Option<Self> {
        let method = Method::from_bytes(method.as_bytes()).ok()?;
        let path = percent_decode_str(path).decode_utf8_lossy().trim_start_matches('/').to_owned();
        let named = headers.iter().filter_map(|(name, value)| {
            Some((name.parse::<HeaderName>().ok()?, value.parse::<HeaderValue>().ok()?))
        });
        let headers: HeaderMap = named.collect();
        Some(Self(Call { method, path, query: query.to_owned(), headers, body: Bytes::from(body) }))
    }
}

/// The description of a network's requests and answers.
pub struct Description(Facts);

impl Description {
    /// Returns the facts of a network; `None` if there are none.
    #[must_use]
    pub fn of(network: &str) -> Option<Self> {
        Facts::read(network, crate::facts::text(network)?).map(Self)
    }

    /// Reads a description in the form of the facts.
    ///
    /// # Errors
    /// It is not in this form.
    pub fn read(name: &str, text: &str) -> Result<Self, String> {
        let facts = Facts::read(name, text);
        facts
            .map(Self)
            .ok_or_else(|| format!("{name}: the description is not in the form of the facts"))
    }

    /// Returns the name of a request's operation.
    #[must_use]
    pub fn operation(&self, request: &Request) -> Option<&str> {
        self.0.operation(&request.0).map(|(_, operation)| operation.name.as_str())
    }

    /// Returns what the simulator's gate says against a request, before any handler sees it.
    #[must_use]
    pub fn refusal(&self, request: &Request) -> Option<String> {
        match self.0.operation(&request.0) {
            None => Some("there is no such operation".into()),
            Some(found) => self.0.objection(found, &request.0).map(|found| found.to_string()),
        }
    }

    /// Returns everything in a request that is not described, or not as described.
    #[must_use]
    pub fn request(&self, request: &Request) -> BTreeSet<String> {
        match self.0.operation(&request.0) {
            None => BTreeSet::from(["there is no such operation".to_owned()]),
            Some(found) => self.0.against_request(found, &request.0),
        }
    }

    /// Returns everything in an answer that is not described, or not as described.
    #[must_use]
    pub fn answer(&self, request: &Request, status: u16, body: &[u8]) -> BTreeSet<String> {
        match self.0.operation(&request.0) {
            None => BTreeSet::new(),
            Some(found) => self.0.against_answer(found, status, body),
        }
    }

    /// Returns the lists of permissions of which a request's operation needs one whole.
    #[must_use]
    pub fn permissions(&self, request: &Request) -> &[Vec<String>] {
        self.0.operation(&request.0).map_or(&[], |(_, operation)| &operation.scopes)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Description, Request};

    fn sent(method: &str, path: &str, query: &str, body: &serde_json::Value) -> Request {
        let headers = [("content-type".to_owned(), "application/json".to_owned())];
        Request::new(method, path, query, &headers, body.to_string().into_bytes()).unwrap()
    }

    fn said(network: &str, request: &Request) -> Vec<String> {
        Description::of(network).unwrap().request(request).into_iter().collect()
    }

    #[test]
    fn a_misspelt_name_is_found_where_the_network_ignores_it() {
        let path = "api/v1/statuses";
        let good = sent("POST", path, "", &json!({"status": "a", "visibility": "public"}));
        assert_eq!(said("mastodon", &good), Vec::<String>::new());
        let bad = sent("POST", path, "", &json!({"status": "a", "visibilty": "public"}));
        assert!(Description::of("mastodon").unwrap().refusal(&bad).is_none());
        assert_eq!(said("mastodon", &bad), ["body: visibilty is not known"]);
    }

    #[test]
    fn a_name_inside_of_an_alternative_is_one_of_that_alternative() {
        let block = json!({"type": "section", "text": {"type": "mrkdwn", "text": "a"}});
        let mut post = json!({"channel": "C1", "text": "a", "blocks": [block]});
        let path = "api/chat.postMessage";
        assert_eq!(said("slack", &sent("POST", path, "", &post)), Vec::<String>::new());
        post["blocks"][0]["image_url"] = json!("https://a.example");
        assert_eq!(
            said("slack", &sent("POST", path, "", &post)),
            ["body: blocks[].image_url is not known"]
        );
    }

    #[test]
    fn what_is_promised_is_missed_in_an_answer() {
        let facts = Description::of("x").unwrap();
        let asked = sent("POST", "2/tweets", "", &json!({"text": "a"}));
        let answer =
            |body: serde_json::Value| facts.answer(&asked, 201, body.to_string().as_bytes());
        assert!(answer(json!({"data": {"id": "1", "text": "a"}})).is_empty());
        assert!(!answer(json!({"data": {"text": "a"}})).is_empty());
        assert!(!answer(json!({"data": {"id": "1", "text": "a", "txt": "a"}})).is_empty());
    }
}
