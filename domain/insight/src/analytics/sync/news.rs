//! What networks tell of posts after they were published, beside their numbers: ids and names that come late, and that
//! nothing came of one.

use fanfare_core::{Tx, error::Result};
use fanfare_entities::{Millis, post, post_name, post_numbers};
use fanfare_platforms::analytics::{PostNews, ends_all_readings};
use fanfare_publishing::posts::later_names;
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter,
};

use super::{Stop, Turn, reading::post_to_ask};
use crate::analytics::pace::DAY;

/// The age up to which a network is asked for what it did not tell yet.
const AWAITED_FOR: Millis = 8 * DAY;

impl Turn<'_> {
    /// Asks for what the network has said of these posts since, and writes it. Returns the posts to read.
    pub(super) async fn with_news(
        &mut self,
        due: Vec<post_numbers::Model>,
    ) -> std::result::Result<Vec<post_numbers::Model>, Stop> {
        let mut rest = Vec::with_capacity(due.len());
        for row in due {
            rest.extend(self.with_news_of(row).await?);
        }
        Ok(rest)
    }

    async fn with_news_of(
        &mut self,
        row: post_numbers::Model,
    ) -> std::result::Result<Option<post_numbers::Model>, Stop> {
        let asked = post_to_ask(&row);
        let is_young = self.pace.age(row.published_at, self.cx.clock.now()) <= AWAITED_FOR;
        if !is_young || !self.network.awaits_news(&asked) || self.is_named(&row).await? {
            return Ok(Some(row));
        }
        match self.network.news(self.reading, &asked).await {
            Ok(news) => self.write_news(row, news).await,
            Err(error) if ends_all_readings(&error) => Err(error.into()),
            // Its numbers are read without.
            Err(error) => {
                tracing::debug!(kind = ?error.kind, %error, "nothing new was read of a post");
                Ok(Some(row))
            }
        }
    }

    /// Returns true if a post has a further name, or is none of ours.
    async fn is_named(&self, row: &post_numbers::Model) -> Result<bool> {
        let Some(post) = row.post_id else { return Ok(true) };
        let names = post_name::Entity::find().filter(post_name::Column::PostId.eq(post));
        Ok(names.count(&self.cx.db.write).await? > 0)
    }

    /// Writes what is new of a post. Returns its row, unless there is nothing to read.
    async fn write_news(
        &self,
        row: post_numbers::Model,
        news: PostNews,
    ) -> std::result::Result<Option<post_numbers::Model>, Stop> {
        if news == PostNews::default() {
            return Ok(Some(row));
        }
        let now = self.cx.clock.now();
        let mut tx = Tx::begin(self.cx).await?;
        self.held(&tx).await?;
        if news.is_gone {
            self.write_missing(&mut tx, row, now).await?;
            tx.commit().await?;
            return Ok(None);
        }
        let Some(id) = row.post_id else { return Ok(Some(row)) };
        let Some(post) = post::Entity::find_by_id(id).one(tx.conn()).await? else {
            return Ok(Some(row));
        };
        self.forget_listed(&tx, &news).await?;
        later_names::add_names(&tx, &post, &news.names).await?;
        let row = match news.public_id {
            Some((remote, url)) if !self.is_taken(&tx, &row, &remote).await? => {
                self.rename(&mut tx, row, post, (remote, url)).await?
            }
            _ => row,
        };
        tx.commit().await?;
        Ok(Some(row))
    }

    async fn rename(
        &self,
        tx: &mut Tx,
        row: post_numbers::Model,
        post: post::Model,
        (remote, url): (String, Option<String>),
    ) -> Result<post_numbers::Model> {
        let post = later_names::set_public_id(tx, post, remote.clone(), url).await?;
        let changed = post_numbers::ActiveModel {
            id: Set(row.id),
            remote_id: Set(remote),
            url: Set(post.platform_post_url),
            updated_at: Set(self.cx.clock.now()),
            ..Default::default()
        };
        Ok(changed.update(tx.conn()).await?)
    }

    /// Returns true if another post of ours has this id.
    async fn is_taken(&self, tx: &Tx, row: &post_numbers::Model, remote: &str) -> Result<bool> {
        let others = post_numbers::Entity::find()
            .filter(post_numbers::Column::AccountId.eq(row.account_id))
            .filter(post_numbers::Column::RemoteId.eq(remote))
            .filter(post_numbers::Column::Id.ne(row.id));
        Ok(others.count(tx.conn()).await? > 0)
    }

    /// Removes rows of posts that the network listed under a name of which nobody knew that it is that of a post of ours.
    async fn forget_listed(&self, tx: &Tx, news: &PostNews) -> Result<()> {
        let public = news.public_id.iter().map(|(id, _)| id.as_str());
        let names = public.chain(news.names.iter().map(String::as_str));
        let listed = post_numbers::Entity::find()
            .filter(post_numbers::Column::AccountId.eq(self.row.id))
            .filter(post_numbers::Column::RemoteId.is_in(names))
            .filter(post_numbers::Column::PostId.is_null())
            .all(tx.conn())
            .await?;
        let ids: Vec<_> = listed.into_iter().map(|row| row.id).collect();
        super::reading::forget(tx.conn(), ids).await
    }
}
