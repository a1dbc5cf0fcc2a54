//! Photos and films of business profiles.

use fanfare_entities::{
    AccountId, BrandId, BusinessMediaId, account,
    account::AccountStatus,
    business_media,
    business_media::{BusinessMediaStatus, Column},
    media_asset, outgoing,
};
use fanfare_platforms::Change;
use schemars::JsonSchema;
use sea_orm::{
    ActiveEnum, ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::{meant, one};
use crate::{
    Act, Reply,
    clock::Time,
    error::{Code, Error, Result, Violations, violation},
    inbox::{Place, before, finish, outgoing_status},
    input,
    outgoing::{self as changes, NewOutgoing, Target},
    page,
};

/// Where media may belong.
const CATEGORIES: [&str; 13] = [
    "COVER",
    "PROFILE",
    "LOGO",
    "EXTERIOR",
    "INTERIOR",
    "PRODUCT",
    "AT_WORK",
    "FOOD_AND_DRINK",
    "MENU",
    "COMMON_AREA",
    "ROOMS",
    "TEAMS",
    "ADDITIONAL",
];

/// Where there is room for one photo.
const SINGLE: [&str; 3] = ["COVER", "PROFILE", "LOGO"];

/// Smallest and largest photo in bytes, its least side in pixels, and the largest film in bytes.
const PHOTO_BYTES: (i64, i64) = (10 << 10, 25_000_000);
const PHOTO_SIDE: i32 = 250;
const VIDEO_BYTES: i64 = 75_000_000;

/// Which media to list.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MediaFilter {
    /// Only of this account.
    #[serde(default)]
    pub account_id: Option<i64>,
    /// Only of the location of this number.
    #[serde(default)]
    #[schemars(length(max = 100))]
    pub location_id: Option<String>,
    /// Only of this category.
    #[serde(default)]
    #[schemars(length(max = 50))]
    pub category: Option<String>,
    /// Only in this status.
    #[serde(default)]
    #[schemars(length(max = 50))]
    pub status: Option<String>,
    /// 1 to 100, 20 if left out.
    #[serde(default)]
    pub limit: Option<i64>,
    /// `next_cursor` of the page before.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub cursor: Option<String>,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

/// A photo or film to add.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewMedia {
    /// Address of a file that the media endpoints gave.
    #[schemars(length(max = 2_000))]
    pub source_url: String,
    /// `COVER`, `PROFILE`, `LOGO`, `EXTERIOR`, `INTERIOR`, `PRODUCT`, `AT_WORK`, `FOOD_AND_DRINK`, `MENU`, `COMMON_AREA`, `ROOMS`,
    /// `TEAMS` or `ADDITIONAL`.
    #[schemars(length(max = 50))]
    pub category: String,
    /// `PHOTO`, if left out, or `VIDEO`.
    #[serde(default)]
    #[schemars(length(max = 20))]
    pub media_format: Option<String>,
    /// The account.
    #[serde(default)]
    pub account_id: Option<i64>,
    /// The location's number.
    #[serde(default)]
    #[schemars(length(max = 100))]
    pub location_id: Option<String>,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

/// Which photo or film.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MediaName {
    /// `media_name` of the list.
    #[schemars(length(max = 300))]
    pub media_name: String,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

/// A photo or film of a location.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Medium {
    id: BusinessMediaId,
    /// The network's name of it; null until it is known.
    media_name: Option<String>,
    account_id: AccountId,
    /// Brand of the account; null if it is the whole workspace's.
    workspace_client_id: Option<BrandId>,
    location_id: String,
    category: String,
    /// What was asked for, where the network calls it otherwise.
    requested_category: Option<String>,
    /// `PHOTO` or `VIDEO`.
    media_format: &'static str,
    url: Option<String>,
    thumbnail_url: Option<String>,
    width: Option<i64>,
    height: Option<i64>,
    view_count: Option<i64>,
    status: BusinessMediaStatus,
    /// Why it failed.
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    error: Option<Value>,
    /// The name of what it takes the place of.
    replaces: Option<String>,
    /// When it was added; null if nobody tells.
    created_at: Option<Time>,
}

/// A page of media.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct MediaPage {
    media: Vec<Medium>,
    /// Where the next page begins; null on the last one.
    next_cursor: Option<String>,
}

/// One photo or film.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct OneMedia {
    media: Medium,
}

/// A photo or film that was deleted, or is being deleted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MediaDeleted {
    /// False while the outcome is open.
    deleted: bool,
    media_name: String,
}

impl Medium {
    fn of(row: business_media::Model, account: &account::Model) -> Self {
        let profile = row.name.as_ref().is_some_and(|name| name.ends_with("/media/profile"));
        let ours = row.requested_category.is_some() || row.source_url.is_some();
        let created = row.added_at.or((ours && !profile).then_some(row.created_at));
        Self {
            id: row.id,
            media_name: row.name,
            account_id: row.account_id,
            workspace_client_id: account.brand_id,
            location_id: account.remote_id.clone(),
            category: row.category,
            requested_category: row.requested_category,
            media_format: if row.video { "VIDEO" } else { "PHOTO" },
            url: row.url,
            thumbnail_url: row.thumbnail_url,
            width: row.width,
            height: row.height,
            view_count: row.view_count,
            status: row.status,
            error: row.error,
            replaces: row.replaces,
            created_at: created.map(Time),
        }
    }
}

