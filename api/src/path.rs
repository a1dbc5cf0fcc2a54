//! Refuses paths that are not in canonical form: every path has one spelling, and any other is answered with 404. Only
//! documents are found with a slash at the end, too: it leads to the path without it.
//!
//! The handlers after it (limits, the origin of files, the router) may compare paths as strings: they never see an
//! empty segment, a dot segment or a needlessly escaped letter.

use salvo::{
    Depot, FlowCtrl, Handler, Request, Response, async_trait,
    http::{HeaderValue, ResBody, StatusCode, header::LOCATION, uri::Uri},
};

/// The longest segment, in bytes.
const LONGEST_SEGMENT: usize = 1_024;

/// The paths whose parameters may be arbitrary text of a caller, such as the name of a group.
const API: &str = "/api/v1/";

/// The path below which the documents are.
const DOCUMENTS: &str = "/docs";

/// Answers 404 for paths that are not in canonical form.
pub struct CanonicalPath;

#[async_trait]
impl Handler for CanonicalPath {
    async fn handle(
        &self,
        req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        ctrl: &mut FlowCtrl,
    ) {
        if let Some(document) = without_slash(req.uri()) {
            res.status_code(StatusCode::PERMANENT_REDIRECT);
            res.headers_mut().insert(LOCATION, document);
            ctrl.skip_rest();
        } else if !is_canonical(req.uri().path()) {
            res.status_code(StatusCode::NOT_FOUND);
            res.replace_body(ResBody::None);
            ctrl.skip_rest();
        }
    }
}

/// Returns the address of a document that was asked for with a slash at the end.
fn without_slash(uri: &Uri) -> Option<HeaderValue> {
    let path = uri.path().strip_suffix('/')?;
    let is_document = path == DOCUMENTS || path.starts_with(&format!("{DOCUMENTS}/"));
    if !is_document || !is_canonical(path) {
        return None;
    }
    let query = uri.query().map_or_else(String::new, |query| format!("?{query}"));
    HeaderValue::from_str(&format!("{path}{query}")).ok()
}

fn is_canonical(path: &str) -> bool {
    let Some(rest) = path.strip_prefix('/') else { return false };
    let takes_slashes = path.starts_with(API);
    rest.is_empty() || rest.split('/').all(|segment| is_segment(segment, takes_slashes))
}

fn is_segment(segment: &str, takes_slashes: bool) -> bool {
    let fits = (1..=LONGEST_SEGMENT).contains(&segment.len());
    fits && !matches!(segment, "." | "..") && decoded(segment, takes_slashes).is_some()
}

/// Decodes a segment; `None` if it has a needless escape or a control character.
fn decoded(segment: &str, takes_slashes: bool) -> Option<String> {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        if *first != b'%' {
            bytes.push(*first);
            rest = after;
            continue;
        }
        let (digits, after) = after.split_at_checked(2)?;
        let byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        let needless = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        let separates = matches!(byte, b'/' | b'\\') && !takes_slashes;
        if needless || separates || !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        bytes.push(byte);
        rest = after;
    }
    let text = String::from_utf8(bytes).ok()?;
    (!text.chars().any(char::is_control)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::{is_canonical, without_slash};

    #[test]
    fn a_document_is_found_with_a_slash_at_the_end() {
        let leads = |uri: &'static str| {
            let to = without_slash(&uri.parse().unwrap())?;
            to.to_str().ok().map(str::to_owned)
        };
        assert_eq!(leads("/docs/").as_deref(), Some("/docs"));
        assert_eq!(leads("/docs/guides/auth/?q=a").as_deref(), Some("/docs/guides/auth?q=a"));
        for other in ["/docs", "/docs//", "//docs/", "/docsx/", "/api/v1/posts/", "/", "/docs/%61/"]
        {
            assert_eq!(leads(other), None, "{other}");
        }
    }

    #[test]
    fn a_path_has_one_spelling() {
        for good in [
            "/",
            "/api/v1",
            "/api/v1/posts/7",
            "/api/v1/posts/group/spring%202030",
            "/api/v1/posts/group/a%2Fb",
            "/api/v1/posts/group/%C3%A4:@+,;=!$&'()*~",
            "/media/0195/picture-1.png",
        ] {
            assert!(is_canonical(good), "{good}");
        }
        for bad in [
            "",
            "*",
            "//",
            "//api/v1",
            "/api//v1/posts",
            "/api/v1/posts/",
            "/./api/v1/posts",
            "/api/v1/../v1/posts",
            "/%61pi/v1/posts",
            "/api/%761/posts",
            "/api/v1/%2e%2E/x",
            "/api%2Fv1/posts",
            "/media/a%2F..%2Fb",
            "/media/a%5Cb",
            "/api/v1/posts/group/%00",
            "/api/v1/posts/group/a%0Ab",
            "/api/v1/posts/group/%C2%85",
            "/api/v1/posts/group/%FF",
            "/api/v1/posts/group/%",
            "/api/v1/posts/group/%4",
            "/api/v1/posts/group/%+1",
            "/api/v1/posts/group/%zz",
        ] {
            assert!(!is_canonical(bad), "{bad}");
        }
        assert!(!is_canonical(&format!("/api/v1/posts/group/{}", "x".repeat(1_025))));
    }
}
