//! Parts that the pages of the dashboard share.

use fanfare_domain::{Code, Error, access::Scope, clock::show, oauth_provider::words};
use fanfare_entities::Millis;
use maud::{Markup, html};

use crate::{browser::form, oauth_connect::Visit};

/// Returns the hidden token of a form.
pub fn token(visit: &Visit) -> Markup {
    html! { input type="hidden" name="csrf" value=(form::token_of(&visit.token)); }
}

/// Returns the day of a time, in UTC.
pub fn day(time: Millis) -> String {
    show(time).chars().take(10).collect()
}

/// Returns a time to the minute, in UTC, or that there is none yet.
pub fn used(time: Option<Millis>) -> String {
    let shown = |time| show(time).replace('T', " ").chars().take(16).collect::<String>() + " UTC";
    time.map_or_else(|| "never".to_owned(), shown)
}

/// Returns what was wrong with the form that was sent.
pub fn wrong(error: Option<&Error>) -> Markup {
    html! {
        @if let Some(error) = error {
            div.flash.bad role="alert" {
                p { (error.message()) }
                @for broken in error.violations().iter().skip(1) { p { (broken.message) } }
                @for broken in error.violations().iter().take(1) { p { (broken.remedy) } }
            }
        }
    }
}

/// Returns true for an error that the person can mend in the form.
pub fn is_about_the_form(error: &Error) -> bool {
    let codes = [Code::KeyLimit, Code::ClientLimit, Code::RateLimited, Code::WorkspaceNotFound];
    !error.violations().is_empty() || codes.contains(&error.code())
}

/// Returns the values of a field that may be ticked several times.
pub fn ticked(visit: &Visit, name: &str) -> Vec<String> {
    visit.form.iter().filter(|(known, _)| known == name).map(|(_, value)| value.clone()).collect()
}

/// Returns a list of all scopes to tick.
pub fn scopes(name: &str, ticked: &[Scope]) -> Markup {
    html! {
        fieldset {
            legend { "It may" }
            @for scope in Scope::ALL {
                @let id = format!("{name}-{}", scope.as_str().replace(':', "-"));
                div.tick {
                    input id=(id) type="checkbox" name=(name) value=(scope.as_str()) checked[ticked.contains(&scope)];
                    label.beside for=(id) { (words(scope)) " " code.soft { (scope.as_str()) } }
                }
            }
        }
    }
}

/// Returns something that cannot be undone: it opens, says what it does, and has a button of its own.
pub fn confirmed(
    visit: &Visit,
    label: &str,
    action: &str,
    what: &str,
    button: &str,
    fields: &Markup,
) -> Markup {
    html! {
        details.confirm {
            summary { (label) }
            p { (what) }
            form.narrow method="post" action=(action) {
                (token(visit))
                (fields)
                button.danger type="submit" { (button) }
            }
        }
    }
}
