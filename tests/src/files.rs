//! Small files of every type that users upload.

pub use crate::{
    picture::png,
    png::{plain_png, stored_png},
};

/// Returns a file of this size that starts like an MP4; the same size gives the same bytes.
#[must_use]
pub fn mp4(size: usize) -> Vec<u8> {
    let mut film = b"\0\0\0\x18ftypisom\0\0\x02\0isommp41".to_vec();
    film.extend((film.len()..size).map(|at| (at * 31 % 251) as u8));
    film
}

/// Returns the smallest GIF.
#[must_use]
pub fn gif() -> Vec<u8> {
    b"GIF89a\x01\0\x01\0\0\0\0\x2c\0\0\0\0\x01\0\x01\0\0\x02\x01\0\0\x3b".to_vec()
}

/// Returns a file that starts like a HEIC photo of an iPhone.
#[must_use]
pub fn heic() -> Vec<u8> {
    [b"\0\0\0\x18ftypheic\0\0\0\0mif1heic".as_slice(), &[7; 5_000]].concat()
}

/// Returns a PDF.
#[must_use]
pub fn pdf() -> Vec<u8> {
    b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>\nendobj\n%%EOF\n".to_vec()
}
