//! Reads the facts of videos without ffprobe, with container parsers.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

use matroska_demuxer::{MatroskaFile, TrackType as MatroskaTrack};
use mp4parse::{CodecType, SampleEntry, Track, TrackType, VideoCodecSpecific};

use super::{Facts, atoms};
use crate::Flaw;

/// The largest index that is read into memory.
const MAX_INDEX: u64 = 16 * 1024 * 1024;
/// The most bytes that a parser may read at once and in total.
const MAX_READ: usize = 1024 * 1024;
const MAX_TOTAL_READ: u64 = 32 * 1024 * 1024;

/// Reads the facts from the container.
pub fn read(at: &Path, base: Facts) -> Result<Facts, Flaw> {
    let file = File::open(at)?;
    let facts = if base.mime == "video/webm" { matroska(file, base)? } else { mp4(file, base)? };
    let average =
        facts.duration_ms.filter(|ms| *ms > 0).map(|ms| facts.bytes.saturating_mul(8_000) / ms);
    Ok(Facts { bit_rate: average, ..facts })
}

fn unreadable(what: &str) -> Flaw {
    Flaw::Unreadable(what.to_owned())
}

/// Gives only the type and the index to the parser, because it would read through all other boxes, possibly gigabytes.
fn mp4(mut file: File, base: Facts) -> Result<Facts, Flaw> {
    let mut index = Vec::new();
    let mut wanted = Vec::new();
    atoms::walk(&mut file, base.bytes, |atom| {
        if matches!(&atom.name, b"ftyp" | b"moov") {
            wanted.push(*atom);
        }
        atom.name != *b"moov"
    })?;
    if !wanted.iter().any(|atom| atom.name == *b"moov") {
        return Err(unreadable("its index is missing"));
    }
    for atom in wanted {
        if index.len() as u64 + atom.size > MAX_INDEX {
            return Err(Flaw::TooCostly);
        }
        file.seek(SeekFrom::Start(atom.at))?;
        (&mut file).take(atom.size).read_to_end(&mut index)?;
    }
    let context =
        mp4parse::read_mp4(&mut index.as_slice()).map_err(|_| unreadable("its index is broken"))?;
    let scale = context.timescale.map(|scale| scale.0);
    let film = context.tracks.iter().find(|track| track.track_type == TrackType::Video);
    let film = film.ok_or_else(|| unreadable("there is no picture in it"))?;
    let sound = context.tracks.iter().find(|track| track.track_type == TrackType::Audio);
    let length = context.tracks.iter().filter_map(|track| duration_ms(track, scale)).max();
    Ok(track_facts(film, sound, length, base))
}

fn track_facts(film: &Track, sound: Option<&Track>, length: Option<u64>, base: Facts) -> Facts {
    let (mut facts, rotation) = (base, rotation(film));
    for entry in film.stsd.iter().flat_map(|stsd| stsd.descriptions.iter()) {
        if let SampleEntry::Video(video) = entry {
            let (width, height) = (u32::from(video.width), u32::from(video.height));
            let on_side = rotation % 180 == 90;
            (facts.width, facts.height) =
                if on_side { (Some(height), Some(width)) } else { (Some(width), Some(height)) };
            facts.video_codec = codec_name(video.codec_type).or_else(|| Some("unknown".to_owned()));
            if let VideoCodecSpecific::AVCConfig(config) = &video.codec_specific {
                let profile = config.get(1).copied().and_then(h264_profile);
                (facts.video_profile, facts.pixel_format) = profile.unzip();
            }
        }
    }
    for entry in
        sound.iter().flat_map(|track| track.stsd.iter()).flat_map(|stsd| stsd.descriptions.iter())
    {
        if let SampleEntry::Audio(audio) = entry {
            facts.channels = Some(audio.channelcount);
            facts.audio_codec = codec_name(audio.codec_type);
        }
    }
    let frames: u64 = film
        .stts
        .iter()
        .flat_map(|stts| stts.samples.iter())
        .map(|run| u64::from(run.sample_count))
        .sum();
    let own = film
        .duration
        .zip(film.timescale)
        .map(|(long, scale)| long.0 as f64 / scale.0.max(1) as f64);
    let rate = own.filter(|long| *long > 0.0 && frames > 0).map(|long| frames as f64 / long);
    Facts { rotation, duration_ms: length, frame_rate: rate, ..facts }
}

