//! Aliases of fields that clients of other services with the same specification send. They are replaced before anything
//! else of a request is read; replies use today's names.

use std::collections::HashMap;

use fanfare_core::{
    Code, Error, Result,
    error::{Violations, violation},
};
use serde_json::{Map, Value, json};

use crate::{Route, query::Pairs};

/// The way in which the value of an older field is converted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Conversion {
    /// Unchanged.
    Same,
    /// It becomes the only entry of a list.
    List,
    /// It becomes a setting of the same name.
    Setting,
    /// It is dropped, since nothing depends on it.
    Dropped,
    /// Together with another field it names an account, which is looked up.
    Named,
}

/// A row of the table.
struct Row {
    routes: &'static [&'static str],
    older: &'static str,
    name: &'static str,
    conversion: Conversion,
}

const fn row(
    routes: &'static [&'static str],
    older: &'static str,
    name: &'static str,
    conversion: Conversion,
) -> Row {
    Row { routes, older, name, conversion }
}

const POSTS: &[&str] = &["create_post", "create_posts_batch"];
const FILES: &[&str] = &["upload_media", "relay_media"];
const HOOKS: &[&str] = &["create_webhook", "update_webhook"];
const REPLIES: &[&str] = &["reply_to_conversation", "reply_to_comment"];

/// Older fields of bodies.
const FIELDS: &[Row] = &[
    row(POSTS, "username", "account_id", Conversion::Named),
    row(POSTS, "platform", "account_id", Conversion::Named),
    row(POSTS, "reel_cover_url", "settings", Conversion::Setting),
    row(POSTS, "reel_cover_method", "settings", Conversion::Setting),
    row(POSTS, "reel_thumb_offset", "settings", Conversion::Setting),
    row(FILES, "file_data", "data", Conversion::Same),
    row(FILES, "file_name", "filename", Conversion::Same),
    row(&["update_post_release_id"], "group_id", "group", Conversion::Same),
    row(&["trigger_platform_helper"], "helper", "tool", Conversion::Same),
    row(&["trigger_platform_helper"], "params", "input", Conversion::Same),
    row(&["trigger_platform_helper"], "platform", "", Conversion::Dropped),
    row(HOOKS, "is_active", "enabled", Conversion::Same),
    row(REPLIES, "content", "text", Conversion::Same),
    row(&["update_comment"], "is_hidden", "hidden", Conversion::Same),
    row(&["reply_to_review"], "comment", "text", Conversion::Same),
    row(&["generate_captions"], "source_caption", "brief", Conversion::Same),
    row(&["generate_captions"], "social_account_id", "account_ids", Conversion::List),
];

/// Older parameters of queries: route, older name, today's name.
const PARAMETERS: &[(&str, &str, &str)] = &[("list_posts", "group_id", "group")];

/// Older keys inside `credentials`, by platform: older name, today's name.
const CREDENTIALS: &[(&str, &str, &str)] = &[
    ("bluesky", "handle", "identifier"),
    ("hashnode", "pat", "personal_access_token"),
    ("lemmy", "instance", "instance_url"),
];

/// Older names of platforms, wherever a request names one.
const PLATFORMS: &[(&str, &str)] = &[
    ("twitter", "x"),
    ("gmb", "google_business"),
    ("google-business", "google_business"),
    ("linkedin_page", "linkedin"),
];

/// Returns the older fields of a route's body, with today's name of each.
pub fn fields(route: &str) -> impl Iterator<Item = (&'static str, &'static str)> + '_ {
    let rows = FIELDS.iter().filter(move |row| row.routes.contains(&route));
    rows.map(|row| (row.older, row.name))
}

/// Returns the schema of an older field, by those of today's fields beside it.
pub fn schema(today: &Value, older: &str) -> Value {
    let row = FIELDS.iter().find(|row| row.older == older);
    let named = row.map_or(&Value::Null, |row| &today[row.name]);
    match row.map(|row| row.conversion) {
        Some(Conversion::Same) if !named.is_null() => named.clone(),
        Some(Conversion::List) => named["items"].clone(),
        Some(Conversion::Setting) if older.ends_with("_offset") => json!({"type": "integer"}),
        _ => json!({"type": "string"}),
    }
}

/// Returns the older parameters of a route's query, with today's name of each.
pub fn parameters(route: &str) -> impl Iterator<Item = (&'static str, &'static str)> + '_ {
    PARAMETERS.iter().filter(move |row| row.0 == route).map(|row| (row.1, row.2))
}

/// Returns true if a route takes this older name, in its body or its query.
pub fn is_known(route: &str, name: &str) -> bool {
    fields(route).chain(parameters(route)).any(|(older, _)| older == name)
}

/// Replaces older names in a request by today's names.
///
/// # Errors
/// [`Code::ConflictingFields`] if a field was sent under both names with different values.
pub fn modernize(
    route: &Route,
    path: &mut HashMap<String, String>,
    query: &mut Pairs,
    body: Option<&mut Value>,
) -> Result<()> {
    if let Some(platform) = path.get_mut("platform") {
        *platform = platform_named(platform).to_owned();
    }
    for (_, value) in query.iter_mut().filter(|(name, _)| name == "platform") {
        *value = platform_named(value).to_owned();
    }
    for (older, name) in parameters(route.name) {
        for (sent, _) in query.iter_mut().filter(|(sent, _)| sent == older) {
            *sent = name.to_owned();
        }
    }
    let mut broken = Violations::default();
    if let Some(Value::Object(fields)) = body {
        rename(route.name, fields, "", &mut broken);
        if let Some(Value::Array(items)) = fields.get_mut("posts") {
            for (at, item) in items.iter_mut().enumerate() {
                if let Value::Object(fields) = item {
                    rename(route.name, fields, &format!("posts[{at}]."), &mut broken);
                }
            }
        }
        credentials(path, fields, &mut broken);
    }
    Error::check(broken)
}

