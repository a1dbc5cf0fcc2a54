//! Answers that are pages, or lead to one.

use salvo::{
    Response,
    http::{
        HeaderName, HeaderValue, ResBody, StatusCode,
        header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION, REFERRER_POLICY},
    },
};
use url::Url;

/// Pages take style and script from this service alone, and none that stands in the page.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; \
     base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// Headers that every page has.
pub fn protect(res: &mut Response) {
    let headers = res.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
}

/// Headers of a page that shows stored files, which may have an origin of their own.
pub fn protect_with_media(res: &mut Response, media_base_url: &str) {
    let Ok(media) = Url::parse(media_base_url) else { return };
    let origin = media.origin().ascii_serialization();
    let shown = format!("img-src 'self' {origin}; media-src 'self' {origin};");
    if let Ok(policy) = HeaderValue::from_str(&POLICY.replace("img-src 'self';", &shown)) {
        res.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
    }
}

/// Headers of a page whose address is a secret: it goes nowhere, not into other sites' logs nor into search engines.
pub fn protect_secret(res: &mut Response) {
    protect(res);
    let headers = res.headers_mut();
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    let robots = HeaderName::from_static("x-robots-tag");
    headers.insert(robots, HeaderValue::from_static("noindex, nofollow"));
}

/// Headers of a page whose form leads to another site or program: browsers hold the whole chain of redirects after a form to
/// `form-action`, so it has none.
pub fn protect_leading_away(res: &mut Response) {
    protect_secret(res);
    let policy = POLICY.replace(" form-action 'self';", "");
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        res.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
    }
}

/// Answers with a page.
pub fn html(res: &mut Response, status: StatusCode, page: maud::Markup) {
    let kind = HeaderValue::from_static("text/html; charset=utf-8");
    res.headers_mut().insert(CONTENT_TYPE, kind);
    res.status_code(status);
    res.replace_body(ResBody::Once(page.into_string().into()));
}

/// Sends the visitor to another page.
pub fn see(res: &mut Response, place: &str) {
    if let Ok(place) = HeaderValue::from_str(place) {
        res.headers_mut().insert(LOCATION, place);
    }
    res.status_code(StatusCode::SEE_OTHER);
    res.replace_body(ResBody::Once(Default::default()));
}
