//! Settings that several networks share.

use serde_json::{Map, Value};

use crate::{
    Draft, Platform, Setting, Shape, Spec, Warning, WarningCode,
    text::{clean_identifier, is_blank},
};

/// Marks the post as made with AI where the network has such a label.
pub const AI_GENERATED: Setting = Setting::optional(
    "ai_generated",
    Shape::Bool,
    "Labels the post as AI-generated where the network supports it.",
);

/// The other accepted name of [`AI_GENERATED`].
pub const AI_DISCLOSURE: Setting =
    Setting::optional("ai_disclosure", Shape::Bool, "Another name for `ai_generated`.");

/// The post's type, which some callers put among the settings.
pub const POST_TYPE: Setting = Setting::optional(
    "post_type",
    Shape::Text { min: 1, max: 50 },
    "The same as `post_type` of the post, for callers who keep it among the settings.",
);

/// Returns warnings about settings without effect.
#[must_use]
pub fn warnings(platform: &dyn Platform, draft: &Draft) -> Vec<Warning> {
    let spec = platform.spec();
    let asked = [AI_GENERATED, AI_DISCLOSURE]
        .into_iter()
        .filter(|one| !spec.ai_label && draft.settings.get(one.name) == Some(&Value::Bool(true)));
    let unlabelled = asked.map(|one| {
        let message =
            format!("{} takes no label for AI from apps: this has no effect.", spec.label);
        Warning::new(WarningCode::NoEffect, format!("settings.{}", one.name), message)
    });
    let all = unlabelled.chain(platform.warnings(draft)).chain(missing_label(platform, draft));
    all.map(|warning| warning.with("platform", spec.id.as_str())).collect()
}

/// Returns the warning for a post with an AI-made file that does not carry the network's label.
fn missing_label(platform: &dyn Platform, draft: &Draft) -> Option<Warning> {
    let is_made = draft.media.iter().any(|file| file.ai_generated);
    (is_made && !platform.is_ai_labelled(draft)).then(|| {
        let message = "A model made a file of the post, and the post does not say so: set ai_generated to true.";
        Warning::new(WarningCode::AiLabelMissing, "settings.ai_generated", message)
    })
}

/// Removes invisible characters from identifiers and addresses in the settings.
pub fn clean_settings(platform: &dyn Platform, settings: &mut Map<String, Value>) {
    tidy_object(platform.spec().settings, settings);
}

fn tidy_object(known: &[Setting], given: &mut Map<String, Value>) {
    for setting in known {
        if let Some(value) = given.get_mut(setting.name) {
            tidy_value(&setting.shape, value);
        }
    }
}

fn tidy_value(shape: &Shape, value: &mut Value) {
    match (shape, value) {
        (Shape::Id { .. } | Shape::Url, Value::String(text)) => *text = clean_identifier(text),
        (Shape::List { of, .. }, Value::Array(items)) => {
            items.iter_mut().for_each(|item| tidy_value(of, item));
        }
        (Shape::Object(fields), Value::Object(given)) => tidy_object(fields, given),
        _ => {}
    }
}

/// Returns true if the label was requested, under either of its names.
pub fn is_ai_generated(draft: &Draft) -> bool {
    let asked = |setting: Setting| draft.settings.get(setting.name) == Some(&Value::Bool(true));
    asked(AI_GENERATED) || asked(AI_DISCLOSURE)
}

