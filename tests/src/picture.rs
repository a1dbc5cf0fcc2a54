//! A picture for posts, served on loopback.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// A server with one picture; it ends with the test.
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
                let is_film = request.windows(9).any(|part| part == b"/film.mp4");
                let (mime, file) = if is_film { ("video/mp4", FILM) } else { ("image/png", &*png) };
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

    /// Address of the file number `place` of a type: the picture, or the head of a film.
    #[must_use]
    pub fn file(&self, mime: &str, place: usize) -> String {
        let name = if mime.starts_with("video/") { "film.mp4" } else { "picture.png" };
        format!("{}?n={place}", self.url.replace("picture.png", name))
    }

    /// How often it was fetched.
    #[must_use]
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

/// The head of an MP4 file.
const FILM: &[u8] = b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom";

/// A grey PNG, stored without compression.
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
