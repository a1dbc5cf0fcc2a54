//! Files that want to do harm. Alone in its process, so that what it measures is its own memory.

use std::{
    fs::{self, OpenOptions},
    net::TcpListener,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use fanfare_media::{Flaw, Profile, S3, Scratch, Store, Target, Tools, analyse, convert};

/// That of the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The growth of this process's memory that is allowed, in KiB.
const GROWTH: u64 = 64 * 1024;

/// The same while many are worked on at once: what a decoder has freed goes back to the system later.
const GROWTH_AT_ONCE: u64 = 192 * 1024;

/// A file, the type it claims to be, and the codes that say what is wrong with it: by ffprobe and without it. An empty
/// code: it is harmless in the end, and read.
struct Hostile {
    what: &'static str,
    mime: &'static str,
    bytes: Vec<u8>,
    with: &'static [&'static str],
    without: &'static [&'static str],
}

/// Room for copies.
fn scratch(dir: &Path) -> Scratch {
    Scratch::new(dir.join("scratch"), 1 << 30)
}

fn hostile(
    what: &'static str,
    mime: &'static str,
    bytes: Vec<u8>,
    codes: &'static [&'static str],
) -> Hostile {
    Hostile { what, mime, bytes, with: codes, without: codes }
}

const MISMATCH: &[&str] = &["media_type_mismatch"];
const UNREADABLE: &[&str] = &["media_unreadable"];
/// Whichever is found first: what its first bytes say of its size is nonsense too.
const DISGUISED: &[&str] = &["media_unreadable", "media_dimensions_unsupported"];
const BROKEN: &[&str] = &["media_unreadable", "media_type_mismatch"];
const PIXELS: &[&str] = &["media_dimensions_unsupported"];
const READ: &[&str] = &[""];

/// Targets that nobody may reach: a pipe in the file system and a port on loopback.
struct Bait {
    pipe: PathBuf,
    opened: Arc<AtomicBool>,
    port: TcpListener,
}

impl Bait {
    fn lay(dir: &Path) -> Result<Self, Failure> {
        let pipe = dir.join("secret");
        if !Command::new("mkfifo").arg(&pipe).status()?.success() {
            return Err("no pipe".into());
        }
        let opened = Arc::new(AtomicBool::new(false));
        let (waiting, at) = (Arc::clone(&opened), pipe.clone());
        // Opening a pipe to write waits for whoever opens it to read.
        std::thread::spawn(move || {
            if OpenOptions::new().write(true).open(at).is_ok() {
                waiting.store(true, Ordering::SeqCst);
            }
        });
        let port = TcpListener::bind("127.0.0.1:0")?;
        port.set_nonblocking(true)?;
        Ok(Self { pipe, opened, port })
    }

    fn url(&self) -> Result<String, Failure> {
        Ok(format!("http://{}/secret.ts", self.port.local_addr()?))
    }

