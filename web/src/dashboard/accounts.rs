//! `/dashboard/accounts`: the connected accounts of the workspace.

use fanfare_core::{BrandId, Error, Result, access::Role};
use fanfare_entities::{account, account::AccountStatus};
use fanfare_publishing::{
    accounts::{self, Account},
    brands,
    platforms::{ids, label},
};
use maud::{Markup, html};
use serde_json::json;

use super::{
    marks::{account_name, mark},
    operation,
    page_member::PageMember,
    parts::{self, badge, local_time, one_line},
};
use crate::oauth_connect::{PageResponse, Visit};

const TITLE: &str = "Accounts";
const PAGE: &str = "/dashboard/accounts";

/// Shows the accounts.
pub async fn show(visit: Visit) -> Result<PageResponse> {
    let seat = PageMember::of(&visit).await?;
    Ok(PageResponse::Wide(TITLE, page(&visit, &seat, None).await?))
}

/// Disconnects an account.
pub async fn disconnect(visit: Visit) -> Result<PageResponse> {
    let gone = operation::run(&visit, "disconnect_account", json!({ "id": visit.path("id") }));
    answer(&visit, gone.await.map(drop)).await
}

/// Makes an account on a simulated network.
pub async fn create_sandbox(visit: Visit) -> Result<PageResponse> {
    let seat = PageMember::of(&visit).await?;
    let mut new = json!({
        "platform": visit.form("platform").unwrap_or_default(),
        "workspace_id": seat.act.membership.workspace_id,
    });
    for field in ["username", "workspace_client_id"] {
        if let Some(value) = visit.form(field) {
            new[field] = value.into();
        }
    }
    let made = operation::run(&visit, "create_sandbox_account", new);
    answer(&visit, made.await.map(drop)).await
}

async fn answer(visit: &Visit, outcome: Result<()>) -> Result<PageResponse> {
    match outcome {
        Ok(()) => Ok(PageResponse::Redirect(PAGE.to_owned())),
        Err(error) if (400..500).contains(&error.status()) && error.status() != 404 => {
            let seat = PageMember::of(visit).await?;
            let main = page(visit, &seat, Some(&error)).await?;
            Ok(PageResponse::WideInvalid(TITLE, main, error))
        }
        Err(error) => Err(error),
    }
}

async fn page(visit: &Visit, seat: &PageMember, wrong: Option<&Error>) -> Result<Markup> {
    let rows = accounts::all(&seat.act).await?;
    let brands = brands::names(&seat.act).await?;
    let may = seat.may(Role::Publisher);
    let begin =
        html! { @if may { a.button.strong href=(connect(seat, "")) { "Connect an account" } } };
    Ok(html! {
        (seat.head(visit, TITLE, &begin))
        (parts::form_error(wrong))
        @if rows.is_empty() {
            div.empty {
                p { "No account is connected here yet. Fanfare posts on the accounts that you connect." }
                @if may { p { a.button.strong href=(connect(seat, "")) { "Connect the first one" } } }
            }
        }
        @for (name, rows) in by_brand(&rows, &brands) {
            section {
                @let without = if brands.is_empty() { "Connected" } else { "Without a brand" };
                h2 { (one_line(name.unwrap_or(without), 80)) }
                div.cards { @for row in rows { (card(visit, seat, row)) } }
            }
        }
        @if may && seat.act.cx.settings.simulator.is_some() { (sandbox(visit, seat, &brands)) }
    })
}

/// Returns the accounts of each brand, those without one last.
fn by_brand<'a>(
    rows: &'a [account::Model],
    brands: &'a [(BrandId, String)],
) -> Vec<(Option<&'a str>, Vec<&'a account::Model>)> {
    let known = brands.iter().map(|(id, name)| (Some(*id), Some(name.as_str())));
    let groups = known.chain([(None, None)]).map(|(brand, name)| {
        (name, rows.iter().filter(|row| row.brand_id == brand).collect::<Vec<_>>())
    });
    groups.filter(|(_, rows)| !rows.is_empty()).collect()
}

/// Returns the page on which an account of a network is connected to this workspace.
fn connect(seat: &PageMember, platform: &str) -> String {
    let path = if platform.is_empty() { String::new() } else { format!("/{platform}") };
    format!("/connect{path}?workspace_id={}", seat.act.membership.workspace_id)
}

fn card(visit: &Visit, seat: &PageMember, row: &account::Model) -> Markup {
    let shown = Account::of(&seat.act.cx, row);
    let (is_lost, network) = (row.status == AccountStatus::ReconnectRequired, label(&row.platform));
    html! {
        section.card {
            h3 title=(one_line(&row.username, 200)) { (mark(&row.platform)) " " (account_name(&row.username)) }
            p {
                (network) " "
                @if is_lost { (badge("reconnect_required")) } @else { (badge("connected")) }
                @if row.sandbox { " " span.badge.warn { "simulated" } }
            }
            dl.facts {
                @if let Some(name) = &row.display_name { dt { "Name" } dd { (one_line(name, 80)) } }
                @if account_name(&row.username) != row.username { dt { "In full" } dd { (one_line(&row.username, 200)) } }
                dt { "Id" } dd { code { (row.id) } }
                dt { "Connected" } dd { time { (parts::day(visit, row.created_at)) } }
                @if let Some(end) = row.token_expires_at {
                    dt { "Access" }
                    dd {
                        @if row.refresh_at.is_some() { "renewed by itself" }
                        @else { "ends on " (local_time(end, seat.zone())) }
                    }
                }
            }
            @if let Some(url) = shown.sandbox_page_url() {
                p { a href=(url) rel="noreferrer" { "See what was posted" } }
            }
            @if seat.may(Role::Publisher) {
                div.row {
                    a.button.strong[is_lost] href=(connect(seat, &row.platform)) { "Connect again" }
                    (parts::confirmed_action(visit, "Disconnect", &format!("{PAGE}/{}/disconnect", row.id),
                        "Its scheduled posts are not published while it is disconnected. Its credentials are deleted here.",
                        "Disconnect this account", &html! {}))
                }
            }
        }
    }
}

fn sandbox(visit: &Visit, seat: &PageMember, brands: &[(BrandId, String)]) -> Markup {
    let is_locked = seat.act.membership.brands.is_some();
    html! {
        section {
            h2 { "Try it out" }
            p.soft { "A simulated account behaves like one of its network. Nothing you post on it leaves this service." }
            form.narrow method="post" action={ (PAGE) "/sandbox" } {
                (parts::csrf_field(visit))
                div.field {
                    label for="platform" { "Network" }
                    select #platform name="platform" {
                        @for id in ids() { option value=(id) { (label(id.as_str())) } }
                    }
                }
                div.field {
                    label for="username" { "Name (optional)" }
                    input #username name="username" maxlength="100" autocomplete="off";
                }
                @if !brands.is_empty() {
                    div.field {
                        label for="brand" { "Brand" }
                        select #brand name="workspace_client_id" {
                            @if !is_locked { option value="" { "None" } }
                            @for (id, name) in brands { option value=(id) { (one_line(name, 80)) } }
                        }
                    }
                }
                button type="submit" { "Add a simulated account" }
            }
        }
    }
}
