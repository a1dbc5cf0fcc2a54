//! What operations have cost, added up for each customer of the caller.

use fanfare_core::{
    Act, Reply,
    clock::Time,
    error::Result,
    input,
    page::{self, Listed},
};
use fanfare_entities::{
    KeyId, WorkspaceId, credit_entry,
    credit_entry::{Column, EntryKind},
};
use schemars::JsonSchema;
use sea_orm::{
    ColumnTrait, EntityTrait, FromQueryResult, Order, QueryFilter, QueryOrder, QuerySelect, Select,
    TryGetable, sea_query::Expr,
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    payer,
    view::{seen_workspace, with_timeout},
};

/// The most sums of an answer.
const MOST: u64 = 500;

/// The operations to add up.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UsageQuery {
    /// What to make a sum for each of; `workspace` if left out.
    #[serde(default)]
    pub by: UsageBy,
    /// Only what was spent at this time or later; RFC 3339 with an offset. 30 days ago if left out.
    #[serde(default)]
    #[schemars(length(max = 100))]
    pub since: Option<String>,
    /// Only what was spent before this time; RFC 3339 with an offset.
    #[serde(default)]
    #[schemars(length(max = 100))]
    pub until: Option<String>,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

/// What there is a sum for each of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UsageBy {
    /// The workspaces of the operations.
    #[default]
    Workspace,
    /// The keys that they were asked for with.
    Key,
    /// The `reference` of the requests.
    Reference,
}

/// What operations have cost.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct CreditUsage {
    usage: Vec<UsageSum>,
    by: UsageBy,
    /// All of it, also what is beyond the 500 largest sums.
    total: i64,
    since: Time,
    /// The end of the time; null if it goes on.
    until: Option<Time>,
}

/// What the operations of one workspace, key or reference have cost, reserved credits included.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct UsageSum {
    /// The workspace, where it is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    workspace_id: Option<WorkspaceId>,
    /// The key, where it is asked for; absent for people at pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    key_id: Option<KeyId>,
    /// The reference, where it is asked for; absent for requests without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    reference: Option<String>,
    credits: i64,
}

#[derive(FromQueryResult)]
struct Total {
    credits: Option<i64>,
}

/// Adds up what operations have cost. The payer sees all of the wallet, everybody else the operations of the workspace.
///
/// # Errors
/// An invalid query, or [`fanfare_core::Code::WalletUnavailable`].
pub async fn usage(act: &Act, query: UsageQuery) -> Result<Reply<Listed<CreditUsage>>> {
    const MONTH: i64 = 30 * 24 * 3_600_000;
    let time = |field: &str, text: &Option<String>| {
        text.as_deref().map(|text| input::time(field, text, None)).transpose()
    };
    let since = time("since", &query.since)?.unwrap_or_else(|| act.cx.clock.now() - MONTH);
    let until = time("until", &query.until)?;
    let (usage, total, why) = with_timeout(async {
        let conn = &act.cx.db.read;
        let person = payer(conn, act.membership.workspace_id).await?;
        let mut lines = credit_entry::Entity::find()
            .filter(Column::UserId.eq(person))
            .filter(Column::Operation.is_not_null())
            .filter(Column::Kind.is_in([EntryKind::Reserve, EntryKind::Settle, EntryKind::Refund]));
        if let Some(workspace) = seen_workspace(act, person) {
            lines = lines.filter(Column::WorkspaceId.eq(workspace));
        }
        let all = lines.clone();
        lines = lines.filter(Column::CreatedAt.gte(since));
        if let Some(until) = until {
            lines = lines.filter(Column::CreatedAt.lt(until));
        }
        let total = lines.clone().select_only().column_as(spent(), "credits");
        let total = total.into_model::<Total>().one(conn).await?.and_then(|sum| sum.credits);
        let usage = match query.by {
            UsageBy::Workspace => {
                sums(act, lines, Column::WorkspaceId, |sum, id| sum.workspace_id = id).await?
            }
            UsageBy::Key => sums(act, lines, Column::KeyId, |sum, id| sum.key_id = id).await?,
            UsageBy::Reference => {
                sums(act, lines, Column::CallerReference, |sum, text| sum.reference = text).await?
            }
        };
        let why = page::why_empty(conn, (usage.is_empty(), false), all).await?;
        Ok((usage, total.unwrap_or_default(), why))
    })
    .await?;
    let until = until.map(Time);
    let usage = CreditUsage { usage, by: query.by, total, since: Time(since), until };
    Ok(Reply::ok(&Listed::new(usage, why)))
}

fn spent() -> Expr {
    Expr::cust("CAST(-SUM(amount) AS BIGINT)")
}

/// Returns a sum for each value of a column, the largest first.
async fn sums<K: TryGetable + Send + Sync>(
    act: &Act,
    lines: Select<credit_entry::Entity>,
    column: Column,
    name: impl Fn(&mut UsageSum, Option<K>),
) -> Result<Vec<UsageSum>> {
    let found: Vec<(Option<K>, i64)> = lines
        .select_only()
        .column(column)
        .column_as(spent(), "credits")
        .group_by(column)
        .order_by(Expr::cust("2"), Order::Desc)
        .limit(MOST)
        .into_tuple()
        .all(&act.cx.db.read)
        .await?;
    let named = |(key, credits): (Option<K>, i64)| {
        let mut sum = UsageSum { credits, ..UsageSum::default() };
        name(&mut sum, key);
        sum
    };
    Ok(found.into_iter().map(named).filter(|sum| sum.credits != 0).collect())
}
