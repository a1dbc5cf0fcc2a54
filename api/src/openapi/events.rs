//! What an event holds, by its type. The record of an event leaves it open, because events of later versions may be of
//! types, and hold things, that nobody knows yet; these conditions say it of each type that there is.

use serde_json::{Value, json};

/// Types of events, and the fields of their `data`, all of which are there but for those that may be left out.
struct Holds {
    types: &'static [&'static str],
    fields: Value,
    optional: &'static [&'static str],
}

fn record(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

fn of(types: &'static [&'static str], fields: Value) -> Holds {
    Holds { types, fields, optional: &[] }
}

fn holds() -> Vec<Holds> {
    let text_or_null = json!({"type": ["string", "null"]});
    let date = json!({"type": ["string", "null"], "format": "date"});
    let connected = Holds {
        types: &["account.connected", "account.reconnected"],
        fields: json!({
            "account": record("Account"), "connect_session_id": {"type": "string", "format": "uuid"},
            "reference": text_or_null, "return_url": text_or_null,
        }),
        optional: &["connect_session_id", "reference", "return_url"],
    };
    vec![
        of(
            &[
                "post.created",
                "post.updated",
                "post.deleted",
                "post.publishing",
                "post.published",
                "post.failed",
                "post.removed",
            ],
            json!({"post": record("Post")}),
        ),
        of(
            &[
                "post_set.created",
                "post_set.updated",
                "post_set.deleted",
                "post_set.published",
                "post_set.partial",
                "post_set.failed",
            ],
            json!({"post_set": record("PostSetState")}),
        ),
        connected,
        of(&["account.disconnected"], json!({"account": record("Account")})),
        of(
            &["account.token_expiring"],
            json!({
                "account": record("Account"), "token_expires_at": {"type": "string", "format": "date-time"},
                "warning": {"type": "string"}, "posts": {"type": "integer"},
            }),
        ),
        of(
            &["analytics.synced"],
            json!({
                "account": record("Account"), "posts": {"type": "integer"}, "backfill": {"type": "boolean"},
                "from": date, "to": date, "complete_through": date,
            }),
        ),
        of(&["message.received"], json!({"message": record("Message")})),
        of(&["comment.received"], json!({"comment": record("Comment")})),
        of(&["review.received"], json!({"review": record("Review")})),
        of(&["insight.created"], json!({"insight": record("Insight")})),
        of(
            &["video_job.completed"],
            job(&json!({
                "video_url": {"type": "string"}, "asset_id": {"type": "string", "format": "uuid"},
            })),
        ),
        of(
            &["video_job.failed"],
            job(&json!({"error": object(&json!({
                "code": {"type": "string"}, "message": {"type": "string"},
            }))})),
        ),
        of(
            &["webhook.test"],
            json!({"webhook": object(&json!({
                "id": {"type": "string", "format": "uuid"}, "url": {"type": "string"},
            }))}),
        ),
    ]
}

/// The fields of an event of a video, with those of its result.
fn job(result: &Value) -> Value {
    json!({
        "job_id": {"type": "string", "format": "uuid"}, "provider": {"type": "string"},
        "model": {"type": "string"}, "result": object(result),
    })
}

/// An object that has all of these fields.
fn object(fields: &Value) -> Value {
    let names: Vec<_> =
        fields.as_object().into_iter().flat_map(|all| all.keys()).cloned().collect();
    json!({"type": "object", "properties": fields, "required": names})
}

/// Adds to the record of an event what `data` holds in each type. Generators of clients pass over conditions; what checks
/// documents does not.
pub(super) fn describe(event: &mut Value) {
    let mut rest = None;
    for Holds { types, fields, optional } in holds().into_iter().rev() {
        let mut data = object(&fields);
        if let Some(required) = data["required"].as_array_mut() {
            required.retain(|name| !optional.iter().any(|left_out| name == left_out));
        }
        let mut condition = json!({
            "if": {"properties": {"type": {"type": "string", "enum": types}}},
            "then": {"properties": {"data": data}},
        });
        if let Some(rest) = rest {
            condition["else"] = rest;
        }
        rest = Some(condition);
    }
    if let (Some(event), Some(Value::Object(conditions))) = (event.as_object_mut(), rest) {
        event.extend(conditions);
    }
}

#[cfg(test)]
mod tests {
    use fanfare_core::events::TYPES;

    use super::*;

    #[test]
    fn each_type_is_described_once() {
        let described: Vec<_> = holds().iter().flat_map(|holds| holds.types.to_vec()).collect();
        let (mut known, mut found) = (TYPES.to_vec(), described);
        known.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, known);
    }

    #[test]
    fn what_is_named_is_in_the_document() {
        let document = crate::document("https://f.example");
        let schemas = &document["components"]["schemas"];
        let text = schemas["Event"].to_string();
        let named: Vec<_> = text.split("#/components/schemas/").skip(1).collect();
        assert!(named.len() > 8, "{text}");
        for rest in named {
            let name = rest.split('"').next().unwrap();
            assert!(schemas[name].is_object(), "{name}");
        }
    }
}
