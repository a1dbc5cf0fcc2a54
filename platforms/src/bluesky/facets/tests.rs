use proptest::prelude::*;

use super::{Feature, detect, is_handle};

/// The facets as the text they cover, with a letter for their kind and what they mean.
fn seen(text: &str) -> Vec<(char, &str, String)> {
    detect(text)
        .into_iter()
        .map(|facet| {
            let covered = &text[facet.range];
            match facet.feature {
                Feature::Link(uri) => ('l', covered, uri),
                Feature::Mention(handle) => ('m', covered, handle),
                Feature::Tag(tag) => ('t', covered, tag),
            }
        })
        .collect()
}

fn links(text: &str) -> Vec<String> {
    seen(text).into_iter().filter(|(kind, ..)| *kind == 'l').map(|(.., uri)| uri).collect()
}

fn tags(text: &str) -> Vec<String> {
    seen(text).into_iter().filter(|(kind, ..)| *kind == 't').map(|(.., tag)| tag).collect()
}

#[test]
fn offsets_are_bytes_also_after_emoji_and_combining_marks() {
    let text = "👨‍👩‍👧 e\u{301} 日本 https://a.example #été @Alice.Example!";
    let facets = detect(text);
    let link = text.find("https").unwrap();
    assert_eq!(facets[0].range, link..link + 17);
    assert!(link > text.chars().count() - 40, "the offset is not one of characters");
    let expected = [
        ('l', "https://a.example", "https://a.example".to_owned()),
        ('t', "#été", "été".to_owned()),
        ('m', "@Alice.Example", "alice.example".to_owned()),
    ];
    assert_eq!(seen(text), expected);
}

#[test]
fn punctuation_around_an_address_is_not_part_of_it() {
    let cases = [
        ("See https://a.example.", "https://a.example"),
        ("(https://a.example)", "https://a.example"),
        ("(https://a.example/x_(y))", "https://a.example/x_(y)"),
        ("https://a.example/?q=1&r=2, and", "https://a.example/?q=1&r=2"),
        ("\"https://a.example\"", "https://a.example"),
        ("https://a.example/…", "https://a.example/"),
        ("見てhttps://a.example/日本、はい", "https://a.example/日本"),
        ("HTTPS://A.example/B", "HTTPS://A.example/B"),
        ("<https://a.example>", "https://a.example"),
    ];
    for (text, uri) in cases {
        assert_eq!(links(text), [uri], "{text}");
    }
    for text in
        ["https://", "http:// a", "xhttps://a.example", "https://)", "ftp://a.example", "a.example"]
    {
        assert_eq!(links(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn a_handle_is_a_domain_name_after_an_at_sign() {
    let cases = [
        ("@a.example", "a.example"),
        ("hi,@a.example", "a.example"),
        ("(@a-b.c.example).", "a-b.c.example"),
        ("@a.exampleさん", "a.example"),
        ("@a.example-", "a.example"),
    ];
    for (text, handle) in cases {
        let found = seen(text);
        assert_eq!(found.len(), 1, "{text}");
        assert_eq!((found[0].0, found[0].2.as_str()), ('m', handle), "{text}");
    }
    for text in [
        "@alice",
        "me@a.example",
        "@@a.example",
        "@a..b",
        "@1.2.3.4",
        "@a.example@b.example",
        "@a.b_c",
    ] {
        assert_eq!(seen(text), [], "{text}");
    }
    assert!(!is_handle(&format!("{}.example", "a".repeat(64))));
    assert!(!is_handle(&format!("{}example", "a.".repeat(130))));
}

#[test]
fn a_tag_ends_where_a_word_ends() {
    let cases = [
        ("#rust", "rust"),
        ("a #rust!", "rust"),
        ("#c++ x", "c++"),
        ("#日本語。", "日本語"),
        ("＃タグ", "タグ"),
        ("(#a)", "a"),
        ("#2024goals", "2024goals"),
        ("#🎉", "🎉"),
        ("#snake_case_", "snake_case"),
    ];
    for (text, tag) in cases {
        assert_eq!(tags(text), [tag], "{text}");
    }
    for text in ["#", "# a", "#123", "#!?", "a#b", "##", "#️⃣ keycap", "&#39;"] {
        assert_eq!(tags(text), Vec::<String>::new(), "{text}");
    }
    assert_eq!(tags("#a#b"), ["a"]);
    assert_eq!(tags(&format!("#{}", "é".repeat(64))).len(), 1);
    assert_eq!(tags(&format!("#{}", "é".repeat(65))).len(), 0);
}

#[test]
fn a_fragment_or_an_at_sign_inside_an_address_is_part_of_it() {
    let text = "https://a.example/@b.example#c";
    assert_eq!(seen(text), [('l', text, text.to_owned())]);
}

/// Pieces that make up hard texts.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("https://a.example/x".to_owned()),
        Just("@bob.example".to_owned()),
        Just("#tag".to_owned()),
        Just("👩🏽‍🚀".to_owned()),
        Just("e\u{301}".to_owned()),
        Just("日本語。".to_owned()),
        Just("#️⃣".to_owned()),
        Just(" ".to_owned()),
        Just("\n".to_owned()),
        any::<String>(),
        "[@#h:/.()]{0,6}",
    ]
}

proptest! {
    #[test]
    fn facets_lie_in_order_on_character_boundaries(pieces in prop::collection::vec(piece(), 0..12)) {
        let text = pieces.concat();
        let mut end = 0;
        for facet in detect(&text) {
            prop_assert!(facet.range.start >= end && facet.range.end > facet.range.start);
            end = facet.range.end;
            let covered = text.get(facet.range.clone());
            prop_assert!(covered.is_some(), "{:?} cuts a character of {:?}", facet, text);
            let covered = covered.unwrap_or_default();
            match &facet.feature {
                Feature::Link(uri) => prop_assert_eq!(covered, uri),
                Feature::Mention(handle) => {
                    prop_assert_eq!(covered.to_ascii_lowercase(), format!("@{handle}"));
                    prop_assert!(is_handle(handle));
                }
                Feature::Tag(tag) => {
                    prop_assert!(covered.ends_with(tag) && covered.starts_with(['#', '＃']));
                    prop_assert!(!tag.contains(char::is_whitespace));
                }
            }
        }
    }

    #[test]
    fn a_text_in_front_moves_the_facets_by_its_bytes(front in "[ a-zé日👍🏽]{0,20}") {
        let text = "see https://a.example and @bob.example #tag";
        let moved = detect(&format!("{front} {text}"));
        let by = front.len() + 1;
        prop_assert_eq!(moved.len(), 3);
        for (facet, original) in moved.iter().zip(detect(text)) {
            prop_assert_eq!(facet.range.start, original.range.start + by);
            prop_assert_eq!(&facet.feature, &original.feature);
        }
    }
}
