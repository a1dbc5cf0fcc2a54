//! Readers of strangers' bytes take time in proportion to what they are given: twice as much takes about twice as long.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use fanfare_media::{Intake, S3, Scratch, Sizes, Store, Tools, analyse, dimensions, sniff};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The factor by which twice the input may take longer. Work that grows with the square takes four times as long.
const GROWTH: f64 = 3.0;
/// Below this nothing is measured: a machine that does something else meanwhile decides it.
const NOISE: Duration = Duration::from_millis(20);
/// Bytes of the smaller and of the largest file.
const SIZES: (usize, usize) = (256 * 1024, 4 * 1024 * 1024);

/// A file of about so many bytes that is the worst of its kind.
struct Worst {
    what: &'static str,
    mime: &'static str,
    make: fn(usize) -> Vec<u8>,
}

const fn worst(what: &'static str, mime: &'static str, make: fn(usize) -> Vec<u8>) -> Worst {
    Worst { what, mime, make }
}

/// `head`, then `piece` again and again until there are so many bytes.
fn filled(head: &[u8], piece: &[u8], bytes: usize) -> Vec<u8> {
    [head, &piece.repeat(bytes / piece.len().max(1))].concat()
}

const PNG: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x02\0\0\0\x02\x08\x02\0\0\0\xfd\xd4\x9as";

fn chunk(name: &[u8; 4], content: &[u8]) -> Vec<u8> {
    let named = [&name[..], content].concat();
    let size = u32::try_from(content.len()).unwrap_or(0).to_be_bytes();
    [&size[..], &named, &crc32fast::hash(&named).to_be_bytes()].concat()
}

fn boxed(name: &[u8; 4], content: &[u8]) -> Vec<u8> {
    let size = u32::try_from(content.len() + 8).unwrap_or(u32::MAX).to_be_bytes();
    [&size[..], name, content].concat()
}

fn segment(marker: u8, content: &[u8]) -> Vec<u8> {
    let size = u16::try_from(content.len() + 2).unwrap_or(u16::MAX).to_be_bytes();
    [&[0xff, marker], &size[..], content].concat()
}

/// An Exif structure whose first directory has as many entries as it can, all of the place, all with a long value.
fn exif(bytes: usize) -> Vec<u8> {
    let count = u16::try_from(bytes / 12).unwrap_or(u16::MAX);
    let long = u32::try_from(bytes).unwrap_or(0).to_be_bytes();
    let entry = [&b"\x88\x25\0\x04"[..], &long, b"\0\0\0\x08"].concat();
    filled(&[&b"MM\0*\0\0\0\x08"[..], &count.to_be_bytes()].concat(), &entry, bytes)
}

