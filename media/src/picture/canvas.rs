//! A picture as displayed, in sRGB, and its encoding as a file.

use std::io::Cursor;

use image::{
    ExtendedColorType, ImageEncoder, RgbaImage, codecs::jpeg::JpegEncoder, codecs::png::PngEncoder,
};

use crate::Flaw;

/// The background of transparent pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Background {
    /// White: no pixel stays transparent.
    White,
    /// None: pixels stay transparent.
    Clear,
}

impl Background {
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
    ground: Background,
    bytes: Vec<u8>,
}

impl Canvas {
    /// Creates an empty canvas of this size, to which rows are added.
    pub fn new(size: (u32, u32), ground: Background) -> Self {
        let bytes = Vec::with_capacity(size.0 as usize * size.1 as usize * ground.channels());
        Self { size, ground, bytes }
    }

    /// Adds a row of linear colours that are premultiplied by alpha.
    pub fn add_row(&mut self, row: &[[f32; 4]]) {
        for [red, green, blue, alpha] in row {
            match self.ground {
                Background::White => {
                    let light = |part: f32| part + 255.0 - alpha;
                    self.bytes.extend([light(*red), light(*green), light(*blue)].map(to_byte));
                }
                Background::Clear => {
                    let light = |part: f32| if *alpha > 0.0 { part * 255.0 / alpha } else { 0.0 };
                    self.bytes
                        .extend([light(*red), light(*green), light(*blue), *alpha].map(to_byte));
                }
            }
        }
    }

    /// Rotates and mirrors the picture according to its Exif orientation (CIPA DC-008, 4.6.4).
    pub fn oriented(self, orientation: u8) -> Self {
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

    /// Returns the width and height.
    pub const fn size(&self) -> (u32, u32) {
        self.size
    }

    /// Returns true if all rows have been added.
    pub fn is_complete(&self) -> bool {
        self.bytes.len() == self.size.0 as usize * self.size.1 as usize * self.ground.channels()
    }

    /// Encodes the picture as a JPEG. Fails for a canvas that may be transparent.
    pub fn jpeg(&self, quality: u8) -> Result<Vec<u8>, Flaw> {
        let mut file = Cursor::new(Vec::new());
        self.write(JpegEncoder::new_with_quality(&mut file, quality))?;
        Ok(file.into_inner())
    }

    /// Encodes the picture as a PNG.
    pub fn png(&self) -> Result<Vec<u8>, Flaw> {
        let mut file = Cursor::new(Vec::new());
        self.write(PngEncoder::new(&mut file))?;
        Ok(file.into_inner())
    }

    fn write(&self, encoder: impl ImageEncoder) -> Result<(), Flaw> {
        let colours = match self.ground {
            Background::White => ExtendedColorType::Rgb8,
            Background::Clear => ExtendedColorType::Rgba8,
        };
        let written = encoder.write_image(&self.bytes, self.size.0, self.size.1, colours);
        written.map_err(|error| Flaw::Unfit(error.to_string()))
    }

    /// Returns the pixels as RGBA, if they may be transparent.
    pub fn into_rgba(self) -> Option<RgbaImage> {
        RgbaImage::from_raw(self.size.0, self.size.1, self.bytes)
    }
}

fn to_byte(part: f32) -> u8 {
    // Exceeds the range at most by a rounding error.
    part.round().clamp(0.0, 255.0) as u8
}

#[cfg(test)]
mod tests {
    use super::{Background, Canvas};

    /// Two rows of three grey pixels, whose value is their place.
    fn numbered() -> Canvas {
        let mut canvas = Canvas::new((3, 2), Background::White);
        for row in [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] {
            canvas.add_row(&row.map(|value| [value, value, value, 255.0]));
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
            let turned = numbered().oriented(orientation);
            let seen: Vec<u8> = turned.bytes.iter().step_by(3).copied().collect();
            assert_eq!((turned.size(), seen.as_slice()), (size, &expected[..]), "{orientation}");
        }
    }

    #[test]
    fn what_is_transparent_is_white_or_stays() {
        for (ground, expected) in
            [(Background::White, vec![255, 127, 127]), (Background::Clear, vec![255, 0, 0, 128])]
        {
            let mut canvas = Canvas::new((1, 1), ground);
            canvas.add_row(&[[128.0, 0.0, 0.0, 128.0]]);
            assert_eq!(canvas.bytes, expected);
        }
    }
}
