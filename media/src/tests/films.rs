//! Films and pictures that are real, made when they are needed.

use std::{
    io::Cursor,
    path::{Path, PathBuf},
    process::Command,
};

use image::{DynamicImage, ImageFormat, Rgb, RgbImage, Rgba, RgbaImage};

use super::Failure;
use crate::{Scratch, Tools};

/// The tools of this machine; the tests need all of them.
pub fn tools() -> Tools {
    let tools = Tools::find(None, std::env::var_os("PATH").as_deref());
    assert!(tools.ffmpeg.is_some() && tools.ffprobe.is_some(), "these tests need ffmpeg");
    tools
}

/// Room for copies, in a place of its own.
pub fn scratch(dir: &Path) -> Scratch {
    Scratch::new(dir.join("scratch"), 1 << 30)
}

/// Runs ffmpeg over a second of a test picture (`size`) and a tone, and reads what it made.
pub fn film(dir: &Path, name: &str, size: &str, args: &[&str]) -> Result<Vec<u8>, Failure> {
    let at: PathBuf = dir.join(name);
    let picture = format!("testsrc=size={size}:rate=25:duration=1");
    let made = Command::new(tools().ffmpeg.unwrap_or_default())
        .args(["-v", "error", "-y", "-f", "lavfi", "-i", &picture])
        .args(["-f", "lavfi", "-i", "sine=frequency=440:duration=1", "-shortest"])
        .args(args)
        .arg(&at)
        .output()?;
    if !made.status.success() {
        return Err(String::from_utf8_lossy(&made.stderr).into_owned().into());
    }
    Ok(std::fs::read(at)?)
}

/// Says in the header of a film's first track that it is shown a quarter turned clockwise, as phones do.
pub fn turn(film: &mut [u8]) -> Result<(), Failure> {
    // The matrix of `tkhd` in version 0: a, b, u, c, d, v, x, y, w.
    const MATRIX: [u32; 9] = [0, 0x0001_0000, 0, 0xffff_0000, 0, 0, 0, 0, 0x4000_0000];
    let header = film.windows(4).position(|name| name == b"tkhd").ok_or("no track")?;
    let at = header + 4 + 40;
    let bytes: Vec<u8> = MATRIX.iter().flat_map(|number| number.to_be_bytes()).collect();
    film.get_mut(at..at + bytes.len()).ok_or("it ends too early")?.copy_from_slice(&bytes);
    Ok(())
}

/// A picture with a slope of colours, so that it neither compresses to nothing nor looks the same turned.
pub fn slope(width: u32, height: u32) -> DynamicImage {
    let part = |at: u32, of: u32| u8::try_from(at * 255 / of.max(1)).unwrap_or(255);
    DynamicImage::ImageRgb8(RgbImage::from_fn(width, height, |x, y| {
        Rgb([part(x, width), part(y, height), 60])
    }))
}

/// Half red, half nothing.
pub fn half(width: u32, height: u32) -> DynamicImage {
    DynamicImage::ImageRgba8(RgbaImage::from_fn(width, height, |x, _| {
        if x < width / 2 { Rgba([255, 0, 0, 255]) } else { Rgba([0, 0, 0, 0]) }
    }))
}

pub fn encoded(picture: &DynamicImage, format: ImageFormat) -> Result<Vec<u8>, Failure> {
    let mut bytes = Cursor::new(Vec::new());
    picture.write_to(&mut bytes, format)?;
    Ok(bytes.into_inner())
}

/// The JPEG with these segments right after its beginning.
pub fn with_segments(jpeg: &[u8], segments: &[u8]) -> Vec<u8> {
    [&jpeg[..2], segments, &jpeg[2..]].concat()
}
