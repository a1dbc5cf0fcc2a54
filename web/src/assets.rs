//! Styles, scripts and the icon of pages, served from the binary. They are public.

use std::fmt::Write;

use fanfare_api::middleware::request::LogFields;
use salvo::{
    Depot, FlowCtrl, Handler, Request, Response, async_trait,
    http::{
        HeaderValue, ResBody, StatusCode,
        header::{CACHE_CONTROL, CONTENT_TYPE},
    },
};
use sha2::{Digest, Sha256};

/// A style, a script or the icon.
#[derive(Debug, Clone, Copy)]
pub struct Asset {
    extension: &'static str,
    kind: &'static str,
    text: &'static str,
}

impl Asset {
    const fn style(text: &'static str) -> Self {
        Self { extension: "css", kind: "text/css; charset=utf-8", text }
    }

    const fn script(text: &'static str) -> Self {
        Self { extension: "js", kind: "text/javascript; charset=utf-8", text }
    }

    /// Returns its path. The name changes with the content, so that browsers may cache it.
    #[must_use]
    pub fn path(self) -> String {
        let mut path = "/assets/".to_owned();
        for byte in Sha256::digest(self.text.as_bytes()).iter().take(6) {
            // Writing to a string cannot fail.
            let _ = write!(path, "{byte:02x}");
        }
        format!("{path}.{}", self.extension)
    }
}

/// The common style of all pages: colours for light and dark, text, buttons.
pub const BASE: Asset = Asset::style(include_str!("assets/base.css"));
/// The style of the operators' pages.
pub const ADMIN_STYLE: Asset = Asset::style(include_str!("assets/admin.css"));
/// The script of the operators' pages.
pub const ADMIN_SCRIPT: Asset = Asset::script(include_str!("assets/admin.js"));
/// The script of the users' dashboard.
pub const DASHBOARD_SCRIPT: Asset = Asset::script(include_str!("assets/dashboard.js"));
/// The style of the users' dashboard.
pub const DASHBOARD_STYLE: Asset = Asset::style(include_str!("assets/dashboard.css"));
/// The style of the guest upload page.
pub const DROP_STYLE: Asset = Asset::style(include_str!("assets/drop.css"));
/// The script of the guest upload page.
pub const DROP_SCRIPT: Asset = Asset::script(include_str!("assets/drop.js"));
/// The icon.
pub const ICON: Asset =
    Asset { extension: "svg", kind: "image/svg+xml", text: include_str!("assets/icon.svg") };

const ALL: [Asset; 8] = [
    BASE,
    ADMIN_STYLE,
    ADMIN_SCRIPT,
    DASHBOARD_STYLE,
    DASHBOARD_SCRIPT,
    DROP_STYLE,
    DROP_SCRIPT,
    ICON,
];

/// `GET /assets/{name}`.
pub struct File;

#[async_trait]
impl Handler for File {
    async fn handle(
        &self,
        req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        LogFields::set_route(req, "/assets/{name}");
        let path = req.uri().path();
        let Some(asset) = ALL.into_iter().find(|asset| asset.path() == path) else {
            res.status_code(StatusCode::NOT_FOUND);
            return;
        };
        let headers = res.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(asset.kind));
        let keep = HeaderValue::from_static("public, max-age=31536000, immutable");
        headers.insert(CACHE_CONTROL, keep);
        res.replace_body(ResBody::Once(asset.text.into()));
    }
}
