//! Commands for use after a restore or with a new master key: `fanfare admin hold` and `fanfare admin rewrap`.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Result, bail};
use fanfare_core::Domain;
use fanfare_publishing::posts;

use super::say;

/// Holds back posts due up to a time (by default now), or `all` of them; with `asks`, networks are asked first.
///
/// # Errors
/// A worker is running.
pub async fn hold(cx: &Domain, until: Option<SystemTime>, (all, asks): (bool, bool)) -> Result<()> {
    let given = until.map(|until| until.duration_since(UNIX_EPOCH)).transpose()?;
    let until = match given {
        Some(since) => i64::try_from(since.as_millis())?,
        // Posts become due by the database's clock.
        None => cx.db.now().await?,
    };
    let done = posts::hold_after_restore(cx, (!all).then_some(until), asks).await?;
    if asks {
        say(format_args!("networks are asked: {}", done.asked));
    }
    say(format_args!("held back: {}", done.held));
    Ok(())
}

/// Re-encrypts stored secrets with the current master key.
///
/// # Errors
/// Some were encrypted with a key that is not configured.
pub async fn rewrap(cx: &Domain) -> Result<()> {
    let done = cx.vault.rewrap(&cx.db).await?;
    say(format_args!("closed anew: {}", done.changed));
    if done.missing.is_empty() {
        return Ok(());
    }
    let missing: Vec<_> = done.missing.into_iter().collect();
    bail!(
        "some secrets were closed with other master keys ({}); name those in FANFARE_MASTER_KEY_OLD",
        missing.join(", ")
    )
}
