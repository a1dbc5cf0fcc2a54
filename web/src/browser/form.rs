//! Forms: their CSRF token, their fields and their cookies.

use fanfare_api::query::{self, Pairs};
use fanfare_core::{
    Code, Domain, Error, Result, WorkspaceId, input::MAX_PARAMETERS, logins::forged_form,
};
use rand::RngExt;
use salvo::http::{
    HeaderMap, HeaderValue, Request, Response,
    header::{COOKIE, SET_COOKIE},
};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// A cookie of this service, which scripts cannot read.
#[derive(Debug, Clone, Copy)]
pub struct Cookie {
    /// Its name on http. On https it gets the prefix `__Host-`, which browsers accept from this host only and over
    /// https only: neither a neighbouring host nor an attacker on the network can set it.
    pub name: &'static str,
    /// The path of the pages that get it on http. On https all do, as `__Host-` requires.
    pub path: &'static str,
    /// `Strict`: only pages of ours lead to a page with it. `Lax`: a link from elsewhere does too.
    pub same_site: &'static str,
}

/// Stores which workspace the pages show. Links from other sites show the same one.
pub const WORKSPACE: Cookie = Cookie { name: "fanfare_workspace", path: "/", same_site: "Lax" };

/// Protects the forms of pages that a link in an e-mail leads to.
pub const FORM: Cookie = Cookie { name: "fanfare_form", path: "/", same_site: "Strict" };

/// The largest form, in bytes, unless a page accepts larger ones.
pub const LARGEST: usize = 64 * 1024;

