//! A post as the platforms see it, and what they object to.

use std::{ops::Range, sync::Arc};

use async_trait::async_trait;
use bytes::Bytes;
use fanfare_core::{
    Domain, UnreadableColumn,
    clock::date,
    error::{Error, Result},
    unreadable::read_object,
};
use fanfare_entities::{Millis, account, post};
use fanfare_media::{Error as StoreError, Facts, Store};
use fanfare_platforms::{
    self as platforms, Account, Conversion, Draft, Media, MediaSource, MediaStream, PlatformId,
    VideoProperties, Violations, Warning,
};
use futures_util::{StreamExt, TryStreamExt};
use sea_orm::{ConnectionTrait, EntityTrait};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::{first_due, generic_type, readiness::flaw_violation, view::PostMedia};
use crate::{accounts, posts::media_of};

/// Contents up to this size, in bytes, are examined in place, which takes less than 5 ms.
const INLINE_MAX: usize = 16 << 10;

fn json_text_len(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(list) => list.iter().map(json_text_len).sum::<usize>() + list.len(),
        Value::Object(map) => map.iter().map(|(key, value)| key.len() + json_text_len(value)).sum(),
        _ => 1,
    }
}

/// The length of a text on a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CaptionLength {
    /// The length as the network counts it.
    pub length: usize,
    /// The longest text that the network takes.
    pub limit: usize,
    /// The unit in the plural: `characters`, `graphemes`.
    pub unit: &'static str,
}

/// Returns the length of a text beside a number of files, as an account's network counts it.
///
/// # Errors
/// The account's row cannot be read.
pub async fn caption_length(
    account: &account::Model,
    caption: &str,
    files: usize,
) -> Result<CaptionLength> {
    let (platform, facts) =
        (crate::platforms::from_row(&account.platform)?, accounts::facts(account)?);
    let content = Content {
        caption: caption.to_owned(),
        post_type: None,
        generic_type: None,
        settings: Map::new(),
        metadata: Map::new(),
        media: vec![PostMedia::default(); files],
        caption_files: Vec::new(),
    };
    content.examine(move |content| content.caption_length(platform, &facts)).await
}

/// The content of a post, from a row or a request.
#[derive(Debug, Clone)]
pub struct Content {
    /// Text.
    pub caption: String,
    /// The requested post type; `None` is the platform's default.
    pub post_type: Option<String>,
    /// The type that was asked for, if the platform has none of this name and publishes its default in place of it.
    pub generic_type: Option<&'static str>,
    /// Platform settings.
    pub settings: Map<String, Value>,
    /// Platform metadata.
    pub metadata: Map<String, Value>,
    /// Files.
    pub media: Vec<PostMedia>,
    /// The files with captions that the settings name, if they were looked up.
    pub caption_files: Vec<PostMedia>,
}

impl Content {
    /// Returns the content of a row.
    ///
    /// # Errors
    /// A column does not hold what it should.
    pub fn of_row(row: &post::Model) -> std::result::Result<Self, UnreadableColumn> {
        Ok(Self {
            settings: read_object("settings", &row.settings)?,
            metadata: read_object("metadata", &row.metadata)?,
            media: media_of(row)?,
            ..Self::without_columns(row)
        })
    }

    /// Returns the part of a row that can always be read. Such a content must never be published.
    pub(super) fn without_columns(row: &post::Model) -> Self {
        Self {
            caption: row.caption.clone(),
            post_type: Some(row.post_type.clone()),
            generic_type: row.requested_post_type.as_deref().and_then(generic_type::named),
            settings: Map::new(),
            metadata: Map::new(),
            media: Vec::new(),
            caption_files: Vec::new(),
        }
    }

    /// Sets the type that a caller asks for.
    pub fn set_type(&mut self, platform: PlatformId, asked: Option<&str>) {
        self.generic_type = generic_type::of(platform, asked);
        self.post_type = asked.filter(|_| self.generic_type.is_none()).map(str::to_owned);
    }

    /// Removes invisible characters from the identifiers among the settings.
    pub fn tidy(&mut self, platform: PlatformId) {
        platforms::clean_settings(platforms::find(platform), &mut self.settings);
    }

