//! Simulated models: a text model with an OpenAI-compatible endpoint, images and videos of Google, videos of Vertex AI,
//! and images and videos of xAI. They implement the vendors' HTTP APIs, are deterministic by prompt, and obey
//! directives in it: `[[refuse]]`, `[[fail]]`, `[[drop]]`, `[[delay 30s]]`, `[[bad-json]]`, `[[invent]]`,
//! `[[invent-always]]`, `[[texts 2]]`, `[[blank]]`, and `[[answer …]]` and `[[end …]]` (`refusals.rs`).

mod directives;
pub(crate) mod images;
mod refusals;
mod text;
mod vertex;
mod videos;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use salvo::conn::ConnCtrl;
use salvo::http::{Method, Request, Response};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use subtle::ConstantTimeEq;

use crate::{
    broken_reply,
    call::{Call, ReadError},
    env::{Env, lock},
    reply::{HandlerResult, Reply},
    root_handler::RequestAccess,
};
use directives::PromptDirectives;
use videos::VideoJob;

/// The first segment of its paths.
pub(crate) const NAME: &str = "ai";

/// The largest request, in bytes: images come in base64.
const BODY_MAX: usize = 64 << 20;

/// The longest delay of a response.
const LONGEST: Duration = Duration::from_secs(120);

/// The models.
pub(crate) struct AiModels {
    env: Arc<Env>,
    films: Mutex<BTreeMap<String, VideoJob>>,
    /// Service accounts at Vertex AI.
    accounts: vertex::Accounts,
    /// The bill, in US cents: every result counts, even a refused one.
    bill: Mutex<Vec<Value>>,
}

/// The vendor that the path names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Vendor {
    Text,
    Google,
    Vertex,
    Xai,
}

impl AiModels {
    pub fn new(env: &Arc<Env>) -> Self {
        let accounts = vertex::Accounts::default();
        Self { env: Arc::clone(env), films: Mutex::default(), accounts, bill: Mutex::default() }
    }

    /// Answers `/ai/{path}`. Only videos, whose addresses cannot be guessed, are served without the secret.
    pub async fn serve(
        &self,
        req: &mut Request,
        path: &str,
        (reach, connection): (RequestAccess, &ConnCtrl),
        secret: &SecretString,
        res: &mut Response,
    ) {
        if !reach.programs {
            return crate::page::no_such_page().write(res);
        }
        let call = match Call::read(req, path.to_owned(), BODY_MAX).await {
            Ok(call) => call,
            Err(ReadError::TooLarge) => return error(413, "The request is too large.").write(res),
            Err(ReadError::Broken) => return error(400, "The request broke off.").write(res),
        };
        let segments = call.segments();
        if let (&Method::GET, ["films", name]) = (&call.method, segments.as_slice()) {
            return self.film(name).write(res);
        }
        if segments.as_slice() == ["vertex", "token"] {
            let told = self.accounts.token(&call);
            return told.unwrap_or_else(|refused| refused).write(res);
        }
        if !has_secret(&call, secret) && !self.has_account_token(&call, &segments) {
            return error(401, "Incorrect API key provided.").write(res);
        }
        if segments.as_slice() == ["bill"] {
            return Reply::ok(&json!({"bill": *lock(&self.bill)})).write(res);
        }
        let body: Value = if call.method == Method::GET {
            Value::Null
        } else {
            match call.json() {
                Ok(body) => body,
                Err(_) => return error(400, "The body is not JSON.").write(res),
            }
        };
        let words = PromptDirectives::of(&prompt(&body));
        if let Some(delay) = words.delay.filter(|_| !is_film(&segments)) {
            tokio::time::sleep(delay.min(LONGEST)).await;
        }
        let reply = self.answer(&call, &segments, &body, &words).unwrap_or_else(|refused| refused);
        // A dropped call was carried out; only its response is lost.
        if words.drop && call.method == Method::POST {
            return broken_reply::close_unanswered(connection);
        }
        reply.write(res);
    }

    fn answer(
        &self,
        call: &Call,
        path: &[&str],
        body: &Value,
        words: &PromptDirectives,
    ) -> HandlerResult {
        let is_post = call.method == Method::POST;
        if is_post && words.fail && !is_film(path) {
            return Err(error(500, "Internal error"));
        }
        if let (true, Some(vendor), Some(refusal)) = (is_post, vendor(path), &words.answer) {
            return Err(refusal.reply(vendor, path));
        }
        match (vendor(path), path) {
            (Some(Vendor::Text), [.., "chat", "completions"]) if is_post => {
                text::answer(body, words)
            }
            (Some(Vendor::Google), [.., "models", model]) if is_post => {
                let drawn = images::google(model, body, words)?;
                self.charge("image", model, body);
                Ok(drawn)
            }
            (Some(Vendor::Xai), [.., "images", "generations" | "edits"]) if is_post => {
                let drawn = images::xai(body, words)?;
                self.charge("image", body["model"].as_str().unwrap_or_default(), body);
                Ok(drawn)
            }
            (Some(Vendor::Xai), [.., "videos", "generations"]) if is_post => {
                self.start_video(videos::read_xai(body)?, body, words, "request_id")
            }
            (Some(Vendor::Google), [.., "interactions"]) if is_post => {
                self.start_video(videos::read_google(body)?, body, words, "id")
            }
            (Some(Vendor::Vertex), ["vertex", "accounts"]) if is_post => {
                self.accounts.create(&format!("{}/{NAME}/vertex", self.env.base()))
            }
            (Some(Vendor::Vertex), ["vertex", "accounts", "end_tokens"]) if is_post => {
                self.accounts.end_tokens()
            }
            (Some(Vendor::Vertex), _) if is_post => self.vertex_method(path, body, words),
            (Some(Vendor::Xai), [.., "videos", id]) => self.video_status(id, VideoJob::for_xai),
            (Some(Vendor::Google), [.., "interactions", id]) => {
                self.video_status(id, VideoJob::for_google)
            }
            _ => Err(error(404, "There is nothing at this address.")),
        }
    }