/// Lists media, whoever added them, the latest first.
///
/// # Errors
/// A filter that means nothing.
pub async fn list(act: &Act, filter: MediaFilter) -> Result<Reply<MediaPage>> {
    let limit = input::limit(filter.limit)?;
    let accounts = meant(act, filter.account_id, filter.location_id.as_deref()).await?;
    let ids: Vec<AccountId> = accounts.iter().map(|account| account.id).collect();
    let mut query = business_media::Entity::find()
        .filter(Column::AccountId.is_in(ids))
        .order_by_desc(Column::CreatedAt)
        .order_by_desc(Column::Id);
    if let Some(category) = &filter.category {
        query = query.filter(Column::Category.eq(known_category(category)?));
    }
    if let Some(status) = &filter.status {
        let named = BusinessMediaStatus::try_from_value(status).map_err(|_| {
            let message = format!("There is no status called {status:?}.");
            let remedy = "Use queued, sending, in_review, live, rejected, failed or unknown.";
            Error::field(Code::InvalidField, "status", message, remedy)
        })?;
        query = query.filter(Column::Status.eq(named));
    }
    let cursor: Option<Place> = input::cursor(filter.cursor.as_deref())?;
    let from = |last: Option<&business_media::Model>| match last
        .map(|row| Place(row.created_at, row.id.0))
        .or(cursor)
    {
        Some(place) => query.clone().filter(before(Column::CreatedAt, Column::Id, place)),
        None => query.clone(),
    };
    let page = page::read(&act.cx.db.read, limit, from, |_| 2_000).await?;
    let next_cursor = page.next(|row| format!("{}.{}", row.created_at, row.id));
    for account in &accounts {
        super::sync::ask_if_stale(act, account).await?;
    }
    let media = page.rows.into_iter().filter_map(|row| {
        let account = accounts.iter().find(|account| account.id == row.account_id)?;
        Some(Medium::of(row, account))
    });
    Ok(Reply::ok(&MediaPage { media: media.collect(), next_cursor }))
}

fn known_category(name: &str) -> Result<String> {
    if CATEGORIES.contains(&name) {
        return Ok(name.to_owned());
    }
    let message = format!("There is no category called {name:?}.");
    let remedy = format!("Use one of {}.", CATEGORIES.join(", "));
    Err(Error::field(Code::InvalidField, "category", message, remedy))
}

/// Adds a photo or film.
///
/// # Errors
/// What is wrong with the file, or [`Code::LocationNotFound`].
pub async fn add(act: &Act, new: NewMedia) -> Result<Reply<OneMedia>> {
    let account = one(act, new.account_id, new.location_id.as_deref()).await?;
    if let Some(earlier) = changes::of_request(act).await? {
        return shown(act, BusinessMediaId(earlier.target_id), &account).await;
    }
    if account.status != AccountStatus::Connected {
        let message = "The account must be connected again first.";
        return Err(Error::new(Code::AccountReconnectRequired, message));
    }
    let video = check(act, &new).await?;
    let requested = new.category.clone();
    let category = if requested == "LOGO" { "PROFILE".to_owned() } else { requested.clone() };
    let tx = act.begin().await?;
    let now = tx.now();
    let slot = SINGLE.contains(&requested.as_str());
    let scope = match slot {
        true => format!("media:{}:{category}", account.id),
        false => format!("media:{}:{}", account.id, new.source_url),
    };
    account::Entity::find_by_id(account.id).lock_exclusive().one(tx.conn()).await?;
    changes::refuse_open(tx.conn(), &scope).await?;
    let replaced = match slot {
        true => {
            business_media::Entity::find()
                .filter(Column::AccountId.eq(account.id))
                .filter(Column::Category.eq(category.as_str()))
                .filter(Column::Status.eq(BusinessMediaStatus::Live))
                .one(tx.conn())
                .await?
        }
        false => None,
    };
    let row = business_media::ActiveModel {
        workspace_id: Set(account.workspace_id),
        account_id: Set(account.id),
        category: Set(category.clone()),
        requested_category: Set((requested != category).then_some(requested)),
        video: Set(video),
        source_url: Set(Some(new.source_url.clone())),
        status: Set(BusinessMediaStatus::Sending),
        replaces: Set(replaced.and_then(|row| row.name)),
        seen_at: Set(now),
        created_at: Set(now),
        ..Default::default()
    };
    let row = business_media::Entity::insert(row).exec_with_returning(tx.conn()).await?;
    let change = Change::AddMedia { source_url: new.source_url, category, video };
    let target = Target::Media(row.id);
    make(act, tx, &account, (target, scope, change)).await?;
    shown(act, row.id, &account).await
}

