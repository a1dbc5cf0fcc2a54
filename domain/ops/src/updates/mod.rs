//! News of the service: the files of `docs/updates/`, which are part of the binary.

mod entry;

use fanfare_core::{
    Act, Reply,
    error::{Code, Error, Result, out_of_range},
    page::{EmptyBecause, Listed},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use entry::{Update, all, find};

/// The filters of a list of updates.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdatesQuery {
    /// 1 to 50, 10 if left out.
    #[serde(default)]
    #[schemars(range(min = 1, max = 50))]
    pub limit: Option<i64>,
    /// Only updates from this day or later, YYYY-MM-DD.
    #[serde(default)]
    #[schemars(length(max = 40))]
    pub since: Option<String>,
    /// True to include the text of each update.
    #[serde(default)]
    pub include_content: bool,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

/// The updates, newest first.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct UpdateList {
    /// The updates.
    updates: Vec<UpdateView>,
}

/// A published update of the service.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Update")]
struct UpdateView {
    /// Its name in `url`.
    slug: &'static str,
    title: &'static str,
    /// The day it came, YYYY-MM-DD.
    #[schemars(extend("format" = "date"))]
    date: &'static str,
    /// The version it came with.
    version: &'static str,
    summary: &'static str,
    /// `feature`, `improvement`, `fix`, or null.
    #[serde(rename = "type")]
    kind: Option<&'static str>,
    /// The parts of the product it is about.
    areas: &'static [String],
    /// Its page.
    #[schemars(extend("format" = "uri"))]
    url: String,
    #[schemars(extend("format" = "uri"))]
    image: Option<&'static str>,
    #[schemars(extend("format" = "uri"))]
    video: Option<&'static str>,
    /// The text, Markdown; only with `include_content`.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'static str>,
}

impl UpdateView {
    fn of(update: &'static Update, base_url: &str, with_content: bool) -> Self {
        Self {
            slug: &update.slug,
            title: &update.title,
            date: &update.date,
            version: &update.version,
            summary: &update.summary,
            kind: update.kind.as_deref(),
            areas: &update.areas,
            url: format!("{base_url}/updates/{}", update.slug),
            image: update.image.as_deref(),
            video: update.video.as_deref(),
            content: Some(update.content.as_str()).filter(|_| with_content),
        }
    }
}

/// Lists updates, newest first.
///
/// # Errors
/// [`Code::SubscriptionRequired`], or an invalid query.
pub fn list(act: &Act, query: &UpdatesQuery) -> Result<Reply<Listed<UpdateList>>> {
    if !act.membership.active {
        let message = "Updates need an active subscription.";
        return Err(Error::new(Code::SubscriptionRequired, message));
    }
    let limit = limit(query.limit)?;
    let since = query.since.as_deref().map(day).transpose()?;
    let wanted = all().iter().filter(|update| since.is_none_or(|day| update.date.as_str() >= day));
    let base_url = &act.cx.settings.base_url;
    let shown = |update| UpdateView::of(update, base_url, query.include_content);
    let updates: Vec<_> = wanted.take(limit).map(shown).collect();
    let why = updates.is_empty().then(|| EmptyBecause::of(!all().is_empty(), false));
    Ok(Reply::ok(&Listed::new(UpdateList { updates }, why)))
}

fn limit(asked: Option<i64>) -> Result<usize> {
    let asked = asked.unwrap_or(10);
    usize::try_from(asked)
        .ok()
        .filter(|limit| (1..=50).contains(limit))
        .ok_or_else(|| Error::violation(out_of_range("limit", asked, &(1..=50))))
}

/// Returns the day of an ISO date or date-time.
fn day(text: &str) -> Result<&str> {
    let day = text.get(..10).filter(|_| text.len() == 10 || text.as_bytes().get(10) == Some(&b'T'));
    let day = day.filter(|day| fanfare_core::input::day("since", day).is_ok());
    day.ok_or_else(|| {
        let message = format!("{text:?} is not a date.");
        Error::field(Code::InvalidField, "since", message, "Send YYYY-MM-DD.")
    })
}
