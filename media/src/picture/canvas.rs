//! A picture as it is shown, in sRGB, and its files.

use std::io::Cursor;

use image::{
    ExtendedColorType, ImageEncoder, RgbaImage, codecs::jpeg::JpegEncoder, codecs::png::PngEncoder,
};

use crate::Flaw;

/// The colour behind transparent pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ground {
    /// White, and nothing is transparent any more.
    White,
    /// Nothing.
    Clear,
}

impl Ground {
    const fn channels(self) -> usize {
        match self {
            Self::White => 3,
            Self::Clear => 4,
        }
    }
}

/// Pixels in memory, in rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Canvas {
    size: (u32, u32),
    ground: Ground,
    bytes: Vec<u8>,
}

impl Canvas {
    /// An empty one that rows are added to, until it has this size.
    pub fn new(size: (u32, u32), ground: Ground) -> Self {
        let bytes = Vec::with_capacity(size.0 as usize * size.1 as usize * ground.channels());
        Self { size, ground, bytes }
    }

    /// Adds a row of lights that are weighed by their alpha.
    pub fn add(&mut self, row: &[[f32; 4]]) {
        for [red, green, blue, alpha] in row {
            match self.ground {
                Ground::White => {
                    let light = |part: f32| part + 255.0 - alpha;
                    self.bytes.extend([light(*red), light(*green), light(*blue)].map(byte));
                }
                Ground::Clear => {
                    let light = |part: f32| if *alpha > 0.0 { part * 255.0 / alpha } else { 0.0 };
                    self.bytes.extend([light(*red), light(*green), light(*blue), *alpha].map(byte));
                }
            }
        }
    }

    /// Turns and mirrors it as Exif's orientation asks for (CIPA DC-008, 4.6.4).
    pub fn turned(self, orientation: u8) -> Self {
        let (width, height) = (self.size.0 as usize, self.size.1 as usize);
        if !(2..=8).contains(&orientation) {
            return self;
        }
        let on_side = orientation >= 5;
        let size = if on_side { (self.size.1, self.size.0) } else { self.size };
        let each = self.ground.channels();
        let mut bytes = Vec::with_capacity(self.bytes.len());
        for y in 0..size.1 as usize {
            for x in 0..size.0 as usize {
                let (from_x, from_y) = match orientation {
                    2 => (width - 1 - x, y),
                    3 => (width - 1 - x, height - 1 - y),
                    4 => (x, height - 1 - y),
                    5 => (y, x),
                    6 => (y, height - 1 - x),
                    7 => (width - 1 - y, height - 1 - x),
                    _ => (width - 1 - y, x),
                };
                let at = (from_y * width + from_x) * each;
                bytes.extend_from_slice(&self.bytes[at..at + each]);
            }
        }
        Self { size, bytes, ..self }
    }

    /// Width and height.
    pub const fn size(&self) -> (u32, u32) {
        self.size
    }

    /// True if all rows are there.
    pub fn is_whole(&self) -> bool {
        self.bytes.len() == self.size.0 as usize * self.size.1 as usize * self.ground.channels()
    }

    /// As a JPEG; a canvas that may be transparent makes none.
    pub fn jpeg(&self, quality: u8) -> Result<Vec<u8>, Flaw> {
        let mut file = Cursor::new(Vec::new());
        self.write(JpegEncoder::new_with_quality(&mut file, quality))?;
        Ok(file.into_inner())
    }

    /// As a PNG.
    pub fn png(&self) -> Result<Vec<u8>, Flaw> {
        let mut file = Cursor::new(Vec::new());
        self.write(PngEncoder::new(&mut file))?;
        Ok(file.into_inner())
    }

    fn write(&self, encoder: impl ImageEncoder) -> Result<(), Flaw> {
        let colours = match self.ground {
            Ground::White => ExtendedColorType::Rgb8,
            Ground::Clear => ExtendedColorType::Rgba8,
        };
        let written = encoder.write_image(&self.bytes, self.size.0, self.size.1, colours);
        written.map_err(|error| Flaw::Unfit(error.to_string()))
    }

    /// Its pixels as RGBA, if they may be transparent.
    pub fn into_rgba(self) -> Option<RgbaImage> {
        RgbaImage::from_raw(self.size.0, self.size.1, self.bytes)
    }
}

fn byte(part: f32) -> u8 {
    // Never beyond its range by more than a rounding.
    part.round().clamp(0.0, 255.0) as u8
}

#[cfg(test)]
mod tests {
    use super::{Canvas, Ground};

    /// Two rows of three grey pixels, whose value is their place.
    fn numbered() -> Canvas {
        let mut canvas = Canvas::new((3, 2), Ground::White);
        for row in [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] {
            canvas.add(&row.map(|value| [value, value, value, 255.0]));
        }
        canvas
    }

    #[test]
    fn each_orientation_turns_and_mirrors_as_exif_says() {
        let cases: [(u8, (u32, u32), [u8; 6]); 8] = [
            (1, (3, 2), [0, 1, 2, 3, 4, 5]),
            (2, (3, 2), [2, 1, 0, 5, 4, 3]),
            (3, (3, 2), [5, 4, 3, 2, 1, 0]),
            (4, (3, 2), [3, 4, 5, 0, 1, 2]),
            (5, (2, 3), [0, 3, 1, 4, 2, 5]),
            (6, (2, 3), [3, 0, 4, 1, 5, 2]),
            (7, (2, 3), [5, 2, 4, 1, 3, 0]),
            (8, (2, 3), [2, 5, 1, 4, 0, 3]),
        ];
        for (orientation, size, expected) in cases {
            let turned = numbered().turned(orientation);
            let seen: Vec<u8> = turned.bytes.iter().step_by(3).copied().collect();
            assert_eq!((turned.size(), seen.as_slice()), (size, &expected[..]), "{orientation}");
        }
    }

    #[test]
    fn what_is_transparent_is_white_or_stays() {
        for (ground, expected) in
            [(Ground::White, vec![255, 127, 127]), (Ground::Clear, vec![255, 0, 0, 128])]
        {
            let mut canvas = Canvas::new((1, 1), ground);
            canvas.add(&[[128.0, 0.0, 0.0, 128.0]]);
            assert_eq!(canvas.bytes, expected);
        }
    }
}
