//! Responses that are pages or redirects, and their security headers.

use salvo::{
    Response,
    http::{
        HeaderName, HeaderValue, ResBody, StatusCode,
        header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION, REFERRER_POLICY},
    },
};
use url::Url;

/// Pages load styles and scripts from this service only, and none inline.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; \
     base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// Sets the headers of every page.
pub fn protect(res: &mut Response) {
    let headers = res.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
}

/// Sets the headers of a page that shows stored files, which may have an origin of their own.
pub fn protect_with_media(res: &mut Response, media_base_url: &str) {
    let Ok(media) = Url::parse(media_base_url) else { return };
    let origin = media.origin().ascii_serialization();
    let shown = format!("img-src 'self' {origin}; media-src 'self' {origin};");
    if let Ok(policy) = HeaderValue::from_str(&POLICY.replace("img-src 'self';", &shown)) {
        res.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
    }
}

/// Sets the headers of a page whose address is a secret: it must not reach other sites' logs or search engines.
pub fn protect_secret(res: &mut Response) {
    protect(res);
    let headers = res.headers_mut();
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    let robots = HeaderName::from_static("x-robots-tag");
    headers.insert(robots, HeaderValue::from_static("noindex, nofollow"));
}

/// Sets the headers of a page whose form leads to another site or program. There is no `form-action`, since browsers
/// apply it to all redirects after the form.
pub fn protect_external_form(res: &mut Response) {
    protect_secret(res);
    let policy = POLICY.replace(" form-action 'self';", "");
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        res.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
    }
}

/// Responds with a page.
pub fn html(res: &mut Response, status: StatusCode, page: maud::Markup) {
    let kind = HeaderValue::from_static("text/html; charset=utf-8");
    res.headers_mut().insert(CONTENT_TYPE, kind);
    res.status_code(status);
    res.replace_body(ResBody::Once(page.into_string().into()));
}

/// Redirects to another page with status 303.
pub fn redirect(res: &mut Response, place: &str) {
    if let Ok(place) = HeaderValue::from_str(place) {
        res.headers_mut().insert(LOCATION, place);
    }
    res.status_code(StatusCode::SEE_OTHER);
    res.replace_body(ResBody::Once(Default::default()));
}
