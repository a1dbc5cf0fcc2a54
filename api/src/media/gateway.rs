//! Receives announced files as plain bytes, without a key and without holding them in memory.

use fanfare_core::{Code, Domain, Error, Reply, Result};
use fanfare_publishing::media::signed;
use salvo::{
    Depot, FlowCtrl, Handler, Request, Response, async_trait,
    http::{
        HeaderMap, HeaderName, Method,
        header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE},
    },
};

use crate::{body, middleware::request::LogFields, reply, request_id};

/// `PUT /upload/{token}`, and `GET` of the same address: how far the upload is.
pub struct UploadEndpoint(pub Domain);

#[async_trait]
impl Handler for UploadEndpoint {
    async fn handle(
        &self,
        req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        LogFields::set_route(req, "/upload/{token}");
        let answer = if req.method() == Method::PUT {
            self.take(req).await
        } else {
            let token = token(req);
            signed::state(&self.0, &token).await.map(Reply::cast)
        };
        let answer = answer.unwrap_or_else(|error| reply::refusal(&error));
        reply::write(res, answer, &request_id::get(req), &self.0.settings.base_url);
    }
}

impl UploadEndpoint {
    async fn take(&self, req: &mut Request) -> Result<Reply> {
        let token = token(req);
        let (mut pieces, id) = (Box::pin(body::chunks(req.take_body())), request_id::get(req));
        let taken = async {
            let announced = signed::open(&self.0, &token).await?;
            let headers = req.headers();
            require_uncompressed(headers)?;
            let length = text(headers, CONTENT_LENGTH).and_then(|length| length.parse().ok());
            announced.check(text(headers, CONTENT_TYPE), length)?;
            announced.receive(&self.0, id, pieces.as_mut()).await
        };
        let taken = taken.await;
        if taken.is_err() && !body::drain(pieces.as_mut(), body::MAX_DRAIN).await {
            body::mark_unread(req);
        }
        taken.map(Reply::cast)
    }
}

/// Fails if the body is compressed: its bytes must be those of the file.
///
/// # Errors
/// [`Code::UnsupportedMediaType`].
pub fn require_uncompressed(headers: &HeaderMap) -> Result<()> {
    match text(headers, CONTENT_ENCODING) {
        None => Ok(()),
        Some(encoding) if encoding.eq_ignore_ascii_case("identity") => Ok(()),
        Some(_) => {
            let message = "The file must be sent as it is, without a Content-Encoding.";
            Err(Error::new(Code::UnsupportedMediaType, message))
        }
    }
}

fn token(req: &Request) -> String {
    req.params().get("token").cloned().unwrap_or_default()
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}
