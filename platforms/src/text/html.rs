//! The text of HTML that a network shows.

use html5gum::{Token, Tokenizer};

/// Returns the text of HTML: paragraphs are an empty line apart, `<br>` ends a line.
#[must_use]
pub fn of_html(html: &str) -> String {
    let mut text = String::new();
    for token in Tokenizer::new(html).flatten() {
        match token {
            Token::String(part) => text.push_str(&String::from_utf8_lossy(&part)),
            Token::StartTag(tag) if **tag.name == *b"br" => text.push('\n'),
            Token::EndTag(tag) if **tag.name == *b"p" => text.push_str("\n\n"),
            _ => {}
        }
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::of_html;

    #[test]
    fn the_text_of_a_status_is_that_which_was_written() {
        let html = "<p>Hello<br />you &amp; me</p><p>see <a href=\"https://a.example/b\"><span class=\"invisible\">https://</span>a.example/b</a></p>";
        assert_eq!(of_html(html), "Hello\nyou & me\n\nsee https://a.example/b");
    }
}
