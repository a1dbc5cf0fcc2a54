//! Table `letters`.

use sea_orm::entity::prelude::*;

use crate::{LetterId, Millis, SecretId, UserId};

/// The progress of a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))", rename_all = "snake_case")]
pub enum LetterStatus {
    /// Not sent yet.
    Pending,
    /// The mail server has it.
    Sent,
    /// It could not be sent.
    Failed,
    /// The letter has no recipient any more.
    Dropped,
}

/// A letter, and the work of sending it. What it says and to whom is encrypted.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "letters")]
pub struct Model {
    /// Its id as work.
    #[sea_orm(primary_key)]
    pub id: LetterId,
    /// The base of its `Message-ID`.
    pub uid: Uuid,
    /// Its subject matter; there is one letter for each.
    pub dedup_key: String,
    /// To whom and what, sealed; null once it is wiped.
    pub secret_id: Option<SecretId>,
    /// The person it is for, once known.
    pub user_id: Option<UserId>,
    /// Its progress.
    pub status: LetterStatus,
    /// The time at which there is something to do; the end of the lease while a worker holds the row; null: nothing to
    /// do.
    pub due_at: Option<Millis>,
    /// Raised by every claim and finish: a holder of an older number has lost the row.
    pub fencing_token: i64,
    /// Failed tries so far.
    pub attempts: i32,
    /// Leases in a row that ended without a result.
    pub lease_expirations: i32,
    /// The reason the last try failed.
    pub last_error: Option<String>,
    /// The time at which it was made.
    pub created_at: Millis,
    /// The time at which it was last changed.
    pub updated_at: Millis,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
