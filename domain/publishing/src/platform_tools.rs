//! Helper tools of networks: what a user wants to know before writing a post, such as the boards of an account.

use std::time::Duration;

use chrono::{Datelike, Months, NaiveTime, Utc};
use fanfare_core::{
    Act, Reply,
    access::PlanTier,
    clock::{Time, date},
    db::statement,
    error::{Code, Error, Result},
};
use fanfare_entities::{AccountId, Millis};
use fanfare_platforms::{self as platforms, PLANNED, PlatformId};
use schemars::JsonSchema;
use sea_orm::ConnectionTrait;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::accounts;

/// The longest time that a network may take to answer while a caller waits.
const TOOL_TIMEOUT: Duration = Duration::from_secs(10);

/// The tool that is answered from our own database.
const QUOTA_TOOL: &str = "x.quota";

/// The number of posts that a post with a link counts as on X.
const LINK_COST: i64 = 13;

/// A helper tool to run.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HelperRequest {
    /// The tool, as `helper_tools` of `GET /api/v1/platforms` names it, for example `pinterest.boards`.
    #[schemars(length(max = 100))]
    pub tool: String,
    /// The account to ask for; every tool but `x.quota` needs one.
    #[serde(default)]
    #[schemars(schema_with = "fanfare_core::input::optional_id_schema")]
    pub account_id: Option<Value>,
    /// The other arguments of the tool.
    #[serde(default)]
    pub input: Map<String, Value>,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

/// Runs a helper tool.
///
/// # Errors
/// [`Code::ToolNotFound`], [`Code::AccountNotFound`], or the network's error.
pub async fn trigger(act: &Act, trigger: HelperRequest) -> Result<Reply<HelperResult>> {
    let tool = trigger.tool.as_str();
    let platform = platform_of_tool(tool)?;
    if tool == QUOTA_TOOL {
        let result = quota(act).await?;
        return Ok(HelperResult::reply(trigger.tool, None, json!(result)));
    }
    let id = account_id(trigger.account_id.as_ref())?;
    let row = accounts::find(act, id).await?;
    if row.platform != platform.as_str() {
        let message = format!("Account {id} is on {}, and {tool} is for {platform}.", row.platform);
        return Err(Error::field(
            Code::InvalidField,
            "account_id",
            message,
            "Name an account of that platform.",
        ));
    }
    let disconnected = || {
        let message = format!("{platform} no longer accepts the account's credentials.");
        Error::new(Code::InvalidCredentials, message)
    };
    let session = accounts::session(&act.cx, &row).await?.ok_or_else(disconnected)?;
    let unknown = || Error::new(Code::ToolNotFound, format!("There is no tool called {tool:?}."));
    let tools = platforms::find(platform).tools().ok_or_else(unknown)?;
    let asked = tools.run(&session, tool, &trigger.input);
    let answer = tokio::time::timeout(TOOL_TIMEOUT, asked).await;
    let answer = answer.unwrap_or_else(|_| Err(accounts::timed_out(platform, TOOL_TIMEOUT)));
    let result = answer.map_err(|error| accounts::connect_error(platform, error))?;
    Ok(HelperResult::reply(trigger.tool, Some(row.id), result))
}

/// The result of a helper tool.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HelperResult {
    tool: String,
    /// The account that the tool was run for.
    account_id: Option<AccountId>,
    /// The answer of the tool.
    #[schemars(with = "Map<String, Value>")]
    result: Value,
}

impl HelperResult {
    fn reply(tool: String, account_id: Option<AccountId>, result: Value) -> Reply<Self> {
        Reply::ok(&Self { tool, account_id, result }).unchanged()
    }
}

/// Returns the network whose descriptor lists the tool.
fn platform_of_tool(tool: &str) -> Result<PlatformId> {
    let all = platforms::all().iter().map(|platform| platform.spec());
    if let Some(spec) = all.clone().find(|spec| spec.tools.contains(&tool)) {
        return Ok(spec.id);
    }
    let network = tool.split('.').next().unwrap_or_default();
    let message = match PLANNED.iter().find(|planned| planned.id == network) {
        Some(planned) => format!("{} is announced, and its tools come with it.", planned.label),
        None => {
            let known: Vec<_> = all.flat_map(|spec| spec.tools).copied().collect();
            let known = if known.is_empty() { "none yet".to_owned() } else { known.join(", ") };
            format!("There is no tool called {tool:?}; there are: {known}.")
        }
    };
    Err(Error::new(Code::ToolNotFound, message))
}

fn account_id(given: Option<&Value>) -> Result<AccountId> {
    let remedy = "Send the id of a connected account; GET /api/v1/accounts lists them.";
    let number = match given {
        None | Some(Value::Null) => {
            let message = "This tool asks for an account.";
            return Err(Error::field(Code::FieldRequired, "account_id", message, remedy));
        }
        Some(Value::String(text)) => text.parse().ok(),
        Some(other) => other.as_i64(),
    };
    number.map(AccountId).ok_or_else(|| {
        let message = "account_id must be a whole number.";
        Error::field(Code::InvalidField, "account_id", message, remedy)
    })
}

