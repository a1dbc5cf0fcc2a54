//! What a refusal says, on every page: it is announced and takes the focus.

use fanfare_core::Error;
use maud::{Markup, html};

/// Renders why something was refused, and what to do about it.
pub fn refusal(error: &Error) -> Markup {
    html! {
        div.flash.bad #refusal role="alert" tabindex="-1" autofocus {
            p { (error.message()) }
            @for broken in error.violations().iter().skip(1) { p { (broken.message) } }
            @for broken in error.violations().iter().take(1) { p { (broken.remedy) } }
        }
    }
}
