//! Checks the targets of a set, each as a post by itself, before anything is copied or written.

use fanfare_core::{
    Act,
    error::{Code, Fix, Result, refusal::SimilarPost, violation},
    remedies,
};
use fanfare_entities::{AccountId, Millis};
use fanfare_platforms::{PlatformId, Violations, Warning, WarningCode, fix::closest_name};
use serde_json::{Map, Value};

use super::{
    faults::{Faults, Source},
    levels::{Effective, Level, Origin, Origins, SetContent, knows},
    targets::{Target, TargetTime, read_overrides},
};
use crate::posts::{
    compared::Compared,
    create::{Examined, examine},
    duplicates::{self, Guard},
    input::{NewPost, NewStatus},
};

/// The most bytes of the texts of all targets together.
const MAX_TEXT: usize = 8 << 20;

/// A target that its network would take.
pub struct Checked {
    /// The target.
    pub target: Target,
    /// The post.
    pub examined: Examined,
    /// Where each part of its content comes from.
    pub from: Origins,
    /// It, as it is compared with other posts of its account.
    pub compared: Compared,
    /// Those that are like it.
    pub similar: Vec<SimilarPost>,
}

/// The things that all targets of a set have in common.
#[derive(Clone, Copy)]
pub struct Common<'a> {
    /// The content.
    pub content: &'a SetContent,
    /// The time; `None` is now, or in a draft none.
    pub at: Option<Millis>,
    /// The zone that it was given in.
    pub timezone: Option<&'a str>,
    /// True for drafts.
    pub is_draft: bool,
    /// The group of the posts.
    pub group: &'a str,
    /// The treatment of a target that its account has already.
    pub guard: Guard,
    /// The time of the request.
    pub now: Millis,
}

/// Reads the content for each platform; what is wrong with it is added to `faults`.
pub fn read_per_platform(
    given: Option<Map<String, Value>>,
    faults: &mut Faults,
) -> Vec<(String, Option<Level>)> {
    let mut read = Vec::new();
    for (name, body) in given.into_iter().flatten() {
        let prefix = format!("per_platform.{name}");
        if name.parse::<PlatformId>().is_err() {
            let names = crate::platforms::ids().map(PlatformId::as_str);
            let fix = closest_name(&name, names).map(|near| Fix::rename(&prefix, near));
            let message = format!("There is no platform called {name:?}.");
            let remedy = "GET /api/v1/platforms lists them.";
            let broken = violation(Code::UnknownField, prefix, message, remedy).with_fix(fix);
            faults.own.push(broken);
        } else if body.is_null() {
            read.push((name, None));
        } else if let Some(overrides) =
            read_overrides::<super::input::Overrides>(&prefix, body, faults)
        {
            read.push((name, Some(overrides.level())));
        }
    }
    read
}

/// Adds the shared keys of `settings` and `metadata` that no target's platform knows to the faults; returns the warnings
/// about those that only some know, and about content for platforms without a target.
pub fn shared_keys(
    content: &SetContent,
    targets: &[(usize, PlatformId)],
    faults: &mut Faults,
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if targets.is_empty() {
        return warnings;
    }
    let parts = [("settings", &content.shared.settings), ("metadata", &content.shared.metadata)];
    for (part, given) in parts {
        for key in given.iter().flatten().flat_map(Map::keys) {
            let field = format!("{part}.{key}");
            let without: Vec<usize> = targets
                .iter()
                .filter(|(_, platform)| !knows(*platform, part, key))
                .map(|(index, _)| *index)
                .collect();
            if without.len() == targets.len() {
                faults.own.push(unknown_key(part, key, targets));
            } else if !without.is_empty() {
                let message = format!(
                    "{field} does not apply to all targets: their platforms have no such field."
                );
                let mut warning = Warning::new(WarningCode::SettingNotApplied, field, message);
                warning.targets = Some(without);
                warnings.push(warning);
            }
        }
    }
    for name in content.per_platform.keys() {
        if targets.iter().all(|(_, platform)| platform.as_str() != name) {
            let message = format!("The set has no target on {name}.");
            let field = format!("per_platform.{name}");
            warnings.push(Warning::new(WarningCode::OverrideNotUsed, field, message));
        }
    }
    warnings
}

