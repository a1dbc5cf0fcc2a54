//! Signed uploads: a file is announced first, and then sent to an address of its own.

use bytes::Bytes;
use fanfare_core::{
    Act, Domain, Reply, Tx,
    access::PlanTier,
    batches,
    clock::Time,
    error::{Code, Error, Result, violation},
    token,
};
use fanfare_entities::{Millis, UploadId, media_asset, media_asset::AssetStatus, upload};
use fanfare_media::{filename, supported};
use futures_util::Stream;
use schemars::JsonSchema;
use sea_orm::{
    ActiveValue::Set, ColumnTrait, Condition, EntityTrait, ExprTrait, QueryFilter, sea_query::Expr,
};
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    asset::{self, Media, Origin},
    receive::{Requirements, discard, receive},
    sizes::{self, Sizes},
    upload::check_name_and_type,
};

/// The time in which the upload must begin, in ms.
const LIFETIME: Millis = 15 * 60_000;

/// The most attempts to send a file: a broken connection needs no new announcement, but one address must not accept any
/// number of streams.
const MAX_ATTEMPTS: i32 = 10;

/// The most attempts together with those after the file was stored: a sender whose reply was lost sends it again.
const MAX_REPETITIONS: i32 = 2 * MAX_ATTEMPTS;

/// A file that is announced.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewUpload {
    /// The display name.
    #[schemars(length(max = 255))]
    pub filename: String,
    /// Media type, which must be that of the bytes.
    #[schemars(length(max = 200))]
    pub content_type: String,
    /// Exact size in bytes.
    pub size: i64,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

/// Creates an address to which the file is sent.
///
/// # Errors
/// The flaws of the announced file.
pub async fn announce(act: &Act, new: NewUpload) -> Result<Reply<SignedUpload>> {
    let (mime, mut broken) = check_name_and_type(&new.filename, &new.content_type);
    if new.size < 1 {
        let message = "size must be the file's size in bytes, at least 1.";
        let remedy = "Send the exact size.";
        broken.push(violation(Code::InvalidField, "size", message, remedy));
    }
    broken.extend(sizes::too_large(
        "size",
        mime,
        u64::try_from(new.size).unwrap_or(0),
        act.membership.plan,
    ));
    Error::check(broken)?;
    let (token, now) = (token::generate(), act.cx.clock.now());
    let row = upload::ActiveModel {
        id: Set(UploadId::fresh()),
        workspace_id: Set(act.membership.workspace_id),
        created_by: Set(act.caller.user_id),
        token_hash: Set(token::hash(token.expose_secret())),
        public_name: Set(asset::public_name(mime)),
        filename: Set(filename(&new.filename, mime)),
        mime: Set(mime.to_owned()),
        bytes: Set(new.size),
        tries: Set(0),
        spent_at: Set(None),
        expires_at: Set(act.caller.capped(now + LIFETIME)),
        created_at: Set(now),
    };
    let tx = act.begin().await?;
    let row = upload::Entity::insert(row).exec_with_returning(tx.conn()).await?;
    let settings = &act.cx.settings;
    let upload = SignedUpload {
        upload_url: format!("{}/upload/{}", settings.base_url, token.expose_secret()),
        method: Put::Put,
        headers: SignedHeaders { content_type: mime },
        public_url: format!("{}/{}", settings.media_base_url, row.public_name),
        path: row.public_name,
        filename: row.filename,
        expires_at: Time(row.expires_at),
        max_size: sizes::max_sizes(act.membership.plan).of(mime),
    };
    act.finish(tx, Reply::ok(&upload).secret().with_status(201)).await
}

/// The request that sends an announced file.
#[derive(Serialize, JsonSchema)]
pub struct SignedUpload {
    /// The address to send it to.
    upload_url: String,
    method: Put,
    /// The headers that must be sent with it.
    headers: SignedHeaders,
    /// The address at which it is served then; to be sent as `media_url`.
    public_url: String,
    /// The part of that address that identifies the file.
    path: String,
    filename: String,
    /// The time before which sending must begin.
    expires_at: Time,
    /// The most bytes that a file of this type may have.
    max_size: u64,
}

/// The method that a file is sent with.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
enum Put {
    #[serde(rename = "PUT")]
    Put,
}

