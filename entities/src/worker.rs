//! Table `workers`.

use sea_orm::entity::prelude::*;

use crate::Millis;

/// A worker process, as of its last heartbeat.
#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "workers")]
pub struct Model {
    /// The name, which is unique among all workers.
    #[sea_orm(primary_key, auto_increment = false)]
    pub name: String,
    /// The host name.
    pub host: String,
    /// The process id on that host.
    pub pid: i64,
    /// Version of the service.
    pub version: String,
    /// The queues that it serves, separated by commas.
    pub queues: String,
    /// The number of posts that it can publish at the same time.
    pub slots: i32,
    /// The oldest running jobs: a list of `{kind, id, since}`.
    pub running: Json,
    /// The number of jobs it is running.
    pub running_count: i32,
    /// The time at which it started.
    pub started_at: Millis,
    /// The time of the last heartbeat.
    pub seen_at: Millis,
    /// The time at which it was drained. Null while it works.
    pub drain_at: Option<Millis>,
}

/// No relations, because joins are written in the queries that need them.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
