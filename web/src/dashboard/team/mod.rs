//! `/dashboard/team`: the members of a workspace, their roles and the brands they are locked to; invitations, and the brands
//! themselves.

pub mod invite;
pub mod workspace;

use fanfare_core::{
    BrandId, Code, Error, Result, UserId,
    access::{Role, role_name},
    clock::Time,
};
use fanfare_people::team::{self, Member};
use fanfare_publishing::brands;
use maud::{Markup, html};
use uuid::Uuid;

use super::{brands as voices, confirm, page_member::PageMember, parts};
use crate::{
    browser::visit::parse,
    oauth_connect::{PageResponse, Visit},
};

const TITLE: &str = "Team";
const PAGE: &str = "/dashboard/team";

const ROLES: [(Role, &str); 4] = [
    (Role::Viewer, "Viewer: looks at everything"),
    (Role::Editor, "Editor: also drafts posts and answers people"),
    (Role::Publisher, "Publisher: also schedules, publishes and connects accounts"),
    (Role::Admin, "Admin: also manages members"),
];

/// Shows the members.
pub async fn show(visit: Visit) -> Result<PageResponse> {
    let seat = PageMember::of(&visit).await?;
    Ok(PageResponse::Wide(TITLE, page(&visit, &seat, None).await?))
}

/// Changes or removes a member.
pub async fn act(mut visit: Visit) -> Result<PageResponse> {
    let seat = PageMember::of(&visit).await?;
    let absent = || Error::new(Code::NotFound, "This user is not a member of the workspace.");
    let person = Uuid::parse_str(visit.path("id")).map(UserId).map_err(|_| absent())?;
    let changed = change(&mut visit, &seat, person).await;
    answer(&visit, &seat, changed.map(|()| "changed")).await
}

/// Goes back to the page after a change, or shows it with what was wrong.
async fn answer(
    visit: &Visit,
    seat: &PageMember,
    changed: Result<&'static str>,
) -> Result<PageResponse> {
    match changed {
        Ok(done) => Ok(PageResponse::Redirect(format!("{PAGE}?done={done}"))),
        Err(error) if parts::is_shown_beside(&error) => {
            let main = page(visit, seat, Some(&error)).await?;
            Ok(PageResponse::WideInvalid(TITLE, main, error))
        }
        Err(error) => Err(error),
    }
}

/// Fails unless the form is about the workspace that pages show now: another tab may have chosen another one since.
fn require_same_workspace(visit: &Visit, seat: &PageMember) -> Result<()> {
    let here = seat.act.membership.workspace_id.to_string();
    if visit.form("workspace_id") == Some(here.as_str()) {
        return Ok(());
    }
    let message = "Another workspace was chosen meanwhile.";
    let remedy = "Load the page again and repeat the change.";
    Err(Error::field(Code::InvalidField, "workspace_id", message, remedy))
}

/// Reads the role that was chosen.
fn chosen_role(visit: &Visit) -> Result<Role> {
    let named = visit.form("role").unwrap_or_default();
    let role = ROLES.iter().find(|(role, _)| role_name(*role) == named).map(|(role, _)| *role);
    let absent =
        || Error::field(Code::InvalidField, "role", "There is no such role.", "Choose a role.");
    role.ok_or_else(absent)
}

async fn change(visit: &mut Visit, seat: &PageMember, person: UserId) -> Result<()> {
    require_same_workspace(visit, seat)?;
    seat.act.membership.require_active()?;
    match visit.path("verb") {
        "role" => {
            let role = chosen_role(visit)?;
            confirm::require_password(visit).await?;
            team::set_role(&seat.act, person, role).await
        }
        "brands" => {
            let ticked = parts::ticked(visit, "brands");
            let ids = ticked.iter().map(|text| parse("brand", text).map(BrandId));
            team::set_brands(&seat.act, person, &ids.collect::<Result<Vec<_>>>()?).await
        }
        "remove" => team::remove(&seat.act, person).await,
        _ => Err(Error::new(Code::NotFound, "There is no such step.")),
    }
}

