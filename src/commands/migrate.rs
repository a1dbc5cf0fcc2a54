//! `fanfare migrate`: brings the schema up to date.

use anyhow::{Context as _, Result};
use fanfare_core::db::Db;

use super::say;
use crate::{config::Config, start};

/// Runs the migrations.
///
/// # Errors
/// The database cannot be reached, or is newer than this binary.
pub async fn run(config: Config) -> Result<()> {
    crate::init_log(&config)?;
    if config.is_embedded() {
        config.make_data_dir()?;
    }
    let db = Db::open(&config.database_url, 1)
        .await
        .context("FANFARE_DATABASE_URL: the database cannot be opened")?;
    start::migrate(&db).await?;
    say("The schema is up to date.");
    Ok(())
}
