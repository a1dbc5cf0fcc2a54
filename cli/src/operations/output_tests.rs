use serde_json::json;

use super::*;
use crate::operations::document::operations;

fn shape(id: &str) -> Shape {
    operations().iter().find(|one| one.id == id).unwrap().shape()
}

#[test]
fn a_list_is_a_table_for_people_and_tabs_for_programs() {
    let list = json!({"items": [{"id": 1, "caption": "a\tb\u{1b}[2J", "settings": {}}, {"id": 22}], "next_cursor": null});
    let shape = Shape {
        main: Some("items".to_owned()),
        columns: Some(vec!["id".to_owned(), "caption".to_owned()]),
    };
    assert_eq!(rendered(&list, &shape, None), "1\ta b [2J\n22\t-\n");
    let table = rendered(&list, &shape, Some(80));
    assert!(table.starts_with("ID  CAPTION\n"), "{table}");
    assert!(!table.contains('\u{1b}'));
    assert_eq!(rendered(&json!({"items": []}), &shape, Some(80)), "Nothing.\n");
}

#[test]
fn what_was_made_is_shown_without_its_wrapper_and_nothing_of_the_reply_is_lost() {
    let reply =
        json!({"post": {"id": 7, "status": "scheduled"}, "outcome": "created", "warnings": []});
    let shown = rendered(&reply, &shape("create_post"), None);
    assert_eq!(shown, "status\tscheduled\nid\t7\noutcome\tcreated\nwarnings\t-\n");
    let shown = rendered(&reply, &shape("create_post"), Some(80));
    assert_eq!(shown, "status   scheduled\nid       7\noutcome  created\n");
    let key = json!({"api_key": {"id": "k1", "name": "ci"}, "key": "fan_secret"});
    let shown = rendered(&key, &shape("create_api_key"), None);
    assert_eq!(shown, "id\tk1\nname\tci\nkey\tfan_secret\n");
}

#[test]
fn what_a_failure_leads_to_is_shown_as_commands() {
    let mut reply = json!({"post": {"id": 38, "status": "failed", "error": {"code": "missed", "message": "It is late.",
        "remedy": "`GET /api/v1/posts/{id}/attempts` shows what was sent.",
        "next": [{"operation": "retry_post", "method": "POST", "path": "/api/v1/posts/38/retry", "body": {},
            "why": "Sends the post again, now."}]}}});
    words().show(&mut reply);
    let shown = rendered(&reply, &shape("get_post"), None);
    let next = "error.next.0\tfanfare posts retry 38 (Sends the post again, now.)\n";
    assert!(shown.contains(next), "{shown}");
    assert!(
        shown.contains("`fanfare posts list-attempts` shows") && !shown.contains("/api/v1"),
        "{shown}"
    );
}

#[test]
fn an_answer_is_printed_as_it_is() {
    let reply =
        json!({"answer": "Line one.\nLine two.", "provider": null, "sources": [{"title": "x"}]});
    assert_eq!(rendered(&reply, &shape("ask_support"), None), "Line one.\nLine two.\n");
}

#[test]
fn each_caption_and_each_price_is_a_row() {
    let reply = json!({"captions": [
        {"platform": "x", "requested": 2, "dropped": [], "variants": [{"text": "One", "length": 3, "limit": 280},
            {"text": "Two", "length": 3, "limit": 280}]},
        {"platform": "bluesky", "requested": 1, "dropped": [], "variants": []}],
        "credits_spent": 4, "model": "m", "provider": "p", "rewritten": false, "sandbox": true});
    let shown = rendered(&reply, &shape("generate_captions"), None);
    assert_eq!(shown, "x\tOne\t2\t3\t280\nx\tTwo\t2\t3\t280\nbluesky\t-\t1\t-\t-\n");
    assert!(rendered(&reply, &shape("generate_captions"), Some(80)).contains("credits_spent  4\n"));
    let reply = json!({"as_of": "2030-01-01", "providers": [{"id": "xai", "configured": true, "sandbox": true,
        "models": [{"id": "grok", "estimates": [{"resolution": "480p", "duration_seconds": 6, "credits": 12}]}]}]});
    let shown = rendered(&reply, &shape("get_video_options"), None);
    for cell in ["xai", "grok", "480p", "12"] {
        assert!(shown.trim_end().split('\t').any(|known| known == cell), "{cell} in {shown}");
    }
}

#[test]
fn a_list_of_failures_shows_their_reasons() {
    let post = json!({"id": 9, "platform": "x", "status": "failed", "error": {"code": "limited", "message": "Wait a little."}});
    for width in [None, Some(80), Some(120)] {
        let shown = rendered(&json!({"posts": [post]}), &shape("list_posts"), width);
        assert!(shown.contains("Wait a little.") && shown.contains("failed"), "{shown}");
    }
}

/// Every command, over a reply as the document describes it: the ids and names of its main entry are shown.
#[test]
fn every_command_shows_its_main_entry() {
    for operation in operations() {
        let (shape, mut marks) = (operation.shape(), Vec::new());
        let reply = operation.sample(&mut marks);
        let main = shape.main.as_deref().and_then(|main| main.split('.').next());
        let of_main = |path: &str| main.is_none_or(|main| path.starts_with(&format!("/{main}/")));
        let is_name = |path: &str| {
            let depth = path.split('/').filter(|step| step.parse::<usize>().is_err()).count();
            let last = path.rsplit('/').next().unwrap_or_default();
            depth <= 3 && ["id", "name", "title", "filename", "status", "url"].contains(&last)
        };
        for width in [None, Some(1_000)] {
            let shown = rendered(&reply, &shape, width);
            assert!(!shown.trim().is_empty(), "{} shows nothing", operation.id);
            assert!(!shown.contains('{'), "{} shows JSON: {shown}", operation.id);
            for (path, mark) in marks.iter().filter(|(path, _)| of_main(path) && is_name(path)) {
                assert!(
                    width.is_some() || shown.contains(mark),
                    "{}: {path} in\n{shown}",
                    operation.id
                );
            }
        }
    }
}
