//! Posts that the user makes natively on the instance.

use super::posting;
use super::state::{Change, LemmyPost, State};
use crate::native_post::NativePost;
use crate::network::{Identity, Medium};
use crate::random::{self, BASE62};

/// The community of these posts.
const COMMUNITY: u64 = 1;

/// Returns the changes that create a post, and its id. Its link is its first file.
pub(super) fn post(state: &State, owner: &Identity, new: &NativePost) -> (Vec<Change>, String) {
    let id = posting::next_id(state, owner);
    let medium = new.medium();
    let post = LemmyPost {
        id,
        name: new.title(*posting::TITLE.end()),
        body: Some(new.text.clone()),
        url: medium.as_ref().and_then(|medium| medium.url.clone()),
        community_id: COMMUNITY,
        published_ms: new.at_ms,
        ..LemmyPost::default()
    };
    let image = medium.map(image);
    (image.into_iter().chain([Change::Post(Box::new(post))]).collect(), id.to_string())
}

/// Returns the change that uploads a file of the post.
fn image(medium: Medium) -> Change {
    let file = format!("{}-{}", random::text(BASE62, 32).to_lowercase(), medium.file_name());
    Change::Image { file, medium }
}

/// Returns the change that deletes a post; the instance keeps it marked as deleted.
pub(super) fn delete(state: &State, id: &str) -> Vec<Change> {
    let post = id.parse().ok().and_then(|id: u64| state.posts.get(&id)).cloned();
    let deleted = |post| Change::Post(Box::new(LemmyPost { deleted: true, ..post }));
    post.map(deleted).into_iter().collect()
}
