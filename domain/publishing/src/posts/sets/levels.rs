//! The three levels at which the content of a set is given, and what each target gets of it.
//!
//! A target's own content comes before that for its platform, and that before the shared one. Text, files and type are
//! replaced whole; settings and metadata key by key. Null means "empty here" and ends the search.

use std::collections::BTreeMap;

use fanfare_core::input::absent_or_null;
use fanfare_platforms::{self as platforms, PlatformId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::posts::media::merge_urls;

/// Content that is given at one level; `None` goes on to the next one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// Text.
    #[serde(default, deserialize_with = "absent_or_null", skip_serializing_if = "Option::is_none")]
    pub caption: Option<Option<String>>,
    /// Addresses of files.
    #[serde(default, deserialize_with = "absent_or_null", skip_serializing_if = "Option::is_none")]
    pub media_urls: Option<Option<Vec<String>>>,
    /// The type of post.
    #[serde(default, deserialize_with = "absent_or_null", skip_serializing_if = "Option::is_none")]
    pub post_type: Option<Option<String>>,
    /// Platform settings.
    #[serde(default, deserialize_with = "absent_or_null", skip_serializing_if = "Option::is_none")]
    pub settings: Option<Option<Map<String, Value>>>,
    /// Platform metadata.
    #[serde(default, deserialize_with = "absent_or_null", skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Option<Map<String, Value>>>,
}

/// The content of a set that is not a target's own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SetContent {
    /// Content for all targets.
    #[serde(default)]
    pub shared: Level,
    /// Content for all targets on a platform.
    #[serde(default)]
    pub per_platform: BTreeMap<String, Level>,
}

/// The level that a value comes from.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The target's own.
    Target,
    /// That for its platform.
    Platform,
    /// The shared one.
    Shared,
    /// The platform's default: nobody gave one.
    Default,
}

/// The origin of each part of a target's content: `caption`, `media`, `post_type`, `settings.<key>`, `metadata.<key>`.
pub type Origins = BTreeMap<String, Origin>;

/// The content that a target gets.
#[derive(Debug, Clone, PartialEq)]
pub struct Effective {
    /// Text.
    pub caption: Option<String>,
    /// Addresses of files.
    pub media_urls: Vec<String>,
    /// The type of post.
    pub post_type: Option<String>,
    /// Platform settings.
    pub settings: Map<String, Value>,
    /// Platform metadata.
    pub metadata: Map<String, Value>,
    /// The origin of each part.
    pub from: Origins,
}

impl SetContent {
    /// Returns what a target on a platform gets, with this content of its own.
    #[must_use]
    pub fn effective(&self, own: &Level, platform: PlatformId) -> Effective {
        let none = Level::default();
        let of_platform = self.per_platform.get(platform.as_str()).unwrap_or(&none);
        let levels = [
            (Origin::Target, own),
            (Origin::Platform, of_platform),
            (Origin::Shared, &self.shared),
        ];
        let mut from = Origins::new();
        let caption = whole(&levels, |level| &level.caption, ("caption", &mut from));
        let media = whole(&levels, |level| &level.media_urls, ("media", &mut from));
        let post_type = whole(&levels, |level| &level.post_type, ("post_type", &mut from));
        let settings = merged(&levels, |level| &level.settings, ("settings", platform, &mut from));
        let metadata = merged(&levels, |level| &level.metadata, ("metadata", platform, &mut from));
        Effective {
            caption,
            media_urls: media.unwrap_or_default(),
            post_type,
            settings,
            metadata,
            from,
        }
    }
}

/// Returns `media_url` and `media_urls` of a level as one list; `None` if neither is given.
#[must_use]
pub fn media_list(
    one: Option<Option<String>>,
    many: Option<Option<Vec<String>>>,
) -> Option<Option<Vec<String>>> {
    if one.is_none() && many.is_none() {
        return None;
    }
    let urls = merge_urls(one.flatten().as_deref(), many.flatten().as_deref());
    Some(Some(urls).filter(|urls| !urls.is_empty()))
}

