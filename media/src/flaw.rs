//! The reasons that a file cannot be used.

use crate::{Error, tools::ToolError};

/// The flaw of a file, in words for its owner. The output of a tool is never shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// The bytes have a different type than the file was stored as, or no known type.
    #[error("The file is not {named}: {found}.")]
    Mismatch {
        /// The type that the file was stored as.
        named: String,
        /// The type that the bytes look like.
        found: String,
    },
    /// The file has the right type but cannot be read completely.
    #[error("The file is damaged or incomplete: {0}.")]
    Unreadable(String),
    /// The file has more pixels than are processed.
    #[error(
        "The picture has {width} × {height} pixels; at most {side} a side and {pixels} in all are taken."
    )]
    TooManyPixels {
        /// The width in pixels.
        width: u32,
        /// The height in pixels.
        height: u32,
        /// The largest allowed width and height.
        side: u32,
        /// The largest allowed number of pixels.
        pixels: u64,
    },
    /// Reading or converting the file takes more time, memory or space than allowed.
    #[error("The file takes too long or too much memory to read.")]
    TooCostly,
    /// The file must be converted, but the tools for that are not installed.
    #[error("The file must be converted for this platform, and this server has no ffmpeg.")]
    NoTools,
    /// The file cannot be converted so that it fits.
    #[error("The file cannot be converted for this platform: {0}.")]
    Unfit(String),
    /// The store or this machine failed; a later attempt may succeed.
    #[error("The file could not be read right now: {0}")]
    Temporary(String),
}

impl Flaw {
    /// Returns the code of the flaw in the error catalogue.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Mismatch { .. } => "media_type_mismatch",
            Self::Unreadable(_) => "media_unreadable",
            Self::TooManyPixels { .. } => "media_dimensions_unsupported",
            Self::TooCostly => "media_too_complex",
            Self::NoTools | Self::Unfit(_) => "media_conversion_failed",
            Self::Temporary(_) => "unavailable",
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
            Self::Temporary(_) => "No action needed: it is retried.",
        }
    }

    /// Returns true if a later attempt may succeed.
    #[must_use]
    pub const fn is_temporary(&self) -> bool {
        matches!(self, Self::Temporary(_))
    }

    /// Returns the flaw that a failed tool run indicates.
    pub(crate) fn from_tool_error(spent: ToolError) -> Self {
        match spent {
            ToolError::Time | ToolError::Output => Self::TooCostly,
            ToolError::Starved => Self::Temporary("this machine has no time for it".to_owned()),
            ToolError::Missing(why) => Self::Temporary(why),
            ToolError::Failed(words) => {
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
            other => Self::Temporary(other.to_string()),
        }
    }
}

impl From<std::io::Error> for Flaw {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::UnexpectedEof | std::io::ErrorKind::InvalidData => {
                Self::Unreadable("it ends too early".to_owned())
            }
            _ => Self::Temporary(error.kind().to_string()),
        }
    }
}
