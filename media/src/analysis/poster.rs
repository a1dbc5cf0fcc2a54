//! Takes a frame as the poster of a video.

use std::time::Duration;

use bytes::Bytes;

use super::Facts;
use crate::{
    Tools,
    local::LocalFile,
    tools::{self, ToolRun},
};

const TIMEOUT: Duration = Duration::from_secs(30);
/// The memory limit of ffmpeg for one frame, in MiB.
const MAX_MEMORY_MIB: u64 = 768;
const MAX_OUTPUT: usize = 4 * 1024 * 1024;
/// The longer side of a poster.
const MAX_SIDE: u32 = 1_280;

/// Returns a JPEG of a frame near the beginning, or `None` without ffmpeg or if the video cannot be decoded there.
pub async fn take(tools: &Tools, local: &LocalFile, facts: &Facts) -> Option<Bytes> {
    let ffmpeg = tools.ffmpeg.as_deref()?;
    // Videos often begin with black frames.
    let at = facts.duration_ms.unwrap_or(0) / 10;
    let seek = format!("{}ms", at.min(3_000));
    let start =
        ["-v", "error", "-nostdin", "-threads", "1", "-max_pixels", "100000000", "-ss", &seek];
    let mut args: Vec<String> = start.map(str::to_owned).to_vec();
    args.extend(tools::input_args(&facts.mime, local.path()));
    let square = tools::square_pixel_filter(facts);
    let scale = format!(
        "{square}scale=w='min({MAX_SIDE},iw)':h='min({MAX_SIDE},ih)':force_original_aspect_ratio=decrease:force_divisible_by=2,setsar=1,format=yuvj420p"
    );
    let rest = ["-an", "-sn", "-dn", "-frames:v", "1", "-vf", &scale, "-c:v", "mjpeg", "-q:v", "4"];
    args.extend(rest.map(str::to_owned));
    args.extend(["-map_metadata", "-1", "-f", "mjpeg", "pipe:1"].map(str::to_owned));
    let run = ToolRun {
        program: ffmpeg,
        args,
        input: local.path(),
        made: None,
        time: TIMEOUT,
        cpu: 60,
        memory: MAX_MEMORY_MIB,
        output: MAX_OUTPUT,
        file: 0,
    };
    let printed = run.run().await;
    let poster = printed.inspect_err(|spent| tracing::debug!(?spent, "a video gave no poster"));
    poster.ok().filter(|jpeg| !jpeg.is_empty()).map(Bytes::from)
}
