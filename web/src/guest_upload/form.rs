//! Stores the files of a form one after the other, as they arrive.

use fanfare_api::{body, request_id};
use fanfare_core::{Code, Domain, Error, Result, logins::forged_form};
use fanfare_publishing::media::guest_uploads::GuestUpload;
use multra::{Constraints, Multipart, SizeLimit, parse_boundary};
use salvo::http::{Request, header::CONTENT_TYPE};

use super::FORM;
use crate::browser::form::{cookie, has_csrf_token};

/// The name of the form's field.
pub const FIELD: &str = "files";

/// The most bytes of a form besides its files.
const MAX_OVERHEAD: u64 = 1 << 20;

/// The result of uploading one file.
#[derive(Debug)]
pub struct UploadOutcome {
    /// Its name.
    pub name: String,
    /// Why it was refused, if it was.
    pub error: Option<Error>,
}

/// Stores the files of the form.
///
/// # Errors
/// The body is no form, or has no file in it.
pub async fn take(
    cx: &Domain,
    session: &GuestUpload,
    req: &mut Request,
) -> Result<Vec<UploadOutcome>> {
    let kind = req.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let boundary = kind.and_then(|kind| parse_boundary(kind).ok()).ok_or_else(|| {
        let message = "This page accepts only the files of its own form.";
        Error::new(Code::UnsupportedMediaType, message)
    })?;
    let files = u64::from(session.max_files().unsigned_abs());
    let most = SizeLimit::new().whole_stream(session.sizes().video * files + MAX_OVERHEAD);
    let constraints = Constraints::new().size_limit(most);
    let (pieces, id) = (body::chunks(req.take_body()), request_id::get(req));
    let mut form = Multipart::with_constraints(Box::pin(pieces), boundary, constraints);
    let mut outcomes = Vec::new();
    let secret = cookie(req.headers(), cx, &FORM).ok_or_else(forged_form)?;
    let first = form.next_field().await.map_err(broken)?;
    let token = match first.filter(|field| field.name() == Some("csrf")) {
        Some(field) => field.text().await.map_err(broken)?,
        None => return Err(forged_form()),
    };
    if !has_csrf_token(&secret, &vec![("csrf".to_owned(), token)]) {
        return Err(forged_form());
    }
    while let Some(field) = form.next_field().await.map_err(broken)? {
        let name = field.file_name().unwrap_or_default().to_owned();
        // A file field without a chosen file is sent with an empty name.
        if field.name() != Some(FIELD) || name.is_empty() {
            continue;
        }
        let error = session.receive(cx, id.clone(), &name, field).await.err();
        outcomes.push(UploadOutcome { name, error });
    }
    if outcomes.is_empty() {
        let message = "No file was chosen. Go back, choose files and send them.";
        return Err(Error::new(Code::FieldRequired, message));
    }
    Ok(outcomes)
}

fn broken(error: multra::Error) -> Error {
    tracing::debug!(%error, "a form was cut off");
    Error::new(Code::UploadSizeMismatch, "The form was incomplete. Send it again.")
}