    fn is_untouched(&self) -> bool {
        !self.opened.load(Ordering::SeqCst) && self.port.accept().is_err()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_hostile_reads_connects_or_grows() -> Result<(), Failure> {
    let dir = std::env::temp_dir().join(format!("fanfare-hostile-{}", std::process::id()));
    fs::create_dir_all(&dir)?;
    let done = async {
        at_once(&dir).await?;
        all(&dir).await
    }
    .await;
    fs::remove_dir_all(&dir)?;
    done
}

async fn all(dir: &Path) -> Result<(), Failure> {
    let store = Store::open(&format!("file://{}/store", dir.display()), S3::default())?;
    let bait = Bait::lay(dir)?;
    let tools = Tools::find(None, std::env::var_os("PATH").as_deref());
    assert!(tools.ffmpeg.is_some() && tools.ffprobe.is_some(), "this test needs ffmpeg");
    let files = pictures(dir)?.into_iter().chain(films(dir, &bait)?).chain(texts(&bait)?);
    for file in files {
        let Hostile { what, mime, bytes, with, without } = file;
        let path = store.put("w", mime, &bytes).await?;
        drop(bytes);
        for (tools, codes) in [(&tools, with), (&Tools::none(), without)] {
            let before = memory("VmRSS:")?;
            fs::write("/proc/self/clear_refs", "5")?;
            let told = analyse(&store, tools, &scratch(dir), &path, mime).await;
            let mut code = told.as_ref().err().map_or("", Flaw::code);
            if let Ok(told) = &told {
                code = made(&store, tools, dir, (&path, &told.facts))
                    .await
                    .map_or("", |flaw| flaw.code());
            }
            let grown = memory("VmHWM:")?.saturating_sub(before);
            assert!(codes.contains(&code), "{what}: {told:?}, {code}");
            assert!(grown <= GROWTH, "{what}: grown by {grown} KiB");
            assert!(bait.is_untouched(), "{what} was followed");
        }
    }
    // Lets the waiting thread go.
    drop(OpenOptions::new().read(true).open(&bait.pipe)?);
    Ok(())
}

/// Many large pictures at once take no more memory than one.
async fn at_once(dir: &Path) -> Result<(), Failure> {
    let store = Store::open(&format!("file://{}/store", dir.display()), S3::default())?;
    let tools = Tools::find(None, std::env::var_os("PATH").as_deref());
    let noise = |size: &str| format!("testsrc2=size={size},noise=alls=20");
    let draw = |size: &str, name: &str, more: &[&str]| {
        let source = noise(size);
        let args = [&["-f", "lavfi", "-i", &source, "-frames:v", "1"], more].concat();
        ffmpeg(dir, &args, name)
    };
    let files = [
        ("image/jpeg", turned(&draw("4000x3000", "turned.jpg", &["-q:v", "8"])?)),
        ("image/jpeg", draw("4096x3072", "wide.jpg", &["-q:v", "12"])?),
        ("image/png", draw("2400x2300", "deep.png", &["-pix_fmt", "rgb48be"])?),
        ("image/png", draw("8000x6000", "large.png", &["-pix_fmt", "gray"])?),
        ("image/webp", draw("2400x2300", "picture.webp", &["-quality", "30"])?),
        ("image/gif", draw("3000x2000", "picture.gif", &[])?),
    ];
    let mut paths = Vec::new();
    for (mime, bytes) in files {
        paths.push((mime, store.put("w", mime, &bytes).await?));
    }
    let before = memory("VmRSS:")?;
    fs::write("/proc/self/clear_refs", "5")?;
    let mut running = tokio::task::JoinSet::new();
    for (mime, path) in paths.iter().cycle().take(4 * paths.len()).cloned().collect::<Vec<_>>() {
        let (store, tools, dir) = (store.clone(), tools.clone(), dir.to_owned());
        running.spawn(async move {
            let told = analyse(&store, &tools, &scratch(&dir), &path, mime).await?;
            for target in [Target::Jpeg, Target::Png] {
                let profile = Profile { target, bytes_max: 8_000_000, width_max: 0 };
                let from = (path.as_str(), &told.facts);
                match convert(&store, &tools, &scratch(&dir), from, &profile, "made").await {
                    Ok(_) | Err(Flaw::NoTools) => {}
                    Err(flaw) => return Err(flaw),
                }
            }
            Ok::<(), Flaw>(())
        });
    }
    while let Some(done) = running.join_next().await {
        done??;
    }
    let grown = memory("VmHWM:")?.saturating_sub(before);
    assert!(grown <= GROWTH_AT_ONCE, "many at once: grown by {grown} KiB");
    Ok(())
}

/// A JPEG with the mark that it lies on its side.
fn turned(jpeg: &[u8]) -> Vec<u8> {
    let exif = b"\xff\xe1\x00\x22Exif\0\0MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
    [&jpeg[..2], exif, &jpeg[2..]].concat()
}

/// Converts a file, and returns why it was not converted, missing tools aside.
async fn made(
    store: &Store,
    tools: &Tools,
    dir: &Path,
    from: (&str, &fanfare_media::Facts),
) -> Option<Flaw> {
    let is_film = from.1.mime.starts_with("video/");
    let target = if is_film { Target::Mp4 } else { Target::Jpeg };
    let profile = Profile { target, bytes_max: 8_000_000, width_max: 1_440 };
    let made = convert(store, tools, &scratch(dir), from, &profile, "made").await;
    made.err().filter(|flaw| *flaw != Flaw::NoTools)
}

/// A line of the process's status, in KiB.
fn memory(name: &str) -> Result<u64, Failure> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with(name)).ok_or("no such line")?;
    Ok(line.split_whitespace().nth(1).ok_or("no number")?.parse()?)
}

fn ffmpeg(dir: &Path, args: &[&str], name: &str) -> Result<Vec<u8>, Failure> {
    let at = dir.join(name);
    let run = Command::new("ffmpeg").args(["-v", "error", "-y"]).args(args).arg(&at).output()?;
    if !run.status.success() {
        return Err(String::from_utf8_lossy(&run.stderr).into_owned().into());
    }
    Ok(fs::read(at)?)
}

