//! Changes the content and the time of a set.

use std::collections::HashMap;

use fanfare_core::{
    Act, Reply, Tx,
    clock::to_rfc3339,
    error::{Code, Error, Result},
};
use fanfare_entities::{PostId, PostSetId, post, post_set};
use fanfare_platforms::{PlatformId, Violations};
use sea_orm::{
    ActiveValue::{Set, Unchanged},
    EntityTrait,
};

use super::{
    copies::{copied, copy_once, level_with_copies, with_copies},
    faults::{Faults, Source},
    input::PostSetChanges,
    levels::Effective,
    own,
    plan::{Plan, plan},
    read::find,
    replies::{ChangedPostSet, UnchangedTarget},
    rows::{TargetRow, content_of, lock},
    transition::{lock_open, reply},
    view,
};
use crate::posts::{
    caption_files,
    draft::account_of,
    duplicates::{self, Guard},
    edit::{changed_row, check_changes, compare},
    input::PostChanges,
    media, media_facts, read,
    status::save_by_caller,
    view::PostMedia,
};

/// A target that changes.
struct Step {
    id: PostId,
    place: usize,
    changes: PostChanges,
    files: Option<Vec<PostMedia>>,
}

/// Changes the targets of a set that are not going out yet: all of them, or none if one is refused. The others keep their
/// content and are listed in `unchanged`. `flaws` are the fields that could not be read.
///
/// # Errors
/// Everything that is wrong with the changed targets, in one error; nothing is written then.
pub async fn change(
    act: &Act,
    id: PostSetId,
    changes: PostSetChanges,
    flaws: Violations,
) -> Result<Reply<ChangedPostSet>> {
    for _ in 0..MAX_TRIES {
        if let Some(reply) = Box::pin(try_change(act, id, &changes, flaws.clone())).await? {
            return Ok(reply);
        }
    }
    Err(Error::conflict())
}

/// The most times that a change is made anew because the set changed between its check and its writing.
const MAX_TRIES: usize = 50;

/// Changes the set as it is now; returns `None` if it changed meanwhile, and nothing was written.
async fn try_change(
    act: &Act,
    id: PostSetId,
    changes: &PostSetChanges,
    flaws: Violations,
) -> Result<Option<Reply<ChangedPostSet>>> {
    let (set, targets) = find(act, &act.cx.db.read, id).await?;
    act.require_version(set.version)?;
    let mut faults = Faults::default();
    faults.own.append(flaws);
    let plan = plan(act, &set, &targets, changes, &mut faults).await?;
    let steps = steps(act, &set, &targets, &plan, &mut faults).await?;
    std::mem::take(&mut faults).check(false)?;
    if targets.iter().all(|one| !one.is_open()) {
        // Says so.
        lock_open(&act.cx.db.read, &targets).await?;
    }
    if changes.dry_run == Some(true) {
        return dry_run(act, set, targets, &plan).map(Some);
    }
    let files = steps.iter().filter_map(|step| step.files.clone()).flatten();
    let copies = copy_once(act, files.collect()).await?;
    let mut copied_steps = Vec::with_capacity(steps.len());
    for step in steps {
        let files = match &step.files {
            Some(files) => {
                let mut files = match copied(files, &copies) {
                    Ok(files) => files,
                    Err(error) => {
                        faults.of_whole(step.place, error)?;
                        continue;
                    }
                };
                media_facts::refresh(&act.cx.db.read, &mut files).await?;
                Some(files)
            }
            None => None,
        };
        copied_steps.push(Step { files, ..step });
    }
    faults.check(false)?;
    let plan = Plan {
        content: with_copies(&plan.content, &copies),
        owns: plan.owns.iter().map(|(id, own)| (*id, level_with_copies(own, &copies))).collect(),
        ..plan
    };
    let mut tx = act.begin().await?;
    match Box::pin(write(act, &mut tx, &set, (plan, copied_steps))).await? {
        Some(reply) => act.finish(tx, reply).await.map(Some),
        None => Ok(None),
    }
}

