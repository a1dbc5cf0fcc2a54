//! Guest uploads: pages on which people without a log-in upload files. Tables and addresses keep the old name, `drop`.

use bytes::Bytes;
use fanfare_core::{
    Act, Domain, Reply, Tx,
    access::PlanTier,
    batches,
    clock::Time,
    error::{Code, Error, Result, out_of_range, violation},
    token,
};
use fanfare_entities::{DropSessionId, Millis, drop_session, media_asset};
use fanfare_media::{StoredMedia, filename};
use futures_util::Stream;
use schemars::JsonSchema;
use sea_orm::{
    ActiveValue::Set, ColumnTrait, EntityTrait, ExprTrait, QueryFilter, QueryOrder, QuerySelect,
    sea_query::Expr,
};
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    asset::{self, Origin},
    receive::{Requirements, receive},
    sizes::{self, Sizes},
};

/// The time for which a page is open, in ms.
const LIFETIME: Millis = 24 * 3_600_000;

/// The most files of a page, and the default.
const MAX_FILES: i64 = 10;

/// The longest hint, in characters.
const MAX_HINT_CHARS: usize = 120;

/// A page to be created.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewGuestUpload {
    /// A hint shown on the page: a file name or a few words.
    #[serde(default)]
    #[schemars(length(max = 255))]
    pub filename: Option<String>,
    /// 1 to 10 files, 10 if left out.
    #[serde(default)]
    pub max_files: Option<i64>,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

/// Creates a page.
///
/// # Errors
/// [`Code::InvalidField`] for a hint or a number that is out of range.
pub async fn create(act: &Act, new: NewGuestUpload) -> Result<Reply<DropSession>> {
    let max_files = new.max_files.unwrap_or(MAX_FILES);
    if !(1..=MAX_FILES).contains(&max_files) {
        return Err(Error::violation(out_of_range("max_files", max_files, &(1..=MAX_FILES))));
    }
    let hint = new.filename.map(|hint| hint.trim().to_owned()).filter(|hint| !hint.is_empty());
    let length = hint.as_ref().map_or(0, |hint| hint.chars().count());
    if length > MAX_HINT_CHARS {
        let message = format!("filename has more than {MAX_HINT_CHARS} characters.");
        let broken = violation(Code::InvalidField, "filename", message, "Shorten it.");
        let broken = broken.with_limit(MAX_HINT_CHARS, length).in_unit("characters");
        return Err(Error::violation(broken));
    }
    let (token, now) = (token::generate(), act.cx.clock.now());
    let row = drop_session::ActiveModel {
        id: Set(DropSessionId::fresh()),
        workspace_id: Set(act.membership.workspace_id),
        created_by: Set(act.caller.user_id),
        token_hash: Set(token::hash(token.expose_secret())),
        filename: Set(hint),
        max_files: Set(i32::try_from(max_files).map_err(Error::internal)?),
        files: Set(0),
        expires_at: Set(act.caller.capped(now + LIFETIME)),
        created_at: Set(now),
    };
    let tx = act.begin().await?;
    let row = drop_session::Entity::insert(row).exec_with_returning(tx.conn()).await?;
    let files =
        if max_files == 1 { "one file".to_owned() } else { format!("up to {max_files} files") };
    let session = DropSession {
        session_id: row.id,
        drop_url: format!("{}/drop/{}", act.cx.settings.base_url, token.expose_secret()),
        expires_at: Time(row.expires_at),
        max_bytes: sizes::max_sizes(act.membership.plan).video,
        max_files: row.max_files,
        instructions: format!(
            "Open drop_url in a browser within 24 hours and drop {files}; no log-in is needed. Then read \
             GET /api/v1/media?drop_session_id={} and use each public_url as media_url.",
            row.id
        ),
    };
    act.finish(tx, Reply::ok(&session).secret().with_status(201)).await
}

/// A page on which a guest uploads files.
#[derive(Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct DropSession {
    pub session_id: DropSessionId,
    /// The page.
    pub drop_url: String,
    pub expires_at: Time,
    /// The most bytes of a file.
    pub max_bytes: u64,
    /// The most files.
    pub max_files: i32,
    /// Instructions for the person who has the files, and the next step after that.
    pub instructions: String,
}

/// A file that was uploaded.
#[derive(Debug, Serialize)]
pub struct UploadedFile {
    asset_id: Uuid,
    filename: String,
    bytes: Option<i64>,
}

/// An open page.
#[derive(Debug, Clone)]
pub struct GuestUpload {
    row: drop_session::Model,
    plan: PlanTier,
    /// The names of the uploaded files, oldest first.
    pub names: Vec<String>,
}

