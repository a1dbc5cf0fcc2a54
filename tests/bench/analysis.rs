//! Files analysed per second, beside plain ffprobe on the same files in the same run.
//!
//! Plain ffprobe reports the facts. Fanfare also checks that a picture is complete, and makes a placeholder and the
//! poster of a video; it is also measured without these, with its own parsers only.

use std::{path::Path, process::Stdio, time::Instant};

use fanfare_media::{S3, Scratch, Store, Tools, analyse};
use futures_util::{StreamExt, stream};

use crate::table::{number, print, ratio};

/// The number of concurrent analyses.
const AT_ONCE: usize = 4;

/// Analyses `files` videos and as many pictures.
pub async fn run(files: usize) {
    let dir = std::env::temp_dir().join(format!("fanfare-bench-{}", uuid::Uuid::now_v7().simple()));
    std::fs::create_dir_all(&dir).expect("a directory");
    let store = Store::open(&format!("file://{}", dir.display()), S3::default()).expect("a store");
    let tools = Tools::find(None, std::env::var_os("PATH").as_deref());
    let ffprobe = tools.ffprobe.clone().expect("ffprobe is installed");
    let film = ["-f", "lavfi", "-i", "testsrc=size=1280x720:rate=30:duration=5", "-c:v", "libx264"];
    let film = made(
        &dir,
        &[&film[..], &["-preset", "veryfast", "-pix_fmt", "yuv420p"]].concat(),
        "film.mp4",
    );
    let picture = ["-f", "lavfi", "-i", "testsrc=size=1600x1200", "-frames:v", "1", "-q:v", "3"];
    let picture = made(&dir, &picture, "picture.jpg");
    let mut rows = Vec::new();
    for (what, mime, bytes) in [("films", "video/mp4", film), ("pictures", "image/jpeg", picture)] {
        let mut paths = Vec::new();
        for _ in 0..files {
            paths.push(store.put("bench", mime, &bytes).await.expect("a file"));
        }
        let bare = bare(&ffprobe, &dir, &paths).await;
        for (how, tools) in [("all of it", tools.clone()), ("without ffmpeg", Tools::none())] {
            let own = own(&store, &tools, &dir, &paths, mime).await;
            let name = format!("{what}: Fanfare, {how}");
            rows.push(vec![name, number(own * 10.0), ratio(own, bare)]);
        }
        rows.push(vec![format!("{what}: bare ffprobe"), number(bare * 10.0), ratio(bare, bare)]);
    }
    std::fs::remove_dir_all(&dir).expect("the directory goes");
    let heads = ["", "in ten seconds", "× bare ffprobe"];
    print(&format!("{files} files of each kind looked at, {AT_ONCE} at once"), &heads, &rows);
}

fn made(dir: &Path, args: &[&str], name: &str) -> Vec<u8> {
    let at = dir.join(name);
    let run = std::process::Command::new("ffmpeg")
        .args(["-v", "error", "-y"])
        .args(args)
        .arg(&at)
        .status();
    assert!(run.expect("ffmpeg is installed").success());
    std::fs::read(at).expect("what it made")
}

/// Returns files per second.
async fn own(store: &Store, tools: &Tools, dir: &Path, paths: &[String], mime: &str) -> f64 {
    let scratch = Scratch::new(dir.join("scratch"), 1 << 30);
    let begun = Instant::now();
    stream::iter(paths)
        .for_each_concurrent(AT_ONCE, async |path| {
            analyse(store, tools, &scratch, path, mime).await.expect("it is looked at");
        })
        .await;
    paths.len() as f64 / begun.elapsed().as_secs_f64()
}

/// Returns files per second.
async fn bare(ffprobe: &Path, dir: &Path, paths: &[String]) -> f64 {
    let begun = Instant::now();
    stream::iter(paths)
        .for_each_concurrent(AT_ONCE, async |path| {
            let run = tokio::process::Command::new(ffprobe)
                .args(["-v", "error", "-print_format", "json", "-show_format", "-show_streams"])
                .arg(dir.join(path))
                .stdout(Stdio::null())
                .status();
            assert!(run.await.expect("ffprobe runs").success());
        })
        .await;
    paths.len() as f64 / begun.elapsed().as_secs_f64()
}
