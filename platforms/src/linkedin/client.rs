//! Calls to LinkedIn's API.

use std::{collections::BTreeMap, time::Duration};

use bytes::Bytes;
use chrono::{DateTime, Utc};
use fanfare_outbound::{Reply, Request};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use url::{Url, form_urlencoded};

use super::{
    API, SPEC,
    error::parse_error,
    state::{Organization, Part, Upload},
};
use crate::{
    Error, ErrorKind, Media, MediaStream, Result, Session,
    oauth::ACCESS_TOKEN,
    recent_posts::{Entry, ListPage, page_number},
    response,
};

/// The deadline for one part of an upload.
const PART_DEADLINE: Duration = Duration::from_secs(60);

/// A kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asset {
    Image,
    Video,
    Document,
}

impl Asset {
    /// Returns the kind of a file.
    pub fn of(media: &Media) -> Self {
        match media {
            media if media.is_video() => Self::Video,
            media if media.is_image() => Self::Image,
            _ => Self::Document,
        }
    }

    /// Returns its name; with an s it is the name of its resource.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Video => "video",
            Self::Document => "document",
        }
    }
}

/// The member a token belongs to.
#[derive(Debug, Deserialize)]
pub(super) struct Member {
    pub sub: String,
    pub name: Option<String>,
    pub picture: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Me {
    #[serde(rename = "vanityName")]
    vanity_name: String,
}

#[derive(Debug, Deserialize)]
struct Elements<T> {
    elements: Vec<T>,
}

/// A member's permission for an organization.
#[derive(Debug, Deserialize)]
pub(super) struct Acl {
    pub role: String,
    #[serde(rename = "organization")]
    pub urn: String,
}

/// The organizations that were asked for, by their numbers; those that may not be read are left out.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Results {
    results: BTreeMap<String, Target>,
}

/// An organization in lists.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Target {
    pub id: Option<u64>,
    pub localized_name: Option<String>,
    pub vanity_name: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Initialized {
    value: Initial,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Initial {
    upload_url: Option<String>,
    image: Option<String>,
    document: Option<String>,
    video: Option<String>,
    upload_instructions: Vec<Instruction>,
    upload_token: String,
    thumbnail_upload_url: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Instruction {
    upload_url: String,
    first_byte: u64,
    last_byte: u64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    status: String,
    processing_failure_reason: Option<String>,
}

/// The processing status of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Processing {
    Available,
    Going,
    /// It failed, with this reason.
    Failed(String),
}

/// A post in lists.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Post {
    pub id: String,
    #[serde(default)]
    pub commentary: String,
    #[serde(default)]
    content: Value,
    /// In milliseconds.
    created_at: Option<i64>,
    last_modified_at: Option<i64>,
}

impl Post {
    /// Returns the URNs of its files.
    pub fn files(&self) -> Vec<String> {
        let images = self.content["multiImage"]["images"].as_array().into_iter().flatten();
        let all = std::iter::once(&self.content["media"]).chain(images);
        all.filter_map(|one| one["id"].as_str().map(str::to_owned)).collect()
    }
}

impl Entry for Post {
    fn created_at(&self) -> Option<DateTime<Utc>> {
        self.created_at.and_then(DateTime::from_timestamp_millis)
    }

    /// Returns the time of the last change, by which the list is sorted.
    fn sort_time(&self) -> Option<DateTime<Utc>> {
        self.last_modified_at.and_then(DateTime::from_timestamp_millis).max(self.created_at())
    }
}

/// Returns the account that the token belongs to.
pub(super) async fn userinfo(session: &Session) -> Result<Member> {
    get(session, "/v2/userinfo").await
}

/// Returns the last part of the address of the member's page. Only tokens with one of the older permissions for
/// profiles may read it.
pub(super) async fn vanity_name(session: &Session) -> Result<String> {
    get(session, "/v2/me").await.map(|me: Me| me.vanity_name)
}

