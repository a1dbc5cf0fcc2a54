//! Everyday tasks, as a user would request them.

use base64::{Engine, engine::general_purpose::STANDARD};
use fanfare_tests::files;
use serde_json::{Value, json};

/// A task: a sentence, the values that belong to it, and what must be true of the reply.
pub struct Task {
    /// The request in words.
    pub say: &'static str,
    /// Values with their labels; a string that begins with `$` is a remembered value.
    pub facts: Vec<(&'static str, Value)>,
    /// The part of the reply to remember: a JSON Pointer, and its name.
    pub remember: Option<(&'static str, &'static str)>,
    /// A pointer into the reply, and the expected value; null expects any value.
    pub expect: (&'static str, Value),
    /// True if it is repeated until the expected value appears.
    pub until: bool,
}

fn task(
    say: &'static str,
    facts: Vec<(&'static str, Value)>,
    expect: (&'static str, Value),
) -> Task {
    Task { say, facts, remember: None, expect, until: false }
}

impl Task {
    fn remember(mut self, pointer: &'static str, name: &'static str) -> Self {
        self.remember = Some((pointer, name));
        self
    }

    fn until(mut self) -> Self {
        self.until = true;
        self
    }
}

/// Returns the tasks. `later` is a future time, and `local` the same without an offset.
pub fn tasks(later: &str, local: &str) -> Vec<Task> {
    let faults = json!([{"on": "commit", "kind": "status", "status": 400, "times": 1}]);
    let (account, post) = (("account id", json!("$account")), ("id of the post", json!("$post")));
    vec![
        task("Show the caller and the workspaces", vec![], ("/user/email", Value::Null)),
        task(
            "Make an account on a simulated network",
            vec![("platform", json!("bluesky"))],
            ("/account/platform", json!("bluesky")),
        )
        .remember("/account/id", "$account"),
        task("List the connected accounts", vec![], ("/accounts/0/id", json!("$account"))),
        task(
            "Show the schema of the settings of an account",
            vec![("id of the account", json!("$account"))],
            ("/schema/properties/languages", Value::Null),
        ),
        task(
            "Upload a small file",
            vec![
                ("filename", json!("dot.png")),
                ("content type", json!("image/png")),
                ("data", json!(STANDARD.encode(files::png()))),
            ],
            ("/mime", json!("image/png")),
        )
        .remember("/url", "$file"),
        task(
            "Schedule a post, but validate it only",
            vec![account.clone(), ("caption", json!("Checked only")), ("dry run", json!(true))],
            ("/valid", json!(true)),
        ),
        task(
            "Schedule a post with a file",
            vec![
                account.clone(),
                ("caption", json!("With a picture")),
                ("media urls", json!(["$file"])),
                ("scheduled at", json!(later)),
            ],
            ("/post/status", json!("scheduled")),
        )
        .remember("/post/id", "$post"),
        task(
            "Schedule a post at a local time",
            vec![
                account.clone(),
                ("caption", json!("At noon")),
                ("scheduled at", json!(local)),
                ("timezone", json!("UTC")),
                ("settings", json!({"langages": ["en"]})),
            ],
            ("/post/settings/languages/0", json!("en")),
        )
        .remember("/post/id", "$other"),
        task("Show a post", vec![post.clone()], ("/post/caption", json!("With a picture"))),
        task(
            "Change a scheduled post",
            vec![post.clone(), ("caption", json!("Changed"))],
            ("/post/caption", json!("Changed")),
        ),
        task(
            "Pause a post: update its status",
            vec![post.clone(), ("status", json!("paused"))],
            ("/post/status", json!("paused")),
        ),
        task(
            "List posts that are paused",
            vec![("status", json!("paused"))],
            ("/posts/0/id", json!("$post")),
        ),
        task(
            "Find the next free slot of an account",
            vec![account.clone()],
            ("/slot/scheduled_at", Value::Null),
        ),
        task(
            "Delete a scheduled post",
            vec![("id of the post", json!("$other"))],
            ("/deleted", json!(true)),
        ),
        task(
            "Set the faults of an account on a simulated network",
            vec![("platform", json!("bluesky")), account.clone(), ("faults", faults)],
            ("/faults", Value::Null),
        ),
        task(
            "Publish a post now",
            vec![account, ("caption", json!("Refused once"))],
            ("/post/id", Value::Null),
        )
        .remember("/post/id", "$failed"),
        task(
            "Show a post",
            vec![("id of the post", json!("$failed"))],
            ("/post/status", json!("failed")),
        )
        .until(),
        task(
            "Send a failed post again",
            vec![("id of the post", json!("$failed"))],
            ("/post/status", json!("scheduled")),
        ),
        task(
            "Create a webhook",
            vec![("url", json!("https://203.0.113.7/hook")), ("events", json!(["post.published"]))],
            ("/webhook/events/0", json!("post.published")),
        ),
        task("Poll the event stream", vec![], ("/events/0/type", Value::Null)),
        task(
            "Show the caller, the workspaces and the limits of a plan",
            vec![],
            ("/limits/accounts/max", Value::Null),
        ),
        task(
            "Show the analytics of accounts: their numbers by the day",
            vec![],
            ("/accounts/0/status", json!("not_measurable")),
        ),
    ]
}
