//! Changes the content or the time of a post.

use fanfare_core::{
    Act, Reply, Tx,
    error::{Code, Error, Result, violation},
    input,
    mutation::{self, Mutation},
};
use fanfare_entities::{PostId, post, post::PostStatus};
use fanfare_platforms::{self as platforms, Warning};
use uuid::Uuid;

use super::{
    caption_files,
    create::{fill_row, look_up_files, objections, parse_time, with_timezone_fix},
    draft::{Content, account_of},
    duplicates::{self, Guard, Place, Print},
    input::PostChanges,
    media, media_facts, media_of,
    read::{find, find_locked},
    sets,
    status::{invalid_transition, save_by_caller},
    view::{self, ChangedPost, PostMedia},
};

/// Changes a scheduled, draft, paused or failed post, which stays in its status. A change of content restarts its preparation. Any change takes the row
/// from a worker that is preparing it. `flaws` are the fields that could not be read.
///
/// # Errors
/// Everything that is wrong with the changed post, in one error; nothing is written then.
pub async fn edit(
    act: &Act,
    id: PostId,
    changes: PostChanges,
    flaws: platforms::Violations,
) -> Result<Reply<ChangedPost>> {
    // Files are copied before the row is locked, so that no transaction stays open during a download.
    let before = find(act, id).await?;
    if let Some(account) = &changes.account_id {
        return Err(account_immutable(account, &before));
    }
    let account = account_of(&act.cx.db.read, &before).await?;
    let files = match check_changes(act, &before, &changes, &account, flaws).await? {
        Some(found) => {
            let mut files = media::copy_remote(act, found).await?;
            media_facts::refresh(&act.cx.db.read, &mut files).await?;
            Some(files)
        }
        None => None,
    };
    let mut tx = act.begin().await?;
    let guard = changes.duplicates.unwrap_or_default();
    if guard == Guard::Refuse {
        // Sets are locked before accounts, and these before posts.
        sets::lock_of_post(tx.conn(), id).await?;
        duplicates::lock_account(tx.conn(), before.account_id).await?;
    }
    let earlier = find_locked(act, &tx, id).await?;
    require_editable(&earlier)?;
    let uses_change = files.is_some() || changes.settings.is_some();
    let row = changed_row(act, &earlier, &changes, &account, (files, None)).await?;
    let warnings = compare(act, &tx, (&earlier, &row), guard).await?;
    if uses_change {
        media::delete_uses(tx.conn(), id).await?;
        let used = caption_files::with_media(&act.cx, tx.conn(), &row).await?;
        media::record_uses(tx.conn(), &[(id, used)]).await?;
    }
    sets::own_changes(&tx, &row, &changes).await?;
    let saved = save_by_caller(act, &mut tx, row, "edited").await?;
    if let Some(set) = saved.post_set_id {
        sets::changed_by_caller(act, &mut tx, set).await?;
    }
    let reply = view::changed_reply(act, saved, warnings).await?;
    act.finish(tx, reply).await
}

/// Compares a post whose content or time changes with the others of its account; returns the warnings.
///
/// # Errors
/// [`Code::DuplicateContent`], with the guard.
pub(super) async fn compare(
    act: &Act,
    tx: &Tx,
    (before, after): (&post::Model, &post::Model),
    guard: Guard,
) -> Result<Vec<Warning>> {
    if !content_differs(after, before) && after.scheduled_at == before.scheduled_at {
        return Ok(Vec::new());
    }
    let at = after.scheduled_at.unwrap_or_else(|| act.cx.clock.now());
    let place = Place::new(&act.membership, after.account_id, at).but_not(after.id);
    let print = Print::of(tx.conn(), &after.caption, &media_of(after)?).await?;
    let similar = duplicates::find(tx.conn(), &place, &print).await?;
    if guard == Guard::Refuse {
        duplicates::refuse(&similar)?;
    }
    let platform = crate::platforms::from_row(&after.platform)?;
    Ok(duplicates::warnings(act, platform, (&print, at), &similar))
}

/// Returns the error for a request that names the post's account. If it is the account that the post has, the fix
/// removes the field.
fn account_immutable(account: &serde_json::Value, before: &post::Model) -> Error {
    let given = account.as_i64().or_else(|| account.as_str()?.parse().ok());
    let fix = (given == Some(before.account_id.0)).then(|| platforms::Fix::remove("account_id"));
    let message = "The account of a post cannot be changed.";
    let remedy = "Make a new post for the other account.";
    let broken = violation(Code::ImmutableField, "account_id", message, remedy);
    Error::violation(broken.with_fix(fix))
}

/// Checks the changes without copying any file. Returns the new files, as far as they are known.
pub(super) async fn check_changes(
    act: &Act,
    before: &post::Model,
    changes: &PostChanges,
    account: &platforms::Account,
    flaws: platforms::Violations,
) -> Result<Option<Vec<PostMedia>>> {
    let mut listed = changed_urls(changes);
    let platform = crate::platforms::from_row(&before.platform)?;
    let mut content = Content::of_row(before)?;
    let too_many = listed.as_mut().and_then(|urls| {
        apply_changes(&mut content, changes, platform, None);
        let kind = (&*content.post_type(platform), before.status == PostStatus::Draft);
        media::reject_too_many(urls, platform, account, kind)
    });
    let found = match listed {
        Some(urls) => look_up_files(act, &urls).await.map(Some),
        None => Ok(None),
    };
    let files = found.clone().unwrap_or_default();
    let right = changed_row(act, before, changes, account, (files, too_many)).await.map(drop);
    let all = Error::all(vec![right, found.clone().map(drop)]).map(drop);
    Error::merge(flaws, all)?;
    require_editable(before)?;
    found
}