    /// Returns the post type, or the platform's default.
    #[must_use]
    pub fn post_type(&self, platform: PlatformId) -> String {
        let settings_type = self.settings.get("post_type").and_then(Value::as_str);
        let default =
            platforms::find(platform).spec().post_types.first().map_or("feed", |kind| kind.name);
        self.post_type.as_deref().or(settings_type).unwrap_or(default).to_owned()
    }

    /// Returns everything that the platform objects to on this account.
    #[must_use]
    pub fn violations(&self, platform: PlatformId, account: &Account) -> Violations {
        let draft = self.draft(platform, Uuid::nil(), 0, None);
        let mut found = platforms::validate(platforms::find(platform), account, &draft);
        let flawed = self.media.iter().enumerate().filter(|(_, file)| file.flaw.is_some());
        found.extend(flawed.map(|(place, file)| flaw_violation(place, file.flaw.as_ref())));
        let asked = self.post_type.as_deref().or(self.generic_type);
        let objection = asked.and_then(|kind| generic_type::objection(platform, kind, &self.media));
        // The platform's own rule may have said it already.
        let objection = objection.filter(|one| found.iter().all(|known| known.code != one.code));
        found.extend(objection);
        found
    }

    /// Returns the length of the text as the network counts it, and its limit there.
    #[must_use]
    pub fn caption_length(&self, platform: PlatformId, account: &Account) -> CaptionLength {
        let (network, draft) =
            (platforms::find(platform), self.draft(platform, Uuid::nil(), 0, None));
        let spec = network.spec_of(account);
        CaptionLength {
            length: network.caption_length(&draft),
            limit: spec.caption_max(&draft).0,
            unit: spec.caption.unit,
        }
    }

    /// Runs `work` on the content. Long texts, which take milliseconds, are examined on a blocking thread.
    ///
    /// # Errors
    /// The work panicked.
    pub async fn examine<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T> {
        if self.size() <= INLINE_MAX {
            return Ok(work(self));
        }
        let content = self.clone();
        tokio::task::spawn_blocking(move || work(&content)).await.map_err(Error::internal)
    }

    /// Returns approximately how many bytes there are to examine.
    fn size(&self) -> usize {
        let values = self.settings.values().chain(self.metadata.values());
        self.caption.len() + values.map(json_text_len).sum::<usize>()
    }

    /// Returns warnings about values that have no effect, and about a missing label.
    #[must_use]
    pub fn warnings(&self, platform: PlatformId) -> Vec<Warning> {
        let draft = self.draft(platform, Uuid::nil(), 0, None);
        platforms::warnings(platforms::find(platform), &draft)
    }

    /// Returns the conversion that each file needs on this account.
    #[must_use]
    pub fn conversions(&self, platform: PlatformId, account: &Account) -> Vec<Option<Conversion>> {
        let draft = self.draft(platform, Uuid::nil(), 0, None);
        platforms::conversions(&platforms::find(platform).spec_of(account), &draft)
    }

    /// Returns the time at which a worker first takes a post with this content that goes out at `at`: at once if its
    /// files are still to be analysed or converted, else ahead of its time if there is something to prepare.
    #[must_use]
    pub fn due_at(
        &self,
        platform: PlatformId,
        account: &Account,
        at: Millis,
        now: Millis,
        begun: bool,
    ) -> Millis {
        let prepare = begun || self.needs_preparing(platform);
        let due = first_due(platforms::find(platform).spec(), prepare, at);
        let unsettled = self.media.iter().any(PostMedia::is_pending)
            || self.conversions(platform, account).iter().any(Option::is_some);
        if unsettled { due.min(now) } else { due }
    }

    /// Returns true if there are steps before the commit call, such as uploads or containers.
    #[must_use]
    pub fn needs_preparing(&self, platform: PlatformId) -> bool {
        let draft = self.draft(platform, Uuid::nil(), 0, None);
        let step = platforms::find(platform).step(&draft, None);
        step.phase == platforms::Phase::Prepare
    }

