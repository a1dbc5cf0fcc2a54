//! The MarkdownV2 style: nesting, and every reserved character escaped.
//!
//! <https://core.telegram.org/bots/api#markdownv2-style>

use super::markdown::language;
use super::{Builder, Formatted, Start, is_link};

const RESERVED: &str = "_*[]()~`>#+-=|{}.!";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bold,
    Italic,
    Underline,
    Strikethrough,
    Spoiler,
    Code,
    Pre,
    TextUrl,
    CustomEmoji,
}

impl Kind {
    /// Returns the mark that ends it.
    fn end(self) -> &'static str {
        match self {
            Self::Bold => "*",
            Self::Italic => "_",
            Self::Underline => "__",
            Self::Strikethrough => "~",
            Self::Spoiler => "||",
            Self::Code => "`",
            Self::Pre => "```",
            Self::TextUrl | Self::CustomEmoji => "]",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Bold => "bold",
            Self::Italic => "italic",
            Self::Underline => "underline",
            Self::Strikethrough => "strikethrough",
            Self::Spoiler => "spoiler",
            Self::Code => "code",
            Self::Pre => "pre",
            Self::TextUrl => "text_link",
            Self::CustomEmoji => "custom_emoji",
        }
    }
}

struct Parser<'a> {
    source: &'a str,
    at: usize,
    out: Builder,
    open: Vec<(Kind, Start)>,
    quote: Option<Start>,
}

pub(super) fn parse(source: &str) -> Result<Formatted, String> {
    let mut parser =
        Parser { source, at: 0, out: Builder::default(), open: Vec::new(), quote: None };
    while let Some(c) = parser.rest().chars().next() {
        parser.step(c)?;
    }
    parser.end_quote(false);
    match parser.open.last() {
        Some((kind, start)) => {
            Err(format!("Can't find end of {kind:?} entity at byte offset {}", start.source))
        }
        None => Ok(parser.out.done),
    }
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.source[self.at..]
    }

    fn step(&mut self, c: char) -> Result<(), String> {
        let escaped = self.rest().as_bytes().get(1).copied().filter(|b| (1..=126).contains(b));
        if let ('\\', Some(next)) = (c, escaped) {
            self.out.push(char::from(next));
            self.at += 2;
            return Ok(());
        }
        if c == '\n' && self.quote.is_some() {
            return self.next_quote_line();
        }
        let top = self.open.last().map(|(kind, _)| *kind);
        let verbatim = matches!(top, Some(Kind::Code | Kind::Pre));
        if let Some(kind) = top.filter(|kind| self.ends(*kind)) {
            return self.close(kind);
        }
        if !RESERVED.contains(c) || (verbatim && c != '`') {
            self.out.push(c);
            self.at += c.len_utf8();
            return Ok(());
        }
        self.begin(c)
    }

    fn ends(&self, kind: Kind) -> bool {
        // Two underscores are never the end of italic text.
        self.rest().starts_with(kind.end())
            && !(kind == Kind::Italic && self.rest().starts_with("__"))
    }

    fn line_start(&self) -> bool {
        self.at == 0 || self.source[..self.at].ends_with('\n')
    }

    fn begin(&mut self, c: char) -> Result<(), String> {
        let rest = self.rest();
        let quote = if rest.starts_with("**>") { 3 } else { usize::from(c == '>') };
        if quote > 0 && self.line_start() && self.open.is_empty() {
            self.end_quote(false);
            self.quote = Some(self.out.start(self.at));
            self.at += quote;
            return Ok(());
        }
        if rest.starts_with("||")
            && self.quote.is_some()
            && matches!(rest.as_bytes().get(2), None | Some(b'\n'))
        {
            self.at += 2;
            self.end_quote(true);
            return Ok(());
        }
        let (kind, length) = match c {
            '_' if rest.starts_with("__") => (Kind::Underline, 2),
            '_' => (Kind::Italic, 1),
            '*' => (Kind::Bold, 1),
            '~' => (Kind::Strikethrough, 1),
            '|' if rest.starts_with("||") => (Kind::Spoiler, 2),
            '[' => (Kind::TextUrl, 1),
            '!' if rest.starts_with("![") => (Kind::CustomEmoji, 2),
            '`' if rest.starts_with("```") => (Kind::Pre, 3),
            '`' => (Kind::Code, 1),
            c => {
                return Err(format!(
                    "Character '{c}' is reserved and must be escaped with the preceding '\\'"
                ));
            }
        };
        self.open.push((kind, self.out.start(self.at)));
        self.at += length;
        Ok(())
    }

    fn close(&mut self, kind: Kind) -> Result<(), String> {
        let Some((_, start)) = self.open.pop() else { return Ok(()) };
        self.at += kind.end().len();
        match kind {
            Kind::TextUrl => {
                let text = self.out.since(start).to_owned();
                let url = self.address()?.unwrap_or(text);
                if is_link(&url)
                    && let Some(entity) = self.out.end(kind.name(), start)
                {
                    entity.url = Some(url);
                }
            }
            Kind::CustomEmoji => {
                let id = self
                    .address()?
                    .and_then(|url| Some(url.strip_prefix("tg://emoji?id=")?.to_owned()));
                let id = id.ok_or("Custom emoji entity must contain a tg://emoji URL")?;
                if let Some(entity) = self.out.end(kind.name(), start) {
                    entity.custom_emoji_id = Some(id);
                }
            }
            Kind::Pre => self.close_pre(start),
            kind => {
                self.out.end(kind.name(), start);
            }
        }
        Ok(())
    }

    /// Ends a code block, and removes the language from its text.
    fn close_pre(&mut self, start: Start) {
        let block = self.out.since(start).to_owned();
        let (language, body) = language(&block);
        self.out.done.text.truncate(start.bytes);
        self.out.units = start.units;
        body.chars().for_each(|c| self.out.push(c));
        if let Some(entity) = self.out.end("pre", start) {
            entity.language = language;
        }
    }

    /// Returns the address in parentheses, if one follows.
    fn address(&mut self) -> Result<Option<String>, String> {
        if !self.rest().starts_with('(') {
            return Ok(None);
        }
        let begin = self.at;
        let mut url = String::new();
        let mut chars = self.rest().char_indices().skip(1).peekable();
        while let Some((index, c)) = chars.next() {
            match c {
                ')' => {
                    self.at += index + 1;
                    return Ok(Some(url));
                }
                '\\' => url.push(
                    chars.next_if(|(_, next)| next.is_ascii()).map_or('\\', |(_, next)| next),
                ),
                c => url.push(c),
            }
        }
        Err(format!("Can't find end of a URL at byte offset {begin}"))
    }

    fn next_quote_line(&mut self) -> Result<(), String> {
        self.at += 1;
        if self.rest().starts_with('>') {
            self.out.push('\n');
            self.at += 1;
            return Ok(());
        }
        if let Some((kind, start)) = self.open.last() {
            return Err(format!(
                "Can't find end of {kind:?} entity at byte offset {}",
                start.source
            ));
        }
        self.end_quote(false);
        self.out.push('\n');
        Ok(())
    }

    fn end_quote(&mut self, expandable: bool) {
        if let Some(start) = self.quote.take() {
            self.out.end(if expandable { "expandable_blockquote" } else { "blockquote" }, start);
        }
    }
}
