use serde_json::{Value, json};

use super::{AUTHORIZATION, account, secrets};
use crate::{
    Draft, Error, ErrorKind, Media, Phase, Platform, Progress, PublishedPost, ReconcileOutcome,
    Result, Session,
    tests::test_server::{Network, Seen, at, draft, media},
    validate,
    wordpress::Wordpress,
};

const POSTS: &str = "/net/wp-json/wp/v2/posts";

/// The site in its usual state: uploads get the numbers from 10 on, the post gets 99.
fn answers(seen: &Seen) -> (u16, Value) {
    let path = seen.line.split(' ').next_back().unwrap();
    match (seen.line.split(' ').next().unwrap(), path.strip_prefix("/net/wp-json/wp/v2").unwrap()) {
        ("POST", "/media") => {
            let number = if seen.text() == "one.png" { 10 } else { 11 };
            (201, json!({"id": number, "source_url": format!("https://blog.example/{number}.png")}))
        }
        ("POST", "/media/10") => {
            (200, json!({"id": 10, "source_url": "https://blog.example/10.png"}))
        }
        ("POST", "/posts") => {
            let slug = seen.json()["slug"].clone();
            (
                201,
                json!({"id": 99, "link": "https://blog.example/post/", "slug": slug, "status": "publish"}),
            )
        }
        ("GET", "/posts") => (200, json!([])),
        other => panic!("unexpected {other:?}"),
    }
}

/// Calls `publish` until the post is public; the names of the steps, and what was made.
async fn walk(session: &Session, draft: &Draft) -> Result<(Vec<String>, PublishedPost)> {
    let mut names = Vec::new();
    let mut state: Option<Value> = None;
    loop {
        let step = Wordpress.step(draft, state.as_ref());
        names.push(step.name);
        assert!(names.len() < 20, "{names:?}");
        match Wordpress.publish(session, draft, state.take()).await? {
            Progress::Done(published) => {
                assert_eq!(step.phase, Phase::Commit);
                return Ok((names, published));
            }
            Progress::Continue { state: next, after, public, .. } => {
                assert_eq!((step.phase, after.is_zero(), public), (Phase::Prepare, true, false));
                state = Some(next);
            }
        }
    }
}

async fn walked(draft: &Draft) -> (Vec<String>, PublishedPost, Vec<Seen>) {
    let network = Network::start(answers).await;
    let (steps, published) = walk(&network.session(account(), secrets()), draft).await.unwrap();
    (steps, published, network.seen())
}

#[tokio::test]
async fn a_text_is_one_call() {
    let (steps, published, seen) = walked(&draft("Title <3\n\nText", json!({}))).await;
    assert_eq!(steps, ["create_post"]);
    assert_eq!(seen[0].line, format!("POST {POSTS}"));
    assert!(seen[0].head.contains(AUTHORIZATION), "{}", seen[0].head);
    let expected = json!({
        "title": "Title &lt;3", "content": "<p>Title &lt;3</p>\n<p>Text</p>\n",
        "status": "publish", "slug": "title-3-0000000000",
    });
    assert_eq!(seen[0].json(), expected);
    assert_eq!(
        (published.id.as_str(), published.url.as_deref()),
        ("99", Some("https://blog.example/post/"))
    );
}

#[tokio::test]
async fn images_are_uploaded_before_the_post() {
    let settings = json!({
        "title": "T", "excerpt": "E", "categories": [3], "tags": [4, 5], "media_alt_texts": ["First", "Se\"cond"],
    });
    let mut draft = draft("Text", settings);
    draft.media = vec![media("one.png", "image/png"), media("Two Ä.heic", "image/jpeg")];
    let (steps, _, seen) = walked(&draft).await;
    assert_eq!(steps, ["upload_featured_image", "set_alt_text", "upload_image_2", "create_post"]);
    assert_eq!(seen.len(), 4);
    assert!(seen[0].head.contains("content-disposition: attachment; filename=\"one.png\""));
    assert!(seen[0].head.contains("content-type: image/png"));
    assert_eq!(seen[0].text(), "one.png");
    assert_eq!(seen[1].json(), json!({"alt_text": "First"}));
    assert!(seen[2].head.contains("filename=\"two-ae.jpg\""), "{}", seen[2].head);
    let post = seen[3].json();
    assert_eq!(post["featured_media"], 10);
    assert_eq!(
        (&post["excerpt"], &post["categories"], &post["tags"]),
        (&json!("E"), &json!([3]), &json!([4, 5]))
    );
    let figure = "<img src=\"https://blog.example/11.png\" alt=\"Se&quot;cond\">";
    assert!(post["content"].as_str().unwrap().contains(figure), "{post}");
}

#[tokio::test]
async fn a_chosen_slug_is_looked_up_first() {
    let chosen = draft("x", json!({"slug": "my-post"}));
    let (steps, _, seen) = walked(&chosen).await;
    assert_eq!(steps, ["look_up_slug", "create_post"]);
    assert_eq!(seen[0].line, format!("GET {POSTS}"));
    for (name, value) in [("slug", "my-post"), ("status", "any"), ("context", "edit")] {
        assert_eq!(seen[0].query(name), Some(value));
    }
    let network =
        Network::start(|_| (200, json!([{"id": 1, "slug": "my-post", "link": "l"}]))).await;
    let error = walk(&network.session(account(), secrets()), &chosen).await.unwrap_err();
    assert_eq!((error.kind, network.seen().len()), (ErrorKind::Rejected, 1));
}

