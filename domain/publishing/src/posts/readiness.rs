//! The readiness of the files of a post: analysed, within the network's rules, and converted into what it takes.

use fanfare_core::{
    Code, Domain, UnreadableColumn,
    error::{Result, violation},
};
use fanfare_entities::{
    AssetId, Millis, media_analysis::WorkStatus, media_variant, post, post::PostStatus,
};
use fanfare_media::{Facts, Profile, Target};
use fanfare_platforms::{
    self as platforms, Account, Conversion, Draft, Phase, PlatformId, Violation,
};
use serde_json::Value;

use super::{caption_files, draft::Content, media_facts, view::PostMedia};
use crate::media::{analysis, media_waiters, variants};

/// The time after a post's time for which its files' analyses are waited for, in ms. After that the post is sent
/// without them, and the network decides whether it takes the files.
const MAX_ANALYSIS_WAIT: Millis = 10 * 60_000;

/// The shortest and the longest interval at which a waiting post is checked, in ms. Usually it is enqueued earlier,
/// when its files are ready.
const CHECK_INTERVAL: (Millis, Millis) = (2_000, 60_000);

/// The draft of a claimed post, and the state of its files.
#[derive(Debug)]
pub struct Readiness {
    /// The draft, with each file in a form that the network accepts.
    pub draft: Draft,
    /// The state of its files.
    pub files: FilesState,
}

/// The state of a post's files.
#[derive(Debug)]
pub enum FilesState {
    /// Nothing is left to do.
    Settled,
    /// Files are being analysed or converted; look again at this time.
    Waiting(Millis),
    /// A file cannot be used.
    Broken(Box<Violation>),
    /// The stored post cannot be read, so it is unknown what it would publish.
    Unreadable(UnreadableColumn),
    /// The files are ready, and there is nothing to do until then.
    Early(Millis),
}

/// Checks whether the files of a post are ready; starts the conversions that it needs.
///
/// # Errors
/// The database's, or the row names a platform that this version does not know.
pub async fn check_readiness(
    cx: &Domain,
    row: &post::Model,
    account: &Account,
) -> Result<Readiness> {
    let platform = crate::platforms::from_row(&row.platform)?;
    let mut content = match Content::of_row(row) {
        Ok(content) => content,
        Err(unreadable) => {
            let draft = Content::without_columns(row).draft_of(cx, row, platform);
            return Ok(Readiness { draft, files: FilesState::Unreadable(unreadable) });
        }
    };
    let files = if content.media.iter().any(|file| file.asset_id.is_some()) {
        settle_files(cx, row, (platform, account), &mut content).await?
    } else {
        FilesState::Settled
    };
    let settings = &content.settings;
    content.caption_files =
        caption_files::look_up(cx, &cx.db.read, row.workspace_id, settings).await?;
    let draft = content.draft_of(cx, row, platform);
    let files = match files {
        FilesState::Settled => {
            early_until(cx, row, platform, &draft).map_or(FilesState::Settled, FilesState::Early)
        }
        other => other,
    };
    Ok(Readiness { draft, files })
}

/// Returns the time until which a post waits that was only claimed to check its files: until there is something to
/// prepare.
fn early_until(
    cx: &Domain,
    row: &post::Model,
    platform: PlatformId,
    draft: &Draft,
) -> Option<Millis> {
    let at = row.scheduled_at.filter(|_| row.status == PostStatus::Scheduled)?;
    if row.state.is_some() || row.partly_public {
        return None;
    }
    let platform = platforms::find(platform);
    let prepares = platform.step(draft, None).phase == Phase::Prepare;
    Some(super::first_due(platform.spec(), prepares, at)).filter(|due| *due > cx.clock.now())
}

async fn settle_files(
    cx: &Domain,
    row: &post::Model,
    (platform, account): (PlatformId, &Account),
    content: &mut Content,
) -> Result<FilesState> {
    // A post that is partly public goes out with the files that it began with.
    let begun = row.sending_at.is_some() || row.partly_public;
    let mut noted = false;
    loop {
        let mut awaited = media_facts::refresh(&cx.db.read, &mut content.media).await?;
        let now = cx.clock.now();
        let at = row.scheduled_at.unwrap_or(row.created_at).max(row.created_at);
        if begun || now > at.saturating_add(MAX_ANALYSIS_WAIT) {
            awaited.clear();
        }
        if !begun && awaited.is_empty() {
            let account = account.clone();
            let broken =
                content.examine(move |content| content.violations(platform, &account)).await?;
            let broken = broken.into_iter().find(|one| one.field.starts_with("media_url"));
            if let Some(broken) = broken {
                return Ok(FilesState::Broken(Box::new(broken)));
            }
        }
        let mut converted = content.media.clone();
        if awaited.is_empty() {
            match convert(cx, (platform, account), content, &mut converted).await? {
                Ok(more) => awaited.extend(more),
                Err(_) if begun => {}
                Err(broken) => return Ok(FilesState::Broken(Box::new(broken))),
            }
        }
        if awaited.is_empty() {
            content.media = converted;
            return Ok(FilesState::Settled);
        }
        if noted {
            return Ok(FilesState::Waiting(next_check(now, at)));
        }
        // A file may have become ready just before the post was recorded as waiting, so its state is read again.
        media_waiters::record(cx, row.id, &awaited).await?;
        noted = true;
    }
}