/// Returns the organizations in which the member has a role
/// (<https://learn.microsoft.com/linkedin/marketing/community-management/organizations/organization-access-control-by-role>).
pub(super) async fn acls(session: &Session) -> Result<Vec<Acl>> {
    let path = "/rest/organizationAcls?q=roleAssignee&state=APPROVED&count=100";
    get(session, path).await.map(|found: Elements<Acl>| found.elements)
}

/// Returns the names of organizations, by their URNs.
pub(super) async fn organizations(
    session: &Session,
    urns: &[&str],
) -> Result<BTreeMap<String, Target>> {
    let numbers: Vec<&str> = urns.iter().filter_map(|urn| urn.rsplit(':').next()).collect();
    let path = format!("/rest/organizations?ids=List({})", numbers.join(","));
    let found: Results = get(session, &path).await?;
    let named = found.results.into_iter();
    Ok(named.map(|(id, target)| (format!("urn:li:organization:{id}"), target)).collect())
}

/// Returns the organization with this vanity name
/// (<https://learn.microsoft.com/linkedin/marketing/community-management/organizations/organization-lookup-api>).
pub(super) async fn organization(session: &Session, name: &str) -> Result<Option<Organization>> {
    let path = format!("/rest/organizations?q=vanityName&vanityName={}", encoded(name));
    let found: Elements<Target> = match get(session, &path).await {
        Err(error) if error.reply.as_ref().is_some_and(|reply| reply.status == 404) => {
            return Ok(None);
        }
        found => found?,
    };
    let first = found.elements.into_iter().find_map(|one| Some((one.id?, one.localized_name?)));
    Ok(first.map(|(id, name)| Organization { name, urn: format!("urn:li:organization:{id}") }))
}

/// Requests the upload addresses of a file.
pub(super) async fn initialize(
    session: &Session,
    asset: Asset,
    bytes: u64,
    with_thumbnail: bool,
) -> Result<Upload> {
    let owner = &session.account.remote_id;
    let mut wanted = json!({"owner": owner});
    if asset == Asset::Video {
        wanted = json!({"owner": owner, "fileSizeBytes": bytes, "uploadCaptions": false, "uploadThumbnail": with_thumbnail});
    }
    let path = format!("/rest/{}s?action=initializeUpload", asset.as_str());
    let request = session.http.post(url(session, &path)?);
    let body = json!({"initializeUploadRequest": wanted});
    let answer: Initialized =
        response::send(session, authorized(session, request)?.json(&body), parse_error).await?;
    answer.value.upload(asset, bytes).ok_or_else(|| {
        Error::transient("LinkedIn answered a request to upload without saying where to.")
    })
}

impl Initial {
    fn upload(self, asset: Asset, bytes: u64) -> Option<Upload> {
        let last = bytes.saturating_sub(1);
        let whole = |url| vec![Part { url, first: 0, last }];
        let (urn, parts, token) = match asset {
            Asset::Image => (self.image?, whole(self.upload_url?), None),
            Asset::Document => (self.document?, whole(self.upload_url?), None),
            Asset::Video => {
                let parts = self.upload_instructions.into_iter().map(|part| Part {
                    url: part.upload_url,
                    first: part.first_byte,
                    last: part.last_byte,
                });
                (self.video?, parts.collect(), Some(self.upload_token))
            }
        };
        let thumbnail = self.thumbnail_upload_url;
        Some(Upload { urn, parts, sent: Vec::new(), thumbnail, token })
    }
}

/// The body of an upload request.
pub(super) enum UploadBody {
    /// Bytes in memory.
    Bytes(Bytes),
    /// A number of bytes, streamed from the store.
    File(u64, MediaStream),
}

