//! A real network, started for a test and stopped with it.

use std::process::Stdio;

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

/// A running peer; it ends when this is dropped, because it reads from our pipe.
pub struct Peer {
    /// What it said when it was ready.
    pub said: Value,
    _child: Child,
}

impl Peer {
    /// Starts `command` (relative to the repository) and waits until it is ready.
    pub async fn start(command: &[&str]) -> Self {
        let root = env!("CARGO_MANIFEST_DIR");
        let mut child = Command::new(format!("{root}/{}", command[0]))
            .args(&command[1..])
            .current_dir(root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(false)
            .spawn()
            .expect("the peer starts; run scripts/install.sh --peers");
        let said =
            BufReader::new(child.stdout.take().expect("its output")).lines().next_line().await;
        let said =
            said.expect("its output").expect("the peer is ready; run scripts/install.sh --peers");
        let said = serde_json::from_str(&said).expect("one line of JSON");
        Self { said, _child: child }
    }
}

/// A picture of 2 by 2 pixels, served on loopback for as long as the test runs; its address.
pub async fn picture() -> String {
    use tokio::io::AsyncWriteExt;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}/picture.png", listener.local_addr().expect("an address"));
    let png = png();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                png.len()
            );
            let _ = stream.write_all(head.as_bytes()).await;
            let _ = stream.write_all(&png).await;
            let _ = stream.shutdown().await;
        }
    });
    url
}

/// A grey PNG, stored without compression.
fn png() -> Vec<u8> {
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
