//! Pixels, within a budget.

use std::{
    fs::File,
    io::{BufReader, Cursor},
    path::Path,
    time::Duration,
};

use image::{
    DynamicImage, ImageDecoder, ImageFormat, ImageReader, RgbaImage, metadata::Orientation,
};
use tokio::sync::Semaphore;

use super::{Facts, blocking, header};
use crate::{
    Flaw, Tools,
    local::Local,
    tools::{self, Child},
};

/// The longer side of what a placeholder is made from.
pub const PLACEHOLDER_SIDE: u32 = 64;

/// What decoding a picture here may fill, in bytes. A larger one is decoded by ffmpeg.
const BUDGET: u64 = 48 * 1024 * 1024;

/// One picture at a time, so that many at once need no more than one.
static DECODING: Semaphore = Semaphore::const_new(1);

const TIME: Duration = Duration::from_secs(60);
/// What ffmpeg may fill, in MiB: a picture of the most pixels there may be, and as much again for its scaling.
const MEMORY: u64 = 1_024;

/// A picture made smaller.
pub type Scaled = RgbaImage;

/// The picture as it is shown, no side longer than `side`.
pub async fn scaled(
    tools: &Tools,
    local: &Local,
    facts: &Facts,
    side: u32,
) -> Result<Scaled, Flaw> {
    let size = facts.size().ok_or_else(|| Flaw::Unreadable("it has no size".to_owned()))?;
    let target = fit(size, side);
    if in_this_process(facts) {
        let _alone = DECODING.acquire().await;
        let (at, facts) = (local.path().to_owned(), facts.clone());
        return blocking(move || Ok(smaller(&decode(&at, &facts)?, target))).await;
    }
    by_ffmpeg(tools, local, facts, target).await
}

/// Does decoding it here fit the budget? Counted high: the file, the pixels, and what the decoder of its type keeps.
pub fn in_this_process(facts: &Facts) -> bool {
    let pixels = facts.size().map_or(0, |(width, height)| u64::from(width) * u64::from(height));
    let each = match facts.mime.as_str() {
        // Progressive ones keep all their coefficients.
        "image/jpeg" => 9,
        // Up to 16 bits a channel, and then 8 of each.
        "image/png" => 12,
        _ => 8,
    };
    pixels.saturating_mul(each).saturating_add(facts.bytes) <= BUDGET
}

/// The size that fits a square of `side`, never larger than it was.
pub fn fit((width, height): (u32, u32), side: u32) -> (u32, u32) {
    let longer = width.max(height).max(1);
    if longer <= side {
        return (width.max(1), height.max(1));
    }
    let scale = |part: u32| (u64::from(part) * u64::from(side) / u64::from(longer)) as u32;
    (scale(width).max(1), scale(height).max(1))
}

fn decode(at: &Path, facts: &Facts) -> Result<DynamicImage, Flaw> {
    let format = ImageFormat::from_mime_type(&facts.mime);
    let format = format.ok_or_else(|| Flaw::Unreadable("it is no picture".to_owned()))?;
    let mut reader = ImageReader::with_format(BufReader::new(File::open(at)?), format);
    reader.limits(header::limits());
    let mut decoder = reader.into_decoder().map_err(header::broken)?;
    let turn = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut picture = DynamicImage::from_decoder(decoder).map_err(header::broken)?;
    picture.apply_orientation(turn);
    Ok(picture)
}

fn smaller(picture: &DynamicImage, (width, height): (u32, u32)) -> Scaled {
    if (picture.width(), picture.height()) == (width, height) {
        return picture.to_rgba8();
    }
    picture.thumbnail_exact(width, height).into_rgba8()
}

/// A poster, made smaller.
pub fn of_poster(jpeg: &[u8]) -> Result<Scaled, Flaw> {
    let mut reader = ImageReader::with_format(Cursor::new(jpeg), ImageFormat::Jpeg);
    reader.limits(header::limits());
    let picture = reader.decode().map_err(header::broken)?;
    let size = fit((picture.width(), picture.height()), PLACEHOLDER_SIDE);
    Ok(smaller(&picture, size))
}

/// What turns a stored picture of ffmpeg's the way it is shown.
pub fn turned(rotation: u16) -> &'static str {
    match rotation {
        90 => "transpose=clock,",
        180 => "hflip,vflip,",
        270 => "transpose=cclock,",
        _ => "",
    }
}

async fn by_ffmpeg(
    tools: &Tools,
    local: &Local,
    facts: &Facts,
    (width, height): (u32, u32),
) -> Result<Scaled, Flaw> {
    let ffmpeg = tools.ffmpeg.as_deref().ok_or(Flaw::NoTools)?;
    let start =
        ["-v", "error", "-nostdin", "-noautorotate", "-threads", "1", "-max_pixels", "100000000"];
    let mut args: Vec<String> = start.map(str::to_owned).to_vec();
    args.extend(tools::input(&facts.mime, local.path()));
    let filter = format!("{}scale={width}:{height}:flags=area", turned(facts.rotation));
    args.extend(["-frames:v", "1", "-vf", &filter, "-pix_fmt", "rgba"].map(str::to_owned));
    args.extend(["-f", "rawvideo", "pipe:1"].map(str::to_owned));
    let bytes = width as usize * height as usize * 4;
    let run = Child {
        program: ffmpeg,
        args,
        time: TIME,
        cpu: 60,
        memory: MEMORY,
        output: bytes,
        file: 0,
    };
    let printed = run.run().await.map_err(Flaw::of_run)?;
    RgbaImage::from_raw(width, height, printed)
        .ok_or_else(|| Flaw::Unreadable("it cannot be decoded".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::fit;

    #[test]
    fn a_picture_is_never_made_larger_and_never_vanishes() {
        assert_eq!(fit((640, 480), 64), (64, 48));
        assert_eq!(fit((30, 20), 64), (30, 20));
        assert_eq!(fit((20_000, 3), 64), (64, 1));
        assert_eq!(fit((0, 0), 64), (1, 1));
    }
}
