//! The display marks of a stored picture: orientation, colour space and pixel shape.

use std::io::{self, BufRead, Read, Seek, SeekFrom};

use image::{ImageDecoder, codecs::png::PngDecoder};

use super::decoder_limits;
use crate::tiff::Tiff;

/// The largest colour profile that is read, in bytes; a larger one counts as none.
const MOST_PROFILE: usize = 4 * 1024 * 1024;
/// The largest Exif data that are read.
const MOST_EXIF: usize = 1024 * 1024;
/// The deviation from square pixels that still counts as square, in parts of a thousand.
const SLACK: u64 = 20;
/// A pixel that claims to be longer than this many times its width is taken for a square one.
const MOST_STRETCH: u32 = 8;

/// The marks of a file. Unreadable ones take the defaults: upright, sRGB, square.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Marks {
    /// Exif's orientation, 1 (as stored) to 8.
    pub orientation: u8,
    /// Width of a pixel to its height.
    pub pixel: (u32, u32),
    /// The colour space, if it is not sRGB.
    pub space: Option<Space>,
    /// A JPEG of four inks.
    pub cmyk: bool,
    /// A JPEG whose decoder keeps coefficients of the whole picture.
    pub is_progressive: bool,
}

/// A description of colours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Space {
    /// An ICC profile.
    Icc(Vec<u8>),
    /// Code points of ITU-T H.273: primaries and transfer.
    Codes(u8, u8),
    /// PNG's gamma, times 100,000.
    Gamma(u32),
}

impl Default for Marks {
    fn default() -> Self {
        Self { orientation: 1, pixel: (1, 1), space: None, cmyk: false, is_progressive: false }
    }
}

impl Marks {
    /// Reads the marks of a picture of this type.
    pub fn read(from: &mut (impl BufRead + Seek), mime: &str) -> Self {
        let mut marks = Self::default();
        // A file that ends too early keeps what was found before.
        let _ = match mime {
            "image/jpeg" => jpeg(from, &mut marks),
            "image/png" => png(from, &mut marks),
            "image/webp" => webp(from, &mut marks),
            "image/gif" => gif(from, &mut marks),
            _ => Ok(()),
        };
        marks
    }

    /// The size at which a stored picture is shown.
    pub fn shown(&self, stored: (u32, u32)) -> (u32, u32) {
        let (width, height) = self.stretched(stored);
        if self.orientation >= 5 { (height, width) } else { (width, height) }
    }

    /// The size with square pixels, still lying as it is stored. The shorter side of a pixel is made longer, so that
    /// nothing is lost.
    fn stretched(&self, (width, height): (u32, u32)) -> (u32, u32) {
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

    /// Notes the shape of a pixel, if it makes sense.
    fn note_pixel(&mut self, wide: u32, high: u32) {
        let (long, short) = (u64::from(wide.max(high)), u64::from(wide.min(high)));
        let is_sane = short > 0 && long <= short * u64::from(MOST_STRETCH);
        if is_sane && (long - short) * 1_000 > short * SLACK {
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

/// Walks over the segments before the picture's data (ITU-T T.81, B.1.1.4).
fn jpeg(from: &mut (impl BufRead + Seek), marks: &mut Marks) -> io::Result<()> {
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
    if whole && (1..=MOST_PROFILE).contains(&bytes.len()) {
        marks.space = Some(Space::Icc(bytes));
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
        if matches!(marker, 0xc0..=0xcf | 0xe0..=0xe2) && kept <= MOST_PROFILE + MOST_EXIF {
            content.resize(usize::from(length), 0);
            from.read_exact(&mut content)?;
            look(marker, &content);
        } else {
            from.seek_relative(i64::from(length))?;
        }
    }
}

/// Pixels a length, or with `bare` numbers the shape of a pixel itself, as ffmpeg writes it.
fn density(marks: &mut Marks, bare: bool, (x, y): (u32, u32)) {
    if bare { marks.note_pixel(x, y) } else { marks.note_pixel(y, x) }
}

/// Walks over all chunks: Exif data may stand behind the picture's.
fn png(from: &mut (impl BufRead + Seek), marks: &mut Marks) -> io::Result<()> {
    from.seek_relative(8)?;
    let (mut profiled, mut standard, mut codes, mut gamma) = (false, false, None, None);
    let walked = (|| {
        loop {
            let head = array::<8>(from)?;
            let length = u32::from_be_bytes([head[0], head[1], head[2], head[3]]);
            let name = [head[4], head[5], head[6], head[7]];
            let small = usize::try_from(length).ok().filter(|length| *length <= MOST_EXIF);
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
        (Some((primaries, transfer)), _) => Some(Space::Codes(primaries, transfer)),
        _ if profiled => png_profile(from).map(Space::Icc),
        (None, Some(gamma)) if !standard => Some(Space::Gamma(gamma)),
        _ => None,
    };
    walked
}

/// The profile is compressed; the decoder takes it apart within its limits.
fn png_profile(from: &mut (impl BufRead + Seek)) -> Option<Vec<u8>> {
    from.seek(SeekFrom::Start(0)).ok()?;
    let mut decoder = PngDecoder::with_limits(from, decoder_limits()).ok()?;
    decoder.icc_profile().ok().flatten().filter(|profile| profile.len() <= MOST_PROFILE)
}

fn webp(from: &mut (impl BufRead + Seek), marks: &mut Marks) -> io::Result<()> {
    from.seek_relative(12)?;
    loop {
        let head = array::<8>(from)?;
        let length = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
        // Chunks begin at even places.
        let padded = i64::from(length) + i64::from(length % 2);
        let limit = match &head[..4] {
            b"EXIF" => MOST_EXIF,
            b"ICCP" => MOST_PROFILE,
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
            _ => marks.space = Some(Space::Icc(content)),
        }
    }
}

/// The shape of a pixel stands in the head (GIF89a, 18).
fn gif(from: &mut impl BufRead, marks: &mut Marks) -> io::Result<()> {
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
