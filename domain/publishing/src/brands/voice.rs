//! The voice of a brand: how it sounds, what is true about it, and which phrases are forbidden.

use fanfare_core::{
    Act, Domain, WorkspaceId,
    access::Role,
    error::{Code, Error, Result, Violation, wrong_count},
    input::text::{self, TextRule},
};
use fanfare_entities::{BrandId, brand, brand_profile};
use fanfare_people::{quota::Quota, team, users};
use sea_orm::{
    ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, sea_query::OnConflict,
};
use serde::{Deserialize, Serialize};

use super::find;

/// The most characters of a text part.
pub const MAX_TEXT: usize = 2_000;

/// The most entries of a list.
pub const MAX_ENTRIES: usize = 50;

/// The most characters of a fact or a forbidden phrase, as in a request for captions.
pub const MAX_FACT: usize = 300;

/// The most characters of another entry: examples of captions may be long.
pub const MAX_ENTRY: usize = 1_000;

/// The parts of a brand's voice, with the names that replies and an operator's file use.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Voice {
    /// The way the brand speaks.
    pub voice: Option<String>,
    /// The tone of texts.
    pub tone: Option<String>,
    /// The audience.
    pub audience: Option<String>,
    /// The position of the brand among its competitors.
    pub positioning: Option<String>,
    /// Facts that texts may claim.
    pub facts: Vec<String>,
    /// Phrases that texts never use.
    pub never_say: Vec<String>,
    /// The values of the brand.
    pub brand_values: Vec<String>,
    /// Keywords.
    pub keywords: Vec<String>,
    /// Competitors.
    pub competitors: Vec<String>,
    /// Rules: what to do and what not to do.
    pub do_donts: Vec<String>,
    /// The look of pictures.
    pub visual_guidelines: Vec<String>,
    /// Further instructions for writers.
    pub custom_instructions: Vec<String>,
    /// Topics of texts.
    pub topics_to_cover: Vec<String>,
    /// Topics to avoid.
    pub topics_to_avoid: Vec<String>,
    /// Example texts.
    pub voice_examples: Vec<String>,
}

impl Voice {
    /// The names of the text parts.
    pub const TEXTS: [&str; 4] = ["voice", "tone", "audience", "positioning"];

    /// The names of the lists.
    pub const LISTS: [&str; 11] = [
        "facts",
        "never_say",
        "brand_values",
        "keywords",
        "competitors",
        "do_donts",
        "visual_guidelines",
        "custom_instructions",
        "topics_to_cover",
        "topics_to_avoid",
        "voice_examples",
    ];

    /// Returns the text parts, in the order of [`Self::TEXTS`].
    pub fn texts(&mut self) -> [&mut Option<String>; 4] {
        [&mut self.voice, &mut self.tone, &mut self.audience, &mut self.positioning]
    }

    /// Returns the lists, in the order of [`Self::LISTS`].
    pub fn lists(&mut self) -> [&mut Vec<String>; 11] {
        [
            &mut self.facts,
            &mut self.never_say,
            &mut self.brand_values,
            &mut self.keywords,
            &mut self.competitors,
            &mut self.do_donts,
            &mut self.visual_guidelines,
            &mut self.custom_instructions,
            &mut self.topics_to_cover,
            &mut self.topics_to_avoid,
            &mut self.voice_examples,
        ]
    }

    /// Returns what captions may claim because the brand says so. Topics to avoid, competitors, and examples with old
    /// offers prove nothing.
    pub fn claimable_facts(&self) -> impl Iterator<Item = &str> {
        let texts = [&self.voice, &self.tone, &self.audience, &self.positioning];
        let lists = [
            &self.facts,
            &self.brand_values,
            &self.keywords,
            &self.visual_guidelines,
            &self.custom_instructions,
            &self.topics_to_cover,
        ];
        let texts = texts.into_iter().flatten().map(String::as_str);
        texts.chain(lists.into_iter().flatten().map(String::as_str))
    }