fn require_editable(row: &post::Model) -> Result<()> {
    let open = matches!(
        row.status,
        PostStatus::Scheduled | PostStatus::Draft | PostStatus::Paused | PostStatus::Failed
    );
    if open && !row.partly_public { Ok(()) } else { Err(invalid_transition(row, "changed")) }
}

/// Returns the new list of media addresses, if it changes.
fn changed_urls(changes: &PostChanges) -> Option<Vec<String>> {
    if changes.media_url.is_none() && changes.media_urls.is_none() {
        return None;
    }
    let one = changes.media_url.clone().flatten();
    let many = changes.media_urls.clone().flatten();
    Some(media::merge_urls(one.as_deref(), many.as_deref()))
}

/// Returns the row after the changes, if it is valid.
pub(super) async fn changed_row(
    act: &Act,
    row: &post::Model,
    changes: &PostChanges,
    account: &platforms::Account,
    (files, too_many): (Option<Vec<PostMedia>>, Option<platforms::Violation>),
) -> Result<post::Model> {
    let now = act.cx.clock.now();
    let platform = crate::platforms::from_row(&row.platform)?;
    let is_draft = row.status == PostStatus::Draft;
    let fencing_token = row.fencing_token + i64::from(mutation::is_off(Mutation::ChangeTakesRow));
    let mut next = post::Model {
        fencing_token,
        lease_expirations: 0,
        out_of_line: false,
        behind: false,
        updated_at: now,
        ..row.clone()
    };
    next.request_id.clone_from(&act.request_id);
    let mut content = Content::of_row(row)?;
    apply_changes(&mut content, changes, platform, files);
    let workspace = row.workspace_id;
    content.caption_files =
        caption_files::look_up(&act.cx, &act.cx.db.read, workspace, &content.settings).await?;
    let mut broken = objections(&content, platform, account, is_draft, too_many).await?;
    next.requested_post_type = content.generic_type.map(str::to_owned);
    let of_time = reschedule(&mut next, changes, now);
    let time = changes.scheduled_at.as_ref().and_then(Option::as_deref);
    broken.append(with_timezone_fix(act, of_time, time));
    Error::check(broken)?;
    if let Some(group) = &changes.group {
        next.group_key.clone_from(group);
    }
    fill_row(&mut next, &content, platform)?;
    if content_differs(&next, row) {
        next.content_key = Uuid::now_v7();
        next.state = None;
        next.steps = None;
    }
    if next.status == PostStatus::Scheduled {
        let at = next.scheduled_at.unwrap_or(now);
        let due = content.due_at(platform, account, at, now, next.state.is_some());
        // An edited post that waits for its next attempt keeps waiting.
        let due = next.next_attempt_at.map_or(due, |wait| wait.max(due));
        next.due_at = Some(due);
    }
    Ok(next)
}

fn apply_changes(
    content: &mut Content,
    changes: &PostChanges,
    platform: platforms::PlatformId,
    files: Option<Vec<PostMedia>>,
) {
    if let Some(caption) = &changes.caption {
        content.caption = caption.clone().unwrap_or_default();
    }
    if let Some(post_type) = &changes.post_type {
        content.set_type(platform, post_type.as_deref());
    }
    if let Some(settings) = &changes.settings {
        content.settings = settings.clone().unwrap_or_default();
        content.tidy(platform);
    }
    if let Some(metadata) = &changes.metadata {
        content.metadata = metadata.clone().unwrap_or_default();
    }
    if let Some(files) = files {
        content.media = files;
    }
}

/// Sets the new time; returns what is wrong with it.
fn reschedule(next: &mut post::Model, changes: &PostChanges, now: i64) -> platforms::Violations {
    let zone = changes.timezone.clone().unwrap_or_else(|| next.timezone.clone());
    let Some(time) = &changes.scheduled_at else {
        let broken = changes.timezone.clone().flatten().map(|zone| input::zone(&zone));
        next.timezone = zone;
        return broken.and_then(Result::err).map(Error::into_violations).unwrap_or_default();
    };
    let (at, broken) = parse_time(time.as_deref(), zone.as_deref().filter(|_| time.is_some()), now);
    next.timezone = zone;
    if at.is_none() && broken.is_empty() && next.status != PostStatus::Draft {
        let message = "A post that is not a draft needs a time.";
        let remedy = "Send a time, or make the post a draft first.";
        let missing = violation(Code::FieldRequired, "scheduled_at", message, remedy);
        return vec![missing].into();
    }
    if at != next.scheduled_at {
        next.announced_fence = None;
        next.attempts = 0;
        next.next_attempt_at = None;
    }
    next.scheduled_at = at;
    broken
}

fn content_differs(a: &post::Model, b: &post::Model) -> bool {
    a.caption != b.caption
        || a.post_type != b.post_type
        || a.settings != b.settings
        || a.metadata != b.metadata
        || a.media != b.media
}
