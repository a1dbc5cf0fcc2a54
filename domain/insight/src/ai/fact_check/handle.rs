//! Handles: `@name`, and `@name@host`.

use super::{Claim, FoundClaim, text::Text};

/// Returns the value of a handle.
pub(super) fn value(handle: &str) -> String {
    handle.trim().trim_start_matches('@').to_lowercase()
}

/// Finds handles outside e-mail addresses.
pub(super) fn find(text: &mut Text) -> Vec<FoundClaim> {
    let mut found: Vec<FoundClaim> = Vec::new();
    let mut at = 0;
    while at < text.folded.len() {
        let begins = text.folded[at] == '@' && (at == 0 || !text.folded[at - 1].is_alphanumeric());
        let end = if begins { name_end(text, at + 1) } else { at };
        if end > at + 1 && !is_taken(text, at) {
            let handle: String = text.folded[at..end].iter().collect();
            found.push(FoundClaim { claim: Claim::Handle(value(&handle)), start: at, end });
            at = end;
        } else {
            at += 1;
        }
    }
    for handle in &found {
        text.mark_claimed_chars(handle.start, handle.end);
    }
    found
}

fn is_taken(text: &Text, at: usize) -> bool {
    text.tokens.iter().any(|token| token.claimed && token.start <= at && at < token.end)
}

fn name_end(text: &Text, from: usize) -> usize {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
    let run = |from: usize| {
        let mut end = from;
        while text.folded.get(end).is_some_and(|c| is_part(*c)) {
            end += 1;
        }
        while end > from && matches!(text.folded[end - 1], '.' | '-') {
            end -= 1;
        }
        end
    };
    let end = run(from);
    if end > from && text.folded.get(end) == Some(&'@') {
        let host = run(end + 1);
        return if host > end + 1 { host } else { end };
    }
    end
}
