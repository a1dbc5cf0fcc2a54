//! Creates post sets: all targets are checked before anything is copied, and written in one transaction.

use std::collections::{BTreeSet, HashMap};

use fanfare_core::{
    Act, RefusalDetails, Reply,
    access::plan_name,
    error::{Code, Error, Result},
    limits,
};
use fanfare_entities::{AccountId, PostSetId, post_set};
use fanfare_platforms::{Violations, Warning};
use schemars::JsonSchema;

use super::{
    check::{self, Checked, Common},
    faults::Faults,
    input::{Mode, NewPostSet},
    levels::SetContent,
    replies::{CheckedPostSet, CheckedTarget, CreatedPostSet, PlannedTarget, RefusedTarget},
    targets::{self, Target},
    write::write,
};
use crate::posts::{
    create::{parse_time, with_timezone_fix},
    input::NewStatus,
    view,
    workspace::WorkspaceOfPost,
};

/// The outcome of a request to create a set, or to add targets to one.
#[derive(Debug)]
pub enum SetOutcome {
    /// It was only checked.
    Checked(Reply<CheckedPostSet>),
    /// It was written.
    Created(Reply<CreatedPostSet>),
}

/// The schema of the reply to a request to create a set.
#[derive(JsonSchema)]
#[schemars(untagged)]
pub enum SetReply {
    /// It was written.
    Created(Box<CreatedPostSet>),
    /// It was only checked.
    Checked(CheckedPostSet),
}

/// Creates a set, or only checks it (`dry_run`). `flaws` are the fields that could not be read.
///
/// # Errors
/// Everything that is wrong with it, in one error; nothing is written then.
pub async fn create(act: &Act, new: NewPostSet, flaws: Violations) -> Result<SetOutcome> {
    let now = act.cx.clock.now();
    let mut faults = Faults::default();
    faults.own.append(flaws);
    let is_draft = new.status == Some(NewStatus::Draft);
    let (time, broken) = parse_time(new.scheduled_at.as_deref(), new.timezone.as_deref(), now);
    faults.own.append(with_timezone_fix(act, broken, new.scheduled_at.as_deref()));
    let per_platform = check::read_per_platform(new.per_platform.clone(), &mut faults);
    let content = SetContent {
        shared: new.level(),
        per_platform: per_platform
            .into_iter()
            .filter_map(|(name, own)| Some((name, own?)))
            .collect(),
    };
    let targets = targets::expand(act, new.targets.clone(), &mut faults).await?;
    require_plan(act, targets.len())?;
    let id = PostSetId::fresh();
    let group =
        new.group.clone().filter(|group| !group.is_empty()).unwrap_or_else(|| id.to_string());
    let common = Common {
        content: &content,
        at: time,
        timezone: new.timezone.as_deref(),
        is_draft,
        group: &group,
        guard: new.duplicates.unwrap_or_default(),
        now,
    };
    let ask = Ask {
        mode: new.mode.unwrap_or_default(),
        dry_run: new.dry_run == Some(true),
        workspace: WorkspaceOfPost::of(&act.membership, new.workspace_id),
    };
    let set = post_set::Model {
        id,
        workspace_id: act.membership.workspace_id,
        created_by: act.caller.user_id,
        content: serde_json::Value::Null,
        group_key: group.clone(),
        scheduled_at: if is_draft { time } else { Some(time.unwrap_or(now)) },
        timezone: new.timezone.clone(),
        settlement: 0,
        settled_at: None,
        version: 1,
        created_at: now,
        updated_at: now,
    };
    make(act, (ask, common), (targets, faults), Whole::New(set)).await
}

/// The set that targets are made for.
pub(super) enum Whole {
    /// A new one.
    New(post_set::Model),
    /// One that has targets already, and its version when its content was read.
    Old(PostSetId, i64),
}

/// The way in which targets are made.
pub(super) struct Ask {
    /// The treatment of refused ones.
    pub mode: Mode,
    /// True if they are only to be checked.
    pub dry_run: bool,
    /// The workspace, as the reply shows it.
    pub workspace: WorkspaceOfPost,
}

