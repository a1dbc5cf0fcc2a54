//! Reads how a stored picture is to be displayed: orientation, colour space and pixel shape.

use std::io::{self, BufRead, Read, Seek, SeekFrom};

use image::{ImageDecoder, codecs::png::PngDecoder};

use super::{HEADER_MEMORY, decoder_limits};
use crate::tiff::Tiff;

/// The largest colour profile that is read, in bytes. A larger one is ignored.
const MAX_PROFILE: usize = 4 * 1024 * 1024;
/// The largest Exif data that is read, in bytes.
const MAX_EXIF: usize = 1024 * 1024;
/// The deviation from square pixels that still counts as square, in thousandths.
const SQUARE_TOLERANCE: u64 = 20;
/// The largest ratio of the sides of a pixel. Pixels with a larger ratio are treated as square.
const MAX_STRETCH: u32 = 8;

/// The way in which a picture is to be displayed. Unreadable values have the defaults: upright, sRGB, square pixels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DisplayMarks {
    /// The Exif orientation, from 1 (as stored) to 8.
    pub orientation: u8,
    /// The width and height of a pixel, as a ratio.
    pub pixel: (u32, u32),
    /// The colour space, if it is not sRGB.
    pub space: Option<ColourSpace>,
    /// True for a CMYK JPEG.
    pub cmyk: bool,
    /// True for a progressive JPEG, whose decoder keeps the coefficients of the whole picture.
    pub is_progressive: bool,
}

/// A colour space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ColourSpace {
    /// An ICC profile.
    Icc(Vec<u8>),
    /// The code points of primaries and transfer function in ITU-T H.273.
    Codes(u8, u8),
    /// The gamma of a PNG, multiplied by 100,000.
    Gamma(u32),
}

impl Default for DisplayMarks {
    fn default() -> Self {
        Self { orientation: 1, pixel: (1, 1), space: None, cmyk: false, is_progressive: false }
    }
}

impl DisplayMarks {
    /// Reads the marks of a picture of this type.
    pub fn read(from: &mut (impl BufRead + Seek), mime: &str) -> Self {
        let mut marks = Self::default();
        // If a file ends too early, the values found so far are kept.
        let _ = match mime {
            "image/jpeg" => jpeg(from, &mut marks),
            "image/png" => png(from, &mut marks),
            "image/webp" => webp(from, &mut marks),
            "image/gif" => gif(from, &mut marks),
            _ => Ok(()),
        };
        marks
    }

    /// Returns the displayed size of a stored picture.
    pub fn displayed_size(&self, stored: (u32, u32)) -> (u32, u32) {
        let (width, height) = self.square_pixel_size(stored);
        if self.orientation >= 5 { (height, width) } else { (width, height) }
    }

    /// Returns the size with square pixels, before the orientation is applied. The shorter side of a pixel is
    /// lengthened, so
    /// that no detail is lost.
    fn square_pixel_size(&self, (width, height): (u32, u32)) -> (u32, u32) {
        let (wide, high) = self.pixel;
        let times = |side: u32, by: u32, over: u32| {
            let long = u64::from(side) * u64::from(by) / u64::from(over.max(1));
            u32::try_from(long).unwrap_or(u32::MAX).max(1)
        };
        match wide.cmp(&high) {
            std::cmp::Ordering::Equal => (width, height),
            std::cmp::Ordering::Greater => (times(width, wide, high), height),
            std::cmp::Ordering::Less => (width, times(height, high, wide)),
        }
    }

    /// Sets the pixel shape, if it is plausible.
    fn note_pixel(&mut self, wide: u32, high: u32) {
        let (long, short) = (u64::from(wide.max(high)), u64::from(wide.min(high)));
        let is_sane = short > 0 && long <= short * u64::from(MAX_STRETCH);
        if is_sane && (long - short) * 1_000 > short * SQUARE_TOLERANCE {
            self.pixel = (wide, high);
        }
    }

    fn note_exif(&mut self, exif: &[u8]) {
        let tiff = exif.strip_prefix(b"Exif\0\0").unwrap_or(exif);
        let value = Tiff::open(tiff).and_then(|tiff| tiff.orientation());
        self.orientation = value
            .and_then(|value| u8::try_from(value).ok())
            .filter(|value| (1..=8).contains(value))
            .unwrap_or(self.orientation);
    }
}

/// Reads the segments before the picture data (ITU-T T.81, B.1.1.4).
fn jpeg(from: &mut (impl BufRead + Seek), marks: &mut DisplayMarks) -> io::Result<()> {
    let mut profile: Vec<(u8, Vec<u8>)> = Vec::new();
    let walked = segments(from, |marker, content| match marker {
        0xc0..=0xcf if !matches!(marker, 0xc4 | 0xc8 | 0xcc) => {
            marks.cmyk = content.get(5) == Some(&4);
            marks.is_progressive = matches!(marker, 0xc2 | 0xc6 | 0xca | 0xce);
        }
        0xe0 => {
            if let [b'J', b'F', b'I', b'F', 0, _, _, unit, x1, x2, y1, y2, ..] = *content {
                let (x, y) = (u16::from_be_bytes([x1, x2]), u16::from_be_bytes([y1, y2]));
                density(marks, unit == 0, (x.into(), y.into()));
            }
        }
        0xe1 if content.starts_with(b"Exif\0\0") => marks.note_exif(content),
        0xe2 => {
            if let Some([part, _, data @ ..]) = content.strip_prefix(b"ICC_PROFILE\0") {
                profile.push((*part, data.to_vec()));
            }
        }
        _ => {}
    });
    profile.sort_by_key(|(part, _)| *part);
    let whole = profile.iter().zip(1..).all(|((part, _), place)| *part == place);
    let bytes: Vec<u8> = profile.into_iter().flat_map(|(_, data)| data).collect();
    if whole && (1..=MAX_PROFILE).contains(&bytes.len()) {
        marks.space = Some(ColourSpace::Icc(bytes));
    }
    walked
}

