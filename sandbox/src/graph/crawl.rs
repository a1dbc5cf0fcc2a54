//! Fetching pictures and videos as Meta's crawler does.

use super::failure;
use crate::fetch::{FetchError, Fetched};
use crate::network::{Medium, Network};
use crate::picture::{self, Picture};
use crate::reply::Reply;
use crate::sim::Sim;
use crate::video_index::{VideoProperties, VideoRequirements};

/// Fetches a picture of one of these types, up to a number of bytes.
pub(crate) async fn picture<N: Network>(
    sim: &Sim<N>,
    url: &str,
    types: &[&str],
    most: u64,
    alt: Option<String>,
) -> Result<(Medium, Picture), Reply> {
    let fetched = sim.env.crawler.fetch(url, most).await;
    let Fetched { file, .. } = fetched.map_err(|why| match why {
        FetchError::TooLarge => too_large(most),
        FetchError::NoUrl | FetchError::Failed => unfetched(),
    })?;
    let picture = picture::picture(&file.head).filter(|picture| types.contains(&picture.mime));
    let picture = picture.ok_or_else(|| {
        let types = types.join(", ");
        refused(
            2_207_005,
            "Unsupported format",
            &format!("The image format is not supported. It should be in one of: {types}."),
        )
    })?;
    let medium = Medium {
        url: Some(url.to_owned()),
        size: Some(file.size),
        mime: picture.mime.to_owned(),
        alt,
        sha256: Some(file.sha256),
    };
    Ok((medium, picture))
}

/// Fetches a video.
pub(crate) async fn video<N: Network>(
    sim: &Sim<N>,
    url: &str,
    types: &[&str],
    limits: (u64, VideoRequirements),
) -> Result<Medium, VideoFlaw> {
    measured_video(sim, url, types, limits).await.map(|(medium, _)| medium)
}

/// Fetches a video, and reads what its index tells.
pub(crate) async fn measured_video<N: Network>(
    sim: &Sim<N>,
    url: &str,
    types: &[&str],
    (most, asks): (u64, VideoRequirements),
) -> Result<(Medium, VideoProperties), VideoFlaw> {
    let Fetched { file, .. } =
        sim.env.crawler.fetch(url, most).await.map_err(|_| VideoFlaw::Unfetched)?;
    let mime =
        file.video(asks).filter(|mime| types.contains(mime)).ok_or(VideoFlaw::Unsupported)?;
    let medium = Medium {
        url: Some(url.to_owned()),
        size: Some(file.size),
        mime: mime.to_owned(),
        alt: None,
        sha256: Some(file.sha256),
    };
    Ok((medium, file.video.unwrap_or_default()))
}

/// Why a video is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VideoFlaw {
    Unfetched,
    Unsupported,
}

fn refused(subcode: u32, title: &str, explanation: &str) -> Reply {
    let message = "The media could not be fetched from this URI";
    failure::explained(400, 9_004, subcode, message, title, explanation)
}

fn unfetched() -> Reply {
    refused(
        2_207_052,
        "Media download has failed.",
        "The media could not be fetched from this URI. Please check that the media is public.",
    )
}

fn too_large(most: u64) -> Reply {
    let explanation = format!("The image is too large. It should be less than {most} bytes.");
    refused(2_207_004, "Image too large", &explanation)
}
