//! Reads the facts of videos with ffprobe.

use std::{path::Path, time::Duration};

use serde::Deserialize;

use super::Facts;
use crate::{
    Flaw,
    local::LocalFile,
    tools::{self, ToolRun},
};

const TIMEOUT: Duration = Duration::from_secs(30);
/// The memory limit of ffprobe, in MiB.
const MAX_MEMORY_MIB: u64 = 256;
const MAX_OUTPUT: usize = 256 * 1024;

/// The entries that ffprobe prints of a file.
const ENTRIES: &str = "format=duration,bit_rate:stream=codec_type,codec_name,profile,width,height,pix_fmt,\
    sample_aspect_ratio,color_transfer,avg_frame_rate,r_frame_rate,duration,channels:stream_disposition=attached_pic:stream_side_data=rotation:stream_tags=rotate,alpha_mode";

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Report {
    streams: Vec<Stream>,
    format: Format,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Format {
    duration: Option<String>,
    bit_rate: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Stream {
    codec_type: String,
    codec_name: Option<String>,
    profile: Option<String>,
    sample_aspect_ratio: Option<String>,
    color_transfer: Option<String>,
    width: Option<u32>,
    height: Option<u32>,
    pix_fmt: Option<String>,
    avg_frame_rate: Option<String>,
    r_frame_rate: Option<String>,
    duration: Option<String>,
    channels: Option<u32>,
    disposition: Disposition,
    side_data_list: Vec<SideData>,
    tags: Tags,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Disposition {
    attached_pic: u8,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SideData {
    rotation: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Tags {
    rotate: Option<String>,
    #[serde(alias = "ALPHA_MODE")]
    alpha_mode: Option<String>,
}

/// Runs ffprobe.
pub async fn read(ffprobe: &Path, local: &LocalFile, base: Facts) -> Result<Facts, Flaw> {
    let words = ["-v", "error", "-hide_banner", "-threads", "1", "-probesize", "20000000"];
    let shown =
        ["-analyzeduration", "10000000", "-print_format", "json=c=1", "-show_entries", ENTRIES];
    let mut args: Vec<String> = words.into_iter().chain(shown).map(str::to_owned).collect();
    args.extend(tools::input_args(&base.mime, local.path()));
    let run = ToolRun {
        program: ffprobe,
        args,
        input: local.path(),
        made: None,
        time: TIMEOUT,
        cpu: 30,
        memory: MAX_MEMORY_MIB,
        output: MAX_OUTPUT,
        file: 0,
    };
    let printed = run.run().await.map_err(Flaw::from_tool_error)?;
    let report: Report = serde_json::from_slice(&printed)
        .map_err(|_| Flaw::Unreadable("its streams cannot be identified".to_owned()))?;
    to_facts(&report, base)
}

fn to_facts(report: &Report, base: Facts) -> Result<Facts, Flaw> {
    let is_film =
        |stream: &&Stream| stream.codec_type == "video" && stream.disposition.attached_pic == 0;
    let film = report.streams.iter().find(is_film);
    let film = film.ok_or_else(|| Flaw::Unreadable("there is no picture in it".to_owned()))?;
    let size = film.width.zip(film.height).filter(|(width, height)| *width > 0 && *height > 0);
    let (width, height) =
        size.ok_or_else(|| Flaw::Unreadable("its picture has no size".to_owned()))?;
    let rotation = rotation(film);
    let aspect = film.sample_aspect_ratio.as_deref().and_then(aspect);
    let width = aspect.map_or(width, |aspect| ((f64::from(width) * aspect).round() as u32).max(1));
    let (width, height) = if rotation % 180 == 90 { (height, width) } else { (width, height) };
    let sound = report.streams.iter().find(|stream| stream.codec_type == "audio");
    let seconds = report.format.duration.as_deref().or(film.duration.as_deref());
    let seconds = seconds.and_then(|text| text.parse::<f64>().ok());
    let rate = film.avg_frame_rate.as_deref().and_then(ratio);
    Ok(Facts {
        width: Some(width),
        height: Some(height),
        rotation,
        duration_ms: seconds
            .filter(|long| (0.0..1e9).contains(long))
            .map(|long| (long * 1_000.0).round() as u64),
        frame_rate: rate.or_else(|| film.r_frame_rate.as_deref().and_then(ratio)),
        pixel_aspect: aspect,
        video_codec: film.codec_name.clone(),
        video_profile: film.profile.clone(),
        pixel_format: film.pix_fmt.clone(),
        transfer: film.color_transfer.clone().filter(|transfer| transfer != "unknown"),
        audio_codec: sound.and_then(|sound| sound.codec_name.clone()),
        audio_profile: sound.and_then(|sound| sound.profile.clone()),
        channels: sound.and_then(|sound| sound.channels),
        bit_rate: report.format.bit_rate.as_deref().and_then(|text| text.parse().ok()),
        alpha: has_alpha(film),
        ..base
    })
}

/// Returns the rotation in degrees clockwise. The side data count counterclockwise.
fn rotation(film: &Stream) -> u16 {
    let side = film.side_data_list.iter().find_map(|data| data.rotation).map(|turn| -turn);
    let turn = side.or_else(|| film.tags.rotate.as_deref()?.parse::<f64>().ok()).unwrap_or(0.0);
    let quarters = (turn / 90.0).round().rem_euclid(4.0);
    [0, 90, 180, 270].into_iter().nth(quarters as usize).unwrap_or(0)
}

fn has_alpha(film: &Stream) -> bool {
    let format = film.pix_fmt.as_deref().unwrap_or_default();
    let named = ["yuva", "rgba", "bgra", "argb", "abgr", "gbrap", "ya8", "ya16"];
    named.iter().any(|start| format.starts_with(start))
        || film.tags.alpha_mode.as_deref() == Some("1")
}

/// Parses a pixel shape such as `16:11`, if it is plausible and not square.
fn aspect(text: &str) -> Option<f64> {
    let (wide, high) = text.split_once(':')?;
    let (wide, high) = (wide.parse::<f64>().ok()?, high.parse::<f64>().ok()?);
    let aspect = wide / high;
    ((0.125..=8.0).contains(&aspect) && (aspect - 1.0).abs() > 0.02).then_some(aspect)
}

/// Parses a ratio such as `30000/1001`.
fn ratio(text: &str) -> Option<f64> {
    let (over, under) = text.split_once('/')?;
    let (over, under) = (over.parse::<f64>().ok()?, under.parse::<f64>().ok()?);
    (over > 0.0 && under > 0.0).then(|| over / under)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_film_on_its_side_is_told_as_it_is_shown() {
        let text = r#"{"streams": [
            {"codec_type": "audio", "codec_name": "aac", "channels": 2},
            {"codec_type": "video", "codec_name": "mjpeg", "width": 9, "height": 9, "disposition": {"attached_pic": 1}},
            {"codec_type": "video", "codec_name": "hevc", "width": 1920, "height": 1080, "avg_frame_rate": "30000/1001",
             "sample_aspect_ratio": "4:3", "color_transfer": "arib-std-b67", "pix_fmt": "yuv420p10le", "profile": "Main 10",
             "side_data_list": [{}, {"rotation": -90}]}],
            "format": {"duration": "12.345600", "bit_rate": "1000"}}"#;
        let facts = to_facts(&serde_json::from_str(text).unwrap(), Facts::default()).unwrap();
        assert_eq!((facts.size(), facts.rotation), (Some((1080, 2560)), 90));
        assert_eq!((facts.duration_ms, facts.channels), (Some(12_346), Some(2)));
        assert_eq!(facts.video_codec.as_deref(), Some("hevc"));
        assert!(facts.is_hdr() && facts.needs_redraw(), "{facts:?}");
        assert_eq!(facts.pixel_format.as_deref(), Some("yuv420p10le"));
        assert!(facts.frame_rate.is_some_and(|rate| (rate - 29.97).abs() < 0.01));
    }

    #[test]
    fn sound_alone_is_no_film() {
        let report = serde_json::from_str(r#"{"streams": [{"codec_type": "audio"}]}"#).unwrap();
        assert!(matches!(to_facts(&report, Facts::default()), Err(Flaw::Unreadable(_))));
    }

    #[test]
    fn nonsense_numbers_are_left_out() {
        let text = r#"{"streams": [{"codec_type": "video", "width": 2, "height": 2, "avg_frame_rate": "0/0",
            "tags": {"rotate": "45000000000000000000000"}}], "format": {"duration": "nan", "bit_rate": "N/A"}}"#;
        let facts = to_facts(&serde_json::from_str(text).unwrap(), Facts::default()).unwrap();
        assert_eq!((facts.duration_ms, facts.frame_rate, facts.bit_rate), (None, None, None));
    }
}
