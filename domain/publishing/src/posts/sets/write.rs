//! Writes the targets of a set in one transaction.

use std::{collections::HashMap, sync::Arc};

use fanfare_core::{
    Act, Reply, Tx,
    error::{Code, Error, Result},
};
use fanfare_entities::{AccountId, Millis, PostSetId, post, post_set, post_set_target};
use fanfare_platforms::Warning;
use sea_orm::{ActiveModelTrait, ActiveValue::Set, EntityTrait, IntoActiveModel};

use super::{
    check::{self, Checked, Common},
    copies::{Copies, copied, copy_files, level_with_copies, with_copies},
    create::{Ask, Whole, refused},
    faults::{Faults, Source},
    input::Mode,
    levels::{Level, SetContent},
    replies::CreatedPostSet,
    rows::{TargetRow, lock, targets_of},
    settle,
    targets::{Target, TargetTime},
    view::PostSet,
};
use crate::posts::{
    create::Examined,
    duplicates,
    view::{Created, Reader},
    workspace::WorkspaceOfPost,
    write::{NewPostRow, write_rows},
};

/// The targets that are checked, what is wrong with the others, the accounts by target, and warnings about the set.
pub type Seen<'a> = (Vec<Checked>, &'a mut Faults, HashMap<usize, AccountId>, Vec<Warning>);

/// Copies the files of targets and writes these in one transaction; returns the reply, and the number of posts made.
///
/// # Errors
/// All faults, if they keep everything from being made.
pub async fn write(
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
    let reply =
        CreatedPostSet { outcome: Created::Created, post_set, refused, warnings, workspace };
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
            let gone = || Error::new(Code::PostSetNotFound, "There is no such post set.");
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

/// The content and the time that a target has of its own, as they are stored.
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

async fn complete(
    act: &Act,
    examined: Examined,
    copies: &Copies,
    workspace: WorkspaceOfPost,
) -> Result<NewPostRow> {
    let files = copied(&examined.content.media, copies)?;
    examined.complete(act, files, workspace).await
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
