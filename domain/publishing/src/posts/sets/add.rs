//! Adds targets to a set.

use fanfare_core::{
    Act,
    error::{Code, Error, Result, violation},
};
use fanfare_entities::PostSetId;
use fanfare_platforms::Violations;

use super::{
    check::Common,
    create::{Ask, SetOutcome, Whole, make, require_plan},
    faults::Faults,
    input::NewTargets,
    read::find,
    rows::content_of,
    status::SetStatus,
    targets::{self, MAX_TARGETS, TargetTime},
};
use crate::posts::{duplicates::Guard, workspace::WorkspaceOfPost};

/// Adds targets with the content of a set, or only checks them (`dry_run`). Without a time of their own they go out at that
/// of the set, which has to be ahead.
///
/// # Errors
/// Everything that is wrong with them, in one error; nothing is written then.
pub async fn add_targets(
    act: &Act,
    id: PostSetId,
    new: NewTargets,
    flaws: Violations,
) -> Result<SetOutcome> {
    let now = act.cx.clock.now();
    let (set, known) = find(act, &act.cx.db.read, id).await?;
    let mut faults = Faults::default();
    faults.own.append(flaws);
    let targets = targets::expand(act, new.targets.clone(), &mut faults).await?;
    require_plan(act, targets.len() + known.len())?;
    if targets.len() + known.len() > MAX_TARGETS {
        let message = format!(
            "The set has {} targets, and these are {} more; {MAX_TARGETS} are allowed.",
            known.len(),
            targets.len()
        );
        let remedy = "Make another set for them.";
        let broken = violation(Code::InvalidField, "targets", message, remedy);
        faults.own.push(broken.with_limit(MAX_TARGETS, targets.len() + known.len()));
    }
    let at = set.scheduled_at.filter(|at| *at > now);
    let statuses: Vec<_> = known.iter().map(|one| one.post.status).collect();
    let is_draft = SetStatus::of(&statuses) == SetStatus::Draft;
    for target in &targets {
        if known.iter().any(|one| one.post.account_id == target.account.id) {
            let message = "The set has a target on this account already.";
            let remedy = "Change that target, or leave this one out.";
            let found = violation(Code::DuplicateTarget, "account_id", message, remedy);
            faults.at_target(target.index, found);
        }
        if at.is_none() && !is_draft && !matches!(target.time, TargetTime::Own(_)) {
            let message = "The time of the set has passed, so a new target needs its own.";
            let remedy = "Send scheduled_at; the present time publishes it now.";
            let found = violation(Code::FieldRequired, "scheduled_at", message, remedy);
            faults.at_target(target.index, found);
        }
    }
    let content = content_of(&set)?;
    let common = Common {
        content: &content,
        at,
        timezone: set.timezone.as_deref(),
        is_draft,
        group: &set.group_key,
        guard: Guard::default(),
        now,
    };
    let ask = Ask {
        mode: new.mode.unwrap_or_default(),
        dry_run: new.dry_run == Some(true),
        workspace: WorkspaceOfPost::of(&act.membership, None),
    };
    if known.is_empty() {
        return Err(Error::new(Code::PostSetNotFound, "There is no such post set."));
    }
    make(act, (ask, common), (targets, faults), Whole::Old(id, set.version)).await
}
