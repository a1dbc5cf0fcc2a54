//! The dashboard's own style, script and icon, served from the binary. They hold no secret and need no log-in.

use salvo::{
    Depot, FlowCtrl, Handler, Request, Response, async_trait,
    http::{
        HeaderValue, ResBody, StatusCode,
        header::{CACHE_CONTROL, CONTENT_TYPE},
    },
};
use sha2::{Digest, Sha256};

use crate::front::Seen;

const STYLE: &str = include_str!("assets/admin.css");
const SCRIPT: &str = include_str!("assets/admin.js");
const ICON: &str = include_str!("assets/icon.svg");

/// A file.
pub struct File;

/// Where the style is; the name changes with its content, so that browsers may keep it.
pub fn style() -> String {
    format!("/admin/assets/{}.css", version(STYLE))
}

/// Where the script is.
pub fn script() -> String {
    format!("/admin/assets/{}.js", version(SCRIPT))
}

/// Where the icon is.
pub fn icon() -> String {
    format!("/admin/assets/{}.svg", version(ICON))
}

fn version(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    hash.iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

#[async_trait]
impl Handler for File {
    async fn handle(
        &self,
        req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        Seen::route(req, "/admin/assets/{name}");
        let path = req.uri().path();
        let (kind, text) = if path == style() {
            ("text/css; charset=utf-8", STYLE)
        } else if path == script() {
            ("text/javascript; charset=utf-8", SCRIPT)
        } else if path == icon() {
            ("image/svg+xml", ICON)
        } else {
            res.status_code(StatusCode::NOT_FOUND);
            return;
        };
        let headers = res.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        let keep = HeaderValue::from_static("public, max-age=31536000, immutable");
        headers.insert(CACHE_CONTROL, keep);
        res.replace_body(ResBody::Once(text.into()));
    }
}
