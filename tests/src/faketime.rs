//! Wrong clocks for processes of tests, with Debian's libfaketime: the wall clock of the process is off, its monotonic
//! clock is not.

use std::path::PathBuf;

/// Returns the environment of a process whose clock is off by `offset`, such as `+1d` or `-10m`.
///
/// # Panics
/// libfaketime is not installed.
#[must_use]
pub fn by(offset: &str) -> Vec<(&'static str, String)> {
    preloaded([("FAKETIME", offset.to_owned())])
}

/// Returns the same with an offset in a file, which may change.
///
/// # Panics
/// libfaketime is not installed.
#[must_use]
pub fn by_file(path: &str) -> Vec<(&'static str, String)> {
    let file = ("FAKETIME_TIMESTAMP_FILE", path.to_owned());
    preloaded([file, ("FAKETIME_CACHE_DURATION", "1".to_owned())])
}

fn preloaded<const N: usize>(more: [(&'static str, String); N]) -> Vec<(&'static str, String)> {
    let library = library().expect("libfaketime is there; run scripts/install.sh");
    let mut all = vec![
        ("LD_PRELOAD", library.display().to_string()),
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
    ];
    all.extend(more);
    all
}

fn library() -> Option<PathBuf> {
    let dirs = std::fs::read_dir("/usr/lib").ok()?;
    let inside = |dir: std::fs::DirEntry| dir.path().join("faketime/libfaketimeMT.so.1");
    dirs.filter_map(Result::ok).map(inside).find(|file| file.exists())
}
