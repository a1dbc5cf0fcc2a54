//! Draws a picture as it is displayed: decode, convert to sRGB, scale, and apply the orientation.
//!
//! The decoder (this process, or ffmpeg for pictures that exceed the memory budget) returns only rows as stored. This
//! module applies the orientation, colour space and pixel shape. Rows are converted and scaled one by one, and the
//! scaled picture is rotated last. The result is the same, but the memory depends on the size of the result and not of
//! the stored picture.

mod canvas;
mod colour;
mod marks;
mod rows;
mod scale;

use std::{
    fs::File,
    io::{BufReader, Cursor},
    path::Path,
    time::Duration,
};

use image::{ImageFormat, Limits};
use tokio::sync::Semaphore;

use crate::{
    Facts, Flaw, Tools,
    blocking::blocking,
    dimensions,
    local::LocalFile,
    tools::{self, ToolRun},
};

use colour::ToSrgb;
use rows::{Decoded, Piped, RowSource};
use scale::Scaler;

pub(crate) use canvas::{Background, Canvas};
pub(crate) use marks::DisplayMarks;

/// The memory budget for decoding a picture in this process, in bytes. ffmpeg decodes larger pictures.
const DECODE_BUDGET: u64 = 48 * 1024 * 1024;
/// The largest number of pixels of the result. No platform shows more, and as RGBA they fill the budget.
const MAX_OUTPUT_PIXELS: u64 = DECODE_BUDGET / 4;

/// Allows one picture at a time to be decoded in this process, so that the memory budget is not exceeded.
static DECODE_PERMITS: Semaphore = Semaphore::const_new(1);
/// Limits the pictures that are drawn from ffmpeg's output at a time, because each result is held in memory.
static PIPE_PERMITS: Semaphore = Semaphore::const_new(2);

const TIMEOUT: Duration = Duration::from_secs(60);
/// The memory limit of ffmpeg, in MiB: the largest allowed picture with 16 bits, with 8 bits, and as output.
const MAX_MEMORY_MIB: u64 = 1_792;

/// The allocation limit of a decoder in this process for one file.
pub(crate) fn decoder_limits() -> Limits {
    let mut limits = Limits::default();
    limits.max_alloc = Some(64 * 1024 * 1024);
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

/// Draws the picture as displayed, in sRGB, with no side longer than `side` and no more pixels than [`max_side`]
/// allows.
pub(crate) async fn draw(
    tools: &Tools,
    local: &LocalFile,
    facts: &Facts,
    (side, ground): (u32, Background),
) -> Result<Canvas, Flaw> {
    let mime = facts.mime.as_str();
    let (at, kind) = (local.path().to_owned(), mime.to_owned());
    let (marks, stored) = blocking(move || read_marks(&at, &kind)).await?;
    let shown = marks.displayed_size(stored);
    let target = fit(shown, side.min(max_side(shown)));
    let bytes = tokio::fs::metadata(local.path()).await?.len();
    if fits_budget(mime, &marks, stored, bytes) {
        let _alone = DECODE_PERMITS.acquire().await;
        let (at, mime) = (local.path().to_owned(), mime.to_owned());
        return blocking(move || {
            let format = ImageFormat::from_mime_type(&mime);
            let format = format.ok_or_else(|| Flaw::Unreadable("it is no picture".to_owned()))?;
            let rows = Decoded::read(BufReader::new(File::open(&at)?), format)?;
            paint(rows, &marks, target, ground)
        })
        .await;
    }
    // ffmpeg before version 8 cannot decode only its first picture.
    if facts.animated && mime == "image/webp" {
        return Err(Flaw::NoTools);
    }
    let _few = PIPE_PERMITS.acquire().await;
    let ffmpeg = tools.ffmpeg.as_deref().ok_or(Flaw::NoTools)?;
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
    run.read(move |from| paint(Piped { size: stored, alpha, from }, &marks, target, ground)).await
}

/// Scales down a JPEG in memory.
pub(crate) fn thumbnail(jpeg: &[u8], side: u32) -> Result<Canvas, Flaw> {
    let rows = Decoded::read(Cursor::new(jpeg), ImageFormat::Jpeg)?;
    let target = fit(rows.size(), side);
    paint(rows, &DisplayMarks::default(), target, Background::Clear)
}

fn read_marks(at: &Path, mime: &str) -> Result<(DisplayMarks, (u32, u32)), Flaw> {
    let stored = dimensions::stored_size(at)?;
    Ok((DisplayMarks::read(&mut BufReader::new(File::open(at)?), mime), stored))
}

/// Returns true if decoding in this process fits the memory budget. The estimate is high and includes the file, the
/// pixels and the memory of the decoder.
fn fits_budget(mime: &str, marks: &DisplayMarks, (width, height): (u32, u32), bytes: u64) -> bool {
    let each = match mime {
        // All coefficients of three or four colours, with 16 bits each, and the pixels.
        "image/jpeg" if marks.is_progressive || marks.cmyk => 12,
        "image/jpeg" => 3,
        // A PNG has up to 16 bits per channel. The decoder of WebP keeps planes besides the pixels.
        _ => 8,
    };
    let pixels = u64::from(width) * u64::from(height);
    pixels.saturating_mul(each).saturating_add(bytes) <= DECODE_BUDGET
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
    let mut canvas = Canvas::new(lying, ground);
    let mut row = vec![0; width as usize * 4];
    for _ in 0..height {
        rows.next(&mut row)?;
        if let Some(colours) = &mut colours {
            colours.convert(&mut row);
        }
        scaler.push(&row, |row| canvas.add_row(row));
    }
    // Frees the decoded rows before the canvas is copied.
    drop(rows);
    if !canvas.is_complete() {
        return Err(Flaw::Unreadable("it ends too early".to_owned()));
    }
    Ok(canvas.oriented(marks.orientation))
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
