//! The networks, as discovery shows them.

use fanfare_platforms::{self as platforms, PLANNED};
use serde_json::{Value, json};

use crate::Reply;

/// Every network with a connector, and on request those that are announced.
#[must_use]
pub fn list(include_planned: bool) -> Reply {
    let known: Vec<Value> =
        platforms::all().iter().map(|platform| platforms::describe(platform.spec())).collect();
    let mut body = json!({ "platforms": known });
    if include_planned {
        body["planned"] = json!(PLANNED);
    }
    Reply::ok(body)
}

#[cfg(test)]
mod tests {
    use super::list;

    #[test]
    fn the_backlog_is_shown_on_request_only() {
        let plain = list(false).body;
        assert!(plain["platforms"].as_array().is_some());
        assert!(plain.get("planned").is_none());
        assert!(list(true).body["planned"].as_array().is_some());
    }
}
