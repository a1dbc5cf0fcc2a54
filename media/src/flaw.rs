//! The reason a file cannot be used, found in its bytes.

use crate::{Error, tools::Spent};

/// The flaw of a file, in words for its owner; a tool's output is never shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// The bytes are of another type than the file was stored as, or of none.
    #[error("The file is not {named}: {found}.")]
    Mismatch {
        /// The type it was stored as.
        named: String,
        /// The type that the bytes look like.
        found: String,
    },
    /// It is of its type and cannot be read to its end.
    #[error("The file is damaged or incomplete: {0}.")]
    Unreadable(String),
    /// It has more pixels than are taken apart here.
    #[error(
        "The picture has {width} × {height} pixels; at most {side} a side and {pixels} in all are taken."
    )]
    TooManyPixels {
        /// Its width.
        width: u32,
        /// Its height.
        height: u32,
        /// Most of either.
        side: u32,
        /// Most in all.
        pixels: u64,
    },
    /// Reading or converting it takes more time, memory or space than a file may.
    #[error("The file takes too long or too much memory to read.")]
    TooCostly,
    /// It must be converted, and what that takes is not installed.
    #[error("The file must be converted for this platform, and this server has no ffmpeg.")]
    NoTools,
    /// It cannot be made to fit.
    #[error("The file cannot be converted for this platform: {0}.")]
    Unfit(String),
    /// The store or this machine failed; a later try may go better.
    #[error("The file could not be read right now: {0}")]
    Passing(String),
}

impl Flaw {
    /// Its code in the catalogue.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Mismatch { .. } => "media_type_mismatch",
            Self::Unreadable(_) => "media_unreadable",
            Self::TooManyPixels { .. } => "media_dimensions_unsupported",
            Self::TooCostly => "media_too_complex",
            Self::NoTools | Self::Unfit(_) => "media_conversion_failed",
            Self::Passing(_) => "unavailable",
        }
    }

    /// Returns the remedy as one sentence.
    #[must_use]
    pub const fn remedy(&self) -> &'static str {
        match self {
            Self::Mismatch { .. } => "Upload the file under its own type, or export it again.",
            Self::Unreadable(_) => "Export the file again and upload it whole.",
            Self::TooManyPixels { .. } => "Make the picture smaller and upload it again.",
            Self::TooCostly => "Export the file again with ordinary settings and upload it.",
            Self::NoTools => {
                "Ask the operator to install ffmpeg, or upload the file as the platform takes it."
            }
            Self::Unfit(_) => "Upload the file in a form and size that the platform takes.",
            Self::Passing(_) => "No action needed: it is retried.",
        }
    }

    /// May a later try go better?
    #[must_use]
    pub const fn is_passing(&self) -> bool {
        matches!(self, Self::Passing(_))
    }

    /// Returns the flaw that a failed run indicates.
    pub(crate) fn of_run(spent: Spent) -> Self {
        match spent {
            Spent::Time | Spent::Output => Self::TooCostly,
            Spent::Starved => Self::Passing("this machine has no time for it".to_owned()),
            Spent::Missing(why) => Self::Passing(why),
            Spent::Failed(words) => {
                tracing::debug!(words, "a media tool gave a file up");
                Self::Unreadable("it cannot be decoded".to_owned())
            }
        }
    }
}

impl From<Error> for Flaw {
    fn from(error: Error) -> Self {
        match error {
            Error::Gone => Self::Unreadable("it is no longer stored".to_owned()),
            other => Self::Passing(other.to_string()),
        }
    }
}

impl From<std::io::Error> for Flaw {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::UnexpectedEof | std::io::ErrorKind::InvalidData => {
                Self::Unreadable("it ends too early".to_owned())
            }
            _ => Self::Passing(error.kind().to_string()),
        }
    }
}