#[tokio::test]
async fn a_site_without_pretty_addresses_is_asked_in_the_query() {
    let network = Network::start(|_| (201, json!({"id": 5, "slug": "s"}))).await;
    let mut account = account();
    account.meta.insert("rest_route".into(), json!(true));
    let (_, published) =
        walk(&network.session(account, secrets()), &draft("x", json!({}))).await.unwrap();
    let seen = &network.seen()[0];
    assert_eq!(
        (seen.line.as_str(), seen.query("rest_route")),
        ("POST /net/", Some("/wp/v2/posts"))
    );
    assert_eq!((published.id.as_str(), published.url), ("5", None));
}

#[tokio::test]
async fn a_lost_answer_is_settled_by_the_slug() {
    let find = async |answer: (u16, Value)| -> Result<ReconcileOutcome, Error> {
        let network = Network::start(move |_| answer.clone()).await;
        let session = network.session(account(), secrets());
        let found = Wordpress.reconcile(&session, &draft("Title", json!({})), None, at(0)).await;
        let slugs = network.seen()[0].query("slug").unwrap().to_owned();
        assert!(slugs.starts_with("title-0000000000,title-0000000000-2,"), "{slugs}");
        found
    };
    let ours = json!({"id": 5, "slug": "title-0000000000", "link": "https://blog.example/5"});
    let ReconcileOutcome::Committed(Progress::Done(published)) =
        find((200, json!([ours]))).await.unwrap()
    else {
        panic!("not found")
    };
    assert_eq!(
        (published.id.as_str(), published.url.as_deref()),
        ("5", Some("https://blog.example/5"))
    );
    // Nobody else has a slug that was made from the key, whatever the site added.
    let numbered = json!({"id": 6, "slug": "title-0000000000-2"});
    let found = find((200, json!([numbered]))).await.unwrap();
    assert!(matches!(found, ReconcileOutcome::Committed(_)));
    let other = json!({"id": 6, "slug": "title-0000000000-x"});
    assert!(matches!(find((200, json!([other]))).await.unwrap(), ReconcileOutcome::NotCommitted));
    assert!(matches!(find((200, json!([]))).await.unwrap(), ReconcileOutcome::NotCommitted));
    assert!(find((503, json!({}))).await.is_err());
    assert!(find((200, json!("a page"))).await.is_err());
}

/// Looks up a lost call of a post with a chosen slug among these posts; returns how sure each is.
async fn chosen_among(posts: Value) -> Option<Vec<bool>> {
    let network = Network::start(move |_| (200, posts.clone())).await;
    let session = network.session(account(), secrets());
    let settings = json!({"slug": "my-post", "title": "Title"});
    let chosen = draft("A text of some words.", settings);
    match Wordpress.reconcile(&session, &chosen, None, at(0)).await.unwrap() {
        ReconcileOutcome::Listed(listing) => {
            assert!(listing.is_whole);
            Some(listing.candidates.iter().map(|one| one.is_same).collect())
        }
        _ => None,
    }
}

#[tokio::test]
async fn a_number_that_the_site_added_makes_a_slug_a_candidate() {
    let post = |slug: &str, text: &str| {
        json!({
            "id": 7, "slug": slug, "date_gmt": "2026-11-29T10:00:00",
            "title": {"raw": "Title"}, "content": {"raw": text},
        })
    };
    let ours = "<p>A text of some words.</p>";
    for (posts, sure) in [
        (json!([]), Some(vec![])),
        (json!([post("my-post", ours)]), Some(vec![true])),
        (json!([post("my-post", "<p>A text of some words</p>")]), Some(vec![true])),
        (json!([post("my-post", "Nothing like it")]), Some(vec![false])),
        (json!([post("my-post-3", ours)]), Some(vec![true])),
        (json!([post("my-post-3", "Nothing like it")]), Some(vec![false])),
        (json!([post("my-post-x", ours)]), Some(vec![])),
        (json!([{"id": 7, "slug": "my-post", "date_gmt": null}]), None),
    ] {
        assert_eq!(chosen_among(posts.clone()).await, sure, "{posts}");
    }
}

#[tokio::test]
async fn an_answer_that_is_not_the_post_leaves_the_outcome_open() {
    let network = Network::start(|_| (200, json!("maintenance"))).await;
    let session = network.session(account(), secrets());
    let error = walk(&session, &draft("x", json!({}))).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Ambiguous);
}

#[test]
fn rules_of_the_network_are_checked_before_anything_is_sent() {
    let codes = |draft: &Draft| -> Vec<String> {
        let found = validate(&Wordpress, &crate::Account::default(), draft);
        found.into_iter().map(|found| format!("{} {}", found.field, found.code)).collect()
    };
    let none = Vec::<String>::new();
    assert_eq!(
        codes(&draft("x", json!({"slug": "a-b-2", "categories": [1], "ai_generated": true}))),
        none
    );
    assert_eq!(codes(&draft("x", json!({"slug": "A b"}))), ["settings.slug setting_invalid"]);
    assert_eq!(
        codes(&draft("x", json!({"categories": [0]}))),
        ["settings.categories[0] setting_invalid"]
    );
    let mut image = draft("", json!({}));
    image.media = vec![media("one.png", "image/png")];
    assert_eq!(codes(&image), ["settings.title setting_required"]);
    image.settings.insert("title".into(), json!("T"));
    assert_eq!(codes(&image), none);
    let (bytes, animated) = (Some(30_000_000), true);
    image.media = vec![Media { bytes, animated, ..media("one.png", "image/png") }];
    assert_eq!(codes(&image), ["media_urls[0] media_too_large"]);
}