const WORST: &[Worst] = &[
    worst("a JPEG of empty segments", "image/jpeg", |bytes| {
        filled(b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x02\0\0\x01\0\x01\0\0", b"\xff\xe2\0\x02", bytes)
    }),
    worst("a JPEG of fill bytes", "image/jpeg", |bytes| {
        filled(b"\xff\xd8\xff\xe0\0\x02", b"\xff", bytes)
    }),
    worst("a JPEG of parts of a profile", "image/jpeg", |bytes| {
        filled(b"\xff\xd8\xff\xe0\0\x02", &segment(0xe2, b"ICC_PROFILE\0\x01\xff."), bytes)
    }),
    worst("a JPEG of Exif segments", "image/jpeg", |bytes| {
        let one = segment(0xe1, &[&b"Exif\0\0"[..], &exif(60_000)].concat());
        filled(b"\xff\xd8\xff\xe0\0\x02", &one, bytes)
    }),
    worst("a JPEG of restarts", "image/jpeg", |bytes| {
        let scan = segment(0xda, &[1, 1, 0, 0, 63, 0]);
        filled(&[&b"\xff\xd8\xff\xe0\0\x02"[..], &scan].concat(), b"\xff\xd0", bytes)
    }),
    worst("a PNG of empty chunks", "image/png", |bytes| filled(PNG, &chunk(b"noPe", b""), bytes)),
    worst("a PNG of texts", "image/png", |bytes| filled(PNG, &chunk(b"tEXt", b"gps\0"), bytes)),
    worst("a PNG of one Exif", "image/png", |bytes| {
        [PNG, &chunk(b"eXIf", &exif(bytes.min(4_000_000)))].concat()
    }),
    worst("a PNG of one XMP", "image/png", |bytes| {
        let nested = "<a>".repeat(bytes.min(4_000_000) / 3);
        let text = [&b"XML:com.adobe.xmp\0\0\0\0\0"[..], nested.as_bytes()].concat();
        [PNG, &chunk(b"iTXt", &text)].concat()
    }),
    worst("a PNG of quarrelsome quotes", "image/png", |bytes| {
        let text = "<a x='".repeat(bytes.min(4_000_000) / 6);
        let text = [&b"XML:com.adobe.xmp\0\0\0\0\0"[..], text.as_bytes()].concat();
        [PNG, &chunk(b"iTXt", &text)].concat()
    }),
    worst("a WebP of empty chunks", "image/webp", |bytes| {
        filled(
            b"RIFF\xff\xff\xff\x7fWEBPVP8X\x0a\0\0\0\x2c\0\0\0\x01\0\0\x01\0\0",
            b"EXIF\0\0\0\0",
            bytes,
        )
    }),
    worst("a GIF of empty frames", "image/gif", |bytes| {
        let head = b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff";
        filled(head, b"\x2c\0\0\0\0\x01\0\x01\0\0\x02\x02\x44\x01\0", bytes)
    }),
    worst("a GIF of empty extensions", "image/gif", |bytes| {
        filled(b"GIF89a\x01\0\x01\0\0\0\0", b"\x21\xfe\0", bytes)
    }),
    worst("an MP4 of empty boxes", "video/mp4", |bytes| {
        filled(b"\0\0\0\x18ftypisom\0\0\0\0isommp42", &boxed(b"free", b""), bytes)
    }),
    worst("an MP4 whose index is of empty boxes", "video/mp4", |bytes| {
        let inner = boxed(b"udta", b"").repeat(bytes.min(4_000_000) / 8);
        [&b"\0\0\0\x18ftypisom\0\0\0\0isommp42"[..], &boxed(b"moov", &inner)].concat()
    }),
    worst("an MP4 of boxes in boxes", "video/mp4", |bytes| {
        let size = |left: usize| u32::try_from(left).unwrap_or(0).to_be_bytes();
        let bytes = bytes.min(4_000_000) / 8 * 8;
        let nested: Vec<u8> =
            (0..bytes / 8).flat_map(|at| [&size(bytes - at * 8)[..], b"udta"].concat()).collect();
        [&b"\0\0\0\x18ftypisom\0\0\0\0isommp42"[..], &boxed(b"moov", &nested)].concat()
    }),
    worst("an MP4 of many keys and many values", "video/mp4", |bytes| {
        let half = bytes.min(3_000_000) / 2;
        let key = boxed(b"mdta", b"location.gps");
        let keys = boxed(b"keys", &filled(&[0; 8], &key, half));
        let ilst = boxed(b"ilst", &boxed(b"\0\0\0\x07", b"").repeat(half / 8));
        let meta = boxed(b"meta", &[keys, ilst].concat());
        [&b"\0\0\0\x18ftypisom\0\0\0\0isommp42"[..], &boxed(b"moov", &boxed(b"udta", &meta))]
            .concat()
    }),
    worst("a WebM of empty elements", "video/webm", |bytes| {
        let head =
            b"\x1a\x45\xdf\xa3\x87\x42\x82\x84webm\x18\x53\x80\x67\x01\xff\xff\xff\xff\xff\xff\xff";
        filled(head, b"\xec\x80", bytes)
    }),
    worst("a WebM of tags", "video/webm", |bytes| {
        let head =
            b"\x1a\x45\xdf\xa3\x87\x42\x82\x84webm\x18\x53\x80\x67\x01\xff\xff\xff\xff\xff\xff\xff";
        filled(head, b"\x12\x54\xc3\x67\x82\x73\x73", bytes)
    }),
];

/// The shortest of a few runs over everything that reads such a file by itself; what it says does not matter.
async fn shortest(dir: &Path, mime: &str, bytes: &[u8], times: usize) -> Result<Duration, Failure> {
    let mut best = Duration::MAX;
    for _ in 0..times {
        let store = Store::open(&format!("file://{}/store", dir.display()), S3::default())?;
        let scratch = Scratch::new(dir.join("scratch"), 1 << 30);
        let start = Instant::now();
        let _ = (sniff(bytes), dimensions(bytes));
        let mut intake = Intake::new(&store, "w", Sizes::all(1 << 30));
        for piece in bytes.chunks(64 * 1024) {
            let _ = intake.write(piece).await;
        }
        let path = intake.finish().await.map(|taken| taken.path);
        if let Ok(path) = path {
            // Without ffmpeg: what others read is bounded by their own limits.
            let _ = analyse(&store, &Tools::none(), &scratch, &path, mime).await;
            store.delete(&path).await?;
        }
        best = best.min(start.elapsed());
    }
    Ok(best)
}

#[tokio::test]
async fn twice_the_bytes_take_about_twice_the_time() -> Result<(), Failure> {
    let dir = std::env::temp_dir().join(format!("fanfare-doubling-{}", std::process::id()));
    std::fs::create_dir_all(&dir)?;
    let mut slow = Vec::new();
    for Worst { what, mime, make } in WORST {
        let (mut size, most) = SIZES;
        let mut before = shortest(&dir, mime, &make(size), 2).await?;
        // Until it takes long enough to be measured, or as much as it may: then the growth counts.
        while size < most {
            size *= 2;
            let mut now = shortest(&dir, mime, &make(size), 2).await?;
            let grown = |now: Duration, before: Duration| now.as_secs_f64() / before.as_secs_f64();
            if before > NOISE && grown(now, before) > GROWTH {
                // A second look, which a busy moment does not survive.
                before = before.max(shortest(&dir, mime, &make(size / 2), 4).await?);
                now = now.min(shortest(&dir, mime, &make(size), 6).await?);
                if grown(now, before) > GROWTH {
                    slow.push(format!(
                        "{what}: {size} bytes take {now:?}, half of them {before:?}"
                    ));
                    break;
                }
            }
            before = now;
        }
    }
    std::fs::remove_dir_all(&dir)?;
    assert!(slow.is_empty(), "{slow:#?}");
    Ok(())
}
