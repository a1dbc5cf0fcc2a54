//! Codecs of videos, for each network.

use crate::{Draft, Media, Platform, PlatformId, VideoProperties, conversions, find};

/// A film as a phone or an editor makes it for the web.
fn usual() -> VideoProperties {
    let text = |text: &str| Some(text.to_owned());
    VideoProperties {
        codec: text("h264"),
        profile: text("High"),
        pixels: text("yuv420p"),
        transfer: text("bt709"),
        sound: text("aac"),
        sound_profile: text("LC"),
        channels: Some(2),
        frame_rate: Some(29.97),
        bit_rate: Some(4_000_000),
        faststart: Some(true),
    }
}

/// Returns the form that the film is converted to in a video post of the network.
fn made(platform: &dyn Platform, mime: &str, film: VideoProperties) -> Option<(&'static str, u32)> {
    let spec = platform.spec();
    let takes = |kind: &&crate::PostType| kind.media.unwrap_or(spec.media).videos_max > 0;
    let kind = spec.post_types.iter().find(takes).expect("a post type with videos");
    let media = Media {
        url: "https://a.example/film".to_owned(),
        mime: mime.to_owned(),
        bytes: Some(1_000_000),
        dimensions: Some((1_280, 720)),
        duration_ms: Some(10_000),
        video: Some(film),
        ..Media::default()
    };
    let draft = Draft { post_type: kind.name.to_owned(), media: vec![media], ..super::draft() };
    conversions(spec, &draft).remove(0).map(|made| (made.mime, made.width_max))
}

/// Networks that look inside a video.
fn choosy() -> impl Iterator<Item = &'static dyn Platform> {
    crate::all().iter().copied().filter(|platform| {
        let spec = platform.spec();
        let kinds = spec.post_types.iter().filter_map(|kind| kind.media);
        kinds.chain([spec.media]).any(|rules| !rules.video_forms.is_empty())
    })
}

#[test]
fn every_network_that_shows_videos_looks_inside_but_those_that_take_anything() {
    let anything = [PlatformId::Youtube, PlatformId::Slack, PlatformId::Discord];
    for platform in crate::all() {
        let spec = platform.spec();
        let kinds = spec.post_types.iter().filter_map(|kind| kind.media).chain([spec.media]);
        for rules in kinds.filter(|rules| rules.videos_max > 0) {
            assert_eq!(rules.video_forms.is_empty(), anything.contains(&spec.id), "{}", spec.id);
        }
    }
    assert!(choosy().count() >= 10);
}

#[test]
fn the_usual_film_passes_everywhere_and_what_nobody_knows_does_too() {
    for platform in choosy() {
        let id = platform.spec().id;
        assert_eq!(made(platform, "video/mp4", usual()), None, "{id}");
        assert_eq!(made(platform, "video/mp4", VideoProperties::default()), None, "{id}");
        let silent =
            VideoProperties { sound: None, sound_profile: None, channels: None, ..usual() };
        assert_eq!(made(platform, "video/mp4", silent), None, "{id}");
    }
}

#[test]
fn what_a_network_refuses_inside_a_film_is_converted() {
    let text = |text: &str| Some(text.to_owned());
    let refused = [
        VideoProperties { codec: text("vp9"), profile: text("Profile 0"), ..usual() },
        VideoProperties { codec: text("mpeg4"), profile: text("Simple Profile"), ..usual() },
        VideoProperties { codec: text("hevc"), profile: text("Main"), ..usual() },
        VideoProperties {
            codec: text("prores"),
            profile: text("HQ"),
            pixels: text("yuv422p10le"),
            ..usual()
        },
        VideoProperties {
            profile: text("High 4:4:4 Predictive"),
            pixels: text("yuv444p"),
            ..usual()
        },
        VideoProperties { profile: text("High 10"), pixels: text("yuv420p10le"), ..usual() },
        VideoProperties { sound: text("opus"), sound_profile: None, ..usual() },
        VideoProperties { sound: text("mp3"), sound_profile: None, ..usual() },
        VideoProperties { transfer: text("arib-std-b67"), ..usual() },
        VideoProperties { transfer: text("smpte2084"), ..usual() },
    ];
    for platform in choosy() {
        for film in &refused {
            let found = made(platform, "video/mp4", film.clone()).map(|(mime, _)| mime);
            assert_eq!(found, Some("video/mp4"), "{}: {film:?}", platform.spec().id);
        }
    }
}

#[test]
fn what_one_network_alone_asks_for_is_asked_for_there() {
    let slow = || VideoProperties { frame_rate: Some(15.0), ..usual() };
    let fast = || VideoProperties { frame_rate: Some(90.0), ..usual() };
    let late = || VideoProperties { faststart: Some(false), ..usual() };
    let surround = || VideoProperties { channels: Some(6), ..usual() };
    let cases = [
        ("instagram", [true, true, true, true]),
        ("threads", [true, true, true, true]),
        ("tiktok", [true, true, false, false]),
        ("x", [false, true, false, false]),
        ("telegram", [false, false, false, false]),
    ];
    for (name, expected) in cases {
        let platform = find(name.parse().expect("a platform"));
        let films = [slow(), fast(), late(), surround()];
        let found = films.map(|film| made(platform, "video/mp4", film).is_some());
        assert_eq!(found, expected, "{name}");
    }
    let webm = || VideoProperties {
        codec: Some("vp9".to_owned()),
        profile: Some("Profile 0".to_owned()),
        sound: Some("opus".to_owned()),
        sound_profile: None,
        ..usual()
    };
    for (name, passes) in [("mastodon", true), ("tiktok", true), ("threads", false)] {
        let platform = find(name.parse().expect("a platform"));
        assert_eq!(made(platform, "video/webm", webm()).is_none(), passes, "{name}");
    }
    let wide = find(PlatformId::Instagram);
    assert_eq!(made(wide, "video/mp4", slow()), Some(("video/mp4", 1_920)));
}
