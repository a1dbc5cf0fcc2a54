//! The network shows the post as it was meant.

use fanfare_tests::TestApp;
use serde_json::{Value, json};

use super::published;

/// The facets of a Bluesky post: what each marks of the text, by its bytes, and what it leads to.
fn facets(held: &Value) -> Vec<(String, Value)> {
    let text = held["text"].as_str().unwrap();
    let all = held["facets"].as_array().into_iter().flatten();
    let place = |facet: &Value, name: &str| facet["index"][name].as_u64().unwrap() as usize;
    all.map(|facet| {
        let marked = text.get(place(facet, "byteStart")..place(facet, "byteEnd"));
        let marked = marked.unwrap_or_else(|| panic!("{facet} cuts a letter of {text:?}"));
        (marked.to_owned(), facet["features"][0].clone())
    })
    .collect()
}

#[tokio::test]
async fn facets_mark_the_very_text_they_are_about() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let texts = [
        ("😀 #abcdef https://é.example/ñ?q=ü end", 2),
        ("\n\n  leading newline https://a.example/", 1),
        ("مرحبا https://a.example/ب #وسم نهاية", 2),
        ("👩‍👩‍👧‍👦🇩🇪 @bob.example #x", 1),
        ("＃全角タグ テスト", 1),
        ("https://a.example/x。次", 1),
        ("Check this.https://a.example", 1),
    ];
    for (text, least) in texts {
        let held = published(&app, &user, ("bluesky", account), &json!({"caption": text})).await;
        let facets = facets(&held);
        assert!(facets.len() >= least, "{text:?}: {facets:?}");
        for (marked, feature) in facets {
            if let Some(tag) = feature["tag"].as_str() {
                assert!(marked == format!("#{tag}") || marked == format!("＃{tag}"), "{text:?}");
            } else if let Some(uri) = feature["uri"].as_str() {
                assert!(uri.ends_with(&marked), "{text:?}: {marked} {uri}");
            }
        }
    }
}

#[tokio::test]
async fn tags_are_those_of_the_networks_own_detector() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let text = json!({"caption": "#100 #a1 #café #日本語 #tag. (#ATL) #👍 #C++ text#no"});
    let held = published(&app, &user, ("bluesky", account), &text).await;
    let tags: Vec<_> = facets(&held)
        .into_iter()
        .filter_map(|(_, feature)| feature["tag"].as_str().map(str::to_owned))
        .collect();
    for tag in ["a1", "café", "日本語", "tag", "ATL"] {
        assert!(tags.iter().any(|known| known == tag), "{tag}: {tags:?}");
    }
    for none in ["100", "no"] {
        assert!(!tags.iter().any(|known| known == none), "{none}: {tags:?}");
    }
}

#[tokio::test]
async fn a_link_ends_before_punctuation_and_needs_no_scheme() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let rows: [(&str, &[&str]); 5] = [
        ("(https://en.wikipedia.org/wiki/Foo_(bar))", &["https://en.wikipedia.org/wiki/Foo_(bar)"]),
        ("https://example.com: next", &["https://example.com"]),
        ("https://example.com/a?b=c&d=e#f;", &["https://example.com/a?b=c&d=e#f"]),
        ("“https://a.example/x”", &["https://a.example/x"]),
        (
            "go to example.com/foo or www.example.org now",
            &["https://example.com/foo", "https://www.example.org"],
        ),
    ];
    for (text, right) in rows {
        let held = published(&app, &user, ("bluesky", account), &json!({"caption": text})).await;
        let links: Vec<_> = facets(&held)
            .into_iter()
            .filter_map(|(_, feature)| feature["uri"].as_str().map(str::to_owned))
            .collect();
        assert_eq!(links, right, "{text:?}");
    }
}

#[tokio::test]
async fn a_text_with_the_networks_own_signs_is_shown_as_it_was_sent() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("linkedin").await;
    for text in [
        "This is a test. (This is also a test.)",
        "C# and C++ | {x} [y] <z> *b* _i_ ~s~ @nobody back\\slash #tag #tag_two (#inside) #2024 #日本語 a#b",
        "→ ✅ arrows stay",
    ] {
        let held = published(&app, &user, ("linkedin", account), &json!({"caption": text})).await;
        assert_eq!(held["text"], text);
    }
}

#[tokio::test]
async fn a_front_matter_in_the_text_overrides_nothing() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("devto").await;
    for (title, text) in [
        ("One", "---\ntitle: other\npublished: false\n---\nbody"),
        ("Two", "# T\n\n\n---\npublished: false\n---\nbody"),
    ] {
        let post = json!({"account_id": account, "caption": text, "settings": {"title": title}});
        let made = user.post("/api/v1/posts", post).await;
        if made.status == 400 {
            continue;
        }
        let id = made.expect(201).body["post"]["id"].as_i64().unwrap();
        app.wait_for_status(&user, id, &["published"]).await;
        let held = user.on_network("devto", account).await.pop().unwrap();
        assert!(held.to_string().contains("\"published\":true"), "{held:#}");
    }
}
