//! The beginnings of files of each type, made here byte by byte.

/// One file of each supported type.
pub fn each() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("image/jpeg", jpeg(64, 48, &[])),
        ("image/png", png(64, 48)),
        ("image/gif", gif(64, 48)),
        ("image/webp", webp(64, 48)),
        ("video/mp4", ftyp(b"isom")),
        ("video/quicktime", ftyp(b"qt  ")),
        ("video/webm", ebml("webm")),
        ("application/pdf", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n".to_vec()),
        ("text/vtt", b"WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n".to_vec()),
    ]
}

/// `before` are whole segments, written ahead of the one with the size.
pub fn jpeg(width: u16, height: u16, before: &[u8]) -> Vec<u8> {
    let [wide, high] = [width, height].map(u16::to_be_bytes);
    let frame = join(&[&[8], &high, &wide, &[3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1]]);
    join(&[
        b"\xff\xd8",
        &segment(0xe0, b"JFIF\0\x01\x02\0\0\x01\0\x01\0\0"),
        before,
        &segment(0xc0, &frame),
        &segment(0xda, &[3, 1, 0, 2, 0x11, 3, 0x11, 0, 0x3f, 0]),
        &[0x55; 40],
        b"\xff\xd9",
    ])
}

/// A JPEG segment.
pub fn segment(marker: u8, content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(content.len() + 2).unwrap_or(u16::MAX).to_be_bytes();
    join(&[&[0xff, marker], &length, content])
}

/// A JPEG's Exif segment: a camera's name, and the orientation.
pub fn exif(orientation: u16, little: bool) -> Vec<u8> {
    let short = |n: u16| if little { n.to_le_bytes() } else { n.to_be_bytes() };
    let long = |n: u32| if little { n.to_le_bytes() } else { n.to_be_bytes() };
    let entry =
        |tag: u16, kind: u16, value: [u8; 4]| join(&[&short(tag), &short(kind), &long(1), &value]);
    let order: &[u8] = if little { b"II*\0" } else { b"MM\0*" };
    let [first, second] = short(orientation);
    let tiff = join(&[
        order,
        &long(8),
        &short(2),
        &entry(0x010f, 2, *b"Cam\0"),
        &entry(0x0112, 3, [first, second, 0, 0]),
        &long(0),
    ]);
    segment(0xe1, &join(&[b"Exif\0\0", &tiff]))
}

pub fn png(width: u32, height: u32) -> Vec<u8> {
    join(&[
        b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR",
        &width.to_be_bytes(),
        &height.to_be_bytes(),
        b"\x08\x06\0\0\0\0\0\0\0",
        b"\0\0\0\0IEND\xaeB`\x82",
    ])
}

pub fn gif(width: u16, height: u16) -> Vec<u8> {
    let end = b"\x80\0\0\0\0\0\xff\xff\xff;";
    join(&[b"GIF89a", &width.to_le_bytes(), &height.to_le_bytes(), end])
}

pub fn webp(width: u16, height: u16) -> Vec<u8> {
    let size = [width.to_le_bytes(), height.to_le_bytes()].concat();
    riff(b"VP8 ", &join(&[b"\x10\0\0\x9d\x01\x2a", &size, &[0; 16]]))
}

pub fn webp_lossless(width: u32, height: u32) -> Vec<u8> {
    let size = ((width - 1) | ((height - 1) << 14)).to_le_bytes();
    riff(b"VP8L", &join(&[b"\x2f", &size, &[0; 16]]))
}

pub fn webp_extended(width: u32, height: u32) -> Vec<u8> {
    let [wide, high] = [width - 1, height - 1].map(u32::to_le_bytes);
    riff(b"VP8X", &join(&[&[0; 4], &wide[..3], &high[..3], &[0; 16]]))
}

fn riff(kind: &[u8; 4], content: &[u8]) -> Vec<u8> {
    let length = |n: usize| u32::try_from(n).unwrap_or(u32::MAX).to_le_bytes();
    let inner = content.len();
    join(&[b"RIFF", &length(inner + 12), b"WEBP", kind, &length(inner), content])
}

/// A file of the MP4 family with this major brand.
pub fn ftyp(brand: &[u8; 4]) -> Vec<u8> {
    join(&[b"\0\0\0\x18ftyp", brand, b"\0\0\x02\0", brand, b"mp41\0\0\0\x08free\0\0\0\x08mdat"])
}

/// A file of the Matroska family with this document type.
pub fn ebml(doc_type: &str) -> Vec<u8> {
    let head = join(&[
        b"\x42\x86\x81\x01\x42\xf7\x81\x01\x42\xf2\x81\x04\x42\xf3\x81\x08",
        &[0x42, 0x82, 0x80 | doc_type.len() as u8],
        doc_type.as_bytes(),
        b"\x42\x87\x81\x04\x42\x85\x81\x02",
    ]);
    let length = 0x80 | head.len() as u8;
    join(&[b"\x1a\x45\xdf\xa3", &[length], &head, b"\x18\x53\x80\x67", &[0; 300]])
}

/// The pieces in a row.
pub fn join(pieces: &[&[u8]]) -> Vec<u8> {
    pieces.concat()
}
