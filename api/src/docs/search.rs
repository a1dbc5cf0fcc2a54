//! The search of the reference, on the server, so that it needs no script.

use fanfare_core::{Code, error::excerpt};
use maud::{Markup, html};

/// The most words of a search.
const MOST: usize = 12;

/// Returns the words of a search in lower case.
pub fn words(query: &str) -> Vec<String> {
    let words = query.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '.');
    words
        .filter(|word| !word.is_empty())
        .take(MOST)
        .map(|word| excerpt(word).to_lowercase())
        .collect()
}

/// Returns true if a text in lower case contains all words.
pub fn has(text: &str, words: &[String]) -> bool {
    words.iter().all(|word| text.contains(word.as_str()))
}

/// Renders the number of operations found, and the errors that contain all words.
pub fn errors(words: &[String], operations: usize) -> Markup {
    let fits = |code: &&Code| {
        let entry = code.entry();
        let text = format!("{} {} {}", entry.code, entry.cause, entry.remedy);
        has(&text.to_lowercase(), words)
    };
    let found: Vec<_> = Code::ALL.iter().filter(fits).collect();
    let count = match operations {
        0 => "No operation has all of these words.".to_owned(),
        1 => "One operation has all of these words.".to_owned(),
        many => format!("{many} operations have all of these words."),
    };
    html! {
        p role="status" { (count) }
        @if !found.is_empty() {
            p { "Errors that have them:" }
            ul {
                @for entry in found.iter().map(|code| code.entry()) {
                    li { a href={ "/docs/errors#" (entry.code) } { code { (entry.code) } } ": " (entry.cause) }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_is_its_words() {
        assert_eq!(words(" Retry, POST /api/v1"), ["retry", "post", "api", "v1"]);
        assert!(has("retry a post", &words("POST retry")));
        assert!(!has("retry a post", &words("retry video")));
        assert!(has("anything", &words("")));
    }
}
