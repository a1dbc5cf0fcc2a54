//! Suggestions: each Monday up to three ideas for posts of an account, based on its best posts.

mod round;

use std::borrow::Cow;

use fanfare_core::{
    Act, Domain, Reply, batches,
    clock::Time,
    error::{Code, Error, Result, excerpt},
    input,
    page::{self, EmptyBecause, Listed},
};
use fanfare_entities::{
    AccountId, Millis, PostId, SuggestionId, account, post_suggestion,
    post_suggestion::SuggestionStatus,
};
use fanfare_publishing::{
    accounts,
    posts::suggestion::{already_scheduled, not_found},
};
use schemars::JsonSchema;
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, EntityTrait, ExprTrait, QueryFilter,
    QueryOrder, QuerySelect, sea_query::Expr,
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{AccountName, pace::DAY};

use round::derive;
pub use round::{claim, run};

/// A post is not suggested twice within this time; pending suggestions are deleted after it.
const RETENTION: Millis = 60 * DAY;

/// The suggestions to list.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuggestionsQuery {
    /// Only those for an account.
    #[serde(default)]
    pub account_id: Option<i64>,
    /// `pending` (the default), `scheduled` or `dismissed`; or several of them, separated by commas.
    #[serde(default)]
    #[schemars(length(max = 100))]
    pub status: Option<String>,
    /// At most this many, up to 100; 20 if left out.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100))]
    pub limit: Option<i64>,
    /// The workspace, for a key without one.
    #[serde(default)]
    pub workspace_id: Option<Uuid>,
}

/// A suggested post for an account.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct Suggestion {
    pub id: SuggestionId,
    pub social_account_id: AccountId,
    pub platform: String,
    pub account: AccountName,
    /// The suggested text.
    pub caption: String,
    /// The reason why it is suggested.
    pub rationale: String,
    /// The ISO week of the suggestion, such as `2026-W48`.
    pub period_key: String,
    /// `pending`, `scheduled` or `dismissed`.
    pub status: Cow<'static, str>,
    /// The post that was made from it.
    pub post_id: Option<PostId>,
    pub created_at: Time,
}

/// Suggestions.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[expect(missing_docs, reason = "each field is named after what it holds")]
pub struct Suggestions {
    pub suggestions: Vec<Suggestion>,
}

/// One suggestion.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct OneSuggestion {
    suggestion: Suggestion,
}

/// The number of suggestions that were made for an account.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SuggestNowResponse {
    account_id: AccountId,
    /// The number of new suggestions.
    suggestions: usize,
}

/// The account, on a simulated network, for which posts are suggested now.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuggestNow {
    /// The account.
    #[serde(deserialize_with = "fanfare_core::input::number_or_text")]
    #[schemars(schema_with = "fanfare_core::input::id_schema")]
    pub account_id: i64,
}

/// Suggests posts for an account on a simulated network now.
///
/// # Errors
/// [`Code::AccountNotFound`].
pub async fn derive_now(act: &Act, id: AccountId) -> Result<Reply<SuggestNowResponse>> {
    let row = accounts::find(act, id).await?;
    if !row.sandbox {
        let message = format!("Account {id} is not on a simulated network.");
        return Err(Error::new(Code::AccountNotFound, message));
    }
    let made = derive(&act.cx, &row).await?;
    let tx = act.begin().await?;
    let suggested = SuggestNowResponse { account_id: row.id, suggestions: made };
    act.finish(tx, Reply::ok(&suggested)).await
}

/// Lists the suggestions of the caller's workspace, newest first.
///
/// # Errors
/// An invalid limit, or an account that does not exist.
pub async fn list(act: &Act, query: SuggestionsQuery) -> Result<Reply<Listed<Suggestions>>> {
    let limit = super::limit(query.limit, 20, 100)?;
    let visible = super::visible_accounts(act, query.account_id).await?;
    let ids = visible.iter().map(|row| row.id);
    let statuses = input::several(query.status.as_deref().or(Some("pending")), parse_status)?;
    let statuses = statuses.unwrap_or_default();
    let rows = post_suggestion::Entity::find()
        .filter(post_suggestion::Column::WorkspaceId.eq(act.membership.workspace_id))
        .filter(post_suggestion::Column::AccountId.is_in(ids))
        .filter(input::one_of(post_suggestion::Column::Status, statuses))
        .order_by_desc(post_suggestion::Column::CreatedAt)
        .order_by_asc(post_suggestion::Column::Ordinal)
        .limit(limit)
        .all(&act.cx.db.read)
        .await?;
    let account = |id| visible.iter().find(|row| row.id == id);
    let suggestions = rows.iter();
    let suggestions =
        suggestions.filter_map(|row| Some(Suggestion::of(row, account(row.account_id)?))).collect();
    let why = if rows.is_empty() { Some(why_empty(act).await?) } else { None };
    Ok(Reply::ok(&Listed::new(Suggestions { suggestions }, why)))
}

