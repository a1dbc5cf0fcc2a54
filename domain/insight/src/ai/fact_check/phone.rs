//! Phone numbers: 7 to 15 digits that are no other claim.

use super::{Claim, FoundClaim, text::Text};

/// The fewest and the most digits of a phone number.
const MIN_DIGITS: usize = 7;
const MAX_DIGITS: usize = 15;

/// Characters that can be in a phone number.
const SIGNS: &str = ".-–()/+";

/// Finds phone numbers.
pub(super) fn find(text: &mut Text) -> Vec<FoundClaim> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.tokens.len() {
        let Some((numbers, end)) = at_token(text, at) else {
            at += 1;
            continue;
        };
        let (start, until) = (text.tokens[at].start, text.tokens[end - 1].end);
        found.push(FoundClaim { claim: Claim::Phone(numbers), start, end: until });
        text.mark_claimed(at, end);
        at = end;
    }
    found
}

/// Reads the longest number that begins at a token, with its beginnings that are long enough to be numbers themselves:
/// another number may follow.
fn at_token(text: &Text, at: usize) -> Option<(Vec<String>, usize)> {
    let begins = text.digits(at).is_some() || text.sign(at).is_some_and(|sign| "+(".contains(sign));
    let is_part =
        at > 0 && text.is_glued(at) && text.tokens[at - 1].kind == super::text::Kind::Word;
    if !begins || is_part {
        return None;
    }
    let (mut digits, mut numbers, mut end, mut signs) = (String::new(), Vec::new(), at, 0);
    let mut place = at;
    loop {
        if let Some(more) = text.digits(place) {
            if digits.len() + more.len() > MAX_DIGITS {
                break;
            }
            digits.push_str(more);
            signs = 0;
            place += 1;
            let goes_on = text.word(place).is_some() && text.is_glued(place);
            if digits.len() >= MIN_DIGITS && !goes_on {
                numbers.push(digits.clone());
                end = place;
            }
        } else if text.sign(place).is_some_and(|sign| SIGNS.contains(sign)) && signs < 3 {
            signs += 1;
            place += 1;
        } else {
            break;
        }
    }
    numbers.reverse();
    (!numbers.is_empty()).then_some((numbers, end))
}

/// Returns true if two numbers are the same, or one ends with the other's last seven or more digits.
pub(super) fn is_same(asked: &[String], known: &[String]) -> bool {
    let fits = |one: &String, other: &String| {
        let same = one.bytes().rev().zip(other.bytes().rev()).take_while(|(a, b)| a == b).count();
        one == other || same >= MIN_DIGITS
    };
    asked.iter().any(|one| known.iter().any(|other| fits(one, other)))
}
