//! Full-text search over the documentation: SQLite's FTS5 in memory, filled at the first question.

use std::{sync::Arc, time::Duration};

use fanfare_core::error::{Error, Result};
use sea_orm::{
    ConnectOptions, ConnectionTrait, Database, DatabaseBackend, DatabaseConnection, DbErr,
    QueryResult, Statement,
};
use tokio::sync::Mutex;

/// The most words of a question that are searched.
const MAX_WORDS: usize = 40;

/// A passage of the documentation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// The heading.
    pub title: String,
    /// The text, Markdown.
    pub text: String,
    /// The address.
    pub url: String,
}

/// The passages and their index. Cheap to clone.
#[derive(Clone)]
pub struct Index {
    passages: Arc<Vec<Passage>>,
    filled: Arc<Mutex<Option<DatabaseConnection>>>,
}

impl Index {
    /// Creates an index of these passages.
    #[must_use]
    pub fn new(passages: Vec<Passage>) -> Self {
        Self { passages: Arc::new(passages), filled: Arc::default() }
    }

    /// Returns the passages that have most of a question's words, best first.
    ///
    /// # Errors
    /// The index cannot be created.
    pub async fn search(&self, question: &str, most: u32) -> Result<Vec<Passage>> {
        let words = to_query(question);
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let mut filled = self.filled.lock().await;
        let rows = match filled.as_ref() {
            Some(db) => run_query(db, &words, most).await.ok(),
            None => None,
        };
        let rows = match rows {
            Some(rows) => rows,
            // The index is not filled yet, or a cancelled request has closed its connection, and the tables with it.
            None => {
                let db = filled.insert(fill(&self.passages).await?);
                run_query(db, &words, most).await.map_err(Error::internal)?
            }
        };
        let found = rows.iter().filter_map(|row| row.try_get_by_index::<i64>(0).ok());
        let found =
            found.filter_map(|id| self.passages.get(usize::try_from(id - 1).ok()?).cloned());
        Ok(found.collect())
    }
}

async fn run_query(
    db: &DatabaseConnection,
    words: &str,
    most: u32,
) -> Result<Vec<QueryResult>, DbErr> {
    let sql = "SELECT rowid FROM passages WHERE passages MATCH ? ORDER BY bm25(passages, 4.0, 1.0) LIMIT ?";
    let values = [words.into(), most.into()];
    db.query_all_raw(Statement::from_sql_and_values(DatabaseBackend::Sqlite, sql, values)).await
}

async fn fill(passages: &[Passage]) -> Result<DatabaseConnection> {
    let mut options = ConnectOptions::new("sqlite::memory:");
    // The database lives as long as its one connection.
    options.max_connections(1).min_connections(1).sqlx_logging(false);
    options.idle_timeout(None).max_lifetime(None).acquire_timeout(Duration::from_secs(2));
    let db = Database::connect(options).await.map_err(Error::internal)?;
    let table =
        "CREATE VIRTUAL TABLE passages USING fts5(title, text, tokenize = 'porter unicode61')";
    db.execute_unprepared(table).await.map_err(Error::internal)?;
    for passage in passages {
        let sql = "INSERT INTO passages (title, text) VALUES (?, ?)";
        let values = [passage.title.clone().into(), passage.text.clone().into()];
        let insert = Statement::from_sql_and_values(DatabaseBackend::Sqlite, sql, values);
        db.execute_raw(insert).await.map_err(Error::internal)?;
    }
    Ok(db)
}

/// Words that say nothing about the topic of a question.
const STOP_WORDS: [&str; 47] = [
    "the", "and", "how", "what", "why", "can", "does", "for", "with", "from", "that", "this",
    "are", "you", "your", "not", "was", "have", "has", "will", "when", "where", "which", "who",
    "its", "do", "many", "much", "may", "should", "there", "any", "get", "need", "of", "in", "an",
    "be", "is", "to", "at", "on", "my", "me", "or", "if", "send",
];

/// Returns the query for a question: any of its words, each quoted, so that none of them is an operator.
fn to_query(question: &str) -> String {
    let words = question.split(|mark: char| !mark.is_alphanumeric());
    let words = words.map(str::to_lowercase).filter(|word| word.chars().count() > 1);
    let words = words.filter(|word| !STOP_WORDS.contains(&word.as_str())).take(MAX_WORDS);
    words.map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" OR ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_passage_that_fits_best_comes_first() {
        let passage = |title: &str, text: &str| Passage {
            title: title.to_owned(),
            text: text.to_owned(),
            url: String::new(),
        };
        let index = Index::new(vec![
            passage("create_post", "Creates a post and schedules it."),
            passage("rotate_webhook_secret", "Gives a webhook a new secret."),
        ]);
        let found = index.search("How do I rotate the secrets of my webhooks?", 1).await.unwrap();
        assert_eq!(found[0].title, "rotate_webhook_secret");
        // The one connection is lost, and what it held.
        index.filled.lock().await.as_ref().unwrap().clone().close().await.unwrap();
        let found = index.search("schedules", 1).await.unwrap();
        assert_eq!(found[0].title, "create_post");
        for nothing in ["", "the", "\" OR (", "NEAR(*", "zebra"] {
            assert_eq!(index.search(nothing, 4).await.unwrap(), [], "{nothing}");
        }
    }
}