/// Returns the page with this token.
///
/// # Errors
/// [`Code::NotFound`] for a page that is unknown, closed, or has all its files.
pub async fn find(cx: &Domain, token: &str) -> Result<GuestUpload> {
    let gone = |message: &str| Error::new(Code::NotFound, message);
    let row = drop_session::Entity::find()
        .filter(drop_session::Column::TokenHash.eq(token::hash(token)))
        .one(&cx.db.read)
        .await?
        .filter(|row| row.expires_at > cx.clock.now())
        .ok_or_else(|| gone("This page is closed, or its address is not complete."))?;
    if row.files >= row.max_files {
        return Err(gone("All files of this page are in. It is closed."));
    }
    let names = media_asset::Entity::find()
        .select_only()
        .column(media_asset::Column::Filename)
        .filter(media_asset::Column::WorkspaceId.eq(row.workspace_id))
        .filter(media_asset::Column::DropSessionId.eq(row.id))
        .order_by_asc(media_asset::Column::Id)
        .into_tuple()
        .all(&cx.db.read)
        .await?;
    let plan = sizes::plan_of(cx, row.workspace_id).await?;
    Ok(GuestUpload { row, plan, names })
}

impl GuestUpload {
    /// Returns the hint about the files to upload.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        self.row.filename.as_deref()
    }

    /// Returns the most files of the page.
    #[must_use]
    pub const fn max_files(&self) -> i32 {
        self.row.max_files
    }

    /// Returns how many more files the page accepts.
    #[must_use]
    pub const fn files_left(&self) -> i32 {
        self.row.max_files - self.row.files
    }

    /// Returns the time at which it closes.
    #[must_use]
    pub const fn expires_at(&self) -> Millis {
        self.row.expires_at
    }

    /// Returns the largest sizes of its files.
    #[must_use]
    pub const fn sizes(&self) -> Sizes {
        sizes::max_sizes(self.plan)
    }

    /// Stores an uploaded file.
    ///
    /// # Errors
    /// The flaw of the file, which is then not counted.
    pub async fn receive<E: std::fmt::Display>(
        &self,
        cx: &Domain,
        request_id: String,
        name: &str,
        body: impl Stream<Item = Result<Bytes, E>> + Send,
    ) -> Result<UploadedFile> {
        let wanted = Requirements {
            sizes: self.sizes(),
            bytes: None,
            mime: None,
            documents: false,
            field: "file",
        };
        let file = receive(cx, self.row.workspace_id, wanted, body).await?;
        let written = self.write(cx, request_id, name, &file).await;
        asset::remove_unreferenced(cx, &file, written.as_ref().map(|(_, path)| path.as_str()))
            .await;
        Ok(written?.0)
    }

    async fn write(
        &self,
        cx: &Domain,
        request_id: String,
        name: &str,
        file: &StoredMedia,
    ) -> Result<(UploadedFile, String)> {
        let row = &self.row;
        let origin = Origin {
            workspace_id: row.workspace_id,
            plan: self.plan,
            created_by: row.created_by,
            drop_session_id: Some(row.id),
            filename: filename(name, file.mime),
            public_name: asset::public_name(file.mime),
            request_id: Some(request_id),
        };
        let duplicate = asset::find_duplicate(cx, row.workspace_id, file).await?;
        let mut tx = Tx::begin(cx).await?;
        let counted = drop_session::Entity::update_many()
            .col_expr(drop_session::Column::Files, Expr::col(drop_session::Column::Files).add(1))
            .filter(drop_session::Column::Id.eq(row.id))
            .filter(
                Expr::col(drop_session::Column::Files)
                    .lt(Expr::col(drop_session::Column::MaxFiles)),
            )
            .exec(tx.conn())
            .await?;
        if counted.rows_affected != 1 {
            let message = "All files of this page are in, so this one was not kept.";
            return Err(Error::new(Code::NotFound, message));
        }
        let made = asset::insert(&mut tx, origin, file, duplicate).await?;
        tx.commit().await?;
        let said = UploadedFile { asset_id: made.uid, filename: made.filename, bytes: made.bytes };
        Ok((said, made.path.unwrap_or_default()))
    }
}

/// Deletes pages a month after they closed. Until then files can be listed by them.
///
/// # Errors
/// The database's.
pub async fn prune(cx: &Domain) -> Result<u64> {
    let before = cx.clock.now() - 30 * LIFETIME;
    let end = drop_session::Column::ExpiresAt;
    batches::delete::<drop_session::Entity>(cx, end, end.lt(before)).await
}