/// Returns the settings a network accepts: its own, then the shared ones it does not declare itself.
pub fn accepted(own: &'static [Setting]) -> impl Iterator<Item = &'static Setting> {
    const SHARED: &[Setting] = &[AI_GENERATED, AI_DISCLOSURE, POST_TYPE];
    let undeclared = |shared: &&Setting| own.iter().all(|setting| setting.name != shared.name);
    own.iter().chain(SHARED.iter().filter(undeclared))
}

/// Returns true if a network accepts a setting of this name.
#[must_use]
pub fn knows_setting(spec: &Spec, name: &str) -> bool {
    accepted(spec.settings).any(|setting| setting.name == name)
}

/// Generates a struct of settings and, from the same lines, [`Setting`]s for validation, discovery and the JSON Schema:
/// `/// doc`, then `optional` or `required`, `name: Type = shape,`. The `FIELDS` of one struct can be the shape of
/// another's field.
macro_rules! settings {
    ($(
        $(#[doc = $head:literal])*
        $name:ident {
            $(
                $(#[doc = $doc:literal])+
                $(#[serde($($serde:tt)+)])?
                $need:ident $field:ident: $type:ty = $shape:expr,
            )*
        }
    )+) => {$(
        $(#[doc = $head])*
        #[derive(Debug, Clone, Default, serde::Serialize, serde::Deserialize)]
        #[serde(default)]
        pub(crate) struct $name {
            $(
                $(#[doc = $doc])+
                $(#[serde($($serde)+)])?
                pub $field: $type,
            )*
        }

        impl $name {
            /// The same as data.
            pub(crate) const FIELDS: &'static [$crate::Setting] = &[
                $($crate::Setting::$need(
                    stringify!($field),
                    $shape,
                    concat!($($doc),+).trim_ascii_start(),
                ),)*
            ];
        }
    )+};
}
pub(crate) use settings;

/// The shape of a list of alt texts: the most characters of each, and the most files.
macro_rules! alt_texts {
    ($length:expr, $files:expr) => {
        $crate::Shape::List {
            of: &$crate::Shape::Text { min: 0, max: $length },
            min: 0,
            max: $files,
        }
    };
}
pub(crate) use alt_texts;

/// Returns the alt text of the file with this index, unless it is blank.
pub fn alt_text(texts: &[String], index: usize) -> Option<&str> {
    texts.get(index).map(String::as_str).filter(|text| !is_blank(text))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::warnings;
    use crate::{Draft, PlatformId, all, find, tests::test_server, validate::validate};

    #[test]
    fn a_file_that_a_model_made_is_to_be_labelled_where_there_is_a_label() {
        let is_warned =
            |platform: &dyn crate::Platform, settings: serde_json::Value, mime: &str| {
                let mut draft = test_server::draft("n", settings);
                draft.media = vec![crate::Media {
                    mime: mime.to_owned(),
                    ai_generated: true,
                    ..crate::Media::default()
                }];
                let code = |one: &crate::Warning| one.code == crate::WarningCode::AiLabelMissing;
                warnings(platform, &draft).iter().any(code)
            };
        for platform in all() {
            let spec = platform.spec();
            assert_eq!(is_warned(*platform, json!({}), "video/mp4"), spec.ai_label, "{}", spec.id);
            for name in ["ai_generated", "ai_disclosure"] {
                assert!(!is_warned(*platform, json!({name: true}), "video/mp4"), "{}", spec.id);
            }
        }
        // The network's own name of the setting counts too, and a slideshow of TikTok has no such setting.
        let own = json!({"is_ai_generated": true});
        assert!(!is_warned(find(PlatformId::Instagram), own, "image/png"));
        let level = |level: &str| json!({"ai_disclosure_level": level});
        assert!(!is_warned(find(PlatformId::Devto), level("some_ai"), "image/png"));
        assert!(is_warned(find(PlatformId::Devto), level("no_ai"), "image/png"));
        assert!(!is_warned(find(PlatformId::Tiktok), json!({}), "image/png"));
    }

    #[test]
    fn a_label_that_a_network_does_not_take_is_told() {
        for platform in all() {
            let spec = platform.spec();
            let settings = json!({"ai_disclosure": true});
            let told = warnings(*platform, &test_server::draft("n", settings));
            let unlabelled = told.iter().any(|one| one.field == "settings.ai_disclosure");
            // Facebook labels videos, and this is a text.
            let is_text_of_facebook = spec.id == PlatformId::Facebook;
            assert_eq!(unlabelled, !spec.ai_label || is_text_of_facebook, "{}", spec.id);
        }
    }

    #[test]
    fn the_type_of_a_post_may_stand_among_its_settings_but_not_another_one() {
        let broken = |kind: &str, among: &str| {
            let mut draft = test_server::draft("n", json!({"board": "1", "post_type": among}));
            draft.media = vec![test_server::media("a.png", "image/png")];
            let draft = Draft { post_type: kind.to_owned(), ..draft };
            let found = validate(find(PlatformId::Pinterest), &Default::default(), &draft);
            found.into_iter().map(|one| one.field).collect::<Vec<_>>()
        };
        assert_eq!(broken("image", "image"), Vec::<String>::new());
        assert_eq!(broken("image", "feed"), ["settings.post_type"]);
        assert_eq!(broken("movie", "movie"), ["settings.post_type"]);
    }
}
