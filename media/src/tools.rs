//! The ffmpeg programs, which are found once and run within limits.

mod child;
mod confine;

use std::{
    env,
    path::{Path, PathBuf},
};

pub(crate) use child::{ToolError, ToolRun};

/// The ffmpeg programs on this machine. Cheap to clone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tools {
    /// The path of ffmpeg, which decodes and encodes.
    pub ffmpeg: Option<PathBuf>,
    /// The path of ffprobe, which reads the facts of a file.
    pub ffprobe: Option<PathBuf>,
}

impl Tools {
    /// Finds the programs in `directory`, or in the directories of `PATH` if it is `None`.
    #[must_use]
    pub fn find(directory: Option<&Path>, search: Option<&std::ffi::OsStr>) -> Self {
        let places: Vec<PathBuf> = match directory {
            Some(one) => vec![one.to_owned()],
            None => search.map(|all| env::split_paths(all).collect()).unwrap_or_default(),
        };
        let found =
            |name: &str| places.iter().map(|place| place.join(name)).find(|at| at.is_file());
        Self { ffmpeg: found("ffmpeg"), ffprobe: found("ffprobe") }
    }

    /// Returns no tools. Containers are then read in this process, and files that need the tools are not converted.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }
}

/// Returns the ffmpeg filter that makes pixels square.
pub(crate) fn square_pixel_filter(facts: &crate::Facts) -> &'static str {
    if facts.pixel_aspect.is_some() { "scale=w='max(2,trunc(iw*sar/2)*2)':h=ih," } else { "" }
}

/// Returns the input arguments. Only this file is read, and only with the demuxer of its type. Files and addresses that
/// it refers to (playlists, other files) are never opened.
pub(crate) fn input_args(mime: &str, file: &Path) -> Vec<String> {
    let (reader, known) = match mime {
        "video/webm" => ("matroska", "matroska,webm"),
        "image/png" => ("png_pipe", "png_pipe"),
        "image/jpeg" => ("jpeg_pipe", "jpeg_pipe"),
        "image/webp" => ("webp_pipe", "webp_pipe"),
        "image/gif" => ("gif", "gif"),
        _ => ("mov", "mov,mp4,m4a,3gp,3g2,mj2"),
    };
    let mut args: Vec<String> = ["-protocol_whitelist", "file,pipe", "-format_whitelist", known]
        .into_iter()
        .map(str::to_owned)
        .collect();
    if reader == "mov" {
        args.extend(["-enable_drefs", "0", "-use_absolute_path", "0"].map(str::to_owned));
    }
    args.extend(["-f".to_owned(), reader.to_owned()]);
    // The path is absolute, so it never begins with a dash or looks like an address.
    args.extend(["-i".to_owned(), format!("file:{}", file.display())]);
    args
}