    fn charge(&self, what: &str, model: &str, body: &Value) {
        let count = body["n"].as_u64().unwrap_or(1);
        lock(&self.bill).push(json!({"what": what, "model": model, "count": count}));
    }

    fn start_video(
        &self,
        mut job: VideoJob,
        body: &Value,
        words: &PromptDirectives,
        name: &str,
    ) -> HandlerResult {
        if words.fail_submit {
            return Err(error(500, "Internal error"));
        }
        if words.retired {
            return Err(error(404, "This model is no longer available."));
        }
        let id = crate::random::text(crate::random::BASE62, 24);
        job.begin(self.env.now_ms(), words, &format!("{}/{NAME}/films/{id}.mp4", self.env.base()));
        self.charge("video", body["model"].as_str().unwrap_or_default(), body);
        lock(&self.films).insert(id.clone(), job);
        Ok(Reply::ok(&json!({ name: id, "status": "in_progress" })))
    }

    /// Answers a method of a model at Vertex AI.
    fn vertex_method(
        &self,
        path: &[&str],
        body: &Value,
        words: &PromptDirectives,
    ) -> HandlerResult {
        let (model, method) = vertex::method(path)?;
        match method {
            "predictLongRunning" => {
                let about = json!({"model": model});
                let begun = self.start_video(vertex::read(body)?, &about, words, "name")?;
                let id: Value = serde_json::from_slice(&begun.body).unwrap_or_default();
                let id = id["name"].as_str().unwrap_or_default();
                let place = path[2..path.len() - 1].join("/");
                Ok(Reply::ok(&json!({"name": format!("{place}/{model}/operations/{id}")})))
            }
            "fetchPredictOperation" => {
                let named = &body["operationName"];
                let shown = |job: &VideoJob, now| {
                    let mut shown = job.for_vertex(now);
                    shown["name"] = named.clone();
                    shown
                };
                self.video_status(vertex::id(named, model)?, shown)
            }
            _ => Err(error(404, "There is no such method.")),
        }
    }

    fn has_account_token(&self, call: &Call, path: &[&str]) -> bool {
        let token = call.bearer().unwrap_or_default();
        path.first() == Some(&"vertex")
            && path.get(1) != Some(&"accounts")
            && self.accounts.knows(token)
    }

    fn video_status(&self, id: &str, shown: impl Fn(&VideoJob, i64) -> Value) -> HandlerResult {
        let now = self.env.now_ms();
        let found = lock(&self.films).get(id).map(|job| shown(job, now));
        found.map(|body| Reply::ok(&body)).ok_or_else(|| error(404, "There is no such film."))
    }

    fn film(&self, name: &str) -> Reply {
        let id = name.strip_suffix(".mp4").unwrap_or_default();
        let now = self.env.now_ms();
        let is_there = lock(&self.films).get(id).is_some_and(|job| job.is_served(now));
        if is_there { videos::file() } else { error(404, "The film is gone.") }
    }
}

fn is_film(path: &[&str]) -> bool {
    path.first() == Some(&"vertex")
        || path.iter().any(|part| matches!(*part, "videos" | "interactions"))
}

fn vendor(path: &[&str]) -> Option<Vendor> {
    match *path.first()? {
        "text" => Some(Vendor::Text),
        "google" => Some(Vendor::Google),
        "vertex" => Some(Vendor::Vertex),
        "xai" => Some(Vendor::Xai),
        _ => None,
    }
}

/// Returns all texts of a request, wherever the vendor's format has them.
fn prompt(body: &Value) -> String {
    fn texts(value: &Value, all: &mut String) {
        match value {
            Value::String(text) => {
                all.push_str(text);
                all.push('\n');
            }
            Value::Array(list) => list.iter().for_each(|one| texts(one, all)),
            Value::Object(object) => {
                for name in ["text", "content", "parts", "prompt"] {
                    texts(object.get(name).unwrap_or(&Value::Null), all);
                }
            }
            _ => {}
        }
    }
    let mut all = String::new();
    for name in ["prompt", "messages", "contents", "input", "instances"] {
        texts(&body[name], &mut all);
    }
    all
}

fn has_secret(call: &Call, secret: &SecretString) -> bool {
    let given = call.bearer().or_else(|| call.header("x-goog-api-key")).unwrap_or_default();
    bool::from(given.as_bytes().ct_eq(secret.expose_secret().as_bytes()))
}

/// Returns an error in the format that all vendors share.
fn error(status: u16, message: &str) -> Reply {
    Reply::json(status, &json!({"error": {"code": status, "message": message}}))
}
