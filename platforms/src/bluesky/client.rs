//! Calls to the account's server (XRPC).

use std::time::Duration;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use fanfare_outbound::{Reply, Request};
use secrecy::SecretString;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use url::Url;

use super::{SPEC, error::parse_error, record::POSTS, state::StrongRef};
use crate::{Error, ErrorKind, MediaStream, Result, Session};

/// Time for a call that only reads.
const READ_DEADLINE: Duration = Duration::from_secs(10);

/// The server of one account.
#[derive(Debug)]
pub struct Pds<'a> {
    session: &'a Session,
    address: String,
}

/// The response of a log-in or a refresh: tokens and names.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tokens {
    pub did: String,
    pub handle: String,
    pub access_jwt: String,
    pub refresh_jwt: String,
    pub did_doc: Option<Value>,
    pub active: Option<bool>,
    pub status: Option<String>,
}

#[derive(Deserialize)]
struct Uploaded {
    blob: Value,
}

#[derive(Deserialize)]
struct PostRecord {
    value: PostText,
}

#[derive(Deserialize)]
struct PostText {
    text: String,
}

#[derive(Deserialize)]
struct Applied {
    #[serde(default)]
    results: Vec<AppliedWrite>,
}

#[derive(Deserialize)]
struct AppliedWrite {
    cid: Option<String>,
}

