//! The input types of post sets. The API refuses fields that are not listed here.

use std::collections::BTreeMap;

use fanfare_core::input::{absent_or_null, never_null};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::levels::{Level, media_list};
use crate::posts::{duplicates::Guard, input::NewStatus};

/// Defines an input type that ends with the fields of a level of content.
macro_rules! with_content {
    ($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[$field_meta])* pub $field: $type,)*
            /// Text; null is none.
            #[serde(default, deserialize_with = "absent_or_null")]
            #[schemars(length(max = 1_000_000), extend("x-lines" = true))]
            pub caption: Option<Option<String>>,
            /// One media address: of this service, or any public http(s) address, which is copied before anything is
            /// saved. Null is none.
            #[serde(default, deserialize_with = "absent_or_null")]
            #[schemars(length(max = 2_048))]
            pub media_url: Option<Option<String>>,
            /// Several media addresses. With `media_url` too they make one list, that one first, duplicates dropped.
            #[serde(default, deserialize_with = "absent_or_null")]
            #[schemars(inner(length(max = 2_048)))]
            pub media_urls: Option<Option<Vec<String>>>,
            /// The type of post; null is the platform's default.
            #[serde(default, deserialize_with = "absent_or_null")]
            #[schemars(length(max = 50))]
            pub post_type: Option<Option<String>>,
            /// Platform settings. Each key replaces that of the level above; a key that is null is left out.
            #[serde(default, deserialize_with = "absent_or_null")]
            pub settings: Option<Option<Map<String, Value>>>,
            /// Platform metadata, in the same way.
            #[serde(default, deserialize_with = "absent_or_null")]
            pub metadata: Option<Option<Map<String, Value>>>,
        }

        impl $name {
            /// Returns the content that is given.
            #[must_use]
            pub fn level(&self) -> Level {
                Level {
                    caption: self.caption.clone(),
                    media_urls: media_list(self.media_url.clone(), self.media_urls.clone()),
                    post_type: self.post_type.clone(),
                    settings: self.settings.clone(),
                    metadata: self.metadata.clone(),
                }
            }
        }
    };
}

with_content! {
    /// A post set to be created: one message for up to 50 accounts.
    NewPostSet {
        /// 1 to 50 targets; after brands are replaced by their accounts there are 50 at most.
        #[schemars(with = "Vec<NewTarget>", length(min = 1, max = 50), extend("x-read-singly" = true))]
        targets: Vec<Value>,
        /// Content for all targets on a platform, by its name.
        #[serde(default)]
        #[schemars(with = "Option<BTreeMap<String, Overrides>>", extend("x-read-singly" = true))]
        per_platform: Option<Map<String, Value>>,
        /// RFC 3339 with an offset (or a local time with `timezone`). Left out: publish now. Null is refused.
        #[serde(default, deserialize_with = "never_null")]
        #[schemars(with = "String", length(max = 100))]
        scheduled_at: Option<String>,
        /// IANA zone of a local `scheduled_at`.
        #[serde(default)]
        #[schemars(length(max = 100))]
        timezone: Option<String>,
        /// `all_or_nothing` (the default) makes no post if a target is refused; `valid_only` leaves the refused ones out.
        #[serde(default)]
        mode: Option<Mode>,
        /// `draft` makes drafts; `scheduled` (the default) posts that go out.
        #[serde(default)]
        status: Option<NewStatus>,
        /// Group key of the posts; the id of the set if left out.
        #[serde(default)]
        #[schemars(length(max = 200))]
        group: Option<String>,
        /// The treatment of a target that its account has already, or nearly, within seven days: `warn` (the default) makes
        /// it with a warning, `refuse` refuses it.
        #[serde(default)]
        duplicates: Option<Guard>,
        /// Validate only: nothing is written, spent or copied.
        #[serde(default)]
        dry_run: Option<bool>,
        /// The workspace, for a key without one. The accounts must be in it.
        #[serde(default)]
        workspace_id: Option<Uuid>,
    }
}

with_content! {
    /// Content that replaces that of the level above.
    Overrides {}
}

with_content! {
    /// A target of a set: one account, or all connected accounts of a brand. It is named by `account_id`, by `username` and
    /// `platform`, or by `workspace_client_id`. What it has of its own replaces the content of the set.
    NewTarget {
        /// The connected account; a number, also accepted as text.
        #[serde(default)]
        #[schemars(schema_with = "fanfare_core::input::optional_id_schema")]
        account_id: Option<Value>,
        /// The name of the account, with `platform`.
        #[serde(default)]
        #[schemars(length(max = 300))]
        username: Option<String>,
        /// The platform of the account that `username` names.
        #[serde(default)]
        #[schemars(length(max = 50))]
        platform: Option<String>,
        /// A brand: its accounts that are connected now.
        #[serde(default)]
        workspace_client_id: Option<Uuid>,
        /// With a brand: only its accounts on these platforms.
        #[serde(default)]
        #[schemars(length(min = 1, max = 18), inner(length(max = 50)))]
        platforms: Option<Vec<String>>,
        /// A time of its own, as that of the set.
        #[serde(default, deserialize_with = "never_null")]
        #[schemars(with = "String", length(max = 100))]
        scheduled_at: Option<String>,
        /// IANA zone of a local `scheduled_at`.
        #[serde(default)]
        #[schemars(length(max = 100))]
        timezone: Option<String>,
        /// Seconds after the time of the set, 0 to 604,800.
        #[serde(default)]
        #[schemars(range(min = 0, max = 604_800))]
        offset_seconds: Option<i64>,
        /// The suggestion that the post is made from; it becomes `scheduled`.
        #[serde(default)]
        suggestion_id: Option<Uuid>,
        /// As for the set, for this target.
        #[serde(default)]
        duplicates: Option<Guard>,
    }
}

