//! The progress of a post, and the next step.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::{Form, settings::Settings};
use crate::{Draft, Step};

/// Kept between two calls.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct State {
    /// Photos that were handed over.
    pub photos: Vec<String>,
    /// The video that was begun.
    pub video: Option<String>,
    /// Facebook has the video's file.
    pub uploaded: bool,
    /// The reel has its cover.
    pub covered: bool,
    /// The video story may be published.
    pub ready: bool,
    /// Facebook does not take the coloured background: the text goes out without it.
    pub plain: bool,
    /// It failed over the background, and may be public all the same: since when.
    pub doubtful: Option<DateTime<Utc>>,
    /// Since when something is waited for.
    pub since: Option<DateTime<Utc>>,
    /// The id of what is public.
    pub published: Option<String>,
}

/// The next thing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Next {
    /// Hand a photo over.
    Photo(usize),
    /// Look whether the post is there after all.
    LookUp(DateTime<Utc>),
    /// Begin a video.
    StartVideo,
    /// Hand this video's file over.
    UploadVideo(String),
    /// Give this reel its cover.
    CoverReel(String, String),
    /// Wait until this video is there.
    WaitVideo(String),
    /// Make it public.
    Commit,
    /// Wait until what was published is seen.
    WaitPublished(String),
    /// Ask where this is seen.
    Permalink(String),
}

impl State {
    /// Returns the next step of this draft.
    pub fn next(&self, draft: &Draft, settings: &Settings) -> Next {
        let form = Form::of(draft);
        if let Some(id) = &self.published {
            return match form {
                Form::Reel => Next::WaitPublished(id.clone()),
                _ => Next::Permalink(id.clone()),
            };
        }
        match form {
            Form::Video => Next::Commit,
            Form::Reel | Form::VideoStory => self.next_of_video(form, settings),
            Form::Feed | Form::PhotoStory | Form::CoverPhoto => {
                if self.photos.len() < draft.media.len() {
                    return Next::Photo(self.photos.len());
                }
                self.doubtful.map_or(Next::Commit, Next::LookUp)
            }
        }
    }

    fn next_of_video(&self, form: Form, settings: &Settings) -> Next {
        let Some(video) = &self.video else { return Next::StartVideo };
        match &settings.reel_cover_url {
            _ if !self.uploaded => Next::UploadVideo(video.clone()),
            Some(url) if !self.covered => Next::CoverReel(video.clone(), url.clone()),
            _ if form == Form::VideoStory && !self.ready => Next::WaitVideo(video.clone()),
            _ => Next::Commit,
        }
    }
}

impl Next {
    /// As the ledger shows it.
    pub fn step(&self) -> Step {
        match self {
            Self::Photo(index) => Step::prepare(format!("upload_photo_{}", index + 1)),
            Self::LookUp(_) => Step::prepare("look_up_post"),
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
