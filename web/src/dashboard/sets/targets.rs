//! The posts of a set, one for each account.

use fanfare_core::Result;
use fanfare_publishing::{
    platforms::label,
    posts::{
        sets::{TargetRow, pages::WholeSet},
        status_words, trouble,
    },
};
use maud::{Markup, html};

use crate::dashboard::{
    marks::{account_name, mark},
    parts::{badge, lines, local_time, one_line},
    posts::one::is_web,
};

/// Renders the targets of a set, in their order.
///
/// # Errors
/// A column cannot be read.
pub fn table(whole: &WholeSet, zone: &str) -> Result<Markup> {
    let own = whole.targets.iter().map(|one| Ok((one, whole.own_text(one)?)));
    let own = own.collect::<Result<Vec<_>>>()?;
    Ok(html! {
        section {
            h2 { "Accounts" }
            table.targets {
                caption { "The post on each account" }
                thead { tr { th scope="col" { "Account" } th scope="col" { "Status" } th scope="col" { "Time" } th scope="col" { "Public at" } } }
                tbody { @for (one, text) in &own { (line(one, text.as_deref(), zone)) } }
            }
        }
    })
}

fn line(target: &TargetRow, own: Option<&str>, zone: &str) -> Markup {
    let post = &target.post;
    let name =
        target.username.as_deref().map_or_else(|| "account that is gone".to_owned(), account_name);
    let at = if post.public_at.is_some() { post.public_at } else { post.scheduled_at };
    let url = post.platform_post_url.as_deref().filter(|url| is_web(url));
    html! {
        tr {
            td data-label="Account" {
                div {
                    span.on { (mark(&post.platform)) " " a href={ "/dashboard/posts/" (post.id) } { (name) } " · " (label(&post.platform)) }
                    @if let Some(text) = own {
                        details.own { summary { "Own text" } div.words { @if text.is_empty() { "None" } @else { (lines(text)) } } }
                    }
                }
            }
            td data-label="Status" { div { (badge(status_words(post))) (what_is_wrong(target, zone)) } }
            td data-label="Time" { div { @if let Some(at) = at { (local_time(at, zone)) } @else { "–" } } }
            td data-label="Public at" {
                div { @if let Some(url) = url { a href=(url) rel="noreferrer nofollow" { (one_line(url, 70)) } } @else { "–" } }
            }
        }
    }
}

/// Renders what is known of a target that did not go out as planned.
fn what_is_wrong(target: &TargetRow, zone: &str) -> Markup {
    html! {
        @if let Some(trouble) = trouble(&target.post) {
            p { strong { (trouble.headline) } " " (one_line(&trouble.message, 400)) }
            @if let Some(remedy) = &trouble.remedy { p { (one_line(remedy, 400)) } }
            @if let Some(at) = trouble.next_look { p { "The next look is on " (local_time(at, zone)) "." } }
        }
    }
}
