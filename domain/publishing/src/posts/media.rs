//! The files of a post: our own ones by their address, third-party ones as a copy.
//!
//! A third-party file is copied into our storage before the post is saved. The files of each post are recorded, so that
//! the clean-up removes none that a post still needs.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use fanfare_core::{
    Act, Domain,
    error::{Code, Error, Result},
};
use fanfare_entities::{
    AssetId, PostId, WorkspaceId, media_asset, media_asset::AssetStatus, media_use,
};
use fanfare_platforms::{self as platforms, Violation};
use futures_util::future;
use sea_orm::{
    ActiveValue::Set, ColumnTrait, Condition, ConnectionTrait, EntityTrait, QueryFilter,
    QuerySelect,
};
use url::Url;
use uuid::Uuid;

use super::view::PostMedia;
use crate::media::{ImportSource, request_import, url as url_of};

/// Returns `media_url` and `media_urls` as one list without duplicates.
#[must_use]
pub fn merge_urls(one: Option<&str>, many: Option<&[String]>) -> Vec<String> {
    let mut known = HashSet::new();
    let given = one.into_iter().chain(many.into_iter().flatten().map(String::as_str));
    given.map(platforms::text::clean_identifier).filter(|url| known.insert(url.clone())).collect()
}

/// The most files of a draft, whose post type may still change. No network takes as many.
const DRAFT_FILES_MAX: usize = 100;

/// Returns the violation of a list that is longer than a post of this type may have, and empties it, so that no file is
/// looked up or fetched.
pub fn reject_too_many(
    urls: &mut Vec<String>,
    platform: platforms::PlatformId,
    account: &platforms::Account,
    (post_type, is_draft): (&str, bool),
) -> Option<Violation> {
    let spec = platforms::find(platform).spec_of(account);
    let found = platforms::too_many_media(&spec, post_type, urls.len())
        .filter(|_| !is_draft || urls.len() > DRAFT_FILES_MAX)?;
    urls.clear();
    Some(found)
}

/// Returns the files at these addresses without copying them: our own files with their facts, other files with their
/// address.
///
/// # Errors
/// [`Code::InvalidField`] for an address that is not http(s), or whose file is no longer stored.
pub async fn look_up(act: &Act, urls: &[String]) -> Result<Vec<PostMedia>> {
    let looks = urls.iter().enumerate().map(|(place, url)| look_up_one(act, place, url));
    Error::all(future::join_all(looks).await)
}

async fn look_up_one(act: &Act, place: usize, url: &str) -> Result<PostMedia> {
    let field = format!("media_urls[{place}]");
    let parsed = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    let Some(parsed) = parsed else {
        let message = format!("{field} is not an http(s) address.");
        let remedy = match known_address(act, url).await? {
            Some(address) => format!("That is the id of a file; send its address: {address}."),
            None if Uuid::parse_str(url).is_ok() => {
                "Files are named by their addresses: send the `url` of the file.".to_owned()
            }
            None => "Send a full address.".to_owned(),
        };
        return Err(Error::field(Code::InvalidField, field, message, remedy));
    };
    let ours = url.strip_prefix(act.cx.settings.media_base_url.as_str());
    let Some(name) = ours.and_then(|name| name.strip_prefix('/')) else {
        let filename = parsed.path_segments().and_then(|mut parts| parts.next_back()).unwrap_or("");
        return Ok(PostMedia {
            url: url.to_owned(),
            filename: filename.to_owned(),
            ..PostMedia::default()
        });
    };
    let row = find_by_name(&act.cx, act.membership.workspace_id, name).await?;
    row.map(|row| of_asset(&act.cx, &row)).ok_or_else(|| {
        let message = format!("{field} is not a stored file of this workspace.");
        Error::field(Code::InvalidField, field, message, "Upload the file first.")
    })
}

/// Returns the address of the workspace's file with this id.
async fn known_address(act: &Act, id: &str) -> Result<Option<String>> {
    let Ok(id) = Uuid::parse_str(id) else { return Ok(None) };
    let row = media_asset::Entity::find()
        .filter(media_asset::Column::Uid.eq(id))
        .filter(media_asset::Column::WorkspaceId.eq(act.membership.workspace_id))
        .filter(media_asset::Column::Status.eq(AssetStatus::Ready))
        .one(&act.cx.db.read)
        .await?;
    Ok(row.map(|row| url_of(&act.cx, &row)))
}

/// Returns the file of a workspace that is served at this address.
///
/// # Errors
/// The database's.
pub async fn find_stored(
    cx: &Domain,
    workspace: WorkspaceId,
    url: &str,
) -> Result<Option<media_asset::Model>> {
    let ours = url.strip_prefix(cx.settings.media_base_url.as_str());
    match ours.and_then(|name| name.strip_prefix('/')) {
        Some(name) => find_by_name(cx, workspace, name).await,
        None => Ok(None),
    }
}

