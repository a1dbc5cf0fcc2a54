//! Files made to fit.

use image::ImageFormat;

use super::{Failure, Outcome, Room, files, films};
use crate::{Analysis, Facts, Flaw, Profile, Target, Tools, Variant, analyse, convert};

struct Case {
    room: Room,
    path: String,
    facts: Facts,
}

impl Case {
    async fn new(room: Room, mime: &str, bytes: &[u8]) -> Result<Self, Failure> {
        let store = room.store()?;
        let path = store.put("w", mime, bytes).await?;
        let Analysis { facts, .. } =
            analyse(&store, &films::tools(), &films::scratch(&room.0), &path, mime).await?;
        Ok(Self { room, path, facts })
    }

    async fn made(
        &self,
        tools: &Tools,
        profile: Profile,
    ) -> Result<Result<Variant, Flaw>, Failure> {
        let scratch = films::scratch(&self.room.0);
        let from = (self.path.as_str(), &self.facts);
        Ok(convert(&self.room.store()?, tools, &scratch, from, &profile, "made/w").await)
    }

    /// Converts, and returns the file with its analysis; nothing is left in between.
    async fn good(&self, profile: Profile) -> Result<(Vec<u8>, Facts), Failure> {
        let made = self.made(&films::tools(), profile).await??;
        let store = self.room.store()?;
        let bytes = store.read(&made.path, u64::MAX).await?.to_vec();
        assert_eq!(made.bytes, bytes.len() as u64);
        assert!(made.bytes <= profile.bytes_max && made.path.starts_with("made/w/"));
        let scratch = films::scratch(&self.room.0);
        let told = analyse(&store, &films::tools(), &scratch, &made.path, &made.mime).await?;
        drop(scratch);
        let left = std::fs::read_dir(self.room.0.join("scratch"));
        assert_eq!(left.map_or(0, Iterator::count), 0, "scratch is empty");
        if made.width.is_some() {
            assert_eq!((made.width, made.height), (told.facts.width, told.facts.height));
        }
        Ok((bytes, told.facts))
    }
}

const fn jpeg(bytes_max: u64, width_max: u32) -> Profile {
    Profile { target: Target::Jpeg, bytes_max, width_max }
}

#[tokio::test]
async fn a_webp_becomes_a_jpeg_and_what_was_transparent_becomes_white() -> Outcome {
    let picture = films::encoded(&films::half(400, 300), ImageFormat::WebP)?;
    let case = Case::new(Room::new(), "image/webp", &picture).await?;
    let (bytes, facts) = case.good(jpeg(1_000_000, 0)).await?;
    assert_eq!((facts.mime.as_str(), facts.size()), ("image/jpeg", Some((400, 300))));
    let shown = image::load_from_memory(&bytes)?.to_rgb8();
    assert!(shown.get_pixel(350, 150).0.iter().all(|part| *part > 245));
    assert!(shown.get_pixel(50, 150).0[0] > 245 && shown.get_pixel(50, 150).0[1] < 20);
    Ok(())
}

#[tokio::test]
async fn a_picture_too_large_is_made_smaller_and_loses_its_metadata() -> Outcome {
    let plain = films::encoded(&films::slope(1_600, 1_200), ImageFormat::Jpeg)?;
    let located = films::with_segments(&plain, &files::exif(6, true));
    let case = Case::new(Room::new(), "image/jpeg", &located).await?;
    let (bytes, facts) = case.good(jpeg(1_000_000, 300)).await?;
    assert_eq!((facts.size(), facts.orientation), (Some((300, 400)), 1), "turned for good");
    assert!(!bytes.windows(4).any(|four| four == b"Exif"));
    let (_, small) = case.good(jpeg(6_000, 0)).await?;
    assert!(small.bytes <= 6_000 && small.width < Some(1_200), "{small:?}");
    let impossible = case.made(&films::tools(), jpeg(50, 0)).await?;
    assert!(matches!(impossible, Err(Flaw::Unfit(_))), "{impossible:?}");
    Ok(())
}

