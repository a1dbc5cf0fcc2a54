//! The HTML frame of every page.

use maud::{DOCTYPE, Markup, html};

use crate::assets;

/// Renders a page from additions to its head, its header and its content.
pub fn page(title: &str, head: &Markup, header: &Markup, main: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · Fanfare" }
                link rel="stylesheet" href=(assets::BASE.path());
                link rel="stylesheet" href=(assets::ADMIN_STYLE.path());
                link rel="stylesheet" href=(assets::DASHBOARD_STYLE.path());
                link rel="icon" type="image/svg+xml" href=(assets::ICON.path());
                (head)
            }
            body {
                a.skip href="#main" { "Skip to the content" }
                header { (header) }
                main #main tabindex="-1" { (main) }
            }
        }
    }
}
