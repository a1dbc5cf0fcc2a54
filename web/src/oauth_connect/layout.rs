//! The layout of users' pages.

use fanfare_api::query::Pairs;
use fanfare_core::Error;
use maud::{Markup, html};
use url::Url;

use super::visit::Visit;
use crate::{
    assets,
    browser::{form, frame, refusal, typed},
    dashboard::menu,
};

/// Renders a page for a user who is logged in.
pub fn page(visit: &Visit, title: &str, main: &Markup) -> Markup {
    frame::page(title, &html! {}, &header(Some(visit)), &narrow(main))
}

/// Renders a page as wide as the window, with the dashboard's script.
pub fn wide(visit: &Visit, title: &str, main: &Markup) -> Markup {
    let head = html! { script src=(assets::DASHBOARD_SCRIPT.path()) defer {} };
    frame::page(title, &head, &header(Some(visit)), main)
}

/// Renders a wide page that keeps up with what changes by itself: the script does it, and without scripts the page loads
/// again.
pub fn following(visit: &Visit, title: &str, main: &Markup) -> Markup {
    let head = html! {
        noscript { meta http-equiv="refresh" content="5"; }
        script src=(assets::DASHBOARD_SCRIPT.path()) defer {}
    };
    frame::page(title, &head, &header(Some(visit)), main)
}

/// Renders a page that reloads itself.
pub fn waiting(visit: &Visit, title: &str, main: &Markup) -> Markup {
    let again = html! { meta http-equiv="refresh" content="2"; };
    frame::page(title, &again, &header(Some(visit)), &narrow(main))
}

/// Renders a page that leads to a network, automatically or with a click.
pub fn leave_to(visit: Option<&Visit>, label: &str, url: &Url) -> Markup {
    let head = html! { meta http-equiv="refresh" content={ "0; url=" (url) }; };
    let main = html! {
        h1 { "On to " (label) }
        p { "You are being redirected to " (label) ". If nothing happens, go there yourself:" }
        p.actions { a.button.strong href=(url) rel="noreferrer" { "Continue to " (label) } }
    };
    frame::page(&format!("On to {label}"), &head, &header(visit), &narrow(&main))
}

/// Renders a page for visitors without a log-in.
pub fn bare(title: &str, main: Markup) -> Markup {
    frame::page(title, &html! {}, &header(None), &narrow(&main))
}

/// Renders a page for visitors without a log-in that reloads itself.
pub fn bare_waiting(title: &str, main: &Markup) -> Markup {
    let again = html! { meta http-equiv="refresh" content="2"; };
    frame::page(title, &again, &header(None), &narrow(main))
}

/// Renders an error for visitors without a log-in, with what they typed into the form that was refused.
pub fn bare_refusal(error: &Error, request_id: &str, form: Option<&Pairs>) -> Markup {
    let main = html! {
        h1 { "That did not work" }
        (refusal::refusal(error))
        p.soft { "Request " code { (request_id) } }
        @if let Some(form) = form { (typed::beside(form, "")) }
    };
    bare("That did not work", main)
}

/// Renders an error.
pub fn refusal(error: &Error, request_id: &str, visit: Option<&Visit>) -> Markup {
    let main = html! {
        h1 { "That did not work" }
        (refusal::refusal(error))
        p.soft { "Request " code { (request_id) } }
        p { a href="/dashboard" { "Back to the dashboard" } }
        @if let Some(visit) = visit.filter(|visit| visit.is_from_here) { (typed::beside(&visit.form, "")) }
    };
    frame::page("That did not work", &html! {}, &header(visit), &narrow(&main))
}

fn narrow(main: &Markup) -> Markup {
    html! { div.sheet { (main) } }
}

fn header(visit: Option<&Visit>) -> Markup {
    html! {
        a.brand href=(if visit.is_some() { "/dashboard" } else { "/" }) { "Fanfare" }
        @if let Some(visit) = visit {
            (menu::menu(visit))
            form.who method="post" action="/logout" {
                input type="hidden" name="csrf" value=(form::csrf_token(&visit.token));
                span.soft { (visit.session.email) }
                @if let Some(zone) = visit.zone.get() { span.soft { "Times in " a href="/dashboard/settings#timezone" { (zone) } } }
                button.quiet type="submit" { "Log out" }
            }
        }
    }
}
