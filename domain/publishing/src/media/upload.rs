//! Small files that are uploaded inside a request.

use std::convert::Infallible;

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use fanfare_core::{
    Act, RefusalDetails, Reply,
    access::PlanTier,
    error::{Code, Error, Result, violation},
    offload,
};
use fanfare_media::{HEIC_REMEDY, filename, sniff, supported};
use fanfare_platforms::Violation;
use futures_util::stream;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::{
    asset::{self, Media, Origin},
    receive::{Requirements, receive},
    sizes,
};

/// The largest file that the relay takes, in bytes.
pub const RELAY_MAX_BYTES: usize = 5_000_000;

/// The longest file name that callers may send, in characters. The stored name may be shorter.
const MAX_NAME_CHARS: usize = 255;

/// The media type that says nothing about the bytes.
const ANY_TYPE: &str = "application/octet-stream";

/// A small file.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewFile {
    /// The display name.
    #[schemars(length(max = 255))]
    pub filename: String,
    /// Media type, which must be that of the bytes.
    #[schemars(length(max = 200))]
    pub content_type: String,
    /// The bytes, in base64.
    #[schemars(length(max = 8_000_000))]
    pub data: String,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

/// Returns the fields of a [`NewFile`] whose bytes came unencoded. A missing or unspecific type is detected from the
/// bytes.
#[must_use]
pub fn new_file_fields(
    filename: Option<String>,
    content_type: Option<&str>,
    bytes: &[u8],
) -> Map<String, Value> {
    let said = content_type.filter(|kind| !kind.starts_with(ANY_TYPE));
    let kind = said.or_else(|| sniff(bytes)).unwrap_or(ANY_TYPE);
    let mut fields = Map::new();
    fields.extend(filename.map(|name| ("filename".to_owned(), name.into())));
    fields.insert("content_type".to_owned(), kind.into());
    fields.insert("data".to_owned(), STANDARD.encode(bytes).into());
    fields
}

/// Stores a small file.
///
/// # Errors
/// The flaws of the file.
pub async fn upload(act: &Act, new: NewFile) -> Result<Reply<Media>> {
    store(act, new, None).await
}

/// Stores a small file for callers of an old address, which has a limit of its own.
///
/// # Errors
/// [`Code::FunctionPayloadTooLarge`], or what is wrong with the file.
pub async fn relay(act: &Act, new: NewFile) -> Result<Reply<Media>> {
    store(act, new, Some(RELAY_MAX_BYTES)).await
}

async fn store(act: &Act, new: NewFile, most: Option<usize>) -> Result<Reply<Media>> {
    let (size, plan) = (new.data.len(), act.membership.plan);
    let decoded = offload(size, move || {
        let decoded = decode(&new, plan, most);
        (new.filename, decoded)
    });
    let (name, decoded) = decoded.await?;
    let (bytes, mime) = decoded?;
    receive_and_insert(act, &name, bytes, mime).await
}

/// Returns the bytes and the media type of a valid file.
fn decode(new: &NewFile, plan: PlanTier, most: Option<usize>) -> Result<(Vec<u8>, &'static str)> {
    let (mime, mut broken) = check_name_and_type(&new.filename, &new.content_type);
    let bytes = STANDARD.decode(&new.data).unwrap_or_else(|error| {
        let message = format!("data is not base64: {error}.");
        let remedy = "Send the bytes in standard base64 with padding, without a data: prefix.";
        broken.push(violation(Code::InvalidField, "data", message, remedy));
        Vec::new()
    });
    if let Some(most) = most.filter(|most| bytes.len() > *most) {
        let message = format!("The file has {} bytes; this address takes {most}.", bytes.len());
        let limit = Some(most as u64);
        return Err(Error::new(Code::FunctionPayloadTooLarge, message)
            .with_details(RefusalDetails { limit, ..RefusalDetails::default() }));
    }
    broken.extend(sizes::too_large("data", mime, bytes.len() as u64, plan));
    Error::check(broken)?;
    Ok((bytes, mime))
}

/// Returns the media type of an announced file, and what is wrong with its name and type.
pub(super) fn check_name_and_type(
    filename: &str,
    content_type: &str,
) -> (&'static str, Vec<Violation>) {
    let mut broken = Vec::new();
    let length = filename.chars().count();
    if filename.trim().is_empty() || length > MAX_NAME_CHARS {
        let message = format!("filename must have 1 to {MAX_NAME_CHARS} characters.");
        let remedy = "Send a name for people, for example photo.jpg.";
        let named = violation(Code::InvalidField, "filename", message, remedy);
        broken.push(named.with_limit(MAX_NAME_CHARS, length).in_unit("characters"));
    }
    let mime = supported(content_type).unwrap_or_else(|| {
        let message = format!("Files of type {content_type:?} are not taken.");
        let heic = ["image/heic", "image/heif"].iter().any(|kind| content_type.starts_with(kind));
        let remedy = if heic {
            HEIC_REMEDY
        } else {
            "Send JPEG, PNG, GIF, WebP, MP4, MOV or WebM; PDF is for linkedin, WebVTT for captions."
        };
        broken.push(violation(Code::MediaTypeUnsupported, "content_type", message, remedy));
        ""
    });
    (mime, broken)
}

async fn receive_and_insert(
    act: &Act,
    name: &str,
    bytes: Vec<u8>,
    mime: &'static str,
) -> Result<Reply<Media>> {
    let workspace_id = act.membership.workspace_id;
    let wanted = Requirements {
        sizes: sizes::max_sizes(act.membership.plan),
        bytes: None,
        mime: Some(mime),
        documents: true,
        field: "data",
    };
    let body = stream::iter([Ok::<_, Infallible>(Bytes::from(bytes))]);
    let file = receive(&act.cx, workspace_id, wanted, body).await?;
    let origin = Origin {
        workspace_id,
        plan: act.membership.plan,
        created_by: act.caller.user_id,
        drop_session_id: None,
        filename: filename(name, mime),
        public_name: asset::public_name(mime),
        request_id: Some(act.request_id.clone()),
    };
    let written = async {
        let duplicate = asset::find_duplicate(&act.cx, workspace_id, &file).await?;
        let mut tx = act.begin().await?;
        let row = asset::insert(&mut tx, origin, &file, duplicate).await?;
        let reply = Reply::ok(&Media::of(&act.cx, &row)).with_status(201);
        Ok((act.finish(tx, reply).await?, row.path.unwrap_or_default()))
    };
    let written = written.await;
    asset::remove_unreferenced(&act.cx, &file, written.as_ref().map(|(_, path)| path.as_str()))
        .await;
    Ok(written?.0)
}

/// Leaves out the bytes, since they may be many.
impl std::fmt::Debug for NewFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewFile")
            .field("filename", &self.filename)
            .field("content_type", &self.content_type)
            .finish_non_exhaustive()
    }
}
