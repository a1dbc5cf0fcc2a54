//! Signed uploads: a file is announced first, and then sent to an address of its own.

use bytes::Bytes;
use fanfare_entities::{Millis, UploadId, upload};
use fanfare_media::{filename, supported};
use futures_util::Stream;
use schemars::JsonSchema;
use sea_orm::{
    ActiveValue::Set, ColumnTrait, EntityTrait, ExprTrait, QueryFilter, sea_query::Expr,
};
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    asset::{self, Media, Origin},
    receive::{Requirements, receive},
    sizes::{self, Sizes},
    upload::check_name_and_type,
};
use crate::{
    Act, Domain, Reply, Tx,
    access::PlanTier,
    clock::Time,
    error::{Code, Error, Result, violation},
    token,
};

/// The time in which the upload must begin, in ms.
const LIFETIME: Millis = 15 * 60_000;

/// The most attempts to send a file: a broken connection needs no new announcement, but one address must not accept any
/// number of streams.
const MAX_ATTEMPTS: i32 = 10;

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
        expires_at: Set(now + LIFETIME),
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
}

/// Returns the announced file of this address; counts as an attempt.
///
/// # Errors
/// [`Code::NotFound`] for an address that is unknown, expired, or was used.
pub async fn open(cx: &Domain, token: &str) -> Result<AnnouncedUpload> {
    let gone = || {
        let message = "There is no upload at this address: it is unknown, expired or was used.";
        Error::new(Code::NotFound, message)
    };
    let hash = token::hash(token);
    let counted = upload::Entity::update_many()
        .col_expr(upload::Column::Tries, Expr::col(upload::Column::Tries).add(1))
        .filter(upload::Column::TokenHash.eq(hash.as_str()))
        .filter(upload::Column::SpentAt.is_null())
        .filter(upload::Column::ExpiresAt.gt(cx.clock.now()))
        .filter(upload::Column::Tries.lt(MAX_ATTEMPTS))
        .exec(&cx.db.write)
        .await?;
    if counted.rows_affected != 1 {
        return Err(gone());
    }
    let row = upload::Entity::find()
        .filter(upload::Column::TokenHash.eq(hash))
        .one(&cx.db.write)
        .await?
        .ok_or_else(gone)?;
    let mime = supported(&row.mime).ok_or_else(|| Error::internal("an upload of no known type"))?;
    let plan = sizes::plan_of(cx, row.workspace_id).await?;
    Ok(AnnouncedUpload { row, mime, plan })
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
            let message = "The file was sent to this address meanwhile.";
            return Err(Error::new(Code::NotFound, message));
        }
        let made = asset::insert(&mut tx, origin, file, duplicate).await?;
        let reply = Reply::ok(&Media::of(cx, &made)).with_status(201);
        tx.commit().await?;
        Ok((reply, made.path.unwrap_or_default()))
    }
}

/// Deletes addresses that expired more than a day ago.
///
/// # Errors
/// The database's.
pub(crate) async fn prune(cx: &Domain) -> Result<u64> {
    let before = cx.clock.now() - 24 * 3_600_000;
    let gone = upload::Entity::delete_many()
        .filter(upload::Column::ExpiresAt.lt(before))
        .exec(&cx.db.write)
        .await?;
    Ok(gone.rows_affected)
}
