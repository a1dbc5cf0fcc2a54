//! Removes partial files of processes that died while writing.

use std::{
    fs,
    io::{self, ErrorKind},
    path::PathBuf,
    time::SystemTime,
};

use crate::Error;

/// The separator in the name of an unfinished file, between the final name and a number. No final path contains it.
const UNFINISHED_MARK: char = '#';

/// Removes unfinished files below `directory` that were last written before `before`. Returns their number.
pub(crate) fn remove(directory: PathBuf, before: SystemTime) -> Result<u64, Error> {
    let (mut open, mut removed) = (vec![directory], 0);
    while let Some(directory) = open.pop() {
        let Some(entries) = ignore_missing(fs::read_dir(directory))? else { continue };
        for entry in entries {
            let entry = entry?;
            // Files may appear and disappear meanwhile. Symbolic links are not followed.
            let Some(meta) = ignore_missing(entry.metadata())? else { continue };
            if meta.is_dir() {
                open.push(entry.path());
            } else if entry.file_name().to_string_lossy().contains(UNFINISHED_MARK)
                && meta.modified()? < before
            {
                removed += u64::from(ignore_missing(fs::remove_file(entry.path()))?.is_some());
            }
        }
    }
    Ok(removed)
}

fn ignore_missing<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(there) => Ok(Some(there)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
