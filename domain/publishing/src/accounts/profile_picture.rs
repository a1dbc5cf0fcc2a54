//! Profile pictures of accounts. The picture that the network names at a connect is copied, because its address
//! expires.
//!
//! Three facts of an account describe it: the address at the network ([`PICTURE_URL`](fanfare_platforms::PICTURE_URL)), the copy (`picture`, a
//! key of the store) and the address that was copied (`picture_of`). A failed copy is tried again at `picture_at`.

use fanfare_core::{
    Domain,
    error::{Error, Result},
};
use fanfare_entities::{AccountId, Millis, account, account::AccountStatus};
use fanfare_media::{CopyError, Sizes, copy_remote};
use fanfare_platforms as platforms;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, sea_query::Expr};
use serde_json::{Map, Value, json};
use url::Url;

use super::session;

/// The prefix of every copy.
pub const ROOT: &str = "profiles";

/// Largest picture that is copied, in bytes.
const MAX_BYTES: u64 = 5_000_000;

/// The number of attempts to copy a picture, and the delay before the second one, in ms.
const MAX_ATTEMPTS: i64 = 4;
const FIRST_RETRY_DELAY: Millis = 60_000;

/// The facts that a reconnect keeps.
const KEPT_FACTS: [&str; 2] = ["picture", "picture_of"];

/// Returns the address of the copy, if there is one.
pub(super) fn copy_url(cx: &Domain, row: &account::Model) -> Option<String> {
    Some(format!("{}/{}", cx.settings.media_base_url, path(&row.meta)?))
}

fn path(meta: &Value) -> Option<&str> {
    meta["picture"].as_str()
}

/// Returns the time at which a picture has to be copied; `None` if there is nothing to copy.
pub(super) fn due(meta: &Value) -> Option<Millis> {
    let there = meta[platforms::PICTURE_URL].as_str()?;
    let is_copied = meta["picture_of"].as_str() == Some(there);
    (!is_copied).then(|| meta["picture_at"].as_i64().unwrap_or(0))
}

/// Keeps the copy of an account that is connected again.
pub(super) fn keep_copy(before: &account::Model, meta: &mut Value) {
    let Some(meta) = meta.as_object_mut().filter(|_| before.status != AccountStatus::Disconnected)
    else {
        return;
    };
    for name in KEPT_FACTS {
        if let Some(value) = before.meta.get(name) {
            meta.insert(name.to_owned(), value.clone());
        }
    }
}

/// Copies the picture of a claimed account, if that is due, and records the result in the row.
///
/// # Errors
/// The database's.
pub(super) async fn copy(cx: &Domain, row: &mut account::Model) -> Result<()> {
    let now = cx.clock.now();
    if due(&row.meta).is_none_or(|at| at > now) {
        return Ok(());
    }
    let Some(session) = session(cx, row).await? else { return Ok(()) };
    let Some(there) = row.meta[platforms::PICTURE_URL].as_str().map(str::to_owned) else {
        return Ok(());
    };
    let before = path(&row.meta).map(str::to_owned);
    let tries = row.meta["picture_tries"].as_i64().unwrap_or(0) + 1;
    let mut facts: Map<String, Value> = row.meta.as_object().cloned().unwrap_or_default();
    facts.retain(|name, _| !["picture_at", "picture_tries"].contains(&name.as_str()));
    let fetched = fetch(cx, &session, row.id, &there).await;
    match &fetched {
        Fetched::Later if tries < MAX_ATTEMPTS => {
            facts.insert("picture_at".to_owned(), json!(now + (FIRST_RETRY_DELAY << tries)));
            facts.insert("picture_tries".to_owned(), json!(tries));
        }
        Fetched::Stored(path) => {
            facts.insert("picture".to_owned(), json!(path));
            facts.insert("picture_of".to_owned(), json!(there));
        }
        Fetched::Later | Fetched::Never => {
            facts.insert("picture_of".to_owned(), json!(there));
        }
    }
    row.meta = Value::Object(facts);
    let written = account::Entity::update_many()
        .col_expr(account::Column::Meta, Expr::value(row.meta.clone()))
        .filter(account::Column::Id.eq(row.id))
        .filter(account::Column::FencingToken.eq(row.fencing_token))
        .exec(&cx.db.write)
        .await?;
    let is_written = written.rows_affected == 1;
    let Fetched::Stored(fresh) = fetched else { return Ok(()) };
    let old = if is_written { before } else { Some(fresh) };
    if let Some(old) = old {
        cx.store.delete(&old).await.map_err(Error::internal)?;
    }
    Ok(())
}

/// The result of a copy.
enum Fetched {
    /// It was stored under this key.
    Stored(String),
    /// The network did not return it; it is tried again.
    Later,
    /// The account has no picture that can be stored.
    Never,
}

async fn fetch(cx: &Domain, session: &platforms::Session, id: AccountId, address: &str) -> Fetched {
    let Ok(url) = Url::parse(address) else { return Fetched::Never };
    let prefix = format!("{ROOT}/{id}");
    let copied = copy_remote(&cx.store, &session.http, &url, &prefix, Sizes::all(MAX_BYTES)).await;
    match copied {
        Ok(copied) if copied.file.mime.starts_with("image/") => Fetched::Stored(copied.file.path),
        Ok(copied) => {
            let removed = cx.store.delete(&copied.file.path).await;
            tracing::info!(account.id = id.0, is_removed = removed.is_ok(), "a picture is none");
            Fetched::Never
        }
        Err(CopyError::Unavailable { retryable: true, .. } | CopyError::Store(_)) => Fetched::Later,
        Err(error) => {
            tracing::info!(account.id = id.0, %error, "a picture was not copied");
            Fetched::Never
        }
    }
}

/// Returns those of the paths that connected accounts use.
///
/// # Errors
/// The database's.
pub(crate) async fn paths_in_use(cx: &Domain, paths: &[String]) -> Result<Vec<String>> {
    let owner = |path: &String| path.split('/').nth(1)?.parse().ok().map(AccountId);
    let rows = account::Entity::find()
        .filter(account::Column::Id.is_in(paths.iter().filter_map(owner)))
        .filter(account::Column::Status.ne(AccountStatus::Disconnected))
        .all(&cx.db.write)
        .await?;
    Ok(rows.iter().filter_map(|row| path(&row.meta)).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_due_until_it_is_copied_and_again_when_it_changes() {
        assert_eq!(due(&json!({})), None);
        assert_eq!(due(&json!({"picture_url": "https://a.example/1"})), Some(0));
        let waits = json!({"picture_url": "https://a.example/1", "picture_at": 70});
        assert_eq!(due(&waits), Some(70));
        let copied = json!({"picture_url": "https://a.example/1", "picture_of": "https://a.example/1", "picture": "p"});
        assert_eq!(due(&copied), None);
        let changed = json!({"picture_url": "https://a.example/2", "picture_of": "https://a.example/1", "picture": "p"});
        assert_eq!(due(&changed), Some(0));
    }
}