    /// Returns the brand's voice for a model, each part with its name in words.
    pub fn notes(&self) -> Vec<(&'static str, String)> {
        let texts = [
            ("Voice", &self.voice),
            ("Tone", &self.tone),
            ("Audience", &self.audience),
            ("Positioning", &self.positioning),
        ];
        let lists = [
            ("Fact", &self.facts),
            ("Never say", &self.never_say),
            ("Value of the brand", &self.brand_values),
            ("Keyword", &self.keywords),
            ("Competitor, not to be named", &self.competitors),
            ("Do or do not", &self.do_donts),
            ("Instruction", &self.custom_instructions),
            ("Topic to cover", &self.topics_to_cover),
            ("Topic to avoid", &self.topics_to_avoid),
            ("Example of the voice, whose facts are not to be used", &self.voice_examples),
        ];
        let texts = texts.into_iter().filter_map(|(name, text)| Some((name, text.clone()?)));
        let entries = lists
            .into_iter()
            .flat_map(|(name, list)| list.iter().map(move |entry| (name, entry.clone())));
        texts.chain(entries).collect()
    }

    /// Returns the voice with trimmed texts and without empty or repeated entries.
    #[must_use]
    pub fn normalized(mut self) -> Self {
        for part in self.texts() {
            *part = part.take().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        }
        for list in self.lists() {
            let mut kept: Vec<String> = Vec::with_capacity(list.len());
            for entry in std::mem::take(list) {
                let entry = entry.trim();
                if !entry.is_empty() && !kept.iter().any(|known| known == entry) {
                    kept.push(entry.to_owned());
                }
            }
            *list = kept;
        }
        self
    }

    fn violations(&mut self) -> Vec<Violation> {
        let mut broken = Vec::new();
        for (name, part) in Self::TEXTS.into_iter().zip(self.texts()) {
            broken.extend(
                part.iter().filter_map(|text| text::problem(name, text, TextRule::lines(MAX_TEXT))),
            );
        }
        for (name, list) in Self::LISTS.into_iter().zip(self.lists()) {
            if list.len() > MAX_ENTRIES {
                broken.push(wrong_count(name, list.len(), &(0..=MAX_ENTRIES)));
            }
            let most = if matches!(name, "facts" | "never_say") { MAX_FACT } else { MAX_ENTRY };
            broken.extend(list.iter().take(MAX_ENTRIES).enumerate().filter_map(|(place, text)| {
                text::problem(&format!("{name}[{place}]"), text, TextRule::lines(most))
            }));
        }
        broken
    }
}

/// Reads the voice of a brand; it is empty if nothing was set.
pub async fn read<C: ConnectionTrait>(conn: &C, brand: BrandId) -> Result<Voice> {
    let row = brand_profile::Entity::find_by_id(brand).one(conn).await?;
    let voice = row.map(|row| serde_json::from_value(row.voice)).transpose();
    Ok(voice.map_err(Error::internal)?.unwrap_or_default())
}

/// Returns a brand's name and its voice.
///
/// # Errors
/// [`Code::BrandNotFound`].
pub async fn of(act: &Act, id: BrandId) -> Result<(String, Voice)> {
    let brand = find(act, id).await?;
    Ok((brand.name, read(&act.cx.db.read, brand.id).await?))
}

/// Replaces the voice of a brand.
///
/// # Errors
/// [`Code::BrandNotFound`], [`Code::InsufficientWorkspacePermissions`] unless the caller is an admin, or all violations
/// of the voice.
pub async fn set(act: &Act, id: BrandId, voice: Voice) -> Result<()> {
    act.membership.require_active()?;
    act.membership.require(Role::Admin)?;
    let brand = find(act, id).await?;
    write(&act.cx, brand.id, voice).await
}

/// Creates a brand in the membership's workspace.
///
/// # Errors
/// [`Code::InsufficientWorkspacePermissions`] unless the caller manages the team, [`Code::PlanLimit`], or a bad name.
pub async fn create(act: &Act, name: &str) -> Result<BrandId> {
    act.membership.require_active()?;
    let name = name.trim();
    users::check_name(name)?;
    let (cx, workspace) = (&act.cx, act.membership.workspace_id);
    let tx = cx.db.begin().await?;
    team::lock(act, &tx).await?;
    let used = users::count_brands(&tx, workspace).await?;
    Quota::Brands.require_room(&fanfare_people::settings(cx).plans, act.membership.plan, used)?;
    let id = users::insert_brand(&tx, workspace, name, cx.clock.now()).await?;
    tx.commit().await?;
    Ok(id)
}

