//! Calls to the service that processes videos (`app.bsky.video.*`).
//!
//! Each call has a token of its own, which the account's server makes for it; the status of a job needs none.

use std::time::Duration;

use chrono::TimeDelta;
use fanfare_outbound::{Reply, Request};
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::Value;
use url::Url;

use super::{client::Pds, error::parse_error};
use crate::{Error, ErrorKind, MediaStream, Result, Session, VideoService};

/// The network's own service (<https://docs.bsky.app/docs/tutorials/video>).
const USUAL: &str = "https://video.bsky.app";

const LIMITS: &str = "app.bsky.video.getUploadLimits";
const UPLOAD: &str = "app.bsky.video.uploadVideo";
const JOB: &str = "app.bsky.video.getJobStatus";
/// The method that the service calls at the account's server once a video is processed.
const UPLOAD_BLOB: &str = "com.atproto.repo.uploadBlob";

/// The code of an account whose e-mail address is not confirmed
/// (<https://github.com/bluesky-social/atproto/issues/3097>).
const UNCONFIRMED: &str = "unconfirmed_email";

/// The life of an upload's token: it is used again when the processed video goes to the account's server.
const UPLOAD_TOKEN_LIFE: TimeDelta = TimeDelta::minutes(30);
/// Time for a call that only reads.
const READ_DEADLINE: Duration = Duration::from_secs(10);
/// Time to send a whole video.
const UPLOAD_DEADLINE: Duration = Duration::from_secs(20 * 60);

/// The service that an account's videos are sent to.
#[derive(Debug)]
pub struct Videos<'a> {
    session: &'a Session,
    pds: &'a Pds<'a>,
    address: Url,
    /// Its name in tokens.
    did: String,
}

/// The number of videos that the account may still send.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// True if it takes a video now.
    pub can_upload: bool,
    /// The number of videos left today, if it says so.
    pub remaining_daily_videos: Option<u64>,
    /// The number of bytes left today, if it says so.
    pub remaining_daily_bytes: Option<u64>,
    message: Option<String>,
    error: Option<String>,
}

impl Limits {
    /// Returns the service's own words, if there are any.
    pub fn words(&self) -> Option<&str> {
        let said = [self.message.as_deref(), self.error.as_deref()];
        said.into_iter().flatten().find(|text| !text.is_empty())
    }
}

/// A video that is being processed. A state that is not known means that it is in process.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Job {
    /// Its id; empty if there is no job.
    pub job_id: String,
    state: String,
    blob: Option<Value>,
    error: Option<String>,
    failure_code: Option<String>,
    message: Option<String>,
}

/// The state of a job.
#[derive(Debug, PartialEq, Eq)]
pub enum JobState {
    /// The processed video, as a record refers to it.
    Ready(Value),
    /// Not done yet.
    InProcess,
    /// It failed, with the code and the words of the service.
    Failed(Option<String>, String),
}

impl Job {
    /// Returns its state. A blob is a success in whatever state.
    pub fn state(self) -> JobState {
        if let Some(blob) = self.blob.filter(Value::is_object) {
            return JobState::Ready(blob);
        }
        if self.state != "JOB_STATE_FAILED" {
            return JobState::InProcess;
        }
        let said = [self.message, self.error].into_iter().flatten().find(|text| !text.is_empty());
        JobState::Failed(
            self.failure_code,
            said.unwrap_or_else(|| "no reason was given".to_owned()),
        )
    }

    /// Reads a job that is wrapped in `jobStatus`, or that stands by itself: the service has answered both.
    fn read(mut answer: Value) -> Option<Self> {
        let job = match answer.get_mut("jobStatus") {
            Some(job) => job.take(),
            None => answer,
        };
        let job: Self = serde_json::from_value(job).ok()?;
        (!job.job_id.is_empty() || job.blob.is_some()).then_some(job)
    }
}

impl<'a> Videos<'a> {
    /// Returns the service; `None` if videos go to the account's server.
    pub fn of(session: &'a Session, pds: &'a Pds<'a>) -> Result<Option<Self>> {
        let broken = |_| Error::misconfigured("The address of the video service is not valid.");
        let usual = Url::parse(USUAL).map_err(broken)?;
        let named = match &session.video_service {
            VideoService::Off => return Ok(None),
            VideoService::Usual => usual,
            VideoService::At(address) => address.clone(),
        };
        let did = did_of_host(&named);
        // A simulated network has its service below its own address, under the usual name.
        let address = session.base.clone().filter(|_| session.simulated).unwrap_or(named);
        Ok(Some(Self { session, pds, address, did }))
    }

    fn request(&self, post: bool, method: &str) -> Result<Request> {
        let address = format!("{}/xrpc/{method}", self.address.as_str().trim_end_matches('/'));
        let url = Url::parse(&address)
            .map_err(|_| Error::misconfigured("The address of the video service is not valid."))?;
        let http = &self.session.http;
        Ok(if post { http.post(url) } else { http.get(url).deadline(READ_DEADLINE) })
    }

    async fn send(&self, request: Request) -> Result<Reply> {
        let reply = request.send().await?;
        if reply.is_success() { Ok(reply) } else { Err(self.refusal(&reply)) }
    }