fn next_check(now: Millis, at: Millis) -> Millis {
    let (least, most) = CHECK_INTERVAL;
    let rest = at - now;
    now + (rest / 8).clamp(least, most).min(if rest > 0 { rest } else { least })
}

/// Replaces each file by the variant that the network takes; returns the files whose variants are still being made.
async fn convert(
    cx: &Domain,
    (platform, account): (PlatformId, &Account),
    content: &Content,
    files: &mut [PostMedia],
) -> Result<Result<Vec<AssetId>, Violation>> {
    let mut awaited = Vec::new();
    for (place, conversion) in content.conversions(platform, account).into_iter().enumerate() {
        let Some(conversion) = conversion else { continue };
        match substitute_variant(cx, &mut files[place], &conversion).await? {
            VariantState::Pending(asset) => awaited.push(asset),
            VariantState::Failed(error) => return Ok(Err(flaw_violation(place, error.as_ref()))),
            VariantState::Put | VariantState::None => {}
        }
    }
    Ok(Ok(awaited))
}

/// The state of the variant of a file.
pub(super) enum VariantState {
    /// It has replaced the file.
    Put,
    /// It is being made.
    Pending(AssetId),
    /// It cannot be made.
    Failed(Option<Value>),
    /// The file is gone, or not ours.
    None,
}

/// Replaces a file by the variant that a conversion asks for, if it is made; starts the conversion otherwise.
pub(super) async fn substitute_variant(
    cx: &Domain,
    file: &mut PostMedia,
    conversion: &Conversion,
) -> Result<VariantState> {
    let (Some(uid), Some(profile)) = (file.asset_id, profile_of(conversion)) else {
        return Ok(VariantState::None);
    };
    let known = analysis::find_by_uids(&cx.db.read, &[uid]).await?;
    let Some(source) = known.get(&uid) else { return Ok(VariantState::None) };
    let Some(variant) = variants::request(cx, source, &profile.to_string()).await? else {
        return Ok(VariantState::None);
    };
    Ok(match variant.status {
        WorkStatus::Pending => VariantState::Pending(source.asset_id),
        WorkStatus::Failed => VariantState::Failed(variant.error),
        WorkStatus::Ready => {
            substitute(cx, file, &variant);
            VariantState::Put
        }
    })
}

/// Returns the profile of the variant that a conversion asks for.
pub(super) fn profile_of(conversion: &Conversion) -> Option<Profile> {
    let target = Target::of_mime(conversion.mime)?;
    Some(Profile { target, bytes_max: conversion.bytes_max, width_max: conversion.width_max })
}

fn substitute(cx: &Domain, file: &mut PostMedia, variant: &media_variant::Model) {
    let (Some(path), Some(mime)) = (&variant.path, &variant.mime) else { return };
    let side = |pixels: Option<i32>| pixels.and_then(|pixels| u32::try_from(pixels).ok());
    let duration_ms = file.facts.as_ref().and_then(|facts| facts.duration_ms);
    let stem = file.filename.rsplit_once('.').map_or(file.filename.as_str(), |(stem, _)| stem);
    let extension = path.rsplit_once('.').map_or("bin", |(_, extension)| extension);
    // A video that was encoded anew keeps its shape.
    let (width, height) = match (variant.width, variant.height) {
        (Some(width), Some(height)) => (Some(width), Some(height)),
        _ if mime.starts_with("video/") => (file.width, file.height),
        _ => (None, None),
    };
    *file = PostMedia {
        url: format!("{}/{path}", cx.settings.media_base_url),
        asset_id: file.asset_id,
        path: Some(path.clone()),
        filename: format!("{stem}.{extension}"),
        mime: mime.clone(),
        bytes: variant.bytes,
        width,
        height,
        ai_generated: file.ai_generated,
        facts: Some(Facts {
            mime: mime.clone(),
            bytes: variant.bytes.map_or(0, i64::unsigned_abs),
            width: side(variant.width),
            height: side(variant.height),
            duration_ms,
            ..Facts::default()
        }),
        flaw: None,
    };
}

/// Returns the violation for a stored flaw.
pub(super) fn flaw_violation(place: usize, stored: Option<&Value>) -> Violation {
    let text = |name: &str| stored.and_then(|error| error.get(name)).and_then(Value::as_str);
    let code = text("code").and_then(Code::named).unwrap_or(Code::MediaUnreadable);
    let message = text("message").unwrap_or("The file cannot be used.");
    let remedy = text("remedy").unwrap_or(code.entry().remedy);
    violation(code, format!("media_urls[{place}]"), message, remedy)
}

/// Returns the known reasons why variants of a post cannot be made.
///
/// # Errors
/// The database's.
pub async fn conversion_flaws(
    cx: &Domain,
    platform: PlatformId,
    account: &Account,
    content: &Content,
) -> Result<Vec<Violation>> {
    let mut flaws = Vec::new();
    for (place, conversion) in content.conversions(platform, account).into_iter().enumerate() {
        let (Some(conversion), Some(uid)) = (conversion, content.media[place].asset_id) else {
            continue;
        };
        let Some(profile) = profile_of(&conversion) else { continue };
        let variant = variants::find(cx, uid, &profile.to_string()).await?;
        if let Some(failed) = variant.filter(|variant| variant.status == WorkStatus::Failed) {
            flaws.push(flaw_violation(place, failed.error.as_ref()));
        }
    }
    Ok(flaws)
}
