//! Pictures as JPEG or PNG.

use std::{io::Cursor, path::Path, time::Duration};

use image::{ImageEncoder, Rgba, RgbaImage, codecs::jpeg::JpegEncoder, codecs::png::PngEncoder};

use super::{Content, Made, Profile, Target};
use crate::{
    Facts, Flaw, Tools,
    analysis::{Scaled, blocking, fit, in_this_process, scaled, turned},
    local::Local,
    scratch::Space,
    tools::{self, Child},
};

/// Tried one after the other until the picture fits; then with fewer pixels.
const QUALITIES: [u8; 4] = [90, 82, 74, 66];
/// The same on ffmpeg's scale, on which less is better.
const FFMPEG_QUALITIES: [u8; 4] = [2, 4, 6, 9];
/// How often the picture is made smaller by a quarter.
const SHRINKS: u32 = 12;

const TIME: Duration = Duration::from_secs(120);
/// What ffmpeg may fill, in MiB.
const MEMORY: u64 = 1_536;

/// Makes it, by this process if its pixels fit the budget.
pub async fn make(
    tools: &Tools,
    space: (&Space, u64),
    local: &Local,
    facts: &Facts,
    profile: &Profile,
) -> Result<Made, Flaw> {
    let size = facts.size().ok_or_else(|| Flaw::Unreadable("it has no size".to_owned()))?;
    let mut side = widest(size, profile.width_max);
    for _ in 0..SHRINKS {
        let made = if in_this_process(facts) {
            let picture = scaled(tools, local, facts, side).await?;
            let profile = *profile;
            blocking(move || here(picture, &profile)).await?
        } else {
            by_ffmpeg(tools, space, local, facts, (profile, fit(size, side))).await?
        };
        if let Some(made) = made {
            return Ok(made);
        }
        side = side * 3 / 4;
    }
    Err(Flaw::Unfit(format!("it does not fit {} bytes", profile.bytes_max)))
}

/// The longer side at which the picture is no wider than it may be.
fn widest((width, height): (u32, u32), width_max: u32) -> u32 {
    let longer = width.max(height);
    if width_max == 0 || width <= width_max {
        return longer;
    }
    u32::try_from(u64::from(longer) * u64::from(width_max) / u64::from(width))
        .unwrap_or(longer)
        .max(1)
}

/// `None` if it has too many bytes at every quality.
fn here(mut picture: Scaled, profile: &Profile) -> Result<Option<Made>, Flaw> {
    let size = Some(picture.dimensions());
    let tries: &[u8] = match profile.target {
        Target::Png => &[0],
        Target::Jpeg | Target::Mp4 => &QUALITIES,
    };
    if profile.target == Target::Jpeg {
        on_white(&mut picture);
    }
    for quality in tries {
        let bytes = encode(&picture, profile.target, *quality)?;
        if bytes.len() as u64 <= profile.bytes_max {
            return Ok(Some(Made { content: Content::Memory(bytes), size }));
        }
    }
    Ok(None)
}

fn on_white(picture: &mut RgbaImage) {
    for Rgba([red, green, blue, alpha]) in picture.pixels_mut() {
        let shown = u32::from(*alpha);
        for part in [red, green, blue] {
            let mixed = (u32::from(*part) * shown + 255 * (255 - shown) + 127) / 255;
            *part = u8::try_from(mixed).unwrap_or(255);
        }
        *alpha = 255;
    }
}

fn encode(picture: &RgbaImage, target: Target, quality: u8) -> Result<Vec<u8>, Flaw> {
    let mut bytes = Cursor::new(Vec::new());
    let (width, height) = picture.dimensions();
    let written = if target == Target::Png {
        let rgba = image::ExtendedColorType::Rgba8;
        PngEncoder::new(&mut bytes).write_image(picture.as_raw(), width, height, rgba)
    } else {
        let opaque: Vec<u8> =
            picture.pixels().flat_map(|Rgba([r, g, b, _])| [*r, *g, *b]).collect();
        let rgb = image::ExtendedColorType::Rgb8;
        JpegEncoder::new_with_quality(&mut bytes, quality).write_image(&opaque, width, height, rgb)
    };
    written.map_err(|error| Flaw::Unfit(error.to_string()))?;
    Ok(bytes.into_inner())
}

/// The same by ffmpeg, for pictures of more pixels than this process decodes.
async fn by_ffmpeg(
    tools: &Tools,
    (space, file): (&Space, u64),
    local: &Local,
    facts: &Facts,
    (profile, (width, height)): (&Profile, (u32, u32)),
) -> Result<Option<Made>, Flaw> {
    let ffmpeg = tools.ffmpeg.as_deref().ok_or(Flaw::NoTools)?;
    let png = profile.target == Target::Png;
    let tries: &[u8] = if png { &[0] } else { &FFMPEG_QUALITIES };
    for quality in tries {
        let (_, at) = space.fresh(if png { "png" } else { "jpg" })?;
        let args = arguments(facts, local, (!png).then_some(*quality), (width, height), &at);
        let run = Child {
            program: ffmpeg,
            args,
            time: TIME,
            cpu: 120,
            memory: MEMORY,
            output: 4_096,
            file,
        };
        run.run().await.map_err(Flaw::of_run)?;
        let bytes = tokio::fs::metadata(&at).await?.len();
        if (1..=profile.bytes_max).contains(&bytes) {
            return Ok(Some(Made { content: Content::File(at), size: Some((width, height)) }));
        }
    }
    Ok(None)
}

fn arguments(
    facts: &Facts,
    local: &Local,
    quality: Option<u8>,
    size: (u32, u32),
    to: &Path,
) -> Vec<String> {
    let start = ["-v", "error", "-nostdin", "-y", "-noautorotate", "-threads", "1"];
    let mut args: Vec<String> = start.map(str::to_owned).to_vec();
    args.extend(["-max_pixels", "100000000"].map(str::to_owned));
    args.extend(tools::input(&facts.mime, local.path()));
    let filter = filter(facts, quality.is_none(), size);
    args.extend(["-frames:v", "1", "-filter_complex", &filter].map(str::to_owned));
    args.extend(["-map_metadata", "-1"].map(str::to_owned));
    match quality {
        None => args.extend(["-c:v", "png", "-f", "image2pipe"].map(str::to_owned)),
        Some(quality) => {
            args.extend(["-c:v", "mjpeg", "-f", "mjpeg", "-q:v"].map(str::to_owned));
            args.push(quality.to_string());
        }
    }
    args.push(format!("file:{}", to.display()));
    args
}

fn filter(facts: &Facts, png: bool, (width, height): (u32, u32)) -> String {
    let scale = format!("{}scale={width}:{height}:flags=area", turned(facts.rotation));
    if png {
        return scale;
    }
    if !facts.alpha {
        return format!("{scale},format=yuvj420p");
    }
    format!(
        "color=c=white:s={width}x{height},format=rgb24[under];[0:v]{scale},format=rgba[over];\
         [under][over]overlay=shortest=1:format=rgb,format=yuvj420p"
    )
}
