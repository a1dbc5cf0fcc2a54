//! The readings of posts at their ages: what is found is merged, what is not found is looked for again.

use fanfare_core::{Tx, error::Result};
use fanfare_entities::{
    Millis, PostId, analytics_sync, post, post::PostStatus, post_numbers, post_reading,
};
use fanfare_platforms::analytics::{
    Metrics, MissingReason, POST_METRICS, PostRef, ends_all_readings,
};
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter,
    QueryOrder, QuerySelect, sea_query::OnConflict,
};
use serde_json::{Map, Value, json};

use super::{Stop, Turn};
use crate::analytics::{
    Checkpoint, days, insights,
    pace::{DAY, HOUR, STORY_END},
    parse_metrics,
    posts::status,
};

type StepResult = std::result::Result<(), Stop>;

/// A post that the network does not find is checked again after this time, and then counts as deleted.
const MISSING_RECHECK: Millis = 6 * HOUR;

/// The age up to which posts without numbers are looked at.
const WATCHED_FOR: Millis = 14 * DAY;

impl Turn<'_> {
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
            let due = self.with_news(due).await?;
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
                Some(_) if !self.network.measures_posts() => {
                    self.write_seen(&tx, row, now).await?;
                    false
                }
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

    /// Notes that a post without numbers is there.
    pub(super) async fn write_seen(
        &self,
        tx: &Tx,
        row: post_numbers::Model,
        now: Millis,
    ) -> Result<()> {
        let next = self.pace.next_reading(row.published_at, now, is_story(&row));
        let is_young = self.pace.age(row.published_at, now) < WATCHED_FOR;
        let changed = post_numbers::ActiveModel {
            id: Set(row.id),
            status: Set(status::LIVE.to_owned()),
            next_at: Set(next.filter(|_| is_young)),
            missing_at: Set(None),
            updated_at: Set(now),
            ..Default::default()
        };
        changed.update(tx.conn()).await?;
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
    pub(super) async fn write_missing(
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

/// Deletes rows with their readings.
pub(super) async fn forget<C: ConnectionTrait>(conn: &C, ids: Vec<i64>) -> Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let of_them = post_reading::Column::PostNumbersId.is_in(ids.iter().copied());
    post_reading::Entity::delete_many().filter(of_them).exec(conn).await?;
    let them = post_numbers::Column::Id.is_in(ids);
    post_numbers::Entity::delete_many().filter(them).exec(conn).await?;
    Ok(())
}

pub(super) fn post_to_ask(row: &post_numbers::Model) -> PostRef {
    PostRef {
        id: row.remote_id.clone(),
        post_type: row.post_type.clone(),
        format: row.format.clone(),
        url: row.url.clone(),
    }
}
