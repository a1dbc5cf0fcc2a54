use std::{io::Cursor, process::Command};

use image::{ImageFormat, ImageReader};

use super::Scrub;
use crate::tests::{Failure, Room, files, films};

/// An Exif structure with a camera's name and a place.
fn exif(little: bool) -> Vec<u8> {
    let short = |n: u16| if little { n.to_le_bytes() } else { n.to_be_bytes() };
    let long = |n: u32| if little { n.to_le_bytes() } else { n.to_be_bytes() };
    let mut all = if little { b"II*\0".to_vec() } else { b"MM\0*".to_vec() };
    all.extend(long(8));
    all.extend(short(2));
    all.extend([&short(0x010f)[..], &short(2), &long(4), b"Cam\0"].concat());
    all.extend([&short(0x8825)[..], &short(4), &long(1), &long(38)].concat());
    all.extend(long(0));
    // The place: a reference in the entry itself, and three fractions behind the directory.
    all.extend(short(2));
    all.extend([&short(1)[..], &short(2), &long(2), b"N\0\0\0"].concat());
    all.extend([&short(2)[..], &short(5), &long(3), &long(68)].concat());
    all.extend(long(0));
    all.extend(b"SECRET-SECRET-SECRET-24!");
    all
}

const XMP: &[u8] =
    b"<x exif:GPSLatitude=\"52,SECRET\" dc:rights='mine'><exif:GPSLongitude>13,SECRET\
                     </exif:GPSLongitude></x>";

fn scrubbed(mime: &str, file: &[u8], step: usize) -> Vec<u8> {
    let (mut scrub, mut out) = (Scrub::new(mime), Vec::new());
    for piece in file.chunks(step) {
        scrub.push(piece, &mut out);
    }
    out.extend(scrub.end());
    out
}

fn located() -> Vec<(&'static str, Vec<u8>)> {
    let app1 = |content: &[u8]| files::segment(0xe1, content);
    let chunk = |name: &[u8; 4], content: &[u8]| {
        let named = [&name[..], content].concat();
        let size = u32::try_from(content.len()).unwrap().to_be_bytes();
        [&size[..], &named, &crc32fast::hash(&named).to_be_bytes()].concat()
    };
    let riff = |name: &[u8; 4], content: &[u8]| {
        let size = u32::try_from(content.len()).unwrap().to_le_bytes();
        [&name[..], &size, content, &[0][..content.len() % 2]].concat()
    };
    let mut all = Vec::new();
    for little in [true, false] {
        let segments = [
            app1(&[b"Exif\0\0", &exif(little)[..]].concat()),
            app1(&[b"http://ns.adobe.com/xap/1.0/\0", XMP].concat()),
        ];
        all.push(("image/jpeg", files::jpeg(64, 48, &segments.concat())));
        let png = files::png(64, 48);
        let text = [b"XML:com.adobe.xmp\0\0\0\0\0", XMP].concat();
        let parts = [chunk(b"eXIf", &exif(little)), chunk(b"iTXt", &text)].concat();
        all.push(("image/png", [&png[..33], &parts, &png[33..]].concat()));
        let parts = [riff(b"EXIF", &exif(little)), riff(b"XMP ", XMP)].concat();
        all.push(("image/webp", [files::webp(64, 48), parts].concat()));
    }
    all
}

#[test]
fn the_place_is_gone_and_everything_else_is_there() {
    for (mime, file) in located() {
        let clean = scrubbed(mime, &file, usize::MAX);
        let has = |word: &[u8]| clean.windows(word.len()).any(|found| found == word);
        assert!(!has(b"SECRET"), "{mime}");
        assert!(has(b"Cam\0") && has(b"dc:rights='mine'"), "{mime}");
        assert_eq!(clean.len(), file.len(), "{mime}");
        assert_eq!(crate::dimensions(&clean), Some((64, 48)), "{mime}");
        for step in [1, 2, 3, 7, 64] {
            assert_eq!(scrubbed(mime, &file, step), clean, "{mime} in pieces of {step}");
        }
        if mime == "image/png" {
            let at = clean.windows(4).position(|name| name == b"eXIf").unwrap();
            let size = exif(true).len();
            let sum = crc32fast::hash(&clean[at..at + 4 + size]).to_be_bytes();
            assert_eq!(clean[at + 4 + size..at + 8 + size], sum);
        }
    }
}