with_content! {
    /// Changes to a set. A field that is left out stays as it is. A change of shared content changes every target that is not
    /// going out yet and has nothing of its own in its place; all of them, or none if one is refused.
    PostSetChanges {
        /// Content for all targets on a platform, in place of what its platform had; null removes it.
        #[serde(default)]
        #[schemars(with = "Option<BTreeMap<String, Option<Overrides>>>", extend("x-read-singly" = true))]
        per_platform: Option<Map<String, Value>>,
        /// New time of the targets that have none of their own.
        #[serde(default, deserialize_with = "never_null")]
        #[schemars(with = "String", length(max = 100))]
        scheduled_at: Option<String>,
        /// IANA zone of a local `scheduled_at`.
        #[serde(default)]
        #[schemars(length(max = 100))]
        timezone: Option<String>,
        /// New group key of the posts.
        #[serde(default, deserialize_with = "never_null")]
        #[schemars(with = "String", length(min = 1, max = 200))]
        group: Option<String>,
        /// Changes to single targets.
        #[serde(default)]
        #[schemars(with = "Option<Vec<TargetChanges>>", length(max = 50), extend("x-read-singly" = true))]
        targets: Option<Vec<Value>>,
        /// As for a new set, for the targets whose content or time changes.
        #[serde(default)]
        duplicates: Option<Guard>,
        /// Validate only: nothing is written or copied.
        #[serde(default)]
        dry_run: Option<bool>,
    }
}

with_content! {
    /// Changes to what a target has of its own.
    TargetChanges {
        /// The post.
        post_id: i64,
        /// The parts that it takes from the set again: `caption`, `media`, `post_type`, `settings.title` and so on.
        #[serde(default)]
        #[schemars(length(max = 200), inner(length(max = 200)))]
        inherit: Option<Vec<String>>,
        /// Cannot be changed; listed here so that the error can say so.
        #[serde(default)]
        #[schemars(schema_with = "fanfare_core::input::optional_id_schema", extend("readOnly" = true))]
        account_id: Option<Value>,
    }
}

/// The treatment of a set of which a target is refused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Nothing is made.
    #[default]
    AllOrNothing,
    /// The others are made.
    ValidOnly,
}

/// Further targets for a set, with its content.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTargets {
    /// 1 to 50 targets; the set has 50 at most.
    #[schemars(with = "Vec<NewTarget>", length(min = 1, max = 50), extend("x-read-singly" = true))]
    pub targets: Vec<Value>,
    /// As for a new set.
    #[serde(default)]
    pub mode: Option<Mode>,
    /// Validate only: nothing is written, spent or copied.
    #[serde(default)]
    pub dry_run: Option<bool>,
}

/// Sends the failed targets of a set again.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RetryPostSet {
    /// Only these posts.
    #[serde(default)]
    #[schemars(length(min = 1, max = 50))]
    pub post_ids: Option<Vec<i64>>,
    /// Send those, too, that an earlier attempt may have published.
    #[serde(default)]
    pub acknowledge_duplicate_risk: Option<bool>,
}

/// The post sets to list.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PostSetFilter {
    /// Only in this status.
    #[serde(default)]
    pub status: Option<super::status::SetStatus>,
    /// Only with a target on this account.
    #[serde(default)]
    pub account_id: Option<i64>,
    /// Only with a target on this platform.
    #[serde(default)]
    #[schemars(length(max = 50))]
    pub platform: Option<String>,
    /// Only with a target of this brand.
    #[serde(default)]
    pub workspace_client_id: Option<Uuid>,
    /// Only of this group.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub group: Option<String>,
    /// Only with a target on or after this day (YYYY-MM-DD, UTC).
    #[serde(default)]
    #[schemars(length(max = 50))]
    pub from: Option<String>,
    /// Only with a target on or before this day (YYYY-MM-DD, UTC).
    #[serde(default)]
    #[schemars(length(max = 50))]
    pub to: Option<String>,
    /// 1 to 100, 20 if left out.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100))]
    pub limit: Option<i64>,
    /// `next_cursor` of the previous page.
    #[serde(default)]
    #[schemars(length(max = 200))]
    pub cursor: Option<String>,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}
