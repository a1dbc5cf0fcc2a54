//! A post as the platforms see it, and what they object to.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use fanfare_entities::{account, post};
use fanfare_media::Store;
use fanfare_platforms::{
    self as platforms, Account, Draft, Media, MediaSource, PlatformId, Violation, Warning,
};
use sea_orm::{ConnectionTrait, EntityTrait};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::view::PostMedia;
use crate::{Domain, accounts, clock::date, error::Result, posts::media_of};

/// What a post says, whatever row or request it comes from.
#[derive(Debug, Clone)]
pub struct Content {
    /// Text.
    pub caption: String,
    /// Asked for; `None` is the platform's default.
    pub post_type: Option<String>,
    /// Platform settings.
    pub settings: Map<String, Value>,
    /// Platform metadata.
    pub metadata: Map<String, Value>,
    /// Files.
    pub media: Vec<PostMedia>,
}

impl Content {
    /// The content of a row.
    #[must_use]
    pub fn of_row(row: &post::Model) -> Self {
        Self {
            caption: row.caption.clone(),
            post_type: Some(row.post_type.clone()),
            settings: row.settings.as_object().cloned().unwrap_or_default(),
            metadata: row.metadata.as_object().cloned().unwrap_or_default(),
            media: media_of(row),
        }
    }

    /// The post type, or the platform's default.
    #[must_use]
    pub fn post_type(&self, platform: PlatformId) -> String {
        let settings_type = self.settings.get("post_type").and_then(Value::as_str);
        let default =
            platforms::find(platform).spec().post_types.first().map_or("feed", |kind| kind.name);
        self.post_type.as_deref().or(settings_type).unwrap_or(default).to_owned()
    }

    /// Everything the platform objects to on this account.
    #[must_use]
    pub fn violations(&self, platform: PlatformId, account: &Account) -> Vec<Violation> {
        let draft = self.draft(platform, Uuid::nil(), 0, None);
        platforms::validate(platforms::find(platform), account, &draft)
    }

    /// What it does not get although it is accepted.
    #[must_use]
    pub fn warnings(&self, platform: PlatformId) -> Vec<Warning> {
        platforms::find(platform).warnings(&self.draft(platform, Uuid::nil(), 0, None))
    }

    /// True when something is done before the commit call: uploads, containers.
    #[must_use]
    pub fn needs_preparing(&self, platform: PlatformId) -> bool {
        let draft = self.draft(platform, Uuid::nil(), 0, None);
        let step = platforms::find(platform).step(&draft, None);
        step.phase == platforms::Phase::Prepare
    }

    fn draft(&self, platform: PlatformId, key: Uuid, at: i64, store: Option<&Store>) -> Draft {
        Draft {
            key,
            at: date(at),
            caption: self.caption.clone(),
            post_type: self.post_type(platform),
            settings: self.settings.clone(),
            metadata: self.metadata.clone(),
            media: self.media.iter().map(|file| media(file, store)).collect(),
        }
    }
}

/// What is known of the account of a row, which may set limits of its own.
///
/// # Errors
/// The database's.
pub async fn account_of(conn: &impl ConnectionTrait, row: &post::Model) -> Result<Account> {
    let found = account::Entity::find_by_id(row.account_id).one(conn).await?;
    Ok(found.as_ref().map(accounts::facts).unwrap_or_default())
}

/// The draft of a row, with its files readable.
///
/// # Errors
/// The row names a platform that this version does not know.
pub fn of_row(cx: &Domain, row: &post::Model) -> Result<Draft> {
    let platform = super::platform(&row.platform)?;
    let at = row.scheduled_at.unwrap_or(row.created_at);
    Ok(Content::of_row(row).draft(platform, row.content_key, at, Some(&cx.store)))
}

fn media(file: &PostMedia, store: Option<&Store>) -> Media {
    let side = |pixels: Option<i32>| pixels.and_then(|pixels| u32::try_from(pixels).ok());
    let source = store.zip(file.path.clone()).map(|(store, path)| {
        let stored: Arc<dyn MediaSource> = Arc::new(Stored { store: store.clone(), path });
        stored
    });
    Media {
        url: file.url.clone(),
        mime: file.mime.clone(),
        filename: file.filename.clone(),
        bytes: file.bytes.and_then(|bytes| u64::try_from(bytes).ok()),
        dimensions: side(file.width).zip(side(file.height)),
        duration_ms: None,
        source,
    }
}

struct Stored {
    store: Store,
    path: String,
}

#[async_trait]
impl MediaSource for Stored {
    async fn read(&self, max: u64) -> platforms::Result<Bytes> {
        self.store.read(&self.path, max).await.map_err(|error| match error {
            fanfare_media::Error::Gone => {
                platforms::Error::media_rejected("The media file is no longer stored.")
                    .with_remedy("Upload it again and change the post.")
            }
            fanfare_media::Error::TooLarge { .. } => platforms::Error::media_rejected(format!(
                "The media file is larger than {max} bytes, which is what the platform takes."
            )),
            other => {
                platforms::Error::transient(format!("The media store did not answer: {other}"))
            }
        })
    }
}
