//! Analyses of real files, with ffmpeg and without.

use image::ImageFormat;

use super::{Failure, Outcome, Room, files, films};
use crate::{Analysis, Facts, Flaw, Intake, Sizes, Tools, analyse};

async fn told(
    room: &Room,
    tools: &Tools,
    mime: &str,
    bytes: &[u8],
) -> Result<Result<Analysis, Flaw>, Failure> {
    let store = room.store()?;
    let path = store.put("w", mime, bytes).await?;
    Ok(analyse(&store, tools, &films::scratch(&room.0), &path, mime).await)
}

async fn facts(room: &Room, tools: &Tools, mime: &str, bytes: &[u8]) -> Result<Facts, Failure> {
    Ok(told(room, tools, mime, bytes).await??.facts)
}

#[tokio::test]
async fn films_are_told_alike_by_ffprobe_and_by_their_containers() -> Outcome {
    let room = Room::new();
    std::fs::create_dir_all(&room.0)?;
    let h264 = ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-c:a", "aac", "-ac", "2"];
    let vp9 = [
        "-c:v",
        "libvpx-vp9",
        "-b:v",
        "200k",
        "-deadline",
        "realtime",
        "-c:a",
        "libopus",
        "-ac",
        "1",
    ];
    let fast = [&h264[..], &["-movflags", "+faststart"]].concat();
    let cases = [
        ("a.mp4", "video/mp4", h264.to_vec(), Some(false), "h264", "aac", 2, (320, 240)),
        ("b.mp4", "video/mp4", fast, Some(true), "h264", "aac", 2, (320, 240)),
        ("c.mov", "video/quicktime", h264.to_vec(), Some(false), "h264", "aac", 2, (240, 320)),
        ("d.webm", "video/webm", vp9.to_vec(), None, "vp9", "opus", 1, (320, 240)),
    ];
    for (name, mime, args, faststart, video, audio, channels, size) in cases {
        let mut film = films::film(&room.0, name, "320x240", &args)?;
        if size.0 < size.1 {
            films::turn(&mut film)?;
        }
        for tools in [films::tools(), Tools::none()] {
            let found = told(&room, &tools, mime, &film).await??;
            let facts = &found.facts;
            assert_eq!(facts.size(), Some(size), "{name}: {facts:?}");
            assert_eq!(facts.video_codec.as_deref(), Some(video), "{name}: {facts:?}");
            assert_eq!(facts.audio_codec.as_deref(), Some(audio), "{name}: {facts:?}");
            assert_eq!((facts.channels, facts.faststart), (Some(channels), faststart), "{name}");
            let ms = facts.duration_ms.unwrap_or(0);
            assert!((950..1_100).contains(&ms), "{name}: {ms}");
            let rate = facts.frame_rate.unwrap_or(25.0);
            assert!((rate - 25.0).abs() < 0.6, "{name}: {rate}");
            assert!(facts.bit_rate.is_some_and(|rate| rate > 1_000), "{name}");
            assert_eq!(facts.rotation, if size.0 < size.1 { 90 } else { 0 }, "{name}");
            let shown = tools.ffmpeg.is_some();
            assert_eq!(
                (found.poster.is_some(), facts.placeholder.is_some()),
                (shown, shown),
                "{name}"
            );
            if let Some(poster) = found.poster {
                assert_eq!(crate::dimensions(&poster), Some(size), "{name}");
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn pictures_tell_turn_transparency_and_movement() -> Outcome {
    let (room, tools) = (Room::new(), films::tools());
    let jpeg = films::encoded(&films::slope(400, 300), ImageFormat::Jpeg)?;
    let plain = facts(&room, &tools, "image/jpeg", &jpeg).await?;
    assert_eq!((plain.size(), plain.alpha, plain.animated), (Some((400, 300)), false, false));
    assert_eq!(plain.placeholder.as_ref().map(String::len), Some(28));
    let turned = films::with_segments(&jpeg, &files::exif(6, true));
    let turned = facts(&room, &tools, "image/jpeg", &turned).await?;
    assert_eq!((turned.size(), turned.orientation), (Some((300, 400)), 6));
    assert_ne!(turned.placeholder, plain.placeholder);
    for (mime, format) in [("image/png", ImageFormat::Png), ("image/webp", ImageFormat::WebP)] {
        let half =
            facts(&room, &tools, mime, &films::encoded(&films::half(40, 30), format)?).await?;
        assert!(half.alpha && half.placeholder.is_some(), "{mime}: {half:?}");
        let whole =
            facts(&room, &tools, mime, &films::encoded(&films::slope(40, 30), format)?).await?;
        assert!(!whole.alpha, "{mime}");
    }
    std::fs::create_dir_all(&room.0)?;
    let gif = films::film(&room.0, "a.gif", "64x48", &["-an"])?;
    let moving = facts(&room, &tools, "image/gif", &gif).await?;
    assert!(moving.animated && moving.duration_ms == Some(1_000), "{moving:?}");
    let still =
        facts(&room, &tools, "image/gif", &films::encoded(&films::slope(9, 9), ImageFormat::Gif)?)
            .await?;
    assert_eq!((still.animated, still.duration_ms), (false, None));
    Ok(())
}

#[tokio::test]
async fn a_picture_beyond_the_budget_is_decoded_elsewhere_or_only_measured() -> Outcome {
    let room = Room::new();
    let large = films::encoded(&films::slope(4_000, 3_000), ImageFormat::Png)?;
    let with = facts(&room, &films::tools(), "image/png", &large).await?;
    let without = facts(&room, &Tools::none(), "image/png", &large).await?;
    assert_eq!(
        (with.size(), with.placeholder.as_ref().map(String::len)),
        (Some((4_000, 3_000)), Some(28))
    );
    assert_eq!((without.size(), without.placeholder), (Some((4_000, 3_000)), None));
    Ok(())
}

#[tokio::test]
async fn a_file_that_was_cut_off_is_told_as_that() -> Outcome {
    let (room, tools) = (Room::new(), films::tools());
    std::fs::create_dir_all(&room.0)?;
    let film =
        films::film(&room.0, "a.mp4", "320x240", &["-c:v", "libx264", "-pix_fmt", "yuv420p"])?;
    let mut whole = vec![("video/mp4", film)];
    for (mime, format) in [
        ("image/jpeg", ImageFormat::Jpeg),
        ("image/png", ImageFormat::Png),
        ("image/gif", ImageFormat::Gif),
        ("image/webp", ImageFormat::WebP),
    ] {
        whole.push((mime, films::encoded(&films::slope(300, 200), format)?));
    }
    for (mime, bytes) in whole {
        assert!(told(&room, &tools, mime, &bytes).await?.is_ok(), "{mime}");
        let half = &bytes[..bytes.len() / 2];
        for tools in [&tools, &Tools::none()] {
            let flaw = told(&room, tools, mime, half).await?.err();
            assert!(matches!(flaw, Some(Flaw::Unreadable(_))), "{mime}: {flaw:?}");
        }
    }
    let empty = told(&room, &tools, "image/png", b"").await?;
    assert!(matches!(empty, Err(Flaw::Unreadable(_))), "{empty:?}");
    Ok(())
}

#[tokio::test]
async fn the_place_of_a_picture_never_reaches_the_store() -> Outcome {
    let (room, plain) = (Room::new(), films::encoded(&films::slope(300, 200), ImageFormat::Jpeg)?);
    let words =
        b"http://ns.adobe.com/xap/1.0/\0<x exif:GPSLatitude=\"52,SECRET\" dc:rights=\"mine\"/>";
    let located = films::with_segments(&plain, &files::segment(0xe1, words));
    let store = room.store()?;
    let mut intake = Intake::new(&store, "w", Sizes::all(1_000_000));
    for piece in located.chunks(7) {
        intake.write(piece).await?;
    }
    let taken = intake.finish().await?;
    let stored = store.read(&taken.path, u64::MAX).await?;
    let has = |word: &[u8]| stored.windows(word.len()).any(|found| found == word);
    assert!(!has(b"SECRET") && has(b"mine"));
    assert_eq!((stored.len(), taken.bytes), (located.len(), located.len() as u64));
    assert_eq!(image::load_from_memory(&stored)?, image::load_from_memory(&plain)?);
    Ok(())
}
