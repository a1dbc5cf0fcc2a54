//! The state of one page.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::graph::login::{self, Logins};
use crate::mailbox::{self, Mailbox};
use crate::network::Medium;

/// One page's photos, videos and posts.
#[derive(Default)]
pub(crate) struct State {
    pub logins: Logins,
    pub photos: BTreeMap<u64, Photo>,
    pub videos: BTreeMap<u64, Video>,
    pub posts: BTreeMap<u64, Post>,
    pub comments: BTreeMap<u64, Comment>,
    pub mail: Mailbox,
    /// The cover photo.
    pub cover: Option<u64>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Photo {
    pub id: u64,
    pub at_ms: i64,
    pub medium: Medium,
    /// True if it is in a post, a story or the cover.
    #[serde(default)]
    pub used: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    Feed,
    Photo,
    Video,
    Reel,
    Story,
    Cover,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Video {
    pub id: u64,
    pub at_ms: i64,
    pub kind: Kind,
    /// Its file, once it was uploaded, or why it failed.
    pub uploaded: Option<Uploaded>,
    /// When it was published.
    pub finished_ms: Option<i64>,
    /// When it becomes visible.
    pub seen_ms: Option<i64>,
    /// When its encoding fails.
    #[serde(default)]
    pub fails_ms: Option<i64>,
    /// True if it waits for a person who publishes it.
    #[serde(default)]
    pub is_draft: bool,
    /// Its length.
    #[serde(default)]
    pub length_ms: Option<u64>,
    #[serde(default)]
    pub title: String,
    #[serde(default)]
    pub description: String,
    /// SHA-256 of its thumbnail.
    #[serde(default)]
    pub thumbnail: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Uploaded {
    File(Medium),
    Flaw(String),
}

impl Video {
    /// Returns its file, if it is valid.
    pub fn medium(&self) -> Option<&Medium> {
        match &self.uploaded {
            Some(Uploaded::File(medium)) => Some(medium),
            Some(Uploaded::Flaw(_)) | None => None,
        }
    }
}

impl State {
    /// Returns true if people see a post at some time: it is no video that stays a draft or fails.
    pub fn is_for_people(&self, post: &Post) -> bool {
        let video = post.video.and_then(|id| self.videos.get(&id));
        video.is_none_or(|video| {
            let is_broken = matches!(video.uploaded, Some(Uploaded::Flaw(_)));
            !is_broken && !video.is_draft && video.fails_ms.is_none()
        })
    }
}

/// A public post.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Post {
    pub id: u64,
    pub at_ms: i64,
    pub kind: Kind,
    pub message: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub photos: Vec<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub video: Option<u64>,
    /// Other parameters such as link and background, by name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Comment {
    pub id: u64,
    pub at_ms: i64,
    pub post: u64,
    pub message: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Change {
    Login(login::Change),
    Photo(Photo),
    /// A new video, or its new state.
    Video(Video),
    /// A video's file was uploaded, or failed.
    Uploaded {
        id: u64,
        uploaded: Uploaded,
        #[serde(default)]
        is_draft: bool,
        #[serde(default)]
        length_ms: Option<u64>,
    },
    Post(Post),
    /// A reel or story is public.
    Finished {
        video: Video,
        post: Post,
    },
    Covered {
        photo: u64,
        post: Post,
    },
    Comment(Comment),
    Mail(mailbox::Change),
    Deleted {
        id: u64,
    },
}

impl State {
    pub fn apply(&mut self, change: Change) {
        match change {
            Change::Login(change) => self.logins.apply(change),
            Change::Photo(photo) => drop(self.photos.insert(photo.id, photo)),
            Change::Video(video) => drop(self.videos.insert(video.id, video)),
            Change::Uploaded { id, uploaded, is_draft, length_ms } => {
                if let Some(video) = self.videos.get_mut(&id) {
                    video.uploaded = Some(uploaded);
                    video.is_draft |= is_draft;
                    video.length_ms = length_ms;
                }
            }
            Change::Post(post) => self.publish(post),
            Change::Finished { video, post } => {
                self.videos.insert(video.id, video);
                self.publish(post);
            }
            Change::Covered { photo, post } => {
                self.cover = Some(photo);
                self.publish(post);
            }
            Change::Comment(comment) => drop(self.comments.insert(comment.id, comment)),
            Change::Mail(change) => self.mail.apply(change),
            Change::Deleted { id } => {
                if let Some(video) = self.posts.remove(&id).and_then(|post| post.video) {
                    self.videos.remove(&video);
                }
            }
        }
    }

    fn publish(&mut self, post: Post) {
        for id in &post.photos {
            if let Some(photo) = self.photos.get_mut(id) {
                photo.used = true;
            }
        }
        self.posts.insert(post.id, post);
    }
}
