//! Calls to a site's REST API.

use std::time::Duration;

use chrono::NaiveDateTime;
use fanfare_outbound::{Reply, Request};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::json;
use url::Url;

use super::{SPEC, error::parse_error};
use crate::{MediaStream, Result, Session, instance};

const UPLOAD_DEADLINE: Duration = Duration::from_secs(120);
/// The largest response: a post comes back with all its text, twice.
const REPLY_MAX: usize = 16 * 1024 * 1024;

/// The path of the API on a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// Below `/wp-json`, with pretty permalinks.
    Path,
    /// In the query (`rest_route`), which works on every site.
    Query,
}

/// A client of one site, for one user.
#[derive(Debug)]
pub struct Site<'a> {
    session: &'a Session,
    address: String,
    route: Route,
}

/// An uploaded file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Upload {
    pub id: u64,
    #[serde(default)]
    pub source_url: String,
}

/// A post of the site.
#[derive(Debug, Deserialize)]
pub struct Post {
    pub id: u64,
    #[serde(default)]
    pub link: Option<String>,
    #[serde(default)]
    pub slug: String,
    /// `publish`, or the state that a plugin or the role of the user has given it; empty if the site does not say.
    #[serde(default)]
    pub status: String,
    /// Its date, in UTC and without a zone.
    #[serde(default)]
    pub date_gmt: Option<NaiveDateTime>,
    /// The time of its last change, the same.
    #[serde(default)]
    pub modified_gmt: Option<NaiveDateTime>,
    #[serde(default)]
    pub title: Text,
    #[serde(default)]
    pub content: Text,
}

/// A text as it was written, which editors alone see.
#[derive(Debug, Default, Deserialize)]
pub struct Text {
    #[serde(default)]
    pub raw: String,
}

/// A post to create.
#[derive(Debug, Serialize)]
pub struct NewPost {
    pub title: String,
    pub content: String,
    pub status: &'static str,
    pub slug: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub featured_media: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<i64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<i64>,
}

impl<'a> Site<'a> {
    /// Creates a client for a connected account.
    pub fn of_account(session: &'a Session) -> Self {
        let account = &session.account;
        let address = account.meta_str("site_url").unwrap_or_default().to_owned();
        let by_query = account.meta.get("rest_route").and_then(serde_json::Value::as_bool);
        let route = if by_query == Some(true) { Route::Query } else { Route::Path };
        Self { session, address, route }
    }

    /// Creates a client for a site that is being connected.
    pub fn at(session: &'a Session, address: &Url, route: Route) -> Self {
        Self { session, address: address.as_str().to_owned(), route }
    }

    /// Returns the address of `path` below the API's version, for example `/posts`.
    fn url(&self, path: &str) -> Result<Url> {
        let path = match self.route {
            Route::Path => format!("/wp-json/wp/v2{path}"),
            Route::Query => format!("/?rest_route=/wp/v2{path}"),
        };
        self.session.url(&self.address, &path)
    }

    fn get(&self, path: &str) -> Result<Request> {
        self.signed(self.session.http.get(self.url(path)?))
    }

    fn post(&self, path: &str) -> Result<Request> {
        self.signed(self.session.http.post(self.url(path)?))
    }

    fn signed(&self, request: Request) -> Result<Request> {
        let secrets = &self.session.secrets;
        secrets.require("username")?;
        let password = secrets.require("application_password")?;
        Ok(request.max_reply(REPLY_MAX).basic(secrets.expose("username").trim(), password))
    }

    /// `GET /users/me`; returns any response.
    pub async fn me(&self) -> Result<Reply> {
        let request = self.get("/users/me")?.query(&[("context", "edit")]);
        Ok(request.send().await?)
    }

    /// `POST /media`: the file is not listed publicly, but its address can be opened.
    pub async fn upload(
        &self,
        mime: &str,
        filename: &str,
        (size, file): (u64, MediaStream),
    ) -> Result<Upload> {
        let disposition = format!("attachment; filename=\"{filename}\"");
        let request = self.post("/media")?.file(mime, size, file);
        let request = request.header("content-disposition", &disposition).deadline(UPLOAD_DEADLINE);
        self.send(request).await
    }

    /// `POST /media/{id}`: describes an image.
    pub async fn set_alt_text(&self, id: u64, text: &str) -> Result<Upload> {
        let request = self.post(&format!("/media/{id}"))?;
        self.send(request.json(&json!({"alt_text": text}))).await
    }

    /// `POST /posts`.
    pub async fn create(&self, post: &NewPost) -> Result<Post> {
        let request = self.post("/posts")?.json(post);
        self.send(request.deadline(SPEC.commit_deadline)).await
    }

    /// `GET /posts`: the posts with one of these slugs, in any state except the trash. Hosts cache such reads, also with
    /// credentials, so the session must ask anew.
    pub async fn posts_with_slugs(&self, slugs: &[String]) -> Result<Vec<Post>> {
        let most = slugs.len().max(10).to_string();
        let query = [
            ("slug", slugs.join(",")),
            ("status", "any".to_owned()),
            ("context", "edit".to_owned()),
            ("per_page", most),
        ];
        self.send(self.get("/posts")?.query(&query)).await
    }

    /// Sends a request. Sites print notices of their programs in front of their answers.
    async fn send<T: DeserializeOwned>(&self, request: Request) -> Result<T> {
        let reply = request.send().await?;
        match reply.is_success() {
            true => Ok(reply.json_behind_output()?),
            false => Err(parse_error(self.session, &reply)),
        }
    }
}

/// Normalizes the site's address for storage; removes the path of an admin page that users may copy.
pub fn site_address(given: &str) -> Result<Url> {
    let mut url = instance::normalized_url("site_url", given)?;
    let path = url.path().trim_end_matches('/');
    let ends = ["/wp-json", "/wp-admin", "/wp-login.php", "/index.php"];
    let path = ends.iter().find_map(|end| path.strip_suffix(end)).unwrap_or(path).to_owned();
    url.set_path(&path);
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::site_address;
    use crate::ErrorKind;

    #[test]
    fn a_site_is_known_by_one_address() {
        let cases = [
            ("blog.example", "https://blog.example/"),
            ("https://blog.example/wp-admin/?x=1#y", "https://blog.example/"),
            ("https://blog.example/news/wp-json/", "https://blog.example/news"),
        ];
        for (given, kept) in cases {
            assert_eq!(site_address(given).unwrap().as_str(), kept, "{given}");
        }
        assert_eq!(site_address("not a site").unwrap_err().kind, ErrorKind::InvalidCredentials);
    }
}
