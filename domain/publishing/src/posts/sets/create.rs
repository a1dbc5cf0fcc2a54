//! Creates post sets: all targets are checked before anything is copied, and written in one transaction.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use fanfare_core::{
    Act, RefusalDetails, Reply, Tx,
    access::plan_name,
    error::{Code, Error, Result},
    limits,
};
use fanfare_entities::{AccountId, Millis, PostSetId, post, post_set, post_set_target};
use fanfare_platforms::{Violations, Warning};
use futures_util::future;
use schemars::JsonSchema;
use sea_orm::{ActiveModelTrait, ActiveValue::Set, EntityTrait, IntoActiveModel};

use super::{
    check::{self, Checked, Common},
    faults::{Faults, Source},
    input::{Mode, NewPostSet},
    levels::{Level, SetContent},
    rows::{TargetRow, lock, targets_of},
    settle,
    targets::{self, Target, TargetTime},
    view::{CheckedPostSet, CheckedTarget, CreatedPostSet, PlannedTarget, PostSet, RefusedTarget},
};
use crate::posts::{
    create::{Examined, parse_time, with_timezone_fix},
    duplicates,
    input::NewStatus,
    media,
    view::{PostMedia, Reader},
    workspace::WorkspaceOfPost,
    write::{NewPostRow, write_rows},
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

/// How targets are made.
pub(super) struct Ask {
    /// What becomes of refused ones.
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
    let count =
        checked.iter().map(|one| one.target.index).collect::<std::collections::BTreeSet<_>>();
    let valid = if faults.own.is_empty() { count.len() } else { 0 };
    std::mem::take(faults).check(false).map_err(|error| match error.code() {
        Code::TargetsRefused => error.with_valid_targets(valid),
        _ => error,
    })
}

/// The targets that are checked, what is wrong with the others, the accounts by target, and warnings about the set.
type Seen<'a> = (Vec<Checked>, &'a mut Faults, HashMap<usize, AccountId>, Vec<Warning>);

