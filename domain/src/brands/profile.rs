//! The profile of a brand: its voice, and what else was written down of it.

use fanfare_entities::{BrandId, brand};
use schemars::JsonSchema;
use sea_orm::{ActiveModelTrait, ActiveValue::Set, EntityTrait, IntoActiveModel};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    Act, Domain, Reply, Unreadable,
    error::{Code, Error, Result, Violations, violation},
};

/// The most characters of a text.
const LONGEST_TEXT: usize = 5_000;

/// The most entries of a list.
const MOST_ENTRIES: usize = 50;

/// The most characters of an entry.
const LONGEST_ENTRY: usize = 500;

/// What was written down of a brand. A text that nobody has written is null, a list empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Profile {
    /// The way it speaks.
    voice: Option<String>,
    /// The mood of its texts.
    tone: Option<String>,
    /// The people it speaks to.
    audience: Option<String>,
    /// What sets it apart.
    positioning: Option<String>,
    /// What it stands for.
    brand_values: Vec<String>,
    /// Words that belong to it.
    keywords: Vec<String>,
    /// Those it is compared with.
    competitors: Vec<String>,
    /// What its texts do, and what they do not do.
    do_donts: Vec<String>,
    /// Rules for its pictures.
    visual_guidelines: Vec<String>,
    /// What else writers have to follow.
    custom_instructions: Vec<String>,
    /// Subjects it speaks of.
    topics_to_cover: Vec<String>,
    /// Subjects it keeps away from.
    topics_to_avoid: Vec<String>,
    /// Texts in its voice.
    voice_examples: Vec<String>,
}

impl Profile {
    fn texts(&self) -> [(&'static str, &Option<String>); 4] {
        [
            ("voice", &self.voice),
            ("tone", &self.tone),
            ("audience", &self.audience),
            ("positioning", &self.positioning),
        ]
    }

    fn lists(&self) -> [(&'static str, &[String]); 9] {
        [
            ("brand_values", &self.brand_values),
            ("keywords", &self.keywords),
            ("competitors", &self.competitors),
            ("do_donts", &self.do_donts),
            ("visual_guidelines", &self.visual_guidelines),
            ("custom_instructions", &self.custom_instructions),
            ("topics_to_cover", &self.topics_to_cover),
            ("topics_to_avoid", &self.topics_to_avoid),
            ("voice_examples", &self.voice_examples),
        ]
    }

    fn check(&self) -> Result<()> {
        let mut broken = Violations::default();
        let long = |text: &str, most: usize| text.chars().count() > most;
        for (name, text) in self.texts() {
            if text.as_deref().is_some_and(|text| long(text, LONGEST_TEXT)) {
                let message = format!("{name} is longer than {LONGEST_TEXT} characters.");
                broken.push(violation(Code::InvalidField, name, message, "Write it shorter."));
            }
        }
        for (name, list) in self.lists() {
            if list.len() > MOST_ENTRIES || list.iter().any(|entry| long(entry, LONGEST_ENTRY)) {
                let message = format!(
                    "{name} may have {MOST_ENTRIES} entries of {LONGEST_ENTRY} characters."
                );
                broken.push(violation(Code::InvalidField, name, message, "Send fewer or shorter."));
            }
        }
        Error::check(broken)
    }
}

/// The profile of one brand.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BrandProfile {
    brand_id: BrandId,
    #[serde(flatten)]
    profile: Profile,
}

/// The voice of one brand.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct OneProfile {
    profile: BrandProfile,
}

/// Returns the profile of a brand.
///
/// # Errors
/// [`Code::BrandNotFound`].
pub async fn profile(act: &Act, id: BrandId) -> Result<Reply<OneProfile>> {
    let row = super::find(act, id).await?;
    let (brand_id, profile) = (row.id, of_row(row)?);
    Ok(Reply::ok(&OneProfile { profile: BrandProfile { brand_id, profile } }))
}

fn of_row(row: brand::Model) -> Result<Profile, Unreadable> {
    let Some(kept) = row.profile.filter(|kept| !kept.is_null()) else {
        return Ok(Profile::default());
    };
    serde_json::from_value(kept).map_err(|_| Unreadable("profile"))
}

/// Writes the profile of a brand, in place of the one it had.
///
/// # Errors
/// [`Code::BrandNotFound`], or a text that is too long.
pub async fn set_profile(cx: &Domain, id: BrandId, profile: &Profile) -> Result<()> {
    profile.check()?;
    let row = brand::Entity::find_by_id(id).one(&cx.db.write).await?;
    let missing = || Error::new(Code::BrandNotFound, "There is no such brand.");
    let mut row = row.ok_or_else(missing)?.into_active_model();
    row.profile = Set(Some(json!(profile)));
    row.update(&cx.db.write).await?;
    Ok(())
}
