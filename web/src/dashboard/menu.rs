//! The menu of the users' pages.

use maud::{Markup, html};

use crate::oauth_connect::Visit;

/// Every entry, in groups: its path and its label. An entry is the current one on its own page and on all pages below
/// it.
const MENU: &[(&str, &[(&str, &str)])] = &[
    (
        "Publish",
        &[
            ("/dashboard", "Home"),
            ("/dashboard/posts", "Posts"),
            ("/dashboard/posts/new", "New post"),
            ("/dashboard/accounts", "Accounts"),
            ("/connect", "Connect"),
        ],
    ),
    (
        "Listen",
        &[
            ("/dashboard/inbox", "Inbox"),
            ("/dashboard/reviews", "Reviews"),
            ("/dashboard/analytics", "Analytics"),
        ],
    ),
    (
        "Manage",
        &[
            ("/dashboard/team", "Team"),
            ("/dashboard/webhooks", "Webhooks"),
            ("/dashboard/usage", "Usage"),
            ("/dashboard/api", "API keys"),
            ("/dashboard/apps", "Apps"),
            ("/dashboard/billing", "Billing"),
            ("/dashboard/settings", "Settings"),
        ],
    ),
];

/// Renders the menu, with the entry of this page marked.
pub fn menu(visit: &Visit) -> Markup {
    let here = current(visit.route);
    html! {
        nav.menu aria-label="Your pages" {
            @for (group, entries) in MENU {
                p.group { (group) }
                ul {
                    @for (path, label) in *entries {
                        li { a href=(path) aria-current=[(here == Some(*path)).then_some("page")] { (label) } }
                    }
                }
            }
        }
    }
}

/// Returns the entry with the longest path at or above a page.
fn current(route: &str) -> Option<&'static str> {
    let is_above = |path: &str| {
        route
            .strip_prefix(path)
            .is_some_and(|rest| rest.is_empty() || (rest.starts_with('/') && path != "/dashboard"))
    };
    let paths = MENU.iter().flat_map(|(_, entries)| entries.iter().map(|(path, _)| *path));
    paths.filter(|path| is_above(path)).max_by_key(|path| path.len())
}

#[cfg(test)]
mod tests {
    use super::current;

    #[test]
    fn a_page_marks_the_nearest_entry_above_it() {
        assert_eq!(current("/dashboard"), Some("/dashboard"));
        assert_eq!(current("/dashboard/posts/{id}"), Some("/dashboard/posts"));
        assert_eq!(current("/connect/{platform}"), Some("/connect"));
        assert_eq!(current("/dashboard/elsewhere"), None);
    }
}
