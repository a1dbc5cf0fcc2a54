//! Serves a picture for posts on loopback.

use std::sync::{
    Arc, LazyLock, OnceLock,
    atomic::{AtomicUsize, Ordering},
    mpsc,
};

use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// A server of one picture, which ends with the test.
pub struct Picture {
    /// Address of the picture.
    pub url: String,
    asked: Arc<AtomicUsize>,
}

impl Picture {
    /// Serves a grey PNG of 2 by 2 pixels.
    ///
    /// # Panics
    /// There is no free port.
    pub async fn serve() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}/picture.png", listener.local_addr().expect("an address"));
        let (png, asked) = (png(), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::Relaxed);
                let mut request = Vec::new();
                while !request.ends_with(b"\r\n\r\n") {
                    if stream.read_buf(&mut request).await.unwrap_or(0) == 0 {
                        break;
                    }
                }
                let asks_for = |name: &[u8]| request.windows(name.len()).any(|part| part == name);
                let (mime, file) = match () {
                    () if asks_for(b"/film.mp4") => ("video/mp4", FILM.as_slice()),
                    () if asks_for(b"/square.mp4") => ("video/mp4", SQUARE.as_slice()),
                    () if asks_for(b"/wide.mp4") => ("video/mp4", WIDE.as_slice()),
                    () if asks_for(b"/paper.pdf") => ("application/pdf", PAPER),
                    () if asks_for(b"/photo.jpg") => ("image/jpeg", PHOTO.as_slice()),
                    () => ("image/png", &*png),
                };
                let head = format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: {mime}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                    file.len()
                );
                let _ = stream.write_all(head.as_bytes()).await;
                let _ = stream.write_all(file).await;
                let _ = stream.shutdown().await;
            }
        });
        Self { url, asked }
    }

    /// Returns a shared server for posts that need a file, which lasts as long as the process.
    ///
    /// # Panics
    /// There is no free port.
    #[must_use]
    pub fn lasting() -> &'static Self {
        static LASTING: OnceLock<Picture> = OnceLock::new();
        LASTING.get_or_init(|| {
            let (tell, told) = mpsc::channel();
            std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                runtime.expect("a runtime").block_on(async {
                    tell.send(Self::serve().await).expect("somebody waits for it");
                    std::future::pending::<()>().await;
                });
            });
            told.recv().expect("the server starts")
        })
    }

    /// Returns the address of the `place`-th file of a type: a picture as PNG or JPEG, a video or a document.
    #[must_use]
    pub fn file(&self, mime: &str, place: usize) -> String {
        let name = match mime {
            "image/jpeg" => "photo.jpg",
            "application/pdf" => "paper.pdf",
            video if video.starts_with("video/") => "film.mp4",
            _ => "picture.png",
        };
        format!("{}?n={place}", self.url.replace("picture.png", name))
    }

    /// Fetches files once, so that they are made: a request for a post does not wait for that.
    ///
    /// # Panics
    /// One cannot be fetched.
    #[expect(clippy::disallowed_methods, reason = "this machine's own files")]
    pub async fn make(files: &[String]) {
        for file in files {
            let made = reqwest::get(file).await.and_then(reqwest::Response::error_for_status);
            let _ = made.expect("the file").bytes().await.expect("all of it");
        }
    }

    /// Returns the address of a video of this shape: `film` (upright), `square` or `wide`.
    #[must_use]
    pub fn video(&self, shape: &str) -> String {
        self.url.replace("picture.png", &format!("{shape}.mp4"))
    }

    /// Returns the number of times it was fetched.
    #[must_use]
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

/// A grey JPEG of 640 by 480 pixels, which is large enough for every network; made by ffmpeg on first use.
static PHOTO: LazyLock<Vec<u8>> = LazyLock::new(|| {
    made(
        "jpg",
        &[
            "-v",
            "error",
            "-f",
            "lavfi",
            "-i",
            "color=gray:size=640x480",
            "-frames:v",
            "1",
            "-pix_fmt",
            "yuvj420p",
        ],
    )
});

/// The head of a PDF file.
const PAPER: &[u8] = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n";

/// Grey, silent MP4s of four seconds: upright, square and wide; made by ffmpeg on first use.
static FILM: LazyLock<Vec<u8>> = LazyLock::new(|| film("540x960"));
static SQUARE: LazyLock<Vec<u8>> = LazyLock::new(|| film("540x540"));
static WIDE: LazyLock<Vec<u8>> = LazyLock::new(|| film("960x540"));

fn film(size: &str) -> Vec<u8> {
    let picture = format!("color=gray:size={size}:rate=24:duration=4");
    made(
        "mp4",
        &[
            "-v",
            "error",
            "-f",
            "lavfi",
            "-i",
            &picture,
            "-f",
            "lavfi",
            "-i",
            "anullsrc=channel_layout=mono:sample_rate=44100",
            "-shortest",
            "-c:v",
            "libx264",
            "-pix_fmt",
            "yuv420p",
            "-c:a",
            "aac",
            "-movflags",
            "+faststart",
        ],
    )
}

/// Returns the file that ffmpeg makes with these arguments.
fn made(extension: &str, arguments: &[&str]) -> Vec<u8> {
    let name = format!("fanfare-file-{}.{extension}", uuid::Uuid::now_v7().simple());
    let at = std::env::temp_dir().join(name);
    let made = std::process::Command::new("ffmpeg").args(arguments).arg(&at).status();
    assert!(made.is_ok_and(|made| made.success()), "ffmpeg makes a file; run scripts/install.sh");
    let file = std::fs::read(&at).expect("the file");
    let _ = std::fs::remove_file(&at);
    file
}

/// Returns an uncompressed grey PNG.
///
/// # Panics
/// Never: it is small.
#[must_use]
pub fn png() -> Vec<u8> {
    let raw = [0, 10, 200, 0, 120, 60];
    let mut zlib = vec![0x78, 0x01, 0x01, 6, 0, 0xf9, 0xff];
    zlib.extend(raw);
    zlib.extend(adler32(&raw).to_be_bytes());
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    chunk(&mut png, b"IHDR", &[0, 0, 0, 2, 0, 0, 0, 2, 8, 0, 0, 0, 0]);
    chunk(&mut png, b"IDAT", &zlib);
    chunk(&mut png, b"IEND", &[]);
    png
}

fn chunk(png: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) {
    png.extend(u32::try_from(data.len()).expect("a small chunk").to_be_bytes());
    let named: Vec<u8> = kind.iter().chain(data).copied().collect();
    png.extend(&named);
    png.extend(crc32fast::hash(&named).to_be_bytes());
}

fn adler32(bytes: &[u8]) -> u32 {
    let step = |(a, b): (u32, u32), byte: &u8| {
        let a = (a + u32::from(*byte)) % 65_521;
        (a, (b + a) % 65_521)
    };
    let (a, b) = bytes.iter().fold((1, 0), step);
    (b << 16) | a
}
