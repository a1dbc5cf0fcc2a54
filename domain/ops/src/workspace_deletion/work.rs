//! The work of a deletion. It may stop anywhere, and goes on from there: no step needs what an earlier one removed.

use fanfare_core::{
    Domain, Tx, durable,
    error::{Error, Result},
};
use fanfare_entities::{Millis, workspace_deletion, workspace_deletion::DeletionState};
use fanfare_jobs::JobKind;
use fanfare_publishing::posts::leaving;
use sea_orm::ActiveValue::Set;

use super::{
    files,
    held::{Held, as_json},
    rows, tokens,
};

const MINUTE: Millis = 60_000;

/// The time after the end at which the tables are looked through once more, for what was still being written then.
const LAST_LOOK: Millis = 10 * MINUTE;

/// The most times that all tables are gone through in one turn; somebody may still write while the first one runs.
const PASSES: u32 = 5;

/// Claims a deletion if there is something to do.
///
/// # Errors
/// The database's.
pub async fn claim(
    cx: &Domain,
    holder: &str,
    id: i64,
) -> Result<Option<workspace_deletion::Model>> {
    let now = (holder, cx.clock.now());
    let taken = durable::claim(&cx.db.write, JobKind::DeleteWorkspace, &[id], now).await?;
    Ok(taken.into_iter().next())
}

/// Goes on with a claimed deletion, and gives it back until the next time.
///
/// # Errors
/// The database's or the store's; then the lease expires, and another worker goes on.
pub async fn run(cx: &Domain, row: workspace_deletion::Model) -> Result<()> {
    let held = Held::of(row)?;
    // Each of them is large, so none is part of the others' place on the stack.
    match held.row.state {
        DeletionState::Waiting if cx.clock.now() < held.row.ends_at => {
            Box::pin(pause(cx, &held)).await
        }
        DeletionState::Waiting => Box::pin(begin(cx, held)).await,
        DeletionState::Deleting => Box::pin(remove(cx, held)).await,
        DeletionState::Done => Box::pin(look_again(cx, held)).await,
        DeletionState::Stopped => Box::pin(resume(cx, &held)).await,
    }
}

/// Leaves a deletion alone for an hour whose workers have ended again and again.
///
/// # Errors
/// The database's.
pub async fn put_off(cx: &Domain, row: workspace_deletion::Model) -> Result<()> {
    let held = Held::of(row)?;
    give_back(cx, &held, Some(cx.clock.now() + 60 * MINUTE)).await
}

/// Pauses the posts of a workspace, and waits for the end of the grace.
async fn pause(cx: &Domain, held: &Held) -> Result<()> {
    loop {
        let mut tx = Tx::begin(cx).await?;
        let has_more = Box::pin(leaving::pause_some(&mut tx, held.row.workspace_id)).await?;
        tx.commit().await?;
        if !has_more {
            break;
        }
    }
    give_back(cx, held, Some(held.row.ends_at)).await
}

/// Schedules the posts of a workspace again whose deletion was stopped.
async fn resume(cx: &Domain, held: &Held) -> Result<()> {
    loop {
        let mut tx = Tx::begin(cx).await?;
        let has_more = Box::pin(leaving::resume_some(&mut tx, held.row.workspace_id)).await?;
        tx.commit().await?;
        if !has_more {
            return give_back(cx, held, None).await;
        }
    }
}

/// Makes the deletion one that nothing stops, and begins it.
async fn begin(cx: &Domain, mut held: Held) -> Result<()> {
    let tx = cx.db.begin().await?;
    let begun = workspace_deletion::ActiveModel {
        state: Set(DeletionState::Deleting),
        ..Default::default()
    };
    held.write(&tx, begun, cx.clock.now()).await?;
    tx.commit().await?;
    held.row.state = DeletionState::Deleting;
    cx.failpoint.reach("deletion_begun").await;
    tracing::info!(deletion.id = %held.row.uid, workspace.id = %held.row.workspace_id, "a workspace is being deleted");
    Box::pin(remove(cx, held)).await
}

/// Removes everything, until a look at all tables finds nothing.
async fn remove(cx: &Domain, mut held: Held) -> Result<()> {
    let asks_again = Box::pin(tokens::revoke_all(cx, &mut held)).await?;
    for _ in 0..PASSES {
        let files = Box::pin(files::remove_all(cx, &mut held)).await?;
        let rows = Box::pin(rows::remove_all(cx, &mut held, asks_again)).await?;
        if files + rows > 0 {
            continue;
        }
        if asks_again {
            return ask_later(cx, &held).await;
        }
        return end(cx, held).await;
    }
    give_back(cx, &held, Some(cx.clock.now() + MINUTE)).await
}

/// Waits until networks can be asked again to revoke what they did not, each time for longer.
async fn ask_later(cx: &Domain, held: &Held) -> Result<()> {
    let tx = cx.db.begin().await?;
    let now = cx.clock.now();
    let attempts = held.row.attempts.saturating_add(1);
    let later = workspace_deletion::ActiveModel {
        attempts: Set(attempts),
        lease_expirations: Set(0),
        due_at: Set(Some(now + (MINUTE << attempts.clamp(0, 8).unsigned_abs()))),
        fencing_token: Set(held.row.fencing_token + 1),
        ..Default::default()
    };
    held.write(&tx, later, now).await?;
    Ok(tx.commit().await?)
}

/// Removes the workspace itself. What is left is the receipt.
async fn end(cx: &Domain, mut held: Held) -> Result<()> {
    let now = cx.clock.now();
    let mut piece = held.begin(cx).await?;
    for (table, gone) in rows::remove_workspace(&piece.tx, held.row.workspace_id).await? {
        piece.receipt.add_removed(table, gone);
    }
    let done = workspace_deletion::ActiveModel {
        state: Set(DeletionState::Done),
        receipt: Set(as_json(&piece.receipt)?),
        ended_at: Set(Some(now)),
        lease_expirations: Set(0),
        due_at: Set(Some(now + LAST_LOOK)),
        fencing_token: Set(held.row.fencing_token + 1),
        ..Default::default()
    };
    held.write(&piece.tx, done, now).await?;
    piece.tx.commit().await?;
    held.receipt = piece.receipt;
    tracing::info!(deletion.id = %held.row.uid, workspace.id = %held.row.workspace_id, files = held.receipt.files, "a workspace is deleted");
    Ok(())
}

/// Removes what was still being written when everything else was removed.
async fn look_again(cx: &Domain, mut held: Held) -> Result<()> {
    Box::pin(files::remove_all(cx, &mut held)).await?;
    Box::pin(rows::remove_all(cx, &mut held, false)).await?;
    give_back(cx, &held, None).await
}

async fn give_back(cx: &Domain, held: &Held, due_at: Option<Millis>) -> Result<()> {
    let tx = cx.db.begin().await?;
    let given = workspace_deletion::ActiveModel {
        due_at: Set(due_at),
        lease_expirations: Set(0),
        fencing_token: Set(held.row.fencing_token + 1),
        ..Default::default()
    };
    held.write(&tx, given, cx.clock.now()).await?;
    tx.commit().await.map_err(Error::from)
}
