//! Checks that a file that arrives in pieces is UTF-8.

use crate::IntakeError;

/// The check of one file.
#[derive(Default)]
pub(crate) struct Utf8 {
    /// The beginning of a character whose end has not arrived.
    open: Vec<u8>,
}

impl Utf8 {
    /// Receives the next bytes.
    ///
    /// # Errors
    /// [`IntakeError::Type`].
    pub fn push(&mut self, piece: &[u8]) -> Result<(), IntakeError> {
        self.open.extend_from_slice(piece);
        let rest = match std::str::from_utf8(&self.open) {
            Ok(_) => self.open.len(),
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Err(_) => return Err(not_text()),
        };
        self.open.drain(..rest);
        Ok(())
    }

    /// Ends the file.
    ///
    /// # Errors
    /// [`IntakeError::Type`] if it ends within a character.
    pub fn end(self) -> Result<(), IntakeError> {
        if self.open.is_empty() { Ok(()) } else { Err(not_text()) }
    }
}

fn not_text() -> IntakeError {
    IntakeError::Type("The captions are not UTF-8 text.".to_owned())
}

#[cfg(test)]
mod tests {
    use super::Utf8;

    fn is_text(pieces: &[&[u8]]) -> bool {
        let mut check = Utf8::default();
        pieces.iter().all(|piece| check.push(piece).is_ok()) && check.end().is_ok()
    }

    #[test]
    fn a_character_may_be_cut_between_pieces() {
        let text = "WEBVTT ü 👋".as_bytes();
        assert!((0..=text.len()).all(|at| is_text(&[&text[..at], &text[at..]])));
        assert!((1..4).all(|cut| !is_text(&[&text[..text.len() - cut]])));
        assert!(!is_text(&[b"WEBVTT\n\xfc"]) && !is_text(&[b"WEBVTT \xff\n", b"more"]));
    }
}
