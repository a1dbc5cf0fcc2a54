//! Sources of the rows of a picture: a decoder in this process, or the output of ffmpeg.

use std::io::{BufRead, Read, Seek};

use image::{ColorType, ImageDecoder, ImageFormat, ImageReader};

use super::{
    decoder_flaw, decoder_limits,
    memory::{self, Pixels, pixels},
};
use crate::Flaw;

/// A source of rows as stored, from the top, in RGBA with 8 bits per channel.
pub(crate) trait RowSource {
    /// Width and height.
    fn size(&self) -> (u32, u32);

    /// Writes the next row to `row`.
    fn next(&mut self, row: &mut [u8]) -> Result<(), Flaw>;
}

/// The most that a decoder allocates, in bytes: what is reserved for it, and room for an estimate that was too low.
const DECODER_MAX: u64 = memory::BUDGET + 16 * 1024 * 1024;

/// A picture that was decoded in this process.
pub(crate) struct Decoded {
    size: (u32, u32),
    colours: ColorType,
    bytes: Pixels,
    at: usize,
}

impl Decoded {
    /// Decodes the first picture of a file.
    pub fn read(from: impl BufRead + Seek, format: ImageFormat) -> Result<Self, Flaw> {
        let mut reader = ImageReader::with_format(from, format);
        reader.limits(decoder_limits(DECODER_MAX));
        let decoder = reader.into_decoder().map_err(decoder_flaw)?;
        let (size, colours) = (decoder.dimensions(), decoder.color_type());
        let mut bytes = pixels(decoder.total_bytes())?;
        decoder.read_image(&mut bytes).map_err(decoder_flaw)?;
        Ok(Self { size, colours, bytes, at: 0 })
    }
}

impl RowSource for Decoded {
    fn size(&self) -> (u32, u32) {
        self.size
    }

    fn next(&mut self, row: &mut [u8]) -> Result<(), Flaw> {
        let each = usize::from(self.colours.bytes_per_pixel());
        let length = self.size.0 as usize * each;
        let stored = self.bytes.get(self.at..self.at + length);
        let stored = stored.ok_or_else(|| Flaw::Unreadable("it ends too early".to_owned()))?;
        self.at += length;
        for (pixel, stored) in row.chunks_exact_mut(4).zip(stored.chunks_exact(each)) {
            pixel.copy_from_slice(&rgba(self.colours, stored)?);
        }
        Ok(())
    }
}

fn rgba(colours: ColorType, stored: &[u8]) -> Result<[u8; 4], Flaw> {
    // The decoder returns 16-bit values in native byte order.
    let wide = |at: usize| {
        let value = u16::from_ne_bytes([stored[at * 2], stored[at * 2 + 1]]);
        u8::try_from((u32::from(value) * 255 + 32_767) / 65_535).unwrap_or(255)
    };
    Ok(match colours {
        ColorType::L8 => [stored[0], stored[0], stored[0], 255],
        ColorType::La8 => [stored[0], stored[0], stored[0], stored[1]],
        ColorType::Rgb8 => [stored[0], stored[1], stored[2], 255],
        ColorType::Rgba8 => [stored[0], stored[1], stored[2], stored[3]],
        ColorType::L16 => [wide(0), wide(0), wide(0), 255],
        ColorType::La16 => [wide(0), wide(0), wide(0), wide(1)],
        ColorType::Rgb16 => [wide(0), wide(1), wide(2), 255],
        ColorType::Rgba16 => [wide(0), wide(1), wide(2), wide(3)],
        _ => {
            return Err(Flaw::Unreadable("its colours are of a kind that is not known".to_owned()));
        }
    })
}

/// Rows that another process decodes, as RGB or RGBA.
pub(crate) struct Piped<'a> {
    pub size: (u32, u32),
    pub alpha: bool,
    pub from: &'a mut dyn Read,
}

impl RowSource for Piped<'_> {
    fn size(&self) -> (u32, u32) {
        self.size
    }

    fn next(&mut self, row: &mut [u8]) -> Result<(), Flaw> {
        if self.alpha {
            return Ok(self.from.read_exact(row)?);
        }
        let width = row.len() / 4;
        // The data is read into the end of the row and expanded from its beginning, which never overwrites unread data.
        self.from.read_exact(&mut row[width..])?;
        for place in 0..width {
            let at = width + place * 3;
            let pixel = [row[at], row[at + 1], row[at + 2], 255];
            row[place * 4..place * 4 + 4].copy_from_slice(&pixel);
        }
        Ok(())
    }
}