#[tokio::test]
async fn a_picture_beyond_the_budget_is_converted_elsewhere() -> Outcome {
    let picture = films::encoded(&films::half(4_000, 3_000), ImageFormat::Png)?;
    let case = Case::new(Room::new(), "image/png", &picture).await?;
    let (bytes, facts) = case.good(jpeg(8_000_000, 1_440)).await?;
    assert_eq!(facts.size(), Some((1_440, 1_080)));
    let shown = image::load_from_memory(&bytes)?.to_rgb8();
    assert!(shown.get_pixel(1_300, 500).0.iter().all(|part| *part > 245));
    assert!(shown.get_pixel(100, 500).0[0] > 235 && shown.get_pixel(100, 500).0[1] < 25);
    let (_, png) = case.good(Profile { target: Target::Png, ..jpeg(8_000_000, 1_440) }).await?;
    assert!(png.alpha && png.size() == Some((1_440, 1_080)), "{png:?}");
    let without = case.made(&Tools::none(), jpeg(8_000_000, 1_440)).await?;
    assert_eq!(without, Err(Flaw::NoTools));
    Ok(())
}

const MP4: Profile = Profile { target: Target::Mp4, bytes_max: 50_000_000, width_max: 0 };

#[tokio::test]
async fn a_mov_that_fits_is_copied_into_an_mp4_with_its_index_first() -> Outcome {
    let room = Room::new();
    std::fs::create_dir_all(&room.0)?;
    let args = [
        "-c:v",
        "libx264",
        "-pix_fmt",
        "yuv420p",
        "-c:a",
        "aac",
        "-metadata",
        "location=+52.5+013.4/",
    ];
    let film = films::film(&room.0, "a.mov", "320x240", &args)?;
    let case = Case::new(room, "video/quicktime", &film).await?;
    let (bytes, facts) = case.good(MP4).await?;
    assert_eq!((facts.mime.as_str(), facts.faststart), ("video/mp4", Some(true)));
    assert_eq!((facts.video_codec.as_deref(), facts.size()), (Some("h264"), Some((320, 240))));
    assert!(!bytes.windows(7).any(|seven| seven == b"+52.5+0"), "the place is gone");
    assert_eq!(case.made(&Tools::none(), MP4).await?, Err(Flaw::NoTools));
    Ok(())
}

#[tokio::test]
async fn a_webm_becomes_h264_and_aac() -> Outcome {
    let room = Room::new();
    std::fs::create_dir_all(&room.0)?;
    let args = ["-c:v", "libvpx", "-b:v", "300k", "-deadline", "realtime", "-c:a", "libopus"];
    let film = films::film(&room.0, "a.webm", "322x242", &args)?;
    let case = Case::new(room, "video/webm", &film).await?;
    let (_, facts) = case.good(MP4).await?;
    assert_eq!(facts.video_codec.as_deref(), Some("h264"));
    assert_eq!((facts.audio_codec.as_deref(), facts.channels), (Some("aac"), Some(2)));
    assert_eq!((facts.faststart, facts.size()), (Some(true), Some((322, 242))));
    let tiny = case.made(&films::tools(), Profile { bytes_max: 2_000, ..MP4 }).await?;
    assert!(matches!(tiny, Err(Flaw::Unfit(_) | Flaw::Unreadable(_))), "{tiny:?}");
    Ok(())
}

/// A film of a second, and what an analysis says of what was made of it.
async fn film_made(name: &str, mime: &str, args: &[&str]) -> Result<(Facts, Facts), Failure> {
    let room = Room::new();
    std::fs::create_dir_all(&room.0)?;
    let film = films::film(&room.0, name, "64x48", args)?;
    let case = Case::new(room, mime, &film).await?;
    let (_, made) = case.good(MP4).await.map_err(|failure| format!("{args:?}: {failure}"))?;
    Ok((case.facts, made))
}

