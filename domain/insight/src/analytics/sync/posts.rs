//! The posts of an account: those that we have published, and those that its network lists.

use fanfare_core::{Domain, Tx, error::Result};
use fanfare_entities::{
    AccountId, Millis, WorkspaceId, account, post, post::PostStatus, post_name, post_numbers,
};
use fanfare_platforms::analytics::{Analytics, ListedPost};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait,
    sea_query::{Expr, ExprTrait, OnConflict},
};
use serde_json::json;

use super::{Stop, Turn};
use crate::analytics::{
    Pace, pace,
    pace::{HOUR, POST_END, STORY_END},
    posts::{format_of, status},
    reader_of,
};

type StepResult = std::result::Result<(), Stop>;

/// The most posts that are found in one turn.
const MAX_DISCOVERED: u64 = 500;

/// Returns when the next post of an account is read.
pub(super) async fn next_at(cx: &Domain, id: AccountId) -> Result<Option<Millis>> {
    let next = post_numbers::Entity::find()
        .filter(post_numbers::Column::AccountId.eq(id))
        .filter(post_numbers::Column::NextAt.is_not_null())
        .order_by_asc(post_numbers::Column::NextAt)
        .one(&cx.db.write)
        .await?;
    Ok(next.and_then(|row| row.next_at))
}

/// Inserts rows. A post that was listed before we knew that it is ours becomes ours.
async fn insert<C: ConnectionTrait>(conn: &C, rows: Vec<post_numbers::ActiveModel>) -> Result<()> {
    use post_numbers::Column::{
        AccountId as Account, Caption, Format, PostId, PostType, RemoteId, Url,
    };
    let again = OnConflict::columns([Account, RemoteId])
        .update_columns([PostId, Url, PostType, Format, Caption])
        .to_owned();
    let all = post_numbers::Entity::insert_many(rows).on_conflict(again);
    all.exec_without_returning(conn).await?;
    Ok(())
}

/// Adds rows for the posts that an account has just published, so that they are listed before their first reading; also
/// those of a network that reports no numbers.
///
/// # Errors
/// The database's.
pub(in crate::analytics) async fn add_published(
    cx: &Domain,
    account: &account::Model,
) -> Result<()> {
    let network = reader_of(cx, account);
    let history = History {
        workspace_id: account.workspace_id,
        account_id: account.id,
        pace: pace(cx, account),
        is_watched: network.is_some_and(Analytics::watches_posts),
    };
    match history.published(cx).await? {
        rows if rows.is_empty() => Ok(()),
        rows => insert(&cx.db.write, rows).await,
    }
}

/// The values that the rows of an account's posts share.
struct History {
    workspace_id: WorkspaceId,
    account_id: AccountId,
    pace: Pace,
    /// Whether the network's posts are read, or looked at.
    is_watched: bool,
}

impl History {
    /// Returns rows for the posts that we have published and that have none yet.
    async fn published(&self, cx: &Domain) -> Result<Vec<post_numbers::ActiveModel>> {
        let now = cx.clock.now();
        let counted = post_numbers::Entity::find()
            .select_only()
            .column(post_numbers::Column::PostId)
            .filter(
                Expr::col((post_numbers::Entity, post_numbers::Column::PostId))
                    .equals((post::Entity, post::Column::Id)),
            )
            .into_query();
        let fresh = post::Entity::find()
            .filter(post::Column::AccountId.eq(self.account_id))
            .filter(post::Column::Status.eq(PostStatus::Published))
            .filter(post::Column::PublicAt.gt(now - self.pace.shortened(POST_END)))
            .filter(post::Column::PlatformPostId.is_not_null())
            .filter(Expr::exists(counted).not())
            .order_by_desc(post::Column::PublicAt)
            .limit(MAX_DISCOVERED)
            .all(&cx.db.write)
            .await?;
        Ok(fresh.iter().filter_map(|post| self.row_of(post, now)).collect())
    }

