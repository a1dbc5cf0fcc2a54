//! Posts whose readings are refused: each keeps its refusal, and once a day the activity list says how many there are.

use std::{collections::BTreeMap, time::Duration};

use fanfare_core::{Tx, error::Result, events::NewEvent};
use fanfare_entities::{Millis, post_numbers};
use fanfare_platforms::{
    self as platforms, ErrorKind,
    analytics::{MissingReason, POST_METRICS, is_trouble},
};
use fanfare_publishing::accounts::{Account, account_event};
use sea_orm::{
    ActiveModelTrait,
    ActiveValue::Set,
    ColumnTrait, EntityTrait, QueryFilter, QuerySelect,
    sea_query::{Expr, ExprTrait},
};
use serde_json::{Value, json};

use super::{Stop, Turn, reading::is_story};
use crate::analytics::{
    pace::HOUR,
    parse_metrics,
    read_error::{NAME, Stored},
};

type StepResult = std::result::Result<(), Stop>;

/// The number of posts in a row for which the network fails that ends a turn, and the time until the next one.
const TROUBLES_MAX: u32 = 3;
const AFTER_TROUBLES: Millis = HOUR / 4;

impl Turn<'_> {
    /// Handles a post whose reading fails, which says nothing about others, unless the network fails for several.
    pub(super) async fn refused(
        &mut self,
        row: post_numbers::Model,
        error: platforms::Error,
    ) -> StepResult {
        let now = self.cx.clock.now();
        let tx = Tx::begin(self.cx).await?;
        self.held(&tx).await?;
        if self.network.measures_posts() {
            self.write_refused(&tx, row, &error, now).await?;
        } else {
            // There is nothing of it that anybody misses.
            self.put_off(&tx, row, now).await?;
        }
        tx.commit().await?;
        self.troubles = if is_trouble(&error) { self.troubles + 1 } else { 0 };
        if self.troubles < TROUBLES_MAX {
            return Ok(());
        }
        let wait = self.pace.shortened(AFTER_TROUBLES);
        let wait = Duration::from_millis(wait.unsigned_abs());
        let ended = platforms::Error::new(ErrorKind::RateLimited, error.message);
        Err(Stop::Network(ended.with_retry_after(Some(wait))))
    }

    /// Looks at a post again at its next age.
    async fn put_off(&self, tx: &Tx, row: post_numbers::Model, now: Millis) -> Result<()> {
        let changed = post_numbers::ActiveModel {
            id: Set(row.id),
            next_at: Set(self.pace.next_reading(row.published_at, now, is_story(&row))),
            updated_at: Set(now),
            ..Default::default()
        };
        changed.update(tx.conn()).await?;
        Ok(())
    }

    /// Notes why a post could not be read; its last numbers stay.
    async fn write_refused(
        &self,
        tx: &Tx,
        row: post_numbers::Model,
        error: &platforms::Error,
        now: Millis,
    ) -> Result<()> {
        let told = Stored::after(&row, error, now);
        let known = parse_metrics(&row.numbers);
        let mut unmeasured = row.unmeasured.as_object().cloned().unwrap_or_default();
        for name in POST_METRICS.iter().filter(|name| !known.contains_key(**name)) {
            let why = unmeasured.get(*name).and_then(Value::as_str);
            if why.is_none_or(|why| why == MissingReason::Pending.as_str()) {
                unmeasured.insert((*name).to_owned(), json!(MissingReason::Refused.as_str()));
            }
        }
        told.write(&mut unmeasured);
        let next = self.pace.next_reading(row.published_at, now, is_story(&row));
        let paused = told.pause().map(|pause| now + self.pace.shortened(pause));
        let changed = post_numbers::ActiveModel {
            id: Set(row.id),
            unmeasured: Set(Value::Object(unmeasured)),
            next_at: Set(next.map(|next| paused.unwrap_or(next))),
            updated_at: Set(now),
            ..Default::default()
        };
        changed.update(tx.conn()).await?;
        Ok(())
    }

    /// Adds an entry to the activity list for each refusal that posts of the account have, with their number.
    pub(super) async fn list_refused(&self, tx: &mut Tx) -> Result<()> {
        let is_refused = Expr::col(post_numbers::Column::Unmeasured)
            .cast_as("TEXT")
            .like(format!("%\"{NAME}\"%"));
        let rows: Vec<Value> = post_numbers::Entity::find()
            .select_only()
            .column(post_numbers::Column::Unmeasured)
            .filter(post_numbers::Column::AccountId.eq(self.row.id))
            // Posts that are no longer read have nothing new to say.
            .filter(post_numbers::Column::NextAt.is_not_null())
            .filter(is_refused)
            .into_tuple()
            .all(tx.conn())
            .await?;
        let mut refusals: BTreeMap<String, (u64, String)> = BTreeMap::new();
        for stored in rows.iter().filter_map(Stored::of) {
            let (posts, message) = refusals.entry(stored.code).or_default();
            *posts += 1;
            *message = stored.message;
        }
        for (code, (posts, message)) in refusals {
            tx.emit(self.refused_event(&code, posts, &message));
        }
        Ok(())
    }

    fn refused_event(&self, code: &str, posts: u64, message: &str) -> NewEvent {
        let row = self.account;
        let those = if posts == 1 { "one post" } else { "posts" };
        let count = if posts == 1 { String::new() } else { format!("{posts} ") };
        let data = json!({"account": Account::of(self.cx, row), "posts": posts, "code": code});
        let message = format!(
            "The numbers of {count}{those} of {} on {} cannot be read ({code}): {message}",
            row.username, row.platform
        );
        account_event(row, ("analytics.posts_refused", false), &data, message)
    }
}
