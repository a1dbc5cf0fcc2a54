//! Converts videos to MP4 with H.264 and AAC, and the index before the frames.

use std::time::Duration;

use super::{Content, Converted, Profile};
use crate::{
    Facts, Flaw, Tools,
    local::LocalFile,
    scratch::Space,
    tools::{self, ToolError, ToolRun},
};

const TIMEOUT: Duration = Duration::from_secs(45 * 60);
/// The CPU time limit of ffmpeg over all processors, in seconds.
const MAX_CPU_SECONDS: u64 = 3 * 3_600;
/// The memory limit of ffmpeg, in MiB.
const MAX_MEMORY_MIB: u64 = 2_048;
/// The largest side of a video that is re-encoded.
const MAX_SIDE: u32 = 1_920;
/// The bit rate of the audio.
const AUDIO_BIT_RATE: u64 = 128_000;
/// The share of the allowed bytes that is used for video and audio.
const CONTENT_SHARE: f64 = 0.93;

/// The range of frame rates that every platform accepts. Other frame rates are changed to the nearer end.
const MIN_FRAME_RATE: f64 = 23.0;
const MAX_FRAME_RATE: f64 = 60.0;
/// The largest bit rates of a video stream that is copied, and of one that is re-encoded.
const MAX_COPIED_BIT_RATE: u64 = 25_000_000;
const MAX_ENCODED_BIT_RATE: u64 = 20_000_000;

/// Converts the video. Streams that already fit are copied, which takes only seconds.
pub async fn make(
    tools: &Tools,
    (space, file): (&Space, u64),
    local: &LocalFile,
    facts: &Facts,
    profile: &Profile,
) -> Result<Converted, Flaw> {
    let ffmpeg = tools.ffmpeg.as_deref().ok_or(Flaw::NoTools)?;
    let mut last = Flaw::Unfit("no way of converting it was left".to_owned());
    for way in Attempt::all(facts, profile) {
        let (_, at) = space.fresh("mp4")?;
        let mut args: Vec<String> = ["-v", "error", "-nostdin", "-y"].map(str::to_owned).to_vec();
        args.extend(["-max_pixels", "100000000"].map(str::to_owned));
        args.extend(tools::input_args(&facts.mime, local.path()));
        args.extend(way.args(facts, profile));
        args.push(format!("file:{}", at.display()));
        let run = ToolRun {
            program: ffmpeg,
            args,
            input: local.path(),
            made: Some(&at),
            time: TIMEOUT,
            cpu: MAX_CPU_SECONDS,
            memory: MAX_MEMORY_MIB,
            output: 4_096,
            file,
        };
        match run.run().await {
            Ok(_) => {}
            Err(ToolError::Failed(words)) => {
                last = unfit(words);
                continue;
            }
            Err(spent) => return Err(Flaw::from_tool_error(spent)),
        }
        let bytes = tokio::fs::metadata(&at).await?.len();
        if (1..=profile.bytes_max).contains(&bytes) {
            return Ok(Converted { content: Content::File(at), size: way.size(facts) });
        }
        last = Flaw::Unfit(format!("it does not fit {} bytes", profile.bytes_max));
    }
    Err(last)
}

fn unfit(words: String) -> Flaw {
    if words.contains("No such filter") {
        let lacks = "its high dynamic range needs an ffmpeg with zscale and tonemap";
        return Flaw::Unfit(lacks.to_owned());
    }
    Flaw::from_tool_error(ToolError::Failed(words))
}

fn is_one_of(name: Option<&String>, wanted: &[&str]) -> bool {
    name.is_some_and(|name| wanted.contains(&name.as_str()))
}

/// Returns true if the video stream can be copied unchanged for every platform that accepts H.264.
fn can_copy_video(facts: &Facts, profile: &Profile) -> bool {
    let plain = ["Constrained Baseline", "Baseline", "Main", "High"];
    let narrow =
        profile.width_max == 0 || facts.width.is_some_and(|width| width <= profile.width_max);
    is_one_of(facts.video_codec.as_ref(), &["h264"])
        && facts.video_profile.as_ref().is_none_or(|name| plain.contains(&name.as_str()))
        && facts.pixel_format.as_ref().is_none_or(|name| name == "yuv420p" || name == "yuvj420p")
        && facts
            .frame_rate
            .is_none_or(|rate| (MIN_FRAME_RATE..=MAX_FRAME_RATE + 0.1).contains(&rate))
        && facts.bit_rate.is_none_or(|rate| rate <= MAX_COPIED_BIT_RATE)
        && !facts.is_hdr()
        && facts.pixel_aspect.is_none()
        && narrow
        && facts.bytes <= profile.bytes_max
}

/// Returns true if the audio stream can be copied unchanged.
fn can_copy_audio(facts: &Facts) -> bool {
    let Some(codec) = &facts.audio_codec else { return true };
    codec == "aac"
        && facts.audio_profile.as_ref().is_none_or(|profile| profile == "LC")
        && facts.channels.is_none_or(|channels| channels <= 2)
}

/// The treatment of the video stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VideoTreatment {
    Copied,
    Encoded,
    /// Re-encoded without tone mapping, as a screen without high dynamic range shows it.
    Flattened,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Attempt {
    picture: VideoTreatment,
    copies_sound: bool,
}