    fn row_of(&self, post: &post::Model, now: Millis) -> Option<post_numbers::ActiveModel> {
        let published_at = post.public_at?;
        let is_story = post.post_type.ends_with("story");
        Some(post_numbers::ActiveModel {
            post_id: Set(Some(post.id)),
            remote_id: Set(post.platform_post_id.clone()?),
            url: Set(post.platform_post_url.clone()),
            post_type: Set(post.post_type.clone()),
            format: Set(format_of(post).to_owned()),
            caption: Set(post.caption.clone()),
            ..self.new_row(published_at, is_story, now)
        })
    }

    /// Returns a row without numbers that is due at the first age of a reading.
    fn new_row(
        &self,
        published_at: Millis,
        is_story: bool,
        now: Millis,
    ) -> post_numbers::ActiveModel {
        let first = published_at + self.pace.shortened(HOUR);
        let is_over = is_story && self.pace.age(published_at, now) >= STORY_END;
        post_numbers::ActiveModel {
            workspace_id: Set(self.workspace_id),
            account_id: Set(self.account_id),
            post_id: Set(None),
            published_at: Set(published_at),
            status: Set(if is_over { status::EXPIRED } else { status::LIVE }.to_owned()),
            next_at: Set((self.is_watched && !is_over).then(|| Ord::max(first, now))),
            numbers: Set(json!({})),
            unmeasured: Set(json!({})),
            created_at: Set(now),
            updated_at: Set(now),
            ..Default::default()
        }
    }
}

impl Turn<'_> {
    /// Adds rows for posts that we have published and that have none yet.
    pub(super) async fn discover(&self) -> StepResult {
        if !self.network.watches_posts() {
            return Ok(());
        }
        let rows = self.history().published(self.cx).await?;
        if rows.is_empty() {
            return Ok(());
        }
        let tx = Tx::begin(self.cx).await?;
        self.held(&tx).await?;
        insert(tx.conn(), rows).await?;
        tx.commit().await?;
        Ok(())
    }

    /// Returns what rows of the account's posts have in common.
    fn history(&self) -> History {
        let (workspace_id, account_id) = (self.row.workspace_id, self.row.id);
        History { workspace_id, account_id, pace: self.pace, is_watched: true }
    }

    fn new_row(
        &self,
        published_at: Millis,
        is_story: bool,
        now: Millis,
    ) -> post_numbers::ActiveModel {
        self.history().new_row(published_at, is_story, now)
    }

    /// Adds rows for the posts that the network lists and we do not know.
    pub(super) async fn store_listed(
        &self,
        tx: &Tx,
        listed: Vec<ListedPost>,
        now: Millis,
    ) -> Result<()> {
        let ids = listed.iter().map(|one| one.id.as_str());
        let named = post_name::Entity::find()
            .filter(post_name::Column::AccountId.eq(self.row.id))
            .filter(post_name::Column::RemoteId.is_in(ids))
            .all(tx.conn())
            .await?;
        // What is a part or another name of a post of ours is counted with it.
        let is_known = |one: &ListedPost| named.iter().any(|name| name.remote_id == one.id);
        let listed: Vec<_> = listed.into_iter().filter(|one| !is_known(one)).collect();
        if listed.is_empty() {
            return Ok(());
        }
        let rows = listed.into_iter().map(|one| post_numbers::ActiveModel {
            remote_id: Set(one.id),
            url: Set(one.url),
            post_type: Set(one.post_type.to_owned()),
            format: Set(one.format.to_owned()),
            caption: Set(one.caption),
            ..self.new_row(one.published_at.timestamp_millis(), one.post_type == "story", now)
        });
        let known =
            OnConflict::columns([post_numbers::Column::AccountId, post_numbers::Column::RemoteId])
                .do_nothing()
                .to_owned();
        post_numbers::Entity::insert_many(rows)
            .on_conflict(known)
            .exec_without_returning(tx.conn())
            .await?;
        Ok(())
    }
}
