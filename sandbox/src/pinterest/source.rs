//! The sources of a pin's files: fetched by URL, in the request, or uploaded before.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::{Cx, Pinterest, failure, media};
use crate::fetch::{FetchError, Fetched};
use crate::network::Medium;
use crate::picture::{self, Picture};
use crate::received_file::ReceivedFile;
use crate::reply::Reply;
use crate::sim::Account;

const IMAGE_BYTES: u64 = 20 << 20;

/// Returns the files of a pin, after fetching them.
pub(super) async fn read(
    cx: &Cx,
    account: &Account<Pinterest>,
    source: &Value,
    alt: Option<String>,
) -> Result<Vec<Medium>, Reply> {
    let text = |name: &str| source[name].as_str().unwrap_or_default();
    let mut media = match text("source_type") {
        "image_url" => vec![fetch(cx, text("url")).await?.0],
        "image_base64" => vec![sent(text("data"))?],
        "multiple_image_urls" => several(cx, &source["items"]).await?,
        "video_id" => vec![video(cx, account, source).await?],
        other => return Err(failure::invalid(&format!("media_source {other:?} is not known"))),
    };
    if let Some(first) = media.first_mut() {
        first.alt = alt;
    }
    Ok(media)
}

async fn fetch(cx: &Cx, url: &str) -> Result<(Medium, Picture), Reply> {
    let Fetched { file, .. } =
        cx.sim.env.crawler.fetch(url, IMAGE_BYTES).await.map_err(|why| match why {
            FetchError::TooLarge => failure::invalid("the image is larger than 20 MB"),
            FetchError::NoUrl | FetchError::Failed => failure::unreachable(),
        })?;
    let (mut medium, picture) = judge(file)?;
    medium.url = Some(url.to_owned());
    Ok((medium, picture))
}

fn judge(file: ReceivedFile) -> Result<(Medium, Picture), Reply> {
    let picture = picture::picture(&file.head).ok_or_else(|| {
        failure::invalid("the image is broken, or of a type that is not supported")
    })?;
    let medium = Medium {
        url: None,
        size: Some(file.size),
        mime: picture.mime.to_owned(),
        alt: None,
        sha256: Some(file.sha256),
    };
    Ok((medium, picture))
}

fn sent(data: &str) -> Result<Medium, Reply> {
    let bytes = STANDARD.decode(data).map_err(|_| failure::invalid("data is no base 64"))?;
    Ok(judge(ReceivedFile::of(&bytes))?.0)
}

/// Fetches the images of a carousel, which must have the same size.
async fn several(cx: &Cx, items: &Value) -> Result<Vec<Medium>, Reply> {
    let items = items.as_array().cloned().unwrap_or_default();
    if !(2..=5).contains(&items.len()) {
        return Err(failure::invalid("items must be 2 to 5"));
    }
    let (mut media, mut size) = (Vec::new(), None);
    for item in items {
        let (medium, picture) = fetch(cx, item["url"].as_str().unwrap_or_default()).await?;
        if *size.get_or_insert((picture.width, picture.height)) != (picture.width, picture.height) {
            return Err(failure::invalid("all images must have the same dimensions"));
        }
        media.push(medium);
    }
    Ok(media)
}

async fn video(cx: &Cx, account: &Account<Pinterest>, source: &Value) -> Result<Medium, Reply> {
    let id: Option<u64> = source["media_id"].as_str().and_then(|id| id.parse().ok());
    let upload = account.read(|state| state.uploads.get(&id?).cloned());
    let upload = upload.ok_or_else(|| failure::error(404, 50, "Media not found."))?;
    let status = media::status(&upload, cx.now_ms());
    if status != "succeeded" {
        return Err(failure::invalid(&format!("the media is {status}")));
    }
    match source["cover_image_url"].as_str() {
        Some(url) => drop(fetch(cx, url).await?),
        None if source["cover_image_data"].is_string() => {
            sent(source["cover_image_data"].as_str().unwrap_or_default())?;
        }
        None if source["cover_image_key_frame_time"].is_number() => {}
        None => return Err(failure::invalid("a video needs a cover image")),
    }
    upload.medium.ok_or_else(|| failure::invalid("the media is registered"))
}
