//! Calls to Lemmy's API v3.

use std::time::Duration;

use bytes::Bytes;
use chrono::{DateTime, NaiveDateTime, Utc};
use fanfare_outbound::{Multipart, Request};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use url::Url;

use super::{SPEC, error::parse_error};
use crate::{
    Error, ErrorKind, Result, Session,
    recent_posts::{self, Entry, ListPage},
    response,
};

const UPLOAD_DEADLINE: Duration = Duration::from_secs(120);
/// The largest response: lists of posts come with all their texts.
const REPLY_MAX: usize = 16 * 1024 * 1024;

/// A post to create.
#[derive(Debug, Serialize)]
pub struct CreatePost {
    pub name: String,
    pub community_id: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub body: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub nsfw: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alt_text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_thumbnail: Option<String>,
}

/// An existing post.
#[derive(Debug, Deserialize)]
pub struct Post {
    pub id: u64,
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub body: Option<String>,
    #[serde(default)]
    published: String,
    /// True if a moderator, or a rule of the community, removed it.
    #[serde(default)]
    pub removed: bool,
}

impl Entry for Post {
    /// Parses a time with a zone, or without one before version 0.19.
    fn created_at(&self) -> Option<DateTime<Utc>> {
        let with_zone = DateTime::parse_from_rfc3339(&self.published).map(|at| at.to_utc());
        let without = || NaiveDateTime::parse_from_str(&self.published, "%Y-%m-%dT%H:%M:%S%.f");
        with_zone.or_else(|_| without().map(|at| at.and_utc())).ok()
    }
}

/// A post in responses.
#[derive(Debug, Deserialize)]
pub struct PostView {
    pub post: Post,
}

/// A user.
#[derive(Debug, Deserialize)]
pub struct Person {
    pub id: u64,
    pub name: String,
    #[serde(default)]
    pub display_name: Option<String>,
    pub avatar: Option<String>,
}

#[derive(Deserialize)]
struct CreatedPost {
    post_view: PostView,
}

#[derive(Deserialize)]
struct UserPosts {
    posts: Vec<PostView>,
}

#[derive(Deserialize)]
struct LoggedIn {
    jwt: Option<String>,
}

#[derive(Deserialize)]
struct Uploaded {
    #[serde(default)]
    files: Vec<File>,
}

#[derive(Deserialize)]
struct File {
    file: String,
}

/// A client of one instance, for one user.
pub struct Instance<'a> {
    session: &'a Session,
    address: String,
}

impl<'a> Instance<'a> {
    /// Creates a client for a connected account.
    pub fn of_account(session: &'a Session) -> Self {
        let address = session.account.meta_str("instance_url").unwrap_or_default().to_owned();
        Self { session, address }
    }

    /// Creates a client for an instance that is being connected.
    pub fn at(session: &'a Session, address: &Url) -> Self {
        Self { session, address: address.as_str().to_owned() }
    }

    /// Returns the public address of `path`.
    pub fn public_url(&self, path: &str) -> Option<String> {
        self.session.public_url(&self.address, path)
    }

    /// Returns the address of `path` on the instance.
    pub fn url(&self, path: &str) -> Result<Url> {
        self.session.url(&self.address, path)
    }

    /// `POST /user/login`
    pub async fn log_in(&self) -> Result<String> {
        let secrets = &self.session.secrets;
        let body = json!({
            "username_or_email": secrets.expose("username").trim(),
            "password": secrets.expose("password"),
        });
        let request = self.session.http.post(self.url("/api/v3/user/login")?).json(&body);
        let answer: LoggedIn = self.send(request).await?;
        answer.jwt.filter(|jwt| !jwt.is_empty()).ok_or_else(|| {
            Error::invalid_credentials("The instance has not let the account in yet.")
                .with_remedy("Confirm the e-mail address, or wait until an administrator has accepted the account.")
        })
    }

