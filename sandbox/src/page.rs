//! Pages for people: the networks, their accounts, and the accounts' posts.

use std::fmt::Write;
use std::sync::Arc;

use crate::ai::images;
use crate::any_network::AnyNetwork;
use crate::network::{Medium, Network, Post};
use crate::reply::Reply;
use crate::sim::{ListedAccount, Sim};
use crate::style::CSS;

/// Shows the networks of one realm. `pages` is the address of the simulator's pages.
pub(crate) fn realm(pages: &str, realm: &str, networks: &[Arc<dyn AnyNetwork>]) -> Reply {
    let root = escape(&format!("{pages}/{realm}"));
    let mut list = String::from("<ul>");
    for network in networks {
        let (name, count) = (network.name(), network.accounts().len());
        let _ = write!(
            list,
            "<li><a href=\"{root}/{name}/ui\">{name}</a> <small>{count} accounts</small></li>"
        );
    }
    list.push_str("</ul>");
    page(200, "Simulated networks", "Nothing here leaves this machine.", &list)
}

/// Shows the accounts of one network.
pub(crate) fn network<N: Network>(sim: &Arc<Sim<N>>) -> Reply {
    let base = escape(&sim.pages());
    let mut list = String::from("<ul>");
    for ListedAccount { username, remote_id, .. } in sim.accounts() {
        let (username, remote_id) = (escape(&username), escape(&remote_id));
        let _ = write!(
            list,
            "<li><a href=\"{base}/ui/{remote_id}\">{username}</a> <small>{remote_id}</small></li>"
        );
    }
    list.push_str("</ul>");
    page(200, N::NAME, "Accounts on this simulated network", &list)
}

/// Shows one account's posts, newest first.
pub(crate) fn account<N: Network>(sim: &Arc<Sim<N>>, remote_id: &str) -> Reply {
    let Some((listed, mut posts)) = sim.posts(remote_id) else {
        return not_found("There is no such account.");
    };
    posts.retain(|post| is_for_others(sim, remote_id, post));
    let mut body = String::new();
    for post in posts.iter().rev() {
        article(&mut body, post, false);
    }
    if posts.is_empty() {
        body.push_str("<article><p>Nothing posted yet.</p></article>");
    }
    page(200, &listed.username, &format!("{} posts on simulated {}", posts.len(), N::NAME), &body)
}

/// Returns the picture of an account: a grey square with its own shade.
pub(crate) fn picture<N: Network>(sim: &Arc<Sim<N>>, remote_id: &str) -> Reply {
    if sim.account(remote_id).is_none() {
        return not_found("There is no such account.");
    }
    Reply::png(images::png("1:1", images::shade(remote_id, 0)))
}

/// Shows one post with all its fields.
pub(crate) fn post<N: Network>(sim: &Arc<Sim<N>>, remote_id: &str, key: &str) -> Reply {
    let found = sim.posts(remote_id).and_then(|(listed, posts)| {
        let mut posts = posts.into_iter().filter(|post| is_for_others(sim, remote_id, post));
        let post = posts.find(|post| post.page == key || post.id == key)?;
        Some((listed, post))
    });
    let Some((listed, post)) = found else {
        return not_found("There is no such post.");
    };
    let mut body = String::new();
    article(&mut body, &post, true);
    let _ = write!(
        body,
        "<p><a href=\"{}/ui/{}\">All posts</a></p>",
        escape(&sim.pages()),
        escape(&listed.remote_id)
    );
    page(200, &listed.username, &format!("On simulated {}", N::NAME), &body)
}

fn is_for_others<N: Network>(sim: &Arc<Sim<N>>, remote_id: &str, post: &Post) -> bool {
    sim.find(remote_id).is_none_or(|account| account.is_for_others(&post.id))
}

fn article(to: &mut String, post: &Post, whole: bool) {
    let _ = write!(to, "<article><p class=\"text\">{}</p>", escape(&post.text));
    if !post.media.is_empty() {
        to.push_str("<div class=\"media\">");
        for item in &post.media {
            medium(to, item);
        }
        to.push_str("</div>");
    }
    let (url, time) = (escape(&post.url), escape(&post.created_at));
    let _ = write!(to, "<a href=\"{url}\"><time datetime=\"{time}\">{time}</time></a>");
    if whole && !post.extra.is_empty() {
        let extra = serde_json::to_string_pretty(&post.extra).unwrap_or_default();
        let _ = write!(
            to,
            "<details><summary>Details</summary><pre>{}</pre></details>",
            escape(&extra)
        );
    }
    to.push_str("</article>");
}

fn medium(to: &mut String, medium: &Medium) {
    let _ = write!(to, "<div><small>{}", escape(&medium.mime));
    if let Some(size) = medium.size {
        let _ = write!(to, ", {size} bytes");
    }
    to.push_str("</small>");
    if let Some(alt) = medium.alt.as_deref().filter(|alt| !alt.is_empty()) {
        let _ = write!(to, "<p>{}</p>", escape(alt));
    }
    if let Some(url) = medium
        .url
        .as_deref()
        .filter(|url| url.starts_with("https://") || url.starts_with("http://"))
    {
        let _ =
            write!(to, "<p><a href=\"{}\" rel=\"noreferrer nofollow\">source</a></p>", escape(url));
    }
    to.push_str("</div>");
}

fn not_found(why: &str) -> Reply {
    page(404, "Not found", why, "")
}

/// Returns the response for an unknown address.
pub(crate) fn no_such_page() -> Reply {
    not_found("There is nothing here.")
}

/// Returns a page with `body`, which must already be escaped; the other texts are escaped here.
pub(crate) fn page(status: u16, title: &str, about: &str, body: &str) -> Reply {
    let (title, about) = (escape(title), escape(about));
    let html = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <title>{title}</title><style>{CSS}</style><main><header><h1>{title}</h1><p><small>{about}</small></p></header>{body}</main></html>"
    );
    Reply::html(status, html)
}

/// Escapes a text for HTML, including attributes.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
