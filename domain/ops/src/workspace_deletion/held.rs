//! A deletion that this worker holds: every change is written together with its receipt, under the fencing token.

use fanfare_core::{
    Domain,
    error::{Error, Result},
};
use fanfare_entities::{Millis, workspace_deletion, workspace_deletion::Column};
use sea_orm::{ActiveValue::Set, ColumnTrait, DatabaseTransaction, EntityTrait, QueryFilter};
use serde_json::Value;

use super::{receipt::Receipt, view::receipt_of};

/// A deletion that this worker holds.
#[derive(Debug)]
pub(super) struct Held {
    /// Its row at the claim.
    pub row: workspace_deletion::Model,
    /// What was removed so far.
    pub receipt: Receipt,
}

/// A change of a few rows, and the receipt with it.
pub(super) struct Piece {
    /// The transaction.
    pub tx: DatabaseTransaction,
    /// The receipt after it.
    pub receipt: Receipt,
}

impl Held {
    /// Returns the deletion whose row was claimed.
    pub fn of(row: workspace_deletion::Model) -> Result<Self> {
        let receipt = receipt_of(&row)?;
        Ok(Self { row, receipt })
    }

    /// Begins a change, which is made together with its note in the receipt.
    ///
    /// # Errors
    /// The database's.
    pub async fn begin(&self, cx: &Domain) -> Result<Piece> {
        Ok(Piece { tx: cx.db.begin().await?, receipt: self.receipt.clone() })
    }

    /// Ends a change: writes the receipt if it was changed, and commits.
    ///
    /// # Errors
    /// The database's; or the row was lost, and then nothing was changed.
    pub async fn finish(&mut self, cx: &Domain, piece: Piece) -> Result<()> {
        if piece.receipt != self.receipt {
            let noted = workspace_deletion::ActiveModel {
                receipt: Set(as_json(&piece.receipt)?),
                ..Default::default()
            };
            self.write(&piece.tx, noted, cx.clock.now()).await?;
        }
        piece.tx.commit().await?;
        self.receipt = piece.receipt;
        Ok(())
    }

    /// Writes columns of the row, if this worker still holds it.
    ///
    /// # Errors
    /// The row was lost, or the database's.
    pub async fn write(
        &self,
        tx: &DatabaseTransaction,
        change: workspace_deletion::ActiveModel,
        now: Millis,
    ) -> Result<()> {
        let change = workspace_deletion::ActiveModel { updated_at: Set(now), ..change };
        let written = workspace_deletion::Entity::update_many()
            .set(change)
            .filter(Column::Id.eq(self.row.id))
            .filter(Column::FencingToken.eq(self.row.fencing_token))
            .exec(tx)
            .await?;
        if written.rows_affected == 1 {
            return Ok(());
        }
        Err(Error::internal("another worker has taken the deletion"))
    }
}

/// Returns a receipt as the column has it.
pub(super) fn as_json(receipt: &Receipt) -> Result<Value> {
    serde_json::to_value(receipt).map_err(Error::internal)
}
