//! Inline keyboards.

use serde_json::{Value, json};
use url::Url;

use super::bad;
use crate::params::Params;
use crate::reply::Reply;

/// The actions of a button other than opening an address.
const ACTIONS: [&str; 9] = [
    "url",
    "callback_data",
    "web_app",
    "login_url",
    "switch_inline_query",
    "switch_inline_query_current_chat",
    "switch_inline_query_chosen_chat",
    "copy_text",
    "pay",
];

/// Parses the keyboard of a message.
pub(super) fn keyboard(params: &Params) -> Result<Option<Value>, Reply> {
    let Some(markup) = params.json("reply_markup") else { return Ok(None) };
    let markup = markup.map_err(|_| bad("can't parse reply keyboard markup JSON object"))?;
    if !markup.is_object() {
        return Err(bad("object expected as reply markup"));
    }
    let Some(rows) = markup.get("inline_keyboard") else {
        // Other kinds of keyboard are for private chats; a channel accepts and ignores them.
        return Ok(None);
    };
    let rows = rows.as_array().ok_or_else(|| {
        bad("field \"inline_keyboard\" of the InlineKeyboardMarkup must be an Array")
    })?;
    for row in rows {
        let row = row.as_array().ok_or_else(|| {
            bad("field \"inline_keyboard\" of the InlineKeyboardMarkup must be an Array of Arrays")
        })?;
        row.iter().try_for_each(button)?;
    }
    let shown: Vec<_> =
        rows.iter().filter(|row| row.as_array().is_some_and(|row| !row.is_empty())).collect();
    Ok((!shown.is_empty()).then(|| json!({"inline_keyboard": shown})))
}

fn button(button: &Value) -> Result<(), Reply> {
    let flaw = |what: &str| bad(&format!("can't parse inline keyboard button: {what}"));
    let fields =
        button.as_object().ok_or_else(|| flaw("InlineKeyboardButton must be an Object"))?;
    match fields.get("text") {
        Some(Value::String(text)) if !text.is_empty() => {}
        Some(Value::String(_)) => return Err(flaw("Button text must be non-empty")),
        Some(_) => return Err(flaw("Field \"text\" must be of type String")),
        None => return Err(flaw("Can't find field \"text\"")),
    }
    if !ACTIONS.iter().any(|action| fields.contains_key(*action)) {
        return Err(flaw("Text buttons are unallowed in the inline keyboard"));
    }
    if let Some(url) = fields.get("url").and_then(Value::as_str) {
        address(url)?;
    }
    match fields.get("callback_data").and_then(Value::as_str) {
        Some(data) if !(1..=64).contains(&data.len()) => Err(bad("BUTTON_DATA_INVALID")),
        _ => Ok(()),
    }
}

fn address(url: &str) -> Result<(), Reply> {
    let flaw = |what: &str| bad(&format!("inline keyboard button URL '{url}' is invalid: {what}"));
    let whole = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
    let parsed = Url::parse(&whole).map_err(|_| flaw("Wrong HTTP URL"))?;
    match parsed.scheme() {
        "http" | "https" if parsed.host_str().is_some_and(|host| host.contains('.')) => Ok(()),
        "http" | "https" => Err(flaw("Wrong HTTP URL")),
        "tg" | "ton" => Ok(()),
        _ => Err(flaw("Unsupported URL protocol")),
    }
}