/// Returns why a list of suggestions is empty.
async fn why_empty(act: &Act) -> Result<EmptyBecause> {
    let ids = accounts::all(act).await?.into_iter().map(|row| row.id);
    let all = post_suggestion::Entity::find()
        .filter(post_suggestion::Column::WorkspaceId.eq(act.membership.workspace_id))
        .filter(post_suggestion::Column::AccountId.is_in(ids));
    let any = page::count_up_to(&act.cx.db.read, all, 1).await? > 0;
    super::why_empty(act, any).await
}

impl Suggestion {
    fn of(row: &post_suggestion::Model, account: &account::Model) -> Self {
        Self {
            id: row.id,
            social_account_id: row.account_id,
            platform: row.platform.clone(),
            account: AccountName::of(account),
            caption: row.caption.clone(),
            rationale: row.rationale.clone(),
            period_key: row.period_key.clone(),
            status: status_name(row.status).into(),
            post_id: row.post_id,
            created_at: Time(row.created_at),
        }
    }
}

fn parse_status(name: &str) -> Result<SuggestionStatus> {
    match name {
        "pending" => Ok(SuggestionStatus::Pending),
        "scheduled" => Ok(SuggestionStatus::Scheduled),
        "dismissed" => Ok(SuggestionStatus::Dismissed),
        _ => {
            let message = format!("There is no status called {:?}.", excerpt(name));
            let remedy = "Use pending, scheduled or dismissed.";
            Err(Error::field(Code::InvalidField, "status", message, remedy))
        }
    }
}

const fn status_name(status: SuggestionStatus) -> &'static str {
    match status {
        SuggestionStatus::Pending => "pending",
        SuggestionStatus::Scheduled => "scheduled",
        SuggestionStatus::Dismissed => "dismissed",
    }
}

/// Dismisses a suggestion; dismissing it again changes nothing.
///
/// # Errors
/// [`Code::SuggestionNotFound`], [`Code::SuggestionAlreadyScheduled`].
pub async fn dismiss(act: &Act, id: SuggestionId) -> Result<Reply<OneSuggestion>> {
    let found = || {
        post_suggestion::Entity::find_by_id(id)
            .filter(post_suggestion::Column::WorkspaceId.eq(act.membership.workspace_id))
    };
    let row = found().one(&act.cx.db.read).await?.ok_or_else(not_found)?;
    let account = accounts::find(act, row.account_id)
        .await
        .map_err(|error| if error.code() == Code::AccountNotFound { not_found() } else { error })?;
    let tx = act.begin().await?;
    let row = found().lock_exclusive().one(tx.conn()).await?.ok_or_else(not_found)?;
    if row.status == SuggestionStatus::Scheduled {
        return Err(already_scheduled(&row));
    }
    let dismissed = post_suggestion::ActiveModel {
        id: Set(row.id),
        status: Set(SuggestionStatus::Dismissed),
        updated_at: Set(act.cx.clock.now()),
        ..Default::default()
    };
    let row = dismissed.update(tx.conn()).await?;
    let suggestion = Suggestion::of(&row, &account);
    act.finish(tx, Reply::ok(&OneSuggestion { suggestion })).await
}

/// Deletes suggestions that no post was made from in time.
pub(super) async fn prune(cx: &Domain) -> Result<u64> {
    // Written out, so that the index of pending rows alone serves it.
    let pending = Expr::cust("status = 'pending'");
    let at = post_suggestion::Column::CreatedAt;
    let old = pending.and(at.lt(cx.clock.now() - RETENTION));
    batches::delete::<post_suggestion::Entity>(cx, at, old).await
}
