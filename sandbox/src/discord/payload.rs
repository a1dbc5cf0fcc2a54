//! Parses and validates the message of a webhook request, in any of the three encodings.

use serde_json::{Map, Value, json};
use url::form_urlencoded;

use super::form_errors::FormErrors;
use super::state::{Attachment, Message, Rest, Thread};
use super::{Cx, FILE_MAX, FILES, embeds, failure, poll, snowflake};
use crate::call::Call;
use crate::multipart::{self, Part};
use crate::picture;
use crate::received_file::ReceivedFile;
use crate::reply::Reply;

const CONTENT: usize = 2_000;
const NAME: usize = 80;
const DESCRIPTION: usize = 1_024;
const ADDRESS: usize = 2_048;
const FILE_NAME: usize = 1_024;
const THREAD_NAME: usize = 100;
/// The most components, and the most tags of a thread.
const COMPONENTS: usize = 40;
const TAGS: usize = 5;
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
    /// Returns the message, if Discord would accept it. `thread` is the one to send it to.
    pub fn message(&self, cx: &Cx, is_forum: bool, thread: Option<u64>) -> Result<Message, Reply> {
        let mut flaws = FormErrors::default();
        let content = self.content(&mut flaws);
        let rest = self.rest(cx, &mut flaws);
        let allowed_mentions = self.allowed_mentions(&mut flaws);
        let attachments = self.attachments(cx, &mut flaws)?;
        let name = self.thread_name(&mut flaws);
        self.sizes(&mut flaws);
        flaws.refuse()?;
        let refused = |code, message| Err(failure(400, code, message));
        match (is_forum, &name, thread) {
            (_, Some(_), Some(_)) => {
                let both = "Webhooks posted to forum channels cannot have both a thread_name and thread_id";
                return refused(220_002, both);
            }
            (false, Some(_), None) => {
                return refused(220_003, "Webhooks can only create threads in forum channels");
            }
            (true, None, None) => {
                let neither =
                    "Webhooks posted to forum channels must have a thread_name or thread_id";
                return refused(220_001, neither);
            }
            _ => {}
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
        let thread =
            thread.or(name.is_some().then_some(id)).map(|id| Box::new(Thread { id, name }));
        Ok(Message {
            id,
            thread,
            at_ms: cx.now_ms(),
            content,
            edited_ms: None,
            attachments,
            allowed_mentions,
            rest,
        })
    }

    fn thread_name(&self, flaws: &mut FormErrors) -> Option<String> {
        match self.fields.get("thread_name") {
            None | Some(Value::Null) => None,
            Some(Value::String(name)) => {
                flaws.length("thread_name", name, THREAD_NAME);
                Some(name.clone()).filter(|name| !name.is_empty())
            }
            Some(_) => {
                flaws.mistyped("thread_name", "a string");
                None
            }
        }
    }

    /// Checks the sizes of what is taken and not shown.
    fn sizes(&self, flaws: &mut FormErrors) {
        for (name, most) in [("components", COMPONENTS), ("applied_tags", TAGS)] {
            let listed = self.fields.get(name).and_then(Value::as_array);
            if listed.is_some_and(|listed| listed.len() > most) {
                let message = format!("Must be {most} or fewer in length.");
                flaws.add(name, "BASE_TYPE_MAX_LENGTH", &message);
            }
        }
        for (name, expected) in [("tts", "a boolean"), ("flags", "an integer")] {
            // Forms hold texts alone.
            let given =
                self.fields.get(name).filter(|given| !given.is_null() && !given.is_string());
            let fits =
                |given: &Value| if name == "tts" { given.is_boolean() } else { given.is_u64() };
            if given.is_some_and(|given| !fits(given)) {
                flaws.mistyped(name, expected);
            }
        }
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
        let avatar_url = text("avatar_url");
        flaws.length("avatar_url", avatar_url.as_deref().unwrap_or_default(), ADDRESS);
        let embeds = embeds::checked(self.fields.get("embeds"), flaws);
        let poll = self.fields.get("poll").filter(|poll| !poll.is_null());
        Rest {
            username,
            avatar_url,
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
        if said.len() > FILES {
            flaws.add("attachments", "BASE_TYPE_MAX_LENGTH", "Must be 10 or fewer in length.");
        }
        let number = |file: &Part| {
            file.name.trim_start_matches("files[").trim_end_matches(']').parse::<u64>().unwrap_or(0)
        };
        for (n, entry) in said.iter().enumerate() {
            if !entry["id"].is_string() {
                flaws.mistyped(&format!("attachments.{n}.id"), "a snowflake as a string");
                continue;
            }
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
            flaws.length(
                &format!("attachments.{n}.filename"),
                entry["filename"].as_str().unwrap_or_default(),
                FILE_NAME,
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

/// Returns the number of the file that an entry describes. Ids are texts.
fn id_of(entry: &Value) -> Option<u64> {
    entry["id"].as_str()?.parse().ok()
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
