//! A picture as displayed, in sRGB, and its encoding as a file.

use std::{
    fmt::Display,
    io::{self, Write},
};

use image::{ExtendedColorType, ImageEncoder, RgbaImage, codecs::jpeg::JpegEncoder};

use super::memory::{Pixels, pixels};
use crate::Flaw;

/// The size of a piece of a PNG, in bytes.
const PNG_CHUNK: usize = 64 * 1024;

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
#[derive(Debug)]
pub(crate) struct Canvas {
    /// The size as displayed.
    size: (u32, u32),
    /// The size of the rows that are added.
    lying: (u32, u32),
    orientation: u8,
    ground: Background,
    bytes: Pixels,
    /// The number of rows so far.
    rows: u32,
}

impl Canvas {
    /// Creates a canvas for rows of this size, which are drawn as the Exif orientation says (CIPA DC-008, 4.6.4).
    pub fn new(lying: (u32, u32), orientation: u8, ground: Background) -> Result<Self, Flaw> {
        let size = if orientation >= 5 { (lying.1, lying.0) } else { lying };
        let bytes = pixels(Self::memory(size, ground))?;
        Ok(Self { size, lying, orientation, ground, bytes, rows: 0 })
    }

    /// Returns the memory of a canvas of this size, in bytes.
    pub const fn memory(size: (u32, u32), ground: Background) -> u64 {
        size.0 as u64 * size.1 as u64 * ground.channels() as u64
    }

    /// Adds a row of linear colours that are premultiplied by alpha.
    pub fn add_row(&mut self, row: &[[f32; 4]]) {
        let each = self.ground.channels();
        for (x, [red, green, blue, alpha]) in (0..).zip(row) {
            let light = |part: &f32| match self.ground {
                Background::White => part + 255.0 - alpha,
                Background::Clear if *alpha > 0.0 => part * 255.0 / alpha,
                Background::Clear => 0.0,
            };
            let pixel = [light(red), light(green), light(blue), *alpha].map(to_byte);
            let at = self.place(x) * each;
            self.bytes[at..at + each].copy_from_slice(&pixel[..each]);
        }
        self.rows += 1;
    }

    /// Returns the place of a pixel of the next row: pixels are turned and mirrored where they are written, since a
    /// second canvas would take as much memory again.
    fn place(&self, x: usize) -> usize {
        let (width, height) = (self.lying.0 as usize, self.lying.1 as usize);
        let y = self.rows as usize;
        let (x, y) = match self.orientation {
            2 => (width - 1 - x, y),
            3 => (width - 1 - x, height - 1 - y),
            4 => (x, height - 1 - y),
            5 => (y, x),
            6 => (height - 1 - y, x),
            7 => (height - 1 - y, width - 1 - x),
            8 => (y, width - 1 - x),
            _ => (x, y),
        };
        y * self.size.0 as usize + x
    }

    /// Returns the width and height.
    pub const fn size(&self) -> (u32, u32) {
        self.size
    }

    /// Returns true if all rows have been added.
    pub fn is_complete(&self) -> bool {
        self.rows == self.lying.1
    }

    /// Encodes the picture as a JPEG of at most `most` bytes; `None` if it has more. Fails for a canvas that may be
    /// transparent.
    pub fn jpeg(&self, quality: u8, most: u64) -> Result<Option<Vec<u8>>, Flaw> {
        let mut file = BoundedFile::new(most);
        let encoder = JpegEncoder::new_with_quality(&mut file, quality);
        let (width, height) = self.size;
        let written = encoder.write_image(&self.bytes, width, height, ExtendedColorType::Rgb8);
        file.finish(written)
    }

    /// Encodes the picture as a PNG of at most `most` bytes; `None` if it has more. It is written as it is compressed:
    /// the encoder of `image` first keeps all of it, however much that is.
    pub fn png(&self, most: u64) -> Result<Option<Vec<u8>>, Flaw> {
        let mut file = BoundedFile::new(most);
        let written = self.write_png(&mut file);
        file.finish(written)
    }

    fn write_png(&self, file: &mut BoundedFile) -> Result<(), png::EncodingError> {
        let mut encoder = png::Encoder::new(file, self.size.0, self.size.1);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_color(match self.ground {
            Background::White => png::ColorType::Rgb,
            Background::Clear => png::ColorType::Rgba,
        });
        let mut writer = encoder.write_header()?;
        let mut rows = writer.stream_writer_with_size(PNG_CHUNK)?;
        rows.write_all(&self.bytes)?;
        rows.finish()
    }

    /// Returns the pixels as RGBA, if they may be transparent.
    pub fn into_rgba(self) -> Option<RgbaImage> {
        RgbaImage::from_raw(self.size.0, self.size.1, self.bytes.to_vec())
    }
}

/// A file in memory that takes no more than it may have.
struct BoundedFile {
    bytes: Vec<u8>,
    most: usize,
    is_full: bool,
}

impl BoundedFile {
    fn new(most: u64) -> Self {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        Self { bytes: Vec::new(), most, is_full: false }
    }

    fn finish<E: Display>(self, written: Result<(), E>) -> Result<Option<Vec<u8>>, Flaw> {
        if self.is_full {
            return Ok(None);
        }
        written.map_err(|error| Flaw::Unfit(error.to_string()))?;
        Ok(Some(self.bytes))
    }
}

impl Write for BoundedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.most {
            self.is_full = true;
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
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
    fn numbered(orientation: u8) -> Canvas {
        let mut canvas = Canvas::new((3, 2), orientation, Background::White).unwrap();
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
            let turned = numbered(orientation);
            let seen: Vec<u8> = turned.bytes.iter().step_by(3).copied().collect();
            assert_eq!((turned.size(), seen.as_slice()), (size, &expected[..]), "{orientation}");
        }
    }

    #[test]
    fn what_is_transparent_is_white_or_stays() {
        for (ground, expected) in
            [(Background::White, vec![255, 127, 127]), (Background::Clear, vec![255, 0, 0, 128])]
        {
            let mut canvas = Canvas::new((1, 1), 1, ground).unwrap();
            canvas.add_row(&[[128.0, 0.0, 0.0, 128.0]]);
            assert_eq!(canvas.bytes.to_vec(), expected);
        }
    }
}