/// Checks a file that is to be added; whether it is a film.
async fn check(act: &Act, new: &NewMedia) -> Result<bool> {
    let mut broken = Violations::default();
    let video = match new.media_format.as_deref() {
        None | Some("PHOTO") => false,
        Some("VIDEO") => true,
        Some(other) => {
            let message = format!("media_format is {other:?}; it may be PHOTO or VIDEO.");
            let remedy = "Send one of them, or leave it out for a photo.";
            broken.push(violation(Code::InvalidField, "media_format", message, remedy));
            false
        }
    };
    if let Err(error) = known_category(&new.category) {
        broken.append(error.into_violations());
    } else if video && SINGLE.contains(&new.category.as_str()) {
        let message = format!("{} holds a photo, not a film.", new.category);
        broken.push(violation(Code::InvalidField, "category", message, "Choose another category."));
    }
    check_file(act, &new.source_url, video, &mut broken).await?;
    Error::check(broken)?;
    Ok(video)
}

async fn check_file(act: &Act, url: &str, video: bool, broken: &mut Violations) -> Result<()> {
    let name = url.strip_prefix(&format!("{}/", act.cx.settings.media_base_url));
    let row = match name {
        Some(name) => {
            media_asset::Entity::find()
                .filter(media_asset::Column::PublicName.eq(name))
                .filter(media_asset::Column::WorkspaceId.eq(act.membership.workspace_id))
                .one(&act.cx.db.read)
                .await?
        }
        None => None,
    };
    let mut wrong = |code, message: String, remedy: &str| {
        broken.push(violation(code, "source_url", message, remedy));
    };
    let Some(row) = row else {
        let message = "source_url is not the address of a file of this workspace.".to_owned();
        wrong(Code::InvalidField, message, "Send it to POST /api/v1/media/upload-from-url first.");
        return Ok(());
    };
    let mime = row.mime.as_deref().unwrap_or_default();
    let fits =
        if video { mime.starts_with("video/") } else { matches!(mime, "image/jpeg" | "image/png") };
    if !fits {
        let wanted = if video { "a video" } else { "JPEG or PNG" };
        wrong(
            Code::MediaTypeUnsupported,
            format!("The file is {mime}; it must be {wanted}."),
            "Convert it.",
        );
    }
    let (least, most) = if video { (0, VIDEO_BYTES) } else { PHOTO_BYTES };
    let bytes = row.bytes.unwrap_or(least);
    if bytes > most {
        wrong(
            Code::MediaTooLarge,
            format!("The file has {bytes} bytes; it may have {most}."),
            "Send a smaller file.",
        );
    }
    let small = |side: Option<i32>| side.is_some_and(|side| side < PHOTO_SIDE);
    if bytes < least || (!video && (small(row.width) || small(row.height))) {
        let message = "The photo is smaller than 10 KB or 250 by 250 pixels.".to_owned();
        wrong(Code::MediaDimensionsUnsupported, message, "Send a larger one.");
    }
    Ok(())
}

async fn make(
    act: &Act,
    tx: crate::Tx,
    account: &account::Model,
    (target, scope, change): (Target, String, Change),
) -> Result<outgoing::Model> {
    let (workspace_id, account_id) = (account.workspace_id, account.id);
    let new = NewOutgoing { workspace_id, account_id, target, scope, change };
    let made = changes::insert(act, tx.conn(), new).await?;
    tx.commit().await?;
    changes::in_request(&act.cx, made).await
}

async fn shown(
    act: &Act,
    id: BusinessMediaId,
    account: &account::Model,
) -> Result<Reply<OneMedia>> {
    let row = business_media::Entity::find_by_id(id).one(&act.cx.db.write).await?;
    let row = row.ok_or_else(|| Error::new(Code::MediaNotFound, "There is no such file."))?;
    let media = Medium::of(row, account);
    finish(act, Reply::ok(&OneMedia { media }).with_status(202)).await
}

/// Deletes a photo or film; one that is deleted already stays so.
///
/// # Errors
/// [`Code::ActionNotAllowed`], or why the network refuses.
pub async fn delete(act: &Act, named: MediaName) -> Result<Reply<MediaDeleted>> {
    let accounts = meant(act, None, None).await?;
    let row = business_media::Entity::find()
        .filter(Column::AccountId.is_in(accounts.iter().map(|account| account.id)))
        .filter(Column::Name.eq(named.media_name.as_str()))
        .one(&act.cx.db.write)
        .await?;
    let mut deleted = true;
    if let Some(row) = row
        && let Some(account) = accounts.iter().find(|account| account.id == row.account_id)
    {
        let tx = act.begin().await?;
        let scope = format!("media:{}", row.id);
        account::Entity::find_by_id(account.id).lock_exclusive().one(tx.conn()).await?;
        changes::refuse_open(tx.conn(), &scope).await?;
        let change = Change::DeleteMedia { media: named.media_name.clone() };
        let made = make(act, tx, account, (Target::MediaGone(row.id), scope, change)).await?;
        deleted = outgoing_status(&made)? != 202;
    }
    let status = if deleted { 200 } else { 202 };
    let media_name = named.media_name;
    finish(act, Reply::ok(&MediaDeleted { deleted, media_name }).with_status(status)).await
}
