//! `parse_mode: MarkdownV2`, <https://core.telegram.org/bots/api#markdownv2-style>.

use super::MarkupError;

/// Characters with a special meaning, which must be escaped as text.
const RESERVED: &str = "_*[]()~`>#+-=|{}.!";

const CLOSE: &str = "Close it, or put a backslash before it.";

/// Returns the text without markup.
pub(super) fn parse(source: &str) -> Result<String, MarkupError> {
    let mut reader =
        Reader { rest: source, visible: String::new(), open: Vec::new(), quoted: false };
    while let Some(c) = reader.rest.chars().next() {
        reader.take(c)?;
    }
    match reader.open.last() {
        Some(mark) => Err(MarkupError::new(format!("{:?} is not closed", mark.text()), CLOSE)),
        None => Ok(reader.visible),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Bold,
    Italic,
    Underline,
    Strike,
    Spoiler,
    Code,
    Block,
    Link,
    Emoji,
}

impl Mark {
    /// Returns its characters.
    const fn text(self) -> &'static str {
        match self {
            Self::Bold => "*",
            Self::Italic => "_",
            Self::Underline => "__",
            Self::Strike => "~",
            Self::Spoiler => "||",
            Self::Code => "`",
            Self::Block => "```",
            Self::Link => "[",
            Self::Emoji => "![",
        }
    }

    /// Returns the mark that closes it.
    const fn end(self) -> &'static str {
        match self {
            Self::Link | Self::Emoji => "]",
            _ => self.text(),
        }
    }

    fn is_code(self) -> bool {
        matches!(self, Self::Code | Self::Block)
    }

    /// Returns the longest mark at the start of `rest`.
    fn at(rest: &str) -> Option<Self> {
        const LONGEST_FIRST: [Mark; 9] = [
            Mark::Block,
            Mark::Underline,
            Mark::Spoiler,
            Mark::Emoji,
            Mark::Bold,
            Mark::Italic,
            Mark::Strike,
            Mark::Code,
            Mark::Link,
        ];
        LONGEST_FIRST.into_iter().find(|mark| rest.starts_with(mark.text()))
    }
}

struct Reader<'a> {
    rest: &'a str,
    visible: String,
    open: Vec<Mark>,
    /// True inside a block quotation, which continues over lines that start with `>`.
    quoted: bool,
}

impl Reader<'_> {
    fn take(&mut self, c: char) -> Result<(), MarkupError> {
        if c == '\\'
            && self.rest[1..].starts_with(|next: char| ('\u{1}'..='\u{7e}').contains(&next))
        {
            self.visible.push_str(&self.rest[1..2]);
            self.skip(2);
            return Ok(());
        }
        let innermost = self.open.last().copied();
        let means_something = match innermost {
            Some(mark) if mark.is_code() => c == '`',
            _ => RESERVED.contains(c),
        };
        if !means_something {
            self.text(c);
            return Ok(());
        }
        match innermost {
            Some(mark) if self.closes(mark) => self.close(mark),
            // A single ` inside a code block is text.
            Some(Mark::Block) => {
                self.text(c);
                Ok(())
            }
            _ => self.start(c),
        }
    }

    fn text(&mut self, c: char) {
        if c == '\n' {
            self.quoted &= self.rest[1..].starts_with('>');
        }
        self.visible.push(c);
        self.skip(c.len_utf8());
    }

    fn closes(&self, mark: Mark) -> bool {
        let longer = mark == Mark::Italic && self.rest.starts_with("__");
        self.rest.starts_with(mark.end()) && !longer
    }

    fn close(&mut self, mark: Mark) -> Result<(), MarkupError> {
        self.open.pop();
        self.skip(mark.end().len());
        match mark {
            Mark::Link if self.rest.starts_with('(') => self.address(),
            Mark::Emoji if self.rest.starts_with('(') => self.address(),
            Mark::Emoji => Err(MarkupError::new("![…] has no address after it", CLOSE)),
            _ => Ok(()),
        }
    }

    /// Skips `(address)`, in which only `)` and `\` are special.
    fn address(&mut self) -> Result<(), MarkupError> {
        let mut escaped = false;
        for (at, c) in self.rest.char_indices() {
            if c == ')' && !escaped {
                self.skip(at + 1);
                return Ok(());
            }
            escaped = c == '\\' && !escaped;
        }
        Err(MarkupError::new("the address of a link has no closing )", "Put ) after the address."))
    }

    fn start(&mut self, c: char) -> Result<(), MarkupError> {
        if c == '>' && self.at_line_start() {
            self.quoted = true;
            self.skip(1);
            return Ok(());
        }
        let Some(mark) = Mark::at(self.rest) else {
            return Err(MarkupError::new(
                format!("{c:?} is reserved"),
                format!("Put a backslash before {c:?} where it is meant as itself."),
            ));
        };
        self.skip(mark.text().len());
        // Two bars at the end of a quotation make it collapsible; they do not start a spoiler.
        let folds = mark == Mark::Spoiler && self.quoted && self.at_line_end();
        if mark == Mark::Block {
            self.language();
        }
        if !folds {
            self.open.push(mark);
        }
        Ok(())
    }

    fn at_line_start(&self) -> bool {
        self.visible.is_empty() || self.visible.ends_with('\n')
    }

    fn at_line_end(&self) -> bool {
        self.rest.is_empty() || self.rest.starts_with('\n')
    }

    /// Skips the language name right after the start of a code block, and the line break after it, which are not
    /// displayed.
    fn language(&mut self) {
        let stop = |c: char| c.is_whitespace() || c == '`';
        match self.rest.find(stop) {
            Some(end) if !self.rest[end..].starts_with('`') => self.skip(end),
            _ => {}
        }
        let breaks = ["\r\n", "\n\r", "\n", "\r"];
        if let Some(found) = breaks.into_iter().find(|found| self.rest.starts_with(found)) {
            self.skip(found.len());
        }
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = &self.rest[bytes..];
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn markup_vanishes() {
        let table = [
            ("plain text", "plain text"),
            ("*bold* _it_ __under__ ~gone~ ||hidden||", "bold it under gone hidden"),
            ("*bold _both_*", "bold both"),
            ("_a __b___", "a b"),
            ("[a link](https://example.org/a_(b\\)c.html)", "a link"),
            ("![😀](tg://emoji?id=1)", "😀"),
            ("`a.b!` ok", "a.b! ok"),
            ("```rust\nlet a = 1;\n```", "let a = 1;\n"),
            ("```\nx ` y```", "x ` y"),
            ("Version 1\\.0\\!", "Version 1.0!"),
            (">quoted\n>more\nafter", "quoted\nmore\nafter"),
            ("**>folded\n>end||", "folded\nend"),
            ("back\\\\slash", "back\\slash"),
        ];
        for (source, visible) in table {
            assert_eq!(parse(source).as_deref(), Ok(visible), "{source}");
        }
    }

    #[test]
    fn what_telegram_cannot_read_is_refused() {
        let table = [
            "Version 1.0",
            "Hello!",
            "a-b",
            "1 + 1 = 2",
            "*open",
            "[text](https://example.org",
            "a | b",
            "not > a quote",
            "![x]",
            "(brackets)",
        ];
        for source in table {
            assert!(parse(source).is_err(), "{source}");
        }
    }
}
