//! A set as one entry among posts.

use std::collections::{BTreeMap, BTreeSet};

use fanfare_core::Result;
use fanfare_entities::{PostSetId, post, post::PostStatus};
use fanfare_publishing::{
    platforms::label,
    posts::{
        sets::{SetStatus, TargetRow, pages},
        status_words,
    },
};
use maud::{Markup, html};

use super::PAGE;
use crate::dashboard::{marks::mark, page_member::PageMember, parts::one_line, posts::title};

/// The sets of the posts on a page.
pub struct Sets {
    /// The targets that the user sees.
    targets: BTreeMap<PostSetId, Vec<TargetRow>>,
    /// The text that stands for each set.
    titles: BTreeMap<PostSetId, String>,
}

impl Sets {
    /// Reads the sets of these posts.
    ///
    /// # Errors
    /// The database's.
    pub async fn of(seat: &PageMember, rows: &[post::Model]) -> Result<Self> {
        let ids: BTreeSet<_> = rows.iter().filter_map(|row| row.post_set_id).collect();
        let ids: Vec<_> = ids.into_iter().collect();
        let targets = pages::targets(&seat.act, &ids).await?;
        let titles = rows.iter().filter_map(|row| Some((row.post_set_id?, row)));
        // One with a text of its own stands for its set only if there is no other.
        let (own, shared): (Vec<_>, Vec<_>) = titles.partition(|(id, row)| {
            targets.get(id).into_iter().flatten().any(|one| has_own_text(one, row))
        });
        let titles = own.into_iter().chain(shared).map(|(id, row)| (id, title(row))).collect();
        Ok(Self { targets, titles })
    }

    /// Returns the beginning of the text of a post, or of its set.
    pub fn title(&self, row: &post::Model) -> String {
        let of_set = row.post_set_id.and_then(|id| self.titles.get(&id));
        of_set.cloned().unwrap_or_else(|| title(row))
    }

    /// Returns the set of a post, with its targets.
    pub fn of_post(&self, row: &post::Model) -> Option<(PostSetId, &[TargetRow])> {
        let id = row.post_set_id?;
        Some((id, self.targets.get(&id)?))
    }

    /// Keeps the first post of each set, which stands for the whole set.
    pub fn firsts<'a>(
        &self,
        rows: impl IntoIterator<Item = &'a post::Model>,
    ) -> Vec<&'a post::Model> {
        let mut seen = BTreeSet::new();
        let mut rows: Vec<_> = rows.into_iter().collect();
        rows.retain(|row| self.of_post(row).is_none_or(|(id, _)| seen.insert(id)));
        rows
    }
}

fn has_own_text(target: &TargetRow, row: &post::Model) -> bool {
    target.post.id == row.id && target.overrides.get("caption").is_some()
}

/// Returns the address of a set's page.
pub fn address(id: PostSetId) -> String {
    format!("{PAGE}/{id}")
}

/// Returns the status of a set in words that claim no more than is known.
pub fn words(targets: &[TargetRow]) -> &'static str {
    let status = status(targets);
    let has = |words: &str| targets.iter().any(|one| status_words(&one.post) == words);
    match status {
        SetStatus::Partial => "partly published",
        SetStatus::Failed if has("not known") => "not known",
        SetStatus::Failed if has("partly published") => "partly published",
        other => other.name(),
    }
}

/// Returns the status of a set with these targets.
pub fn status(targets: &[TargetRow]) -> SetStatus {
    let statuses: Vec<PostStatus> = targets.iter().map(|one| one.post.status).collect();
    SetStatus::of(&statuses)
}

/// Returns true if the set's time moves all its targets.
pub fn moves_as_one(targets: &[TargetRow]) -> bool {
    let moves = |one: &TargetRow| {
        let waits = matches!(one.post.status, PostStatus::Scheduled | PostStatus::Paused);
        waits && one.is_open() && !one.own_time && one.offset_ms.is_none()
    };
    targets.iter().all(moves)
}

/// Renders the marks of a set's networks, and their names.
pub fn networks(targets: &[TargetRow]) -> Markup {
    let mut platforms: Vec<&str> = Vec::new();
    for one in targets {
        if !platforms.contains(&one.post.platform.as_str()) {
            platforms.push(&one.post.platform);
        }
    }
    let names: Vec<_> = platforms.iter().map(|one| label(one)).collect();
    html! {
        span.on {
            @for one in platforms.iter().take(8) { (mark(one)) " " }
            (count(targets.len())) " on " (one_line(&names.join(", "), 120))
        }
    }
}

/// Returns a number of accounts in words.
pub fn count(accounts: usize) -> String {
    format!("{accounts} {}", if accounts == 1 { "account" } else { "accounts" })
}
