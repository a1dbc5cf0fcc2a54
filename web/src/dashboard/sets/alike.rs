//! The posts that a new set repeats. Their ids are carried by the address of its page, once.

use fanfare_core::PostId;
use maud::{Markup, html};
use serde_json::Value;

/// The most posts that are named.
const MOST: usize = 10;

/// Returns the ids of the posts that these warnings name as the same or nearly the same, with commas between them.
pub fn ids(warnings: &[Value]) -> String {
    let is_repeat = |one: &&Value| one["code"] == "duplicate_content";
    let similar =
        warnings.iter().filter(is_repeat).filter_map(|one| one["parameters"]["similar"].as_array());
    let ids = similar.flatten().filter_map(|post| post["post_id"].as_i64());
    ids.take(MOST).map(|id| id.to_string()).collect::<Vec<_>>().join(",")
}

/// Renders links to the posts in this list.
pub fn note(ids: Option<&str>) -> Markup {
    let ids = ids.unwrap_or_default().split(',').filter_map(|id| id.parse().ok());
    let ids: Vec<PostId> = ids.map(PostId).take(MOST).collect();
    html! {
        @if !ids.is_empty() {
            div.flash.warn role="status" {
                p {
                    "The same text, or nearly, is on one of these accounts already or goes out there within a week: "
                    @for (place, id) in ids.iter().enumerate() {
                        @if place > 0 { ", " }
                        a href={ "/dashboard/posts/" (id) } { "post " (id) }
                    }
                    "."
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_repeated_posts_are_named() {
        let warnings = [
            json!({"code": "no_effect", "message": "x"}),
            json!({"code": "duplicate_content", "parameters": {"similar": [{"post_id": 7}, {"post_id": 9}]}}),
        ];
        assert_eq!(ids(&warnings), "7,9");
        assert_eq!(note(Some("x,-")).into_string(), "");
        let shown = note(Some("7,9")).into_string();
        assert!(shown.contains("/dashboard/posts/7\">post 7</a>, <a"), "{shown}");
    }
}
