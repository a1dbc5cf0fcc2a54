//! Texts of refusals in the words of agents: calls by HTTP are named by their tools.

use serde_json::Value;

use crate::{Method, Route, routes::ROUTES};

/// The fields of refusals that are texts for people.
const TEXTS: [&str; 4] = ["error", "message", "remedy", "why"];

/// The names that agents have for the things that programs name otherwise.
const PHRASES: [(&str, &str); 3] = [
    ("Check the path; `/docs` lists all of them.", "Look for it with `find_operation`."),
    ("`Idempotency-Key`", "`idempotency_key`"),
    (
        "Send `Authorization: Bearer <key>`.",
        "Connect this server again, with a key or by logging in.",
    ),
];

/// Rewrites the texts of a refusal.
pub fn of_tools(refusal: &mut Value) {
    match refusal {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(text) if TEXTS.contains(&name.as_str()) => *text = named(text),
                    // A body that was sent stays as it is.
                    _ if ["body", "fix", "platform_error"].contains(&name.as_str()) => {}
                    _ => of_tools(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(of_tools),
        _ => {}
    }
}

/// Returns a text in which each call is named by its tool.
fn named(text: &str) -> String {
    let mut text = text.to_owned();
    for (phrase, other) in PHRASES {
        if text.contains(phrase) {
            text = text.replace(phrase, other);
        }
    }
    let mut from = 0;
    while let Some(place) = text[from..].find("/api/v1/").map(|place| place + from) {
        let end = text[place..]
            .find(|letter: char| letter.is_whitespace() || "`,;)".contains(letter))
            .map_or(text.len(), |end| place + end);
        let path = text[place..end].trim_end_matches(['.', ':']);
        let end = place + path.len();
        let before = text[..place].trim_end();
        let method = Method::ALL.iter().find(|method| before.ends_with(method.as_str()));
        let route = method.and_then(|method| route_at(*method, path));
        let (Some(method), Some(route)) = (method, route) else {
            from = end;
            continue;
        };
        let mut start = before.len() - method.as_str().len();
        let mut end = end;
        if text[..start].ends_with('`') && text[end..].starts_with('`') {
            (start, end) = (start - 1, end + 1);
        }
        let name = format!("`{}`", route.name);
        from = start + name.len();
        text.replace_range(start..end, &name);
    }
    text
}

/// Returns the route of a call as texts write it: with an id, or with the name of one.
fn route_at(method: Method, path: &str) -> Option<&'static Route> {
    let path = path.split('?').next().unwrap_or(path);
    let fits = |route: &&Route| {
        route.method == method
            && route.path.split('/').count() == path.split('/').count()
            && route
                .path
                .split('/')
                .zip(path.split('/'))
                .all(|(known, given)| known == given || known.starts_with('{'))
    };
    let exact = ROUTES.iter().find(|route| route.method == method && route.path == path);
    exact.or_else(|| ROUTES.iter().find(fits))
}

#[cfg(test)]
mod tests {
    use fanfare_domain::{Code, Error};
    use serde_json::json;

    use super::*;

    #[test]
    fn no_remedy_of_the_catalogue_names_a_call_by_http() {
        for code in Code::ALL {
            let mut refusal = json!(Error::new(*code, code.entry().cause).refusal());
            of_tools(&mut refusal);
            let text = format!("{} {}", refusal["error"], refusal["remedy"]);
            assert!(!text.contains("/api/v1/"), "{code:?}: {text}");
        }
    }

    #[test]
    fn calls_are_named_by_their_tools() {
        for (text, expected) in [
            ("List them with `GET /api/v1/webhooks`.", "List them with `list_webhooks`."),
            (
                "Check the id; GET /api/v1/accounts lists them.",
                "Check the id; `list_accounts` lists them.",
            ),
            ("See `GET /api/v1/accounts/{id}/schema`.", "See `get_platform_schema`."),
            ("Nothing at /api/v1/nowhere.", "Nothing at /api/v1/nowhere."),
        ] {
            assert_eq!(named(text), expected);
        }
    }
}
