//! Removes keys, tokens and e-mail addresses from texts that become public.

/// The prefixes of credentials that users paste: our own, and those of services that we call.
const CREDENTIALS: &[&str] = &[
    "fan_",
    "fat_",
    "frt_",
    "whsec_",
    "sk_",
    "rk_",
    "pk_",
    "xai-",
    "sk-",
    "ghp_",
    "github_pat_",
    "xoxb-",
    "xoxp-",
    "AIza",
    "EAA",
    "ya29.",
    "eyJ",
];

/// The least number of characters of a credential; a shorter word is just a word.
const MIN_CREDENTIAL_CHARS: usize = 12;

/// Returns the text with credentials and e-mail addresses replaced by `[removed]`.
pub(super) fn redacted(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut after_bearer = false;
    for piece in text.split_inclusive(char::is_whitespace) {
        let word = piece.trim_end();
        let core = word.trim_matches(|mark: char| !mark.is_alphanumeric());
        if core.is_empty() || !(after_bearer || is_secret(word)) {
            kept.push_str(piece);
        } else {
            // Replaces the word and keeps the space after it.
            kept.push_str("[removed]");
            kept.push_str(piece.get(word.len()..).unwrap_or_default());
        }
        after_bearer = core.eq_ignore_ascii_case("bearer") || (after_bearer && core.is_empty());
    }
    kept
}

/// Returns true if a word contains a credential or an e-mail address, also after `key=` or in quotes.
fn is_secret(word: &str) -> bool {
    word.split(|mark: char| "\"'`=:,;()[]{}<>&?/".contains(mark))
        .any(|part| is_credential(part) || is_email(part))
}

fn is_credential(part: &str) -> bool {
    part.len() >= MIN_CREDENTIAL_CHARS && CREDENTIALS.iter().any(|start| part.starts_with(start))
}

fn is_email(part: &str) -> bool {
    let part = part.trim_matches('.');
    part.split_once('@').is_some_and(|(name, host)| {
        !name.is_empty() && host.contains('.') && !host.starts_with('.') && !host.ends_with('.')
    })
}

#[cfg(test)]
mod tests {
    use super::redacted;

    #[test]
    fn keys_tokens_and_addresses_do_not_stay() {
        let key = "fan_abcdefghijklmnopqrstuvwxyzABCDEF123456";
        for (text, shown) in [
            (format!("My key {key} fails."), "My key [removed] fails."),
            (format!("key={key}&x=1 then"), "[removed] then"),
            (format!("\"{key}\","), "[removed]"),
            (
                "Authorization: Bearer abcdefgh\nnext".to_owned(),
                "Authorization: Bearer [removed]\nnext",
            ),
            ("write to ada@example.com, please".to_owned(), "write to [removed] please"),
            ("<ada@mail.example.org>".to_owned(), "[removed]"),
            ("eyJhbGciOiJIUzI1NiJ9.e30.x".to_owned(), "[removed]"),
        ] {
            assert_eq!(redacted(&text), shown, "{text}");
        }
    }

    #[test]
    fn other_words_stay_as_they_are() {
        for text in
            ["", "a @handle and x@y", "fan_club", "5 @ 3.5 is a rate", "  two  spaces\n\n", "sk_"]
        {
            assert_eq!(redacted(text), text);
        }
    }
}
