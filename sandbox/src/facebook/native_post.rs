//! Posts that a user makes for the page natively on Facebook.

use serde_json::Map;

use super::representations;
use super::state::{Change, Kind, Photo, Post, State, Uploaded, Video};
use crate::native_post::NativePost;
use crate::network::{Identity, Medium};
use crate::random;

/// The number of digits of file ids.
const DIGITS: u32 = 16;

/// Returns the changes that make a post, and its id: with its video, or else its photos.
pub(super) fn post(page: &Identity, new: &NativePost) -> (Vec<Change>, String) {
    let (kind, photos, video) = (kind(new), photos(new), video(new));
    let post = Post {
        id: new.unique,
        at_ms: new.at_ms,
        kind,
        message: new.text.clone(),
        photos: if video.is_none() {
            photos.iter().map(|photo| photo.id).collect()
        } else {
            vec![]
        },
        video: video.as_ref().map(|video| video.id),
        extra: Map::new(),
    };
    let id = representations::id(page, &post);
    if let Some(video) = video {
        return (vec![Change::Finished { video, post }], id);
    }
    let first = photos.first().map(|photo| photo.id);
    let last = match first {
        Some(photo) if kind == Kind::Cover => Change::Covered { photo, post },
        _ => Change::Post(post),
    };
    (photos.into_iter().map(Change::Photo).chain([last]).collect(), id)
}

/// Returns the requested kind, else the usual one for its files.
fn kind(new: &NativePost) -> Kind {
    let is_video = new.medium().is_some_and(|medium| medium.is_video());
    match new.post_type.as_str() {
        "story" => Kind::Story,
        "reel" if is_video => Kind::Reel,
        "cover_photo" if !is_video && !new.media_urls.is_empty() => Kind::Cover,
        _ if is_video => Kind::Video,
        _ if new.media_urls.len() == 1 => Kind::Photo,
        _ => Kind::Feed,
    }
}

fn photos(new: &NativePost) -> Vec<Photo> {
    let stills = new.media().filter(|medium| !medium.is_video());
    let photo = |medium| {
        let id = random::number(DIGITS).unsigned_abs();
        Photo { id, at_ms: new.at_ms, medium, used: false }
    };
    stills.map(photo).collect()
}

/// Returns the video of a post whose first file is one.
fn video(new: &NativePost) -> Option<Video> {
    let medium = new.medium().filter(Medium::is_video)?;
    Some(Video {
        id: random::number(DIGITS).unsigned_abs(),
        at_ms: new.at_ms,
        kind: kind(new),
        uploaded: Some(Uploaded::File(medium)),
        finished_ms: Some(new.at_ms),
        seen_ms: Some(new.at_ms),
        fails_ms: None,
        is_draft: false,
        length_ms: None,
        title: String::new(),
        description: new.text.clone(),
        thumbnail: None,
    })
}

/// Returns the change that deletes a post by its own id, or by that of its video or cover photo.
pub(super) fn delete(state: &State, id: &str) -> Vec<Change> {
    let number = representations::number(id);
    let is_meant = |post: &&Post| {
        let cover = post.photos.first().filter(|_| post.kind == Kind::Cover);
        number.is_some_and(|number| {
            post.id == number || post.video == Some(number) || cover == Some(&number)
        })
    };
    let post = state.posts.values().find(is_meant);
    post.map(|post| Change::Deleted { id: post.id }).into_iter().collect()
}