/// The headers that a file is sent with.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct SignedHeaders {
    #[serde(rename = "Content-Type")]
    content_type: &'static str,
}

/// A file that may be sent now.
#[derive(Debug, Clone)]
pub struct AnnouncedUpload {
    row: upload::Model,
    mime: &'static str,
    plan: PlanTier,
    /// The file, if it was sent before.
    stored: Option<media_asset::Model>,
}

/// The progress of an upload.
#[derive(Serialize, JsonSchema)]
pub struct UploadState {
    status: UploadStatus,
    /// How often sending may still be started.
    attempts_left: i32,
    expires_at: Time,
    /// The file, once it is stored.
    file: Option<Media>,
}

/// The status of an upload.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum UploadStatus {
    Waiting,
    Stored,
}

/// Returns how far the upload at this address is, so that a sender whose reply was lost need not send the file again.
///
/// # Errors
/// [`Code::NotFound`] for an address that is unknown or expired.
pub async fn state(cx: &Domain, token: &str) -> Result<Reply<UploadState>> {
    let row = find(cx, token).await?.ok_or_else(gone)?;
    let file = stored(cx, &row).await?;
    let is_over = row.expires_at <= cx.clock.now() || row.spent_at.is_some();
    if file.is_none() && is_over {
        return Err(gone());
    }
    Ok(Reply::ok(&UploadState {
        status: if file.is_some() { UploadStatus::Stored } else { UploadStatus::Waiting },
        attempts_left: if file.is_some() { 0 } else { Ord::max(MAX_ATTEMPTS - row.tries, 0) },
        expires_at: Time(row.expires_at),
        file: file.map(|file| Media::of(cx, &file)),
    })
    .unchanged())
}

fn gone() -> Error {
    let message =
        "There is no upload at this address: it is unknown, expired, or was tried too often.";
    Error::new(Code::NotFound, message)
}

async fn find(cx: &Domain, token: &str) -> Result<Option<upload::Model>> {
    let found = upload::Entity::find().filter(upload::Column::TokenHash.eq(token::hash(token)));
    Ok(found.one(&cx.db.write).await?)
}

/// Returns the file that was sent to this address, unless it was deleted since.
async fn stored(cx: &Domain, row: &upload::Model) -> Result<Option<media_asset::Model>> {
    if row.spent_at.is_none() {
        return Ok(None);
    }
    let found = media_asset::Entity::find()
        .filter(media_asset::Column::PublicName.eq(row.public_name.as_str()))
        .filter(media_asset::Column::Status.eq(AssetStatus::Ready));
    Ok(found.one(&cx.db.write).await?)
}

/// Returns the announced file of this address; counts as an attempt. A file that was sent before may be sent again, and is
/// answered in the same way: the first reply may have been lost.
///
/// # Errors
/// [`Code::NotFound`] for an address that is unknown, expired, or was tried too often.
pub async fn open(cx: &Domain, token: &str) -> Result<AnnouncedUpload> {
    let waits = Condition::all()
        .add(upload::Column::SpentAt.is_null())
        .add(upload::Column::ExpiresAt.gt(cx.clock.now()))
        .add(upload::Column::Tries.lt(MAX_ATTEMPTS));
    let repeats = Condition::all()
        .add(upload::Column::SpentAt.is_not_null())
        .add(upload::Column::Tries.lt(MAX_REPETITIONS));
    let counted = upload::Entity::update_many()
        .col_expr(upload::Column::Tries, Expr::col(upload::Column::Tries).add(1))
        .filter(upload::Column::TokenHash.eq(token::hash(token)))
        .filter(Condition::any().add(waits).add(repeats))
        .exec(&cx.db.write)
        .await?;
    if counted.rows_affected != 1 {
        return Err(gone());
    }
    let row = find(cx, token).await?.ok_or_else(gone)?;
    let stored = stored(cx, &row).await?;
    if row.spent_at.is_some() && stored.is_none() {
        return Err(gone());
    }
    let mime = supported(&row.mime).ok_or_else(|| Error::internal("an upload of no known type"))?;
    let plan = sizes::plan_of(cx, row.workspace_id).await?;
    Ok(AnnouncedUpload { row, mime, plan, stored })
}

