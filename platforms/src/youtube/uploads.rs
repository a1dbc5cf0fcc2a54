//! The channel's own list of uploads, where a video is looked for whose upload YouTube has forgotten.

use chrono::{DateTime, Utc};
use serde::Deserialize;

use super::{API, client::YoutubePage, error::parse_error};
use crate::{
    Error, ErrorKind, Result, Session, google,
    recent_posts::{Entry, ListPage},
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Channel {
    content_details: ContentDetails,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ContentDetails {
    related_playlists: RelatedPlaylists,
}

#[derive(Deserialize)]
struct RelatedPlaylists {
    uploads: String,
}

/// A video in the list.
#[derive(Debug, Deserialize)]
pub(super) struct Upload {
    snippet: Snippet,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Snippet {
    #[serde(default)]
    title: String,
    #[serde(default)]
    description: String,
    published_at: Option<DateTime<Utc>>,
    resource_id: ResourceId,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResourceId {
    video_id: String,
}

impl Upload {
    /// Returns the id of the video.
    pub fn id(&self) -> &str {
        &self.snippet.resource_id.video_id
    }

    /// Returns title and description.
    pub fn text(&self) -> String {
        format!("{}\n{}", self.snippet.title, self.snippet.description)
    }
}

impl Entry for Upload {
    fn created_at(&self) -> Option<DateTime<Utc>> {
        self.snippet.published_at
    }
}

/// Returns the id of the list (<https://developers.google.com/youtube/v3/docs/channels#contentDetails>).
pub(super) async fn list_id(session: &Session) -> Result<String> {
    let query = [("part", "contentDetails"), ("mine", "true")];
    let url = session.url(API, "/youtube/v3/channels")?;
    let page: YoutubePage<Channel> = google::get(session, url, &query, parse_error).await?;
    let found = page.items.into_iter().next();
    found.map(|channel| channel.content_details.related_playlists.uploads).ok_or_else(|| {
        Error::new(ErrorKind::Ambiguous, "YouTube did not say which videos the channel has.")
    })
}

/// Reads a page of it, newest first (<https://developers.google.com/youtube/v3/docs/playlistItems/list>).
pub(super) async fn page(
    session: &Session,
    list: &str,
    next: Option<String>,
) -> Result<ListPage<Upload>> {
    let mut query = vec![("part", "snippet"), ("playlistId", list), ("maxResults", "50")];
    query.extend(next.as_deref().map(|token| ("pageToken", token)));
    let url = session.url(API, "/youtube/v3/playlistItems")?;
    let page: YoutubePage<Upload> = google::get(session, url, &query, parse_error).await?;
    Ok(ListPage::with_next(page.items, page.next_page_token))
}