fn texts(bait: &Bait) -> Result<Vec<Hostile>, Failure> {
    let (file, url) = (bait.pipe.display(), bait.url()?);
    let playlist =
        format!("#EXTM3U\n#EXTINF:1,\nfile://{file}\n#EXTINF:1,\n{url}\n#EXT-X-ENDLIST\n");
    let concat = format!("ffconcat version 1.0\nfile '{file}'\nfile '{url}'\n");
    let svg = format!("<svg xmlns=\"http://www.w3.org/2000/svg\"><image href=\"{url}\"/></svg>");
    let after_type = [&b"\0\0\0\x18ftypisom\0\0\0\0isommp42"[..], playlist.as_bytes()].concat();
    let disguised = [b"\x89PNG\r\n\x1a\n", svg.as_bytes()].concat();
    Ok(vec![
        hostile("a playlist called a film", "video/mp4", playlist.clone().into(), MISMATCH),
        hostile("a playlist called a WebM", "video/webm", playlist.into(), MISMATCH),
        hostile("a list of films", "video/quicktime", concat.into(), MISMATCH),
        hostile("a drawing called a picture", "image/png", svg.into(), MISMATCH),
        hostile("a playlist behind a film's type", "video/mp4", after_type, UNREADABLE),
        hostile("a drawing behind a picture's first bytes", "image/png", disguised, DISGUISED),
        hostile("nothing", "image/png", Vec::new(), UNREADABLE),
        hostile(
            "a JPEG called PNG",
            "image/png",
            b"\xff\xd8\xff\xe0\0\x10JFIF\0".to_vec(),
            MISMATCH,
        ),
        hostile(
            "a program called a film",
            "video/mp4",
            b"\x7fELF\x02\x01\x01\0".to_vec(),
            MISMATCH,
        ),
    ])
}

fn pictures(dir: &Path) -> Result<Vec<Hostile>, Failure> {
    let black = |size: &str| format!("color=black:size={size}");
    let bomb = |size: &str, name: &str| {
        let source = black(size);
        ffmpeg(dir, &["-f", "lavfi", "-i", &source, "-frames:v", "1"], name)
    };
    let mut wide = bomb("64x64", "wide.png")?;
    wide[16..24].copy_from_slice(&[0, 1, 0x86, 0xa0, 0, 1, 0x86, 0xa0]);
    let mut long = bomb("64x64", "long.png")?;
    long[16..24].copy_from_slice(&[0, 1, 0x86, 0xa0, 0, 0, 0, 1]);
    let mut gif = bomb("64x64", "wide.gif")?;
    gif[6..10].copy_from_slice(&[0xff; 4]);
    let jpeg = bomb("64x64", "wide.jpg")?;
    let frame = jpeg.windows(2).position(|two| two == b"\xff\xc0").ok_or("no frame")?;
    let mut wide_jpeg = jpeg.clone();
    wide_jpeg[frame + 5..frame + 9].copy_from_slice(&[0xff; 4]);
    let archive =
        [jpeg.as_slice(), b"PK\x03\x04\x14\0\0\0\x08\0<script>alert(1)</script>"].concat();
    let webp = [&b"RIFF\x16\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0"[..], &[0xfe, 0x3f, 0, 0xfe, 0x3f, 0]]
        .concat();
    let frames = gif_of_frames(&bomb("8x8", "small.gif")?, 200_000);
    let mut cut = bomb("640x480", "cut.png")?;
    cut.truncate(cut.len() / 2);
    let large = bomb("9900x9900", "large.png")?;
    assert!(large.len() < 2_000_000, "a bomb is small");
    Ok(vec![
        hostile("a PNG of 100,000 by 100,000", "image/png", wide, PIXELS),
        hostile("a PNG of 100,000 by 1", "image/png", long, PIXELS),
        hostile("a GIF of 65,535 by 65,535", "image/gif", gif, PIXELS),
        hostile("a JPEG of 65,535 by 65,535", "image/jpeg", wide_jpeg, PIXELS),
        hostile("a WebP of 16,383 by 16,383", "image/webp", webp, PIXELS),
        hostile("a GIF of 200,000 frames", "image/gif", frames, READ),
        hostile("a PNG cut off", "image/png", cut, UNREADABLE),
        hostile("a JPEG that is an archive too", "image/jpeg", archive, READ),
        hostile("98 million black pixels", "image/png", large, READ),
        hostile(
            "98 million black pixels as JPEG",
            "image/jpeg",
            bomb("9900x9900", "large.jpg")?,
            READ,
        ),
    ])
}

