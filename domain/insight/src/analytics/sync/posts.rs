//! The posts of an account: finds them, and reads their numbers at the right ages.

use fanfare_core::{Domain, Tx, error::Result};
use fanfare_entities::{
    AccountId, Millis, PostId, WorkspaceId, account, analytics_sync, post, post::PostStatus,
    post_name, post_numbers, post_reading,
};
use fanfare_platforms::analytics::{
    Analytics, ListedPost, Metrics, MissingReason, POST_METRICS, PostRef, ends_all_readings,
};
use sea_orm::{
    ActiveModelTrait,
    ActiveValue::Set,
    ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait,
    sea_query::{Expr, ExprTrait, OnConflict},
};
use serde_json::{Map, Value, json};

use super::{Stop, Turn};
use crate::analytics::{
    Checkpoint, Pace, analytics_of, days, insights, pace,
    pace::{HOUR, POST_END, STORY_END},
    parse_metrics,
    posts::{format_of, status},
};

type StepResult = std::result::Result<(), Stop>;

/// A post that the network does not find is checked again after this time, and then counts as deleted.
const MISSING_RECHECK: Millis = 6 * HOUR;

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
    let network = analytics_of(cx, account);
    let history = History {
        workspace_id: account.workspace_id,
        account_id: account.id,
        pace: pace(cx, account),
        is_measured: network.is_some_and(Analytics::measures_posts),
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
    /// Whether the network reports numbers of posts.
    is_measured: bool,
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
            next_at: Set((self.is_measured && !is_over).then(|| Ord::max(first, now))),
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
        if !self.network.measures_posts() {
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
        History { workspace_id, account_id, pace: self.pace, is_measured: true }
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

    /// Reads the posts that are due, youngest first; with `age` only younger ones.
    pub(super) async fn read_posts(&mut self, age: Option<Millis>) -> StepResult {
        loop {
            let now = self.cx.clock.now();
            let youngest = age.map_or(Millis::MIN, |age| now - age);
            let batch = u64::try_from(self.network.batch_size()).unwrap_or(1);
            let due = post_numbers::Entity::find()
                .filter(post_numbers::Column::AccountId.eq(self.row.id))
                .filter(post_numbers::Column::NextAt.lte(now))
                .filter(post_numbers::Column::PublishedAt.gt(youngest))
                .order_by_desc(post_numbers::Column::PublishedAt)
                .limit(batch)
                .all(&self.cx.db.write)
                .await?;
            if due.is_empty() {
                return Ok(());
            }
            let is_over = |row: &post_numbers::Model| {
                is_story(row) && self.pace.age(row.published_at, now) >= STORY_END
            };
            let (over, due): (Vec<_>, Vec<_>) = due.into_iter().partition(is_over);
            self.write_posts(over, Vec::new()).await?;
            self.read_batch(due).await?;
        }
    }

    /// Reads these posts. What is refused as a whole is halved until the posts that are refused are alone.
    async fn read_batch(&mut self, due: Vec<post_numbers::Model>) -> StepResult {
        let mut open = vec![due];
        while let Some(mut batch) = open.pop() {
            let asked: Vec<PostRef> = batch.iter().map(post_to_ask).collect();
            let answer = match asked.as_slice() {
                [] => continue,
                asked => self.network.posts(self.reading, asked).await,
            };
            match answer {
                Ok(answers) => {
                    self.troubles = 0;
                    self.write_posts(Vec::new(), batch.into_iter().zip(answers).collect()).await?;
                }
                Err(error) if ends_all_readings(&error) => return Err(error.into()),
                Err(error) => match batch.len() {
                    1 => self.refused(batch.remove(0), error).await?,
                    length => {
                        let rest = batch.split_off(length.div_ceil(2));
                        // The youngest first.
                        open.extend([rest, batch]);
                    }
                },
            }
        }
        Ok(())
    }

    async fn write_posts(
        &self,
        over: Vec<post_numbers::Model>,
        read: Vec<(post_numbers::Model, Option<Metrics>)>,
    ) -> StepResult {
        if over.is_empty() && read.is_empty() {
            return Ok(());
        }
        let now = self.cx.clock.now();
        let mut tx = Tx::begin(self.cx).await?;
        let held = self.held(&tx).await?;
        let mut changed = 0;
        for row in over {
            expire(&tx, row, now).await?;
            changed += 1;
        }
        for (row, answer) in read {
            changed += i32::from(match answer {
                Some(numbers) => self.write_found(&mut tx, row, &numbers, now).await?,
                None => self.write_missing(&mut tx, row, now).await?,
            });
        }
        let counted = analytics_sync::ActiveModel {
            id: Set(held.id),
            changed_posts: Set(held.changed_posts.saturating_add(changed)),
            ..Default::default()
        };
        counted.update(tx.conn()).await?;
        tx.commit().await?;
        Ok(())
    }

    /// Merges a reading into a post's row. Returns whether that changed anything.
    async fn write_found(
        &self,
        tx: &mut Tx,
        row: post_numbers::Model,
        numbers: &Metrics,
        now: Millis,
    ) -> Result<bool> {
        let fresh = numbers.iter().filter_map(|(name, number)| Some((*name, (*number).ok()?)));
        let before = parse_metrics(&row.numbers);
        let (merged, _) = days::merge(before.clone(), fresh);
        let mut unmeasured = Map::new();
        for name in POST_METRICS.iter().filter(|name| !merged.contains_key(**name)) {
            let why = numbers.get(name).and_then(|number| number.err());
            let why = why.unwrap_or(MissingReason::Platform).as_str();
            unmeasured.insert((*name).to_owned(), json!(why));
        }
        let unmeasured = Value::Object(unmeasured);
        let is_changed = merged != before || unmeasured != row.unmeasured;
        let next_at = self.pace.next_reading(row.published_at, now, is_story(&row));
        let changed = post_numbers::ActiveModel {
            id: Set(row.id),
            numbers: Set(json!(merged)),
            unmeasured: Set(unmeasured),
            status: Set(status::LIVE.to_owned()),
            fetched_at: Set(Some(now)),
            next_at: Set(next_at),
            missing_at: Set(None),
            updated_at: Set(now),
            ..Default::default()
        };
        let row = changed.update(tx.conn()).await?;
        if let Some(point) = Checkpoint::at(self.pace.age(row.published_at, now)) {
            self.write_checkpoint(tx, &row, point, now).await?;
        }
        Ok(is_changed)
    }

    /// Stores the first reading at a checkpoint, and derives an insight from it.
    async fn write_checkpoint(
        &self,
        tx: &mut Tx,
        row: &post_numbers::Model,
        point: &'static Checkpoint,
        now: Millis,
    ) -> Result<()> {
        let reading = post_reading::ActiveModel {
            post_numbers_id: Set(row.id),
            checkpoint: Set(point.name.to_owned()),
            numbers: Set(row.numbers.clone()),
            read_at: Set(now),
        };
        let known = OnConflict::columns([
            post_reading::Column::PostNumbersId,
            post_reading::Column::Checkpoint,
        ])
        .do_nothing()
        .to_owned();
        let made = post_reading::Entity::insert(reading)
            .on_conflict(known)
            .exec_without_returning(tx.conn())
            .await?;
        if made > 0 && self.derives_in.is_some() {
            insights::derive(tx, self.account, row, point).await?;
        }
        Ok(())
    }

    /// Marks a post as deleted that was not found twice, some time apart; its last numbers stay.
    async fn write_missing(
        &self,
        tx: &mut Tx,
        row: post_numbers::Model,
        now: Millis,
    ) -> Result<bool> {
        let again = self.pace.shortened(MISSING_RECHECK);
        let is_gone = row.missing_at.is_some_and(|first| now - first >= again);
        let missing_at = row.missing_at.unwrap_or(now);
        let changed = post_numbers::ActiveModel {
            id: Set(row.id),
            status: Set(if is_gone { status::DELETED.to_owned() } else { row.status }),
            next_at: Set((!is_gone).then_some(missing_at + again)),
            missing_at: Set(Some(missing_at)),
            updated_at: Set(now),
            ..Default::default()
        };
        changed.update(tx.conn()).await?;
        if let Some(post) = row.post_id.filter(|_| is_gone) {
            self.note_removal(tx, post, missing_at).await?;
        }
        Ok(is_gone)
    }

    /// Notes on a post of ours that the network no longer shows it, and says so.
    async fn note_removal(&self, tx: &mut Tx, post: PostId, missing_at: Millis) -> Result<()> {
        let Some(row) = post::Entity::find_by_id(post).one(tx.conn()).await? else { return Ok(()) };
        if row.removed_at.is_some() || row.status != PostStatus::Published {
            return Ok(());
        }
        let removed = post::ActiveModel {
            id: Set(row.id),
            removed_at: Set(Some(missing_at)),
            ..Default::default()
        };
        let row = removed.update(tx.conn()).await?;
        let message = format!(
            "The post is no longer on {}: the platform took it away, or somebody deleted it there.",
            row.platform
        );
        tx.emit(fanfare_publishing::posts::event(self.cx, "post.removed", &row, message, None));
        Ok(())
    }
}

/// Marks a story as expired; its last numbers stay.
async fn expire(tx: &Tx, row: post_numbers::Model, now: Millis) -> Result<()> {
    let kept = parse_metrics(&row.numbers);
    let missing = POST_METRICS.iter().filter(|name| !kept.contains_key(**name));
    let reasons = missing.map(|name| {
        let before = row.unmeasured[*name].as_str();
        let is_open = before.is_none_or(|why| why == MissingReason::Pending.as_str());
        let why =
            if is_open { MissingReason::Expired.as_str() } else { before.unwrap_or_default() };
        ((*name).to_owned(), json!(why))
    });
    let changed = post_numbers::ActiveModel {
        id: Set(row.id),
        status: Set(status::EXPIRED.to_owned()),
        unmeasured: Set(Value::Object(reasons.collect())),
        next_at: Set(None),
        updated_at: Set(now),
        ..Default::default()
    };
    changed.update(tx.conn()).await?;
    Ok(())
}

pub(super) fn is_story(row: &post_numbers::Model) -> bool {
    row.post_type.ends_with("story")
}

fn post_to_ask(row: &post_numbers::Model) -> PostRef {
    PostRef {
        id: row.remote_id.clone(),
        post_type: row.post_type.clone(),
        format: row.format.clone(),
    }
}
