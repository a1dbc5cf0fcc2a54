//! Adds and deletes photos and videos.

use fanfare_core::{
    Act, Reply,
    error::{Code, Error, Result},
};
use fanfare_entities::{
    BusinessMediaId,
    account::{self, AccountStatus},
    business_media::{self, BusinessMediaStatus, Column},
    outgoing,
};
use fanfare_platforms::RemoteChange;
use schemars::JsonSchema;
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QuerySelect};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::super::{selected_account, selected_accounts};
use super::{
    check::{SINGLE, check},
    view::{Medium, OneMedia},
};
use crate::{
    inbox::{finish, outgoing_status},
    outgoing::{self as changes, NewOutgoing, OutgoingTarget},
};

/// A photo or video to add.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewMedia {
    /// Address of a file from the media endpoints. A GIF or WebP without animation is uploaded as JPEG or PNG.
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

/// The name of a photo or video.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MediaRef {
    /// `media_name` of the list.
    #[schemars(length(max = 300))]
    pub media_name: String,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

/// A photo or video that was deleted, or is being deleted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MediaDeleted {
    /// False while the outcome is not known.
    deleted: bool,
    media_name: String,
}

/// Adds a photo or video.
///
/// # Errors
/// The flaws of the file, or [`Code::LocationNotFound`].
pub async fn add(act: &Act, new: NewMedia) -> Result<Reply<OneMedia>> {
    let account = selected_account(act, new.account_id, new.location_id.as_deref()).await?;
    if let Some(earlier) = changes::find_by_request(act).await? {
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
    let change = RemoteChange::AddMedia { source_url: new.source_url, category, video };
    let target = OutgoingTarget::Media(row.id);
    make(act, tx, &account, (target, scope, change)).await?;
    shown(act, row.id, &account).await
}

async fn make(
    act: &Act,
    mut tx: fanfare_core::Tx,
    account: &account::Model,
    (target, scope, change): (OutgoingTarget, String, RemoteChange),
) -> Result<outgoing::Model> {
    let (workspace_id, account_id) = (account.workspace_id, account.id);
    let new = NewOutgoing { workspace_id, account_id, target, scope, change };
    let made = changes::insert(act, &mut tx, new).await?;
    changes::commit_and_wait(tx, made).await
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

/// Deletes a photo or video; one that was deleted here before stays deleted.
///
/// # Errors
/// [`Code::MediaNotFound`], [`Code::ActionNotAllowed`], or the network's refusal.
pub async fn delete(act: &Act, named: MediaRef) -> Result<Reply<MediaDeleted>> {
    let accounts = selected_accounts(act, None, None).await?;
    let row = business_media::Entity::find()
        .filter(Column::AccountId.is_in(accounts.iter().map(|account| account.id)))
        .filter(Column::Name.eq(named.media_name.as_str()))
        .one(&act.cx.db.write)
        .await?;
    let scope =
        |account: &account::Model| format!("media-gone:{}:{}", account.id, named.media_name);
    let account = row.and_then(|row| {
        let account = accounts.iter().find(|account| account.id == row.account_id)?;
        Some((row.id, account))
    });
    act.cx.failpoint.reach("considered").await;
    let made = match account {
        Some((id, account)) => {
            let tx = act.begin().await?;
            account::Entity::find_by_id(account.id).lock_exclusive().one(tx.conn()).await?;
            changes::refuse_open(tx.conn(), &scope(account)).await?;
            // Another request may have deleted it since it was looked for.
            match business_media::Entity::find_by_id(id).one(tx.conn()).await? {
                Some(_) => {
                    let change = RemoteChange::DeleteMedia { media: named.media_name.clone() };
                    let target = OutgoingTarget::MediaGone(id);
                    Some(make(act, tx, account, (target, scope(account), change)).await?)
                }
                None => None,
            }
        }
        None => None,
    };
    let deleted = match made {
        Some(made) => outgoing_status(&made)? != 202,
        None if changes::was_sent(&act.cx, accounts.iter().map(scope)).await? => true,
        None => return Err(Error::new(Code::MediaNotFound, "There is no such file.")),
    };
    let status = if deleted { 200 } else { 202 };
    let media_name = named.media_name;
    finish(act, Reply::ok(&MediaDeleted { deleted, media_name }).with_status(status)).await
}
