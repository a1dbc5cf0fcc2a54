//! Where an e-mail can be read, or why none is sent.

use fanfare_core::Domain;
use fanfare_people::mail::MailTransport;
use maud::{Markup, html};

/// Renders where an e-mail can be read if no mail server sends it; nothing if one does.
pub fn mail_note(cx: &Domain) -> Markup {
    html! {
        @match fanfare_people::mail::mail_transport(cx) {
            MailTransport::Smtp(_) => {}
            MailTransport::Shown => p.flash.plain {
                "No mail server is set, so the e-mail is not sent: read it at " a href="/dev/mail" { "/dev/mail" } " on this machine."
            },
            MailTransport::None => p.flash.warn {
                "This service has no mail server and cannot send e-mail. Its operator sets one with " code { "FANFARE_SMTP_URL" } "."
            },
        }
    }
}
