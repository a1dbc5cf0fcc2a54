//! Films as MP4: H.264 and AAC, the index before the frames.

use std::time::Duration;

use super::{Content, Made, Profile};
use crate::{
    Facts, Flaw, Tools,
    local::Local,
    scratch::Space,
    tools::{self, Child},
};

const TIME: Duration = Duration::from_secs(45 * 60);
/// Of all processors together, in seconds.
const CPU: u64 = 3 * 3_600;
/// What ffmpeg may fill, in MiB.
const MEMORY: u64 = 2_048;
/// The longer side of what is encoded anew.
const SIDE: u32 = 1_920;
/// Bits a second of the sound.
const SOUND: u64 = 128_000;
/// The part of the bytes that may be used for pictures and sound.
const FILLED: f64 = 0.93;

/// Makes it. Where picture and sound are fit already they are copied, which takes seconds.
pub async fn make(
    tools: &Tools,
    (space, file): (&Space, u64),
    local: &Local,
    facts: &Facts,
    profile: &Profile,
) -> Result<Made, Flaw> {
    let ffmpeg = tools.ffmpeg.as_deref().ok_or(Flaw::NoTools)?;
    let ways =
        if is_fit(facts, profile) { &[Way::Copy, Way::Encode][..] } else { &[Way::Encode][..] };
    let mut last = Flaw::Unfit("no way of converting it was left".to_owned());
    for way in ways {
        let (_, at) = space.fresh("mp4")?;
        let mut args: Vec<String> = ["-v", "error", "-nostdin", "-y"].map(str::to_owned).to_vec();
        args.extend(["-max_pixels", "100000000"].map(str::to_owned));
        args.extend(tools::input(&facts.mime, local.path()));
        args.extend(way.args(facts, profile));
        args.push(format!("file:{}", at.display()));
        let run = Child {
            program: ffmpeg,
            args,
            time: TIME,
            cpu: CPU,
            memory: MEMORY,
            output: 4_096,
            file,
        };
        match run.run().await.map_err(Flaw::of_run) {
            Ok(_) => {}
            Err(flaw @ Flaw::Unreadable(_)) => {
                last = flaw;
                continue;
            }
            Err(flaw) => return Err(flaw),
        }
        let bytes = tokio::fs::metadata(&at).await?.len();
        if (1..=profile.bytes_max).contains(&bytes) {
            return Ok(Made { content: Content::File(at), size: way.size(facts) });
        }
        last = Flaw::Unfit(format!("it does not fit {} bytes", profile.bytes_max));
    }
    Err(last)
}

/// Can picture and sound be copied as they are?
fn is_fit(facts: &Facts, profile: &Profile) -> bool {
    let is = |codec: &Option<String>, name: &str| codec.as_deref() == Some(name);
    let narrow =
        profile.width_max == 0 || facts.width.is_some_and(|width| width <= profile.width_max);
    let sound = facts.audio_codec.is_none() || is(&facts.audio_codec, "aac");
    is(&facts.video_codec, "h264") && sound && narrow && facts.bytes <= profile.bytes_max
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Copy,
    Encode,
}

impl Way {
    fn args(self, facts: &Facts, profile: &Profile) -> Vec<String> {
        let mut args: Vec<String> =
            ["-map", "0:v:0", "-map", "0:a:0?", "-sn", "-dn"].map(str::to_owned).to_vec();
        match self {
            Self::Copy => args.extend(["-c", "copy"].map(str::to_owned)),
            Self::Encode => args.extend(encoding(facts, profile)),
        }
        let end =
            ["-map_metadata", "-1", "-map_chapters", "-1", "-movflags", "+faststart", "-f", "mp4"];
        args.extend(end.map(str::to_owned));
        args
    }

    /// As it is shown; encoding bakes the turn in and makes both sides even.
    fn size(self, facts: &Facts) -> Option<(u32, u32)> {
        match self {
            Self::Copy => facts.size(),
            Self::Encode => None,
        }
    }
}

fn encoding(facts: &Facts, profile: &Profile) -> Vec<String> {
    let side = if profile.width_max == 0 { SIDE } else { SIDE.min(profile.width_max.max(2)) };
    let scale = format!(
        "scale=w='min({side},iw)':h='min({side},ih)':force_original_aspect_ratio=decrease:force_divisible_by=2,\
         setsar=1,format=yuv420p"
    );
    let sound = SOUND.to_string();
    let picture = [
        "-c:v",
        "libx264",
        "-preset",
        "veryfast",
        "-crf",
        "21",
        "-profile:v",
        "high",
        "-vf",
        &scale,
    ];
    let heard = ["-c:a", "aac", "-b:a", &sound, "-ac", "2", "-ar", "48000"];
    let mut args: Vec<String> = picture.into_iter().chain(heard).map(str::to_owned).collect();
    if facts.frame_rate.is_some_and(|rate| rate > 60.0) {
        args.extend(["-r", "60"].map(str::to_owned));
    }
    if let Some(rate) = rate(facts, profile) {
        let (most, buffer) = (rate.to_string(), (rate * 2).to_string());
        args.extend(["-maxrate", &most, "-bufsize", &buffer].map(str::to_owned));
    }
    args
}

/// Bits a second that the picture may have if the whole is to fit.
fn rate(facts: &Facts, profile: &Profile) -> Option<u64> {
    let ms = facts.duration_ms.filter(|ms| *ms > 0)?;
    let all = profile.bytes_max as f64 * 8_000.0 * FILLED / ms as f64;
    Some((all as u64).saturating_sub(SOUND).clamp(64_000, 40_000_000))
}
