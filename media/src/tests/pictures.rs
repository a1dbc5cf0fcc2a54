//! Pictures after conversion: each property, in each form and at each size, through the one pipeline.

use image::{DynamicImage, ImageFormat, Rgb, RgbImage, RgbaImage};

use super::{
    Failure, Outcome, Room, films,
    marked::{self, QUARTERS, Said},
};
use crate::{Analysis, Facts, Profile, Target, analyse, convert};

const FORMS: [&str; 3] = ["image/jpeg", "image/png", "image/webp"];
/// Decoded here, decoded here, and decoded by ffmpeg in every form.
const SIZES: [(u32, u32); 3] = [(120, 90), (2_000, 1_500), (4_600, 3_800)];
const LARGE: (u32, u32) = SIZES[2];

/// A file after its way: what was found of it, and what was made of it, decoded.
async fn shown(
    name: &str,
    mime: &str,
    bytes: &[u8],
    target: Target,
) -> Result<(Facts, RgbaImage), Failure> {
    let room = Room::new();
    let (store, scratch) = (room.store()?, films::scratch(&room.0));
    let path = store.put("w", mime, bytes).await?;
    let told = analyse(&store, &films::tools(), &scratch, &path, mime).await;
    let Analysis { facts, .. } = told.map_err(|flaw| format!("{name}: {flaw}"))?;
    let profile = Profile { target, bytes_max: 4_000_000, width_max: 240 };
    let made = convert(&store, &films::tools(), &scratch, (&path, &facts), &profile, "made").await;
    let made = made.map_err(|flaw| format!("{name}: {flaw}"))?;
    let bytes = store.read(&made.path, u64::MAX).await?;
    let picture = image::load_from_memory(&bytes)?.into_rgba8();
    assert_eq!(
        (made.width, made.height),
        (Some(picture.width()), Some(picture.height())),
        "{name}"
    );
    let again = analyse(&store, &films::tools(), &scratch, &made.path, &made.mime).await?;
    assert!(!again.facts.needs_redraw(), "{name}: {again:?}");
    Ok((facts, picture))
}

/// Looks into the middle of each quarter.
fn assert_quarters(name: &str, picture: &RgbaImage, expected: [[u8; 3]; 4]) {
    let (width, height) = picture.dimensions();
    for (place, expected) in expected.into_iter().enumerate() {
        let (x, y) =
            (width / 4 + place as u32 % 2 * width / 2, height / 4 + place as u32 / 2 * height / 2);
        assert_colour(name, picture, (x, y), expected);
    }
}

fn assert_colour(name: &str, picture: &RgbaImage, (x, y): (u32, u32), expected: [u8; 3]) {
    let [red, green, blue, _] = picture.get_pixel(x, y).0;
    let near =
        [red, green, blue].iter().zip(expected).all(|(seen, meant)| seen.abs_diff(meant) <= 10);
    assert!(near, "{name} at {x}, {y}: {:?} and not {expected:?}", [red, green, blue]);
}

#[tokio::test]
async fn every_orientation_of_every_form_and_size_is_shown_upright() -> Outcome {
    for (mime, (width, height)) in FORMS.iter().flat_map(|mime| SIZES.map(|size| (*mime, size))) {
        let format = ImageFormat::from_mime_type(mime).ok_or("no type")?;
        let plain = films::encoded(&marked::quarters(width, height), format)?;
        // Of the larger ones some that only mirror, that turn, and that do all.
        let wanted = match (mime, width) {
            (_, 120) | ("image/jpeg", 2_000) => (1..=8).collect(),
            (_, 2_000) => vec![4, 6],
            ("image/jpeg", _) => vec![2, 7],
            _ => vec![5],
        };
        for orientation in wanted {
            let name = format!("{mime}, {width}, orientation {orientation}");
            let said = Said { orientation: Some(orientation), ..Said::default() };
            let (facts, picture) =
                shown(&name, mime, &marked::marked(mime, &plain, said), Target::Jpeg).await?;
            let size = if orientation >= 5 { (height, width) } else { (width, height) };
            assert_eq!((facts.size(), facts.orientation), (Some(size), orientation), "{name}");
            assert_eq!(facts.needs_redraw(), orientation > 1, "{name}");
            assert_eq!(picture.width() > picture.height(), size.0 > size.1, "{name}");
            assert_quarters(&name, &picture, marked::seen(orientation));
        }
    }
    Ok(())
}

