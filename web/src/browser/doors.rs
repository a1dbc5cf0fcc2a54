//! The ways in, for each kind of visitor.

use fanfare_core::{Domain, access::OWNER};
use fanfare_people::mail::{self, MailTransport};
use maud::{Markup, html};

/// Renders the ways in: for users, for programs, and for the operators of the service.
pub fn doors(is_open: bool) -> Markup {
    html! {
        ul.doors {
            li { a href="/login" { "Log in" } ": write posts, answer people, see the numbers" }
            @if is_open { li { a href="/signup" { "Sign up" } ": make an account and choose a plan" } }
            li { a href="/dashboard" { "The dashboard" } ", once you are logged in" }
            li { a href="/docs" { "The API" } ": for programs and agents, operation by operation, with examples" }
            li { a href="/admin" { "The operators' pages" } ": for the people who run this service" }
        }
    }
}

/// Renders how the owner of a service on one's own machine gets in; nothing elsewhere. A mail server cannot reach the owner's
/// address.
pub fn on_this_machine(cx: &Domain) -> Markup {
    let is_shown = matches!(mail::mail_transport(cx), MailTransport::Shown);
    html! {
        @if cx.settings.is_on_loopback() {
            p.soft {
                "This service runs on your own machine. Its owner is " strong { (OWNER) } ": "
                @if is_shown {
                    a href={ "/forgot?email=" (OWNER) } { "ask for a password" }
                    ", read the e-mail at " a href="/dev/mail" { "/dev/mail" } ", and log in."
                } @else {
                    code { "fanfare admin password " (OWNER) } " sets a password."
                }
            }
        }
    }
}
