//! Photos of a location: the rules for files, and Google's list of them.

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::Value;

use crate::{FrameRules, MediaRules, RemoteMedia};

/// Photos of a profile (<https://support.google.com/business/answer/6103862>).
pub(super) const PHOTOS: MediaRules = MediaRules {
    min: 1,
    images_max: 1,
    videos_max: 0,
    total_max: 1,
    mixed: false,
    image_types: &["image/jpeg", "image/png"],
    video_types: &[],
    video_forms: &[],
    image_bytes_max: 25_000_000,
    video_bytes_max: 0,
    video_ms_max: None,
    frame: FrameRules::ANY,
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MediaList {
    #[serde(default)]
    pub media_items: Vec<MediaItem>,
    #[serde(default)]
    pub next_page_token: String,
}

#[derive(Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[derive(Default)]
pub(super) struct MediaItem {
    pub name: String,
    media_format: String,
    location_association: Association,
    pub google_url: Option<String>,
    thumbnail_url: Option<String>,
    source_url: Option<String>,
    create_time: Option<DateTime<Utc>>,
    dimensions: Option<Dimensions>,
    insights: Insights,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Association {
    category: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Dimensions {
    width_pixels: Option<i64>,
    height_pixels: Option<i64>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Insights {
    view_count: Option<Value>,
}

impl MediaItem {
    pub fn read(self) -> RemoteMedia {
        let count = |value: &Value| value.as_i64().or_else(|| value.as_str()?.parse().ok());
        let profile = self.name.ends_with("/media/profile");
        RemoteMedia {
            category: match self.location_association.category {
                category if category.is_empty() => "ADDITIONAL".to_owned(),
                category => category,
            },
            video: self.media_format == "VIDEO",
            url: self.google_url,
            thumbnail_url: self.thumbnail_url,
            source_url: self.source_url,
            width: self.dimensions.as_ref().and_then(|size| size.width_pixels),
            height: self.dimensions.as_ref().and_then(|size| size.height_pixels),
            view_count: self.insights.view_count.as_ref().and_then(count),
            // The time of a profile photo is always the start of 1970.
            created_at: self.create_time.filter(|at| !profile && at.timestamp() > 0),
            name: self.name,
        }
    }
}
