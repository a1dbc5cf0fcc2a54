//! Single files with a caption.

use std::sync::Arc;

use super::state::{Kind, Rest};
use super::{Cx, bad, chat, files, send};
use crate::reply::HandlerResult;

/// `sendPhoto`
pub(super) async fn photo(cx: Arc<Cx>) -> HandlerResult {
    file(&cx, "photo", Kind::Photo).await
}

/// `sendVideo`
pub(super) async fn video(cx: Arc<Cx>) -> HandlerResult {
    file(&cx, "video", Kind::Video).await
}

/// `sendAnimation`
pub(super) async fn animation(cx: Arc<Cx>) -> HandlerResult {
    file(&cx, "animation", Kind::Animation).await
}

/// `sendDocument`
pub(super) async fn document(cx: Arc<Cx>) -> HandlerResult {
    file(&cx, "document", Kind::Document).await
}

/// `sendAudio`
pub(super) async fn audio(cx: Arc<Cx>) -> HandlerResult {
    file(&cx, "audio", Kind::Audio).await
}

/// `sendLivePhoto`: a photo with a short video.
pub(super) async fn live_photo(cx: Arc<Cx>) -> HandlerResult {
    file(&cx, "live_photo", Kind::LivePhoto).await
}

async fn file(cx: &Cx, name: &str, kind: Kind) -> HandlerResult {
    let params = chat::params(cx)?;
    let account = chat::target(cx, &params)?;
    if params.file(name).is_none() && params.filled(name).is_none() {
        return Err(bad(&format!("there is no {} in the request", name.replace('_', " "))));
    }
    let caption = send::caption(&params)?;
    let rest = send::rest(&params)?;
    if kind == Kind::LivePhoto {
        files::obtain(cx, &account, &params, "photo", Kind::Photo).await?;
    }
    let mut file = files::obtain(cx, &account, &params, name, kind).await?;
    let side = |name: &str| params.integer(name).and_then(|n| u32::try_from(n).ok());
    file.width = side("width").unwrap_or(file.width);
    file.height = side("height").unwrap_or(file.height);
    file.duration = params.integer("duration").unwrap_or(file.duration);
    send::one(cx, &account, &params, caption, Rest { file: Some(file), ..rest })
}