/// Returns the changes of each open target, which are checked without copying a file.
async fn steps(
    act: &Act,
    set: &post_set::Model,
    targets: &[TargetRow],
    plan: &Plan,
    faults: &mut Faults,
) -> Result<Vec<Step>> {
    let old = content_of(set)?;
    let mut steps = Vec::new();
    for (place, target) in targets.iter().enumerate() {
        if !target.is_open() {
            continue;
        }
        let id = target.post.id;
        let platform = crate::platforms::from_row(&target.post.platform)?;
        let before = old.effective(&target.own()?, platform);
        let after = plan.content.effective(&plan.owns[&id], platform);
        let changes = changes_of(&before, &after, target, plan);
        let changed = changes.touches_content() || changes.touches_time();
        if !changed {
            continue;
        }
        let row = read::find(act, id).await?;
        let account = account_of(&act.cx.db.read, &row).await?;
        let source = Source {
            index: place,
            platform: platform.as_str(),
            from: &after.from,
            own_time: target.own_time,
        };
        match check_changes(act, &row, &changes, &account, Violations::default()).await {
            Ok(files) => steps.push(Step { id, place, changes, files }),
            Err(error) => {
                let asked = plan.asked.get(&id).copied();
                faults.of_change((place, asked), source, error)?;
            }
        }
    }
    Ok(steps)
}

/// Returns what changes in a target.
fn changes_of(
    before: &Effective,
    after: &Effective,
    target: &TargetRow,
    plan: &Plan,
) -> PostChanges {
    let moved = plan.time.as_ref().filter(|_| !target.own_time);
    let at = moved.map(|(at, _)| at.saturating_add(target.offset_ms.unwrap_or(0)));
    let media = (before.media_urls != after.media_urls).then(|| after.media_urls.clone());
    PostChanges {
        caption: (before.caption != after.caption).then(|| after.caption.clone()),
        media_url: None,
        media_urls: media.map(Some),
        scheduled_at: at.map(|at| Some(to_rfc3339(at))),
        timezone: moved.and_then(|(_, zone)| zone.clone()).map(Some),
        post_type: (before.post_type != after.post_type).then(|| after.post_type.clone()),
        settings: (before.settings != after.settings).then(|| Some(after.settings.clone())),
        metadata: (before.metadata != after.metadata).then(|| Some(after.metadata.clone())),
        group: plan.group.clone().map(Some),
        account_id: None,
        duplicates: None,
    }
}

/// Writes the changes in one transaction, unless the set changed since it was read. A target that began meanwhile keeps its
/// content.
async fn write(
    act: &Act,
    tx: &mut Tx,
    seen: &post_set::Model,
    (plan, steps): (Plan, Vec<Step>),
) -> Result<Option<Reply<ChangedPostSet>>> {
    let id = seen.id;
    let set = lock(tx.conn(), id).await?;
    let (_, targets) = find(act, tx.conn(), id).await?;
    let set = set.ok_or_else(|| Error::new(Code::PostSetNotFound, "The set is gone."))?;
    act.require_version(set.version)?;
    if set.version != seen.version {
        return Ok(None);
    }
    let old = content_of(&set)?;
    if plan.guard == Guard::Refuse {
        // Accounts are locked before posts, in the order of their ids.
        let mut accounts: Vec<_> = targets.iter().map(|one| one.post.account_id).collect();
        accounts.sort_unstable();
        for account in accounts {
            duplicates::lock_account(tx.conn(), account).await?;
        }
    }
    let mut open: HashMap<PostId, post::Model> =
        lock_open(tx.conn(), &targets).await?.into_iter().map(|(_, row)| (row.id, row)).collect();
    let mut faults = Faults::default();
    for step in steps {
        let Some(row) = open.get(&step.id) else { continue };
        let earlier = row.clone();
        let account = account_of(tx.conn(), row).await?;
        let files = (step.files.clone(), None);
        match changed_row(act, row, &step.changes, &account, files).await {
            Ok(next) => {
                if let Err(error) = compare(act, tx, (&earlier, &next), plan.guard).await {
                    faults.of_whole(step.place, error)?;
                    continue;
                }
                if step.files.is_some() || step.changes.settings.is_some() {
                    media::delete_uses(tx.conn(), step.id).await?;
                    let used = caption_files::with_media(&act.cx, tx.conn(), &next).await?;
                    media::record_uses(tx.conn(), &[(step.id, used)]).await?;
                }
                let saved = save_by_caller(act, tx, next, "edited with its set").await?;
                open.insert(step.id, saved);
            }
            Err(error) => faults.of_whole(step.place, error)?,
        }
    }
    faults.check(false)?;
    // All targets, those that the caller does not see too, keep what does not change with the set.
    let all = super::rows::targets_of(tx.conn(), &[id], None).await?.remove(&id);
    for target in all.unwrap_or_default() {
        let platform: PlatformId = crate::platforms::from_row(&target.post.platform)?;
        let before = target.own()?;
        let mut own = match (open.contains_key(&target.post.id), plan.owns.get(&target.post.id)) {
            (true, Some(own)) => own.clone(),
            _ => before.clone(),
        };
        if !open.contains_key(&target.post.id) {
            own::keep(&mut own, &old.effective(&before, platform), &plan.content, platform);
        }
        if own != before {
            own::write(tx, target.post.id, &own).await?;
        }
    }
    save(tx, &set, &plan).await?;
    let targets = refreshed(targets, &open);
    reply(act, tx, id, &targets).await.map(Some)
}

