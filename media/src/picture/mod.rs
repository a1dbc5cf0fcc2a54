//! Draws a picture as it is displayed: decode, convert to sRGB, scale, and apply the orientation.
//!
//! The decoder (this process, or ffmpeg for pictures that exceed the memory budget) returns only rows as stored. This
//! module applies the orientation, colour space and pixel shape. Rows are converted and scaled one by one, and the
//! scaled picture is rotated as it is written. The result is the same, but the memory depends on the size of the result and not of
//! the stored picture.

mod canvas;
mod colour;
mod marks;
mod memory;
mod rows;
mod scale;

use std::{
    fs::File,
    io::{BufReader, Cursor},
    path::Path,
    time::Duration,
};

use bytes::Bytes;
use image::{ImageFormat, Limits};

use crate::{
    Facts, Flaw, Tools,
    blocking::{blocking, on_pixels},
    dimensions,
    local::LocalFile,
    tools::{self, ToolRun},
};

use colour::ToSrgb;
use rows::{Decoded, Piped, RowSource};
use scale::Scaler;

pub(crate) use canvas::{Background, Canvas};
pub(crate) use marks::DisplayMarks;
pub(crate) use memory::{Reserved, reserve};

/// The largest number of pixels of the result. No platform shows more, and as RGBA they fill the memory for pixels.
const MAX_OUTPUT_PIXELS: u64 = memory::BUDGET / 4;
/// The memory for what a file says before its pixels, in bytes: a colour profile, mostly.
pub(crate) const HEADER_MEMORY: u64 = 8 * 1024 * 1024;
/// The most memory of a decoder in this process, in bytes, where ffmpeg can take its place: what a decoder has freed goes
/// back to the system later than the pixels do.
const MAX_OWN_DECODER: u64 = 16 * 1024 * 1024;
/// The memory of a row and the tools' pipes, in bytes.
const OVERHEAD: u64 = 1024 * 1024;

/// The memory of the largest poster and its decoder, in bytes.
const THUMBNAIL_MEMORY: u64 = 12 * 1024 * 1024;
const TIMEOUT: Duration = Duration::from_secs(60);
/// The memory limit of ffmpeg, in MiB: the largest allowed picture with 16 bits, with 8 bits, and as output.
const MAX_MEMORY_MIB: u64 = 1_792;

/// The allocation limit of a decoder in this process for one file, in bytes.
pub(crate) fn decoder_limits(bytes: u64) -> Limits {
    let mut limits = Limits::default();
    limits.max_alloc = Some(bytes);
    limits
}

/// Returns the flaw that a decoder's error indicates.
pub(crate) fn decoder_flaw(error: image::ImageError) -> Flaw {
    match error {
        image::ImageError::Limits(_) => Flaw::TooCostly,
        image::ImageError::IoError(error) => error.into(),
        other => Flaw::Unreadable(to_clause(&other.to_string())),
    }
}

/// Returns the message of a library in a form that can end a sentence.
pub(crate) fn to_clause(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default().trim_end_matches('.');
    line.chars().filter(|c| !c.is_control()).take(120).collect()
}

/// Adds to `facts` how the picture at `at`, which is stored with this size, is displayed.
pub(crate) fn add_display_facts(
    at: &Path,
    facts: Facts,
    stored: (u32, u32),
) -> Result<Facts, Flaw> {
    if facts.animated {
        // Such a picture is never redrawn, so it is displayed as stored.
        return Ok(Facts { orientation: 1, ..facts });
    }
    let marks = DisplayMarks::read(&mut BufReader::new(File::open(at)?), &facts.mime);
    let (width, height) = marks.displayed_size(stored);
    let profiled = marks.space.as_ref().is_some_and(|space| ToSrgb::from(space).is_some());
    let colours = [("cmyk", marks.cmyk), ("profile", profiled)];
    let colours = colours.into_iter().find(|(_, is)| *is).map(|(name, _)| name.to_owned());
    let (wide, high) = marks.pixel;
    Ok(Facts {
        width: Some(width),
        height: Some(height),
        orientation: marks.orientation,
        pixel_aspect: (wide != high).then(|| f64::from(wide) / f64::from(high)),
        colours,
        ..facts
    })
}

