//! The settings of each network as fields, made from the schema of its accounts.

use fanfare_core::Result;
use fanfare_entities::account;
use fanfare_publishing::{
    accounts::{self, AccountSchema},
    platforms::label,
};
use maud::{Markup, html};
use serde_json::{Map, Value, json};

use super::{
    draft::{Draft, own_text_field},
    files::alt_texts,
    problem::Problem,
};
use crate::dashboard::{
    marks::{account_name, mark},
    page_member::PageMember,
    parts::one_line,
};

async fn schema(seat: &PageMember, account: &account::Model) -> Result<AccountSchema> {
    accounts::schema_of(&seat.act, account.id).await
}

/// The setting with the alt texts, which stand with the files.
const ALT_TEXTS: &str = "media_alt_texts";

/// Returns the networks of the chosen accounts that show no alt texts.
///
/// # Errors
/// The database's.
pub async fn without_alt_texts(seat: &PageMember, draft: &Draft) -> Result<Vec<String>> {
    let mut networks = Vec::new();
    for account in draft.chosen(seat).await? {
        let network = label(&account.platform).to_owned();
        let known = schema(seat, &account).await?;
        if !known.has(ALT_TEXTS) && !networks.contains(&network) {
            networks.push(network);
        }
    }
    Ok(networks)
}

/// Returns the name of a setting's field.
pub fn named(account: &account::Model, setting: &str) -> String {
    format!("set.{}.{setting}", account.id)
}

/// Returns the post type and the settings that were filled in for an account.
///
/// # Errors
/// The account is gone.
pub async fn values(
    seat: &PageMember,
    draft: &Draft,
    account: &account::Model,
) -> Result<(Option<String>, Map<String, Value>)> {
    let known = schema(seat, account).await?;
    let mut settings = Map::new();
    for (name, shape) in known.settings() {
        if let Some(text) = draft.field(&named(account, name)) {
            settings.insert(name.clone(), value(shape, text));
        }
    }
    let post_type = draft.field(&named(account, "post_type")).map(str::to_owned);
    settings.remove("post_type");
    settings.remove(ALT_TEXTS);
    let alt_texts = alt_texts(&draft.media);
    if !alt_texts.is_empty() && known.has(ALT_TEXTS) {
        settings.insert(ALT_TEXTS.to_owned(), json!(alt_texts));
    }
    Ok((post_type, settings))
}

/// Converts a field to the type of its schema; a value that does not fit is passed on, and refused by the API with the
/// reason.
fn value(shape: &Value, text: &str) -> Value {
    let number = || text.parse::<f64>().ok().map(|number| json!(number));
    let read = match shape["type"].as_str() {
        Some("boolean") => Some(json!(text == "true")),
        Some("integer") => text.parse::<i64>().ok().map(|number| json!(number)),
        Some("number") => number(),
        Some("array") => {
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
            Some(lines.map(|line| json!(line)).collect::<Vec<_>>().into())
        }
        _ => None,
    };
    read.unwrap_or_else(|| json!(text))
}

/// Returns the fields of all chosen accounts, with what is wrong with the post on each. With several accounts each can have
/// a text of its own.
///
/// # Errors
/// The database's.
pub async fn fields(seat: &PageMember, draft: &Draft, problems: &[Problem]) -> Result<Markup> {
    let accounts = draft.chosen(seat).await?;
    let mut all = Vec::new();
    for account in &accounts {
        let known = schema(seat, account).await?;
        let has_own = accounts.len() > 1 || draft.own_text(account).is_some();
        let wrong = problems.iter().filter(|one| one.accounts.contains(&account.id));
        all.push(of_account(draft, account, (&known, has_own, &wrong.collect::<Vec<_>>())));
    }
    Ok(html! { @for fields in &all { (fields) } })
}

fn of_account(
    draft: &Draft,
    account: &account::Model,
    (known, has_own, wrong): (&AccountSchema, bool, &[&Problem]),
) -> Markup {
    let simple: Vec<_> = known.settings().filter(|(name, shape)| is_simple(name, shape)).collect();
    let (needed, wanted): (Vec<_>, Vec<_>) =
        simple.into_iter().partition(|(name, _)| known.requires(name));
    let others = known.settings().any(|(name, shape)| {
        !is_simple(name, shape) && !["post_type", ALT_TEXTS].contains(&name.as_str())
    });
    let filled = wanted.iter().any(|(name, _)| draft.field(&named(account, name)).is_some());
    html! {
        @if has_own || known.post_types.len() > 1 || !needed.is_empty() || !wanted.is_empty() {
            fieldset {
                legend { (mark(&account.platform)) " " (account_name(&account.username)) " · " (label(&account.platform)) }
                @if has_own { (own_text(draft, account, wrong)) }
                @if known.post_types.len() > 1 { (post_type(draft, account, &known.post_types)) }
                @for (name, shape) in &needed { (field(draft, account, name, shape, true)) }
                @if !wanted.is_empty() {
                    details.confirm open[filled] {
                        summary { "More settings" }
                        @for (name, shape) in &wanted { (field(draft, account, name, shape, false)) }
                        @if others { p.soft.hint { "Further settings can be made with the API." } }
                    }
                }
            }
        }
    }
}

