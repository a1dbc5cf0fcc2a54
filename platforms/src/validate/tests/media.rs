use serde_json::json;

use super::{Network, broken, draft, file, object, only};
use crate::{Draft, Media, Platform};

/// Codes that these files bring about in a post of this type.
fn codes(post_type: &str, media: Vec<Media>) -> Vec<(String, &'static str)> {
    let mut draft = draft();
    draft.post_type = post_type.to_owned();
    draft.media = media;
    broken(&draft)
}

#[test]
fn types_that_are_taken_unknown_or_convertible_pass() {
    for mime in ["image/png", "image/jpeg", "image/gif", "image/webp", "video/mp4", ""] {
        assert_eq!(codes("feed", vec![file(mime)]), [], "{mime}");
    }
    for mime in ["video/mp4", "video/quicktime", "video/webm"] {
        assert_eq!(codes("reel", vec![file(mime)]), [], "{mime}");
    }
}

#[test]
fn types_that_cannot_be_taken_are_named_with_those_that_can() {
    let unsupported = |index: usize| (format!("media_urls[{index}]"), "media_type_unsupported");
    assert_eq!(codes("feed", vec![file("image/tiff")]), [unsupported(0)]);
    assert_eq!(codes("feed", vec![file("video/x-msvideo")]), [unsupported(0)]);
    assert_eq!(codes("reel", vec![file("image/png")]), [unsupported(0)]);
    let mut draft = draft();
    draft.media = vec![file("audio/ogg")];
    assert_eq!(only(&draft).remedy, "Use one of: image/png, video/mp4.");
}

#[test]
fn files_are_counted_in_total_and_by_kind() {
    let count =
        |post_type, mimes: &[&str]| codes(post_type, mimes.iter().map(|mime| file(mime)).collect());
    let too_many = [("media_urls".to_owned(), "too_many_media")];
    assert_eq!(count("feed", &["image/png", "image/png"]), []);
    assert_eq!(count("feed", &["image/png", "image/png", ""]), too_many);
    assert_eq!(count("feed", &["video/mp4", "video/mp4"]), too_many);
    assert_eq!(count("note", &["image/png"]), too_many);
    assert_eq!(count("reel", &[]), [("media_urls".to_owned(), "media_required")]);
    let mixed = [("media_urls".to_owned(), "mixed_media_unsupported")];
    assert_eq!(count("feed", &["image/png", "video/mp4"]), mixed);
}

#[test]
fn sizes_and_lengths_are_checked_once_known() {
    let image = Media { bytes: Some(501), animated: true, ..file("image/png") };
    assert_eq!(codes("feed", vec![image]), [("media_urls[0]".to_owned(), "media_too_large")]);
    let image = Media { bytes: Some(500), ..file("image/png") };
    assert_eq!(codes("feed", vec![image]), []);
    let video = Media { bytes: Some(1_001), duration_ms: Some(90_501), ..file("video/mp4") };
    let expected = [
        ("media_urls[0]".to_owned(), "video_too_long"),
        ("media_urls[0]".to_owned(), "video_exceeds_platform_limit"),
    ];
    assert_eq!(codes("reel", vec![video]), expected);
    let video = Media { bytes: Some(1_000), duration_ms: Some(90_500), ..file("video/mp4") };
    assert_eq!(codes("reel", vec![video]), []);
}

#[test]
fn the_length_is_told_in_seconds() {
    let mut draft = draft();
    draft.media = vec![Media { duration_ms: Some(91_000), ..file("video/mp4") }];
    assert_eq!(only(&draft).message, "The video lasts 91 s; threads allows 90.5 s.");
}

#[test]
fn a_pdf_is_refused_by_name_and_by_type() {
    let pdf = [("media_urls[0]".to_owned(), "pdf_requires_linkedin")];
    let named = |url: &str| Media { url: url.to_owned(), ..file("") };
    assert_eq!(codes("feed", vec![named("https://a.b/Report.PDF?dl=1")]), pdf);
    assert_eq!(codes("feed", vec![named("https://a.b/report.pdf.png")]), []);
    assert_eq!(codes("feed", vec![named("https://a.b/view?file=report.pdf")]), []);
    assert_eq!(codes("feed", vec![file("application/pdf")]), pdf);
}

