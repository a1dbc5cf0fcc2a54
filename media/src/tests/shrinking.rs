//! Pictures of pages, made small enough for a card.

use bytes::Bytes;
use image::{DynamicImage, ImageFormat, Rgb, RgbImage};

use super::{Failure, Outcome, Room, films};
use crate::{Flaw, Tools, shrink};

/// Noise, which no encoder makes small.
fn noise(width: u32, height: u32) -> DynamicImage {
    let mut state = 1_u32;
    RgbImage::from_fn(width, height, |_, _| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let [_, red, green, blue] = state.to_be_bytes();
        Rgb([red, green, blue])
    })
    .into()
}

fn file(picture: &DynamicImage, format: ImageFormat) -> Result<Bytes, Failure> {
    let mut file = std::io::Cursor::new(Vec::new());
    picture.write_to(&mut file, format)?;
    Ok(file.into_inner().into())
}

#[tokio::test]
async fn a_picture_is_made_smaller_until_it_fits() -> Outcome {
    let room = Room::new();
    let (tools, scratch) = (films::tools(), films::scratch(&room.0));
    for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::WebP, ImageFormat::Gif] {
        let large = file(&noise(1_000, 750), format)?;
        for most in [200_000, 20_000] {
            assert!(large.len() as u64 > most);
            let made = shrink(&tools, &scratch, &large, most).await?;
            assert!(made.len() as u64 <= most, "{format:?}: {}", made.len());
            let made = image::load_from_memory_with_format(&made, ImageFormat::Jpeg)?;
            let (width, height) = (f64::from(made.width()), f64::from(made.height()));
            assert!((width / height - 4.0 / 3.0).abs() < 0.02, "{format:?}: {width} x {height}");
        }
    }
    let wide =
        shrink(&tools, &scratch, &file(&noise(2_600, 10), ImageFormat::Png)?, 1 << 20).await?;
    assert_eq!(image::load_from_memory(&wide)?.width(), 2_000);
    drop(scratch);
    assert!(room.files()?.is_empty(), "copies go away");
    Ok(())
}

#[tokio::test]
async fn what_is_no_picture_or_cannot_be_so_small_is_a_flaw() -> Outcome {
    let room = Room::new();
    let (tools, scratch) = (Tools::none(), films::scratch(&room.0));
    let png = file(&noise(40, 30), ImageFormat::Png)?;
    for bytes in [Bytes::new(), Bytes::from_static(b"<html>"), png.slice(..png.len() / 2)] {
        let flaw = shrink(&tools, &scratch, &bytes, 1 << 20).await.err();
        assert!(matches!(flaw, Some(Flaw::Unreadable(_))), "{flaw:?}");
    }
    let flaw = shrink(&tools, &scratch, &png, 10).await.err();
    assert!(matches!(flaw, Some(Flaw::Unfit(_))), "{flaw:?}");
    Ok(())
}