/// Renders what is wrong with the post on an account, and the field for its own text, which is open if that may help.
fn own_text(draft: &Draft, account: &account::Model, wrong: &[&Problem]) -> Markup {
    let (name, text) = (own_text_field(account), draft.own_text(account));
    let hint = format!("{name}-hint");
    let is_wrong = wrong.iter().any(|one| one.input == "caption" || one.input == name);
    html! {
        @if !wrong.is_empty() {
            div.flash.warn.problems {
                @for one in wrong.iter().take(10) { p { (one_line(&one.message, 300)) " " (one_line(&one.remedy, 300)) } }
            }
        }
        details.confirm open[text.is_some() || is_wrong] {
            summary { "Own text" }
            div.field {
                label for=(name) { "Text for " (account_name(&account.username)) " on " (label(&account.platform)) }
                textarea id=(name) name=(name) rows="5" aria-describedby=(hint) { "\n" (text.unwrap_or_default()) }
                p.soft.hint id=(hint) { "Leave it empty for the same text as above." }
            }
        }
    }
}

/// Returns true for a setting that one field can hold.
fn is_simple(name: &str, shape: &Value) -> bool {
    let holds = |shape: &Value| {
        matches!(shape["type"].as_str(), Some("string" | "boolean" | "integer" | "number"))
    };
    !["post_type", ALT_TEXTS].contains(&name)
        && (holds(shape) || (shape["type"] == "array" && holds(&shape["items"])))
}

fn post_type(draft: &Draft, account: &account::Model, types: &[&str]) -> Markup {
    let name = named(account, "post_type");
    let chosen = draft.field(&name).unwrap_or_default();
    html! {
        div.field {
            label for=(name) { "Type" }
            select id=(name) name=(name) {
                @for kind in types { option value=(kind) selected[*kind == chosen] { (kind.replace('_', " ")) } }
            }
        }
    }
}

fn field(
    draft: &Draft,
    account: &account::Model,
    setting: &str,
    shape: &Value,
    needed: bool,
) -> Markup {
    let name = named(account, setting);
    let (hint, value) = (format!("{name}-hint"), draft.field(&name));
    let choices: Vec<&str> = match shape["type"].as_str() {
        Some("boolean") => vec!["true", "false"],
        _ => shape["enum"].as_array().into_iter().flatten().filter_map(Value::as_str).collect(),
    };
    let words = |choice: &str| match (shape["type"].as_str(), choice) {
        (Some("boolean"), "true") => "Yes".to_owned(),
        (Some("boolean"), _) => "No".to_owned(),
        _ => choice.replace('_', " "),
    };
    let kind = match shape["type"].as_str() {
        Some("integer" | "number") => "number",
        _ if shape["format"] == "uri" => "url",
        _ => "text",
    };
    html! {
        div.field {
            label for=(name) { (setting_label(setting)) @if !needed { span.soft { " (optional)" } } }
            @if shape["type"] == "array" {
                textarea id=(name) name=(name) rows="2" aria-describedby=(hint) { "\n" (value.unwrap_or_default()) }
            } @else if choices.is_empty() {
                input id=(name) name=(name) type=(kind) value=[value] step=[(kind == "number").then_some("any")]
                    aria-describedby=(hint) autocomplete="off";
            } @else {
                select id=(name) name=(name) aria-describedby=(hint) {
                    option value="" { "–" }
                    @for choice in choices {
                        option value=(choice) selected[value == Some(choice)] { (words(choice)) }
                    }
                }
            }
            p.soft.hint id=(hint) {
                (shape["description"].as_str().unwrap_or_default())
                @if shape["type"] == "array" { " Each on a line of its own." }
            }
        }
    }
}

/// Returns the label of a setting: "Privacy level" for `privacy_level`.
fn setting_label(setting: &str) -> String {
    let mut words = setting.replace('_', " ");
    if let Some(first) = words.get_mut(0..1) {
        first.make_ascii_uppercase();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_read_as_its_schema_wants_it() {
        let read = |kind: &str, text: &str| value(&json!({ "type": kind }), text);
        assert_eq!(read("boolean", "true"), json!(true));
        assert_eq!(read("integer", "7"), json!(7));
        assert_eq!(read("integer", "seven"), json!("seven"));
        assert_eq!(read("array", "a, b\r\n\r\nc"), json!(["a, b", "c"]));
        assert_eq!(read("string", "7"), json!("7"));
        assert_eq!(setting_label("privacy_level"), "Privacy level");
    }
}
