//! The only place that limits the length of strings and forbids control characters.

use fanfare_platforms::excerpt;

use crate::error::{Code, Error, Result, Violation, Violations, violation};

/// The default maximum of characters: for a name, an id, a word of a list.
pub const DEFAULT_MAX: usize = 200;

/// The maximum of characters of an address.
pub const URL_MAX: usize = 2_048;

/// The maximum of characters of a string inside settings, metadata and other objects whose fields are not ours.
pub const FREE_MAX: usize = 100_000;

/// The rules for a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextRule {
    /// The maximum of characters.
    pub max_chars: usize,
    /// True if it can have several lines.
    pub lines: bool,
}

impl TextRule {
    /// Returns the rule for a string of one line.
    #[must_use]
    pub const fn line(most: usize) -> Self {
        Self { max_chars: most, lines: false }
    }

    /// Returns the rule for a string that can have several lines.
    #[must_use]
    pub const fn lines(most: usize) -> Self {
        Self { max_chars: most, lines: true }
    }
}

/// Returns what is wrong with a string: it is too long, or contains a control character. PostgreSQL cannot store
/// U+0000, nor index a string of some thousand characters.
#[must_use]
pub fn problem(field: &str, text: &str, rule: TextRule) -> Option<Violation> {
    let most = rule.max_chars;
    if text.len() > most {
        let length = text.chars().count();
        if length > most {
            let message = format!("{field} has {length} characters; it may have at most {most}.");
            let remedy = format!("Shorten it to {most} characters.");
            let too_long = violation(Code::InvalidField, field, message, remedy);
            return Some(too_long.with_limit(most, length).in_unit("characters"));
        }
    }
    // Every control character has one of these bytes, so most strings pass with one fast scan.
    if !text.bytes().any(|byte| byte < 0x20 || byte == 0x7f || byte == 0xc2) {
        return None;
    }
    let bad = text.chars().find(|c| is_control(*c, rule.lines))?;
    let kind = if bad == '\0' { "NUL" } else { "control" };
    let message = format!("{field} holds a {kind} character (U+{:04X}).", u32::from(bad));
    let remedy = format!("Remove the character U+{:04X}.", u32::from(bad));
    Some(violation(Code::InvalidField, field, message, remedy))
}

fn is_control(character: char, lines: bool) -> bool {
    character.is_control() && !(lines && matches!(character, '\n' | '\r' | '\t'))
}

/// Returns true if a string contains no control character at all.
#[must_use]
pub fn is_clean(text: &str) -> bool {
    !text.chars().any(char::is_control)
}

/// Checks the names and values of a query or form by the same rule.
///
/// # Errors
/// [`Code::InvalidField`] with all violations.
pub fn check<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>, rule: TextRule) -> Result<()> {
    let flaws = pairs.filter_map(|(name, value)| {
        let field = excerpt(name);
        if is_clean(name) { problem(field, value, rule) } else { Some(bad_name(field)) }
    });
    Error::check(flaws.collect::<Violations>())
}

/// Reports a name that contains a control character.
#[must_use]
pub fn bad_name(path: &str) -> Violation {
    let field: String = path.chars().filter(|c| !c.is_control()).collect();
    let message = format!("The name {field:?} holds a control character.");
    violation(Code::InvalidField, field, message, "Remove the character from the name.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_as_long_as_its_rule_says() {
        let flawed = |text: &str, rule| problem("f", text, rule).is_some();
        assert!(!flawed(&"é".repeat(200), TextRule::line(200)));
        let long = problem("f", &"é".repeat(201), TextRule::line(200)).unwrap();
        assert_eq!((long.limit, long.actual), (Some(200.into()), Some(201.into())));
    }

    #[test]
    fn control_characters_are_named() {
        for bad in ["\0", "a\u{7}", "\u{1b}[1m", "\u{7f}", "\u{85}"] {
            assert!(problem("f", bad, TextRule::lines(9)).is_some(), "{bad:?}");
        }
        assert!(problem("f", "a\tb\r\nc", TextRule::lines(9)).is_none());
        assert!(problem("f", "a\nb", TextRule::line(9)).unwrap().message.contains("U+000A"));
        assert!(problem("f", "ä 👩‍👩‍👧", TextRule::line(9)).is_none());
    }
}