async fn write(
    act: &Act,
    (ask, common): (&Ask, Common<'_>),
    (checked, faults, accounts, mut warnings): Seen<'_>,
    whole: Whole,
) -> Result<(Reply<CreatedPostSet>, u64)> {
    let copies = copy_files(act, &checked).await?;
    let mut made = Vec::with_capacity(checked.len());
    for one in checked {
        let Checked { target, examined, from, mut compared, similar } = one;
        let account = examined.account.clone();
        let completed = complete(act, examined, &copies, ask.workspace.clone()).await;
        let source = Source {
            index: target.index,
            platform: &account.platform,
            from: &from,
            own_time: target.time != TargetTime::Shared,
        };
        match completed {
            Ok(mut new) => {
                compared.follow_copies(act, &new.row).await?;
                new.once = compared.once();
                new.warnings.extend(compared.warnings(act, &account, &similar));
                warnings.extend(placed(&new.warnings, target.index));
                made.push((target.index, new, stored_target(&target, &copies)));
            }
            Err(error) => faults.of_target(act, (source, Some(&account)), error)?,
        }
    }
    let content = with_copies(common.content, &copies);
    let mut tx = act.begin().await?;
    let (id, first_place) = open(&mut tx, whole, &content).await?;
    compare_again(act, &tx, &mut made, faults).await?;
    let valid = made.len();
    if (ask.mode == Mode::AllOrNothing && !faults.is_empty()) || made.is_empty() {
        std::mem::take(faults).check(false).map_err(|error| error.with_valid_targets(valid))?;
        return Err(Error::internal("no target was made, and none was refused"));
    }
    let refused = refused(faults, &accounts);
    let (mut news, mut owns) = (Vec::with_capacity(valid), Vec::with_capacity(valid));
    for (_, mut new, own) in made {
        new.row.post_set_id = Some(id);
        news.push(Arc::new(new));
        owns.push(own);
    }
    let made = write_rows(&mut tx, &news, "").await?;
    write_targets(&tx, (id, first_place), &made, owns).await?;
    let (set, targets) = announce(act, &mut tx, id, first_place > 0).await?;
    let post_set = PostSet::of(&set, targets, &Reader::of(act))?;
    let workspace = ask.workspace.clone();
    let reply = CreatedPostSet { post_set, refused, warnings, workspace };
    let reply = Reply::ok(&reply).with_status(201);
    Ok((act.finish(tx, reply).await?, valid as u64))
}

/// Compares the targets again that must not repeat a post of their account, in the transaction that writes them, with
/// their accounts locked. Those that do are taken out and added to the faults.
async fn compare_again(
    act: &Act,
    tx: &Tx,
    made: &mut Vec<(usize, NewPostRow, StoredTarget)>,
    faults: &mut Faults,
) -> Result<()> {
    let guarded = made.iter().filter(|(_, new, _)| new.once.is_some());
    let mut accounts: Vec<AccountId> = guarded.map(|(_, new, _)| new.row.account_id).collect();
    accounts.sort_unstable();
    for account in accounts {
        duplicates::lock_account(tx.conn(), account).await?;
    }
    for (index, new, _) in made.iter() {
        if let Some(once) = &new.once {
            let similar = duplicates::find(tx.conn(), &once.place, &once.print).await?;
            check::refuse_similar(act, *index, &similar, faults);
        }
    }
    made.retain(|(index, ..)| !faults.has(*index));
    Ok(())
}

/// Writes a new set, or locks the old one. Returns its id, and the place of the next target.
async fn open(tx: &mut Tx, whole: Whole, content: &SetContent) -> Result<(PostSetId, i32)> {
    match whole {
        Whole::New(set) => {
            let id = set.id;
            let content = serde_json::to_value(content).map_err(Error::internal)?;
            let row = post_set::Model { content, ..set };
            row.into_active_model().insert(tx.conn()).await?;
            Ok((id, 0))
        }
        Whole::Old(id, version) => {
            let gone = || Error::new(Code::PostSetNotFound, format!("There is no post set {id}."));
            let set = lock(tx.conn(), id).await?.ok_or_else(gone)?;
            if set.version != version {
                return Err(Error::conflict());
            }
            let known = targets_of(tx.conn(), &[id], None).await?.remove(&id).unwrap_or_default();
            let next = post_set_target::Entity::find_by_id(
                known.last().map(|last| last.post.id).ok_or_else(gone)?,
            );
            let next = next.one(tx.conn()).await?.map_or(0, |last| last.place + 1);
            Ok((id, next))
        }
    }
}

/// Emits the event of the set, after those of its posts, and returns the set as it is.
async fn announce(
    act: &Act,
    tx: &mut Tx,
    id: PostSetId,
    is_old: bool,
) -> Result<(post_set::Model, Vec<TargetRow>)> {
    let gone = || Error::internal("a set that was written is not there");
    if is_old {
        return settle::changed_by_caller(act, tx, id).await?.ok_or_else(gone);
    }
    let set = post_set::Entity::find_by_id(id).one(tx.conn()).await?.ok_or_else(gone)?;
    let targets = targets_of(tx.conn(), &[id], None).await?.remove(&id).unwrap_or_default();
    let request = Some(act.request_id.clone());
    let event = settle::event(tx, "post_set.created", (&set, &targets), request)?;
    tx.emit(event);
    Ok((set, targets))
}

/// What a target has of its own, as it is stored.
struct StoredTarget {
    overrides: Level,
    own_time: bool,
    offset_ms: Option<Millis>,
}

fn stored_target(target: &Target, copies: &Copies) -> StoredTarget {
    StoredTarget {
        overrides: level_with_copies(&target.own, copies),
        own_time: matches!(target.time, TargetTime::Own(_)),
        offset_ms: match target.time {
            TargetTime::After(distance) => Some(distance),
            TargetTime::Own(_) | TargetTime::Shared => None,
        },
    }
}

async fn write_targets(
    tx: &Tx,
    (id, first_place): (PostSetId, i32),
    made: &[post::Model],
    owns: Vec<StoredTarget>,
) -> Result<()> {
    let mut rows = Vec::with_capacity(made.len());
    for ((row, own), place) in made.iter().zip(owns).zip(first_place..) {
        rows.push(post_set_target::ActiveModel {
            post_id: Set(row.id),
            set_id: Set(id),
            place: Set(place),
            overrides: Set(serde_json::to_value(&own.overrides).map_err(Error::internal)?),
            own_time: Set(own.own_time),
            offset_ms: Set(own.offset_ms),
        });
    }
    post_set_target::Entity::insert_many(rows).exec_without_returning(tx.conn()).await?;
    Ok(())
}

/// The copies of remote files by their addresses: each is fetched once, however many targets use it.
pub(super) type Copies = BTreeMap<String, Result<PostMedia>>;

async fn copy_files(act: &Act, checked: &[Checked]) -> Result<Copies> {
    let files = checked.iter().flat_map(|one| &one.examined.content.media).cloned();
    copy_once(act, files.collect()).await
}

/// Copies each of these files that is not ours yet.
///
/// # Errors
/// An error that is not about a file, such as a copy that takes longer than a request may.
pub(super) async fn copy_once(act: &Act, files: Vec<PostMedia>) -> Result<Copies> {
    let remote = files.into_iter().filter(|file| file.path.is_none());
    let remote: BTreeMap<String, PostMedia> = remote.map(|file| (file.url.clone(), file)).collect();
    let copies = remote.into_iter().map(|(url, file)| async move {
        let copied = media::copy_remote(act, vec![file]).await;
        let copied = copied.and_then(|mut one| {
            one.pop().ok_or_else(|| Error::internal("a copied file is missing"))
        });
        (url, copied)
    });
    let copies: Copies = future::join_all(copies).await.into_iter().collect();
    for error in copies.values().filter_map(|copy| copy.as_ref().err()) {
        if error.violations().is_empty() {
            return Err(error.clone());
        }
    }
    Ok(copies)
}

/// Replaces files by their copies.
///
/// # Errors
/// Why a file could not be copied.
pub(super) fn copied(files: &[PostMedia], copies: &Copies) -> Result<Vec<PostMedia>> {
    let copy = |file: &PostMedia| match copies.get(&file.url) {
        Some(copy) => copy.clone(),
        None => Ok(file.clone()),
    };
    files.iter().map(copy).collect()
}

async fn complete(
    act: &Act,
    examined: Examined,
    copies: &Copies,
    workspace: WorkspaceOfPost,
) -> Result<NewPostRow> {
    let files = copied(&examined.content.media, copies)?;
    examined.complete(act, files, workspace).await
}

/// Returns the content with the addresses of copies in place of those they were made from.
pub(super) fn with_copies(content: &SetContent, copies: &Copies) -> SetContent {
    let per_platform = content.per_platform.iter();
    SetContent {
        shared: level_with_copies(&content.shared, copies),
        per_platform: per_platform
            .map(|(name, level)| (name.clone(), level_with_copies(level, copies)))
            .collect(),
    }
}

pub(super) fn level_with_copies(level: &Level, copies: &Copies) -> Level {
    let mut level = level.clone();
    for url in level.media_urls.iter_mut().flatten().flatten() {
        if let Some(Ok(copy)) = copies.get(url) {
            url.clone_from(&copy.url);
        }
    }
    level
}

/// Returns the warnings of a target as those of the set.
fn placed(warnings: &[Warning], index: usize) -> Vec<Warning> {
    let at_target = |warning: &Warning| {
        let mut warning = warning.clone();
        warning.field = format!("targets[{index}].{}", warning.field);
        warning.targets = Some(vec![index]);
        warning
    };
    warnings.iter().map(at_target).collect()
}

fn refused(faults: &Faults, accounts: &HashMap<usize, AccountId>) -> Vec<RefusedTarget> {
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
    let view = CheckedPostSet { dry_run: true, valid, targets, refused, warnings, workspace };
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
