//! The programs that take films apart: found once, run within limits.

mod child;
mod confine;

use std::{
    env,
    path::{Path, PathBuf},
};

pub(crate) use child::{Child, Spent};

/// The ffmpeg programs on this machine. Cheap to clone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tools {
    /// Decodes and encodes.
    pub ffmpeg: Option<PathBuf>,
    /// Tells what is in a file.
    pub ffprobe: Option<PathBuf>,
}

impl Tools {
    /// The ones in `directory`, or in the directories of `PATH` if none is named.
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

    /// No tools: containers are read by this process alone, and nothing is converted that needs them.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }
}

/// The filter that makes pixels square.
pub(crate) fn square(facts: &crate::Facts) -> &'static str {
    if facts.pixel_aspect.is_some() { "scale=w='max(2,trunc(iw*sar/2)*2)':h=ih," } else { "" }
}

/// Only the file that is named is read, and only by the reader of its own type: what a file names inside (playlists,
/// references to other files, addresses) is never opened.
pub(crate) fn input(mime: &str, file: &Path) -> Vec<String> {
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
    // A path never begins with a dash or looks like an address: it is whole.
    args.extend(["-i".to_owned(), format!("file:{}", file.display())]);
    args
}
