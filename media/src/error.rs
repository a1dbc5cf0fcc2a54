//! Errors of the store.

use std::{error::Error as StdError, io};

/// The error of a failed call of the store. Contains no path, because everybody who knows a path can fetch the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The address or the keys of the store cannot be used.
    #[error("{0}")]
    Config(String),
    /// The path is not valid in this store.
    #[error("This is not a path of the media store.")]
    InvalidPath,
    /// The file does not exist (any more).
    #[error("The file is not in the media store.")]
    Gone,
    /// The file is larger than the caller allows. Both sizes are in bytes.
    #[error("The file has {actual} bytes; {limit} are allowed here.")]
    TooLarge {
        /// The allowed size.
        limit: u64,
        /// The actual size.
        actual: u64,
    },
    /// The range is empty or starts after the end of the file.
    #[error("The range lies outside the file, which has {size} bytes.")]
    OutOfRange {
        /// Size of the file in bytes.
        size: u64,
    },
    /// The store does not let us in.
    #[error("The media store refuses access: {0}.")]
    Denied(String),
    /// The store does not work; the same call may succeed later.
    #[error("The media store failed: {0}.")]
    Failed(String),
}

impl From<object_store::Error> for Error {
    fn from(error: object_store::Error) -> Self {
        use object_store::Error as Cause;
        let why = short_cause(&error);
        match error {
            // A missing bucket gives a 404 like a missing file.
            Cause::NotFound { .. } if why != "NoSuchBucket" => Self::Gone,
            Cause::InvalidPath { .. } => Self::InvalidPath,
            Cause::PermissionDenied { .. } | Cause::Unauthenticated { .. } => Self::Denied(why),
            _ => Self::Failed(why),
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Gone,
            io::ErrorKind::PermissionDenied => Self::Denied(error.kind().to_string()),
            _ => Self::Failed(error.to_string()),
        }
    }
}

/// Returns the cause in a few words. The library's own text contains addresses, and that of S3 errors the access key.
fn short_cause(error: &(dyn StdError + 'static)) -> String {
    let text = error.to_string();
    let words = s3_code(&text)
        .map(str::to_owned)
        .or_else(|| status(&text))
        .unwrap_or_else(|| root_cause(error));
    if words.len() > 200 || words.contains("://") {
        "an unexpected answer".to_owned()
    } else {
        words
    }
}

/// Returns the code of an S3 error, such as `SlowDown`.
fn s3_code(text: &str) -> Option<&str> {
    let (code, _) = text.split_once("<Code>")?.1.split_once("</Code>")?;
    code.bytes().all(|byte| byte.is_ascii_alphanumeric()).then_some(code)
}

/// Returns the status of a response without an error document.
fn status(text: &str) -> Option<String> {
    let status = text.split_once("status code: ")?.1.get(..3)?;
    status.bytes().all(|byte| byte.is_ascii_digit()).then(|| format!("status {status}"))
}

fn root_cause(error: &(dyn StdError + 'static)) -> String {
    let mut root = error;
    while let Some(source) = root.source() {
        root = source;
    }
    root.to_string()
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::Error;

    fn generic(text: &str) -> object_store::Error {
        object_store::Error::Generic { store: "S3", source: text.to_owned().into() }
    }

    #[test]
    fn an_s3_error_is_told_by_its_code_alone() {
        let answer = "Error performing GET https://s3.example/bucket/w/secret.png in 3ms - Server returned non-2xx status \
                      code: 403 Forbidden: <Error><Code>InvalidAccessKeyId</Code><AWSAccessKeyId>AKIA1</AWSAccessKeyId></Error>";
        assert_eq!(Error::from(generic(answer)), Error::Failed("InvalidAccessKeyId".to_owned()));
        let bare = "Error performing PUT https://s3.example/x in 3ms - Server returned non-2xx status code: 502 Bad Gateway: ";
        assert_eq!(Error::from(generic(bare)), Error::Failed("status 502".to_owned()));
        let other = Error::from(generic("error at https://s3.example/x"));
        assert_eq!(other, Error::Failed("an unexpected answer".to_owned()));
    }

    #[test]
    fn a_missing_bucket_is_not_a_missing_file() {
        let missing = |code: &str| object_store::Error::NotFound {
            path: "w/secret.png".to_owned(),
            source: format!("<Code>{code}</Code>").into(),
        };
        assert_eq!(Error::from(missing("NoSuchKey")), Error::Gone);
        assert_eq!(Error::from(missing("NoSuchBucket")), Error::Failed("NoSuchBucket".to_owned()));
    }

    #[test]
    fn a_full_disk_is_named_without_the_path() {
        let full = object_store::Error::Generic {
            store: "LocalFileSystem",
            source: Box::new(io::Error::from(io::ErrorKind::StorageFull)),
        };
        assert_eq!(Error::from(full).to_string(), "The media store failed: no storage space.");
    }
}
