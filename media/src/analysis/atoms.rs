//! Reads the top-level boxes of an MP4 or MOV file (ISO 14496-12).

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

/// The largest number of boxes that are read. Cameras and editors write fewer.
const MAX_BOXES: usize = 4_096;

/// A box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Atom {
    pub name: [u8; 4],
    /// The offset of the header.
    pub at: u64,
    /// The size of the header and the content.
    pub size: u64,
}

/// Reads the boxes until one is invalid or `wanted` returns false.
pub fn walk(file: &mut File, bytes: u64, mut wanted: impl FnMut(&Atom) -> bool) -> io::Result<()> {
    let mut at = 0;
    for _ in 0..MAX_BOXES {
        let Some(atom) = next(file, at, bytes)? else { break };
        if !wanted(&atom) {
            break;
        }
        at = atom.at + atom.size;
    }
    Ok(())
}

fn next(file: &mut File, at: u64, bytes: u64) -> io::Result<Option<Atom>> {
    let left = bytes.saturating_sub(at);
    if left < 8 {
        return Ok(None);
    }
    let mut head = [0; 16];
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(&mut head[..8])?;
    let short = u32::from_be_bytes([head[0], head[1], head[2], head[3]]);
    let name = [head[4], head[5], head[6], head[7]];
    let size = match short {
        // The box extends to the end of the file.
        0 => left,
        1 if left >= 16 => {
            file.read_exact(&mut head[8..])?;
            u64::from_be_bytes([
                head[8], head[9], head[10], head[11], head[12], head[13], head[14], head[15],
            ])
        }
        short => u64::from(short),
    };
    Ok((8..=left).contains(&size).then_some(Atom { name, at, size }))
}

/// Returns whether the index comes before the frames, or `None` for other containers and invalid files.
pub fn moov_is_first(at: &Path, mime: &str, bytes: u64) -> Option<bool> {
    if mime == "video/webm" {
        return None;
    }
    let mut first = None;
    let mut file = File::open(at).ok()?;
    walk(&mut file, bytes, |atom| {
        first = match &atom.name {
            b"moov" => Some(true),
            b"mdat" => Some(false),
            _ => None,
        };
        first.is_none()
    })
    .ok()?;
    first
}
