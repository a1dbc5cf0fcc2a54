//! Insights: how a post of a certain age does compared to earlier ones. There is one for each post and age.

use std::collections::BTreeMap;

use fanfare_core::{
    Act, Reply, Tx,
    clock::Time,
    error::{Code, Error, Result},
    events::NewEvent,
    page::{self, EmptyBecause, Listed},
};
use fanfare_entities::{
    AccountId, InsightId, PostId, account, post_insight, post_numbers, post_reading,
};
use fanfare_publishing::accounts as connections;
use schemars::JsonSchema;
use sea_orm::{
    ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait,
    sea_query::OnConflict,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::{
    CHECKPOINTS, Checkpoint, analytics_of,
    formulas::{self, BASELINE_MAX, BaselinePost, Comparison, rounded},
    pace,
    pace::POST_END,
    parse_metrics, profile,
};

/// The insights to list.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InsightsQuery {
    /// Only those of an account.
    #[serde(default)]
    pub account_id: Option<i64>,
    /// Only those of a post.
    #[serde(default)]
    pub post_id: Option<i64>,
    /// Only those at an age: `1h`, `6h`, `24h`, `72h` or `7d`.
    #[serde(default)]
    #[schemars(length(max = 10))]
    pub checkpoint: Option<String>,
    /// At most this many, up to 100; 20 if left out.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100))]
    pub limit: Option<i64>,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

/// The statement of an insight about a post at a certain age.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct InsightFinding {
    /// `great`, `good`, `mixed` or `poor`.
    pub performance_tier: String,
    /// A title of a few words.
    pub title: String,
    /// The diagnosis.
    pub diagnosis: String,
    /// The next step.
    pub next_action: String,
    /// Its importance, from −100 to 100.
    pub impact_score: f64,
    /// Its certainty, from 0 to 1.
    pub confidence: f64,
    /// The post's numbers that were compared.
    pub metrics: Map<String, Value>,
    /// The baseline: medians, `posts` and `format`.
    pub baseline: Map<String, Value>,
}

/// An insight about a post.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct Insight {
    pub id: InsightId,
    pub post_id: PostId,
    pub social_account_id: AccountId,
    pub platform: String,
    /// The age: `1h`, `6h`, `24h`, `72h` or `7d`.
    pub checkpoint: String,
    #[serde(flatten)]
    pub finding: InsightFinding,
    pub created_at: Time,
}

/// Insights.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct Insights {
    pub insights: Vec<Insight>,
}

/// Derives the insight of a reading at a checkpoint, unless there is one already or too little to compare with.
pub(super) async fn derive(
    tx: &mut Tx,
    account: &account::Model,
    row: &post_numbers::Model,
    point: &'static Checkpoint,
) -> Result<()> {
    let (Some(post_id), Some(network)) = (row.post_id, analytics_of(tx.domain(), account)) else {
        return Ok(());
    };
    let before = baseline_posts(tx, account, row, point).await?;
    let numbers = parse_metrics(&row.numbers);
    let compared = formulas::compare(&numbers, &row.format, &before, network.engagements());
    let Some(compared) = compared else { return Ok(()) };
    let timing = profile::best_time(tx.conn(), account.id).await?;
    let insight = InsightFinding::of(&compared, point, &row.format, timing.as_deref());
    let stored = post_insight::Model {
        id: InsightId::fresh(),
        workspace_id: account.workspace_id,
        account_id: account.id,
        post_id,
        platform: account.platform.clone(),
        checkpoint: point.name.to_owned(),
        insight: serde_json::to_value(&insight).map_err(Error::internal)?,
        created_at: tx.now(),
    };
    let once =
        OnConflict::columns([post_insight::Column::PostId, post_insight::Column::Checkpoint])
            .do_nothing()
            .to_owned();
    let made = post_insight::Entity::insert(post_insight::ActiveModel::from(stored.clone()))
        .on_conflict(once)
        .exec_without_returning(tx.conn())
        .await?;
    if made > 0 {
        tx.emit(event(account, &stored)?);
    }
    Ok(())
}

/// Returns earlier posts of the account that were read at the same checkpoint, latest first.
async fn baseline_posts(
    tx: &Tx,
    account: &account::Model,
    row: &post_numbers::Model,
    point: &Checkpoint,
) -> Result<Vec<BaselinePost>> {
    let conn = tx.conn();
    let since = row.published_at - pace(tx.domain(), account).shortened(POST_END);
    let read = post_reading::Entity::find()
        .select_only()
        .column(post_reading::Column::PostNumbersId)
        .filter(post_reading::Column::Checkpoint.eq(point.name))
        .into_query();
    let rows = post_numbers::Entity::find()
        .filter(post_numbers::Column::AccountId.eq(account.id))
        .filter(post_numbers::Column::PublishedAt.lt(row.published_at))
        .filter(post_numbers::Column::PublishedAt.gte(since))
        .filter(post_numbers::Column::Id.in_subquery(read))
        .order_by_desc(post_numbers::Column::PublishedAt)
        .order_by_desc(post_numbers::Column::Id)
        .limit(u64::try_from(BASELINE_MAX).unwrap_or(20))
        .all(conn)
        .await?;
    let ids = rows.iter().map(|row| row.id);
    let readings = post_reading::Entity::find()
        .filter(post_reading::Column::PostNumbersId.is_in(ids))
        .filter(post_reading::Column::Checkpoint.eq(point.name))
        .all(conn)
        .await?;
    let mut readings: BTreeMap<i64, Value> =
        readings.into_iter().map(|one| (one.post_numbers_id, one.numbers)).collect();
    let posts = rows.into_iter().filter_map(|row| {
        let numbers = parse_metrics(&readings.remove(&row.id)?);
        let id = row.post_id.map_or(row.id, |post| post.0);
        Some(BaselinePost { id, format: row.format, numbers })
    });
    Ok(posts.collect())
}