/// Returns the targets with the statuses that they had when they were locked, which say which of them are unchanged.
fn refreshed(targets: Vec<TargetRow>, open: &HashMap<PostId, post::Model>) -> Vec<TargetRow> {
    let of = |mut target: TargetRow| {
        if let Some(row) = open.get(&target.post.id) {
            target.post.status = row.status;
        }
        target
    };
    targets.into_iter().map(of).collect()
}

async fn save(tx: &Tx, set: &post_set::Model, plan: &Plan) -> Result<()> {
    let mut changed = post_set::ActiveModel {
        id: Unchanged(set.id),
        content: Set(serde_json::to_value(&plan.content).map_err(Error::internal)?),
        ..Default::default()
    };
    if let Some((at, zone)) = &plan.time {
        changed.scheduled_at = Set(Some(*at));
        if zone.is_some() {
            changed.timezone = Set(zone.clone());
        }
    }
    if let Some(group) = &plan.group {
        changed.group_key = Set(group.clone());
    }
    post_set::Entity::update(changed).exec(tx.conn()).await?;
    Ok(())
}

/// Returns the set as it would be.
fn dry_run(
    act: &Act,
    mut set: post_set::Model,
    mut targets: Vec<TargetRow>,
    plan: &Plan,
) -> Result<Reply<ChangedPostSet>> {
    let unchanged = targets.iter().filter_map(UnchangedTarget::of).collect();
    let old = content_of(&set)?;
    for target in &mut targets {
        let platform = crate::platforms::from_row(&target.post.platform)?;
        let mut own = target.own()?;
        if target.is_open() {
            own.clone_from(&plan.owns[&target.post.id]);
            if let Some((at, _)) = plan.time.as_ref().filter(|_| !target.own_time) {
                let distance = target.offset_ms.unwrap_or(0);
                target.post.scheduled_at = Some(at.saturating_add(distance));
            }
        } else {
            let before = old.effective(&own, platform);
            own::keep(&mut own, &before, &plan.content, platform);
        }
        target.overrides = serde_json::to_value(&own).map_err(Error::internal)?;
    }
    set.content = serde_json::to_value(&plan.content).map_err(Error::internal)?;
    if let Some((at, _)) = &plan.time {
        set.scheduled_at = Some(*at);
    }
    if let Some(group) = &plan.group {
        set.group_key.clone_from(group);
    }
    let post_set = view::shown(act, &set, targets)?;
    Ok(Reply::ok(&ChangedPostSet { dry_run: true, post_set, unchanged }).unchanged())
}
