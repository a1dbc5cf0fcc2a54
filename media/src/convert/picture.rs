//! Converts pictures to JPEG or PNG.

use super::{Content, Converted, Profile, Target};
use crate::{
    Facts, Flaw, Tools,
    blocking::on_pixels,
    local::LocalFile,
    picture::{Aim, Background, Canvas, draw, max_side},
};

/// The qualities that are tried in this order until the picture fits. After that, the number of pixels is reduced.
const QUALITIES: [u8; 4] = [90, 82, 74, 66];
/// The largest number of times that the picture is made a quarter smaller.
const MAX_SHRINKS: u32 = 12;

/// Converts the picture.
pub async fn make(
    tools: &Tools,
    local: &LocalFile,
    facts: &Facts,
    profile: &Profile,
) -> Result<Converted, Flaw> {
    let size = facts.size().ok_or_else(|| Flaw::Unreadable("it has no size".to_owned()))?;
    let ground = if profile.target == Target::Png { Background::Clear } else { Background::White };
    let mut side = max_side_for_width(size, profile.width_max).min(max_side(size));
    for _ in 0..MAX_SHRINKS {
        let aim = Aim { side, ground, file: profile.bytes_max };
        let (canvas, memory) = draw(tools, local, facts, aim).await?;
        let (profile, size) = (*profile, Some(canvas.size()));
        if let Some(bytes) = on_pixels(move || encode(&canvas, &profile)).await? {
            return Ok(Converted { content: Content::Memory(bytes, memory), size });
        }
        side = side * 3 / 4;
    }
    Err(Flaw::Unfit(format!("it does not fit {} bytes", profile.bytes_max)))
}

/// Returns the longest side at which the picture is not wider than `width_max`.
fn max_side_for_width((width, height): (u32, u32), width_max: u32) -> u32 {
    let longer = width.max(height);
    if width_max == 0 || width <= width_max {
        return longer;
    }
    u32::try_from(u64::from(longer) * u64::from(width_max) / u64::from(width))
        .unwrap_or(longer)
        .max(1)
}

/// Encodes the picture. Returns `None` if it has too many bytes at every quality.
fn encode(canvas: &Canvas, profile: &Profile) -> Result<Option<Vec<u8>>, Flaw> {
    if profile.target == Target::Png {
        return canvas.png(profile.bytes_max);
    }
    for quality in QUALITIES {
        let made = canvas.jpeg(quality, profile.bytes_max)?;
        if made.is_some() {
            return Ok(made);
        }
    }
    Ok(None)
}
