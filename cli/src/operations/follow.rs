//! `--wait`: follows a post or a video job to its end.

use std::{io::Write, time::Duration};

use anyhow::Result;
use clap::ArgMatches;
use reqwest::Method;
use serde_json::Value;

use super::{Exit, command, output, request::Request, send};

/// The operations whose replies can be followed.
pub(super) const FOLLOWED: [&str; 6] = [
    "create_post",
    "retry_post",
    "get_post",
    "generate_video",
    "run_video_function",
    "get_video_job",
];

/// A post or a video job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FollowedWork {
    kind: &'static str,
    id: String,
}

impl FollowedWork {
    /// Returns the post or job in a reply, if there is one.
    pub(super) fn of(reply: &Value) -> Option<Self> {
        let post = reply["post"]["id"].as_i64().map(|id| Self { kind: "post", id: id.to_string() });
        post.or_else(|| {
            let id = reply["job"]["id"].as_str()?.to_owned();
            Some(Self { kind: "job", id })
        })
    }

    fn path(&self) -> String {
        let place = if self.kind == "post" { "posts" } else { "ai/video-jobs" };
        format!("/api/v1/{place}/{}", self.id)
    }
}

/// Returns the exit code of a final status; `None` for any other.
fn exit_of(status: &str) -> Option<Exit> {
    match status {
        "published" | "completed" => Some(Exit::Fine),
        "failed" | "paused" | "draft" | "cancelled" => Some(Exit::PostFailed),
        _ => None,
    }
}

/// Follows a post or job until it has ended, and prints it.
///
/// # Errors
/// The service does not answer.
pub(super) async fn follow(work: &FollowedWork, matches: &ArgMatches) -> Result<Exit> {
    if !matches.get_flag("quiet") {
        // The id is shown for users who stop waiting and look later.
        let _ = writeln!(std::io::stderr(), "Following {} {}.", work.kind, work.id);
    }
    let bar = indicatif::ProgressBar::new_spinner();
    bar.enable_steady_tick(Duration::from_millis(200));
    let get = Request { method: Method::GET, path: work.path(), body: None };
    loop {
        let target = command::profile_options(matches).target().await?;
        let reply = send::send(&target, &get).await?;
        let status = reply.body[work.kind]["status"].as_str().unwrap_or_default();
        bar.set_message(format!("{} {}: {status}", work.kind, work.id));
        if reply.status >= 400 {
            bar.finish_and_clear();
            output::print_refusal(&reply.body, matches.get_flag("json"));
            return Ok(Exit::of(reply.status));
        }
        if let Some(exit) = exit_of(status) {
            bar.finish_and_clear();
            output::print(&reply.body, matches.get_flag("json"), None);
            return Ok(exit);
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn posts_and_films_are_followed_and_nothing_else() {
        let path = |reply: Value| FollowedWork::of(&reply).map(|work| work.path());
        assert_eq!(path(json!({"post": {"id": 7}})).as_deref(), Some("/api/v1/posts/7"));
        let film = json!({"job": {"id": "01a2", "status": "queued"}});
        assert_eq!(path(film).as_deref(), Some("/api/v1/ai/video-jobs/01a2"));
        assert_eq!(path(json!({"posts": [{"id": 7}]})), None);
        assert_eq!(
            (exit_of("published"), exit_of("completed")),
            (Some(Exit::Fine), Some(Exit::Fine))
        );
        assert_eq!(
            (exit_of("failed"), exit_of("cancelled")),
            (Some(Exit::PostFailed), Some(Exit::PostFailed))
        );
        assert_eq!(
            (exit_of("scheduled"), exit_of("processing"), exit_of("queued")),
            (None, None, None)
        );
    }
}