/// Returns the duration in milliseconds, after applying edits.
fn duration_ms(track: &Track, scale: Option<u64>) -> Option<u64> {
    let ms = |units: u64, scale: u64| {
        u128::from(units).checked_mul(1_000)?.checked_div(u128::from(scale))
    };
    let edited = track.edited_duration.zip(scale).and_then(|(long, scale)| ms(long.0, scale));
    let own = track.duration.zip(track.timescale).and_then(|(long, scale)| ms(long.0, scale.0));
    edited.filter(|long| *long > 0).or(own).and_then(|long| u64::try_from(long).ok())
}

/// Returns the rotation that the matrix of the track specifies.
fn rotation(track: &Track) -> u16 {
    let Some(matrix) = track.tkhd.as_ref().map(|head| &head.matrix) else { return 0 };
    match (matrix.a.signum(), matrix.b.signum(), matrix.c.signum(), matrix.d.signum()) {
        (0, 1, -1, 0) => 90,
        (-1, 0, 0, -1) => 180,
        (0, -1, 1, 0) => 270,
        _ => 0,
    }
}

/// Returns the profile and pixel format of H.264 profiles that phones and editors write (ITU-T H.264, A.2).
fn h264_profile(number: u8) -> Option<(String, String)> {
    let (profile, pixels) = match number {
        66 => ("Baseline", "yuv420p"),
        77 => ("Main", "yuv420p"),
        100 => ("High", "yuv420p"),
        110 => ("High 10", "yuv420p10le"),
        122 => ("High 4:2:2", "yuv422p10le"),
        244 => ("High 4:4:4 Predictive", "yuv444p"),
        _ => return None,
    };
    Some((profile.to_owned(), pixels.to_owned()))
}

/// Returns the name that ffprobe has for a codec.
fn codec_name(codec: CodecType) -> Option<String> {
    let name = match codec {
        CodecType::H264 => "h264",
        CodecType::AAC => "aac",
        CodecType::MP3 => "mp3",
        CodecType::FLAC => "flac",
        CodecType::Opus => "opus",
        CodecType::MP4V => "mpeg4",
        CodecType::AV1 => "av1",
        CodecType::VP9 => "vp9",
        CodecType::VP8 => "vp8",
        CodecType::H263 => "h263",
        CodecType::ALAC => "alac",
        CodecType::LPCM => "pcm",
        _ => return None,
    };
    Some(name.to_owned())
}

fn matroska(file: File, base: Facts) -> Result<Facts, Flaw> {
    let open = MatroskaFile::open(LimitedFile { file, left: MAX_TOTAL_READ });
    let film = open.map_err(|_| unreadable("its head is broken"))?;
    let video = film.tracks().iter().find(|track| track.track_type() == MatroskaTrack::Video);
    let video = video.ok_or_else(|| unreadable("there is no picture in it"))?;
    let sound = film.tracks().iter().find(|track| track.track_type() == MatroskaTrack::Audio);
    let side = |pixels: std::num::NonZeroU64| u32::try_from(pixels.get()).ok();
    let picture = video.video();
    // The duration is in timestamp units, whose length is given in nanoseconds.
    let unit = film.info().timestamp_scale().get() as f64;
    let ms = film
        .info()
        .duration()
        .map(|long| long * unit / 1e6)
        .filter(|ms| ms.is_finite() && *ms >= 0.0);
    let name = |id: &str| {
        let kind = id.split_once('_').map_or(id, |(_, name)| name);
        kind.rsplit('/').next().unwrap_or(kind).to_ascii_lowercase()
    };
    Ok(Facts {
        width: picture.and_then(|picture| side(picture.pixel_width())),
        height: picture.and_then(|picture| side(picture.pixel_height())),
        alpha: picture.is_some_and(|picture| picture.alpha_mode() == Some(1)),
        duration_ms: ms.map(|ms| ms.round() as u64),
        frame_rate: video.default_duration().map(|ns| 1e9 / ns.get() as f64),
        video_codec: Some(name(video.codec_id())),
        audio_codec: sound.map(|sound| name(sound.codec_id())),
        channels: sound.and_then(|sound| sound.audio()).and_then(|audio| side(audio.channels())),
        ..base
    })
}

/// A file of which only a limited number of bytes is read, because sizes in headers are not trustworthy.
struct LimitedFile {
    file: File,
    left: u64,
}

impl Read for LimitedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.len() > MAX_READ || self.left == 0 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let read = self.file.read(buffer)?;
        self.left = self.left.saturating_sub(read as u64);
        Ok(read)
    }
}

impl Seek for LimitedFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        // Each seek counts too, so that a file that only causes seeks reaches the limit.
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        self.file.seek(to)
    }
}