#[test]
fn files_cut_or_broken_anywhere_keep_their_size_and_stop_nothing() {
    for (mime, file) in located() {
        for end in 0..file.len() {
            assert_eq!(scrubbed(mime, &file[..end], 5).len(), end, "{mime} cut at {end}");
        }
        for at in 0..file.len() {
            for value in [0, 0x7f, 0xff] {
                let mut broken = file.clone();
                broken[at] = value;
                assert_eq!(scrubbed(mime, &broken, 64).len(), file.len(), "{mime} at {at}");
            }
        }
    }
}

#[test]
fn what_holds_no_place_passes_as_it_is() {
    for (mime, file) in files::each() {
        assert_eq!(scrubbed(mime, &file, 3), file, "{mime}");
    }
}

fn has(bytes: &[u8], word: &str) -> bool {
    bytes.windows(word.len()).any(|found| found == word.as_bytes())
}

/// Cleans a file in pieces of any size, all with the same end.
fn clean(mime: &str, file: &[u8]) -> Vec<u8> {
    let clean = scrubbed(mime, file, usize::MAX);
    assert_eq!(clean.len(), file.len(), "{mime}");
    let steps = if file.len() < 100_000 { [1, 3, 1_000] } else { [997, 5_000, 70_000] };
    for step in steps {
        assert!(scrubbed(mime, file, step) == clean, "{mime} in pieces of {step}");
    }
    clean
}

fn decodes(bytes: &[u8], format: ImageFormat) -> bool {
    ImageReader::with_format(Cursor::new(bytes), format).decode().is_ok()
}

#[test]
fn places_in_xmp_are_gone_however_they_are_written() {
    for text in [
        "<x exif:GPSLatitude = \"52,SECRET\"/>",
        "<x exif:GPSLatitude='52,SECRET' exif:GPSLongitude=\"13,SECRET\"/>",
        "<exif:GPSLatitude xml:lang=\"x\"><rdf:Seq><rdf:li a='SECRET'>SE&#x43;RET</rdf:li></rdf:Seq></exif:GPSLatitude>",
        "<photoshop:City><![CDATA[SECRET]]></photoshop:City>",
        "<x:LocationShown><rdf:li x:Name='SECRET'/>SECRET</x:LocationShown>",
        "<x drone-dji:GpsLatitude='SECRET' geo:lat='SECRET' Iptc4xmpExt:ProvinceState='SECRET'/>",
        "<x></y>SECRET",
        "<x a=SECRET",
        "\0<\0x\0>\0SECRET",
        "\u{fffd}<x><SECRET",
    ] {
        let mut bytes = text.as_bytes().to_vec();
        super::xmp::blank(&mut bytes);
        let left = String::from_utf8_lossy(&bytes);
        assert!(!left.contains("SECRET") && !left.contains("&#x43;"), "{text}: {left}");
        assert_eq!(bytes.len(), text.len());
    }
    let kept =
        "<x:x xmlns:x='gps' dc:rights='mine'><dc:creator>Me &amp; you</dc:creator></x:x>\0\0";
    let mut bytes = kept.as_bytes().to_vec();
    super::xmp::blank(&mut bytes);
    assert_eq!(bytes, kept.as_bytes());
}

/// Photoshop's resources: a city, and whose picture it is.
fn iptc() -> Vec<u8> {
    let dataset = |kind: u8, text: &[u8]| {
        [&[0x1c, 2, kind, 0, u8::try_from(text.len()).unwrap()][..], text].concat()
    };
    let records = [dataset(90, b"SECRET"), dataset(80, b"Me")].concat();
    let size = u32::try_from(records.len()).unwrap().to_be_bytes();
    [b"Photoshop 3.0\x008BIM\x04\x04\0\0", &size[..], &records, &[0][..records.len() % 2]].concat()
}

#[test]
fn a_jpeg_tells_no_place_before_between_or_behind_its_pixels() {
    let plain = films::encoded(&films::slope(64, 48), ImageFormat::Jpeg).unwrap();
    let exif = files::segment(0xe1, &[b"Exif\0\0", &exif(true)[..]].concat());
    let more = [b"http://ns.adobe.com/xmp/extension/\0", XMP].concat();
    let segments = [
        // Bytes that fill up before a marker.
        [&[0xff, 0xff][..], &exif].concat(),
        files::segment(0xe1, &more),
        files::segment(0xed, &iptc()),
        files::segment(0xeb, b"JP exif:GPSLatitude SECRET"),
    ];
    let second = films::with_segments(&plain, &exif);
    let scan = plain.windows(2).position(|marker| marker == [0xff, 0xda]).unwrap();
    let between = [&plain[..scan], &exif, &plain[scan..]].concat();
    let first = films::with_segments(&between, &segments.concat());
    let film = b"\0\0\0\x18ftypmp42 SECRET moov";
    let file = [&first[..], &[0; 7], &second, film].concat();
    let clean = clean("image/jpeg", &file);
    assert!(has(&file, "SECRET") && !has(&clean, "SECRET"));
    assert!(has(&clean, "Me") && has(&clean, "Cam\0"));
    let behind = first.len() + 7;
    assert!(decodes(&clean[..first.len()], ImageFormat::Jpeg));
    assert!(decodes(&clean[behind..behind + second.len()], ImageFormat::Jpeg), "the second one");
    assert!(clean[behind + second.len() + 4..].iter().all(|byte| *byte == 0), "no film");
}

