//! Redirects. They are followed in this crate so that each hop is checked.

use http::{
    HeaderMap, HeaderName, HeaderValue, StatusCode,
    header::{
        ACCEPT, ACCEPT_LANGUAGE, CONTENT_TYPE, IF_MODIFIED_SINCE, IF_NONE_MATCH, LOCATION, RANGE,
        USER_AGENT,
    },
};
use url::Url;

/// Headers that contain no secrets. All others are treated as credentials, because platforms use various names for
/// them.
const SAFE_HEADERS: [HeaderName; 7] =
    [ACCEPT, ACCEPT_LANGUAGE, CONTENT_TYPE, IF_MODIFIED_SINCE, IF_NONE_MATCH, RANGE, USER_AGENT];

pub(crate) fn is_safe_header(name: &HeaderName) -> bool {
    SAFE_HEADERS.contains(name)
}

/// Returns the target of a redirect, if the response is one.
pub(crate) fn target(status: StatusCode, headers: &HeaderMap, from: &Url) -> Option<Url> {
    if !matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let location = headers.get(LOCATION).map(HeaderValue::to_str)?.ok()?;
    from.join(location).ok()
}

/// Returns the headers that may be sent to another origin.
pub(crate) fn without_credentials(headers: HeaderMap) -> HeaderMap {
    let mut kept = headers;
    let secret = kept.keys().filter(|name| !is_safe_header(name)).cloned().collect::<Vec<_>>();
    for name in secret {
        kept.remove(name);
    }
    kept
}