/// Sends bytes to an upload address; returns LinkedIn's ETag for them.
pub(super) async fn put(
    session: &Session,
    address: &str,
    (mime, load): (&str, UploadBody),
    is_thumbnail: bool,
) -> Result<String> {
    let url = Url::parse(address)
        .map_err(|_| Error::transient("LinkedIn gave an address to upload to that is none."))?;
    let request = session.http.put(url.clone()).deadline(PART_DEADLINE);
    let mut request = match load {
        UploadBody::Bytes(bytes) => request.body(mime, bytes),
        UploadBody::File(size, pieces) => request.file(mime, size, pieces),
    };
    if is_thumbnail {
        request = request.header("media-type-family", "STILLIMAGE");
    }
    if is_linkedin(session, &url) {
        request = request.bearer(session.secrets.require(ACCESS_TOKEN)?);
    }
    let reply = request.send().await?;
    if reply.is_success() {
        return Ok(reply.header("etag").unwrap_or_default().to_owned());
    }
    Err(parse_error(session, &reply))
}

/// Returns true if the token may be sent to this address: only to LinkedIn's own hosts.
fn is_linkedin(session: &Session, url: &Url) -> bool {
    match &session.base {
        Some(base) => base.origin() == url.origin(),
        None => url
            .domain()
            .is_some_and(|host| host == "linkedin.com" || host.ends_with(".linkedin.com")),
    }
}

/// Completes the upload of a video.
pub(super) async fn finalize(session: &Session, upload: &Upload) -> Result<()> {
    let request = session.http.post(url(session, "/rest/videos?action=finalizeUpload")?);
    let body = json!({"finalizeUploadRequest": {
        "video": upload.urn,
        "uploadToken": upload.token.as_deref().unwrap_or_default(),
        "uploadedPartIds": upload.sent,
    }});
    let reply = authorized(session, request)?.json(&body).send().await?;
    if reply.is_success() { Ok(()) } else { Err(parse_error(session, &reply)) }
}

/// Reads the processing status of a file.
pub(super) async fn processing(session: &Session, asset: Asset, urn: &str) -> Result<Processing> {
    let path = format!("/rest/{}s/{}", asset.as_str(), encoded(urn));
    let answer: Status = get(session, &path).await?;
    Ok(match answer.status.as_str() {
        "AVAILABLE" => Processing::Available,
        "PROCESSING_FAILED" => {
            Processing::Failed(answer.processing_failure_reason.unwrap_or_default())
        }
        _ => Processing::Going,
    })
}

/// Publishes a post and returns its URN.
pub(super) async fn create(session: &Session, post: &Value) -> Result<String> {
    let request = session.http.post(url(session, "/rest/posts")?);
    let request = authorized(session, request)?.json(post).deadline(SPEC.commit_deadline);
    let reply = request.send().await?;
    if !reply.is_success() {
        return Err(parse_error(session, &reply));
    }
    created_urn(&reply)
        .ok_or_else(|| Error::new(ErrorKind::Ambiguous, "LinkedIn answered without a URN."))
}

fn created_urn(reply: &Reply) -> Option<String> {
    let found = reply.header("x-restli-id").or_else(|| reply.header("x-linkedin-id"))?;
    (!found.is_empty()).then(|| found.to_owned())
}

/// The state and the audience of a post.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Lifecycle {
    /// `PUBLISHED`, `PROCESSING`, `PUBLISH_FAILED` or another one.
    pub lifecycle_state: String,
    /// `PUBLIC`, `LOGGED_IN`, `CONNECTIONS` or `CONTAINER`.
    pub visibility: String,
}

/// Reads the state of a post of the page, as its author sees it.
pub(super) async fn lifecycle(session: &Session, urn: &str) -> Result<Lifecycle> {
    let path = format!("/rest/posts/{}?viewContext=AUTHOR", encoded(urn));
    get(session, &path).await
}

/// Reads a page of the latest posts of the account, an organization; of 100 at most
/// (<https://learn.microsoft.com/linkedin/marketing/community-management/shares/posts-api#find-posts-by-authors>).
pub(super) async fn posts(session: &Session, next: Option<String>) -> Result<ListPage<Post>> {
    let author = encoded(&session.account.remote_id);
    let start = page_number(next.as_deref(), 0);
    let path = format!(
        "/rest/posts?q=author&author={author}&count=100&start={start}&sortBy=LAST_MODIFIED"
    );
    let found: Elements<Post> = get(session, &path).await?;
    let end = start + found.elements.len();
    Ok(ListPage::until_empty(found.elements, end))
}

