//! Counts of articles, <https://developers.forem.com/api/v1>.

use async_trait::async_trait;

use super::client;
use crate::{
    Result,
    analytics::{Analytics, AskedPost, Numbers, Reading, counted, name},
};

/// How many articles are requested at once: the account's pages return all of them anyway.
const BATCH: usize = 50;

/// The most pages of articles that are read.
const PAGES: usize = 5;

const COUNTS: [(&str, &str); 3] = [
    ("/public_reactions_count", name::LIKES),
    ("/comments_count", name::COMMENTS),
    ("/page_views_count", name::VIEWS),
];

/// Reads the metrics of DEV.
pub(super) struct Counts;

#[async_trait]
impl Analytics for Counts {
    fn batch(&self) -> usize {
        BATCH
    }

    async fn posts(
        &self,
        reading: &Reading<'_>,
        posts: &[AskedPost],
    ) -> Result<Vec<Option<Numbers>>> {
        let mut read: Vec<Option<Numbers>> = posts.iter().map(|_| None).collect();
        for page in 1..=PAGES {
            reading.allow().await?;
            let articles = client::counts(reading.session, page).await?;
            for article in &articles {
                let id = article["id"].to_string();
                for (post, found) in posts.iter().zip(&mut read) {
                    if post.id == id {
                        *found = Some(counted(article, &COUNTS));
                    }
                }
            }
            if articles.is_empty() || read.iter().all(Option::is_some) {
                break;
            }
        }
        Ok(read)
    }
}
