//! The start page: what this is, and the ways in.

use fanfare_api::docs::page;
use fanfare_core::Domain;
use maud::html;

use crate::{browser::doors, signup};

/// Returns the start page.
pub fn start(cx: &Domain) -> String {
    let base_url = &cx.settings.base_url;
    let line = format!(
        "curl {base_url}/api/v1/whoami \\\n  -H \"Authorization: Bearer $FANFARE_API_KEY\""
    );
    let main = html! {
        p { "Publishes posts on social networks at their time, once, and proves what was sent." }
        (doors::doors(signup::is_open(cx)))
        (doors::on_this_machine(cx))
        h2 { "For programs" }
        pre tabindex="0" { code { (line) } }
        ul {
            li { a href="/docs/guides" { "Guides" } ", with programs in three languages" }
            li { a href="/docs" { "The API" } ", route by route, with examples" }
            li { a href="/docs/errors" { "The errors" } ", each with its cause and its remedy" }
            li { a href="/openapi.json" { "The OpenAPI document" } ", for programs" }
        }
    };
    page("Fanfare", &main)
}
