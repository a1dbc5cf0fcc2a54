//! Creating containers.

use std::sync::Arc;

use serde_json::json;

use super::state::{Change, Container, Content, MediaType};
use super::{Cx, Threads, access, content, failure, publish};
use crate::call::Call;
use crate::fetch::{FetchError, Fetched};
use crate::graph::containers::Change as Made;
use crate::network::Medium;
use crate::params::Params;
use crate::picture;
use crate::reply::{HandlerResult, Reply};
use crate::sim::Account;
use crate::video_index::STREAMABLE;

const IMAGE_BYTES: u64 = 8 << 20;
const VIDEO_BYTES: u64 = 1 << 30;
/// The largest ratio of an image's longer side to the shorter one.
const RATIO: u32 = 10;

/// Returns true if a request publishes a text without a second call.
pub(super) fn publishes_at_once(call: &Call) -> bool {
    Params::read(call).is_ok_and(|params| params.flag("auto_publish_text"))
}

/// `POST /{user}/threads`
pub(super) async fn create(cx: Arc<Cx>) -> HandlerResult {
    let account = access::user(&cx)?;
    let params = Params::read(&cx.call)
        .map_err(|_| failure::graph(400, 100, 0, "(#100) The body cannot be read"))?;
    let mut content = content::content(&cx, &account, &params)?;
    if content.media_type == MediaType::Image {
        fetch_image(&cx, &mut content).await?;
    }
    let now_ms = cx.now_ms();
    let id = id(&cx);
    let fetching = content.media_type == MediaType::Video;
    let ready_ms = (!fetching).then(|| now_ms + cx.sim.env.processing_ms());
    let at_once = params.flag("auto_publish_text") && content.media_type == MediaType::Text;
    let video = content.medium.clone().filter(|_| fetching);
    cx.sim.apply(
        &account,
        Change::Made(Made::Container(Box::new(Container {
            id,
            at_ms: now_ms,
            ready_ms,
            flaw: None,
            published: false,
            content,
        }))),
    );
    if let Some(video) = video {
        tokio::spawn(fetch_video(Arc::clone(&cx), Arc::clone(&account), id, video));
    }
    if at_once {
        return publish::at_once(&cx, &account, id);
    }
    Ok(Reply::ok(&json!({"id": id.to_string()})))
}

/// Returns a new id of 17 digits.
pub(super) fn id(cx: &Cx) -> u64 {
    18_000_000_000_000_000 + cx.sim.env.unique_number()
}

async fn fetch_image(cx: &Cx, content: &mut Content) -> Result<(), Reply> {
    let Some(medium) = &mut content.medium else { return Ok(()) };
    let url = medium.url.clone().unwrap_or_default();
    let refused = |subcode, title, explanation: &str| {
        failure::explained(
            400,
            9004,
            subcode,
            "The media could not be fetched from this URI",
            title,
            explanation,
        )
    };
    let Fetched { file, .. } =
        cx.sim.env.crawler.fetch(&url, IMAGE_BYTES).await.map_err(|why| match why {
            FetchError::TooLarge => {
                refused(2_207_004, "Image too large", "The image must be at most 8 MB.")
            }
            FetchError::NoUrl | FetchError::Failed => refused(
                2_207_052,
                "Media download failed",
                "The media could not be fetched from this URI.",
            ),
        })?;
    let picture = picture::picture(&file.head)
        .filter(|picture| matches!(picture.mime, "image/jpeg" | "image/png"));
    let picture = picture.ok_or_else(|| {
        refused(2_207_005, "Unsupported format", "The image must be a JPEG or PNG file.")
    })?;
    let (long, short) = (picture.width.max(picture.height), picture.width.min(picture.height));
    if short == 0 || long > short * RATIO {
        return Err(refused(
            2_207_009,
            "Invalid aspect ratio",
            "The image's aspect ratio must be at most 10:1.",
        ));
    }
    medium.mime = picture.mime.into();
    medium.size = Some(file.size);
    medium.sha256 = Some(file.sha256);
    Ok(())
}

/// Fetches a video in the background, as Threads does, and records the result.
async fn fetch_video(cx: Arc<Cx>, account: Arc<Account<Threads>>, id: u64, mut medium: Medium) {
    let url = medium.url.clone().unwrap_or_default();
    let fetched = cx.sim.env.crawler.fetch(&url, VIDEO_BYTES).await;
    let flaw = match &fetched {
        Err(_) => Some("FAILED_DOWNLOADING_VIDEO"),
        Ok(Fetched { file, .. }) => match file.video(STREAMABLE) {
            Some(mime @ ("video/mp4" | "video/quicktime")) => {
                medium.mime = mime.into();
                None
            }
            _ => Some("FAILED_PROCESSING_VIDEO"),
        },
    };
    if let Ok(Fetched { file, .. }) = fetched {
        medium.size = Some(file.size);
        medium.sha256 = Some(file.sha256);
    }
    let ready_ms = cx.now_ms() + cx.sim.env.processing_ms();
    let medium = flaw.is_none().then_some(medium);
    cx.sim.apply(
        &account,
        Change::Made(Made::Fetched { id, ready_ms, medium, flaw: flaw.map(str::to_owned) }),
    );
}
