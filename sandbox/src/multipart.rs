//! Parses `multipart/form-data` (RFC 7578) from a body in memory.

use bytes::Bytes;

/// One part of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    pub name: String,
    /// Set for files.
    pub filename: Option<String>,
    /// The part's content type; empty if it has none.
    pub mime: String,
    pub bytes: Bytes,
}

impl Part {
    /// Returns the content as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// Returns the parts in order, or `None` if the body is not such a form.
pub(crate) fn parse(content_type: &str, body: &Bytes) -> Option<Vec<Part>> {
    let delimiter = format!("--{}", parameter(content_type, "boundary")?);
    let between = format!("\r\n{delimiter}");
    let mut at = find(body, delimiter.as_bytes(), 0)? + delimiter.len();
    let mut parts = Vec::new();
    loop {
        let rest = body.get(at..)?;
        if rest.starts_with(b"--") {
            return Some(parts);
        }
        // The standard allows spaces after the delimiter, but nobody sends them.
        at += if rest.starts_with(b"\r\n") { 2 } else { return None };
        let head_end = find(body, b"\r\n\r\n", at)?;
        let content = head_end + 4;
        let end = find(body, between.as_bytes(), content)?;
        parts.push(part(
            std::str::from_utf8(body.get(at..head_end)?).ok()?,
            body.slice(content..end),
        )?);
        at = end + between.len();
    }
}

fn part(head: &str, bytes: Bytes) -> Option<Part> {
    let header = |wanted: &str| {
        head.split("\r\n").find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.trim().eq_ignore_ascii_case(wanted).then(|| value.trim())
        })
    };
    let disposition = header("content-disposition")?;
    Some(Part {
        name: parameter(disposition, "name")?,
        filename: parameter(disposition, "filename"),
        mime: header("content-type")
            .unwrap_or_default()
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase(),
        bytes,
    })
}

/// Returns a parameter of a header value: `name=value` or `name="value"` after a semicolon.
pub(crate) fn parameter(header: &str, wanted: &str) -> Option<String> {
    let mut rest = header;
    while let Some(at) = rest.find(';') {
        rest = rest.get(at + 1..)?.trim_start();
        let (name, value) = rest.split_once('=')?;
        let (value, after) = match value.strip_prefix('"') {
            Some(quoted) => unquote(quoted)?,
            None => {
                let end = value.find(';').unwrap_or(value.len());
                (value.get(..end)?.trim().to_owned(), value.get(end..)?)
            }
        };
        if name.trim().eq_ignore_ascii_case(wanted) {
            return Some(value);
        }
        rest = after;
    }
    None
}

/// Returns the text up to the closing quote, and the rest.
fn unquote(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((value, text.get(at + 1..)?)),
            '\\' => value.push(chars.next()?.1),
            c => value.push(c),
        }
    }
    None
}

fn find(haystack: &[u8], needle: &[u8], from: usize) -> Option<usize> {
    let first = *needle.first()?;
    let mut at = from;
    loop {
        at += haystack.get(at..)?.iter().position(|b| *b == first)?;
        if haystack[at..].starts_with(needle) {
            return Some(at);
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::{parameter, parse};

    #[test]
    fn a_form_is_read() {
        let body = Bytes::from_static(
            b"--XX\r\nContent-Disposition: form-data; name=\"payload_json\"\r\nContent-Type: application/json\r\n\r\n{}\r\n\
              --XX\r\ncontent-disposition: form-data; filename=\"a \\\"b\\\".png\"; name=\"files[0]\"\r\n\r\n\r\n--X\r\n\r\n--XX--\r\n",
        );
        let parts = parse("multipart/form-data; boundary=XX", &body).unwrap_or_default();
        assert_eq!(parts.len(), 2);
        assert_eq!(
            (parts[0].name.as_str(), parts[0].mime.as_str(), parts[0].text().as_str()),
            ("payload_json", "application/json", "{}")
        );
        assert_eq!(parts[1].filename.as_deref(), Some("a \"b\".png"));
        assert_eq!(&parts[1].bytes[..], b"\r\n--X\r\n");
        assert_eq!(parse("multipart/form-data; boundary=YY", &body), None);
        assert_eq!(parse("multipart/form-data; boundary=XX", &body.slice(..40)), None);
    }

    #[test]
    fn parameters_are_found() {
        assert_eq!(
            parameter("a/b; charset=utf-8; boundary=\"x;y\"", "boundary").as_deref(),
            Some("x;y")
        );
        assert_eq!(parameter("attachment; filename=a.png", "filename").as_deref(), Some("a.png"));
        assert_eq!(parameter("attachment", "filename"), None);
    }
}
