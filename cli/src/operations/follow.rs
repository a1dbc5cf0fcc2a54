//! `--wait`: follows a post, a post set or a video job to its end.

use std::time::Duration;

use anyhow::Result;
use chrono::DateTime;
use clap::ArgMatches;
use serde_json::Value;

use super::{
    Exit, Shape, cell::here, command, output, output::note, refusal, request::Request, send,
};

/// The operations whose replies can be followed.
pub(super) const FOLLOWED: [&str; 9] = [
    "create_post_set",
    "retry_post_set",
    "get_post_set",
    "create_post",
    "retry_post",
    "get_post",
    "generate_video",
    "run_video_function",
    "get_video_job",
];

/// A kind of work: its name for people, its entry in replies, and where it is read.
#[derive(Clone, Copy)]
struct Kind {
    name: &'static str,
    entry: &'static str,
    place: &'static str,
}

const KINDS: [Kind; 3] = [
    Kind { name: "post", entry: "post", place: "posts" },
    Kind { name: "post set", entry: "post_set", place: "post-sets" },
    Kind { name: "video", entry: "job", place: "ai/video-jobs" },
];

/// The longest time to what is followed, in seconds.
const LONGEST: i64 = 3_600;

/// A post, a post set or a video job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FollowedWork {
    kind: &'static str,
    id: String,
}

impl FollowedWork {
    /// Returns the post, set or job in a reply, if there is one.
    pub(super) fn of(reply: &Value) -> Option<Self> {
        KINDS.into_iter().find_map(|Kind { name, entry, .. }| {
            let id = match &reply[entry]["id"] {
                Value::String(id) => id.clone(),
                Value::Number(id) => id.to_string(),
                _ => return None,
            };
            Some(Self { kind: name, id })
        })
    }

    fn kind(&self) -> &'static Kind {
        KINDS.iter().find(|kind| kind.name == self.kind).unwrap_or(&KINDS[0])
    }

    fn path(&self) -> String {
        format!("/api/v1/{}/{}", self.kind().place, self.id)
    }

    /// Returns the post, set or job in the reply of its path.
    fn read<'a>(&self, reply: &'a Value) -> &'a Value {
        &reply[self.kind().entry]
    }
}

/// The state of the entry that is followed.
#[derive(Debug, PartialEq, Eq)]
enum State {
    Ended(Exit),
    /// Nothing ends it soon; the reason as a sentence.
    Rests(String),
    Running,
}

/// Returns how it stands at a time in seconds since 1970.
fn state(work: &Value, now: i64) -> State {
    let text = |name: &str| work[name].as_str().unwrap_or_default();
    match text("status") {
        "published" | "completed" => State::Ended(Exit::Fine),
        "failed" | "partial" | "cancelled" => State::Ended(Exit::Failed),
        "draft" => State::Rests("It is a draft: it goes out once it has a time.".to_owned()),
        "paused" => {
            State::Rests("It is paused: it goes out once it is scheduled again.".to_owned())
        }
        "scheduled" => {
            let due = DateTime::parse_from_rfc3339(text("scheduled_at")).ok();
            match due.filter(|due| due.timestamp() - now >= LONGEST) {
                Some(_) => State::Rests(format!(
                    "It is due at {}. --wait follows what is due within an hour.",
                    here(text("scheduled_at"))
                )),
                None => State::Running,
            }
        }
        _ => State::Running,
    }
}

/// The point to which something was followed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Followed {
    /// To its end, or to where nothing ends it soon; it was printed.
    To(Exit),
    /// It cannot be read; the refusal was printed.
    Refused(Exit),
}

/// Follows a post or job until it has ended, and prints it.
///
/// # Errors
/// The service does not answer.
pub(super) async fn follow(
    work: &FollowedWork,
    matches: &ArgMatches,
    shape: &Shape,
) -> Result<Followed> {
    if !matches.get_flag("quiet") {
        // The id is shown for users who stop waiting and look later.
        note(&format!("Following {} {}.", work.kind, work.id));
    }
    let bar = indicatif::ProgressBar::new_spinner();
    bar.enable_steady_tick(Duration::from_millis(200));
    let get = Request::get(work.path());
    loop {
        let reply = send::as_user(&command::profile_options(matches), &get).await;
        let reply = reply.inspect_err(|_| bar.finish_and_clear())?;
        if reply.status >= 400 {
            bar.finish_and_clear();
            refusal::print(&reply.body, matches.get_flag("json"), None);
            return Ok(Followed::Refused(Exit::of(reply.status)));
        }
        let entry = work.read(&reply.body);
        let status = entry["status"].as_str().unwrap_or_default();
        bar.set_message(format!("{} {}: {status}", work.kind, work.id));
        let (exit, why) = match state(entry, crate::clock::now()) {
            State::Ended(exit) => (exit, None),
            State::Rests(why) => (Exit::Pending, Some(why)),
            State::Running => {
                tokio::time::sleep(Duration::from_secs(1)).await;
                continue;
            }
        };
        bar.finish_and_clear();
        output::print(&reply.body, matches.get_flag("json"), shape)?;
        if let Some(why) = why {
            note(&why);
        }
        return Ok(Followed::To(exit));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn posts_and_videos_are_followed_and_nothing_else() {
        let path = |reply: Value| FollowedWork::of(&reply).map(|work| work.path());
        assert_eq!(path(json!({"post": {"id": 7}})).as_deref(), Some("/api/v1/posts/7"));
        let video = json!({"job": {"id": "01a2", "status": "queued"}});
        assert_eq!(path(video).as_deref(), Some("/api/v1/ai/video-jobs/01a2"));
        let set = json!({"post_set": {"id": "01a3", "status": "scheduled"}});
        assert_eq!(path(set).as_deref(), Some("/api/v1/post-sets/01a3"));
        assert_eq!(path(json!({"posts": [{"id": 7}]})), None);
    }

    #[test]
    fn it_ends_with_the_work_and_does_not_wait_for_what_nothing_ends() {
        let now = DateTime::parse_from_rfc3339("2030-01-31T09:00:00Z").unwrap().timestamp();
        let state =
            |status: &str, at: &str| state(&json!({"status": status, "scheduled_at": at}), now);
        assert_eq!(state("published", ""), State::Ended(Exit::Fine));
        assert_eq!(state("completed", ""), State::Ended(Exit::Fine));
        assert_eq!(state("failed", ""), State::Ended(Exit::Failed));
        assert_eq!(state("partial", ""), State::Ended(Exit::Failed));
        assert_eq!(state("cancelled", ""), State::Ended(Exit::Failed));
        for running in ["publishing", "processing", "queued"] {
            assert_eq!(state(running, ""), State::Running);
        }
        assert_eq!(state("scheduled", "2030-01-31T09:30:00Z"), State::Running);
        for (status, at) in [("draft", ""), ("paused", ""), ("scheduled", "2030-02-01T09:00:00Z")] {
            assert!(matches!(state(status, at), State::Rests(_)), "{status}");
        }
    }
}
