//! Table `post_attempts`.

use sea_orm::entity::prelude::*;

use crate::{Millis, PostId};

/// An attempt to publish a post. It is written before the first remote call.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "post_attempts")]
pub struct Model {
    /// The post.
    #[sea_orm(primary_key, auto_increment = false)]
    pub post_id: PostId,
    /// The number of the attempt, starting with 1.
    #[sea_orm(primary_key, auto_increment = false)]
    pub number: i32,
    /// The worker.
    pub worker: String,
    /// The time at which it began.
    pub started_at: Millis,
    /// The time at which it ended; null while it runs or after a crash.
    pub ended_at: Option<Millis>,
    /// `published`, `processing`, `retry`, `rate_limited`, `failed`, `outcome_unknown`, `cancelled`.
    pub outcome: Option<String>,
    /// The error.
    pub error: Option<Json>,
    /// The steps of the attempt: a list of `{name, phase, started_at, ended_at, remote_id}`.
    pub steps: Json,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
