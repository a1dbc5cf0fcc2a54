//! `/dashboard/api`: the user's API keys.

use fanfare_core::{
    Code, Error, KeyId, Result, Tx,
    access::{PlanTier, Role, Scope, plan_name},
    audit_trail::Author,
    error::Violations,
};
use fanfare_people::{
    keys::{self, KeyCreator, KeyRequest, KeySummary},
    signup,
    users::{self, Workspace},
};
use maud::{Markup, html};
use secrecy::{ExposeSecret, SecretString};
use uuid::Uuid;

use super::{confirm, page_member::PageMember, parts};
use crate::oauth_connect::{PageResponse, Visit};

const TITLE: &str = "API keys";

/// Shows the keys by their prefixes. A user who never had a key gets the first one here, once, and only if the page is
/// not just prefetched and no other site led here.
pub async fn show(visit: Visit) -> Result<PageResponse> {
    let fresh = if visit.is_document && visit.is_from_here {
        signup::first_key(&visit.cx, visit.session.user_id).await?
    } else {
        None
    };
    let fresh = fresh.map(|key| ("This is your first API key.", key));
    Ok(PageResponse::Page(TITLE, page(&visit, fresh, None).await?))
}

/// Creates a key, which is shown on this response and nowhere else.
pub async fn create(mut visit: Visit) -> Result<PageResponse> {
    let made = match confirm::require_password(&mut visit).await {
        Ok(()) => make(&visit).await,
        Err(error) => Err(error),
    };
    answer(&visit, made, "This is your new API key.").await
}

/// Revokes a key and creates one like it.
pub async fn replace(mut visit: Visit) -> Result<PageResponse> {
    let replaced = match confirm::require_password(&mut visit).await {
        Ok(()) => swap(&visit).await,
        Err(error) => Err(error),
    };
    answer(&visit, replaced, "The old key is revoked. This is the one in its place.").await
}

/// Revokes a key.
pub async fn revoke(mut visit: Visit) -> Result<PageResponse> {
    let revoked = match confirm::require_password(&mut visit).await {
        Ok(()) => end(&visit).await,
        Err(error) => Err(error),
    };
    match revoked {
        Ok(()) => Ok(PageResponse::Redirect("/dashboard/api".to_owned())),
        Err(error) if parts::is_about_the_form(&error) => {
            let main = page(&visit, None, Some(&error)).await?;
            Ok(PageResponse::Invalid(TITLE, main, error))
        }
        Err(error) => Err(error),
    }
}

async fn answer(
    visit: &Visit,
    made: Result<SecretString>,
    intro: &'static str,
) -> Result<PageResponse> {
    match made {
        Ok(key) => Ok(PageResponse::Page(TITLE, page(visit, Some((intro, key)), None).await?)),
        Err(error) if parts::is_about_the_form(&error) => {
            let main = page(visit, None, Some(&error)).await?;
            Ok(PageResponse::Invalid(TITLE, main, error))
        }
        Err(error) => Err(error),
    }
}

async fn make(visit: &Visit) -> Result<SecretString> {
    let (person, scopes) = (visit.session.user_id, Scope::ALL.to_vec());
    let author = author(visit);
    let maker =
        KeyCreator { user_id: person, author, scopes, within: None, brand: None, until: None };
    let workspace = visit.form("workspace_id").map(Uuid::parse_str).transpose();
    let workspace = workspace
        .map_err(|_| Error::new(Code::WorkspaceNotFound, "There is no such workspace."))?;
    let days = visit.form("expires_in_days").map(|days| days.parse().unwrap_or(0));
    let new = KeyRequest {
        name: visit.form("name").unwrap_or_default().to_owned(),
        scopes: Some(parts::ticked(visit, "scopes")),
        workspace_client_id: None,
        workspace_id: workspace,
        expires_in_days: days,
    };
    let mut tx = Tx::begin(&visit.cx).await?;
    let (key, _) = keys::create_by_user(&mut tx, &maker, &new, Violations::default()).await?;
    tx.commit().await?;
    Ok(key)
}

async fn swap(visit: &Visit) -> Result<SecretString> {
    let mut tx = Tx::begin(&visit.cx).await?;
    let (key, _) =
        keys::replace(&mut tx, &author(visit), visit.session.user_id, id(visit)?).await?;
    tx.commit().await?;
    Ok(key)
}

async fn end(visit: &Visit) -> Result<()> {
    let tx = Tx::begin(&visit.cx).await?;
    let person = visit.session.user_id;
    keys::revoke_by_id(&tx, &author(visit), person, (None, None), id(visit)?).await?;
    tx.commit().await
}

fn author(visit: &Visit) -> Author {
    Author::user(visit.session.user_id, &visit.request_id)
}

fn id(visit: &Visit) -> Result<KeyId> {
    let absent = || Error::new(Code::KeyNotFound, "There is no such API key, or it has ended.");
    Uuid::parse_str(visit.path("id")).map(KeyId).map_err(|_| absent())
}

