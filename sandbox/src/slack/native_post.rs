//! Messages that another program sends as the bot.

use super::ID;
use super::representations;
use super::state::{Change, File, Message, State};
use crate::native_post::NativePost;
use crate::network::Medium;
use crate::random;

/// Returns the changes that send a message, and its timestamp.
pub(super) fn post(state: &State, new: &NativePost) -> (Vec<Change>, String) {
    let ts = new.free_number(|ts| state.messages.contains_key(&ts));
    let files: Vec<File> = new.media().map(file).collect();
    let message = Message {
        ts,
        text: new.text.clone(),
        files: files.iter().map(|file| file.id.clone()).collect(),
        ..Message::default()
    };
    let titles = files.iter().map(|file| file.title.clone()).collect();
    let message = Change::Message { message: Box::new(message), at_ms: new.at_ms, titles };
    let files = files.into_iter().map(|file| Change::File(Box::new(file)));
    (files.chain([message]).collect(), representations::ts(ts))
}

fn file(medium: Medium) -> File {
    let name = medium.file_name();
    File {
        id: format!("F0{}", random::text(ID, 10)),
        title: name.clone(),
        name,
        medium: Some(medium),
        ..File::default()
    }
}
