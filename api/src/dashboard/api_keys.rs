//! `/dashboard/api`: the keys of a person.

use fanfare_domain::{Result, clock::show as time, keys};
use maud::{Markup, html};

use crate::handoff::{Answer, Visit};

/// Shows the keys there are, by their beginnings.
pub async fn show(visit: Visit) -> Result<Answer> {
    let keys = keys::list(&visit.cx, visit.session.user_id).await?;
    Ok(Answer::Page("API", page(&keys)))
}

fn page(keys: &[keys::Listed]) -> Markup {
    html! {
        h1 { "API keys" }
        p.soft { "A key acts as you. Only its beginning is kept, so it cannot be shown again." }
        @if keys.is_empty() { p.empty { "You have no key." } }
        @for key in keys {
            dl.facts {
                dt { "Name" } dd { (key.name) }
                dt { "Begins with" } dd { code { (key.prefix) "…" } }
                dt { "Scopes" } dd { (key.scopes.replace(' ', ", ")) }
                dt { "Made" } dd { time { (time(key.created_at)) } }
                dt { "Last used" } dd { (key.last_used_at.map_or_else(|| "never".to_owned(), time)) }
                @if let Some(end) = key.expires_at { dt { "Ends" } dd { time { (time(end)) } } }
            }
        }
    }
}
