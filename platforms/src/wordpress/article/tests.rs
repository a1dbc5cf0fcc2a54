use proptest::prelude::*;
use serde_json::json;
use uuid::Uuid;

use super::{figure, html, slug, title};
use crate::{Draft, article::slugify, tests::test_server, wordpress::settings::Settings};

fn draft(caption: &str) -> Draft {
    let key = Uuid::from_u128(0x0189_0f0e_0f0f_7800_8000_00ab_cdef_0123);
    Draft { key, ..test_server::draft(caption, json!({})) }
}

fn titled(title: &str) -> Settings {
    Settings { title: Some(title.to_owned()), ..Settings::default() }
}

#[test]
fn the_title_is_the_setting_or_the_first_line() {
    let plain = Settings::default();
    assert_eq!(title(&draft("\n  Hello *you* \nmore"), &plain), "Hello *you*");
    assert_eq!(title(&draft("## Hello\nmore"), &plain), "Hello");
    assert_eq!(title(&draft("#tag first"), &plain), "#tag first");
    assert_eq!(title(&draft("Hello"), &titled(" Other ")), "Other");
    assert_eq!(title(&draft(" \n"), &plain), "");
    let long = title(&draft(&"é".repeat(300)), &plain);
    assert_eq!((long.chars().count(), long.ends_with('…')), (200, true));
    assert_eq!(title(&draft(&"é".repeat(200)), &plain), "é".repeat(200));
}

#[test]
fn the_slug_comes_from_the_title_and_the_key() {
    let plain = Settings::default();
    let slug_of = |caption: &str| slug(&draft(caption), &plain);
    assert_eq!(
        slug_of("It's “Größe” & more!"),
        "its-groesse-more-cdef0123ab".replace("cdef0123ab", "abcdef0123")
    );
    assert_eq!(slug_of("日本語"), "post-abcdef0123");
    assert_eq!(slug_of("# C'est l’été"), "cest-lete-abcdef0123");
    let words = "word ".repeat(30);
    assert_eq!(slug_of(&words), format!("{}-abcdef0123", "word-".repeat(16).trim_end_matches('-')));
    let one = "a".repeat(100);
    assert_eq!(slug_of(&one), format!("{}-abcdef0123", "a".repeat(80)));
    let chosen = Settings { slug: Some("my-own".to_owned()), ..Settings::default() };
    assert_eq!(slug(&draft("x"), &chosen), "my-own");
}

#[test]
fn markdown_becomes_html_with_its_line_breaks() {
    let shown = |caption: &str| html(&draft(caption), &Settings::default());
    assert_eq!(
        shown("one\ntwo **three**\n\nfour"),
        "<p>one<br />\ntwo <strong>three</strong></p>\n<p>four</p>\n"
    );
    assert_eq!(shown("a < b & c"), "<p>a &lt; b &amp; c</p>\n");
    assert_eq!(shown("[x](https://a.example)"), "<p><a href=\"https://a.example\">x</a></p>\n");
    assert_eq!(shown(""), "");
}

#[test]
fn a_heading_that_is_the_title_is_not_said_twice() {
    let shown = |caption: &str, settings: &Settings| html(&draft(caption), settings);
    let plain = Settings::default();
    assert_eq!(shown("# Title\n\nText", &plain), "<p>Text</p>\n");
    assert_eq!(shown("\n# Title\r\nText", &plain), "<p>Text</p>\n");
    assert_eq!(shown("# Title", &plain), "<h1>Title</h1>\n");
    assert_eq!(shown("Title\n\nText", &plain), "<p>Title</p>\n<p>Text</p>\n");
    assert_eq!(shown("# Chapter\n\nText", &titled("Book")), "<h1>Chapter</h1>\n<p>Text</p>\n");
}

#[test]
fn what_stands_in_an_attribute_cannot_leave_it() {
    let shown = figure("https://a.example/?a=1&b=2", "\"><script>");
    let expected = "<figure class=\"wp-block-image\"><img src=\"https://a.example/?a=1&amp;b=2\" \
                    alt=\"&quot;&gt;&lt;script&gt;\"></figure>\n";
    assert_eq!(shown, expected);
}

proptest! {
    #[test]
    fn a_slug_is_one_that_a_site_leaves_as_it_is(caption: String, key: u128) {
        let draft = Draft { key: Uuid::from_u128(key), ..test_server::draft(&caption, json!({})) };
        let slug = slug(&draft, &Settings::default());
        prop_assert!(slug.len() <= 100 && !slug.starts_with('-') && !slug.ends_with('-'));
        prop_assert!(!slug.contains("--"), "{}", slug);
        prop_assert!(slug.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'));
        prop_assert_eq!(slugify(&slug), slug);
    }
}
