//! Uncompressed PNG files of any size.

/// Returns a PNG of `width` by `height` pixels; `byte` returns each byte of each row, three for each pixel.
///
/// # Panics
/// The picture is larger than a PNG can be.
#[must_use]
pub fn stored_png(width: u32, height: u32, mut byte: impl FnMut(u32, u32) -> u8) -> Vec<u8> {
    let mut pixels = Vec::new();
    for row in 0..height {
        // The filter type of the row.
        pixels.push(0);
        pixels.extend((0..width * 3).map(|place| byte(row, place)));
    }
    let mut packed = vec![0x78, 0x01];
    let mut blocks = pixels.chunks(65_535).peekable();
    while let Some(block) = blocks.next() {
        packed.push(u8::from(blocks.peek().is_none()));
        let length = u16::try_from(block.len()).expect("a block");
        packed.extend(length.to_le_bytes());
        packed.extend((!length).to_le_bytes());
        packed.extend(block);
    }
    let (a, b) = pixels.iter().fold((1_u32, 0_u32), |(a, b), byte| {
        let a = (a + u32::from(*byte)) % 65_521;
        (a, (b + a) % 65_521)
    });
    packed.extend((b << 16 | a).to_be_bytes());
    let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 2, 0, 0, 0]].concat();
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    for (name, content) in [(b"IHDR", header), (b"IDAT", packed), (b"IEND", Vec::new())] {
        let named = [&name[..], &content].concat();
        png.extend(u32::try_from(content.len()).expect("a chunk").to_be_bytes());
        png.extend(&named);
        png.extend(crc32fast::hash(&named).to_be_bytes());
    }
    png
}

/// Returns a PNG of this size, the same each time.
#[must_use]
pub fn plain_png(width: u32, height: u32) -> Vec<u8> {
    stored_png(width, height, |row, place| (place * 7 + row * 13) as u8)
}