    /// `GET /site`: who the token belongs to.
    pub async fn me(&self, session: &Session) -> Result<Person> {
        let request =
            session.http.get(self.url("/api/v3/site")?).bearer(session.secrets.require("jwt")?);
        let site: serde_json::Value = self.send(request).await?;
        let person = site.pointer("/my_user/local_user_view/person").cloned().unwrap_or_default();
        serde_json::from_value(person).map_err(|_| {
            Error::new(ErrorKind::Unreachable, "The address does not answer like a Lemmy instance.")
        })
    }

    /// `GET /community`; `None` if the instance does not know it.
    pub async fn community(&self, name: &str) -> Result<Option<u64>> {
        let found: Result<serde_json::Value> =
            self.send(self.get("/api/v3/community")?.query(&[("name", name)])).await;
        number(found, "/community_view/community/id")
    }

    /// `GET /resolve_object`: has the instance fetch the community from its own instance.
    pub async fn resolve(&self, name: &str) -> Result<Option<u64>> {
        let query = [("q", format!("!{name}"))];
        let found = self.send(self.get("/api/v3/resolve_object")?.query(&query)).await;
        number(found, "/community/community/id")
    }

    /// `POST /pictrs/image`; the address of the image.
    pub async fn upload(&self, filename: &str, mime: &str, bytes: Bytes) -> Result<String> {
        let form = Multipart::new().file("images[]", filename, mime, bytes);
        let request = self.post("/pictrs/image")?.multipart(form).deadline(UPLOAD_DEADLINE);
        let uploaded: Uploaded = self.send(request).await?;
        let first = uploaded.files.into_iter().next();
        let first =
            first.ok_or_else(|| Error::media_rejected("The instance did not store the image."))?;
        Ok(self.url(&format!("/pictrs/image/{}", first.file))?.into())
    }

    /// `POST /post`
    pub async fn create(&self, post: &CreatePost) -> Result<Post> {
        let request = self.post("/api/v3/post")?.json(post).deadline(SPEC.commit_deadline);
        let made: CreatedPost = self.send(request).await?;
        Ok(made.post_view.post)
    }

    /// `GET /user`: a page of the account's latest posts, of 50 at most
    /// (<https://github.com/LemmyNet/lemmy/blob/0.19.5/crates/db_schema/src/utils.rs>).
    pub async fn latest(&self, username: &str, next: Option<String>) -> Result<ListPage<Post>> {
        let page = recent_posts::page_number(next.as_deref(), 1);
        let shown = page.to_string();
        let query =
            [("username", username), ("sort", "New"), ("limit", "50"), ("page", shown.as_str())];
        let latest: UserPosts = self.send(self.get("/api/v3/user")?.query(&query)).await?;
        let posts = latest.posts.into_iter().map(|view| view.post).collect();
        Ok(ListPage::until_empty(posts, page + 1))
    }

    /// `GET /post`: a post with its counts.
    pub async fn counts(&self, id: &str) -> Result<Value> {
        let request = self.get("/api/v3/post")?.query(&[("id", id)]);
        let found: Value = self.send(request).await?;
        Ok(found["post_view"].clone())
    }

    fn get(&self, path: &str) -> Result<Request> {
        let token = self.session.secrets.require("jwt")?;
        Ok(self.session.http.get(self.url(path)?).bearer(token))
    }

    fn post(&self, path: &str) -> Result<Request> {
        let token = self.session.secrets.require("jwt")?;
        Ok(self.session.http.post(self.url(path)?).bearer(token))
    }

    async fn send<T: DeserializeOwned>(&self, request: Request) -> Result<T> {
        response::send(self.session, request.max_reply(REPLY_MAX), parse_error).await
    }
}

/// Returns the number at `path`, or `None` if the requested object does not exist.
fn number(found: Result<serde_json::Value>, path: &str) -> Result<Option<u64>> {
    match found {
        Ok(body) => Ok(body.pointer(path).and_then(serde_json::Value::as_u64)),
        Err(error)
            if error.reply.as_ref().is_some_and(|reply| is_missing(reply.code.as_deref())) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn is_missing(code: Option<&str>) -> bool {
    let codes = ["couldnt_find_community", "couldnt_find_object", "not_found", "no_id_given"];
    code.is_some_and(|code| codes.contains(&code))
}