/// Returns the size scaled down to fit a square of `side`. It is never enlarged.
pub(crate) fn fit((width, height): (u32, u32), side: u32) -> (u32, u32) {
    let longer = width.max(height).max(1);
    if longer <= side {
        return (width.max(1), height.max(1));
    }
    let scale = |part: u32| (u64::from(part) * u64::from(side) / u64::from(longer)) as u32;
    (scale(width).max(1), scale(height).max(1))
}

/// Returns the longest side at which a picture of this shape does not exceed the largest number of pixels.
pub(crate) fn max_side((width, height): (u32, u32)) -> u32 {
    let pixels = u64::from(width) * u64::from(height);
    let longer = width.max(height);
    if pixels <= MAX_OUTPUT_PIXELS {
        return longer;
    }
    (f64::from(longer) * (MAX_OUTPUT_PIXELS as f64 / pixels as f64).sqrt()) as u32
}

/// What a picture is drawn for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Aim {
    /// The longest side, in pixels.
    pub side: u32,
    /// The background.
    pub ground: Background,
    /// The most bytes of the file that is made of it.
    pub file: u64,
}

/// Draws the picture as displayed, in sRGB, with no side longer than that of `aim` and no more pixels than [`max_side`]
/// allows. The memory is to be held as long as the canvas and the file that is made of it.
pub(crate) async fn draw(
    tools: &Tools,
    local: &LocalFile,
    facts: &Facts,
    Aim { side, ground, file }: Aim,
) -> Result<(Canvas, Reserved), Flaw> {
    let mime = facts.mime.as_str();
    let (at, kind) = (local.path().to_owned(), mime.to_owned());
    let (marks, stored) = blocking(move || read_marks(&at, &kind)).await?;
    let shown = marks.displayed_size(stored);
    let target = fit(shown, side.min(max_side(shown)));
    let bytes = tokio::fs::metadata(local.path()).await?.len();
    let canvas = Canvas::memory(target, ground);
    let canvas = canvas + file.min(canvas) + OVERHEAD;
    let decoder = decoder_memory(mime, &marks, stored).saturating_add(bytes);
    let most = if tools.ffmpeg.is_some() { MAX_OWN_DECODER } else { memory::BUDGET };
    let fits = decoder <= most;
    if fits {
        let memory = reserve(decoder.saturating_add(canvas)).await;
        let (at, mime) = (local.path().to_owned(), mime.to_owned());
        let canvas = on_pixels(move || {
            let format = ImageFormat::from_mime_type(&mime);
            let format = format.ok_or_else(|| Flaw::Unreadable("it is no picture".to_owned()))?;
            let rows = Decoded::read(BufReader::new(File::open(&at)?), format)?;
            paint(rows, &marks, target, ground)
        });
        return Ok((canvas.await?, memory));
    }
    // ffmpeg before version 8 cannot decode only its first picture.
    if facts.animated && mime == "image/webp" {
        return Err(Flaw::NoTools);
    }
    let ffmpeg = tools.ffmpeg.as_deref().ok_or(Flaw::NoTools)?;
    let memory = reserve(canvas).await;
    let run = ToolRun {
        program: ffmpeg,
        args: ffmpeg_args(facts, local),
        input: local.path(),
        made: None,
        time: TIMEOUT,
        cpu: 60,
        memory: MAX_MEMORY_MIB,
        output: stored.0 as usize * stored.1 as usize * 4,
        file: 0,
    };
    let alpha = facts.alpha;
    let canvas =
        run.read(move |from| paint(Piped { size: stored, alpha, from }, &marks, target, ground));
    Ok((canvas.await?, memory))
}