type Levels<'a> = [(Origin, &'a Level); 3];

/// Returns the value of the first level that has one.
fn whole<T: Clone>(
    levels: &Levels<'_>,
    part: impl Fn(&Level) -> &Option<Option<T>>,
    (name, from): (&str, &mut Origins),
) -> Option<T> {
    for (origin, level) in levels {
        if let Some(value) = part(level) {
            from.insert(name.to_owned(), *origin);
            return value.clone();
        }
    }
    from.insert(name.to_owned(), Origin::Default);
    None
}

/// Returns the keys of all levels, each from the first one that has it. Of the shared keys only those that the platform
/// knows count.
fn merged(
    levels: &Levels<'_>,
    part: impl Fn(&Level) -> &Option<Option<Map<String, Value>>>,
    (name, platform, from): (&str, PlatformId, &mut Origins),
) -> Map<String, Value> {
    let mut found: Map<String, Value> = Map::new();
    for (origin, level) in levels {
        match part(level) {
            None => {}
            Some(None) => break,
            Some(Some(given)) => {
                for (key, value) in given {
                    let known = *origin != Origin::Shared || knows(platform, name, key);
                    if known && !found.contains_key(key) {
                        found.insert(key.clone(), value.clone());
                        from.insert(format!("{name}.{key}"), *origin);
                    }
                }
            }
        }
    }
    let empty: Vec<String> =
        found.iter().filter(|(_, v)| v.is_null()).map(|(k, _)| k.clone()).collect();
    for key in empty {
        found.remove(&key);
        from.remove(&format!("{name}.{key}"));
    }
    found
}

/// Returns true if a platform has a setting, or a key of `metadata`, of this name.
#[must_use]
pub fn knows(platform: PlatformId, part: &str, key: &str) -> bool {
    let spec = platforms::find(platform).spec();
    if part == "metadata" {
        return spec.thread.is_some_and(|thread| thread.metadata_key == key);
    }
    platforms::knows_setting(spec, key)
}

/// Returns the names of the settings, or of the keys of `metadata`, that a platform has.
pub fn known_keys(platform: PlatformId, part: &str) -> Vec<&'static str> {
    let spec = platforms::find(platform).spec();
    if part == "metadata" {
        return spec.thread.iter().map(|thread| thread.metadata_key).collect();
    }
    spec.settings.iter().map(|setting| setting.name).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn level(value: Value) -> Level {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn the_nearest_level_wins_and_null_ends_the_search() {
        let content = SetContent {
            shared: level(
                json!({"caption": "a", "media_urls": ["m"], "settings": {"language": "de", "tags": ["x"]}}),
            ),
            per_platform: [(
                "mastodon".to_owned(),
                level(json!({"caption": "b", "settings": {"language": null, "spoiler_text": "s"}})),
            )]
            .into(),
        };
        let got = content.effective(&level(json!({"media_urls": null})), PlatformId::Mastodon);
        assert_eq!(got.caption.as_deref(), Some("b"));
        assert!(got.media_urls.is_empty());
        assert_eq!(Value::Object(got.settings), json!({"spoiler_text": "s"}));
        let from = json!({"caption": "platform", "media": "target", "post_type": "default", "settings.spoiler_text": "platform"});
        assert_eq!(json!(got.from), from);
        let other = content.effective(&Level::default(), PlatformId::Devto);
        assert_eq!(other.caption.as_deref(), Some("a"));
        assert_eq!(other.from["caption"], Origin::Shared);
        assert_eq!(other.settings.get("tags"), Some(&json!(["x"])));
        let none = content.effective(&level(json!({"settings": null})), PlatformId::Devto);
        assert!(none.settings.is_empty());
    }

    #[test]
    fn absent_and_null_survive_storage() {
        let given = json!({"caption": null, "settings": {"a": null}});
        assert_eq!(serde_json::to_value(level(given.clone())).unwrap(), given);
    }
}