/// Sets the voice of the brand with this id or name, for operators. A new name creates a brand.
///
/// # Errors
/// [`Code::WorkspaceNotFound`], [`Code::InvalidField`] for a name that several brands have, or all violations of the
/// voice.
pub async fn set_named(
    cx: &Domain,
    workspace: WorkspaceId,
    id_or_name: &str,
    voice: Voice,
) -> Result<BrandId> {
    let mut voice = voice.normalized();
    Error::check(voice.violations())?;
    let ours = brand::Entity::find().filter(brand::Column::WorkspaceId.eq(workspace));
    let found = match id_or_name.parse().map(BrandId) {
        Ok(id) => ours.filter(brand::Column::Id.eq(id)).all(&cx.db.read).await?,
        Err(_) => ours.filter(brand::Column::Name.eq(id_or_name)).all(&cx.db.read).await?,
    };
    let id = match found.as_slice() {
        [] => users::create_brand(cx, workspace, id_or_name).await?,
        [one] => one.id,
        _ => {
            let message = format!("Several brands are called {id_or_name}.");
            return Err(Error::field(Code::InvalidField, "name", message, "Give the brand's id."));
        }
    };
    write(cx, id, voice).await?;
    Ok(id)
}

async fn write(cx: &Domain, brand: BrandId, voice: Voice) -> Result<()> {
    let mut voice = voice.normalized();
    Error::check(voice.violations())?;
    let row = brand_profile::ActiveModel {
        brand_id: Set(brand),
        voice: Set(serde_json::to_value(&voice).map_err(Error::internal)?),
        updated_at: Set(cx.clock.now()),
    };
    let again = OnConflict::column(brand_profile::Column::BrandId)
        .update_columns([brand_profile::Column::Voice, brand_profile::Column::UpdatedAt])
        .to_owned();
    brand_profile::Entity::insert(row)
        .on_conflict(again)
        .exec_without_returning(&cx.db.write)
        .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_voice_is_tidied_and_every_part_is_checked() {
        let mut voice = Voice {
            tone: Some("  warm ".to_owned()),
            audience: Some(" ".to_owned()),
            never_say: ["cheap", "", " cheap ", "best"].map(str::to_owned).to_vec(),
            ..Voice::default()
        }
        .normalized();
        assert_eq!((voice.tone.as_deref(), &voice.audience), (Some("warm"), &None));
        assert_eq!(voice.never_say, ["cheap", "best"]);
        assert_eq!(voice.violations(), []);
        for part in voice.texts() {
            *part = Some("x".repeat(MAX_TEXT + 1));
        }
        for list in voice.lists() {
            *list = vec!["x".repeat(MAX_ENTRY + 1)];
        }
        assert_eq!(voice.violations().len(), 15);
    }

    #[test]
    fn parts_have_the_names_under_which_they_are_kept() {
        let kept = serde_json::to_value(Voice::default()).unwrap();
        let names = Voice::TEXTS.into_iter().chain(Voice::LISTS);
        assert!(names.clone().all(|name| kept.get(name).is_some()));
        assert_eq!(kept.as_object().unwrap().len(), names.count());
        let mut voice = Voice::default();
        for (name, list) in Voice::LISTS.into_iter().zip(voice.lists()) {
            *list = vec![name.to_owned()];
        }
        let kept = serde_json::to_value(&voice).unwrap();
        assert!(Voice::LISTS.into_iter().all(|name| kept[name][0] == name));
    }

    #[test]
    fn what_is_to_be_avoided_proves_nothing() {
        let mut voice = Voice::default();
        for (name, list) in Voice::LISTS.into_iter().zip(voice.lists()) {
            *list = vec![name.to_owned()];
        }
        let proofs: Vec<_> = voice.claimable_facts().collect();
        for name in ["never_say", "competitors", "do_donts", "topics_to_avoid", "voice_examples"] {
            assert!(!proofs.contains(&name), "{name}");
        }
        assert!(proofs.contains(&"facts"));
    }
}
