//! Validates a draft against a descriptor. Reports all violations, not only the first.

mod caption;
mod conversion;
pub mod fix;
mod frame;
mod media;
mod metadata;
mod next_action;
mod oversize;
mod settings;
mod split;
pub(crate) mod value;
mod violations;
mod warning;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::{Account, Draft, MediaRules, Platform, Spec};

pub use conversion::{Conversion, conversions, of as conversion};
pub use fix::Fix;
pub use media::too_many as too_many_media;
pub use next_action::NextAction;
pub use violations::{Violations, excerpt};
pub use warning::{Warning, WarningCode};

/// One broken rule, in the shape of the API's `validation_errors`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Violation {
    /// Path of the field, for example `settings.board` or `media_urls[2]`.
    pub field: String,
    /// Code from the API's catalogue.
    pub code: &'static str,
    /// The reason, as one sentence.
    pub message: String,
    /// The limit, where there is one: a whole number or a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("type" = ["integer", "string"]))]
    pub limit: Option<Value>,
    /// The given value, if it can be compared with the limit: a whole number or a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("type" = ["integer", "string"]))]
    pub actual: Option<Value>,
    /// The unit of both, if they count something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<&'static str>,
    /// The place of the value in its list, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
    /// With a post set: the indexes of the targets that the value is wrong for, where it is not their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub targets: Option<Vec<usize>>,
    /// The remedy, as one sentence.
    pub remedy: String,
    /// JSON Patch (RFC 6902) operations on the request body that correct it without changing its meaning. The fixes of
    /// all entries may be applied together, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fix: Vec<Fix>,
    /// Calls that help to resolve it, most useful first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<NextAction>,
}

/// Returns the place in a list that a field names last: 2 of `media_urls[2]` and of `posts[2].caption`.
fn index_of(field: &str) -> Option<usize> {
    let (_, after) = field.rsplit_once('[')?;
    after.split_once(']')?.0.parse().ok()
}

impl Violation {
    /// Creates a violation without a limit.
    pub fn new(
        field: impl Into<String>,
        code: &'static str,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        let field = field.into();
        Self {
            index: index_of(&field),
            targets: None,
            field,
            code,
            message: message.into(),
            limit: None,
            actual: None,
            unit: None,
            remedy: remedy.into(),
            fix: Vec::new(),
            next: Vec::new(),
        }
    }

    /// Adds the unit of the limit.
    #[must_use]
    pub const fn in_unit(mut self, unit: &'static str) -> Self {
        self.unit = Some(unit);
        self
    }

    /// Adds operations that correct it.
    #[must_use]
    pub fn with_fix(mut self, fix: impl IntoIterator<Item = Fix>) -> Self {
        self.fix.extend(fix);
        self
    }

    /// Adds the limit and the given value.
    #[must_use]
    pub fn with_limit(mut self, limit: impl Serialize, actual: impl Serialize) -> Self {
        self.limit = Some(comparable(json!(limit)));
        self.actual = Some(comparable(json!(actual)));
        self
    }
}

/// Converts a value for `limit` and `actual`: to a whole number or a text.
fn comparable(value: Value) -> Value {
    match value {
        Value::Number(number) if !number.is_f64() => Value::Number(number),
        Value::String(text) => excerpt(&text).into(),
        Value::Array(items) => {
            let named = items
                .iter()
                .map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned));
            named.collect::<Vec<_>>().join(", ").into()
        }
        other => excerpt(&other.to_string()).into(),
    }
}

