//! Parses and validates the message of a webhook request, in any of the three encodings.

use serde_json::{Map, Value, json};
use url::form_urlencoded;

use super::form_errors::FormErrors;
use super::state::{Attachment, Message, Rest};
use super::{Cx, FILE_MAX, FILES, failure, poll, snowflake};
use crate::call::Call;
use crate::multipart::{self, Part};
use crate::picture;
use crate::received_file::ReceivedFile;
use crate::reply::Reply;

const CONTENT: usize = 2_000;
const NAME: usize = 80;
const DESCRIPTION: usize = 1_024;
const EMBEDS: usize = 10;
/// SUPPRESS_EMBEDS, SUPPRESS_NOTIFICATIONS and IS_COMPONENTS_V2: the flags that a webhook may set.
const FLAGS: u64 = 1 << 2 | 1 << 12 | 1 << 15;

/// A request's fields and files.
pub(super) struct Payload {
    pub fields: Map<String, Value>,
    files: Vec<Part>,
}

/// Parses the body.
pub(super) fn read(call: &Call) -> Result<Payload, Reply> {
    let broken = || failure(400, 50109, "The request body contains invalid JSON.");
    let object = |value: Value| value.as_object().cloned().ok_or_else(broken);
    match call.media_type().as_str() {
        "application/json" => {
            Ok(Payload { fields: object(call.json().map_err(|_| broken())?)?, files: Vec::new() })
        }
        "application/x-www-form-urlencoded" => {
            let pairs = form_urlencoded::parse(&call.body).into_owned();
            Ok(Payload {
                fields: pairs.map(|(name, value)| (name, Value::String(value))).collect(),
                files: Vec::new(),
            })
        }
        "multipart/form-data" => {
            let content_type = call.header("content-type").unwrap_or_default();
            let parts = multipart::parse(content_type, &call.body);
            let parts = parts.ok_or_else(|| failure(400, 50035, "Invalid Form Body"))?;
            let (files, plain): (Vec<_>, Vec<_>) =
                parts.into_iter().partition(|part| part.filename.is_some());
            let mut fields = Map::new();
            for part in plain {
                if part.name == "payload_json" {
                    fields.extend(object(
                        serde_json::from_slice(&part.bytes).map_err(|_| broken())?,
                    )?);
                } else {
                    fields.insert(part.name.clone(), Value::String(part.text()));
                }
            }
            Ok(Payload { fields, files })
        }
        _ => Err(failure(
            400,
            50035,
            "Expected \"Content-Type\" header to be one of {'application/json'}.",
        )),
    }
}

impl Payload {
    /// Returns the message, if Discord would accept it.
    pub fn message(&self, cx: &Cx) -> Result<Message, Reply> {
        let mut flaws = FormErrors::default();
        let content = self.content(&mut flaws);
        let rest = self.rest(cx, &mut flaws);
        let allowed_mentions = self.allowed_mentions(&mut flaws);
        let attachments = self.attachments(cx, &mut flaws)?;
        flaws.refuse()?;
        if self.fields.get("thread_name").is_some_and(|name| !name.is_null()) {
            return Err(failure(
                400,
                220_003,
                "Webhooks can only create threads in forum channels",
            ));
        }
        if content.is_empty()
            && attachments.is_empty()
            && rest.embeds.is_empty()
            && rest.poll.is_none()
        {
            return Err(failure(400, 50006, "Cannot send an empty message"));
        }
        let rest = (rest != Rest::default()).then(|| Box::new(rest));
        let id = snowflake(cx.sim.env.unique_number());
        Ok(Message {
            id,
            at_ms: cx.now_ms(),
            content,
            edited_ms: None,
            attachments,
            allowed_mentions,
            rest,
        })
    }

    /// Returns the text without surrounding white space.
    pub fn content(&self, flaws: &mut FormErrors) -> String {
        let content = match self.fields.get("content") {
            None | Some(Value::Null) => "",
            Some(Value::String(text)) => text.trim(),
            Some(_) => {
                flaws.mistyped("content", "a string");
                ""
            }
        };
        flaws.length("content", content, CONTENT);
        content.to_owned()
    }

