//! Files and directories that only their owner may access.

use std::{fs, io::Write, path::Path};

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

/// Writes a new private file.
///
/// # Errors
/// The file system's; the file exists already.
pub fn write_new(path: &Path, content: &[u8]) -> Result<()> {
    let written = (|| {
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path)?;
        file.write_all(content)?;
        file.sync_all()
    })();
    written.with_context(|| format!("{} cannot be written", path.display()))
}

/// Atomically replaces a file by a private one.
///
/// # Errors
/// The file system's.
pub fn replace(path: &Path, content: &[u8]) -> Result<()> {
    let beside = path.with_extension(format!("{}.new", std::process::id()));
    write_new(&beside, content)?;
    fs::rename(&beside, path).with_context(|| format!("{} cannot be written", path.display()))
}
