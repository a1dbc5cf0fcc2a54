//! Uploads and downloads of large files, beside the speed of disk and loopback, and the memory they take.

use std::{
    io::{Read, Seek, Write},
    path::Path,
    time::Instant,
};

use bytes::Bytes;
use futures_util::{StreamExt, future, stream};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::{
    load::{NetworkProcess, http},
    process::Process,
    service::Service,
    table::{number, print, ratio},
};

/// The unit of sizes.
const MB: usize = 1_000_000;

/// Bytes sent and read at a time.
const BLOCK: usize = 256 * 1_024;

/// One line of the table.
struct Line {
    what: String,
    /// MB per second.
    rate: f64,
    /// The peak memory of the service so far, in MB.
    memory: Option<f64>,
}

/// Uploads and downloads `megabytes`, as one file and as four files at once.
pub async fn run(megabytes: usize) {
    let service = Service::embedded(&NetworkProcess::start(0)).await;
    let up = service.start(&["up"]);
    service.ready().await;
    let dir = service.variable("FANFARE_DATA_DIR");
    let mut lines = limits(Path::new(&dir), megabytes).await;
    let idle = peak(&up);
    for at_once in [1, 4] {
        let size = megabytes * MB / at_once;
        let begun = Instant::now();
        let sent = future::join_all((0..at_once).map(|seed| send(&service, size, seed))).await;
        lines.push(line(
            &format!("upload, {at_once} at a time"),
            megabytes,
            begun,
            Some(peak(&up)),
        ));
        let begun = Instant::now();
        future::join_all(sent.iter().map(|file| fetch(file, size))).await;
        lines.push(line(
            &format!("download, {at_once} at a time"),
            megabytes,
            begun,
            Some(peak(&up)),
        ));
    }
    up.stop();
    let (disk, loopback) = (lines[0].rate, lines[2].rate);
    let rows: Vec<_> = lines
        .iter()
        .map(|line| {
            vec![
                line.what.clone(),
                number(line.rate),
                ratio(line.rate, disk),
                ratio(line.rate, loopback),
                line.memory.map_or_else(|| "–".to_owned(), |memory| number(memory - idle)),
            ]
        })
        .collect();
    let heads = ["", "MB/s", "× disk", "× loopback", "memory above idle, MB"];
    print(&format!("{megabytes} MB in and out, embedded"), &heads, &rows);
}

/// Measures the disk and the loopback of this machine.
async fn limits(dir: &Path, megabytes: usize) -> Vec<Line> {
    let path = dir.join("plain");
    let block = vec![7_u8; BLOCK];
    let blocks = megabytes * MB / BLOCK;
    let begun = Instant::now();
    let mut file = std::fs::File::options()
        .create(true)
        .truncate(true)
        .write(true)
        .read(true)
        .open(&path)
        .expect("a file");
    for _ in 0..blocks {
        file.write_all(&block).expect("room on the disk");
    }
    file.sync_all().expect("the disk takes it");
    let written = line("disk, one file written and synced", megabytes, begun, None);
    let begun = Instant::now();
    file.rewind().expect("its beginning");
    let mut read = vec![0; BLOCK];
    while file.read(&mut read).expect("the file") > 0 {}
    let read = line("disk, the same file read", megabytes, begun, None);
    std::fs::remove_file(&path).expect("the file goes");
    vec![written, read, loopback(megabytes, blocks).await]
}

async fn loopback(megabytes: usize, blocks: usize) -> Line {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    let begun = Instant::now();
    let reading = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a connection");
        let mut block = vec![0; BLOCK];
        while stream.read(&mut block).await.expect("bytes") > 0 {}
    });
    let mut stream = tokio::net::TcpStream::connect(address).await.expect("a connection");
    let block = vec![7_u8; BLOCK];
    for _ in 0..blocks {
        stream.write_all(&block).await.expect("it reads");
    }
    drop(stream);
    reading.await.expect("it read to the end");
    line("loopback, one connection", megabytes, begun, None)
}

fn line(what: &str, megabytes: usize, begun: Instant, memory: Option<f64>) -> Line {
    let rate = megabytes as f64 / begun.elapsed().as_secs_f64();
    Line { what: what.to_owned(), rate, memory }
}

/// Uploads a generated video of this size; returns its record.
async fn send(service: &Service, size: usize, seed: usize) -> Value {
    let new = json!({"filename": "film.mp4", "content_type": "video/mp4", "size": size});
    let announce = http().post(format!("{}/api/v1/media/signed-upload", service.origin));
    let announce = announce.bearer_auth(&service.tenants[0].key).json(&new).send().await;
    let place: Value = announce.expect("an answer").json().await.expect("an address");
    let mut first = b"\0\0\0\x18ftypisom\0\0\x02\0isommp41".to_vec();
    first.resize(BLOCK.min(size), seed as u8);
    let next = Bytes::from(vec![seed as u8; BLOCK]);
    let rest = size - first.len();
    let blocks =
        (0..rest.div_ceil(BLOCK)).map(move |place| next.slice(..BLOCK.min(rest - place * BLOCK)));
    let body = stream::iter(std::iter::once(Bytes::from(first)).chain(blocks));
    let body = reqwest::Body::wrap_stream(body.map(Ok::<_, std::io::Error>));
    let url = place["upload_url"].as_str().expect("an address");
    let sent = http().put(url).header("Content-Type", "video/mp4").header("Content-Length", size);
    let answer = sent.body(body).send().await.expect("an answer");
    assert_eq!(answer.status(), 201, "{}", answer.text().await.unwrap_or_default());
    answer.json().await.expect("the file")
}

async fn fetch(file: &Value, size: usize) {
    let url = file["public_url"].as_str().expect("an address");
    let mut pieces = http().get(url).send().await.expect("an answer").bytes_stream();
    let mut seen = 0;
    while let Some(piece) = pieces.next().await {
        seen += piece.expect("the whole file").len();
    }
    assert_eq!(seen, size, "the whole file");
}

/// Returns the peak memory of a process, in MB.
fn peak(process: &Process) -> f64 {
    let path = format!("/proc/{}/status", process.id());
    let status = std::fs::read_to_string(path).expect("the process runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("its peak");
    let kib: f64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
    kib * 1_024.0 / MB as f64
}