fn segments(from: &mut (impl BufRead + Seek), mut look: impl FnMut(u8, &[u8])) -> io::Result<()> {
    let mut content = Vec::new();
    from.seek_relative(2)?;
    let mut kept = 0;
    loop {
        while byte(from)? != 0xff {}
        let mut marker = byte(from)?;
        while marker == 0xff {
            marker = byte(from)?;
        }
        if matches!(marker, 0xd9 | 0xda) {
            return Ok(());
        }
        if matches!(marker, 0 | 1 | 0xd0..=0xd8) {
            continue;
        }
        let length = u16::from_be_bytes([byte(from)?, byte(from)?]).saturating_sub(2);
        kept += usize::from(length);
        if matches!(marker, 0xc0..=0xcf | 0xe0..=0xe2) && kept <= MAX_PROFILE + MAX_EXIF {
            content.resize(usize::from(length), 0);
            from.read_exact(&mut content)?;
            look(marker, &content);
        } else {
            from.seek_relative(i64::from(length))?;
        }
    }
}

/// Sets the pixel shape from a density, or, with `bare`, from a ratio, as ffmpeg writes it.
fn density(marks: &mut DisplayMarks, bare: bool, (x, y): (u32, u32)) {
    if bare { marks.note_pixel(x, y) } else { marks.note_pixel(y, x) }
}

/// Reads all chunks, because Exif data may come after the picture data.
fn png(from: &mut (impl BufRead + Seek), marks: &mut DisplayMarks) -> io::Result<()> {
    from.seek_relative(8)?;
    let (mut profiled, mut standard, mut codes, mut gamma) = (false, false, None, None);
    let walked = (|| {
        loop {
            let head = array::<8>(from)?;
            let length = u32::from_be_bytes([head[0], head[1], head[2], head[3]]);
            let name = [head[4], head[5], head[6], head[7]];
            let small = usize::try_from(length).ok().filter(|length| *length <= MAX_EXIF);
            match (&name, small) {
                (b"IEND", _) => return Ok(()),
                (b"eXIf" | b"pHYs" | b"gAMA" | b"cICP", Some(length)) => {
                    let mut content = vec![0; length];
                    from.read_exact(&mut content)?;
                    match (&name, content.as_slice()) {
                        (b"eXIf", exif) => marks.note_exif(exif),
                        (b"pHYs", [x1, x2, x3, x4, y1, y2, y3, y4, unit]) => {
                            let x = u32::from_be_bytes([*x1, *x2, *x3, *x4]);
                            let y = u32::from_be_bytes([*y1, *y2, *y3, *y4]);
                            density(marks, *unit == 0, (x, y));
                        }
                        (b"gAMA", [a, b, c, d]) => {
                            gamma = Some(u32::from_be_bytes([*a, *b, *c, *d]))
                        }
                        (b"cICP", [primaries, transfer, ..]) => {
                            codes = Some((*primaries, *transfer))
                        }
                        _ => {}
                    }
                    from.seek_relative(4)?;
                }
                _ => {
                    profiled |= name == *b"iCCP";
                    standard |= name == *b"sRGB";
                    from.seek_relative(i64::from(length) + 4)?;
                }
            }
        }
    })();
    marks.space = match (codes, gamma) {
        (Some((primaries, transfer)), _) => Some(ColourSpace::Codes(primaries, transfer)),
        _ if profiled => png_profile(from).map(ColourSpace::Icc),
        (None, Some(gamma)) if !standard => Some(ColourSpace::Gamma(gamma)),
        _ => None,
    };
    walked
}

/// Reads the compressed profile. The decoder decompresses it within its limits.
fn png_profile(from: &mut (impl BufRead + Seek)) -> Option<Vec<u8>> {
    from.seek(SeekFrom::Start(0)).ok()?;
    let mut decoder = PngDecoder::with_limits(from, decoder_limits(HEADER_MEMORY)).ok()?;
    decoder.icc_profile().ok().flatten().filter(|profile| profile.len() <= MAX_PROFILE)
}

fn webp(from: &mut (impl BufRead + Seek), marks: &mut DisplayMarks) -> io::Result<()> {
    from.seek_relative(12)?;
    loop {
        let head = array::<8>(from)?;
        let length = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
        // Chunks begin at even offsets.
        let padded = i64::from(length) + i64::from(length % 2);
        let limit = match &head[..4] {
            b"EXIF" => MAX_EXIF,
            b"ICCP" => MAX_PROFILE,
            _ => 0,
        };
        let Some(length) = usize::try_from(length).ok().filter(|length| *length <= limit) else {
            from.seek_relative(padded)?;
            continue;
        };
        let mut content = Vec::new();
        from.by_ref().take(length as u64).read_to_end(&mut content)?;
        from.seek_relative(padded - i64::try_from(content.len()).unwrap_or(padded))?;
        match &head[..4] {
            b"EXIF" => marks.note_exif(&content),
            _ if content.is_empty() => {}
            _ => marks.space = Some(ColourSpace::Icc(content)),
        }
    }
}

/// Reads the pixel shape from the header (GIF89a, section 18).
fn gif(from: &mut impl BufRead, marks: &mut DisplayMarks) -> io::Result<()> {
    let head = array::<13>(from)?;
    if head[12] > 0 {
        marks.note_pixel(u32::from(head[12]) + 15, 64);
    }
    Ok(())
}

fn array<const N: usize>(from: &mut impl BufRead) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn byte(from: &mut impl BufRead) -> io::Result<u8> {
    Ok(array::<1>(from)?[0])
}
