//! Files and directories that only their owner may access.

use std::{
    fs,
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};

/// Creates a private directory and its parents; an existing one is made private.
///
/// # Errors
/// The file system's.
pub fn make_dir(path: &Path) -> Result<()> {
    fs::create_dir_all(path).with_context(|| format!("{} cannot be made", path.display()))?;
    restrict(path, 0o700)
}

/// Sets the mode of a file or directory, so that only the owner may use it.
///
/// # Errors
/// The file system's; a directory that another user owns stays as it is.
pub fn restrict(path: &Path, mode: u32) -> Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let failed = || format!("the permissions of {} cannot be set", path.display());
        let now = fs::metadata(path).with_context(failed)?.permissions();
        if now.mode() & 0o077 != 0 {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).with_context(failed)?;
        }
    }
    Ok(())
}

/// Writes a new private file: whole or not at all, even if the process is killed meanwhile.
///
/// # Errors
/// The file system's; the file exists already.
pub fn write_new(path: &Path, content: &[u8]) -> Result<()> {
    let beside = beside(path);
    let written = write(&beside, content).and_then(|()| {
        // Unlike a rename, a link never replaces a file.
        let linked = fs::hard_link(&beside, path);
        match linked {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(error),
            // The file system knows no links.
            Err(_) if !path.exists() => fs::rename(&beside, path),
            linked => linked,
        }
    });
    let _ = fs::remove_file(&beside);
    written.and_then(|()| keep_name(path)).with_context(|| failed(path))
}

/// Atomically replaces a file by a private one.
///
/// # Errors
/// The file system's.
#[cfg(feature = "simulator")]
pub fn replace(path: &Path, content: &[u8]) -> Result<()> {
    let beside = beside(path);
    let written = write(&beside, content).and_then(|()| fs::rename(&beside, path));
    written.with_context(|| failed(path))
}

fn failed(path: &Path) -> String {
    format!("{} cannot be written", path.display())
}

/// Returns the name under which a file is written before it has its own. A killed process with the same number may have
/// left such a file.
fn beside(path: &Path) -> PathBuf {
    path.with_extension(format!("{}.new", std::process::id()))
}

fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let _ = fs::remove_file(path);
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(content)?;
    file.sync_all()
}

/// Has the disk keep the name of a new file, too.
fn keep_name(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    if let Some(dir) = path.parent() {
        fs::File::open(dir)?.sync_all()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{beside, replace, write_new};

    #[test]
    fn a_file_is_whole_or_not_there_whatever_a_killed_process_left() {
        let dir = std::env::temp_dir().join(format!("private-{}", uuid::Uuid::now_v7().simple()));
        std::fs::create_dir_all(&dir).unwrap();
        let path = dir.join("master.key");
        // What a process of the same number leaves that is killed while it writes.
        std::fs::write(beside(&path), "ha").unwrap();
        write_new(&path, b"whole").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"whole");
        assert!(write_new(&path, b"another").is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"whole", "it is never replaced");
        std::fs::write(beside(&path), "ha").unwrap();
        replace(&path, b"the next").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"the next");
        assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 1, "nothing is left beside it");
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
