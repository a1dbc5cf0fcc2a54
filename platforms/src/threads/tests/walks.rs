//! Posts that go through.

use std::time::Duration;

use serde_json::{Value, json};

use super::{chain, resumed, session, walk};
use crate::{
    Platform, Progress, Session,
    tests::test_server::{Network, Seen, draft, id, media},
    threads::Threads,
};

/// Gives every container and post a number; containers are in progress once, then finished.
fn well_behaved() -> impl FnMut(&Seen) -> (u16, Value) + Send + 'static {
    let mut made = 0;
    let mut asked = Vec::new();
    move |seen| match seen.line.as_str() {
        "POST /net/v1.0/55/threads" => {
            made += 1;
            id(format!("c{made}"))
        }
        "POST /net/v1.0/55/threads_publish" => {
            id(seen.form("creation_id").unwrap().replace('c', "p"))
        }
        line if line.starts_with("GET /net/v1.0/c") => {
            let first = !asked.contains(&seen.line);
            asked.push(seen.line.clone());
            (200, json!({"status": if first { "IN_PROGRESS" } else { "FINISHED" }}))
        }
        line if line.starts_with("GET /net/v1.0/p") => {
            (200, json!({"permalink": "https://www.threads.net/@name/post/x"}))
        }
        line => panic!("{line}"),
    }
}

#[tokio::test]
async fn a_post_is_shown_on_instagram_and_of_a_chain_the_first() {
    let network = Network::start(well_behaved()).await;
    let (_, made) =
        walk(&network, &chain(&["One", "Two"], json!({"share_to_instagram": true}))).await;
    assert!(made.warnings.is_empty());
    let shared = |name: &str| -> Vec<Option<String>> {
        let created = network.seen().into_iter().filter(|seen| seen.line.ends_with("/55/threads"));
        created.filter(|seen| seen.line.starts_with("POST")).map(|seen| seen.form(name)).collect()
    };
    assert_eq!(shared("crossreshare_to_ig"), [Some("true".to_owned()), None]);
    assert_eq!(shared("crossreshare_to_ig_dark_mode"), [None, None]);
    let network = Network::start(well_behaved()).await;
    walk(&network, &draft("Dark", json!({"share_to_instagram_dark": true}))).await;
    let dark = network.seen()[0].form("crossreshare_to_ig_dark_mode");
    assert_eq!(dark.as_deref(), Some("true"));
}

#[tokio::test]
async fn without_the_permission_a_post_goes_out_on_threads_alone_and_says_so() {
    let share = json!({"share_to_instagram": true});
    // Threads says which permissions were given, or refuses the parameter.
    for (granted, refusals) in [("threads_basic,threads_content_publish", 0), ("", 1)] {
        let mut behaved = well_behaved();
        let network = Network::start(move |seen| {
            if seen.form("crossreshare_to_ig").is_some() {
                let message = "(#10) Application does not have permission for this action";
                return (403, json!({"error": {"code": 10, "message": message}}));
            }
            behaved(seen)
        })
        .await;
        let session = session(&network);
        let secrets = session.secrets.clone().with("scope", granted);
        let session = Session { secrets, ..session };
        let (post, mut state) = (draft("Hello", share.clone()), None);
        let made = loop {
            match Threads.publish(&session, &post, state).await.unwrap() {
                Progress::Done(made) => break made,
                Progress::Continue { state: next, .. } => state = Some(next),
            }
        };
        let warning = &made.warnings[0];
        assert_eq!(warning.code, crate::WarningCode::PermissionMissing);
        assert_eq!(warning.parameters["permission"], "threads_share_to_instagram");
        let created =
            network.seen().into_iter().filter(|seen| seen.line == "POST /net/v1.0/55/threads");
        assert_eq!(created.count(), 1 + refusals);
    }
}

#[tokio::test]
async fn a_text_is_made_awaited_published_and_read_back() {
    let network = Network::start(well_behaved()).await;
    let settings = json!({
        "reply_control": "followers_only", "topic_tag": "Rust",
        "poll": {"options": ["A", "B", "C"]},
        "spoilers": [{"offset": 0, "length": 2}],
        "share_to_instagram": true,
    });
    let (steps, published) = walk(&network, &draft("Hello", settings)).await;
    assert_eq!(
        steps,
        [
            "prepare create_container",
            "prepare wait_container",
            "prepare wait_container",
            "commit publish",
            "confirm permalink"
        ]
    );
    assert_eq!(published.id, "p1");
    assert_eq!(published.url.as_deref(), Some("https://www.threads.net/@name/post/x"));
    let seen = network.seen();
    assert!(seen.iter().all(|seen| seen.head.contains("authorization: bearer thtoken")));
    let fields = ["media_type", "text", "reply_control", "topic_tag"];
    let sent: Vec<_> = fields.iter().map(|name| seen[0].form(name).unwrap()).collect();
    assert_eq!(sent, ["TEXT", "Hello", "followers_only", "Rust"]);
    let object = |name: &str| serde_json::from_str::<Value>(&seen[0].form(name).unwrap()).unwrap();
    assert_eq!(
        object("poll_attachment"),
        json!({"option_a": "A", "option_b": "B", "option_c": "C"})
    );
    assert_eq!(
        object("text_entities"),
        json!([{"entity_type": "SPOILER", "offset": 0, "length": 2}])
    );
    assert_eq!(seen[0].form("share_to_instagram"), None);
}

