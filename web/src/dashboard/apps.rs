//! `/dashboard/apps`: the apps that have access to the user's account, and the user's own OAuth apps.

use fanfare_core::{Code, Error, GrantId, Result, Tx, access::Scope, audit_trail::Author};
use fanfare_people::oauth_provider::{self, App, AppChanges, Grant, NewApp, join_scopes};
use maud::{Markup, html};
use uuid::Uuid;

use super::{confirm, page_member::PageMember, parts};
use crate::oauth_connect::{PageResponse, Visit};

const TITLE: &str = "Apps";
const PAGE: &str = "/dashboard/apps";

/// Shows the apps with access and the user's own.
pub async fn show(visit: Visit) -> Result<PageResponse> {
    Ok(PageResponse::Page(TITLE, page(&visit, None).await?))
}

/// Revokes the access of an app.
pub async fn end(mut visit: Visit) -> Result<PageResponse> {
    match confirm::require_password(&mut visit).await {
        Ok(()) => {}
        Err(error) if parts::is_about_the_form(&error) => {
            let main = page(&visit, Some(&error)).await?;
            return Ok(PageResponse::Invalid(TITLE, main, error));
        }
        Err(error) => return Err(error),
    }
    let absent = || Error::new(Code::GrantNotFound, "There is no such grant, or it has ended.");
    let id = Uuid::parse_str(visit.path("id")).map(GrantId).map_err(|_| absent())?;
    let tx = Tx::begin(&visit.cx).await?;
    let person = visit.session.user_id;
    oauth_provider::end_grant(&tx, &author(&visit), person, None, id).await?;
    tx.commit().await?;
    Ok(PageResponse::Redirect(PAGE.to_owned()))
}

/// Creates an app.
pub async fn create(visit: Visit) -> Result<PageResponse> {
    let new = NewApp {
        client_name: visit.form("name").unwrap_or_default().to_owned(),
        allowed_redirect_uris: uris(&visit),
        default_scopes: Some(parts::ticked(&visit, "scopes")),
    };
    let tx = Tx::begin(&visit.cx).await?;
    let made = oauth_provider::create_app(&tx, &author(&visit), visit.session.user_id, new).await;
    tx_outcome(&visit, made.map(drop), tx).await
}

/// Changes an app.
pub async fn update(visit: Visit) -> Result<PageResponse> {
    let changes = AppChanges {
        client_name: Some(visit.form("name").unwrap_or_default().to_owned()),
        allowed_redirect_uris: Some(uris(&visit)),
        default_scopes: None,
    };
    let (owner, id) = (visit.session.user_id, visit.path("id").to_owned());
    let tx = Tx::begin(&visit.cx).await?;
    let changed = oauth_provider::update_app(&tx, &author(&visit), owner, &id, changes).await;
    tx_outcome(&visit, changed.map(drop), tx).await
}

/// Deletes an app.
pub async fn delete(visit: Visit) -> Result<PageResponse> {
    let (owner, id) = (visit.session.user_id, visit.path("id").to_owned());
    let tx = Tx::begin(&visit.cx).await?;
    let gone = oauth_provider::delete_app(&tx, &author(&visit), owner, &id).await;
    tx_outcome(&visit, gone, tx).await
}

fn author(visit: &Visit) -> Author {
    Author::user(visit.session.user_id, &visit.request_id)
}

async fn tx_outcome(visit: &Visit, outcome: Result<()>, tx: Tx) -> Result<PageResponse> {
    match outcome {
        Ok(()) => {
            tx.commit().await?;
            Ok(PageResponse::Redirect(PAGE.to_owned()))
        }
        Err(error) if parts::is_about_the_form(&error) => {
            drop(tx);
            let main = page(visit, Some(&error)).await?;
            Ok(PageResponse::Invalid(TITLE, main, error))
        }
        Err(error) => Err(error),
    }
}

