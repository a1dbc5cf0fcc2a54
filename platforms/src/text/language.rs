//! Language tags.

use crate::{Violation, excerpt};

/// The longest tag that networks accept.
pub const TAG_MAX: usize = 35;

/// Returns the violation of a language tag in `field`.
#[must_use]
pub fn language_violation(field: impl Into<String>, tag: &str) -> Option<Violation> {
    (!is_language_tag(tag)).then(|| {
        let message = format!("{:?} is not a BCP 47 language tag.", excerpt(tag));
        Violation::new(field, "setting_invalid", message, "Give a tag like en, de or pt-BR.")
    })
}

/// Returns true if a tag is well-formed (RFC 5646, 2.1): a language of 2 or 3 letters, extended language subtags, a
/// script, a region, variants, extensions and private use, in this order. Languages of 4 to 8 letters, which were never
/// registered, and grandfathered tags are rejected.
#[must_use]
pub fn is_language_tag(tag: &str) -> bool {
    if tag.len() > TAG_MAX {
        return false;
    }
    let parts: Vec<&str> = tag.split('-').collect();
    let mut rest = parts.as_slice();
    let mut next = |fits: fn(&str) -> bool| match rest {
        [part, after @ ..] if fits(part) => {
            rest = after;
            true
        }
        _ => false,
    };
    if !next(|part| matches!(part.len(), 2 | 3) && is_alphabetic(part)) {
        return false;
    }
    let extended = |part: &str| part.len() == 3 && is_alphabetic(part);
    let _up_to_three = next(extended) && next(extended) && next(extended);
    let _script = next(|part| part.len() == 4 && is_alphabetic(part));
    let _region = next(|part| match part.len() {
        2 => is_alphabetic(part),
        3 => part.bytes().all(|byte| byte.is_ascii_digit()),
        _ => false,
    });
    while next(is_variant) {}
    extensions(rest)
}

fn is_alphabetic(part: &str) -> bool {
    part.bytes().all(|byte| byte.is_ascii_alphabetic())
}

fn is_word(part: &str) -> bool {
    part.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Returns true for five to eight letters or digits, or four of which the first is a digit.
fn is_variant(part: &str) -> bool {
    let is_year = part.len() == 4 && part.as_bytes()[0].is_ascii_digit();
    is_word(part) && ((5..=8).contains(&part.len()) || is_year)
}

/// Returns true for any number of extensions (a singleton and its subtags), followed by an optional private use part
/// (`x`).
fn extensions(mut rest: &[&str]) -> bool {
    while let [sign, after @ ..] = rest {
        let private = sign.eq_ignore_ascii_case("x");
        let least = if private { 1 } else { 2 };
        let says = |part: &&&str| (least..=8).contains(&part.len()) && is_word(part);
        let said = after.iter().take_while(says).count();
        if sign.len() != 1 || !is_word(sign) || said == 0 {
            return false;
        }
        rest = &after[said..];
        if private {
            return rest.is_empty();
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::{is_language_tag, language_violation};

    #[test]
    fn language_tags_are_known_by_their_shape() {
        for tag in [
            "en",
            "pt-BR",
            "zh-Hant-TW",
            "gsw",
            "de-1996",
            "sr-Latn",
            "es-419",
            "zh-yue",
            "DE-ch",
            "de-CH-1901",
            "sl-rozaj-biske",
            "en-u-hc-h12",
            "de-a-value",
            "az-Arab-x-AZE-derbend",
        ] {
            assert!(is_language_tag(tag), "{tag}");
        }
        for tag in [
            "",
            "e",
            "english",
            "en_US",
            "en-",
            "-en",
            "en-muchtoolong",
            "日本",
            "de-DE-Latn",
            "12",
            "de-419-DE",
            "ar-a-aaa-b-",
            "de-x",
            "a-DE",
            "en--US",
            "en US",
            "en-US\u{200b}",
            "fr-é",
            "en-a",
            "de-12",
        ] {
            assert!(!is_language_tag(tag), "{tag}");
        }
        assert!(!is_language_tag(&format!("en{}", "-abcde".repeat(6))));
    }

    #[test]
    fn a_bad_tag_is_named() {
        let found = language_violation("settings.languages[1]", "en_US").unwrap();
        assert_eq!(found.field, "settings.languages[1]");
        assert!(found.message.contains("\"en_US\""), "{}", found.message);
        assert!(language_violation("f", "pt-BR").is_none());
    }
}
