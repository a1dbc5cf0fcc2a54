//! Table `letters`.

use sea_orm::entity::prelude::*;

use crate::{LetterId, Millis, SecretId, UserId};

/// The status of an e-mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(16))", rename_all = "snake_case")]
pub enum LetterStatus {
    /// Not sent yet.
    Pending,
    /// The mail server accepted it.
    Sent,
    /// It could not be sent.
    Failed,
    /// The e-mail no longer has a recipient.
    Dropped,
}

/// An e-mail, and the state of the job that sends it. Its content and recipient are encrypted.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "letters")]
pub struct Model {
    /// The id, which the job queue uses too.
    #[sea_orm(primary_key)]
    pub id: LetterId,
    /// The base of its `Message-ID`.
    pub uid: Uuid,
    /// The subject of the e-mail. There is one e-mail for each subject.
    pub dedup_key: String,
    /// The encrypted recipient and content. Null after they were deleted.
    pub secret_id: Option<SecretId>,
    /// The person it is for, once known.
    pub user_id: Option<UserId>,
    /// The status.
    pub status: LetterStatus,
    /// The time at which the row is due or, while a worker holds it, the end of the lease. Null if there is nothing to
    /// do.
    pub due_at: Option<Millis>,
    /// Increased by every claim and finish. A worker with an older number has lost the row.
    pub fencing_token: i64,
    /// The number of failed attempts.
    pub attempts: i32,
    /// The number of consecutive leases that expired without a result.
    pub lease_expirations: i32,
    /// The reason the last try failed.
    pub last_error: Option<String>,
    /// The time of creation.
    pub created_at: Millis,
    /// The time of the last change.
    pub updated_at: Millis,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
