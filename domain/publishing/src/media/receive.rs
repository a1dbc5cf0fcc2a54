//! Receives the bytes of a file and stores them.

use std::{fmt::Display, pin::pin, time::Duration};

use bytes::Bytes;
use fanfare_core::{
    Domain,
    error::{Code, Error, Result, violation},
};
use fanfare_entities::WorkspaceId;
use fanfare_media::{HEIC_REMEDY, Intake, IntakeError, Sizes, StoredMedia};
use futures_util::{Stream, StreamExt};

use super::asset;

/// The longest time that a file may take to arrive. The clean-up leaves bytes without a row alone for longer.
const MAX_DURATION: Duration = Duration::from_secs(6 * 3_600);

/// The conditions that a file must meet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Requirements {
    /// Largest sizes.
    pub sizes: Sizes,
    /// The exact number of bytes, if it was announced.
    pub bytes: Option<u64>,
    /// The media type, if it was announced.
    pub mime: Option<&'static str>,
    /// True if documents and captions are allowed.
    pub documents: bool,
    /// The field that brings it, for errors.
    pub field: &'static str,
}

/// Stores a body, completely or not at all.
///
/// # Errors
/// The flaw of the file, or [`Code::Unavailable`] if the store fails.
pub async fn receive<E: Display>(
    cx: &Domain,
    workspace: WorkspaceId,
    wanted: Requirements,
    body: impl Stream<Item = Result<Bytes, E>> + Send,
) -> Result<StoredMedia> {
    let mut intake = Intake::new(&cx.store, &asset::prefix(workspace), wanted.sizes);
    let poured =
        tokio::time::timeout(MAX_DURATION, write_body(cx, &mut intake, wanted, body)).await;
    let poured = poured.unwrap_or_else(|_| Err(too_short(wanted, intake.seen())));
    if let Err(error) = poured {
        intake.abort().await;
        return Err(error);
    }
    let file = intake.finish().await.map_err(|refused| refusal(refused, wanted.field))?;
    cx.failpoint.reach("upload_stored").await;
    Ok(file)
}

/// Reads a body to its end and drops it, as if it were stored.
///
/// # Errors
/// It has another length than was announced.
pub(super) async fn discard<E: Display>(
    wanted: Requirements,
    body: impl Stream<Item = Result<Bytes, E>> + Send,
) -> Result<()> {
    let (mut body, mut seen) = (pin!(body), 0_u64);
    let all = async {
        while let Some(piece) = body.next().await {
            seen += piece.map_err(|_| too_short(wanted, seen))?.len() as u64;
            if wanted.bytes.is_some_and(|bytes| seen > bytes) {
                return Err(too_long(wanted));
            }
        }
        match wanted.bytes {
            Some(bytes) if seen < bytes => Err(too_short(wanted, seen)),
            _ => Ok(()),
        }
    };
    tokio::time::timeout(MAX_DURATION, all).await.unwrap_or_else(|_| Err(too_short(wanted, 0)))
}

async fn write_body<E: Display>(
    cx: &Domain,
    intake: &mut Intake,
    wanted: Requirements,
    body: impl Stream<Item = Result<Bytes, E>> + Send,
) -> Result<()> {
    let mut body = pin!(body);
    while let Some(piece) = body.next().await {
        let piece = piece.map_err(|error| {
            tracing::debug!(%error, "a file was cut off");
            too_short(wanted, intake.seen())
        })?;
        let seen = intake.seen() + piece.len() as u64;
        if wanted.bytes.is_some_and(|bytes| seen > bytes) {
            return Err(too_long(wanted));
        }
        intake.write(&piece).await.map_err(|refused| refusal(refused, wanted.field))?;
        if let Some(mime) = intake.mime() {
            check_type(mime, wanted)?;
        }
        cx.failpoint.reach("upload_begun").await;
    }
    if wanted.bytes.is_some_and(|bytes| intake.seen() < bytes) {
        return Err(too_short(wanted, intake.seen()));
    }
    let mime = intake.end().await.map_err(|refused| refusal(refused, wanted.field))?;
    check_type(mime, wanted)
}

fn check_type(mime: &str, wanted: Requirements) -> Result<()> {
    if let Some(named) = wanted.mime.filter(|named| *named != mime) {
        let message = format!("The file was announced as {named}, but its bytes are {mime}.");
        let remedy = format!("Send content_type {mime}, or the right file.");
        return Err(Error::field(Code::MediaTypeMismatch, "content_type", message, remedy));
    }
    if mime == "application/pdf" && !wanted.documents {
        let message = "PDF documents are not taken here.";
        let remedy = "Save its pages as JPEG or PNG pictures and send those.";
        return Err(Error::field(Code::MediaTypeUnsupported, wanted.field, message, remedy));
    }
    if mime == "text/vtt" && !wanted.documents {
        let message = "Captions are not taken here.";
        let remedy = "Upload them as media of the workspace.";
        return Err(Error::field(Code::MediaTypeUnsupported, wanted.field, message, remedy));
    }
    Ok(())
}

fn too_short(wanted: Requirements, seen: u64) -> Error {
    let message = format!("The file ended after {seen} bytes.");
    size_differs(wanted, message, Some(seen))
}

fn too_long(wanted: Requirements) -> Error {
    size_differs(wanted, "The file is longer than it was announced.".to_owned(), None)
}

fn size_differs(wanted: Requirements, message: String, seen: Option<u64>) -> Error {
    let remedy = "Send the whole file, exactly as many bytes as were announced.";
    let mut broken = violation(Code::UploadSizeMismatch, wanted.field, message, remedy);
    broken.limit = wanted.bytes.map(Into::into);
    broken.actual = seen.map(Into::into);
    broken.unit = Some("bytes");
    Error::violation(broken)
}

/// Returns the error for a file that was refused.
fn refusal(refused: IntakeError, field: &str) -> Error {
    let (code, remedy) = match &refused {
        IntakeError::Empty => (Code::InvalidField, "Send a file that has something in it."),
        IntakeError::Heic => (Code::MediaTypeUnsupported, HEIC_REMEDY),
        IntakeError::Page | IntakeError::Type(_) => (
            Code::MediaTypeUnsupported,
            "Send JPEG, PNG, GIF, WebP, MP4, MOV or WebM, or WebVTT in UTF-8 for captions.",
        ),
        IntakeError::TooLarge { limit } => {
            let remedy = "Send a smaller file, or move to a larger plan.";
            let mut broken = violation(Code::MediaTooLarge, field, refused.to_string(), remedy);
            broken.limit = Some((*limit).into());
            broken.unit = Some("bytes");
            return Error::violation(broken);
        }
        IntakeError::Store(error) => {
            tracing::error!(%error, "the media store did not take a file");
            let message = "The media store cannot take the file right now.";
            return Error::new(Code::Unavailable, message).with_retry_after(5);
        }
    };
    Error::field(code, field, refused.to_string(), remedy)
}