#[test]
fn there_are_at_most_as_many_alt_texts_as_files() {
    let mut draft = draft();
    draft.media = vec![file("image/png")];
    draft.settings = object(json!({"board": "home", "media_alt_texts": ["a", "b"]}));
    let found = only(&draft);
    assert_eq!((found.limit, found.actual), (Some(json!(1)), Some(json!(2))));
    draft.settings = object(json!({"board": "home", "media_alt_texts": ["123456789"]}));
    assert_eq!(broken(&draft), [("settings.media_alt_texts[0]".to_owned(), "setting_invalid")]);
    draft.settings = object(json!({"board": "home", "media_alt_texts": [""]}));
    assert_eq!(broken(&draft), []);
}

#[test]
fn shapes_and_shortness_are_checked_once_known() {
    let image = |width, height| Media { dimensions: Some((width, height)), ..file("image/png") };
    let aspect = [("media_urls[0]".to_owned(), "media_aspect_unsupported")];
    assert_eq!(codes("feed", vec![image(400, 510)]), aspect);
    assert_eq!(codes("feed", vec![image(400, 500)]), []);
    assert_eq!(codes("feed", vec![image(1_080, 566)]), [], "1.908");
    assert_eq!(codes("feed", vec![image(1_080, 500)]), aspect);
    let narrow = [("media_urls[0]".to_owned(), "media_dimensions_unsupported")];
    assert_eq!(codes("feed", vec![image(319, 319)]), narrow);
    let short = Media { duration_ms: Some(2_999), ..file("video/mp4") };
    assert_eq!(codes("reel", vec![short]), [("media_urls[0]".to_owned(), "video_too_short")]);
}

/// Returns the form that the only file is converted to.
fn made(media: Media) -> Option<(&'static str, u64, u32)> {
    let draft = Draft { media: vec![media], ..draft() };
    let made = crate::conversions(Network.spec(), &draft).remove(0)?;
    Some((made.mime, made.bytes_max, made.width_max))
}

#[test]
fn what_can_be_made_to_fit_is_accepted_and_made() {
    let image = |mime| Media { bytes: Some(400), ..file(mime) };
    assert_eq!(made(image("image/png")), None);
    assert_eq!(made(image("image/webp")), Some(("image/png", 500, 0)));
    assert_eq!(made(Media { animated: true, ..image("image/webp") }), None);
    assert_eq!(made(Media { bytes: Some(501), ..image("image/png") }), Some(("image/png", 500, 0)));
    let lying = Media { needs_redraw: true, ..image("image/png") };
    assert_eq!(codes("feed", vec![lying.clone()]), []);
    assert_eq!(
        made(lying.clone()),
        Some(("image/png", 500, 0)),
        "no network is trusted to turn it"
    );
    assert_eq!(made(Media { animated: true, ..lying }), None, "what moves would stand still");
    let wide = Media { dimensions: Some((1_600, 1_000)), ..image("image/png") };
    assert_eq!(codes("feed", vec![wide.clone()]), []);
    assert_eq!(made(wide), Some(("image/png", 500, 1_440)));
    let large = Media { dimensions: Some((4_000, 4_000)), ..image("image/png") };
    assert_eq!(made(large), Some(("image/png", 500, 1_440)));
    let moving = |mime| Media { bytes: Some(900), ..file(mime) };
    assert_eq!(made(moving("video/mp4")), None);
    for mime in ["video/quicktime", "video/webm", "video/x-m4v"] {
        assert_eq!(made(moving(mime)), Some(("video/mp4", 1_000, 0)), "{mime}");
        assert_eq!(codes("reel", vec![moving(mime)]), []);
    }
    assert_eq!(made(file("")), None);
}
