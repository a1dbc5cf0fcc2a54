//! Warnings: what an accepted post will lack.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{NextAction, comparable, index_of};

/// The topic of a warning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WarningCode {
    /// The value has no effect on this post.
    #[default]
    NoEffect,
    /// A part of the value has no effect on this post.
    PartlyIgnored,
    /// It depends on a right of the account whether the value has an effect.
    DependsOnAccount,
    /// The platform, or some of its servers, may refuse the post for it.
    MayBeRefused,
    /// The card of the link has no picture.
    CardWithoutPicture,
    /// A model made a file of the post, and the post does not say so.
    AiLabelMissing,
    /// Nothing is published on the account until it is connected again.
    AccountNeedsReconnect,
    /// Another post of the account within seven days has the same content, or nearly.
    DuplicateContent,
    /// The platform may refuse the text, because the account posted the same a short time before.
    NetworkRefusesEqualText,
    /// The posts of a chain do not refer to each other as the platform names them.
    ChainReferenceMismatch,
    /// The platform processes the video only after the post is public, so viewers see an empty player for some seconds.
    VideoProcessedAfterPublishing,
    /// Others see the published post than it was meant for, or fewer.
    VisibilityDiffers,
    /// The setting is not applied to this kind of post.
    SettingNotApplied,
    /// The account's owner has not given the permission for it, so it was left out.
    PermissionMissing,
    /// The platform published the post without its poll or its prompt.
    AddonNotAttached,
    /// The caption has more hashtags than the platform may show.
    ManyHashtags,
    /// The platform may refuse the post for whom it mentions.
    MentionMayBeRefused,
    /// The platform may refuse the later posts of a chain.
    ChainMayBeRefused,
    /// The platform published the post with fewer files than it has.
    FewerFiles,
    /// The platform shows only the beginning of the text.
    TextCut,
    /// The platform shows another text than was sent.
    TextChanged,
    /// The set has no target on the platform that the content is for.
    OverrideNotUsed,
}

/// Something that an accepted post will lack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    /// The topic, for programs.
    // Warnings from before all of them had a code were about values without effect.
    #[serde(default)]
    pub code: WarningCode,
    /// Path of the field.
    pub field: String,
    /// The missing effect and its reason, as one sentence.
    pub message: String,
    /// The limit, where the warning is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("type" = ["integer", "string"]))]
    pub limit: Option<Value>,
    /// The given value, if it can be compared with the limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("type" = ["integer", "string"]))]
    pub actual: Option<Value>,
    /// The unit of both, if they count something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<Cow<'static, str>>,
    /// The place of the value in its list, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
    /// With a post set: the indexes of the targets that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub targets: Option<Vec<usize>>,
    /// The things that the sentence names, as data: `platform`; `because`, the field or the choice that takes the effect
    /// away; `account_id` and `username`; `post_ids`; `similar`, posts with the same content or nearly, each with `post_id`,
    /// `kind` (`exact` or `near`), `scheduled_at` and `status`; `items`, places in the same batch, with their `kind`; `url`;
    /// `asked` and `given`, audiences of a post.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub parameters: Map<String, Value>,
    /// Calls that help, ready to execute.
    #[serde(skip_deserializing, skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub next: Vec<NextAction>,
}

impl Warning {
    /// Creates a warning about a field that has no or not its full effect.
    pub fn new(code: WarningCode, field: impl Into<String>, message: impl Into<String>) -> Self {
        let field = field.into();
        Self {
            code,
            index: index_of(&field),
            targets: None,
            field,
            message: message.into(),
            limit: None,
            actual: None,
            unit: None,
            parameters: Map::new(),
            next: Vec::new(),
        }
    }

    /// Adds the limit and the given value, in this unit.
    #[must_use]
    pub fn with_limit(
        mut self,
        limit: impl Serialize,
        actual: impl Serialize,
        unit: &'static str,
    ) -> Self {
        self.limit = Some(comparable(json!(limit)));
        self.actual = Some(comparable(json!(actual)));
        self.unit = Some(Cow::Borrowed(unit));
        self
    }

    /// Adds something that the sentence names.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Serialize) -> Self {
        self.parameters.insert(name.to_owned(), json!(value));
        self
    }

    /// Adds the field or the choice that takes the effect away.
    #[must_use]
    pub fn because(self, cause: &str) -> Self {
        self.with("because", cause)
    }

    /// Adds a call that helps.
    #[must_use]
    pub fn with_next(mut self, next: Option<NextAction>) -> Self {
        self.next.extend(next);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_that_was_stored_without_a_code_is_read() {
        let stored = json!({"field": "settings.title", "message": "It has no effect."});
        let read: Warning = serde_json::from_value(stored).unwrap();
        assert_eq!(
            read,
            Warning::new(WarningCode::NoEffect, "settings.title", "It has no effect.")
        );
    }
}