#[tokio::test]
async fn one_file_needs_one_container() {
    let network = Network::start(well_behaved()).await;
    let mut post = draft("", json!({"media_alt_texts": ["A cat"], "is_spoiler_media": true}));
    post.media = vec![media("cat.mp4", "video/mp4")];
    let (steps, _) = walk(&network, &post).await;
    assert_eq!(steps[0], "prepare create_container");
    let seen = network.seen().remove(0);
    let fields = ["media_type", "video_url", "alt_text", "is_spoiler_media"];
    let sent: Vec<_> = fields.iter().map(|name| seen.form(name).unwrap()).collect();
    assert_eq!(sent, ["VIDEO", "https://media.example.org/cat.mp4", "A cat", "true"]);
    assert_eq!(seen.form("text"), None);
}

#[tokio::test]
async fn a_carousel_is_made_of_items_that_are_ready() {
    let network = Network::start(well_behaved()).await;
    let mut post = draft("Three", json!({"media_alt_texts": ["", "second"]}));
    post.media =
        vec![media("a.png", "image/png"), media("b.png", "image/png"), media("c.mp4", "video/mp4")];
    let (steps, published) = walk(&network, &post).await;
    assert_eq!(
        steps,
        [
            "prepare create_item_1",
            "prepare create_item_2",
            "prepare create_item_3",
            "prepare wait_items",
            "prepare wait_items",
            "prepare wait_items",
            "prepare wait_items",
            "prepare create_carousel",
            "prepare wait_container",
            "prepare wait_container",
            "commit publish",
            "confirm permalink",
        ]
    );
    assert_eq!(published.id, "p4");
    let made: Vec<_> =
        network.seen().into_iter().filter(|seen| seen.line.ends_with("/threads")).collect();
    assert_eq!(made[1].form("alt_text").unwrap(), "second");
    assert_eq!(made[1].form("is_carousel_item").unwrap(), "true");
    assert!(made[0].form("text").is_none() && made[0].form("alt_text").is_none());
    assert_eq!(made[3].form("children").unwrap(), "c1,c2,c3");
    assert_eq!(made[3].form("text").unwrap(), "Three");
}

#[tokio::test]
async fn a_chain_answers_its_own_last_segment() {
    let network = Network::start(well_behaved()).await;
    let mut post = chain(&["one", "two", "three"], json!({"topic_tag": "Rust"}));
    post.media = vec![media("a.png", "image/png")];
    let (steps, published) = walk(&network, &post).await;
    let commits: Vec<_> = steps.iter().filter(|step| step.starts_with("commit")).collect();
    assert_eq!(
        commits,
        ["commit publish_segment_1", "commit publish_segment_2", "commit publish_segment_3"]
    );
    assert_eq!(published.id, "p1");
    let parts: Vec<_> =
        published.parts.iter().map(|part| (part.name.as_str(), part.id.as_str())).collect();
    assert_eq!(parts, [("segment_2", "p2"), ("segment_3", "p3")]);
    let made: Vec<_> =
        network.seen().into_iter().filter(|seen| seen.line.ends_with("/threads")).collect();
    let sent: Vec<_> = made
        .iter()
        .map(|seen| {
            (seen.form("media_type").unwrap(), seen.form("text").unwrap(), seen.form("reply_to_id"))
        })
        .collect();
    let text = |text: &str| text.to_owned();
    assert_eq!(
        sent,
        [
            (text("IMAGE"), text("one"), None),
            (text("TEXT"), text("two"), Some(text("p1"))),
            (text("TEXT"), text("three"), Some(text("p2"))),
        ]
    );
    assert!(made[1].form("topic_tag").is_none());
}

#[tokio::test]
async fn a_chain_is_public_from_its_first_segment_on() {
    let network = Network::start(well_behaved()).await;
    let (session, post) = (session(&network), chain(&["one", "two"], json!({})));
    let mut state = None;
    let mut publics = Vec::new();
    loop {
        match Threads.publish(&session, &post, state).await.unwrap() {
            Progress::Done(_) => break,
            Progress::Continue { state: next, after, public, remote_id } => {
                if remote_id.as_deref() == Some("p1") {
                    assert_eq!(after, Duration::from_secs(2));
                }
                publics.push(public);
                state = Some(next);
            }
        }
    }
    assert_eq!(publics, [false, false, false, true, true, true, true, true]);
}

#[tokio::test]
async fn a_missing_address_does_not_fail_what_is_public() {
    let mut inner = well_behaved();
    let network = Network::start(move |seen| match seen.query("fields") {
        Some("permalink") => (500, json!({})),
        _ => inner(seen),
    })
    .await;
    let (_, published) = walk(&network, &draft("Hello", json!({}))).await;
    assert_eq!((published.id.as_str(), published.url), ("p1", None));
}

#[tokio::test]
async fn a_stored_state_is_taken_up_where_it_was_left() {
    let network = Network::start(well_behaved()).await;
    let (session, post) = (session(&network), chain(&["one", "two"], json!({})));
    let stored = json!({"published": ["p9"], "items": [], "stage": {"name": "create"}});
    assert_eq!(Threads.step(&post, Some(&stored)).name, "create_segment_2");
    let next = resumed(Threads.publish(&session, &post, Some(stored)).await.unwrap());
    assert_eq!(Threads.step(&post, Some(&next)).name, "wait_segment_2");
    assert_eq!(network.seen()[0].form("reply_to_id").unwrap(), "p9");
}
