//! Settings that several networks share.

use serde_json::Value;

use crate::{Draft, Setting, Shape};

/// Marks the post as made with AI where the network has such a label.
pub const AI_GENERATED: Setting = Setting::optional(
    "ai_generated",
    Shape::Bool,
    "Labels the post as AI-generated where the network supports it.",
);

/// The other accepted name of [`AI_GENERATED`].
pub const AI_DISCLOSURE: Setting =
    Setting::optional("ai_disclosure", Shape::Bool, "Another name for `ai_generated`.");

/// Was the label asked for, under either of its names?
pub fn is_ai_generated(draft: &Draft) -> bool {
    let asked = |setting: Setting| draft.settings.get(setting.name) == Some(&Value::Bool(true));
    asked(AI_GENERATED) || asked(AI_DISCLOSURE)
}

/// The settings a network takes: its own, then the shared ones it does not declare itself.
pub fn known(own: &'static [Setting]) -> impl Iterator<Item = &'static Setting> {
    const SHARED: &[Setting] = &[AI_GENERATED, AI_DISCLOSURE];
    let undeclared = |shared: &&Setting| own.iter().all(|setting| setting.name != shared.name);
    own.iter().chain(SHARED.iter().filter(undeclared))
}

/// Makes a struct of settings and, from the same lines, [`Setting`]s for validation, discovery and the JSON Schema:
/// `/// doc`, then `optional` or `required`, `name: Type = shape,`. A struct with its `FIELDS` may serve as the shape of
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

/// The lists of alt texts that settings hold: at most so many, each at most so long.
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

/// The alt text of the file with this index, unless it is blank.
pub fn alt_text(texts: &[String], index: usize) -> Option<&str> {
    texts.get(index).map(String::as_str).filter(|text| !text.trim().is_empty())
}
