//! The origin of media files, if they have one of their own. Nothing else is served there.

use salvo::{
    Depot, FlowCtrl, Handler, Request, Response, async_trait,
    http::{
        HeaderValue, Method, StatusCode,
        header::{ALLOW, HOST},
    },
};
use url::Url;

use super::Files;
use crate::middleware::cors;

/// Answers all requests to the media origin with a file or 404.
pub struct MediaOrigin {
    files: Files,
    /// The host and the path of the files; `None` if they share the service's origin.
    place: Option<(String, String)>,
}

impl MediaOrigin {
    /// Returns the middleware for the origins in the settings.
    #[must_use]
    pub fn new(files: Files) -> Self {
        let settings = &files.0.settings;
        let place = place(&settings.media_base_url, &settings.base_url);
        Self { files, place }
    }
}

/// Returns the host with its port, and the path without a trailing slash.
fn place(media: &str, service: &str) -> Option<(String, String)> {
    let (media, service) = (Url::parse(media).ok()?, Url::parse(service).ok()?);
    let (own, shared) = (authority(&media)?, authority(&service)?);
    (own != shared).then(|| (own, media.path().trim_end_matches('/').to_owned()))
}

fn authority(url: &Url) -> Option<String> {
    let host = url.host_str()?;
    Some(url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
}

#[async_trait]
impl Handler for MediaOrigin {
    async fn handle(
        &self,
        req: &mut Request,
        depot: &mut Depot,
        res: &mut Response,
        ctrl: &mut FlowCtrl,
    ) {
        let asked = req.headers().get(HOST).and_then(|host| host.to_str().ok());
        let asked = asked.or(req.uri().authority().map(|authority| authority.as_str()));
        let place = self
            .place
            .as_ref()
            .filter(|(host, _)| asked.is_some_and(|asked| asked.eq_ignore_ascii_case(host)));
        let Some((_, below)) = place else {
            ctrl.call_next(req, depot, res).await;
            return;
        };
        ctrl.skip_rest();
        if cors::answers_preflight(req, res) {
            cors::allow(res.headers_mut());
            return;
        }
        let path = req.uri().path();
        let name = path.strip_prefix(below.as_str()).and_then(|rest| rest.strip_prefix('/'));
        match name.map(str::to_owned) {
            _ if ![Method::GET, Method::HEAD].contains(req.method()) => {
                res.status_code(StatusCode::METHOD_NOT_ALLOWED);
                res.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            }
            Some(name) => self.files.answer(&name, req, res).await,
            None => {
                res.status_code(StatusCode::NOT_FOUND);
            }
        }
        cors::allow(res.headers_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn files_have_an_origin_of_their_own_or_not() {
        let service = "https://api.example.com";
        let own = |host: &str, path: &str| Some((host.to_owned(), path.to_owned()));
        assert_eq!(place("https://api.example.com/media", service), None);
        assert_eq!(place("https://media.example.com", service), own("media.example.com", ""));
        assert_eq!(
            place("https://api.example.com:8443/files", service),
            own("api.example.com:8443", "/files")
        );
    }
}
