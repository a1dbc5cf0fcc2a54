//! The one road of a picture from its file to what is shown: decode, turn, convert to sRGB, scale.
//!
//! The decoder (this process, or ffmpeg for pictures larger than its budget) gives rows as they are stored and nothing
//! else; this module decides by the marks in the file how they are shown. Rows are converted and scaled one by one, and
//! the scaled picture is turned last, which gives the same result and takes the memory of the picture that is made, not
//! of the one that was stored.

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
    local::Local,
    tools::{self, Child},
};

use colour::ToSrgb;
use rows::{Decoded, Piped, Rows};
use scale::Scaler;

pub(crate) use canvas::{Canvas, Ground};
pub(crate) use marks::Marks;

/// The memory budget for decoding a picture in this process, in bytes. ffmpeg decodes larger ones.
const BUDGET: u64 = 48 * 1024 * 1024;
/// Most pixels of what is made: no network shows more, and as RGBA they fill the budget.
const MOST_MADE: u64 = BUDGET / 4;

/// One picture is decoded here at a time, so that many at once need no more than one.
static DECODING: Semaphore = Semaphore::const_new(1);
/// Pictures that are drawn from ffmpeg's rows at a time: each holds what is made of it.
static PIPED: Semaphore = Semaphore::const_new(2);

const TIME: Duration = Duration::from_secs(60);
/// The memory that ffmpeg may fill, in MiB: a picture of the most pixels there may be in 16 bits, in 8, and on its way
/// out.
const MEMORY: u64 = 1_792;

/// The allocation limit of a decoder in this process for one file.
pub(crate) fn decoder_limits() -> Limits {
    let mut limits = Limits::default();
    limits.max_alloc = Some(64 * 1024 * 1024);
    limits
}

/// Returns the flaw that a decoder's error indicates.
pub(crate) fn broken(error: image::ImageError) -> Flaw {
    match error {
        image::ImageError::Limits(_) => Flaw::TooCostly,
        image::ImageError::IoError(error) => error.into(),
        other => Flaw::Unreadable(words(&other.to_string())),
    }
}

/// Returns a library's message as the end of a sentence.
pub(crate) fn words(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default().trim_end_matches('.');
    line.chars().filter(|c| !c.is_control()).take(120).collect()
}

