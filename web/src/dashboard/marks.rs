//! Small pictures by which people recognise networks, accounts and posts.

use fanfare_entities::{account, post};
use fanfare_publishing::{platforms::label, posts::media_of};
use maud::{Markup, html};

use super::parts::one_line;

/// The initials that stand for each network, on its colour (`dashboard.css`). They are drawn here: the networks' own
/// logos are theirs.
const INITIALS: &[(&str, &str)] = &[
    ("bluesky", "B"),
    ("devto", "DEV"),
    ("discord", "D"),
    ("facebook", "f"),
    ("google_business", "G"),
    ("hashnode", "H"),
    ("instagram", "Ig"),
    ("lemmy", "Le"),
    ("linkedin", "in"),
    ("mastodon", "M"),
    ("pinterest", "P"),
    ("slack", "S"),
    ("telegram", "Te"),
    ("threads", "Th"),
    ("tiktok", "Tt"),
    ("wordpress", "W"),
    ("x", "X"),
    ("youtube", "Y"),
];

/// Renders the mark of a network. It only repeats what stands beside it, so screen readers pass over it.
pub fn mark(platform: &str) -> Markup {
    let known = INITIALS.iter().find(|(name, _)| *name == platform);
    let initials = known.map_or("?", |(_, initials)| *initials);
    html! { span.mark data-network=(platform) title=(label(platform)) aria-hidden="true" { (initials) } }
}

/// Returns the name of an account as people know it. Names on a server keep the server's name, not its path and port.
pub fn account_name(username: &str) -> String {
    let name = match username.rsplit_once('@') {
        Some((name, server)) if !name.is_empty() && server.contains(['/', ':']) => name,
        _ => username,
    };
    one_line(name, 40)
}

/// Renders an account: its mark, its name and its network. The whole name shows when one points at it.
pub fn account(row: Option<&account::Model>, platform: &str) -> Markup {
    html! {
        span.on title=[row.map(|row| one_line(&row.username, 200))] {
            (mark(platform)) " "
            @if let Some(row) = row { span.name { (account_name(&row.username)) } " · " }
            (label(platform))
        }
    }
}

/// Renders the first picture of a post, or nothing.
pub fn thumbnail(row: &post::Model) -> Markup {
    let files = media_of(row).unwrap_or_default();
    let is_shown = |mime: &str| mime.starts_with("image/");
    let first = files.iter().find(|file| file.asset_id.is_some() && is_shown(&file.mime));
    html! { @if let Some(file) = first { img.thumb src=(file.url) alt="" loading="lazy" width="44" height="44"; } }
}

#[cfg(test)]
mod tests {
    use fanfare_publishing::platforms::ids;

    use super::{INITIALS, account_name};

    #[test]
    fn every_network_has_a_mark_and_a_colour() {
        let style = include_str!("../assets/dashboard.css");
        for id in ids() {
            assert!(INITIALS.iter().any(|(name, _)| *name == id.as_str()), "{id}");
            assert!(style.contains(&format!("[data-network={id}]")), "{id}");
        }
    }

    #[test]
    fn a_name_is_shown_without_the_path_of_its_server() {
        for (username, shown) in [
            ("ada", "ada"),
            ("@ada", "@ada"),
            ("ada@mastodon.social", "ada@mastodon.social"),
            ("ada@127.0.0.1:36563/4a46", "ada"),
            ("ada@example.com/blog", "ada"),
            ("https://example.com/ada", "https://example.com/ada"),
        ] {
            assert_eq!(account_name(username), shown, "{username}");
        }
    }
}
