//! Pictures that carry marks of how they are to be shown: made here, so that each is known byte by byte.

use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use moxcms::ColorProfile;

use super::{Failure, files, films};

/// Red, green, blue and yellow: the quarters of a picture as it is stored, row by row.
pub const QUARTERS: [[u8; 3]; 4] = [[220, 20, 20], [20, 200, 20], [20, 20, 220], [220, 200, 20]];

/// A picture of four quarters.
pub fn quarters(width: u32, height: u32) -> DynamicImage {
    DynamicImage::ImageRgb8(RgbImage::from_fn(width, height, |x, y| {
        let (right, low) = (usize::from(x * 2 >= width), usize::from(y * 2 >= height));
        Rgb(QUARTERS[low * 2 + right])
    }))
}

/// The quarters in the order in which they are seen under an orientation (CIPA DC-008, 4.6.4).
pub fn seen(orientation: u8) -> [[u8; 3]; 4] {
    let places = match orientation {
        2 => [1, 0, 3, 2],
        3 => [3, 2, 1, 0],
        4 => [2, 3, 0, 1],
        5 => [0, 2, 1, 3],
        6 => [2, 0, 3, 1],
        7 => [3, 1, 2, 0],
        8 => [1, 3, 0, 2],
        _ => [0, 1, 2, 3],
    };
    places.map(|place: usize| QUARTERS[place])
}

/// The metadata of a file.
#[derive(Debug, Clone, Copy, Default)]
pub struct Said<'a> {
    pub orientation: Option<u8>,
    pub profile: Option<&'a [u8]>,
    /// Width of a pixel to its height.
    pub pixel: Option<(u8, u8)>,
}

/// sRGB with green and blue exchanged, so that a profile that was lost is unmistakable.
pub fn exchanged() -> Result<Vec<u8>, Failure> {
    let mut profile = ColorProfile::new_srgb();
    std::mem::swap(&mut profile.green_colorant, &mut profile.blue_colorant);
    profile.cicp = None;
    Ok(profile.encode().map_err(|error| format!("{error:?}"))?)
}

/// A picture of this type that says so.
pub fn file(mime: &str, picture: &DynamicImage, said: Said<'_>) -> Result<Vec<u8>, Failure> {
    let format = ImageFormat::from_mime_type(mime).ok_or("no type")?;
    Ok(marked(mime, &films::encoded(picture, format)?, said))
}

/// A file of this type, with marks.
pub fn marked(mime: &str, plain: &[u8], said: Said<'_>) -> Vec<u8> {
    match mime {
        "image/jpeg" => jpeg(plain, said),
        "image/png" => png(plain, said),
        "image/webp" => webp(plain, said),
        _ => gif(plain, said),
    }
}

fn jpeg(plain: &[u8], said: Said<'_>) -> Vec<u8> {
    let mut segments = Vec::new();
    if let Some((wide, high)) = said.pixel {
        segments.extend(files::segment(
            0xe0,
            &[b"JFIF\0\x01\x02\0", &[0, wide, 0, high, 0, 0][..]].concat(),
        ));
    }
    if let Some(orientation) = said.orientation {
        segments.extend(files::exif(orientation.into(), orientation % 2 == 0));
    }
    let parts =
        said.profile.map(|profile| profile.chunks(300).collect::<Vec<_>>()).unwrap_or_default();
    // Out of order, which the numbers are for.
    for (place, part) in parts.iter().enumerate().rev() {
        let numbers = [place as u8 + 1, parts.len() as u8];
        segments.extend(files::segment(0xe2, &[b"ICC_PROFILE\0", &numbers[..], part].concat()));
    }
    // The encoder writes a JFIF segment of its own, of square pixels.
    let rest = match plain {
        [_, _, 0xff, 0xe0, high, low, ..] if said.pixel.is_some() => {
            &plain[4 + usize::from(u16::from_be_bytes([*high, *low]))..]
        }
        _ => &plain[2..],
    };
    [&plain[..2], &segments, rest].concat()
}

fn tiff(orientation: u8) -> Vec<u8> {
    files::exif(orientation.into(), false)[10..].to_vec()
}

fn png(plain: &[u8], said: Said<'_>) -> Vec<u8> {
    let mut before = Vec::new();
    if let Some(profile) = said.profile {
        before.extend(chunk(b"iCCP", &[b"a name\0\0", &*stored_zlib(profile)].concat()));
    }
    if let Some((wide, high)) = said.pixel {
        // Pixels to a metre: a pixel is the wider the fewer there are.
        let per_metre = [0, 0, high, 0, 0, 0, wide, 0, 1];
        before.extend(chunk(b"pHYs", &per_metre));
    }
    let exif = said.orientation.map(|value| chunk(b"eXIf", &tiff(value))).unwrap_or_default();
    let end = plain.len() - 12;
    [&plain[..33], &before, &plain[33..end], &exif, &plain[end..]].concat()
}