async fn find_by_name(
    cx: &Domain,
    workspace: WorkspaceId,
    name: &str,
) -> Result<Option<media_asset::Model>> {
    let row = media_asset::Entity::find()
        .filter(media_asset::Column::WorkspaceId.eq(workspace))
        .filter(has_name(name))
        .filter(media_asset::Column::Status.eq(AssetStatus::Ready))
        .one(&cx.db.read)
        .await?;
    Ok(row)
}

/// Returns the condition that a file is served under this name. Rows of an older version are served by their path.
pub(super) fn has_name(name: &str) -> Condition {
    let old = Condition::all()
        .add(media_asset::Column::PublicName.is_null())
        .add(media_asset::Column::Path.eq(name));
    Condition::any().add(media_asset::Column::PublicName.eq(name)).add(old)
}

pub(super) fn of_asset(cx: &Domain, row: &media_asset::Model) -> PostMedia {
    PostMedia {
        url: url_of(cx, row),
        asset_id: Some(row.uid),
        path: row.path.clone(),
        filename: row.filename.clone(),
        mime: row.mime.clone().unwrap_or_default(),
        bytes: row.bytes,
        width: row.width,
        height: row.height,
        ai_generated: row.ai_generated,
        ..PostMedia::default()
    }
}

/// Copies every third-party file into our storage, in parallel, and returns the list with the copies.
///
/// # Errors
/// The flaw of a file, or [`Code::MediaCopyPending`] if the copies take longer than a request may.
pub async fn copy_remote(act: &Act, files: Vec<PostMedia>) -> Result<Vec<PostMedia>> {
    let copies = files.into_iter().map(|file| async move {
        if file.path.is_some() {
            return Ok(file);
        }
        let source =
            ImportSource { url: &file.url, filename: "", field: "media_urls", must_be_fresh: true };
        Ok(of_asset(&act.cx, &request_import(act, source).await?))
    });
    future::try_join_all(copies).await
}

/// Records which files posts use, in the transaction that saves the posts. From then on the files are kept.
///
/// # Errors
/// [`Code::InvalidField`] if one was deleted meanwhile.
pub async fn record_uses<C: ConnectionTrait>(
    conn: &C,
    posts: &[(PostId, Vec<PostMedia>)],
) -> Result<()> {
    let uids: BTreeSet<Uuid> =
        posts.iter().flat_map(|(_, files)| files).filter_map(|file| file.asset_id).collect();
    if uids.is_empty() {
        return Ok(());
    }
    // Locked until the end of the transaction: a request to delete one waits, and then finds it used.
    let held: Vec<(AssetId, Uuid)> = media_asset::Entity::find()
        .select_only()
        .columns([media_asset::Column::Id, media_asset::Column::Uid])
        .filter(media_asset::Column::Uid.is_in(uids))
        .lock_shared()
        .into_tuple()
        .all(conn)
        .await?;
    let held: HashMap<Uuid, AssetId> = held.into_iter().map(|(id, uid)| (uid, id)).collect();
    let mut uses = BTreeMap::new();
    for (post, files) in posts {
        for file in files {
            let Some(uid) = file.asset_id else { continue };
            let asset = *held.get(&uid).ok_or_else(|| file_gone(file))?;
            let used = media_use::ActiveModel { asset_id: Set(asset), post_id: Set(*post) };
            uses.insert((post.0, asset.0), used);
        }
    }
    media_use::Entity::insert_many(uses.into_values()).exec_without_returning(conn).await?;
    Ok(())
}

fn file_gone(file: &PostMedia) -> Error {
    let message = format!("{} is no longer stored.", file.url);
    Error::field(Code::InvalidField, "media_urls", message, "Upload the file again.")
}

/// Deletes the record of which files a post uses.
///
/// # Errors
/// The database's.
pub async fn delete_uses<C: ConnectionTrait>(conn: &C, post: PostId) -> Result<()> {
    let of_post = media_use::Column::PostId.eq(post);
    media_use::Entity::delete_many().filter(of_post).exec(conn).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    /// The shortest time that a list of so many different addresses takes.
    fn time(count: usize) -> Duration {
        let urls: Vec<_> = (0..count).map(|n| format!("https://example.com/{n}")).collect();
        let one = || {
            let start = Instant::now();
            assert_eq!(merge_urls(urls.first().map(String::as_str), Some(&urls)).len(), count);
            start.elapsed()
        };
        (0..9).map(|_| one()).min().unwrap_or_default()
    }

    #[test]
    fn four_times_the_addresses_take_about_four_times_as_long() {
        // The square would take sixteen times as long.
        let (small, large) = (time(5_000), time(20_000));
        assert!(large < small * 9, "{small:?} {large:?}");
    }

    #[test]
    fn an_address_counts_once_and_keeps_its_place() {
        let many = ["b", "a", "b"].map(str::to_owned);
        assert_eq!(merge_urls(Some("a"), Some(&many)), ["a", "b"]);
    }
}
