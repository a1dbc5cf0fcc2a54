//! Messages that a user sends in the channel's name.

use super::state::{Change, File, Kind, Message, Rest, State};
use crate::native_post::NativePost;
use crate::network::Medium;
use crate::random::{self, BASE64URL};

/// Returns the change that sends a message or an album, and the id of the first message.
pub(super) fn post(state: &State, new: &NativePost) -> (Vec<Change>, String) {
    let first = state.last_id + 1;
    let group = (new.media_urls.len() > 1).then(|| new.unique.to_string());
    let rest = |medium| Rest { file: Some(file(medium)), group: group.clone(), ..Rest::default() };
    let mut rests: Vec<Option<Box<Rest>>> =
        new.media().map(|medium| Some(Box::new(rest(medium)))).collect();
    if rests.is_empty() {
        rests.push(None);
    }
    let message = |(id, rest)| {
        // The text is the caption of the first file.
        let text = if id == first { new.text.clone() } else { String::new() };
        Message { id, at_ms: new.at_ms, text, entities: Vec::new(), rest }
    };
    let messages = (first..).zip(rests).map(message).collect();
    (vec![Change::Sent(messages)], first.to_string())
}

fn file(medium: Medium) -> File {
    File {
        id: format!("AgAC{}", random::text(BASE64URL, 60)),
        kind: if medium.is_video() { Kind::Video } else { Kind::Photo },
        name: Some(medium.file_name()),
        mime: medium.mime,
        size: 0,
        sha256: String::new(),
        url: medium.url,
        width: 0,
        height: 0,
        duration: 0,
    }
}

/// Returns the changes that delete a message with the rest of its album.
pub(super) fn delete(state: &State, id: &str) -> Vec<Change> {
    let group = |message: &Message| message.rest.as_ref().and_then(|rest| rest.group.clone());
    let Some(found) = id.parse().ok().and_then(|id: i64| state.messages.get(&id)) else {
        return Vec::new();
    };
    let album = group(found);
    let belongs = |one: &&Message| one.id == found.id || (album.is_some() && group(one) == album);
    let gone = state.messages.values().filter(belongs);
    gone.map(|message| Change::Deleted { id: message.id }).collect()
}
