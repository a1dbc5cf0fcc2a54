//! Mistakes of the fixable classes, made in right bodies.

use serde_json::{Value, json};

/// A body with a mistake, and the class of the mistake.
pub(super) struct Broken {
    pub class: &'static str,
    pub body: Value,
}

/// Returns every mistake of the fixable classes that can be made in a body.
pub(super) fn mistakes(body: &Value) -> Vec<Broken> {
    let mut all = Vec::new();
    let Some(fields) = body.as_object() else { return all };
    let mut every = body.clone();
    for (name, value) in fields {
        let misspelt = swapped(name);
        all.push(Broken { class: "misspelt field", body: renamed(body, name, &misspelt) });
        every = renamed(&every, name, &misspelt);
        if name.contains('_') {
            all.push(Broken {
                class: "field in camel case",
                body: renamed(body, name, &camel(name)),
            });
        }
        for (class, other) in retyped(name, value) {
            all.push(Broken { class, body: with(body, name, other) });
        }
        if let (Some(text), true) = (value.as_str(), CHOICES.contains(&name.as_str())) {
            all.push(Broken {
                class: "misspelt choice",
                body: with(body, name, swapped(text).into()),
            });
            all.push(Broken {
                class: "choice in capitals",
                body: with(body, name, text.to_uppercase().into()),
            });
        }
        if let (Some(inner), "settings") = (value.as_object(), name.as_str()) {
            for (setting, value) in inner {
                let broken = renamed(&json!(inner), setting, &swapped(setting));
                all.push(Broken { class: "misspelt setting", body: with(body, name, broken) });
                for (_, other) in retyped(setting, value) {
                    let broken = with(&json!(inner), setting, other);
                    all.push(Broken {
                        class: "setting of another type",
                        body: with(body, name, broken),
                    });
                }
            }
            let foreign = with(&json!(inner), "reel_cover_url", json!("https://a.example/b.png"));
            all.push(Broken {
                class: "setting of another network",
                body: with(body, name, foreign),
            });
        }
    }
    if let Some(time) = body["scheduled_at"].as_str() {
        let local = time.trim_end_matches('Z').split('.').next().unwrap().to_owned();
        all.push(Broken {
            class: "time without an offset",
            body: with(body, "scheduled_at", local.into()),
        });
    }
    if fields.len() > 1 {
        all.push(Broken { class: "every field misspelt", body: every });
    }
    all
}

/// Fields of the requests whose values are choices.
const CHOICES: [&str; 6] = ["status", "category", "source", "outcome", "platform", "post_type"];

/// Two letters in the middle change places.
fn swapped(name: &str) -> String {
    let mut letters: Vec<char> = name.chars().collect();
    let at = (1..letters.len().saturating_sub(1)).find(|at| letters[*at] != letters[*at + 1]);
    if let Some(at) = at {
        letters.swap(at, at + 1);
    }
    letters.into_iter().collect()
}

fn camel(name: &str) -> String {
    let mut parts = name.split('_');
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.map(|part| part[..1].to_uppercase() + &part[1..]);
    first + &rest.collect::<String>()
}

fn retyped(name: &str, value: &Value) -> Vec<(&'static str, Value)> {
    match value {
        // An account's id may be a text.
        Value::Number(_) if name == "account_id" => Vec::new(),
        Value::Number(number) => vec![("number as a text", number.to_string().into())],
        Value::Bool(switch) => vec![("boolean as a text", switch.to_string().into())],
        Value::String(text) if !CHOICES.contains(&name) => vec![("text in a list", json!([text]))],
        Value::Array(items) => match items.as_slice() {
            [Value::String(only)] => vec![("list of one as a text", only.as_str().into())],
            _ => Vec::new(),
        },
        Value::Object(_) => vec![("object as a text", value.to_string().into())],
        _ => Vec::new(),
    }
}

fn renamed(body: &Value, name: &str, other: &str) -> Value {
    let mut fields = body.as_object().unwrap().clone();
    let value = fields.remove(name).unwrap();
    fields.insert(other.to_owned(), value);
    fields.into()
}

fn with(body: &Value, name: &str, value: Value) -> Value {
    let mut body = body.clone();
    body[name] = value;
    body
}