/// Returns the CSRF token of forms of this session. It is derived from the cookie, which another site can neither read
/// nor guess.
#[must_use]
pub fn csrf_token(cookie: &SecretString) -> String {
    let mut hash = Sha256::new();
    hash.update(b"fanfare form\n");
    hash.update(cookie.expose_secret().as_bytes());
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns true if the form has the CSRF token of this session.
#[must_use]
pub fn has_csrf_token(cookie: &SecretString, fields: &Pairs) -> bool {
    let sent = fields.iter().find(|(name, _)| name == "csrf").map(|(_, token)| token.as_bytes());
    sent.is_some_and(|sent| bool::from(sent.ct_eq(csrf_token(cookie).as_bytes())))
}

/// Returns the fields of a form without a log-in, if it has the token that was derived from this cookie.
///
/// # Errors
/// The form is not ours; or the errors of [`fields`].
pub async fn own_fields(req: &mut Request, cx: &Domain, kept: &Cookie) -> Result<Pairs> {
    let fields = fields(req).await?;
    let secret = cookie(req.headers(), cx, kept);
    if secret.is_some_and(|secret| has_csrf_token(&secret, &fields)) {
        return Ok(fields);
    }
    Err(forged_form())
}

/// Returns the fields of a form.
///
/// # Errors
/// [`Code::PayloadTooLarge`], also if the body could not be read; or an error about a field.
pub async fn fields(req: &mut Request) -> Result<Pairs> {
    fields_up_to(req, (LARGEST, MAX_PARAMETERS)).await
}

/// The most fields of a form of somebody who is logged in, such as the files and accounts that are ticked.
const MAX_FIELDS: usize = 2_000;

/// The largest form of somebody who is logged in that is shown again after a refusal, in bytes.
const LARGEST_SHOWN: usize = 1 << 20;

/// Returns the fields of a form of at most this many bytes and fields.
///
/// # Errors
/// As for [`fields`].
async fn fields_up_to(req: &mut Request, (largest, most): (usize, usize)) -> Result<Pairs> {
    match req.payload_with_max_size(largest).await {
        Ok(body) => query::checked_pairs_up_to(body, most),
        Err(_) => Err(too_large(largest)),
    }
}

fn too_large(largest: usize) -> Error {
    let message = format!("The form has more than {} KiB.", largest / 1024);
    Error::field(Code::PayloadTooLarge, "form", message, "Go back and shorten it.")
}

/// Returns the fields of a form of somebody who is logged in. If it is refused, they are as they were sent, valid or not, to
/// be shown again with the refusal.
pub async fn fields_or_refusal(req: &mut Request, largest: usize) -> (Pairs, Option<Error>) {
    match req.payload_with_max_size(largest.max(LARGEST_SHOWN)).await {
        Ok(body) if body.len() <= largest => match query::checked_pairs_up_to(body, MAX_FIELDS) {
            Ok(fields) => (fields, None),
            Err(error) => (raw(body), Some(error)),
        },
        Ok(body) => (raw(body), Some(too_large(largest))),
        Err(_) => (Pairs::new(), Some(too_large(largest))),
    }
}

/// Returns the fields of a form as they were sent, valid or not, to be shown again; none of a larger form.
pub async fn raw_fields(req: &mut Request, largest: usize) -> Pairs {
    req.payload_with_max_size(largest).await.map_or_else(|_| Pairs::new(), |body| raw(body))
}

fn raw(body: &[u8]) -> Pairs {
    url::form_urlencoded::parse(body).into_owned().take(MAX_FIELDS).collect()
}

/// Returns a field of a form; empty if it was not sent.
#[must_use]
pub fn field(fields: &Pairs, name: &str) -> String {
    fields.iter().find(|(known, _)| known == name).map_or_else(String::new, |(_, v)| v.clone())
}

/// Returns the secret from which the CSRF token of a form without a log-in is derived. It is in a cookie of its own,
/// which is set if the browser has none.
pub fn form_secret(req: &Request, res: &mut Response, cx: &Domain, kept: &Cookie) -> SecretString {
    cookie(req.headers(), cx, kept).unwrap_or_else(|| {
        let mut bytes = [0_u8; 16];
        rand::rng().fill(&mut bytes);
        let fresh: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        set_cookie(res.headers_mut(), cx, kept, &fresh, 24 * 3_600);
        SecretString::from(fresh)
    })
}

impl Cookie {
    fn full_name(&self, cx: &Domain) -> String {
        if is_secure(cx) { format!("__Host-{}", self.name) } else { self.name.to_owned() }
    }
}

fn is_secure(cx: &Domain) -> bool {
    cx.settings.base_url.starts_with("https://")
}

/// Returns the value of one of our cookies.
#[must_use]
pub fn cookie(headers: &HeaderMap, cx: &Domain, cookie: &Cookie) -> Option<SecretString> {
    find(headers, &cookie.full_name(cx))
}

/// Returns the workspace that was last chosen in this browser.
#[must_use]
pub fn workspace(headers: &HeaderMap, cx: &Domain) -> Option<WorkspaceId> {
    let chosen = cookie(headers, cx, &WORKSPACE)?;
    chosen.expose_secret().parse().ok().map(WorkspaceId)
}

/// Has the browser's pages show this workspace from now on.
pub fn choose_workspace(res: &mut Response, cx: &Domain, id: WorkspaceId) {
    set_cookie(res.headers_mut(), cx, &WORKSPACE, &id.to_string(), 365 * 24 * 3_600);
}

fn find(headers: &HeaderMap, name: &str) -> Option<SecretString> {
    headers
        .get_all(COOKIE)
        .iter()
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(known, value)| *known == name && !value.is_empty())
        .map(|(_, value)| SecretString::from(value))
}

/// Sets a cookie for this many seconds; 0 deletes it.
pub fn set_cookie(
    headers: &mut HeaderMap,
    cx: &Domain,
    cookie: &Cookie,
    value: &str,
    seconds: i64,
) {
    let (path, secure) = if is_secure(cx) { ("/", "; Secure") } else { (cookie.path, "") };
    let (name, same_site) = (cookie.full_name(cx), cookie.same_site);
    let line = format!(
        "{name}={value}; Path={path}; Max-Age={seconds}; HttpOnly; SameSite={same_site}{secure}"
    );
    if let Ok(mut line) = HeaderValue::from_str(&line) {
        line.set_sensitive(true);
        headers.append(SET_COOKIE, line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_belongs_to_one_log_in() {
        let (mine, other) = (SecretString::from("a"), SecretString::from("b"));
        let fields = vec![("csrf".to_owned(), csrf_token(&mine))];
        assert!(has_csrf_token(&mine, &fields) && !has_csrf_token(&other, &fields));
        assert!(!has_csrf_token(&mine, &Pairs::new()));
        assert_ne!(csrf_token(&mine), "a");
    }

    #[test]
    fn a_cookie_is_found_among_others() {
        let mut headers = HeaderMap::new();
        headers.insert(COOKIE, "x=1; fanfare_operator=abc; y=2".parse().unwrap());
        assert_eq!(find(&headers, "fanfare_operator").unwrap().expose_secret(), "abc");
        assert!(find(&headers, "fanfare").is_none());
    }
}