/// Returns all rules of the network that `draft` breaks, in the order of the fields: caption, media, post type,
/// settings, metadata. Pure. Media of unknown type or size passes. Pass an empty account if it is not known yet.
#[must_use]
pub fn validate(platform: &dyn Platform, account: &Account, draft: &Draft) -> Violations {
    let spec = &platform.spec_of(account);
    let (kept, cut) = oversize::truncate_draft(spec, draft);
    let mut rest: Violations = caption::violations(platform, spec, &kept).into();
    rest.append(media::violations(spec, &kept));
    rest.extend(post_type(spec, &kept));
    rest.append(settings::violations(spec, draft));
    rest.append(metadata::violations(spec, &kept));
    rest.extend(platform.check(&kept));
    // Violations in a text that was cut do not apply to the whole text.
    rest.retain(|violation| cut.iter().all(|one| one.field != violation.field));
    let mut found = Violations::from(cut);
    found.append(rest);
    if !account.remote_id.is_empty() {
        found.extend(platform.account_violation(account));
    }
    found.sort_by_key(|violation| rank(&violation.field));
    found
}

/// Returns the media rules of the post's type.
fn rules(spec: &Spec, post_type: &str) -> MediaRules {
    let kind = spec.post_types.iter().find(|kind| kind.name == post_type);
    kind.and_then(|kind| kind.media).unwrap_or(spec.media)
}

/// Returns the sort position of a field; sorting by it keeps the order of violations of one field.
fn rank(field: &str) -> usize {
    const ORDER: [&str; 5] = ["caption", "media_url", "post_type", "settings", "metadata"];
    ORDER.iter().position(|start| field.starts_with(start)).unwrap_or(ORDER.len())
}

/// Post type of documents; only LinkedIn has it, and it has a code of its own.
const DOCUMENT: &str = "document";

fn post_type(spec: &Spec, draft: &Draft) -> Option<Violation> {
    let given = draft.post_type.as_str();
    if spec.post_types.iter().any(|kind| kind.name == given) {
        return None;
    }
    if given == DOCUMENT {
        return Some(pdf_requires_linkedin("post_type"));
    }
    let known: Vec<&str> = spec.post_types.iter().map(|kind| kind.name).collect();
    let among = draft.settings.get(settings::POST_TYPE).is_some_and(|named| named == given);
    let field = if among { "settings.post_type" } else { "post_type" };
    let meant = fix::closest_name(given, known.iter().copied());
    Some(
        Violation::new(
            field,
            "setting_invalid",
            format!("{} has no post type {:?}.", spec.id, excerpt(given)),
            format!("{}Use one of: {}.", other_way(spec, given), known.join(", ")),
        )
        .with_limit(known, given)
        .with_fix(meant.map(|name| Fix::replace(field, name))),
    )
}

/// Returns what makes a post of this kind on the network, if it is no post type.
fn other_way(spec: &Spec, given: &str) -> String {
    let has_polls = spec.settings.iter().any(|setting| setting.name == "poll");
    match (given, &spec.thread) {
        ("poll", _) if has_polls => "A poll is settings.poll, not a post type. ".to_owned(),
        ("poll", _) => format!("{} has no polls here. ", spec.id),
        ("thread" | "chain", Some(rules)) => {
            format!("A chain has its texts in metadata.{}. ", rules.metadata_key)
        }
        ("thread" | "chain", None) => format!("{} has no chains here. ", spec.id),
        _ => String::new(),
    }
}

fn pdf_requires_linkedin(field: impl Into<String>) -> Violation {
    Violation::new(
        field,
        "pdf_requires_linkedin",
        "PDF documents can be published on linkedin only.",
        "Publish the document on a linkedin account, or use images.",
    )
}

/// Returns advice for an unknown name: the most similar known one, or all of them.
fn nearest<'a>(given: &str, known: impl Iterator<Item = &'a str>) -> String {
    let given = excerpt(given);
    let names: Vec<&str> = known.collect();
    let best = names
        .iter()
        .map(|name| (strsim::jaro_winkler(given, name), *name))
        .max_by(|left, right| left.0.total_cmp(&right.0));
    match best {
        Some((likeness, name)) if likeness >= 0.75 => format!("Did you mean {name:?}?"),
        Some(_) => format!("Leave {given:?} out; known names are: {}.", names.join(", ")),
        None => format!("Leave {given:?} out."),
    }
}

#[cfg(test)]
mod tests;