fn unknown_key(
    part: &str,
    key: &str,
    targets: &[(usize, PlatformId)],
) -> fanfare_core::error::Violation {
    let field = format!("{part}.{key}");
    let known: Vec<&str> = targets
        .iter()
        .flat_map(|(_, platform)| super::levels::known_keys(*platform, part))
        .collect();
    let fix = closest_name(key, known.into_iter().collect::<std::collections::BTreeSet<_>>())
        .map(|near| Fix::rename(&field, near));
    let message = format!("No target's platform has {field}.");
    let remedy = "Use a name that one of the platforms knows, or leave it out.";
    violation(Code::UnknownField, field, message, remedy).with_fix(fix)
}

/// Checks all targets. What is wrong with one is added to `faults`; the others are returned.
///
/// # Errors
/// The database's.
pub async fn check_all(
    act: &Act,
    common: Common<'_>,
    targets: Vec<Target>,
    faults: &mut Faults,
) -> Result<Vec<Checked>> {
    let platform = |target: &Target| crate::platforms::from_row(&target.account.platform);
    let contents: Vec<(Effective, PlatformId)> = targets
        .iter()
        .map(|target| {
            let platform = platform(target)?;
            Ok((common.content.effective(&target.own, platform), platform))
        })
        .collect::<Result<_>>()?;
    let text = contents.iter().filter_map(|(one, _)| one.caption.as_ref()).map(String::len);
    let text: usize = text.sum();
    if text > MAX_TEXT {
        let message = format!("The texts of all targets together have {text} bytes.");
        let remedy = "Shorten the text, or make several sets.";
        let broken = violation(Code::ContentTooLarge, "caption", message, remedy);
        faults.own.push(broken.with_limit(MAX_TEXT, text).in_unit("bytes"));
        return Ok(Vec::new());
    }
    let mut checked = Vec::with_capacity(targets.len());
    for (target, (effective, platform)) in targets.into_iter().zip(contents) {
        let new = new_post(&target, &effective, common);
        let source = Source {
            index: target.index,
            platform: platform.as_str(),
            from: &effective.from,
            own_time: target.time != TargetTime::Shared,
        };
        let time = (time_of(target.time, common), Violations::default());
        let flaws = (Violations::default(), common.now);
        match examine(act, target.account.clone(), &new, time, flaws).await {
            Ok(examined) => {
                let compared = examined.compared(act, target.guard.unwrap_or(common.guard)).await?;
                let similar = compared.similar(act).await?;
                if compared.guard == Guard::Refuse {
                    refuse_similar(act, target.index, &similar, faults);
                }
                if !faults.has(target.index) {
                    let from = effective.from;
                    checked.push(Checked { target, examined, from, compared, similar });
                }
            }
            Err(error) => faults.of_target(act, (source, Some(&target.account)), error)?,
        }
    }
    // A brand's target is refused as a whole.
    checked.retain(|one| !faults.has(one.target.index));
    Ok(checked)
}

/// Adds the fault of a target whose account has the like already, if it has.
pub fn refuse_similar(act: &Act, index: usize, similar: &[SimilarPost], faults: &mut Faults) {
    if let Some(mut found) = duplicates::violation("caption", similar) {
        let newest = similar.first();
        found.next.extend(newest.and_then(|one| remedies::show_post(act, one.post_id)));
        faults.at_target(index, found);
    }
}

/// Returns the time of a target; `None` is now, or in a draft none.
#[must_use]
pub fn time_of(time: TargetTime, common: Common<'_>) -> Option<Millis> {
    match time {
        TargetTime::Own(at) => Some(at),
        TargetTime::Shared => common.at,
        TargetTime::After(distance) => {
            let start = common.at.or((!common.is_draft).then_some(common.now));
            start.map(|start| start.saturating_add(distance))
        }
    }
}

fn new_post(target: &Target, effective: &Effective, common: Common<'_>) -> NewPost {
    let AccountId(account_id) = target.account.id;
    NewPost {
        account_id,
        caption: effective.caption.clone(),
        media_url: None,
        media_urls: Some(effective.media_urls.clone()),
        scheduled_at: None,
        timezone: common.timezone.map(str::to_owned),
        post_type: effective.post_type.clone(),
        settings: Some(effective.settings.clone()),
        metadata: Some(effective.metadata.clone()),
        status: Some(if common.is_draft { NewStatus::Draft } else { NewStatus::Scheduled }),
        group: Some(common.group.to_owned()),
        workspace_id: None,
        suggestion_id: target.suggestion.map(|id| id.0),
        dry_run: None,
        duplicates: None,
    }
}

/// Returns true if a part of a target's content is the set's.
#[must_use]
pub fn is_shared(from: &Origins, part: &str) -> bool {
    matches!(from.get(part), Some(Origin::Shared | Origin::Platform))
}
