//! `/dashboard/api`: the keys of a person.

use fanfare_domain::{Result, clock::show as time, keys, signup};
use maud::{Markup, html};
use secrecy::{ExposeSecret, SecretString};

use crate::oauth_connect::{Answer, Visit};

/// Shows the keys there are, by their beginnings. Whoever never had one gets the first one here, once, and only when somebody
/// looks.
pub async fn show(visit: Visit) -> Result<Answer> {
    let fresh = if visit.is_document {
        signup::first_key(&visit.cx, visit.session.user_id).await?
    } else {
        None
    };
    let keys = keys::list(&visit.cx, visit.session.user_id).await?;
    Ok(Answer::Page("API", page(&keys, fresh.as_ref(), &visit.cx.settings.base_url)))
}

fn page(keys: &[keys::Listed], fresh: Option<&SecretString>, base_url: &str) -> Markup {
    html! {
        h1 { "API keys" }
        p.soft { "A key acts as you. Only its beginning is kept, so it cannot be shown again." }
        @if let Some(key) = fresh {
            div.flash.good role="status" {
                p { "This is your first API key. It is shown only now:" }
                p { code { (key.expose_secret()) } }
                p { "Try it: " code { "curl " (base_url) "/api/v1/whoami -H 'Authorization: Bearer …'" } }
            }
        }
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
