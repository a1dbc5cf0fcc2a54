//! The normal form of a text, in which posts are compared.

use std::collections::BTreeSet;

use fanfare_platforms::text::{Addresses, bare_address};
use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};
use url::Url;

/// The most characters of a text that are read. It is more than the normal form has, because links, emoji and spaces are
/// no part of that.
pub(super) const READ_MAX: usize = 8_000;

/// The most characters of a normal form.
const FORM_MAX: usize = 2_000;

/// A text in its normal form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct NormalText {
    /// Its words in lower case, with one space between them.
    pub form: String,
    /// Its links, each as host and path.
    pub links: BTreeSet<String>,
}

impl NormalText {
    /// Returns the normal form of a text.
    pub fn of(text: &str) -> Self {
        let read = text.char_indices().nth(READ_MAX).map_or(text, |(end, _)| &text[..end]);
        let (mut plain, mut links, mut at) =
            (String::with_capacity(read.len()), BTreeSet::new(), 0);
        for (start, link) in links_of(read) {
            plain += &read[at..start];
            plain.push(' ');
            at = start + link.len();
            links.extend(host_and_path(link));
        }
        plain += &read[at..];
        Self { form: words(&plain), links }
    }
}

/// Returns the words of a text without links.
fn words(text: &str) -> String {
    let lower = text.nfkc().collect::<String>().to_lowercase();
    let (mut form, mut characters, mut gap) = (String::with_capacity(lower.len()), 0, false);
    for sign in lower.chars() {
        if !is_of_a_word(sign) {
            gap = characters > 0;
            continue;
        }
        let added = 1 + usize::from(gap);
        if characters + added > FORM_MAX {
            break;
        }
        if gap {
            form.push(' ');
        }
        form.push(sign);
        characters += added;
        gap = false;
    }
    form
}

/// Returns true for letters, digits and marks, without the marks that choose between two pictures of the same sign.
fn is_of_a_word(sign: char) -> bool {
    let selects = matches!(
        sign,
        '\u{180b}'..='\u{180d}' | '\u{180f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}'
    );
    let group = sign.general_category_group();
    !selects
        && matches!(
            group,
            GeneralCategoryGroup::Letter
                | GeneralCategoryGroup::Number
                | GeneralCategoryGroup::Mark
        )
}

/// Returns the links of a text, with and without a scheme, and the place at which each starts.
fn links_of(text: &str) -> Vec<(usize, &str)> {
    let (mut addresses, mut found, mut end, mut before) =
        (Addresses::default(), Vec::new(), 0, None);
    for (at, sign) in text.char_indices() {
        let begins_word = before.is_none_or(|c: char| !is_of_a_name(c));
        before = Some(sign);
        if at < end || !sign.is_ascii_alphanumeric() {
            continue;
        }
        let whole = addresses.at(text, at).map(|range| &text[range]);
        let link = whole.or_else(|| bare_address(&text[at..]).filter(|_| begins_word));
        if let Some(link) = link {
            end = at + link.len();
            found.push((at, link));
        }
    }
    found
}

/// Returns true for a character after which a name goes on, so that no address starts behind it.
fn is_of_a_name(sign: char) -> bool {
    sign.is_alphanumeric() || matches!(sign, '.' | '-' | '_' | '@' | '#' | '$' | '/')
}

fn host_and_path(link: &str) -> Option<String> {
    let url = match Url::parse(link) {
        Ok(url) if url.has_host() => url,
        _ => Url::parse(&format!("https://{link}")).ok()?,
    };
    Some(format!("{}{}", url.host_str()?, url.path()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(text: &str) -> String {
        NormalText::of(text).form
    }

    #[test]
    fn case_marks_of_sentences_emoji_and_spaces_make_no_difference() {
        for (text, expected) in [
            ("Our SPRING sale\n\nbegins  today!", "our spring sale begins today"),
            ("  «Größe»: 42 %  ", "größe 42"),
            ("GRÖSSE", "grösse"),
            ("It’s here", "it s here"),
            ("ﬁne ②  ½ Ⅳ ｆｕｌｌ", "fine 2 1 2 iv full"),
            ("Cafe\u{301} and Café", "café and café"),
            ("春季大促，今天开始！🎉", "春季大促 今天开始"),
            ("二〇二六年", "二〇二六年"),
            ("สวัสดีครับ", "สวัสดีครับ"),
            ("हिन्दी में", "हिन्दी में"),
            ("مرحبا\u{200c}بكم", "مرحبا بكم"),
            ("ΟΔΟΣ Οδός", "οδος οδός"),
            ("❤️ 👩‍👩‍👧 🇩🇪 🅰️", ""),
            ("a\u{fe0f}b", "a b"),
            ("葛\u{e0100}飾", "葛 飾"),
            ("#Sale @ada_b $ABC", "sale ada b abc"),
            ("", ""),
        ] {
            assert_eq!(form(text), expected, "{text:?}");
        }
    }

    #[test]
    fn links_are_taken_out_and_kept_as_host_and_path() {
        for (text, expected, links) in [
            ("See https://Shop.example/a?utm_source=x#top now", "see now", &["shop.example/a"][..]),
            ("(http://a.example)", "", &["a.example/"]),
            ("a https://a.example/b, https://a.example/b?c", "a", &["a.example/b"]),
            (
                "read example.com/Foo?x=1 and www.example.org.",
                "read and",
                &["example.com/Foo", "www.example.org/"],
            ),
            ("mail ann@example.com", "mail ann example com", &[]),
            ("node.js is not one", "node js is not one", &[]),
            ("看https://a.example/路", "看", &["a.example/%E8%B7%AF"]),
        ] {
            let found = NormalText::of(text);
            assert_eq!(found.form, expected, "{text}");
            let listed: Vec<_> = found.links.iter().map(String::as_str).collect();
            assert_eq!(listed, links, "{text}");
        }
    }

    #[test]
    fn a_form_has_two_thousand_characters_at_most() {
        let words = "слово ".repeat(1_000);
        let long = form(&words);
        assert!(words.starts_with(&long) && long.chars().count() == 2_000, "{long}");
        let long = form(&"я ".repeat(3_000));
        assert!(long.ends_with('я') && long.chars().count() == 1_999, "it ends with no space");
        assert_eq!(form(&"字".repeat(9_000)).chars().count(), 2_000);
        assert_eq!(form(&("🎉".repeat(7_999) + "ab")), "a");
    }
}
