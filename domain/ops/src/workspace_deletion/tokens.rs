//! Asks networks to revoke the access to the accounts of a workspace, and forgets the credentials.

use fanfare_core::{Domain, error::Result};
use fanfare_entities::{account, account::Column};
use fanfare_publishing::accounts::{Revocation, forget_credentials, revoke};
use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use super::held::Held;

/// The number of rounds in which a network is asked, at most.
pub(super) const ROUNDS: i32 = 5;

/// The number of accounts that are read together.
const BATCH: u64 = 50;

/// Revokes the access to all accounts that still have credentials. Returns true if networks have to be asked again.
///
/// # Errors
/// The database's; what was revoked stays so.
pub(super) async fn revoke_all(cx: &Domain, held: &mut Held) -> Result<bool> {
    let is_last_round = held.row.attempts + 1 >= ROUNDS;
    let (mut after, mut again) = (0_i64, false);
    loop {
        let some = with_credentials(cx, held, after).await?;
        let Some(last) = some.last() else { return Ok(again) };
        after = last.id.0;
        for row in some {
            let outcome = match Box::pin(revoke(cx, &row)).await? {
                Revocation::Later if !is_last_round => {
                    again = true;
                    continue;
                }
                outcome => outcome,
            };
            cx.failpoint.reach("deletion_revoked").await;
            let mut piece = held.begin(cx).await?;
            match outcome {
                Revocation::Done => piece.receipt.tokens.revoked += 1,
                Revocation::NoCall => piece.receipt.tokens.without_a_call += 1,
                Revocation::Refused | Revocation::Later => {
                    piece.receipt.add_not_revoked(row.id, &row.platform);
                }
            }
            let secrets = forget_credentials(cx, &piece.tx, &row).await?;
            piece.receipt.add_removed("secrets", secrets);
            held.finish(cx, piece).await?;
        }
    }
}

async fn with_credentials(cx: &Domain, held: &Held, after: i64) -> Result<Vec<account::Model>> {
    let has_some =
        Condition::any().add(Column::SecretId.is_not_null()).add(Column::RevokingId.is_not_null());
    let some = account::Entity::find()
        .filter(Column::WorkspaceId.eq(held.row.workspace_id))
        .filter(Column::Id.gt(after))
        .filter(has_some)
        .order_by_asc(Column::Id)
        .limit(BATCH);
    Ok(some.all(&cx.db.write).await?)
}