#[derive(Deserialize)]
struct ServiceToken {
    token: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SessionInfo {
    email_confirmed: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ServerInfo {
    blob_upload_limit: Option<u64>,
}

#[derive(Deserialize)]
struct Resolved {
    did: String,
}

impl<'a> Pds<'a> {
    /// Creates a client for the server that holds the account's records.
    pub fn of_account(session: &'a Session) -> Self {
        match session.account.meta_str("pds") {
            Some(pds) => Self { session, address: pds.to_owned() },
            None => Self::of_credentials(session),
        }
    }

    /// Creates a client for the server that the credentials name, which handles log-ins.
    pub fn of_credentials(session: &'a Session) -> Self {
        let service = normalized_service(session.secrets.expose("service"));
        Self { session, address: service.unwrap_or_else(|| SPEC.base_url.to_owned()) }
    }

    fn url(&self, method: &str) -> Result<Url> {
        self.session.url(&self.address, &format!("/xrpc/{method}"))
    }

    fn get(&self, method: &str) -> Result<Request> {
        Ok(self.session.http.get(self.url(method)?).deadline(READ_DEADLINE))
    }

    fn post(&self, method: &str) -> Result<Request> {
        Ok(self.session.http.post(self.url(method)?))
    }

    /// Sends a request; an answer of failure becomes an error.
    async fn send(&self, request: Request) -> Result<Reply> {
        let reply = request.send().await?;
        if reply.is_success() { Ok(reply) } else { Err(parse_error(self.session, &reply)) }
    }

    /// Authorizes with the access token; without one, the token counts as expired.
    fn authorized(&self, request: Request) -> Result<Request> {
        let token = self.session.secrets.get("access_jwt");
        let missing = || Error::new(ErrorKind::TokenExpired, "The account has no session yet.");
        Ok(request.bearer(token.ok_or_else(missing)?))
    }

    /// `com.atproto.server.createSession`.
    pub async fn log_in(&self) -> Result<Tokens> {
        let secrets = &self.session.secrets;
        secrets.require("identifier")?;
        secrets.require("app_password")?;
        let identifier = secrets.expose("identifier").trim().trim_start_matches('@');
        let password = secrets.expose("app_password").trim();
        let body = json!({"identifier": identifier, "password": password});
        let request = self.post("com.atproto.server.createSession")?.json(&body);
        Ok(self.send(request).await?.json()?)
    }

    /// `com.atproto.server.refreshSession`.
    pub async fn refresh(&self) -> Result<Tokens> {
        let token = self.session.secrets.get("refresh_jwt");
        let missing =
            || Error::new(ErrorKind::TokenExpired, "The account has no session to refresh.");
        let request = self.post("com.atproto.server.refreshSession")?;
        Ok(self.send(request.bearer(token.ok_or_else(missing)?)).await?.json()?)
    }

    /// `com.atproto.server.deleteSession`.
    pub async fn end_session(&self) -> Result<()> {
        let token = self.session.secrets.require("refresh_jwt")?;
        let request = self.post("com.atproto.server.deleteSession")?.deadline(READ_DEADLINE);
        self.send(request.bearer(token)).await.map(drop)
    }

    /// Sends an authorized GET request.
    pub async fn authorized_get(&self, method: &str, query: &[(&str, &str)]) -> Result<Reply> {
        let request = self.authorized(self.get(method)?)?.query(query);
        self.send(request).await
    }

    /// `com.atproto.repo.uploadBlob`: returns the reference to put into a record.
    pub async fn upload(&self, mime: &str, bytes: Bytes) -> Result<Value> {
        let request = self.authorized(self.post("com.atproto.repo.uploadBlob")?)?;
        let uploaded: Uploaded = self.send(request.body(mime, bytes)).await?.json()?;
        Ok(uploaded.blob)
    }

    /// Like [`Self::upload`], but streams the file.
    pub async fn upload_file(&self, mime: &str, size: u64, file: MediaStream) -> Result<Value> {
        let request = self.authorized(self.post("com.atproto.repo.uploadBlob")?)?;
        let uploaded: Uploaded = self.send(request.file(mime, size, file)).await?.json()?;
        Ok(uploaded.blob)
    }

    /// `com.atproto.server.getServiceAuth`: a token with which another service acts for the account. It ends at `exp`, in
    /// seconds since 1970, or after a minute.
    pub async fn service_token(
        &self,
        aud: &str,
        lxm: &str,
        exp: Option<i64>,
    ) -> Result<SecretString> {
        let exp = exp.map(|exp| exp.to_string());
        let mut query = vec![("aud", aud), ("lxm", lxm)];
        query.extend(exp.as_deref().map(|exp| ("exp", exp)));
        let reply = self.authorized_get("com.atproto.server.getServiceAuth", &query).await?;
        Ok(reply.json::<ServiceToken>()?.token.into())
    }

    /// `com.atproto.server.getSession`: whether the account's e-mail address is confirmed, if the server says so.
    pub async fn is_email_confirmed(&self) -> Result<Option<bool>> {
        let reply = self.authorized_get("com.atproto.server.getSession", &[]).await?;
        Ok(reply.json::<SessionInfo>()?.email_confirmed)
    }

    /// `com.atproto.server.describeServer`: the largest file that the server takes, if it says so.
    pub async fn blob_limit(&self) -> Result<Option<u64>> {
        let request = self.get("com.atproto.server.describeServer")?;
        Ok(self.send(request).await?.json::<ServerInfo>()?.blob_upload_limit)
    }

    /// Returns the address of the account's server, whatever address it is reached at.
    pub fn home(&self) -> Result<Url> {
        Url::parse(&self.address)
            .map_err(|_| Error::misconfigured("The address of the account's server is not valid."))
    }

    /// `com.atproto.repo.applyWrites`: all writes or none. Returns what the server calls each record, as far as it says.
    pub async fn apply(&self, writes: &[Value]) -> Result<Vec<Option<String>>> {
        let body = json!({"repo": self.session.account.remote_id, "writes": writes});
        let request = self.authorized(self.post("com.atproto.repo.applyWrites")?)?;
        let reply = self.send(request.json(&body).deadline(SPEC.commit_deadline)).await?;
        // A response that is not JSON did not come from the PDS itself.
        let applied: Applied = reply.json()?;
        Ok(applied.results.into_iter().map(|result| result.cid).collect())
    }

    /// Returns a reference to a post, to quote it; `None` if there is no such record.
    pub async fn record(&self, did: &str, key: &str) -> Result<Option<StrongRef>> {
        self.get_record(did, key).await
    }

    /// Returns the text of a post; `None` if there is no such record.
    pub async fn text(&self, did: &str, key: &str) -> Result<Option<String>> {
        let posted: Option<PostRecord> = self.get_record(did, key).await?;
        Ok(posted.map(|posted| posted.value.text))
    }

    /// `com.atproto.repo.getRecord` of a post.
    async fn get_record<T: DeserializeOwned>(&self, did: &str, key: &str) -> Result<Option<T>> {
        let query = [("repo", did), ("collection", POSTS), ("rkey", key)];
        let request = self.get("com.atproto.repo.getRecord")?.query(&query);
        match self.send(request).await {
            Ok(reply) => Ok(Some(reply.json()?)),
            Err(error) if is_record_missing(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// `com.atproto.identity.resolveHandle`; `None` for an unknown handle.
    pub async fn resolve_handle(&self, handle: &str) -> Result<Option<String>> {
        let request = self.get("com.atproto.identity.resolveHandle")?;
        match self.send(request.query(&[("handle", handle)])).await {
            Ok(reply) => Ok(Some(reply.json::<Resolved>()?.did)),
            Err(error) if error.kind == ErrorKind::Rejected => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Returns true if the record does not exist. Servers before 2025 respond with `InvalidRequest`, so the message
/// decides.
fn is_record_missing(error: &Error) -> bool {
    let Some(reply) = &error.reply else { return false };
    let message = reply.message.as_deref().unwrap_or_default();
    match reply.code.as_deref() {
        Some("RecordNotFound") => true,
        Some("InvalidRequest") => message.starts_with("Could not locate record"),
        _ => false,
    }
}

/// Normalizes the address of a server as a user enters it: adds a missing `https://` and removes a trailing slash.
pub fn normalized_service(service: &str) -> Option<String> {
    let service = service.trim().trim_end_matches('/');
    match service {
        "" => None,
        with_scheme if with_scheme.contains("://") => Some(with_scheme.to_owned()),
        host => Some(format!("https://{host}")),
    }
}

/// Returns when a token expires, by its own claim (RFC 7519 `exp`).
pub fn token_expiry(jwt: &str) -> Option<DateTime<Utc>> {
    use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
    let claims = URL_SAFE_NO_PAD.decode(jwt.split('.').nth(1)?).ok()?;
    let claims: Value = serde_json::from_slice(&claims).ok()?;
    DateTime::from_timestamp(claims.get("exp")?.as_i64()?, 0)
}

#[cfg(test)]
mod tests {
    use super::{is_record_missing, normalized_service, token_expiry};
    use crate::Error;

    #[test]
    fn a_service_may_be_given_as_a_host() {
        assert_eq!(normalized_service(" pds.example/ ").as_deref(), Some("https://pds.example"));
        assert_eq!(normalized_service("http://pds.example").as_deref(), Some("http://pds.example"));
        assert_eq!(normalized_service(" "), None);
    }

    #[test]
    fn the_end_of_a_token_is_read_from_it() {
        // {"exp":1700000000}
        let end = token_expiry("x.eyJleHAiOjE3MDAwMDAwMDB9.y").map(|end| end.timestamp());
        assert_eq!(end, Some(1_700_000_000));
        assert_eq!(token_expiry("not.a.token"), None);
        assert_eq!(token_expiry(""), None);
    }

    #[test]
    fn a_missing_record_is_told_in_two_ways() {
        let error = |code, message| Error::rejected("").with_reply(400, Some(code), Some(message));
        assert!(is_record_missing(&error("RecordNotFound", "")));
        assert!(is_record_missing(&error("InvalidRequest", "Could not locate record: at://x")));
        assert!(!is_record_missing(&error("InvalidRequest", "Error: Params must have rkey")));
        assert!(!is_record_missing(&Error::transient("no answer")));
    }
}