#[test]
fn a_png_tells_no_place_in_texts_compressed_or_not() {
    let plain = films::encoded(&films::half(64, 48), ImageFormat::Png).unwrap();
    let chunk = |name: &[u8; 4], content: &[u8]| {
        let named = [&name[..], content].concat();
        let size = u32::try_from(content.len()).unwrap().to_be_bytes();
        [&size[..], &named, &crc32fast::hash(&named).to_be_bytes()].concat()
    };
    let large = [b"Comment\0SECRET", &vec![b'x'; 5 << 20][..]].concat();
    let parts = [
        chunk(b"zTXt", b"Raw profile type exif\0\0SECRET"),
        chunk(b"tEXt", b"exif:GPSLatitude\0SECRET"),
        chunk(b"iTXt", b"XML:com.adobe.xmp\0\x01\0\0\0SECRET"),
        chunk(b"tEXt", &large),
        chunk(b"tEXt", b"Author\0Me"),
    ];
    let file = [&plain[..33], &parts.concat(), &plain[33..], b"SECRET"].concat();
    let clean = clean("image/png", &file);
    assert!(!has(&clean, "SECRET") && has(&clean, "Author\0Me"));
    let (mut at, end) = (8, clean.len() - 6);
    while at < end {
        let size = u32::from_be_bytes(clean[at..at + 4].try_into().unwrap()) as usize;
        let sum = crc32fast::hash(&clean[at + 4..at + 8 + size]).to_be_bytes();
        assert_eq!(clean[at + 8 + size..at + 12 + size], sum, "a checksum");
        at += 12 + size;
    }
    assert!(decodes(&clean, ImageFormat::Png));
}

#[test]
fn a_gif_tells_no_place() {
    let plain = films::encoded(&films::half(64, 48), ImageFormat::Gif).unwrap();
    let colours = if plain[10] & 0x80 == 0 { 0 } else { 3 << ((plain[10] & 7) + 1) };
    let slope: Vec<u8> = [1].into_iter().chain((0..=255).rev()).chain([0]).collect();
    let text = format!("<x exif:GPSLatitude='52.123456789' n='{}'/>", "y".repeat(200));
    let extension = [b"\x21\xff\x0bXMP DataXMP", text.as_bytes(), &slope].concat();
    let at = 13 + colours;
    let file = [&plain[..at], &extension, &plain[at..]].concat();
    assert!(decodes(&file, ImageFormat::Gif));
    let clean = clean("image/gif", &file);
    assert!(!has(&clean, "52.123456789") && decodes(&clean, ImageFormat::Gif));
}

/// Returns ffprobe's report of a film.
fn probed(room: &Room, film: &[u8]) -> String {
    let at = room.0.join("probed");
    std::fs::write(&at, film).unwrap();
    let shown = ["-v", "error", "-show_format", "-show_streams", "-count_packets"];
    let said = Command::new("ffprobe").args(shown).arg(&at).output().unwrap();
    assert!(said.status.success() && said.stderr.is_empty(), "{said:?}");
    String::from_utf8_lossy(&said.stdout).into_owned()
}