/// Scales down a small JPEG in memory.
pub(crate) async fn thumbnail(jpeg: Bytes, side: u32) -> Result<(Canvas, Reserved), Flaw> {
    let memory = reserve(THUMBNAIL_MEMORY).await;
    let canvas = on_pixels(move || {
        let rows = Decoded::read(Cursor::new(&jpeg), ImageFormat::Jpeg)?;
        let target = fit(rows.size(), side);
        paint(rows, &DisplayMarks::default(), target, Background::Clear)
    });
    Ok((canvas.await?, memory))
}

fn read_marks(at: &Path, mime: &str) -> Result<(DisplayMarks, (u32, u32)), Flaw> {
    let stored = dimensions::stored_size(at)?;
    Ok((DisplayMarks::read(&mut BufReader::new(File::open(at)?), mime), stored))
}

/// Returns the memory that a decoder in this process takes, in bytes. The estimate is high: it includes the pixels and
/// what the decoder keeps beside them.
fn decoder_memory(mime: &str, marks: &DisplayMarks, (width, height): (u32, u32)) -> u64 {
    let each = match mime {
        // All coefficients of three or four colours, with 16 bits each, and the pixels.
        "image/jpeg" if marks.is_progressive || marks.cmyk => 12,
        "image/jpeg" => 3,
        // A PNG has up to 16 bits per channel. The decoder of WebP keeps planes besides the pixels.
        _ => 8,
    };
    (u64::from(width) * u64::from(height)).saturating_mul(each)
}

/// Returns the arguments with which ffmpeg outputs the pixels as stored, without rotation, conversion or scaling.
fn ffmpeg_args(facts: &Facts, local: &LocalFile) -> Vec<String> {
    let start =
        ["-v", "error", "-nostdin", "-noautorotate", "-threads", "1", "-max_pixels", "100000000"];
    let mut args: Vec<String> = start.map(str::to_owned).to_vec();
    args.extend(tools::input_args(&facts.mime, local.path()));
    let pixels = if facts.alpha { "rgba" } else { "rgb24" };
    let filter = format!("scale=flags=bilinear+accurate_rnd+full_chroma_int,format={pixels}");
    args.extend(["-frames:v", "1", "-vf", &filter].map(str::to_owned));
    args.extend(["-f", "rawvideo", "pipe:1"].map(str::to_owned));
    args
}

/// Converts and scales rows as they arrive, and applies the orientation.
fn paint(
    mut rows: impl RowSource,
    marks: &DisplayMarks,
    shown: (u32, u32),
    ground: Background,
) -> Result<Canvas, Flaw> {
    let (width, height) = rows.size();
    let lying = if marks.orientation >= 5 { (shown.1, shown.0) } else { shown };
    let mut colours = marks.space.as_ref().and_then(ToSrgb::from);
    let mut scaler = Scaler::new((width, height), lying);
    let mut canvas = Canvas::new(lying, marks.orientation, ground)?;
    let mut row = vec![0; width as usize * 4];
    for _ in 0..height {
        rows.next(&mut row)?;
        if let Some(colours) = &mut colours {
            colours.convert(&mut row);
        }
        scaler.push(&row, |row| canvas.add_row(row));
    }
    if !canvas.is_complete() {
        return Err(Flaw::Unreadable("it ends too early".to_owned()));
    }
    Ok(canvas)
}

#[cfg(test)]
mod tests {
    use super::{fit, max_side};

    #[test]
    fn a_picture_is_never_made_larger_and_never_vanishes() {
        assert_eq!(fit((640, 480), 64), (64, 48));
        assert_eq!(fit((30, 20), 64), (30, 20));
        assert_eq!(fit((20_000, 3), 64), (64, 1));
        assert_eq!(fit((0, 0), 64), (1, 1));
    }

    #[test]
    fn what_is_made_has_no_more_pixels_than_any_network_shows() {
        assert_eq!(max_side((4_032, 3_024)), 4_032);
        assert_eq!(fit((8_000, 6_000), max_side((8_000, 6_000))), (4_096, 3_072));
    }
}