fn platform_named(name: &str) -> &str {
    PLATFORMS.iter().find(|(older, _)| *older == name).map_or(name, |(_, today)| today)
}

fn rename(route: &str, fields: &mut Map<String, Value>, before: &str, broken: &mut Violations) {
    if let Some(Value::String(name)) = fields.get_mut("platform") {
        *name = platform_named(name).to_owned();
    }
    for row in FIELDS.iter().filter(|row| row.routes.contains(&route)) {
        if row.conversion == Conversion::Named {
            continue;
        }
        let Some(value) = fields.remove(row.older) else { continue };
        let (place, name, value) = match row.conversion {
            Conversion::Dropped | Conversion::Named => continue,
            Conversion::Same => (&mut *fields, row.name, value),
            Conversion::List => (&mut *fields, row.name, json!([value])),
            Conversion::Setting => {
                let settings = fields.entry("settings").or_insert_with(|| json!({}));
                if settings.is_null() {
                    *settings = json!({});
                }
                let Value::Object(settings) = settings else { continue };
                (settings, row.older, value)
            }
        };
        insert_unless_conflict(place, &format!("{before}{}", row.older), name, value, broken);
    }
}

fn credentials(
    path: &HashMap<String, String>,
    fields: &mut Map<String, Value>,
    broken: &mut Violations,
) {
    let platform = path.get("platform").map(String::as_str).unwrap_or_default();
    let Some(Value::Object(secrets)) = fields.get_mut("credentials") else { return };
    for (_, older, name) in CREDENTIALS.iter().filter(|(of, _, _)| *of == platform) {
        let Some(mut value) = secrets.remove(*older) else { continue };
        if let Some(host) =
            value.as_str().filter(|host| *older == "instance" && !host.contains("://"))
        {
            value = format!("https://{host}").into();
        }
        insert_unless_conflict(secrets, &format!("credentials.{older}"), name, value, broken);
    }
}

/// Inserts a value under today's name; a different value that is already there is an error.
fn insert_unless_conflict(
    fields: &mut Map<String, Value>,
    older: &str,
    name: &str,
    value: Value,
    broken: &mut Violations,
) {
    if fields.get(name).is_some_and(|there| *there != value) {
        let message = format!(
            "{older} is an older name of {name}, and both were sent with different values."
        );
        let remedy = format!("Send {name} alone.");
        broken.push(violation(Code::ConflictingFields, older, message, remedy));
        return;
    }
    fields.insert(name.to_owned(), value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routes::ROUTES;

    fn modern(name: &str, path: &[(&str, &str)], mut body: Value) -> Result<Value> {
        let route = ROUTES.iter().find(|route| route.name == name).unwrap();
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let mut path = path.iter().map(pair).collect();
        modernize(route, &mut path, &mut Vec::new(), Some(&mut body)).map(|()| body)
    }

    #[test]
    fn older_names_mean_what_todays_names_mean() {
        for (route, older, today) in [
            (
                "upload_media",
                json!({"file_data": "x", "file_name": "a"}),
                json!({"data": "x", "filename": "a"}),
            ),
            ("update_post_release_id", json!({"group_id": null}), json!({"group": null})),
            (
                "trigger_platform_helper",
                json!({"helper": "x.quota", "params": {}, "platform": "x"}),
                json!({"tool": "x.quota", "input": {}}),
            ),
            ("create_webhook", json!({"is_active": false}), json!({"enabled": false})),
            (
                "create_post",
                json!({"reel_cover_url": "u", "settings": {"a": 1}}),
                json!({"settings": {"a": 1, "reel_cover_url": "u"}}),
            ),
            (
                "create_posts_batch",
                json!({"posts": [{"reel_thumb_offset": 5}, 7]}),
                json!({"posts": [{"settings": {"reel_thumb_offset": 5}}, 7]}),
            ),
            ("create_sandbox_account", json!({"platform": "twitter"}), json!({"platform": "x"})),
        ] {
            assert_eq!(modern(route, &[], older).unwrap(), today, "{route}");
        }
        let lemmy = json!({"credentials": {"instance": "lemmy.example"}});
        let shown = modern("connect_with_credentials", &[("platform", "lemmy")], lemmy).unwrap();
        assert_eq!(shown, json!({"credentials": {"instance_url": "https://lemmy.example"}}));
    }

    #[test]
    fn two_values_of_one_thing_are_refused_and_the_same_one_is_not() {
        let both = |data: &str| json!({"file_data": "x", "data": data});
        assert_eq!(modern("upload_media", &[], both("x")).unwrap(), json!({"data": "x"}));
        let refused = modern("upload_media", &[], both("y")).unwrap_err();
        assert_eq!(refused.code(), Code::ConflictingFields);
    }

    #[test]
    fn a_name_is_taken_over_on_its_own_routes_alone() {
        let body = json!({"file_data": "x"});
        assert_eq!(modern("create_post", &[], body.clone()).unwrap(), body);
    }
}