/// The one frame of a GIF, many times.
fn gif_of_frames(gif: &[u8], times: usize) -> Vec<u8> {
    let start = gif.windows(3).position(|three| three == b"\x21\xf9\x04").unwrap_or(13);
    let frame = &gif[start..gif.len() - 1];
    [&gif[..start], &frame.repeat(times), b"\x3b"].concat()
}

fn films(dir: &Path, bait: &Bait) -> Result<Vec<Hostile>, Failure> {
    let source =
        ["-f", "lavfi", "-i", "testsrc=size=64x48:rate=5:duration=1", "-pix_fmt", "yuv420p"];
    let mp4 = ffmpeg(dir, &source, "film.mp4")?;
    let webm = [&source[..], &["-c:v", "libvpx", "-deadline", "realtime"]].concat();
    let webm = ffmpeg(dir, &webm, "film.webm")?;
    let half = |bytes: &[u8]| bytes[..bytes.len() / 2].to_vec();
    let patched = |name: &[u8; 4], after: usize, value: &[u8]| {
        let at = mp4.windows(4).rposition(|four| four == name).unwrap_or(0) + 4 + after;
        let mut patched = mp4.clone();
        patched[at..at + value.len()].copy_from_slice(value);
        patched
    };
    // An element that claims to be a text of 2^48 bytes, right behind the head of the file.
    let endless = [
        &webm[..webm.len().min(60)],
        &[0x4d, 0x80, 0x02, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
    ]
    .concat();
    let mdat = [
        &b"\0\0\0\x18ftypisom\0\0\0\0isommp42\0\0\0\x01mdat\x3f\xff\xff\xff\xff\xff\xff\xff"[..],
        &[0; 4_096],
    ]
    .concat();
    let mut films = vec![
        hostile("half an MP4", "video/mp4", half(&mp4), UNREADABLE),
        hostile("a WebM without its films", "video/webm", webm[..200].to_vec(), BROKEN),
        hostile("a WebM with an endless text", "video/webm", endless, BROKEN),
        hostile("an MP4 of endless frames and no index", "video/mp4", mdat, UNREADABLE),
        Hostile {
            with: &["", "media_unreadable", "media_too_complex"],
            ..hostile(
                "a table of four thousand million times",
                "video/mp4",
                patched(b"stts", 4, &[0xff; 4]),
                UNREADABLE,
            )
        },
        Hostile {
            with: &["", "media_unreadable", "media_too_complex", "media_dimensions_unsupported"],
            without: PIXELS,
            ..hostile(
                "a film that claims 60,000 pixels",
                "video/mp4",
                patched(b"avc1", 24, &[0xea, 0x60, 0xea, 0x60]),
                READ,
            )
        },
    ];
    for target in
        [format!("file://{}", bait.pipe.display()), bait.pipe.display().to_string(), bait.url()?]
    {
        let bytes = with_reference(&mp4, &target).ok_or("no reference")?;
        films.push(Hostile {
            with: &["", "media_unreadable"],
            ..hostile(
                "a film whose frames lie elsewhere",
                "video/mp4",
                bytes,
                &["", "media_unreadable"],
            )
        });
    }
    Ok(films)
}

/// The film, whose index says that its frames are to be read from `target`.
fn with_reference(mp4: &[u8], target: &str) -> Option<Vec<u8>> {
    let at = mp4.windows(4).rposition(|four| four == b"url ")? - 4;
    let mut film = mp4.to_vec();
    // Flags 0: not in this file. Then the address, ended by a zero.
    film[at + 8..at + 12].fill(0);
    let text = [target.as_bytes(), b"\0"].concat();
    film.splice(at + 12..at + 12, text.iter().copied());
    let grow = |film: &mut Vec<u8>, head: usize| {
        let size = u32::from_be_bytes(film.get(head..head + 4)?.try_into().ok()?);
        let size = size + u32::try_from(text.len()).ok()?;
        film[head..head + 4].copy_from_slice(&size.to_be_bytes());
        Some(())
    };
    for name in [b"moov", b"trak", b"mdia", b"minf", b"dinf", b"dref", b"url "] {
        let head = film.windows(4).rposition(|four| four == name)? - 4;
        grow(&mut film, head)?;
    }
    Some(film)
}
