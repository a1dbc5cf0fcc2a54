//! The progress of a post, and the next step.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::{Form, settings::Settings};
use crate::{Draft, Step};

/// The state that is stored between two calls.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct State {
    /// Photos that were uploaded.
    pub photos: Vec<String>,
    /// The video whose upload was started.
    pub video: Option<String>,
    /// True if Facebook has the video's file.
    pub uploaded: bool,
    /// True if the reel has its cover.
    pub covered: bool,
    /// True if the video story can be published.
    pub ready: bool,
    /// True if Facebook rejects the coloured background: the text is published without it.
    pub plain: bool,
    /// Since when the post waits for something.
    pub since: Option<DateTime<Utc>>,
    /// The id of the public post.
    pub published: Option<String>,
    /// When the video was first seen to be public, while its second name is waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen: Option<DateTime<Utc>>,
}

/// The next step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NextStep {
    /// Upload a photo.
    Photo(usize),
    /// Start a video.
    StartVideo,
    /// Upload this video's file.
    UploadVideo(String),
    /// Set the cover of this reel.
    CoverReel(String, String),
    /// Wait until this video is processed.
    WaitVideo(String),
    /// Publish it.
    Commit,
    /// Wait until the published video is visible.
    WaitPublished(String),
    /// Read the public address.
    Permalink(String),
}

impl State {
    /// Returns the next step of this draft.
    pub fn next(&self, draft: &Draft, settings: &Settings) -> NextStep {
        let form = Form::of(draft);
        if let Some(id) = &self.published {
            return match form {
                form if form.is_awaited() => NextStep::WaitPublished(id.clone()),
                _ => NextStep::Permalink(id.clone()),
            };
        }
        match form {
            Form::Video => NextStep::Commit,
            Form::Reel | Form::VideoStory => self.next_of_video(form, settings),
            Form::Feed | Form::PhotoStory | Form::CoverPhoto => {
                if self.photos.len() < draft.media.len() {
                    return NextStep::Photo(self.photos.len());
                }
                NextStep::Commit
            }
        }
    }

    fn next_of_video(&self, form: Form, settings: &Settings) -> NextStep {
        let Some(video) = &self.video else { return NextStep::StartVideo };
        match &settings.reel_cover_url {
            _ if !self.uploaded => NextStep::UploadVideo(video.clone()),
            Some(url) if !self.covered => NextStep::CoverReel(video.clone(), url.clone()),
            _ if form == Form::VideoStory && !self.ready => NextStep::WaitVideo(video.clone()),
            _ => NextStep::Commit,
        }
    }
}

impl NextStep {
    /// Returns it as the ledger shows it.
    pub fn step(&self) -> Step {
        match self {
            Self::Photo(index) => Step::prepare(format!("upload_photo_{}", index + 1)),
            Self::StartVideo => Step::prepare("start_video"),
            Self::UploadVideo(_) => Step::prepare("upload_video"),
            Self::CoverReel(..) => Step::prepare("set_cover"),
            Self::WaitVideo(_) => Step::prepare("wait_video"),
            Self::Commit => Step::commit("publish"),
            Self::WaitPublished(_) => Step::confirm("wait_published"),
            Self::Permalink(_) => Step::confirm("permalink"),
        }
    }
}