#[tokio::test]
async fn colours_of_a_profile_are_converted_in_every_form_and_size() -> Outcome {
    let profile = marked::exchanged()?;
    let usual = moxcms::ColorProfile::new_srgb().encode().map_err(|error| format!("{error:?}"))?;
    for (mime, (width, height)) in FORMS.iter().flat_map(|mime| SIZES.map(|size| (*mime, size))) {
        let name = format!("{mime}, {width}, with a profile");
        let picture = marked::quarters(width, height);
        let said = Said { profile: Some(&profile), orientation: Some(3), ..Said::default() };
        let file = marked::file(mime, &picture, said)?;
        let (facts, picture) = shown(&name, mime, &file, Target::Jpeg).await?;
        assert_eq!(facts.colours.as_deref(), Some("profile"), "{name}");
        let exchanged = marked::seen(3).map(|[red, green, blue]| [red, blue, green]);
        assert_quarters(&name, &picture, exchanged);
        if (width, height) == SIZES[0] {
            let said = Said { profile: Some(&usual), ..Said::default() };
            let file = marked::file(mime, &marked::quarters(width, height), said)?;
            let (facts, picture) = shown(&name, mime, &file, Target::Png).await?;
            assert!(!facts.needs_redraw(), "{name}: sRGB by another name is sRGB");
            assert_quarters(&name, &picture, QUARTERS);
        }
    }
    Ok(())
}

#[tokio::test]
async fn wide_colours_and_grey_profiles_and_gammas_look_as_they_did() -> Outcome {
    let profile = |made: moxcms::ColorProfile| made.encode().map_err(|error| format!("{error:?}"));
    let wide = profile(moxcms::ColorProfile::new_display_p3())?;
    let flat = |colour: [u8; 3]| DynamicImage::ImageRgb8(RgbImage::from_pixel(40, 30, Rgb(colour)));
    let said = Said { profile: Some(&wide), ..Said::default() };
    // Display P3 of these numbers, by the published matrices, in sRGB.
    let file = marked::file("image/jpeg", &flat([200, 120, 60]), said)?;
    let (_, picture) = shown("Display P3", "image/jpeg", &file, Target::Png).await?;
    assert_colour("Display P3", &picture, (20, 15), [214, 118, 44]);
    let linear = profile(moxcms::ColorProfile::new_gray_with_gamma(1.0))?;
    let said = Said { profile: Some(&linear), ..Said::default() };
    let grey = DynamicImage::ImageLuma8(flat([55; 3]).to_luma8());
    let (_, picture) =
        shown("linear grey", "image/png", &marked::file("image/png", &grey, said)?, Target::Png)
            .await?;
    assert_colour("linear grey", &picture, (20, 15), [127; 3]);
    Ok(())
}