fn assert_played_everywhere(what: &[&str], facts: &Facts) {
    let told = |text: &Option<String>| text.clone().unwrap_or_default();
    let picture = (told(&facts.video_codec), told(&facts.pixel_format));
    assert_eq!(picture, ("h264".to_owned(), "yuv420p".to_owned()), "{what:?}");
    assert_eq!(
        (told(&facts.audio_codec), told(&facts.audio_profile)),
        ("aac".to_owned(), "LC".to_owned()),
        "{what:?}"
    );
    assert!(
        facts.faststart == Some(true) && !facts.needs_redraw() && !facts.is_hdr(),
        "{what:?}: {facts:?}"
    );
}

#[tokio::test]
async fn whatever_is_inside_a_film_becomes_what_every_network_plays() -> Outcome {
    let h264 = ["-c:v", "libx264", "-preset", "ultrafast"];
    let with = |more: &[&'static str]| [&h264[..], more].concat();
    let cases: [(&str, &str, Vec<&str>, &str); 8] = [
        (
            "a.mp4",
            "video/mp4",
            vec!["-c:v", "libvpx-vp9", "-deadline", "realtime", "-c:a", "libopus", "-strict", "-2"],
            "vp9",
        ),
        (
            "a.mp4",
            "video/mp4",
            vec!["-c:v", "mpeg4", "-pix_fmt", "yuv420p", "-c:a", "aac"],
            "mpeg4",
        ),
        ("a.mp4", "video/mp4", with(&["-pix_fmt", "yuv444p", "-c:a", "aac"]), "h264"),
        ("a.mov", "video/quicktime", with(&["-pix_fmt", "yuv422p10le", "-c:a", "aac"]), "h264"),
        (
            "a.mov",
            "video/quicktime",
            vec![
                "-c:v",
                "libx265",
                "-preset",
                "ultrafast",
                "-x265-params",
                "log-level=none",
                "-tag:v",
                "hvc1",
                "-c:a",
                "aac",
            ],
            "hevc",
        ),
        ("a.mov", "video/quicktime", vec!["-c:v", "prores_ks", "-c:a", "pcm_s16le"], "prores"),
        ("a.mp4", "video/mp4", with(&["-pix_fmt", "yuv420p", "-c:a", "libmp3lame"]), "h264"),
        ("a.mp4", "video/mp4", with(&["-pix_fmt", "yuv420p", "-r", "90", "-c:a", "aac"]), "h264"),
    ];
    for (name, mime, args, codec) in cases {
        let (facts, made) = film_made(name, mime, &args).await?;
        assert_eq!(facts.video_codec.as_deref(), Some(codec), "{args:?}");
        assert_played_everywhere(&args, &made);
        assert!(made.frame_rate.is_some_and(|rate| rate < 60.5), "{made:?}");
    }
    Ok(())
}

#[tokio::test]
async fn high_dynamic_range_is_mapped_to_what_ordinary_screens_show() -> Outcome {
    for (transfer, told) in [("arib-std-b67", "arib-std-b67"), ("smpte2084", "smpte2084")] {
        let params =
            format!("log-level=none:colorprim=bt2020:transfer={transfer}:colormatrix=bt2020nc");
        let args = [
            "-c:v",
            "libx265",
            "-preset",
            "ultrafast",
            "-x265-params",
            &params,
            "-pix_fmt",
            "yuv420p10le",
            "-tag:v",
            "hvc1",
            "-c:a",
            "aac",
        ];
        let (facts, made) = film_made("a.mov", "video/quicktime", &args).await?;
        assert_eq!(facts.transfer.as_deref(), Some(told));
        assert_played_everywhere(&args, &made);
        assert_eq!(made.transfer.as_deref(), Some("bt709"), "{made:?}");
    }
    Ok(())
}

#[tokio::test]
async fn a_film_of_pixels_that_are_not_square_keeps_its_shape() -> Outcome {
    let args = ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-vf", "setsar=2", "-c:a", "aac"];
    let (facts, made) = film_made("a.mp4", "video/mp4", &args).await?;
    assert_eq!((facts.size(), facts.pixel_aspect), (Some((128, 48)), Some(2.0)));
    assert_played_everywhere(&args, &made);
    assert_eq!(made.size(), Some((128, 48)));
    Ok(())
}
