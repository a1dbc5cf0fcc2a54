//! Publishing: accounts, media, and posts from the first draft to the last attempt.
//!
//! Nothing is published here: a change leaves a row that is due, and the workers carry it out. Networks are asked for what a
//! caller waits for, such as whether credentials are good.

pub mod accounts;
pub mod background;
pub mod brands;
pub mod lost_calls;
pub mod media;
pub mod network_limits;
pub mod platform_tools;
pub mod platforms;
pub mod posting_schedule;
pub mod posts;
pub mod retry_action;

use std::collections::BTreeMap;

use fanfare_core::Domain;
use fanfare_entities::Millis;
use fanfare_media::{Scratch, Tools};
use fanfare_platforms::{PlatformId, VideoService, oauth::App};
use url::Url;

/// The operator's settings for publishing.
#[derive(Debug, Clone)]
pub struct Settings {
    /// A post that could not start this long after its time fails with `missed`, in ms.
    pub max_lateness: Millis,
    /// The addresses that replace the platforms' own.
    pub platform_urls: BTreeMap<PlatformId, Url>,
    /// The service that videos for Bluesky are sent to.
    pub bluesky_video: VideoService,
    /// The apps registered with networks.
    pub apps: BTreeMap<PlatformId, App>,
    /// True if the rate limits of the real networks also hold for the simulated ones.
    pub sandbox_limits: bool,
    /// The factor by which ages and intervals of accounts on simulated networks are divided.
    pub sandbox_time_factor: f64,
    /// The programs that read and convert videos.
    pub tools: Tools,
    /// The directory for temporary copies of files.
    pub scratch: Scratch,
}

/// Returns the operator's settings for publishing.
#[must_use]
pub fn settings(cx: &Domain) -> &Settings {
    cx.feature()
}