    /// Returns the draft of a row with this content and readable files.
    #[must_use]
    pub fn draft_of(&self, cx: &Domain, row: &post::Model, platform: PlatformId) -> Draft {
        let at = row.scheduled_at.unwrap_or(row.created_at);
        self.draft(platform, row.content_key, at, Some(&cx.store))
    }

    fn draft(&self, platform: PlatformId, key: Uuid, at: i64, store: Option<&Store>) -> Draft {
        Draft {
            key,
            due_at: date(at),
            caption: self.caption.clone(),
            post_type: self.post_type(platform),
            settings: self.settings.clone(),
            metadata: self.metadata.clone(),
            media: self.media.iter().map(|file| to_media(file, store)).collect(),
            caption_files: self.caption_files.iter().map(|file| to_media(file, store)).collect(),
        }
    }
}

/// Returns the facts of a row's account, which may set limits of its own.
///
/// # Errors
/// The database's.
pub async fn account_of(conn: &impl ConnectionTrait, row: &post::Model) -> Result<Account> {
    let found = account::Entity::find_by_id(row.account_id).one(conn).await?;
    Ok(found.as_ref().map(accounts::facts).transpose()?.unwrap_or_default())
}

pub(super) fn to_media(file: &PostMedia, store: Option<&Store>) -> Media {
    let side = |pixels: Option<i32>| pixels.and_then(|pixels| u32::try_from(pixels).ok());
    let facts = file.facts.as_ref();
    let source = store.zip(file.path.clone()).map(|(store, path)| {
        let stored: Arc<dyn MediaSource> = Arc::new(StoredFile { store: store.clone(), path });
        stored
    });
    Media {
        url: file.url.clone(),
        mime: file.mime.clone(),
        filename: file.filename.clone(),
        bytes: file.bytes.and_then(|bytes| u64::try_from(bytes).ok()),
        dimensions: side(file.width).zip(side(file.height)),
        duration_ms: facts.and_then(|facts| facts.duration_ms),
        alpha: facts.is_some_and(|facts| facts.alpha),
        animated: facts.is_some_and(|facts| facts.animated),
        needs_redraw: facts.is_some_and(Facts::needs_redraw),
        ai_generated: file.ai_generated,
        video: facts.filter(|facts| facts.mime.starts_with("video/")).map(video_properties),
        source,
    }
}

/// Returns the properties of a video that the rules of networks check.
fn video_properties(facts: &Facts) -> VideoProperties {
    VideoProperties {
        codec: facts.video_codec.clone(),
        profile: facts.video_profile.clone(),
        pixels: facts.pixel_format.clone(),
        transfer: facts.transfer.clone(),
        sound: facts.audio_codec.clone(),
        sound_profile: facts.audio_profile.clone(),
        channels: facts.channels,
        frame_rate: facts.frame_rate,
        bit_rate: facts.bit_rate,
        faststart: facts.faststart,
    }
}

struct StoredFile {
    store: Store,
    path: String,
}

#[async_trait]
impl MediaSource for StoredFile {
    async fn read(&self, max: u64) -> platforms::Result<Bytes> {
        self.store.read(&self.path, max).await.map_err(store_error)
    }

    async fn size(&self) -> platforms::Result<u64> {
        Ok(self.store.stat(&self.path).await.map_err(store_error)?.size)
    }

    async fn open(&self, range: Range<u64>) -> platforms::Result<MediaStream> {
        let stretch = self.store.open_range(&self.path, range).await.map_err(store_error)?;
        Ok(stretch.into_stream().map_err(|error| Box::new(error).into()).boxed())
    }
}

fn store_error(error: StoreError) -> platforms::Error {
    match error {
        StoreError::Gone => platforms::Error::media_rejected("The media file is no longer stored.")
            .with_remedy("Upload it again and change the post."),
        StoreError::TooLarge { limit, .. } => platforms::Error::media_rejected(format!(
            "The media file is larger than {limit} bytes, which is what the platform takes."
        )),
        StoreError::OutOfRange { .. } => {
            platforms::Error::media_rejected("The media file is shorter than it was.")
        }
        other => platforms::Error::transient(format!("The media store did not answer: {other}")),
    }
}
