//! Reads the facts of pictures from their headers.

use std::{fs::File, io::BufReader, path::Path};

use image::{
    ImageDecoder,
    codecs::{png::PngDecoder, webp::WebPDecoder},
};

use super::{Facts, jpeg};
use crate::{
    Flaw, dimensions,
    picture::{self, HEADER_MEMORY, decoder_flaw, decoder_limits, to_clause},
};

/// The largest number of frames of an animation that are counted.
const MAX_FRAMES: usize = 5_000;

/// Reads the size, orientation, colours, transparency and animation. No pixels are decoded.
pub fn read(at: &Path, base: Facts) -> Result<Facts, Flaw> {
    let stored = dimensions::stored_size(at)?;
    let facts = Facts { width: Some(stored.0), height: Some(stored.1), ..base };
    facts.check_size()?;
    let facts = match facts.mime.as_str() {
        "image/jpeg" => read_jpeg(at, facts),
        "image/png" => read_png(at, facts),
        "image/gif" => read_gif(at, facts),
        _ => read_webp(at, facts),
    }?;
    let facts = picture::add_display_facts(at, facts, stored)?;
    facts.check_size()?;
    Ok(facts)
}

fn read_jpeg(at: &Path, facts: Facts) -> Result<Facts, Flaw> {
    if jpeg::is_whole(&mut BufReader::new(File::open(at)?))? {
        return Ok(facts);
    }
    Err(Flaw::Unreadable("it ends too early".to_owned()))
}

fn read_png(at: &Path, facts: Facts) -> Result<Facts, Flaw> {
    let decoder =
        PngDecoder::with_limits(BufReader::new(File::open(at)?), decoder_limits(HEADER_MEMORY))
            .map_err(decoder_flaw)?;
    let animated = decoder.is_apng().map_err(decoder_flaw)?;
    Ok(Facts { alpha: decoder.color_type().has_alpha(), animated, ..facts })
}

fn read_webp(at: &Path, facts: Facts) -> Result<Facts, Flaw> {
    let decoder = WebPDecoder::new(BufReader::new(File::open(at)?)).map_err(decoder_flaw)?;
    Ok(Facts {
        alpha: decoder.color_type().has_alpha(),
        animated: decoder.has_animation(),
        ..facts
    })
}

/// Counts the frames without decoding them.
fn read_gif(at: &Path, facts: Facts) -> Result<Facts, Flaw> {
    let mut options = gif::DecodeOptions::new();
    options.skip_frame_decoding(true);
    let broken = |error: gif::DecodingError| Flaw::Unreadable(to_clause(&error.to_string()));
    let mut decoder = options.read_info(BufReader::new(File::open(at)?)).map_err(broken)?;
    let (mut frames, mut hundredths, mut alpha) = (0, 0_u64, false);
    while frames < MAX_FRAMES
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