async fn page(
    visit: &Visit,
    fresh: Option<(&'static str, SecretString)>,
    wrong: Option<&Error>,
) -> Result<Markup> {
    PageMember::of(visit).await?;
    let (cx, person) = (&visit.cx, visit.session.user_id);
    let keys = keys::list(cx, person).await?;
    let allowed = keys::allowance(cx, &cx.db.read, person).await?;
    let mine = users::workspaces_of(cx, person, Role::Viewer).await?;
    let admin_of = users::workspaces_of(cx, person, Role::Admin).await?;
    let base_url = &cx.settings.base_url;
    Ok(html! {
        h1 { (TITLE) }
        p.soft { "A key acts as you. It is shown once, when it is made; only its beginning is kept." }
        (parts::form_error(wrong))
        @if let Some((intro, key)) = &fresh { (shown_once(intro, key, base_url)) }
        @if keys.is_empty() {
            p.empty { "You have no key. Create one to use the API from a program of yours." }
        }
        @for key in &keys { (card(visit, key, &mine)) }
        (form(visit, keys.len(), allowed, &admin_of))
        @if fresh.is_none() { (lines(base_url, None)) }
    })
}

fn shown_once(intro: &str, key: &SecretString, base_url: &str) -> Markup {
    html! {
        div.flash.good role="status" {
            p { (intro) " It is shown only now:" }
            p { code { (key.expose_secret()) } }
        }
        (lines(base_url, Some(key)))
    }
}

/// Renders commands that are ready to be copied.
fn lines(base_url: &str, key: Option<&SecretString>) -> Markup {
    let key = key.map_or("YOUR_KEY", |key| key.expose_secret());
    html! {
        h2 { "Use it" }
        h3 { "curl" }
        pre tabindex="0" { code { "curl " (base_url) "/api/v1/whoami \\\n  -H 'Authorization: Bearer " (key) "'" } }
        h3 { "Command line" }
        pre tabindex="0" { code { "FANFARE_URL=" (base_url) " FANFARE_API_KEY=" (key) " fanfare whoami" } }
        h3 { "Claude Code" }
        pre tabindex="0" { code { "claude mcp add --transport http fanfare " (base_url) "/mcp \\\n  --header 'Authorization: Bearer " (key) "'" } }
        h3 { "Other MCP clients" }
        pre tabindex="0" { code { "{\"mcpServers\": {\"fanfare\": {\n  \"url\": \"" (base_url) "/mcp\",\n  \"headers\": {\"Authorization\": \"Bearer " (key) "\"}}}}" } }
        p.soft { "Tools that open a browser need no key: give them " code { (base_url) "/mcp" } " and let them in on the page that opens." }
    }
}

fn card(visit: &Visit, key: &KeySummary, mine: &[Workspace]) -> Markup {
    let workspace =
        |id| mine.iter().find(|one| one.id == id).map_or("another one", |one| one.name.as_str());
    let page = format!("/dashboard/api/{}", key.id);
    html! {
        section.card {
            h2 { (key.name) }
            dl.facts {
                dt { "Begins with" } dd { code { (key.prefix) "…" } }
                dt { "May" } dd { (key.scopes.replace(' ', ", ")) }
                dt { "Workspace" } dd { @match key.workspace_id { Some(id) => (workspace(id)), None => "all of yours" } }
                dt { "Created" } dd { time { (parts::day(visit, key.created_at)) } }
                dt { "Last used" } dd { (parts::minute_or_never(visit, key.last_used_at)) }
                dt { "Ends" } dd { @match key.expires_at { Some(end) => time { (parts::day(visit, end)) }, None => "never" } }
            }
            div.row {
                (parts::confirmed_action(visit, "Replace", &format!("{page}/replace"),
                    "The key stops working at once, and you get one like it.", "Replace this key", &confirm::password_field(visit, key.prefix.as_str())))
                (parts::confirmed_action(visit, "Revoke", &format!("{page}/revoke"),
                    "Programs that use this key stop working at once. This cannot be undone.", "Revoke this key", &confirm::password_field(visit, &format!("revoke-{}", key.prefix))))
            }
        }
    }
}

fn form(
    visit: &Visit,
    had: usize,
    (plan, allowed): (PlanTier, u32),
    admin_of: &[Workspace],
) -> Markup {
    let is_full = u64::try_from(had).is_ok_and(|had| had >= u64::from(allowed));
    html! {
        h2 { "Create a key" }
        p.soft { "You have " (had) " of the " (allowed) " that the plan " (plan_name(plan).replace('_', " ")) " allows." }
        @if is_full {
            p.flash.warn { "Revoke a key or move to a larger " a href="/dashboard/billing" { "plan" } " to create another one." }
        } @else {
            form.narrow method="post" action="/dashboard/api" {
                (parts::csrf_field(visit))
                div.field {
                    label for="name" { "Name" }
                    input #name name="name" required maxlength="100" value=(visit.form("name").unwrap_or_default())
                        placeholder="nightly import" autocomplete="off";
                }
                (parts::scopes("scopes", &Scope::default_set()))
                div.field {
                    label for="workspace" { "Workspace" }
                    select #workspace name="workspace_id" {
                        option value="" { "All of yours" }
                        @for one in admin_of { option value=(one.id) { (one.name) } }
                    }
                }
                div.field {
                    label for="end" { "Ends" }
                    select #end name="expires_in_days" {
                        option value="" { "Never" }
                        @for days in [30, 90, 365] { option value=(days) { "In " (days) " days" } }
                    }
                }
                (confirm::password_field(visit, "new"))
                button type="submit" { "Create the key" }
            }
        }
    }
}
