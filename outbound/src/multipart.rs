//! `multipart/form-data` bodies (RFC 7578).

use std::fmt;

use bytes::Bytes;
use http::HeaderValue;

use crate::{FileStream, piece::BodyPart};

/// A form with files. Contents are not copied.
pub struct Multipart {
    boundary: String,
    pieces: Vec<BodyPart>,
    valid: bool,
}

impl Multipart {
    /// Creates an empty form.
    #[must_use]
    pub fn new() -> Self {
        // 128 random bits that no content can contain on purpose, so the contents need not be searched for them.
        let boundary = format!("fanfare-{:032x}", rand::random::<u128>());
        Self { boundary, pieces: Vec::new(), valid: true }
    }

    /// Adds a text field.
    #[must_use]
    pub fn text(self, name: &str, value: &str) -> Self {
        let head = format!("Content-Disposition: form-data; name=\"{}\"", escape_name(name));
        self.part(&head, BodyPart::Bytes(Bytes::copy_from_slice(value.as_bytes())))
    }

    /// Adds a file.
    #[must_use]
    pub fn file(self, name: &str, filename: &str, mime: &str, content: Bytes) -> Self {
        self.add_part(name, filename, mime, BodyPart::Bytes(content))
    }

    /// Adds a file of `size` bytes that is read while it is sent; see [`crate::Request::file`].
    #[must_use]
    pub fn stream(
        self,
        name: &str,
        filename: &str,
        mime: &str,
        (size, pieces): (u64, FileStream),
    ) -> Self {
        self.add_part(name, filename, mime, BodyPart::file(size, pieces))
    }

    fn add_part(mut self, name: &str, filename: &str, mime: &str, content: BodyPart) -> Self {
        self.valid &= HeaderValue::from_str(mime).is_ok();
        let head = format!(
            "Content-Disposition: form-data; name=\"{}\"; filename=\"{}\"\r\nContent-Type: {mime}",
            escape_name(name),
            escape_name(filename),
        );
        self.part(&head, content)
    }

    fn part(mut self, head: &str, content: BodyPart) -> Self {
        let start = format!("--{}\r\n{head}\r\n\r\n", self.boundary);
        self.pieces.push(BodyPart::Bytes(start.into()));
        self.pieces.push(content);
        self.pieces.push(BodyPart::Bytes(Bytes::from_static(b"\r\n")));
        self
    }

    /// Returns the content type and the body, or `None` if a media type is not valid.
    pub(crate) fn finish(mut self) -> Option<(String, Vec<BodyPart>)> {
        self.pieces.push(BodyPart::Bytes(format!("--{}--\r\n", self.boundary).into()));
        let content_type = format!("multipart/form-data; boundary={}", self.boundary);
        self.valid.then_some((content_type, self.pieces))
    }
}

impl Default for Multipart {
    fn default() -> Self {
        Self::new()
    }
}

/// Omits contents and names, because a field may be a token.
impl fmt::Debug for Multipart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Multipart").field("parts", &(self.pieces.len() / 3)).finish_non_exhaustive()
    }
}

/// Escapes a name as browsers do (WHATWG HTML, "multipart/form-data encoding algorithm").
fn escape_name(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}
