//! The id of a request in replies, logs and events.

use salvo::http::{HeaderMap, Request};
use uuid::Uuid;

/// The header of requests and replies that carries it.
pub const HEADER: &str = "x-request-id";

/// The id, stored in the request's extensions.
#[derive(Debug, Clone)]
struct RequestId(String);

/// Returns the caller's id if it is well-formed, else a new one.
#[must_use]
pub fn choose(headers: &HeaderMap) -> String {
    let own = headers.get(HEADER).and_then(|value| value.to_str().ok());
    match own {
        Some(own) if is_fit(own) => own.to_owned(),
        _ => format!("req_{}", Uuid::new_v4().simple()),
    }
}

fn is_fit(id: &str) -> bool {
    (8..=64).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

/// Sets the id of a request.
pub fn set(req: &mut Request, id: &str) {
    req.extensions_mut().insert(RequestId(id.to_owned()));
}

/// Returns the id of a request.
#[must_use]
pub fn get(req: &Request) -> String {
    req.extensions().get::<RequestId>().map(|id| id.0.clone()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_fit_id_is_taken_over() {
        let chosen = |id: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(HEADER, id.parse().unwrap());
            choose(&headers)
        };
        for fit in ["abc-DEF_1", &"x".repeat(64)] {
            assert_eq!(chosen(fit), fit);
        }
        for unfit in ["short", "has space", "semi;colon", &"x".repeat(65)] {
            let new = chosen(unfit);
            assert!(new != unfit && is_fit(&new), "{unfit}: {new}");
        }
        assert_ne!(choose(&HeaderMap::new()), choose(&HeaderMap::new()));
    }
}
