//! The ways in, for each kind of visitor.

use fanfare_core::access::OWNER;
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

/// Renders how the owner of a service on one's own machine gets in.
pub fn on_this_machine() -> Markup {
    html! {
        p.soft {
            "This service runs on your own machine. Its owner is " strong { (OWNER) } ": "
            a href={ "/forgot?email=" (OWNER) } { "ask for a password" }
            ", read the e-mail at " a href="/dev/mail" { "/dev/mail" } ", and log in."
        }
    }
}
