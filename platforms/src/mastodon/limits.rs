//! The limits of the account's instance: read when the account is connected and again every day, and stored with the
//! account.

use serde_json::{Map, Value, json};

use super::client::Instance;
use crate::{Account, Result, Session, Spec};

/// Reads the limits of the instance, as they are stored.
pub async fn read(session: &Session) -> Result<Map<String, Value>> {
    let said = Instance::of(session)?.instance().await?;
    let kept = [
        ("max_characters", "/configuration/statuses/max_characters"),
        ("max_media", "/configuration/statuses/max_media_attachments"),
        ("description_limit", "/configuration/media_attachments/description_limit"),
        ("image_size", "/configuration/media_attachments/image_size_limit"),
        ("video_size", "/configuration/media_attachments/video_size_limit"),
        ("api_version", "/api_versions/mastodon"),
    ];
    let known = kept.iter().filter_map(|(name, path)| {
        let number = said.pointer(path).and_then(Value::as_u64)?;
        Some(((*name).to_owned(), json!(number)))
    });
    let limits: Map<String, Value> = known.collect();
    Ok(Map::from_iter([("limits".to_owned(), Value::Object(limits))]))
}

fn limit(account: &Account, name: &str) -> Option<u64> {
    account.meta.get("limits")?.get(name)?.as_u64().filter(|limit| *limit > 0)
}

/// Applies the limits of the account's instance to the descriptor.
pub fn with_instance_limits(mut spec: Spec, account: &Account) -> Spec {
    let number = |name: &str| limit(account, name);
    let count = |name: &str| number(name).and_then(|limit| usize::try_from(limit).ok());
    spec.caption.max = count("max_characters").unwrap_or(spec.caption.max);
    spec.alt_text_max = count("description_limit").unwrap_or(spec.alt_text_max);
    let media = &mut spec.media;
    media.total_max = count("max_media").unwrap_or(media.total_max);
    media.images_max = media.total_max;
    media.image_bytes_max = number("image_size").unwrap_or(media.image_bytes_max);
    media.video_bytes_max = number("video_size").unwrap_or(media.video_bytes_max);
    spec
}

/// Returns true if the instance supports quotes, or does not say.
pub fn supports_quotes(account: &Account) -> bool {
    limit(account, "api_version").is_none_or(|version| version >= 7)
}
