//! The layout of operators' pages.

use fanfare_core::Error;
use fanfare_ops::ops::audit;
use maud::{Markup, html};

use super::visit::Visit;
use crate::{
    assets,
    browser::{form, frame, refusal, typed},
};

/// The pages in the order of the menu.
const MENU: &[(&str, &str)] = &[
    ("/admin/queues", "Queues"),
    ("/admin/work", "Work"),
    ("/admin/fleet", "Fleet"),
    ("/admin/platforms", "Platforms"),
    ("/admin/readings", "Readings"),
    ("/admin/webhooks", "Webhooks"),
    ("/admin/waiting", "Missed and unknown"),
    ("/admin/feedback", "Feedback"),
    ("/admin/audit", "Audit log"),
];

/// Renders a page for an operator who is logged in.
pub async fn page(visit: &Visit, title: &str, main: Markup) -> Markup {
    let done = done(visit).await;
    frame(
        title,
        Some(visit),
        html! {
            @if let Some(done) = done { p.flash.good role="status" { (done) } }
            (main)
        },
    )
}

/// Returns the result of the action that led here. It is looked up by its id, so that a crafted address cannot put text
/// into the page.
async fn done(visit: &Visit) -> Option<String> {
    let id = visit.query("done")?.parse().ok()?;
    let outcome = audit::find_by_order(&visit.cx, id).await.ok().flatten()?.outcome;
    let first = visit.query("again").is_none();
    let before = "This form was sent before, so nothing was done now. Its result then: ";
    Some(if first { outcome } else { format!("{before}{outcome}") })
}

/// Renders a page for visitors without a log-in.
pub fn bare(title: &str, main: Markup) -> Markup {
    frame(title, None, main)
}

/// Renders the page of an error.
pub fn refusal(error: &Error, request_id: &str, visit: Option<&Visit>) -> Markup {
    frame(
        "That did not work",
        visit,
        html! {
            h1 { "That did not work" }
            (refusal::refusal(error))
            p.soft { "Request " code { (request_id) } }
            p { a href="/admin" { "Back to the dashboard" } }
            @if let Some(visit) = visit.filter(|visit| visit.is_from_here) { (typed::beside(&visit.form, "")) }
        },
    )
}

fn frame(title: &str, visit: Option<&Visit>, main: Markup) -> Markup {
    let head = html! { @if visit.is_some() { script src=(assets::ADMIN_SCRIPT.path()) defer {} } };
    let header = html! {
        a.brand href="/admin" { "Fanfare" span.soft { " operations" } }
        @if let Some(visit) = visit { (menu(visit, title)) }
    };
    frame::page(title, &head, &header, &main)
}

fn menu(visit: &Visit, title: &str) -> Markup {
    html! {
        nav aria-label="Pages" {
            ul {
                @for (path, name) in MENU {
                    li { a href=(path) aria-current=[(*name == title).then_some("page")] { (name) } }
                }
            }
        }
        form.who method="post" action="/admin/logout" {
            input type="hidden" name="csrf" value=(form::csrf_token(&visit.token));
            span.soft { (visit.session.email) }
            button.quiet type="submit" { "Log out" }
        }
    }
}
