//! Table `workers`.

use sea_orm::entity::prelude::*;

use crate::Millis;

/// A worker process, as its last heartbeat described it.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "workers")]
pub struct Model {
    /// Unique in the fleet.
    #[sea_orm(primary_key, auto_increment = false)]
    pub name: String,
    /// Machine it runs on.
    pub host: String,
    /// Process id there.
    pub pid: i64,
    /// Version of the service.
    pub version: String,
    /// Queues it serves, separated by commas.
    pub queues: String,
    /// Posts it publishes at once.
    pub slots: i32,
    /// The oldest of its running work: list of `{kind, id, since}`.
    pub running: Json,
    /// The number of jobs it is running.
    pub running_count: i32,
    /// The time at which it started.
    pub started_at: Millis,
    /// Its last heartbeat.
    pub seen_at: Millis,
    /// The time at which it was drained; null: it works.
    pub drain_at: Option<Millis>,
}

/// No relations: joins are written where they are needed.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