impl AnnouncedUpload {
    /// Checks the headers of the upload.
    ///
    /// # Errors
    /// Another type or size than was announced.
    pub fn check(&self, content_type: Option<&str>, length: Option<u64>) -> Result<()> {
        if content_type.and_then(supported) != Some(self.mime) {
            let message = format!("The file must be sent with `Content-Type: {}`.", self.mime);
            let remedy = "Send the headers that the announcement was answered with.";
            return Err(Error::field(Code::MediaTypeMismatch, "Content-Type", message, remedy));
        }
        let bytes = self.row.bytes.unsigned_abs();
        let Some(length) = length.filter(|length| *length != bytes) else { return Ok(()) };
        let message = format!("The file has {length} bytes, but {bytes} were announced.");
        let remedy = "Announce the file again with its exact size.";
        let mut broken = violation(Code::UploadSizeMismatch, "Content-Length", message, remedy);
        broken.limit = Some(bytes.into());
        broken.actual = Some(length.into());
        broken.unit = Some("bytes");
        Err(Error::violation(broken))
    }

    /// Stores the file.
    ///
    /// # Errors
    /// The flaw of the file. The address can be used again until it expires.
    pub async fn receive<E: std::fmt::Display>(
        &self,
        cx: &Domain,
        request_id: String,
        body: impl Stream<Item = Result<Bytes, E>> + Send,
    ) -> Result<Reply<Media>> {
        let row = &self.row;
        let wanted = Requirements {
            sizes: Sizes::all(row.bytes.unsigned_abs()),
            bytes: Some(row.bytes.unsigned_abs()),
            mime: Some(self.mime),
            documents: true,
            field: "body",
        };
        if let Some(made) = &self.stored {
            discard(wanted, body).await?;
            return Ok(answer(cx, made));
        }
        let file = receive(cx, row.workspace_id, wanted, body).await?;
        let written = self.write(cx, request_id, &file).await;
        asset::remove_unreferenced(cx, &file, written.as_ref().map(|(_, path)| path.as_str()))
            .await;
        Ok(written?.0)
    }

    async fn write(
        &self,
        cx: &Domain,
        request_id: String,
        file: &fanfare_media::StoredMedia,
    ) -> Result<(Reply<Media>, String)> {
        let row = &self.row;
        let origin = Origin {
            workspace_id: row.workspace_id,
            plan: self.plan,
            created_by: row.created_by,
            drop_session_id: None,
            filename: row.filename.clone(),
            public_name: row.public_name.clone(),
            request_id: Some(request_id),
        };
        let duplicate = asset::find_duplicate(cx, row.workspace_id, file).await?;
        let mut tx = Tx::begin(cx).await?;
        let spent = upload::Entity::update_many()
            .col_expr(upload::Column::SpentAt, Expr::value(tx.now()))
            .filter(upload::Column::Id.eq(row.id))
            .filter(upload::Column::SpentAt.is_null())
            .exec(tx.conn())
            .await?;
        if spent.rows_affected != 1 {
            drop(tx);
            return self.answer_again(cx).await;
        }
        let made = asset::insert(&mut tx, origin, file, duplicate).await?;
        let reply = answer(cx, &made);
        tx.commit().await?;
        Ok((reply, made.path.unwrap_or_default()))
    }

    /// Returns the reply and the path of the file that another request has stored meanwhile.
    async fn answer_again(&self, cx: &Domain) -> Result<(Reply<Media>, String)> {
        let row = upload::Entity::find_by_id(self.row.id).one(&cx.db.write).await?;
        let Some(row) = row else { return Err(gone()) };
        let made = stored(cx, &row).await?.ok_or_else(gone)?;
        Ok((answer(cx, &made), made.path.unwrap_or_default()))
    }
}

fn answer(cx: &Domain, made: &media_asset::Model) -> Reply<Media> {
    Reply::ok(&Media::of(cx, made)).with_status(201)
}

/// Deletes addresses that expired more than a day ago.
///
/// # Errors
/// The database's.
pub async fn prune(cx: &Domain) -> Result<u64> {
    let before = cx.clock.now() - 24 * 3_600_000;
    let end = upload::Column::ExpiresAt;
    batches::delete::<upload::Entity>(cx, end, end.lt(before)).await
}