impl InsightFinding {
    fn of(
        compared: &Comparison,
        point: &'static Checkpoint,
        format: &str,
        timing: Option<&str>,
    ) -> Self {
        let advice = formulas::advice(compared, point, format, timing);
        let confidence = formulas::confidence(compared.posts, point);
        let (mut metrics, mut baseline) = (Map::new(), Map::new());
        if let Some((name, own, median)) = compared.audience {
            metrics.insert(name.to_owned(), json!(own));
            baseline.insert(name.to_owned(), json!(rounded(median, 2)));
        }
        if let Some((own, median)) = compared.engagement {
            metrics.insert(formulas::ENGAGED.to_owned(), json!(own));
            baseline.insert(formulas::ENGAGED.to_owned(), json!(rounded(median, 2)));
        }
        baseline.insert("posts".to_owned(), json!(compared.posts));
        baseline.insert("format".to_owned(), json!(compared.format));
        Self {
            performance_tier: formulas::tier(compared.score).to_owned(),
            title: advice.title.to_owned(),
            diagnosis: advice.diagnosis,
            next_action: advice.next_action,
            impact_score: formulas::impact(compared.score, confidence),
            confidence,
            metrics,
            baseline,
        }
    }
}

fn event(account: &account::Model, row: &post_insight::Model) -> Result<NewEvent> {
    let insight = Insight::of(row)?;
    let title = &insight.finding.title;
    Ok(NewEvent {
        workspace_id: account.workspace_id,
        event_type: "insight.created",
        streamed: true,
        data: json!({ "insight": insight }).to_string(),
        post_id: Some(row.post_id),
        account_id: Some(account.id),
        brand_id: account.brand_id,
        platform: Some(account.platform.clone()),
        status: None,
        message: format!("Post {} after {}: {title}.", row.post_id, row.checkpoint),
        request_id: None,
    })
}

impl Insight {
    fn of(row: &post_insight::Model) -> Result<Self> {
        let finding = serde_json::from_value(row.insight.clone()).map_err(Error::internal)?;
        Ok(Self {
            id: row.id,
            post_id: row.post_id,
            social_account_id: row.account_id,
            platform: row.platform.clone(),
            checkpoint: row.checkpoint.clone(),
            finding,
            created_at: Time(row.created_at),
        })
    }
}

/// Lists the insights of the caller's workspace, newest first.
///
/// # Errors
/// An invalid checkpoint or limit, or an account or post that does not exist.
pub async fn list(act: &Act, query: InsightsQuery) -> Result<Reply<Listed<Insights>>> {
    let limit = super::limit(query.limit, 20, 100)?;
    if let Some(name) = query.checkpoint.as_deref().filter(|name| Checkpoint::named(name).is_none())
    {
        let names = CHECKPOINTS.map(|point| point.name).join(", ");
        let message = format!("There is no checkpoint {name:?}.");
        let remedy = format!("Use one of {names}.");
        return Err(Error::field(Code::InvalidField, "checkpoint", message, remedy));
    }
    let visible = super::visible_accounts(act, query.account_id).await?;
    let ids: Vec<AccountId> = visible.iter().map(|row| row.id).collect();
    let mut rows = post_insight::Entity::find()
        .filter(post_insight::Column::WorkspaceId.eq(act.membership.workspace_id))
        .filter(post_insight::Column::AccountId.is_in(ids));
    if let Some(post) = query.post_id {
        fanfare_publishing::posts::find(act, PostId(post)).await?;
        rows = rows.filter(post_insight::Column::PostId.eq(post));
    }
    if let Some(checkpoint) = query.checkpoint {
        rows = rows.filter(post_insight::Column::Checkpoint.eq(checkpoint));
    }
    let rows = rows
        .order_by_desc(post_insight::Column::CreatedAt)
        .order_by_desc(post_insight::Column::Id)
        .limit(limit)
        .all(&act.cx.db.read)
        .await?;
    let insights = rows.iter().map(Insight::of).collect::<Result<_>>()?;
    let why = if rows.is_empty() { Some(why_empty(act).await?) } else { None };
    Ok(Reply::ok(&Listed::new(Insights { insights }, why)))
}

/// Returns why a list of insights is empty.
async fn why_empty(act: &Act) -> Result<EmptyBecause> {
    let ids = connections::all(act).await?.into_iter().map(|row| row.id);
    let all = post_insight::Entity::find()
        .filter(post_insight::Column::WorkspaceId.eq(act.membership.workspace_id))
        .filter(post_insight::Column::AccountId.is_in(ids));
    let any = page::count_up_to(&act.cx.db.read, all, 1).await? > 0;
    super::why_empty(act, any).await
}
