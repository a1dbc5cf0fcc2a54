//! Pictures: what their headers say.

use std::{
    fs::File,
    io::{BufReader, Read},
    path::Path,
};

use image::{
    ImageDecoder, Limits,
    codecs::{png::PngDecoder, webp::WebPDecoder},
};

use super::{Facts, jpeg};
use crate::{Flaw, dimensions};

/// Frames of an animation that are counted; a longer one is as good as endless.
const MOST_FRAMES: usize = 5_000;

/// Reads size, turn, transparency and movement; decodes no pixel.
pub fn read(at: &Path, base: Facts) -> Result<Facts, Flaw> {
    let (width, height) = size(at)?;
    let facts = Facts { width: Some(width), height: Some(height), ..base };
    facts.check_size()?;
    match facts.mime.as_str() {
        "image/jpeg" => of_jpeg(at, facts),
        "image/png" => of_png(at, facts),
        "image/gif" => of_gif(at, facts),
        _ => of_webp(at, facts),
    }
}

/// The size as it is shown.
fn size(at: &Path) -> Result<(u32, u32), Flaw> {
    let mut head = Vec::new();
    File::open(at)?.take(dimensions::HEADER as u64).read_to_end(&mut head)?;
    dimensions::dimensions(&head)
        .ok_or_else(|| Flaw::Unreadable("its size cannot be read".to_owned()))
}

fn of_jpeg(at: &Path, facts: Facts) -> Result<Facts, Flaw> {
    if !jpeg::is_whole(&mut BufReader::new(File::open(at)?))? {
        return Err(Flaw::Unreadable("it ends too early".to_owned()));
    }
    let mut head = Vec::new();
    File::open(at)?.take(dimensions::HEADER as u64).read_to_end(&mut head)?;
    Ok(Facts { rotation: dimensions::rotation(&head), ..facts })
}

fn of_png(at: &Path, facts: Facts) -> Result<Facts, Flaw> {
    let decoder =
        PngDecoder::with_limits(BufReader::new(File::open(at)?), limits()).map_err(broken)?;
    let animated = decoder.is_apng().map_err(broken)?;
    Ok(Facts { alpha: decoder.color_type().has_alpha(), animated, ..facts })
}

fn of_webp(at: &Path, facts: Facts) -> Result<Facts, Flaw> {
    let decoder = WebPDecoder::new(BufReader::new(File::open(at)?)).map_err(broken)?;
    Ok(Facts {
        alpha: decoder.color_type().has_alpha(),
        animated: decoder.has_animation(),
        ..facts
    })
}

/// Frames are walked over without being decoded.
fn of_gif(at: &Path, facts: Facts) -> Result<Facts, Flaw> {
    let mut options = gif::DecodeOptions::new();
    options.skip_frame_decoding(true);
    let broken = |error: gif::DecodingError| Flaw::Unreadable(words(&error.to_string()));
    let mut decoder = options.read_info(BufReader::new(File::open(at)?)).map_err(broken)?;
    let (mut frames, mut hundredths, mut alpha) = (0, 0_u64, false);
    while frames < MOST_FRAMES
        && let Some(frame) = decoder.next_frame_info().map_err(broken)?
    {
        frames += 1;
        hundredths += u64::from(frame.delay);
        alpha |= frame.transparent.is_some();
    }
    if frames == 0 {
        return Err(Flaw::Unreadable("there is no picture in it".to_owned()));
    }
    let animated = frames > 1;
    Ok(Facts { animated, alpha, duration_ms: animated.then_some(hundredths * 10), ..facts })
}

pub fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.max_alloc = Some(64 * 1024 * 1024);
    limits
}

pub fn broken(error: image::ImageError) -> Flaw {
    match error {
        image::ImageError::Limits(_) => Flaw::TooCostly,
        image::ImageError::IoError(error) => error.into(),
        other => Flaw::Unreadable(words(&other.to_string())),
    }
}

/// What a library says, as the end of a sentence.
fn words(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default().trim_end_matches('.');
    line.chars().filter(|c| !c.is_control()).take(120).collect()
}
