//! Splits a text into parts of a length: at sentences, or else between words.

/// Returns the parts of a text, each no longer than `most` as `count` counts it. Together they say what the text says: only
/// white space between them is lost. Returns `None` if a single word is too long.
pub(super) fn at_sentences(
    text: &str,
    most: usize,
    count: fn(&str) -> usize,
) -> Option<Vec<String>> {
    let fits = |part: &str| count(part.trim()) <= most;
    let mut pieces = Vec::new();
    for sentence in pieces_after(text, ends_sentence) {
        if fits(sentence) {
            pieces.push(sentence);
        } else {
            pieces.extend(pieces_after(sentence, |_, letter| letter.is_whitespace()));
        }
    }
    let mut parts: Vec<String> = Vec::new();
    let mut part = String::new();
    for piece in pieces {
        if !fits(piece) {
            return None;
        }
        if !fits(&format!("{part}{piece}")) {
            parts.push(part.trim().to_owned());
            part.clear();
        }
        part.push_str(piece);
    }
    parts.push(part.trim().to_owned());
    parts.retain(|part| !part.is_empty());
    Some(parts)
}

/// Returns true at the white space that follows the end of a sentence or of a line.
fn ends_sentence(before: &str, letter: char) -> bool {
    const ENDS: [char; 8] = ['.', '!', '?', '…', '。', '！', '？', ':'];
    const CLOSING: [char; 6] = ['"', '\'', ')', '”', '’', '»'];
    letter == '\n'
        || (letter.is_whitespace() && before.trim_end_matches(CLOSING).ends_with(ENDS))
        || before.ends_with(['。', '！', '？'])
}

/// Splits a text after each letter at which `is_end` is true for what is before it, and the letter.
fn pieces_after(text: &str, is_end: impl Fn(&str, char) -> bool) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for (place, letter) in text.char_indices() {
        if place > start && is_end(&text[start..place], letter) {
            let end = if letter.is_whitespace() { place + letter.len_utf8() } else { place };
            pieces.push(&text[start..end]);
            start = end;
        }
    }
    pieces.push(&text[start..]);
    pieces
}

#[cfg(test)]
mod tests {
    use super::at_sentences;

    fn split(text: &str, most: usize) -> Option<Vec<String>> {
        at_sentences(text, most, |text| text.chars().count())
    }

    #[test]
    fn a_text_is_split_at_sentences_and_nothing_is_lost() {
        let text = "One is here. Two is there! \"Is three?\" he asked.\n\nAnd a line";
        assert_eq!(
            split(text, 27).unwrap(),
            ["One is here. Two is there!", "\"Is three?\" he asked.", "And a line"]
        );
        for most in 9..70 {
            let parts = split(text, most).unwrap();
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(words(&parts.join(" ")), words(text), "{most}");
            assert!(parts.iter().all(|part| (1..=most).contains(&part.chars().count())), "{most}");
        }
    }

    #[test]
    fn a_sentence_that_is_too_long_is_split_between_words_and_a_word_never() {
        assert_eq!(
            split("one two three four", 9).unwrap(),
            ["one two", "three", "four"].map(String::from).to_vec()
        );
        assert_eq!(split("unbreakable", 5), None);
        assert_eq!(split("一つ。二つ。三つ。", 6).unwrap(), ["一つ。二つ。", "三つ。"]);
    }
}
