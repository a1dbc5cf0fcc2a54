//! Checks that a JPEG is complete. Decoders fill missing parts with grey, which must not be published.

use std::io::{self, BufRead, Read};

/// Returns true if the end of the picture exists. Bytes after it are ignored.
pub fn is_whole(from: &mut impl BufRead) -> io::Result<bool> {
    let ended = |outcome: io::Result<bool>| match outcome {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        other => other,
    };
    ended(walk(from))
}

fn walk(from: &mut impl BufRead) -> io::Result<bool> {
    // The start of the image.
    skip(from, 2)?;
    let mut in_picture = false;
    loop {
        match marker(from, in_picture)? {
            0xd9 => return Ok(in_picture),
            // Restart and fill markers have no content.
            0x01 | 0xd0..=0xd8 => {}
            other => {
                let length = u16::from_be_bytes([byte(from)?, byte(from)?]);
                skip(from, u64::from(length.max(2)) - 2)?;
                in_picture |= other == 0xda;
            }
        }
    }
}

/// Returns the next marker. Within a picture, the bytes before it are data.
fn marker(from: &mut impl BufRead, in_picture: bool) -> io::Result<u8> {
    loop {
        if byte(from)? != 0xff {
            if in_picture {
                continue;
            }
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut code = byte(from)?;
        while code == 0xff {
            code = byte(from)?;
        }
        if code != 0 {
            return Ok(code);
        }
    }
}

fn byte(from: &mut impl BufRead) -> io::Result<u8> {
    let mut one = [0];
    from.read_exact(&mut one)?;
    Ok(one[0])
}

fn skip(from: &mut impl BufRead, bytes: u64) -> io::Result<()> {
    let skipped = io::copy(&mut from.take(bytes), &mut io::sink())?;
    if skipped == bytes { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

#[cfg(test)]
mod tests {
    use super::is_whole;
    use crate::tests::files;

    #[test]
    fn a_cut_anywhere_is_seen_and_what_follows_does_not_count() -> std::io::Result<()> {
        let whole = files::jpeg(64, 48, &files::exif(6, true));
        assert!(is_whole(&mut whole.as_slice())?);
        assert!(is_whole(&mut [whole.as_slice(), b"PK\x03\x04 more"].concat().as_slice())?);
        for end in 0..whole.len() {
            assert!(!is_whole(&mut &whole[..end])?, "cut at {end}");
        }
        Ok(())
    }
}
