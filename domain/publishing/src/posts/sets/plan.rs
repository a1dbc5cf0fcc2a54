//! What a request makes of a set, before anything is checked against networks.

use std::collections::HashMap;

use fanfare_core::{
    Act,
    error::{Code, Error, Fix, Result, violation},
    input::strict,
};
use fanfare_entities::{Millis, PostId, post, post_set};
use fanfare_platforms::Violations;
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter};

use super::{
    check::read_per_platform,
    faults::{Faults, within},
    input::{PostSetChanges, TargetChanges},
    levels::{Level, SetContent},
    own,
    read::brands,
    rows::{TargetRow, content_of},
    targets::MAX_TARGETS,
};
use crate::posts::{
    create::{parse_time, with_timezone_fix},
    duplicates::Guard,
};

/// The set as a request would have it.
pub struct Plan {
    /// The new content of the set.
    pub content: SetContent,
    /// The content that each target has of its own from now on.
    pub owns: HashMap<PostId, Level>,
    /// The indexes of the targets among the changes.
    pub asked: HashMap<PostId, usize>,
    /// The new time, as it was given.
    pub time: Option<(Millis, Option<String>)>,
    /// The new group.
    pub group: Option<String>,
    /// The treatment of a target that its account has already.
    pub guard: Guard,
}

/// Reads what a request asks for; what is wrong with it is added to `faults`.
///
/// # Errors
/// The database's.
pub async fn plan(
    act: &Act,
    set: &post_set::Model,
    targets: &[TargetRow],
    changes: &PostSetChanges,
    faults: &mut Faults,
) -> Result<Plan> {
    let now = act.cx.clock.now();
    let (time, broken) =
        parse_time(changes.scheduled_at.as_deref(), changes.timezone.as_deref(), now);
    faults.own.append(with_timezone_fix(act, broken, changes.scheduled_at.as_deref()));
    let old = content_of(set)?;
    let mut content = old.clone();
    put(&mut content.shared, &changes.level());
    for (name, level) in read_per_platform(changes.per_platform.clone(), faults) {
        match level {
            Some(level) => content.per_platform.insert(name, level),
            None => content.per_platform.remove(&name),
        };
    }
    let mut owns = HashMap::new();
    for target in targets {
        owns.insert(target.post.id, target.own()?);
    }
    let asked = target_changes(changes, targets, &mut owns, faults);
    if sees_part(act, set, targets.len()).await? {
        // What the others share stays; the caller's targets get the new content as their own.
        for target in targets {
            let platform = crate::platforms::from_row(&target.post.platform)?;
            if let Some(own) = owns.get_mut(&target.post.id) {
                let wanted = content.effective(own, platform);
                own::keep(own, &wanted, &old, platform);
            }
        }
        content = old;
    }
    Ok(Plan {
        content,
        owns,
        asked,
        time: time.map(|at| (at, changes.timezone.clone())),
        group: changes.group.clone(),
        guard: changes.duplicates.unwrap_or_default(),
    })
}

/// Returns true if the set has targets that the caller does not see.
async fn sees_part(act: &Act, set: &post_set::Model, seen: usize) -> Result<bool> {
    if brands(act).is_none() {
        return Ok(false);
    }
    let of_set = post::Column::PostSetId.eq(set.id);
    let all = post::Entity::find().filter(of_set).count(&act.cx.db.read).await?;
    Ok(all > seen as u64)
}

/// Replaces the parts of a level that are given.
fn put(level: &mut Level, given: &Level) {
    let Level { caption, media_urls, post_type, settings, metadata } = given.clone();
    level.caption = caption.or(level.caption.take());
    level.media_urls = media_urls.or(level.media_urls.take());
    level.post_type = post_type.or(level.post_type.take());
    level.settings = settings.or(level.settings.take());
    level.metadata = metadata.or(level.metadata.take());
}

/// Applies the changes to single targets; returns the index of each.
fn target_changes(
    changes: &PostSetChanges,
    targets: &[TargetRow],
    owns: &mut HashMap<PostId, Level>,
    faults: &mut Faults,
) -> HashMap<PostId, usize> {
    let mut asked = HashMap::new();
    let bodies = changes.targets.clone().unwrap_or_default();
    if bodies.len() > MAX_TARGETS {
        let message = format!("{} targets are changed; {MAX_TARGETS} are allowed.", bodies.len());
        faults.own.push(violation(Code::InvalidField, "targets", message, "Send fewer."));
        return asked;
    }
    for (index, body) in bodies.into_iter().enumerate() {
        let prefix = format!("targets[{index}]");
        let read: Result<(TargetChanges, Violations)> = match body.is_object() {
            true => strict::read_partial(body),
            false => Err(Error::field(
                Code::InvalidField,
                "",
                "A target must be an object.",
                "Send an object with post_id.",
            )),
        };
        let (change, flaws) = match read {
            Ok(read) => read,
            Err(error) => {
                let broken = error.into_violations();
                broken.into_iter().for_each(|one| faults.at_target(index, one));
                continue;
            }
        };
        flaws.into_iter().for_each(|one| faults.at_target(index, one));
        let id = PostId(change.post_id);
        let Some(target) = targets.iter().find(|one| one.post.id == id) else {
            let message = format!("Post {id} is no target of the set.");
            let remedy = "Name a post of the set.";
            faults.at_target(index, violation(Code::PostNotFound, "post_id", message, remedy));
            continue;
        };
        if change.account_id.is_some() {
            let message = "The account of a target cannot be changed.";
            let remedy = "Add a target for the other account, and delete this one.";
            let fix = Fix::remove("account_id");
            let found = violation(Code::ImmutableField, "account_id", message, remedy);
            faults.at_target(index, found.with_fix([fix]));
        }
        let Some(own) = owns.get_mut(&target.post.id) else { continue };
        put(own, &change.level());
        for (place, part) in change.inherit.iter().flatten().enumerate() {
            if !inherit(own, part) {
                let field = format!("inherit[{place}]");
                let message = format!("There is no part {part:?}.");
                let remedy =
                    "Send caption, media, post_type, settings, metadata, or settings.<key>.";
                let found = violation(Code::InvalidField, field, message, remedy);
                faults.own.push(within(&prefix, found));
            }
        }
        asked.insert(id, index);
    }
    asked
}

/// Takes a part from the set again; returns false if there is no such part.
fn inherit(own: &mut Level, part: &str) -> bool {
    match part.split_once('.') {
        None => match part {
            "caption" => own.caption = None,
            "media" | "media_url" | "media_urls" => own.media_urls = None,
            "post_type" => own.post_type = None,
            "settings" => own.settings = None,
            "metadata" => own.metadata = None,
            _ => return false,
        },
        Some(("settings", key)) => {
            own.settings.iter_mut().flatten().for_each(|fields| drop(fields.remove(key)));
        }
        Some(("metadata", key)) => {
            own.metadata.iter_mut().flatten().for_each(|fields| drop(fields.remove(key)));
        }
        Some(_) => return false,
    }
    true
}