#[tokio::test]
async fn what_is_transparent_becomes_white_or_stays() -> Outcome {
    let forms = [
        ("image/png", SIZES[1]),
        ("image/webp", SIZES[0]),
        ("image/gif", SIZES[0]),
        ("image/png", LARGE),
    ];
    for (mime, (width, height)) in forms {
        let file = marked::file(mime, &films::half(width, height), Said::default())?;
        let name = format!("{mime}, {width}, half transparent");
        let (facts, flat) = shown(&name, mime, &file, Target::Jpeg).await?;
        assert!(facts.alpha && !facts.needs_redraw(), "{name}: {facts:?}");
        let (left, right) = (flat.width() / 4, flat.width() * 3 / 4);
        assert_colour(&name, &flat, (left, 20), [255, 0, 0]);
        assert_colour(&name, &flat, (right, 20), [255; 3]);
        let (_, clear) = shown(&name, mime, &file, Target::Png).await?;
        assert_eq!(
            (clear.get_pixel(left, 20).0, clear.get_pixel(right, 20).0[3]),
            ([255, 0, 0, 255], 0),
            "{name}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn sixteen_bits_and_four_inks_keep_their_colours() -> Outcome {
    for size in [SIZES[1], LARGE] {
        let deep = DynamicImage::ImageRgb16(marked::quarters(size.0, size.1).to_rgb16());
        let name = format!("16 bits, {size:?}");
        let file = marked::file("image/png", &deep, Said::default())?;
        let (_, picture) = shown(&name, "image/png", &file, Target::Jpeg).await?;
        assert_quarters(&name, &picture, QUARTERS);
        let name = format!("four inks, {size:?}");
        let [wide, high] = [size.0, size.1].map(|side| u16::try_from(side).unwrap_or(0));
        let file = marked::cmyk(wide, high, [230, 120, 30, 255]);
        let (facts, picture) = shown(&name, "image/jpeg", &file, Target::Jpeg).await?;
        assert_eq!(facts.colours.as_deref(), Some("cmyk"));
        assert_colour(&name, &picture, (50, 50), [230, 120, 30]);
    }
    Ok(())
}

#[tokio::test]
async fn pixels_that_are_not_square_are_stretched() -> Outcome {
    let forms = [
        ("image/jpeg", SIZES[0]),
        ("image/png", SIZES[1]),
        ("image/gif", SIZES[0]),
        ("image/jpeg", LARGE),
    ];
    for (mime, (width, height)) in forms {
        let name = format!("{mime}, {width}, pixels twice as wide");
        let plain = marked::quarters(width, height);
        let said = Said { pixel: Some((2, 1)), orientation: Some(6), ..Said::default() };
        let (facts, picture) =
            shown(&name, mime, &marked::file(mime, &plain, said)?, Target::Jpeg).await?;
        // A GIF has no orientation.
        let turned = mime != "image/gif";
        let size = if turned { (height, width * 2) } else { (width * 2, height) };
        assert_eq!((facts.size(), facts.pixel_aspect), (Some(size), Some(2.0)), "{name}");
        let (wide, high) = (f64::from(picture.width()), f64::from(picture.height()));
        let (ratio, meant) = (wide / high, f64::from(size.0) / f64::from(size.1));
        assert!((ratio / meant - 1.0).abs() < 0.02, "{name}: {ratio}");
        assert_quarters(&name, &picture, marked::seen(if turned { 6 } else { 1 }));
    }
    Ok(())
}

#[tokio::test]
async fn what_is_made_of_a_picture_is_the_same_whoever_decoded_it() -> Outcome {
    let (room, tools) = (Room::new(), films::tools());
    let (store, scratch) = (room.store()?, films::scratch(&room.0));
    // The same noise, decoded here and, in a file beyond the budget, by ffmpeg.
    std::fs::create_dir_all(&room.0)?;
    let args = ["-an", "-frames:v", "1", "-pix_fmt", "yuvj444p", "-q:v", "2"];
    let plain = films::film(&room.0, "a.jpg", "2600x2000", &args)?;
    let said = Said { orientation: Some(5), ..Said::default() };
    let here = marked::marked("image/jpeg", &plain, said);
    let scan = here.windows(2).position(|two| two == b"\xff\xda").ok_or("no scan")?;
    let mut there = here.clone();
    // Segments that nobody reads.
    let padding = super::files::segment(0xef, &vec![0; 65_533]).repeat(560);
    there.splice(scan..scan, padding);
    let mut pictures = Vec::new();
    for bytes in [here, there] {
        let path = store.put("w", "image/jpeg", &bytes).await?;
        let Analysis { facts, .. } = analyse(&store, &tools, &scratch, &path, "image/jpeg").await?;
        let profile = Profile { target: Target::Png, bytes_max: 9_000_000, width_max: 200 };
        let made = convert(&store, &tools, &scratch, (&path, &facts), &profile, "made").await?;
        pictures
            .push(image::load_from_memory(&store.read(&made.path, u64::MAX).await?)?.into_rgba8());
    }
    let far =
        pictures[0].as_raw().iter().zip(pictures[1].as_raw()).map(|(a, b)| a.abs_diff(*b)).max();
    assert!(far <= Some(4), "{far:?}");
    Ok(())
}