#[test]
fn a_film_tells_no_place_and_is_as_good_as_before() -> Result<(), Failure> {
    let room = Room::new();
    std::fs::create_dir_all(&room.0)?;
    let told = ["-metadata", "location=+48.8577+002.295/", "-metadata", "title=Mine"];
    let h264 = ["-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac"];
    let keys = "com.apple.quicktime.location.ISO6709=+48.8577+002.295/";
    let apple = ["-movflags", "use_metadata_tags", "-metadata", keys];
    let front = ["-movflags", "+faststart"];
    let vp8 = ["-c:v", "libvpx", "-deadline", "realtime", "-c:a", "libopus"];
    let kinds = [
        ("video/mp4", "a.mp4", [&h264[..], &told].concat()),
        ("video/mp4", "b.mp4", [&h264[..], &told, &front].concat()),
        ("video/quicktime", "a.mov", [&h264[..], &told, &apple].concat()),
        ("video/mp4", "c.mp4", [&h264[..], &told, &apple].concat()),
        ("video/webm", "a.webm", [&vp8[..], &told].concat()),
    ];
    for (mime, name, args) in kinds {
        let film = films::film(&room.0, name, "64x48", &args)?;
        let before = probed(&room, &film);
        assert!(before.contains("48.8577"), "{name}: {before}");
        let clean = clean(mime, &film);
        let after = probed(&room, &clean);
        assert!(!after.contains("48.8577") && !has(&clean, "48.8577"), "{name}: {after}");
        assert!(!after.contains("TAG:location"), "{name}: {after}");
        // WebM has its title beside its place; an MP4 of a camera keeps the one in its own list.
        assert!(mime == "video/webm" || name == "a.mov" || after.contains("title=Mine"), "{after}");
        for fact in ["nb_read_packets", "duration=", "codec_name=", "width=", "nb_streams="] {
            let of = |said: &str| -> Vec<String> {
                said.lines().filter(|line| line.starts_with(fact)).map(str::to_owned).collect()
            };
            assert_eq!(of(&before), of(&after), "{name}");
        }
    }
    Ok(())
}

fn boxed(name: &[u8; 4], content: &[u8]) -> Vec<u8> {
    [&u32::try_from(content.len() + 8).unwrap().to_be_bytes()[..], name, content].concat()
}

fn track(handler: &[u8; 4], more: &[u8]) -> Vec<u8> {
    let handler = boxed(b"hdlr", &[&[0; 8], &handler[..], &[0; 13]].concat());
    boxed(b"trak", &[&boxed(b"mdia", &handler), more].concat())
}

/// A film with everything that cameras note beside it; `large` is added to its user data.
fn noted(large: &[u8]) -> Vec<u8> {
    let named = [boxed(b"GPMF", b"SECRET"), boxed(b"\xa9nam", b"Mine"), vec![0; 4]].concat();
    let moov = [
        boxed(b"mvhd", &[1; 100]),
        track(b"vide", &boxed(b"udta", &boxed(b"loci", b"SECRET"))),
        track(b"meta", &boxed(b"gpmd", b"SECRET")),
        boxed(b"udta", &named),
        boxed(b"uuid", b"0123456789abcdefSECRET"),
        boxed(b"udta", &boxed(b"CNTH", large)),
        vec![0; 4],
    ];
    let apple = [
        b"\xbe\x7a\xcf\xcb\x97\xa9\x42\xe8\x9c\x71\x99\x94\x91\xe3\xaf\xac".to_vec(),
        XMP.to_vec(),
    ];
    let file = [
        files::ftyp(b"qt  ")[..24].to_vec(),
        boxed(b"uuid", &apple.concat()),
        boxed(b"free", b"SECRET"),
        boxed(b"mdat", &[7; 5_000]),
        boxed(b"moov", &moov.concat()),
    ];
    file.concat()
}

#[test]
fn what_cameras_note_beside_a_film_is_taken_out() {
    let file = noted(&vec![b'S'; 5 << 20]);
    let clean = clean("video/quicktime", &file);
    assert!(!has(&clean, "SECRET") && !has(&clean, "SSSS") && !has(&clean, "gpmd"));
    assert!(has(&clean, "Mine") && has(&clean, "mvhd") && has(&clean, "vide"));
}

#[test]
fn films_cut_or_broken_anywhere_keep_their_size_and_stop_nothing() -> Result<(), Failure> {
    let room = Room::new();
    std::fs::create_dir_all(&room.0)?;
    let webm = ["-c:v", "libvpx", "-deadline", "realtime", "-metadata", "location=x"];
    let films = [
        ("video/quicktime", noted(b"S")),
        ("video/webm", films::film(&room.0, "a.webm", "64x48", &webm)?),
    ];
    for (mime, film) in films {
        let film = &film[..film.len().min(7_000)];
        for end in (0..film.len()).step_by(7) {
            assert_eq!(scrubbed(mime, &film[..end], 50).len(), end, "{mime} cut at {end}");
        }
        for at in 0..film.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut broken = film.to_vec();
                broken[at] = value;
                assert_eq!(scrubbed(mime, &broken, 4_096).len(), film.len(), "{mime} at {at}");
            }
        }
    }
    Ok(())
}