/// Returns the redirect URIs of the form, one a line.
fn uris(visit: &Visit) -> Vec<String> {
    let lines = visit.form("redirect_uris").unwrap_or_default().lines();
    lines.map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

async fn page(visit: &Visit, wrong: Option<&Error>) -> Result<Markup> {
    PageMember::of(visit).await?;
    let (cx, person) = (&visit.cx, visit.session.user_id);
    let grants = oauth_provider::list_grants(cx, person, None).await?;
    let apps = oauth_provider::list_apps(cx, person).await?;
    Ok(html! {
        h1 { (TITLE) }
        (parts::form_error(wrong))
        p.soft { "Tools that you let in act as you, within what you allowed. You can end that here at any time." }
        @if grants.is_empty() {
            p.empty { "You have let no tool in yet. Give " code { (cx.settings.base_url) "/mcp" } " to a tool that speaks MCP, and it will ask you." }
        }
        @for grant in &grants { (let_in(visit, grant)) }
        h2 { "Your own apps" }
        p.soft { "Make an app if you build a tool that asks other people to let it in. It has no secret; it proves itself with PKCE." }
        @for app in &apps { (own(visit, app)) }
        details.confirm open[apps.is_empty() || wrong.is_some()] {
            summary { "Create an app" }
            form.narrow method="post" action=(PAGE) {
                (parts::csrf_field(visit))
                (fields("new", visit.form("name").unwrap_or_default(), visit.form("redirect_uris").unwrap_or_default()))
                (parts::scopes("scopes", &Scope::default_set()))
                button type="submit" { "Create the app" }
            }
        }
    })
}

fn let_in(visit: &Visit, grant: &Grant) -> Markup {
    html! {
        section.card {
            h2 { (grant.client_name) }
            dl.facts {
                dt { "May" } dd { (join_scopes(&grant.scopes).replace(' ', ", ")) }
                dt { "Workspace" } dd { (grant.workspace_name) }
                dt { "Let in" } dd { time { (parts::day(visit, grant.created_at)) } }
                dt { "Last used" } dd { (parts::minute_or_never(visit, grant.last_used_at)) }
                dt { "Id" } dd { code { (grant.client_id) } }
            }
            (parts::confirmed_action(visit, "End its access", &format!("{PAGE}/{}/end", grant.id),
                "The tool is shut out at once. To use it again you let it in again.", "End its access now", &confirm::password_field(visit, &grant.id.to_string())))
        }
    }
}

fn own(visit: &Visit, app: &App) -> Markup {
    let action = format!("{PAGE}/own/{}", app.client_id);
    html! {
        section.card {
            h3 { (app.client_name) }
            dl.facts {
                dt { "Client id" } dd { code { (app.client_id) } }
                dt { "Sends people to" }
                dd { @for uri in &app.redirect_uris { div { code { (uri) } } } }
                dt { "Asks for" } dd { (join_scopes(&app.scopes).replace(' ', ", ")) }
                dt { "Let in by" } dd { (app.grants) @if app.grants == 1 { " workspace" } @else { " workspaces" } }
                dt { "Created" } dd { time { (parts::day(visit, app.created_at)) } }
            }
            div.row {
                details.confirm {
                    summary { "Change" }
                    form.narrow method="post" action=(action) {
                        (parts::csrf_field(visit))
                        (fields(&app.client_id, &app.client_name, &app.redirect_uris.join("\n")))
                        button type="submit" { "Save" }
                    }
                }
                (parts::confirmed_action(visit, "Delete", &format!("{action}/delete"),
                    "Everybody who let it in is cut off at once. This cannot be undone.", "Delete this app", &html! {}))
            }
        }
    }
}

fn fields(id: &str, name: &str, uris: &str) -> Markup {
    let (name_id, uris_id) = (format!("name-{id}"), format!("uris-{id}"));
    html! {
        div.field {
            label for=(name_id) { "Name, as people will see it" }
            input id=(name_id) name="name" required maxlength="100" value=(name) autocomplete="off";
        }
        div.field {
            label for=(uris_id) { "Redirect URIs, one a line" }
            textarea id=(uris_id) name="redirect_uris" rows="3" required spellcheck="false" { (uris) }
            p.soft.hint { "https, or http on 127.0.0.1 (without a port it matches every port)." }
        }
    }
}