/// Returns the posts that mention an organization between two times.
pub(super) async fn mentions(session: &Session, since: DateTime<Utc>) -> Result<Vec<Value>> {
    let organization = encoded(&session.account.remote_id);
    let (start, end) = (since.timestamp_millis(), session.now.timestamp_millis());
    let path = format!(
        "/rest/organizationalEntityNotifications?q=criteria&organizationalEntity={organization}&actions=List(SHARE_MENTION)&timeRange=(start:{start},end:{end})"
    );
    get(session, &path).await.map(|found: Elements<Value>| found.elements)
}

/// Returns the number of followers of the account, an organization.
pub(super) async fn network_size(session: &Session) -> Result<Value> {
    let organization = encoded(&session.account.remote_id);
    get(session, &format!("/rest/networkSizes/{organization}?edgeType=COMPANY_FOLLOWED_BY_MEMBER"))
        .await
}

/// Returns daily statistics of the account, an organization.
pub(super) async fn statistics(
    session: &Session,
    finder: &str,
    (start, end): (i64, i64),
) -> Result<Vec<Value>> {
    let organization = encoded(&session.account.remote_id);
    let path = format!(
        "/rest/{finder}?q=organizationalEntity&organizationalEntity={organization}&timeIntervals=(timeRange:(start:{start},end:{end}),timeGranularityType:DAY)"
    );
    get(session, &path).await.map(|found: Elements<Value>| found.elements)
}

/// Returns how often the pages of the account, an organization, were seen each day.
pub(super) async fn page_statistics(
    session: &Session,
    (start, end): (i64, i64),
) -> Result<Vec<Value>> {
    let organization = encoded(&session.account.remote_id);
    let path = format!(
        "/rest/organizationPageStatistics?q=organization&organization={organization}&timeIntervals=(timeRange:(start:{start},end:{end}),timeGranularityType:DAY)"
    );
    get(session, &path).await.map(|found: Elements<Value>| found.elements)
}

/// Returns the lifetime statistics of an organization's post.
pub(super) async fn share_statistics(session: &Session, urn: &str) -> Result<Vec<Value>> {
    let organization = encoded(&session.account.remote_id);
    let list = if urn.starts_with("urn:li:ugcPost:") { "ugcPosts" } else { "shares" };
    let path = format!(
        "/rest/organizationalEntityShareStatistics?q=organizationalEntity&organizationalEntity={organization}&{list}=List({})",
        encoded(urn)
    );
    get(session, &path).await.map(|found: Elements<Value>| found.elements)
}

/// Returns one lifetime statistic of a member's post.
pub(super) async fn member_statistics(
    session: &Session,
    urn: &str,
    metric: &str,
) -> Result<Vec<Value>> {
    let kind = if urn.starts_with("urn:li:ugcPost:") { "ugc" } else { "share" };
    let path = format!(
        "/rest/memberCreatorPostAnalytics?q=entity&entity=({kind}:{})&queryType={metric}&aggregation=TOTAL",
        encoded(urn)
    );
    get(session, &path).await.map(|found: Elements<Value>| found.elements)
}

async fn get<T: DeserializeOwned>(session: &Session, path: &str) -> Result<T> {
    let request = session.http.get(url(session, path)?);
    response::send(session, authorized(session, request)?, parse_error).await
}

/// Returns the address of `path`, in which Rest.li needs brackets, commas and colons unencoded; [`encoded`] encodes
/// what is between them.
fn url(session: &Session, path: &str) -> Result<Url> {
    session.url(API, path)
}

fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

fn authorized(session: &Session, request: Request) -> Result<Request> {
    let request = request.bearer(session.secrets.require(ACCESS_TOKEN)?);
    Ok(request
        .header("linkedin-version", super::version())
        .header("x-restli-protocol-version", "2.0.0"))
}
