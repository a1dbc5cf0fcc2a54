//! Compares the posts of an account.

use fanfare_core::Result;
use fanfare_insight::analytics::{PostNumbers, PostNumbersPage};
use maud::{Markup, html};
use serde_json::json;

use super::{AccountPeriod, chart, view::reason};
use crate::{
    admin::parts::{badge, number, table},
    dashboard::{operation, parts},
    oauth_connect::Visit,
};

/// The metrics of a post that have a column, with their labels.
const COLUMNS: [(&str, &str); 9] = [
    ("views", "Views"),
    ("reach", "Reach"),
    ("impressions", "Impressions"),
    ("likes", "Likes"),
    ("comments", "Comments"),
    ("shares", "Shares"),
    ("saves", "Saves"),
    ("clicks", "Clicks"),
    ("engagements", "Engagements"),
];

/// Renders the part of the page about the posts of the period.
pub async fn section(visit: &Visit, shown: &AccountPeriod) -> Result<Markup> {
    let asked = json!({"account_id": shown.numbers.account.id, "from": shown.from, "limit": 20});
    let list: PostNumbersPage = operation::read(visit, "list_post_analytics", asked).await?;
    let posts = &list.posts;
    if posts.is_empty() {
        return Ok(html! { h2 { "Posts" } p.empty { "No post of this period is known." } });
    }
    // Posts are compared by the first of these metrics that any of them has.
    let by = COLUMNS.iter().find(|(name, _)| posts.iter().any(|post| post.number(name).is_some()));
    let columns: Vec<_> = COLUMNS
        .into_iter()
        .filter(|(name, _)| posts.iter().any(|post| post.number(name).is_some()))
        .collect();
    Ok(html! {
        h2 { "Posts" }
        @if let Some((name, label)) = by {
            @let rows: Vec<_> = posts.iter().map(|post| (title(post), post.number(name), missing(post, name))).collect();
            h3 { (label) " by post, newest first" }
            (chart::bars(label, &rows))
        }
        details.numbers {
            summary { "All numbers as a table" }
            (numbers(visit, posts, &columns))
        }
    })
}

/// Renders the beginning of a post's text, as a link to its page if it was created here.
fn title(post: &PostNumbers) -> Markup {
    let words = parts::one_line(&post.caption, 60);
    let words = if words.is_empty() { format!("A {} without text", post.post_type) } else { words };
    html! {
        @match (post.post_id, post.url.as_deref().filter(|url| url.starts_with("http"))) {
            (Some(id), _) => { a href={ "/dashboard/analytics/posts/" (id) } { (words) } }
            (None, Some(url)) => { a href=(url) rel="noreferrer" { (words) } }
            (None, None) => { (words) }
        }
        @if post.status != "live" { " " (badge(&post.status)) }
    }
}

fn missing(post: &PostNumbers, name: &str) -> &'static str {
    reason(post.unmeasured.get(name).map(String::as_str))
}

fn numbers(visit: &Visit, posts: &[PostNumbers], columns: &[(&str, &str)]) -> Markup {
    let heads: Vec<_> = ["Post", "Published"]
        .into_iter()
        .chain(columns.iter().map(|(_, label)| *label))
        .chain(["Engagement rate"])
        .collect();
    let row = |post: &PostNumbers| {
        let mut cells = vec![title(post), parts::minute(visit, post.published_at)];
        cells.extend(columns.iter().map(|(name, _)| cell(post, name)));
        cells.push(html! {
            @match post.engagement_rate { Some(rate) => { (format!("{rate:.2} %")) } None => { span.soft { "not known" } } }
        });
        cells
    };
    let rows: Vec<_> = posts.iter().map(row).collect();
    table("The numbers of posts, newest first", &heads, &rows)
}

/// Renders one metric of a post, or why it is unknown.
fn cell(post: &PostNumbers, name: &str) -> Markup {
    html! {
        @match post.number(name) {
            Some(value) => { (number(value)) }
            None => { span.soft { (missing(post, name)) } }
        }
    }
}
