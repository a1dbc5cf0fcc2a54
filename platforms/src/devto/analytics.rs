//! Counts of articles, <https://developers.forem.com/api/v1>.

use async_trait::async_trait;

use super::client;
use crate::{
    Result,
    analytics::{Analytics, FetchContext, Metrics, PostRef, name, read_counts},
};

/// The number of articles that are requested at once: the account's pages return all of them anyway.
const BATCH: usize = 50;

/// The most pages of articles that are read.
const PAGES: usize = 5;

const COUNTS: [(&str, &str); 3] = [
    ("/public_reactions_count", name::LIKES),
    ("/comments_count", name::COMMENTS),
    ("/page_views_count", name::VIEWS),
];

/// Reads the metrics of DEV.
pub(super) struct MetricsReader;

#[async_trait]
impl Analytics for MetricsReader {
    fn batch_size(&self) -> usize {
        BATCH
    }

    async fn posts(
        &self,
        reading: &FetchContext<'_>,
        posts: &[PostRef],
    ) -> Result<Vec<Option<Metrics>>> {
        let mut read: Vec<Option<Metrics>> = posts.iter().map(|_| None).collect();
        for page in 1..=PAGES {
            reading.acquire_call().await?;
            let articles = client::counts(reading.session, page).await?;
            for article in &articles {
                let id = article["id"].to_string();
                for (post, found) in posts.iter().zip(&mut read) {
                    if post.id == id {
                        *found = Some(read_counts(article, &COUNTS));
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