/// Returns the reply with the workspace's allowance of posts to X, and what is left of it.
///
/// # Errors
/// The database's.
pub async fn x_quota(act: &Act) -> Result<Reply<OneQuota>> {
    Ok(Reply::ok(&OneQuota { quota: quota(act).await? }))
}

/// Returns the workspace's allowance of posts to X: the limit, the used part, and when the next period begins.
///
/// # Errors
/// The database's.
pub(crate) async fn x_allowance(act: &Act) -> Result<(i64, i64, Millis)> {
    let quota = quota(act).await?;
    Ok((quota.limit, quota.used, quota.period.end.0))
}

/// The allowance.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct OneQuota {
    quota: XQuota,
}

/// The posts to X that the workspace's plan includes in a calendar month (UTC). It is shown but not enforced. A post
/// whose caption has a link counts as `url_cost` posts, and `url_blocked` is true if fewer are left.
#[derive(Debug, Serialize, JsonSchema)]
struct XQuota {
    platform: &'static str,
    managed: bool,
    used: i64,
    limit: i64,
    remaining: i64,
    period: Period,
    url_blocked: bool,
    url_cost: i64,
    /// Always null: there is no add-on.
    addon: Option<Map<String, Value>>,
    /// The included posts of each plan.
    plans: Vec<XPlan>,
}

/// The days that the period covers.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Period {
    start: Time,
    end: Time,
}

/// The included posts of a plan.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct XPlan {
    plan: &'static str,
    posts_per_month: i64,
}

async fn quota(act: &Act) -> Result<XQuota> {
    let (start, end) = month(act.cx.clock.now());
    let limit = allowance(act.membership.plan);
    let used = count_used(act, start).await?;
    let remaining = (limit - used).max(0);
    let plans = PLANS.map(|(plan, posts_per_month)| XPlan { plan, posts_per_month });
    Ok(XQuota {
        platform: "x",
        managed: true,
        used,
        limit,
        remaining,
        period: Period { start: Time(start), end: Time(end) },
        url_blocked: remaining < LINK_COST,
        url_cost: LINK_COST,
        addon: None,
        plans: plans.into(),
    })
}

/// The posts per month that each plan includes.
const PLANS: [(&str, i64); 4] =
    [("starter", 50), ("pro", 200), ("power_user", 500), ("agency", 2_000)];

const fn allowance(plan: PlanTier) -> i64 {
    match plan {
        PlanTier::Starter => PLANS[0].1,
        PlanTier::Pro => PLANS[1].1,
        PlanTier::PowerUser => PLANS[2].1,
        PlanTier::Agency => PLANS[3].1,
    }
}

/// Returns the start and the end of the month of a time, in UTC.
fn month(now: Millis) -> (Millis, Millis) {
    let first = date(now).date_naive();
    let first = first.with_day(1).unwrap_or(first);
    let next = first.checked_add_months(Months::new(1)).unwrap_or(first);
    let at = |day: chrono::NaiveDate| day.and_time(NaiveTime::MIN).and_local_timezone(Utc);
    let millis = |day| at(day).single().map_or(now, |time| time.timestamp_millis());
    (millis(first), millis(next))
}

/// Counts the workspace's posts on X since a time. Posts on the simulator do not count.
async fn count_used(act: &Act, since: Millis) -> Result<i64> {
    let conn = &act.cx.db.read;
    // Each segment of a thread is a post; links stand in none of them.
    let sql = "SELECT coalesce(sum(CASE WHEN p.post_type = 'x_thread' \
               THEN json_array_length(p.metadata -> 'x_thread_tweets') ELSE 1 END), 0) AS posts, \
               coalesce(sum(CASE WHEN p.caption LIKE '%http://%' OR p.caption LIKE '%https://%' THEN 1 ELSE 0 END), 0) \
               AS links \
               FROM posts p JOIN accounts a ON a.id = p.account_id \
               WHERE p.workspace_id = $1 AND p.platform = 'x' AND p.public_at >= $2 AND a.sandbox = $3";
    let values = [act.membership.workspace_id.0.into(), since.into(), false.into()];
    let row = conn.query_one_raw(statement(conn, sql, values)).await?;
    let Some(row) = row else { return Ok(0) };
    let (posts, links): (i64, i64) = (row.try_get("", "posts")?, row.try_get("", "links")?);
    Ok(posts + links * (LINK_COST - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_begins_on_its_first_day() {
        let at =
            |text: &str| chrono::DateTime::parse_from_rfc3339(text).unwrap().timestamp_millis();
        let (start, end) = month(at("2026-12-31T23:59:59Z"));
        assert_eq!((start, end), (at("2026-12-01T00:00:00Z"), at("2027-01-01T00:00:00Z")));
    }

    #[test]
    fn a_tool_that_is_not_there_says_why() {
        let said = |tool: &str| platform_of_tool(tool).unwrap_err();
        assert_eq!(said("nonsense").code(), Code::ToolNotFound);
        assert!(said("bluesky.nonsense").message().contains("pinterest.boards"));
    }
}
