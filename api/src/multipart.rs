//! Small files sent as `multipart/form-data`, converted to the JSON body of the same upload.

use std::convert::Infallible;

use bytes::Bytes;
use fanfare_core::{Code, Error, Result, error::excerpt, offload};
use fanfare_publishing::media;
use futures_util::stream;
use multra::{Field, Multipart, parse_boundary};
use salvo::http::{
    HeaderMap, Request,
    header::{CONTENT_ENCODING, CONTENT_TYPE},
};
use serde_json::{Map, Value};

use crate::body::{self, RequestBody};

/// The name of the part that holds the file.
pub const FILE: &str = "file";

/// Fields that override the file name of the part.
const NAMES: [&str; 2] = ["filename", "file_name"];

/// The file of a form.
struct Part {
    name: Option<String>,
    kind: Option<String>,
    bytes: Bytes,
}

/// Returns true if a request has an uncompressed multipart body.
pub fn is_multipart(headers: &HeaderMap) -> bool {
    boundary(headers).is_some() && !headers.contains_key(CONTENT_ENCODING)
}

fn boundary(headers: &HeaderMap) -> Option<String> {
    parse_boundary(headers.get(CONTENT_TYPE)?.to_str().ok()?).ok()
}

/// Reads a form as the equivalent JSON body, so that a repeated request is recognised although its boundary differs.
/// The file may be as large as one in base64 in a JSON body of `most` bytes.
///
/// # Errors
/// [`Code::InvalidJson`] for a body that breaks off.
pub async fn read(req: &mut Request, most: usize, code: Code) -> Result<RequestBody> {
    let Some(boundary) = boundary(req.headers()) else {
        return body::read(req, most, code).await;
    };
    let raw = match body::read_bytes(req, most / 4 * 3, code).await? {
        Ok(raw) => raw,
        Err(refusal) => {
            return Ok(RequestBody { refusal: Some(refusal), ..RequestBody::default() });
        }
    };
    Ok(match fields(raw, boundary).await {
        Ok(fields) => {
            let value = Value::Object(fields);
            RequestBody { raw: value.to_string().into(), value: Some(value), refusal: None }
        }
        Err(refusal) => RequestBody { refusal: Some(refusal), ..RequestBody::default() },
    })
}

/// Returns the fields of a form, including those derived from its file.
async fn fields(raw: Bytes, boundary: String) -> Result<Map<String, Value>> {
    let mut form = Multipart::new(stream::iter([Ok::<_, Infallible>(raw)]), boundary);
    let (mut fields, mut file) = (Map::new(), None);
    while let Some(field) = form.next_field().await.map_err(broken)? {
        let name = field.name().unwrap_or_default().to_owned();
        if name == FILE {
            let found = part(field).await?;
            if file.replace(found).is_some() {
                return Err(refusal(Code::InvalidField, "The form has several files."));
            }
        } else if field.file_name().is_some() {
            let message = format!("There is no place for a file called {:?}.", excerpt(&name));
            return Err(refusal(Code::UnknownField, &message));
        } else if fields.contains_key(&name) {
            let message = format!("The form has several fields called {:?}.", excerpt(&name));
            return Err(refusal(Code::InvalidField, &message));
        } else {
            fields.insert(name, field.text().await.map_err(broken)?.into());
        }
    }
    let missing = || refusal(Code::FieldRequired, "The form has no file.");
    let file: Part = file.ok_or_else(missing)?;
    let said = offload(file.bytes.len(), move || {
        media::new_file_fields(file.name, file.kind.as_deref(), &file.bytes)
    });
    let is_named = NAMES.iter().any(|name| fields.contains_key(*name));
    for (name, value) in said.await? {
        if !(is_named && NAMES.contains(&name.as_str())) {
            fields.entry(name).or_insert(value);
        }
    }
    Ok(fields)
}

async fn part(field: Field<'_>) -> Result<Part> {
    let name = field.file_name().filter(|name| !name.is_empty()).map(str::to_owned);
    let kind = field.content_type().map(ToString::to_string);
    Ok(Part { name, kind, bytes: field.bytes().await.map_err(broken)? })
}

fn refusal(code: Code, message: &str) -> Error {
    let remedy = "Send one file, in a part called `file`; other fields are those of the JSON body.";
    Error::field(code, FILE, message, remedy)
}

fn broken(error: multra::Error) -> Error {
    tracing::debug!(%error, "a form cannot be read");
    refusal(Code::InvalidField, "The form is not complete, or not multipart/form-data.")
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(parts: &[&str]) -> Result<Map<String, Value>> {
        let mut text = String::new();
        for part in parts {
            text += &format!("--x\r\nContent-Disposition: form-data; {part}\r\n");
        }
        fields(format!("{text}--x--\r\n").into(), "x".to_owned()).await
    }

    #[tokio::test]
    async fn a_form_becomes_the_body_of_the_same_upload() {
        let gif = "name=\"file\"; filename=\"dot.gif\"\r\nContent-Type: image/gif\r\n\r\nGIF89a";
        let said = read(&[gif, "name=\"workspace_id\"\r\n\r\nw"]).await.unwrap();
        assert_eq!(
            Value::Object(said),
            serde_json::json!({"filename": "dot.gif", "content_type": "image/gif", "data": "R0lGODlh", "workspace_id": "w"})
        );
        let plain = "name=\"file\"; filename=\"a\"\r\n\r\n\u{0}";
        let said = read(&[plain, "name=\"file_name\"\r\n\r\nb.png"]).await.unwrap();
        assert_eq!((&said["file_name"], said.get("filename")), (&"b.png".into(), None));
        assert_eq!(said["content_type"], "application/octet-stream");
    }

    #[tokio::test]
    async fn a_form_that_brings_something_else_says_what() {
        let file = "name=\"file\"; filename=\"a.gif\"\r\n\r\nx";
        let text = "name=\"filename\"\r\n\r\na";
        for (parts, code) in [
            (vec![text], Code::FieldRequired),
            (vec![file, file], Code::InvalidField),
            (vec![file, text, text], Code::InvalidField),
            (vec!["name=\"photo\"; filename=\"a.gif\"\r\n\r\nx"], Code::UnknownField),
        ] {
            assert_eq!(read(&parts).await.unwrap_err().code(), code, "{parts:?}");
        }
        assert!(fields("--x\r\nnothing".into(), "x".to_owned()).await.is_err());
    }
}