    fn rest(&self, cx: &Cx, flaws: &mut FormErrors) -> Rest {
        let text = |name: &str| self.fields.get(name).and_then(Value::as_str).map(str::to_owned);
        let username = text("username").filter(|name| !name.is_empty());
        if let Some(name) = &username {
            flaws.length("username", name, NAME);
            let lower = name.to_lowercase();
            for word in ["discord", "clyde"].into_iter().filter(|word| lower.contains(word)) {
                flaws.add(
                    "username",
                    "USERNAME_INVALID_CONTAINS",
                    &format!("Username cannot contain \"{word}\""),
                );
            }
        }
        let embeds =
            self.fields.get("embeds").and_then(Value::as_array).cloned().unwrap_or_default();
        if embeds.len() > EMBEDS {
            flaws.add("embeds", "BASE_TYPE_MAX_LENGTH", "Must be 10 or fewer in length.");
        }
        let poll = self.fields.get("poll").filter(|poll| !poll.is_null());
        Rest {
            username,
            avatar_url: text("avatar_url"),
            embeds: embeds.into_iter().map(rich).collect(),
            poll: poll.and_then(|poll| poll::checked(poll, cx.now_ms(), flaws)),
            flags: self.fields.get("flags").and_then(Value::as_u64).unwrap_or(0) & FLAGS,
            tts: self.fields.get("tts").and_then(Value::as_bool).unwrap_or(false),
        }
    }

    fn allowed_mentions(&self, flaws: &mut FormErrors) -> Option<Box<Value>> {
        let allowed = self.fields.get("allowed_mentions").filter(|allowed| !allowed.is_null())?;
        let parse = allowed["parse"].as_array().map(Vec::as_slice).unwrap_or_default();
        for (n, kind) in parse.iter().enumerate() {
            if !matches!(kind.as_str(), Some("roles" | "users" | "everyone")) {
                let message = "Value must be one of {'users', 'roles', 'everyone'}.";
                flaws.add(&format!("allowed_mentions.parse.{n}"), "BASE_TYPE_CHOICES", message);
            }
        }
        for kind in ["users", "roles"] {
            let listed = allowed[kind].as_array().is_some_and(|ids| !ids.is_empty());
            if listed && parse.iter().any(|p| p == kind) {
                let message =
                    format!("parse:[\"{kind}\"] and {kind}: [ids...] are mutually exclusive.");
                flaws.add("allowed_mentions", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", &message);
            }
        }
        Some(Box::new(allowed.clone()))
    }

    fn attachments(&self, cx: &Cx, flaws: &mut FormErrors) -> Result<Vec<Attachment>, Reply> {
        if self.files.len() > FILES {
            return Err(failure(
                400,
                30015,
                "Maximum number of attachments in a message reached (10)",
            ));
        }
        if self.files.iter().any(|file| file.bytes.len() > FILE_MAX) {
            return Err(failure(413, 40005, "Request entity too large"));
        }
        let said = self
            .fields
            .get("attachments")
            .and_then(Value::as_array)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let number = |file: &Part| {
            file.name.trim_start_matches("files[").trim_end_matches(']').parse::<u64>().unwrap_or(0)
        };
        for (n, entry) in said.iter().enumerate() {
            let id = id_of(entry);
            if !self.files.iter().any(|file| Some(number(file)) == id) {
                flaws.add(
                    &format!("attachments.{n}.id"),
                    "ATTACHMENT_NOT_FOUND",
                    "Attachment data not found",
                );
            }
            flaws.length(
                &format!("attachments.{n}.description"),
                entry["description"].as_str().unwrap_or_default(),
                DESCRIPTION,
            );
        }
        Ok(self
            .files
            .iter()
            .map(|file| {
                let entry = said.iter().find(|entry| id_of(entry) == Some(number(file)));
                attachment(cx, file, entry.unwrap_or(&Value::Null))
            })
            .collect())
    }
}

fn id_of(entry: &Value) -> Option<u64> {
    let id = &entry["id"];
    id.as_u64().or_else(|| id.as_str()?.parse().ok())
}

fn attachment(cx: &Cx, file: &Part, entry: &Value) -> Attachment {
    let picture = picture::picture(&file.bytes);
    let sniffed = picture::sniff(&file.bytes).map(str::to_owned);
    let said = Some(file.mime.clone()).filter(|mime| !mime.is_empty());
    let text = |name: &str| entry[name].as_str().map(str::to_owned);
    Attachment {
        id: snowflake(cx.sim.env.unique_number()),
        filename: text("filename").or_else(|| file.filename.clone()).unwrap_or_default(),
        description: text("description").filter(|text| !text.is_empty()),
        mime: sniffed.or(said).unwrap_or_else(|| "application/octet-stream".into()),
        size: file.bytes.len() as u64,
        sha256: ReceivedFile::of(&file.bytes).sha256,
        dimensions: picture.map(|picture| (picture.width, picture.height)),
        source: None,
    }
}

/// Returns true if a message allows mentions of everyone.
pub(super) fn mentions_everyone(message: &Message) -> bool {
    let named = message.content.contains("@everyone") || message.content.contains("@here");
    named
        && message.allowed_mentions.as_ref().is_none_or(|allowed| {
            allowed["parse"].as_array().is_some_and(|parse| parse.contains(&json!("everyone")))
        })
}

/// Returns an embed as a message shows it.
fn rich(mut embed: Value) -> Value {
    embed["type"] = json!("rich");
    embed
}