/// Checks targets, copies their files, and writes them.
pub(super) async fn make(
    act: &Act,
    (ask, common): (Ask, Common<'_>),
    (targets, mut faults): (Vec<Target>, Faults),
    whole: Whole,
) -> Result<SetOutcome> {
    let accounts: HashMap<usize, AccountId> =
        targets.iter().map(|target| (target.index, target.account.id)).collect();
    let platforms = targets
        .iter()
        .map(|target| Ok((target.index, crate::platforms::from_row(&target.account.platform)?)))
        .collect::<Result<Vec<_>>>()?;
    let warnings = check::shared_keys(common.content, &platforms, &mut faults);
    let checked = check::check_all(act, common, targets, &mut faults).await?;
    refuse(&ask, &checked, &mut faults)?;
    if ask.dry_run {
        let seen = (checked, faults, accounts, warnings);
        return dry_run(act, ask, seen).await.map(SetOutcome::Checked);
    }
    let count = checked.len() as u64;
    let kept = limits::count_created_many(act, count, ask.mode == Mode::ValidOnly).await?;
    let mut checked = checked;
    for late in checked.split_off(usize::try_from(kept).unwrap_or(usize::MAX).min(checked.len())) {
        let code = Code::RateLimited;
        let message = "The limit on created posts has no room for this one.";
        let found = fanfare_core::error::violation(code, "", message, code.entry().remedy);
        faults.at_target(late.target.index, found);
    }
    let made = write(act, (&ask, common), (checked, &mut faults, accounts, warnings), whole).await;
    match made {
        Ok((reply, used)) => {
            limits::uncount_created_many(act, kept.saturating_sub(used)).await;
            Ok(SetOutcome::Created(reply))
        }
        Err(error) => {
            limits::uncount_created_many(act, kept).await;
            Err(error)
        }
    }
}

/// Fails if the faults keep everything from being made.
fn refuse(ask: &Ask, checked: &[Checked], faults: &mut Faults) -> Result<()> {
    let only_own = ask.mode == Mode::ValidOnly && (!checked.is_empty() || ask.dry_run);
    if faults.own.is_empty() && (only_own || faults.is_empty()) {
        return Ok(());
    }
    let count = checked.iter().map(|one| one.target.index).collect::<BTreeSet<_>>();
    let valid = if faults.own.is_empty() { count.len() } else { 0 };
    std::mem::take(faults).check(false).map_err(|error| match error.code() {
        Code::TargetsRefused => error.with_valid_targets(valid),
        _ => error,
    })
}

/// Returns the refused targets, as the reply lists them.
pub(super) fn refused(faults: &Faults, accounts: &HashMap<usize, AccountId>) -> Vec<RefusedTarget> {
    let of = |index: usize| {
        let error = faults.error_of(index)?;
        Some(RefusedTarget {
            index,
            account_id: accounts.get(&index).copied(),
            status: error.status,
            code: error.code,
            error: error.error,
            validation_errors: error.validation_errors,
        })
    };
    faults.refused().filter_map(of).collect()
}

async fn dry_run(
    act: &Act,
    ask: Ask,
    (checked, faults, accounts, mut warnings): (
        Vec<Checked>,
        Faults,
        HashMap<usize, AccountId>,
        Vec<Warning>,
    ),
) -> Result<Reply<CheckedPostSet>> {
    let refused = refused(&faults, &accounts);
    let mut targets = Vec::with_capacity(checked.len());
    for one in checked {
        let (examined, compared) = (&one.examined, &one.compared);
        let forecast = examined.forecast(act, compared.place.at, &one.similar).await?;
        let mut own = examined.warnings().await?;
        own.extend(compared.warnings(act, &examined.account, &one.similar));
        let username = one.examined.account.username.clone();
        let post = PlannedTarget::of(one.examined.filled()?, username, &one.from);
        let index = one.target.index;
        targets.push(CheckedTarget {
            index,
            valid: true,
            post,
            from: one.from,
            warnings: own,
            forecast,
        });
    }
    warnings.dedup();
    let valid = refused.is_empty();
    let workspace = ask.workspace;
    let view = CheckedPostSet {
        outcome: view::Checked::Checked,
        dry_run: true,
        valid,
        targets,
        refused,
        warnings,
        workspace,
    };
    Ok(Reply::ok(&view).unchanged())
}

/// Fails if the plan of the workspace has fewer targets for a set.
///
/// # Errors
/// [`Code::PlanLimit`].
pub(super) fn require_plan(act: &Act, count: usize) -> Result<()> {
    let plan = act.membership.plan;
    let plans = &fanfare_people::settings(&act.cx).plans;
    let most = plans.plan(plan).map_or(targets::MAX_TARGETS, |plan| plan.targets as usize);
    if count <= most {
        return Ok(());
    }
    let name = plan_name(plan);
    let message =
        format!("The plan {name} has sets of up to {most} targets; this one has {count}.");
    Err(Error::new(Code::PlanLimit, message).with_details(RefusalDetails {
        limit: Some(most as u64),
        plan: Some(name),
        remedy: Some("Make several sets, or move to a larger plan.".to_owned()),
        ..RefusalDetails::default()
    }))
}
