//! Reads the caller's membership together with the resource of a request, in one round trip.

use std::sync::Arc;

use fanfare_entities::{
    BrandId, Millis, WorkspaceId, account, membership::Role, subscription::PlanTier,
};
use sea_orm::{ConnectionTrait, FromQueryResult, Value};

use super::{Caller, Membership};
use crate::{Domain, db::statement, error::Result};

/// Finds a workspace by its id. Each of these queries returns the workspace and the brand of the row with the id `$1`.
pub(super) const WORKSPACE: &str =
    "SELECT id AS workspace_id, CAST(NULL AS uuid) AS brand_id FROM workspaces WHERE id = $1";

/// Finds the personal workspace of a user.
pub(super) const PERSONAL: &str = "SELECT id AS workspace_id, CAST(NULL AS uuid) AS brand_id \
     FROM workspaces WHERE owner_id = $1 AND personal";

/// Finds a post.
pub(super) const POST: &str = "SELECT workspace_id, brand_id FROM posts WHERE id = $1";

/// Finds a post set, which has no brand of its own.
pub(super) const POST_SET: &str =
    "SELECT workspace_id, CAST(NULL AS uuid) AS brand_id FROM post_sets WHERE id = $1";

/// Finds a connected account. It selects the whole row, because requests that name an account need it next.
pub(super) const ACCOUNT: &str =
    "SELECT * FROM accounts WHERE id = $1 AND status <> 'disconnected'";

/// Finds a webhook. A webhook covers the whole workspace, so a membership that is locked to brands finds none.
pub(super) const WEBHOOK: &str =
    "SELECT workspace_id, CAST(NULL AS uuid) AS brand_id FROM webhooks WHERE id = $1";

/// Finds a connect session.
pub(super) const CONNECT_SESSION: &str =
    "SELECT workspace_id, brand_id FROM connect_sessions WHERE id = $1";

/// Finds a brand.
pub(super) const BRAND: &str = "SELECT workspace_id, id AS brand_id FROM brands WHERE id = $1";

/// Finds a conversation of the inbox.
pub(super) const CONVERSATION: &str = "SELECT c.workspace_id, a.brand_id FROM inbox_conversations c \
     JOIN accounts a ON a.id = c.account_id WHERE c.id = $1";

/// Finds a comment of the inbox.
pub(super) const COMMENT: &str = "SELECT c.workspace_id, a.brand_id FROM inbox_comments c \
     JOIN accounts a ON a.id = c.account_id WHERE c.id = $1";

/// A row of the query. There is one for each brand that the membership is locked to, or else one.
#[derive(FromQueryResult)]
struct Row {
    workspace_id: WorkspaceId,
    brand_id: Option<BrandId>,
    workspace_name: String,
    is_personal: bool,
    role: Role,
    timezone: String,
    deletion_at: Option<Millis>,
    plan_tier: Option<PlanTier>,
    api_addon: Option<bool>,
    active: Option<bool>,
    locked_to: Option<BrandId>,
}

/// Returns the caller's membership in the workspace that the query `place` finds, and the brand of the resource.
/// Returns `None` if there is no such resource, or if the caller is not in its workspace.
///
/// # Errors
/// The database's.
pub(super) async fn find(
    cx: &Domain,
    caller: &Caller,
    place: &str,
    id: impl Into<Value>,
) -> Result<Option<(Membership, Option<BrandId>)>> {
    let conn = &cx.db.read;
    let sql = format!(
        "SELECT place.*, m.role, w.name AS workspace_name, w.personal AS is_personal, w.timezone, w.deletion_at, s.plan_tier, s.api_addon, s.active, \
         l.brand_id AS locked_to FROM ({place}) AS place JOIN workspaces w ON w.id = place.workspace_id \
         JOIN memberships m ON m.workspace_id = place.workspace_id AND m.user_id = $2 \
         LEFT JOIN subscriptions s ON s.workspace_id = place.workspace_id \
         LEFT JOIN brand_locks l ON l.workspace_id = place.workspace_id AND l.user_id = $2"
    );
    let query = statement(conn, sql, [id.into(), caller.user_id.into()]);
    let found = conn.query_all_raw(query).await?;
    let account = match found.first().filter(|_| place == ACCOUNT) {
        Some(row) => Some(account::Model::from_query_result(row, "")?),
        None => None,
    };
    let rows: Vec<Row> =
        found.iter().map(|row| Row::from_query_result(row, "")).collect::<Result<_, _>>()?;
    let locks: Vec<BrandId> = rows.iter().filter_map(|row| row.locked_to).collect();
    let Some(row) = rows.into_iter().next() else { return Ok(None) };
    let brands = match caller.key_brand {
        None => (!locks.is_empty()).then_some(locks),
        // A key sees no more than its user does.
        Some(brand) if locks.is_empty() || locks.contains(&brand) => Some(vec![brand]),
        Some(_) => Some(Vec::new()),
    };
    let active = row.active.unwrap_or(false);
    let membership = Membership {
        workspace_id: row.workspace_id,
        workspace_name: row.workspace_name,
        is_personal: row.is_personal,
        role: row.role,
        plan: row.plan_tier.unwrap_or(PlanTier::Starter),
        api_addon: row.api_addon.unwrap_or(false),
        active,
        brands,
        timezone: row.timezone,
        deletion_at: row.deletion_at,
        account: account.map(Arc::new),
    };
    Ok(Some((membership, row.brand_id)))
}