fn chunk(name: &[u8; 4], content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).unwrap_or(0).to_be_bytes();
    let named = [&name[..], content].concat();
    [&length[..], &named, &crc32fast::hash(&named).to_be_bytes()].concat()
}

/// Blocks that are not compressed (RFC 1950, 1951).
fn stored_zlib(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).unwrap_or(0);
    let (mut a, mut b) = (1_u32, 0_u32);
    for byte in bytes {
        a = (a + u32::from(*byte)) % 65_521;
        b = (b + a) % 65_521;
    }
    let head = [&[0x78, 1, 1], &length.to_le_bytes()[..], &(!length).to_le_bytes()].concat();
    [&head, bytes, &((b << 16) | a).to_be_bytes()[..]].concat()
}

fn webp(plain: &[u8], said: Said<'_>) -> Vec<u8> {
    let Some((width, height)) = crate::dimensions(plain) else { return Vec::new() };
    let riff = |name: &[u8; 4], content: &[u8]| {
        let length = u32::try_from(content.len()).unwrap_or(0).to_le_bytes();
        [&name[..], &length, content, &vec![0; content.len() % 2]].concat()
    };
    let flags = u8::from(said.profile.is_some()) * 0x20
        + 0x10
        + u8::from(said.orientation.is_some()) * 0x08;
    let [wide, high] = [width - 1, height - 1].map(u32::to_le_bytes);
    let mut inner = riff(b"VP8X", &[&[flags, 0, 0, 0], &wide[..3], &high[..3]].concat());
    inner.extend(said.profile.map(|profile| riff(b"ICCP", profile)).unwrap_or_default());
    inner.extend_from_slice(&plain[12..]);
    inner.extend(said.orientation.map(|value| riff(b"EXIF", &tiff(value))).unwrap_or_default());
    let length = u32::try_from(inner.len() + 4).unwrap_or(0).to_le_bytes();
    [b"RIFF", &length[..], b"WEBP", &inner].concat()
}

fn gif(plain: &[u8], said: Said<'_>) -> Vec<u8> {
    let mut file = plain.to_vec();
    if let Some((wide, high)) = said.pixel {
        file[12] = u8::try_from(u32::from(wide) * 64 / u32::from(high) - 15).unwrap_or(0);
    }
    file
}

/// A JPEG of one colour in four inks, as Adobe writes them: 255 is no ink.
pub fn cmyk(width: u16, height: u16, inks: [u8; 4]) -> Vec<u8> {
    let [wide, high] = [width, height].map(u16::to_be_bytes);
    let table = [&[0][..], &[8; 64]].concat();
    // One code of one bit for no difference, and seven of four bits; of the rest only the end of a block.
    let dc = [&[0, 1, 0, 0, 7][..], &[0; 12], &[0, 1, 2, 3, 4, 5, 6, 7]].concat();
    let ac = [&[0x10, 1][..], &[0; 15], &[0]].concat();
    let parts = [1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0, 4, 0x11, 0];
    let frame = [&[8][..], &high, &wide, &[4], &parts].concat();
    let scan = [4, 1, 0, 2, 0, 3, 0, 4, 0, 0, 63, 0];
    let mut bits = Bits::default();
    for ink in inks {
        bits.difference(i32::from(ink) - 128);
        bits.push(0, 1);
    }
    let blocks = usize::from(width.div_ceil(8)) * usize::from(height.div_ceil(8));
    for _ in 1..blocks {
        // No difference and the end, four times.
        bits.push(0, 8);
    }
    let mut file = b"\xff\xd8".to_vec();
    file.extend(files::segment(0xee, b"Adobe\0\x64\0\0\0\0\0"));
    for (marker, content) in [(0xdb, &table), (0xc0, &frame), (0xc4, &dc), (0xc4, &ac)] {
        file.extend(files::segment(marker, content));
    }
    file.extend(files::segment(0xda, &scan));
    file.extend(bits.end());
    file.extend(b"\xff\xd9");
    file
}

/// Bits of a JPEG's data.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    held: u32,
    count: u32,
}

impl Bits {
    fn push(&mut self, value: u32, count: u32) {
        for at in (0..count).rev() {
            self.held = (self.held << 1) | ((value >> at) & 1);
            self.count += 1;
            if self.count == 8 {
                let byte = u8::try_from(self.held).unwrap_or(0);
                self.bytes.push(byte);
                if byte == 0xff {
                    self.bytes.push(0);
                }
                (self.held, self.count) = (0, 0);
            }
        }
    }

    /// The size of a difference, and the difference (ITU-T T.81, F.1.2.1).
    fn difference(&mut self, value: i32) {
        let size = 32 - value.unsigned_abs().leading_zeros();
        if size == 0 {
            return self.push(0, 1);
        }
        self.push(8 + size - 1, 4);
        let low = if value < 0 { value - 1 } else { value };
        self.push(low.cast_unsigned() & ((1 << size) - 1), size);
    }

    fn end(mut self) -> Vec<u8> {
        while self.count > 0 {
            self.push(1, 1);
        }
        self.bytes
    }
}