/// Notes in `facts` how the picture at `at`, stored with this size, is to be shown.
pub(crate) fn note(at: &Path, facts: Facts, stored: (u32, u32)) -> Result<Facts, Flaw> {
    if facts.animated {
        // It is never drawn anew, and so is shown as it is stored.
        return Ok(Facts { orientation: 1, ..facts });
    }
    let marks = Marks::read(&mut BufReader::new(File::open(at)?), &facts.mime);
    let (width, height) = marks.shown(stored);
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

/// The size that fits a square of `side`, never larger than it was.
pub(crate) fn fit((width, height): (u32, u32), side: u32) -> (u32, u32) {
    let longer = width.max(height).max(1);
    if longer <= side {
        return (width.max(1), height.max(1));
    }
    let scale = |part: u32| (u64::from(part) * u64::from(side) / u64::from(longer)) as u32;
    (scale(width).max(1), scale(height).max(1))
}

/// The longest side at which a picture of this shape has no more pixels than are made.
pub(crate) fn most_side((width, height): (u32, u32)) -> u32 {
    let pixels = u64::from(width) * u64::from(height);
    let longer = width.max(height);
    if pixels <= MOST_MADE {
        return longer;
    }
    (f64::from(longer) * (MOST_MADE as f64 / pixels as f64).sqrt()) as u32
}

/// The picture as it is shown, in sRGB, no side longer than `side` and with no more pixels than [`most_side`] allows.
pub(crate) async fn draw(
    tools: &Tools,
    local: &Local,
    facts: &Facts,
    (side, ground): (u32, Ground),
) -> Result<Canvas, Flaw> {
    let mime = facts.mime.as_str();
    let (at, kind) = (local.path().to_owned(), mime.to_owned());
    let (marks, stored) = blocking(move || look(&at, &kind)).await?;
    let shown = marks.shown(stored);
    let target = fit(shown, side.min(most_side(shown)));
    let bytes = tokio::fs::metadata(local.path()).await?.len();
    if is_decoded_here(mime, &marks, stored, bytes) {
        let _alone = DECODING.acquire().await;
        let (at, mime) = (local.path().to_owned(), mime.to_owned());
        return blocking(move || {
            let format = ImageFormat::from_mime_type(&mime);
            let format = format.ok_or_else(|| Flaw::Unreadable("it is no picture".to_owned()))?;
            let rows = Decoded::read(BufReader::new(File::open(&at)?), format)?;
            paint(rows, &marks, target, ground)
        })
        .await;
    }
    // Its first picture alone cannot be had of ffmpeg before version 8.
    if facts.animated && mime == "image/webp" {
        return Err(Flaw::NoTools);
    }
    let _few = PIPED.acquire().await;
    let ffmpeg = tools.ffmpeg.as_deref().ok_or(Flaw::NoTools)?;
    let run = Child {
        program: ffmpeg,
        args: arguments(facts, local),
        input: local.path(),
        made: None,
        time: TIME,
        cpu: 60,
        memory: MEMORY,
        output: stored.0 as usize * stored.1 as usize * 4,
        file: 0,
    };
    let alpha = facts.alpha;
    run.read(move |from| paint(Piped { size: stored, alpha, from }, &marks, target, ground)).await
}

/// A JPEG in memory, made smaller.
pub(crate) fn thumbnail(jpeg: &[u8], side: u32) -> Result<Canvas, Flaw> {
    let rows = Decoded::read(Cursor::new(jpeg), ImageFormat::Jpeg)?;
    let target = fit(rows.size(), side);
    paint(rows, &Marks::default(), target, Ground::Clear)
}

fn look(at: &Path, mime: &str) -> Result<(Marks, (u32, u32)), Flaw> {
    let stored = dimensions::stored(at)?;
    Ok((Marks::read(&mut BufReader::new(File::open(at)?), mime), stored))
}

/// Does decoding it here fit the budget? Counted high: the file, the pixels, and what the decoder of its type keeps.
fn is_decoded_here(mime: &str, marks: &Marks, (width, height): (u32, u32), bytes: u64) -> bool {
    let each = match mime {
        // All coefficients of three or four colours, 16 bits each, and the pixels.
        "image/jpeg" if marks.is_progressive || marks.cmyk => 12,
        "image/jpeg" => 3,
        // A PNG has up to 16 bits a channel; of a WebP the decoder keeps planes besides the pixels.
        _ => 8,
    };
    let pixels = u64::from(width) * u64::from(height);
    pixels.saturating_mul(each).saturating_add(bytes) <= BUDGET
}

/// The pixels as they are stored: neither turned nor converted nor scaled.
fn arguments(facts: &Facts, local: &Local) -> Vec<String> {
    let start =
        ["-v", "error", "-nostdin", "-noautorotate", "-threads", "1", "-max_pixels", "100000000"];
    let mut args: Vec<String> = start.map(str::to_owned).to_vec();
    args.extend(tools::input(&facts.mime, local.path()));
    let pixels = if facts.alpha { "rgba" } else { "rgb24" };
    let filter = format!("scale=flags=bilinear+accurate_rnd+full_chroma_int,format={pixels}");
    args.extend(["-frames:v", "1", "-vf", &filter].map(str::to_owned));
    args.extend(["-f", "rawvideo", "pipe:1"].map(str::to_owned));
    args
}

/// Converts, scales and turns rows as they come.
fn paint(
    mut rows: impl Rows,
    marks: &Marks,
    shown: (u32, u32),
    ground: Ground,
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
        scaler.push(&row, |row| canvas.add(row));
    }
    // Frees the decoded rows before the canvas is copied.
    drop(rows);
    if !canvas.is_whole() {
        return Err(Flaw::Unreadable("it ends too early".to_owned()));
    }
    Ok(canvas.turned(marks.orientation))
}

#[cfg(test)]
mod tests {
    use super::{fit, most_side};

    #[test]
    fn a_picture_is_never_made_larger_and_never_vanishes() {
        assert_eq!(fit((640, 480), 64), (64, 48));
        assert_eq!(fit((30, 20), 64), (30, 20));
        assert_eq!(fit((20_000, 3), 64), (64, 1));
        assert_eq!(fit((0, 0), 64), (1, 1));
    }

    #[test]
    fn what_is_made_has_no_more_pixels_than_any_network_shows() {
        assert_eq!(most_side((4_032, 3_024)), 4_032);
        assert_eq!(fit((8_000, 6_000), most_side((8_000, 6_000))), (4_096, 3_072));
    }
}