async fn page(visit: &Visit, seat: &PageMember, wrong: Option<&Error>) -> Result<Markup> {
    let members = team::members(&seat.act).await?;
    let brands = brands::names(&seat.act).await?;
    let is_admin = seat.may(Role::Admin) && seat.act.membership.brands.is_none();
    let invitations = if is_admin {
        invite::section(visit, seat).await?
    } else {
        html! {}
    };
    Ok(html! {
        (seat.head(visit, TITLE, &html! {}))
        (parts::success_note(visit.query("done").map(|done| match done {
            "invited" => "The invitation is on its way. The link in it works for seven days.",
            "withdrawn" => "The invitation is withdrawn.",
            _ => "The team is changed.",
        })))
        (parts::form_error(wrong))
        p.soft {
            "Members see and do what their role allows; one that is locked to brands sees only their accounts and posts."
            @if !is_admin { " Changes need the role admin." }
        }
        @for member in &members { (card(visit, seat, member, &brands, is_admin)) }
        (invitations)
        (workspace::section(visit))
        h2 { "Brands" }
        @if brands.is_empty() { p.soft { "There are none: all accounts and posts belong to the whole workspace." } }
        ul {
            @for (id, name) in &brands {
                li { a href={ "/dashboard/brands/" (id) } { (parts::one_line(name, 80)) } }
            }
        }
        @if is_admin { (voices::new(visit)) }
    })
}

fn card(
    visit: &Visit,
    seat: &PageMember,
    member: &Member,
    brands: &[(BrandId, String)],
    is_admin: bool,
) -> Markup {
    let page = format!("{PAGE}/{}", member.user_id);
    let here =
        html! { input type="hidden" name="workspace_id" value=(seat.act.membership.workspace_id); };
    let is_me = member.user_id == visit.session.user_id;
    html! {
        section.card {
            h2 {
                (parts::one_line(&member.name, 80)) " "
                span.badge.plain { (role_name(member.role)) }
                @if member.is_owner { " " span.badge.good { "owner" } }
                @if is_me { " " span.badge.busy { "you" } }
            }
            dl.facts {
                dt { "E-mail" } dd { (parts::one_line(&member.email, 254)) }
                dt { "Sees" } dd { (visible_brands(member, brands)) }
                dt { "Member since" } dd { (parts::minute(visit, Time(member.since))) }
            }
            @if is_admin && !member.is_owner {
                div.row {
                    (role_form(visit, &page, member, &here))
                    @if !brands.is_empty() { (brand_form(visit, &page, member, brands, &here)) }
                    (parts::confirmed_action(visit, "Remove", &format!("{page}/remove"),
                        "The person loses access at once, with the keys and tools for this workspace.", "Remove this member", &here))
                }
            }
        }
    }
}

fn visible_brands(member: &Member, brands: &[(BrandId, String)]) -> Markup {
    let name = |id: &BrandId| {
        let found = brands.iter().find(|(known, _)| known == id);
        found.map_or_else(|| "another brand".to_owned(), |(_, name)| parts::one_line(name, 60))
    };
    html! {
        @if member.brands.is_empty() { "the whole workspace" }
        @else { (member.brands.iter().map(name).collect::<Vec<_>>().join(", ")) }
    }
}

fn role_choice(id: &str, chosen: Role) -> Markup {
    html! {
        select id=(id) name="role" {
            @for (role, words) in ROLES {
                option value=(role_name(role)) selected[role == chosen] { (words) }
            }
        }
    }
}

fn role_form(visit: &Visit, page: &str, member: &Member, here: &Markup) -> Markup {
    let id = format!("role-{}", member.user_id);
    html! {
        details.confirm {
            summary { "Change the role" }
            form.narrow method="post" action={ (page) "/role" } {
                (parts::csrf_field(visit))
                (here)
                div.field {
                    label for=(id) { "Role" }
                    (role_choice(&id, member.role))
                }
                (confirm::password_field(visit, &id))
                button type="submit" { "Save the role" }
            }
        }
    }
}

fn brand_form(
    visit: &Visit,
    page: &str,
    member: &Member,
    brands: &[(BrandId, String)],
    here: &Markup,
) -> Markup {
    html! {
        details.confirm {
            summary { "Lock to brands" }
            form.narrow method="post" action={ (page) "/brands" } {
                (parts::csrf_field(visit))
                (here)
                fieldset {
                    legend { "Sees only these brands; with none ticked, the whole workspace" }
                    @for (brand, name) in brands {
                        @let id = format!("brand-{}-{brand}", member.user_id);
                        div.tick {
                            input id=(id) type="checkbox" name="brands" value=(brand) checked[member.brands.contains(brand)];
                            label.beside for=(id) { (parts::one_line(name, 80)) }
                        }
                    }
                }
                button type="submit" { "Save the brands" }
            }
        }
    }
}
