//! The time texts are, as each network says that it counts. X and Mastodon have tables of their own.

use serde_json::json;

use crate::{Account, PlatformId as Id, find, tests::test_server, validate};

const FAMILY: &str = "👨\u{200d}👩\u{200d}👧";

#[test]
fn each_network_counts_in_its_own_unit() {
    let html = json!({"parse_mode": "HTML"});
    let markdown = json!({"parse_mode": "MarkdownV2"});
    for (id, text, settings, units) in [
        // Graphemes, <https://docs.bsky.app/docs/advanced-guides/post-richtext>: what a person sees as one counts one.
        (Id::Bluesky, FAMILY, json!({}), 1),
        (Id::Bluesky, "e\u{301}", json!({}), 1),
        (Id::Bluesky, "🇩🇪🇫🇷", json!({}), 2),
        (Id::Bluesky, "👍🏽", json!({}), 1),
        (Id::Bluesky, "日本語", json!({}), 3),
        (Id::Bluesky, "a\r\nb", json!({}), 3),
        (Id::Bluesky, "https://a.example/long", json!({}), 22),
        // UTF-16 units of what is left once entities are read.
        (Id::Telegram, "😀", json!({}), 2),
        (Id::Telegram, "日é", json!({}), 2),
        (Id::Telegram, FAMILY, json!({}), 8),
        (Id::Telegram, "<b>bold</b>", json!({}), 11),
        (Id::Telegram, "<b>bold</b>", html.clone(), 4),
        (Id::Telegram, "<a href=\"https://a.example/\">here</a>", html.clone(), 4),
        (Id::Telegram, "1 &lt; 2 &amp; 3", html.clone(), 9),
        (Id::Telegram, "<tg-emoji emoji-id=\"5368324170671202286\">👍</tg-emoji>", html, 2),
        (Id::Telegram, "*bold* _it_", markdown.clone(), 7),
        (Id::Telegram, "1\\.5", markdown.clone(), 3),
        (Id::Telegram, "[here](https://a.example/)", markdown, 4),
        // Emoji count as their bytes in UTF-8; anything else as one.
        (Id::Threads, "😀", json!({}), 4),
        (Id::Threads, FAMILY, json!({}), 18),
        (Id::Threads, "❤\u{fe0f}", json!({}), 6),
        (Id::Threads, "🇩🇪", json!({}), 8),
        (Id::Threads, "é日", json!({}), 2),
        (Id::Threads, "a1#", json!({}), 3),
        // UTF-16 units, line breaks and all.
        (Id::Tiktok, "😀", json!({}), 2),
        (Id::Tiktok, FAMILY, json!({}), 8),
        (Id::Tiktok, "é日\n", json!({}), 3),
        // The three signs that have to be escaped count as they are sent.
        (Id::Slack, "&<>", json!({}), 13),
        (Id::Slack, "&amp;", json!({}), 9),
        (Id::Slack, "😀é", json!({}), 2),
        // LinkedIn counts what is sent: elements as they are written, and a backslash before each sign of them.
        (Id::Linkedin, "@[Paper Ltd](urn:li:organization:1)", json!({}), 35),
        (Id::Linkedin, r"{hashtag|\#|news}", json!({}), 17),
        (Id::Linkedin, "a_b*c (d)", json!({}), 13),
        (Id::Linkedin, "@[x](urn:li:share:1)", json!({}), 25),
        (
            Id::Linkedin,
            "by @Acme",
            json!({"mentions": [{"name": "Acme", "urn": "urn:li:organization:1"}]}),
            33,
        ),
        // Characters of Unicode.
        (Id::Discord, "<@1> 😀", json!({}), 6),
        (Id::Pinterest, "😀é", json!({}), 2),
        (Id::Facebook, "😀é", json!({}), 2),
        (Id::Instagram, "😀é #a", json!({}), 5),
        (Id::GoogleBusiness, "😀é", json!({}), 2),
    ] {
        let draft = test_server::draft(text, settings);
        assert_eq!(find(id).caption_length(&draft), units, "{id}: {text:?}");
    }
}

#[test]
fn where_bytes_are_counted_the_edge_passes_and_one_more_does_not() {
    for (id, fits, over) in [
        // Three bytes in UTF-8 each, few enough characters.
        (Id::Youtube, format!("{}ab", "日".repeat(1_666)), "日".repeat(1_667)),
        (Id::Bluesky, FAMILY.repeat(166), FAMILY.repeat(167)),
    ] {
        let length = |text: &str| {
            let found =
                validate(find(id), &Account::default(), &test_server::draft(text, json!({})));
            let told = found.iter().find(|one| one.code == "caption_too_long");
            told.map(|one| (one.limit.clone(), one.actual.clone()))
        };
        let limit = find(id).spec().caption.max_bytes.expect("a limit in bytes");
        assert!(fits.len() <= limit && over.len() > limit, "{id}");
        assert_eq!(length(&fits), None, "{id}");
        assert_eq!(length(&over), Some((Some(limit.into()), Some(over.len().into()))), "{id}");
    }
}