    /// Converts a refusal of the service. Its tokens are made for each call, so one that has ended says nothing about
    /// the account's.
    fn refusal(&self, reply: &Reply) -> Error {
        let error = parse_error(self.session, reply);
        let anew =
            |kind, message: &str| Error { message: message.to_owned(), kind, ..error.clone() };
        match error.kind {
            ErrorKind::TokenExpired | ErrorKind::Reconnect | ErrorKind::InvalidCredentials => {
                let message = "Bluesky's video service did not accept its token.";
                Error { remedy: None, ..anew(ErrorKind::Transient, message) }
            }
            ErrorKind::TargetGone if reply.status != 404 => {
                let message = "The video service does not offer what is needed.";
                anew(ErrorKind::Misconfigured, message).with_remedy(
                    "Ask the operator to check FANFARE_BLUESKY_VIDEO_URL, or publish without the video.",
                )
            }
            ErrorKind::RateLimited | ErrorKind::QuotaExhausted => error.of_post_alone(),
            _ => error,
        }
    }

    /// `app.bsky.video.getUploadLimits`.
    pub async fn limits(&self) -> Result<Limits> {
        let token = self.pds.service_token(&self.did, LIMITS, None).await?;
        let request = self.request(false, LIMITS)?.bearer(&token);
        Ok(self.send(request).await?.json()?)
    }

    /// `app.bsky.video.uploadVideo`. Equal bytes are answered with the job of the first upload.
    pub async fn upload(&self, name: &str, size: u64, file: MediaStream) -> Result<Job> {
        let exp = self.session.now + UPLOAD_TOKEN_LIFE;
        let server = did_of_host(&self.pds.home()?);
        let token: SecretString =
            self.pds.service_token(&server, UPLOAD_BLOB, Some(exp.timestamp())).await?;
        let query = [("did", self.session.account.remote_id.as_str()), ("name", name)];
        let request = self.request(true, UPLOAD)?.query(&query).bearer(&token);
        let request = request.file("video/mp4", size, file).deadline(UPLOAD_DEADLINE);
        let reply = request.send().await?;
        // A job that exists already is answered with an error's status, too.
        let answer: Value = reply.json().unwrap_or_default();
        let is_unconfirmed = ["/error", "/jobStatus/error"]
            .iter()
            .any(|place| answer.pointer(place) == Some(&UNCONFIRMED.into()));
        match Job::read(answer) {
            Some(job) => Ok(job),
            None if is_unconfirmed => Err(unconfirmed()),
            None if reply.is_success() => Err(Error::transient(
                "Bluesky's video service did not say how to ask for the video.",
            )),
            None => Err(self.refusal(&reply)),
        }
    }

    /// `app.bsky.video.getJobStatus`; `None` if it knows no such job.
    pub async fn job(&self, id: &str) -> Result<Option<Job>> {
        let request = self.request(false, JOB)?.query(&[("jobId", id)]);
        match self.send(request).await {
            Ok(reply) => Job::read(reply.json()?).map(Some).ok_or_else(|| {
                Error::transient("Bluesky's video service did not say what became of the video.")
            }),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Returns the error for an account whose e-mail address is not confirmed.
pub fn unconfirmed() -> Error {
    Error::misconfigured("Bluesky takes videos only of accounts whose e-mail address is confirmed.")
        .with_remedy("Confirm the account's e-mail address at Bluesky, then retry the post.")
}

/// Returns the DID of a server (<https://w3c-ccg.github.io/did-method-web>): its host, with the colon of a port encoded.
fn did_of_host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("did:web:{host}%3A{port}"),
        None => format!("did:web:{host}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use url::Url;

    use super::{Job, JobState, did_of_host};

    #[test]
    fn a_server_is_named_by_its_host() {
        let did = |url| did_of_host(&Url::parse(url).unwrap());
        assert_eq!(did("https://video.bsky.app"), "did:web:video.bsky.app");
        assert_eq!(did("http://127.0.0.1:3000/x"), "did:web:127.0.0.1%3A3000");
    }

    #[test]
    fn a_job_is_read_wrapped_and_bare() {
        let blob = json!({"$type": "blob"});
        for answer in [
            json!({"jobStatus": {"jobId": "1", "state": "JOB_STATE_CREATED", "blob": blob}}),
            json!({"jobId": "1", "state": "JOB_STATE_COMPLETED", "blob": blob, "error": "already_exists"}),
            json!({"jobId": "1", "state": "JOB_STATE_FAILED", "blob": blob}),
        ] {
            assert_eq!(Job::read(answer).unwrap().state(), JobState::Ready(blob.clone()));
        }
        for state in ["JOB_STATE_COMPLETED", "JOB_STATE_ENCODING", "JOB_STATE_OF_TOMORROW"] {
            let job = Job::read(json!({"jobId": "1", "state": state, "blob": null})).unwrap();
            assert_eq!(job.state(), JobState::InProcess, "{state}");
        }
        assert!(Job::read(json!({"error": "unconfirmed_email", "jobId": ""})).is_none());
        assert!(Job::read(json!("nothing")).is_none());
    }
}