impl Attempt {
    /// Returns the possible attempts, best first.
    fn all(facts: &Facts, profile: &Profile) -> Vec<Self> {
        let encoded = Self { picture: VideoTreatment::Encoded, copies_sound: false };
        let mut ways = Vec::new();
        if can_copy_video(facts, profile) {
            ways.push(Self {
                picture: VideoTreatment::Copied,
                copies_sound: can_copy_audio(facts),
            });
        }
        ways.push(encoded);
        // HLG looks acceptable without tone mapping, if pale; PQ does not.
        if facts.transfer.as_deref() == Some("arib-std-b67") {
            ways.push(Self { picture: VideoTreatment::Flattened, ..encoded });
        }
        ways
    }

    fn args(self, facts: &Facts, profile: &Profile) -> Vec<String> {
        let mut args: Vec<String> =
            ["-map", "0:v:0", "-map", "0:a:0?", "-sn", "-dn"].map(str::to_owned).to_vec();
        match self.picture {
            VideoTreatment::Copied => args.extend(["-c:v", "copy"].map(str::to_owned)),
            VideoTreatment::Encoded => {
                args.extend(encoding_args(facts, profile, &tone_filter(facts)))
            }
            VideoTreatment::Flattened => {
                args.extend(encoding_args(facts, profile, HLG_TO_SDR_FILTER))
            }
        }
        if self.copies_sound {
            args.extend(["-c:a", "copy"].map(str::to_owned));
        } else {
            let sound = AUDIO_BIT_RATE.to_string();
            let heard = ["-c:a", "aac", "-profile:a", "aac_low", "-b:a", &sound, "-ac", "2"];
            args.extend(heard.into_iter().chain(["-ar", "48000"]).map(str::to_owned));
        }
        let end =
            ["-map_metadata", "-1", "-map_chapters", "-1", "-movflags", "+faststart", "-f", "mp4"];
        args.extend(end.map(str::to_owned));
        args
    }

    /// Returns the size of the result. Re-encoding applies the rotation and makes both sides even.
    fn size(self, facts: &Facts) -> Option<(u32, u32)> {
        if self.picture == VideoTreatment::Copied { facts.size() } else { None }
    }
}

/// The ffmpeg filter that converts HLG to BT.709 without tone mapping.
const HLG_TO_SDR_FILTER: &str = "colorspace=all=bt709:iall=bt2020:itrc=bt2020-10:format=yuv420p,";

/// Returns the ffmpeg filters that convert high dynamic range to BT.709, or an empty text for other videos.
fn tone_filter(facts: &Facts) -> String {
    let Some(transfer) = facts.transfer.as_ref().filter(|_| facts.is_hdr()) else {
        return String::new();
    };
    format!(
        "zscale=tin={transfer}:pin=bt2020:min=bt2020nc:t=linear:npl=203,format=gbrpf32le,zscale=p=bt709,\
         tonemap=tonemap=mobius:desat=0,zscale=t=bt709:m=bt709:r=tv,"
    )
}

fn encoding_args(facts: &Facts, profile: &Profile, tone: &str) -> Vec<String> {
    let side =
        if profile.width_max == 0 { MAX_SIDE } else { MAX_SIDE.min(profile.width_max.max(2)) };
    let square = tools::square_pixel_filter(facts);
    let filters = format!(
        "{square}scale=w='min({side},iw)':h='min({side},ih)':force_original_aspect_ratio=decrease:force_divisible_by=2,\
         setsar=1,{tone}format=yuv420p"
    );
    let codec = ["-c:v", "libx264", "-preset", "veryfast", "-crf", "21", "-profile:v", "high"];
    let mut args: Vec<String> = codec.map(str::to_owned).to_vec();
    args.extend(["-vf", &filters].map(str::to_owned));
    if facts.is_hdr() {
        let colours = ["-color_primaries", "bt709", "-color_trc", "bt709", "-colorspace", "bt709"];
        args.extend(colours.map(str::to_owned));
    }
    match facts.frame_rate {
        Some(rate) if rate > MAX_FRAME_RATE => args.extend(["-r", "60"].map(str::to_owned)),
        Some(rate) if rate < MIN_FRAME_RATE => args.extend(["-r", "30"].map(str::to_owned)),
        _ => {}
    }
    let rate = video_bit_rate(facts, profile).unwrap_or(MAX_ENCODED_BIT_RATE);
    let (most, buffer) = (rate.to_string(), (rate * 2).to_string());
    args.extend(["-maxrate", &most, "-bufsize", &buffer].map(str::to_owned));
    args
}

/// Returns the bit rate of the video stream at which the file has the allowed size.
fn video_bit_rate(facts: &Facts, profile: &Profile) -> Option<u64> {
    let ms = facts.duration_ms.filter(|ms| *ms > 0)?;
    let all = profile.bytes_max as f64 * 8_000.0 * CONTENT_SHARE / ms as f64;
    Some((all as u64).saturating_sub(AUDIO_BIT_RATE).clamp(64_000, MAX_ENCODED_BIT_RATE))
}
