//! Commands for everything the API does, made from its OpenAPI document: `fanfare posts create`, `fanfare api GET …`.

mod command;
mod document;
mod follow;
mod output;
mod request;
mod send;
mod tree;

use std::{
    ffi::OsString,
    io::{IsTerminal, Write},
    path::Path,
    process::ExitCode,
    time::Duration,
};

use anyhow::{Result, bail};
use clap::ArgMatches;
use reqwest::Method;
use serde_json::Value;

use document::{ListField, Operation, operations};
use follow::FollowedWork;
use request::Request;
use send::Reply;
pub use tree::{chapters, with_commands};

use crate::{
    account::{self, LoginError, LoginMethod, Target},
    media::send_file,
};

/// Chapters that share their name with commands of the binary.
const SHARED_NAMES: [&str; 3] = ["media", "billing", "sandbox"];

/// Chapters whose names have two words.
const TWO_WORDS: [&str; 2] = ["oauth clients", "oauth grants"];

/// The exit code of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Exit {
    Fine = 0,
    Refused = 1,
    Usage = 2,
    NotFound = 3,
    LogIn = 4,
    NotAllowed = 5,
    Conflict = 6,
    Limited = 7,
    Unreachable = 8,
    PostFailed = 9,
}

impl Exit {
    const fn of(status: u16) -> Self {
        match status {
            200..=299 => Self::Fine,
            401 => Self::LogIn,
            402 | 403 => Self::NotAllowed,
            404 => Self::NotFound,
            409 | 422 => Self::Conflict,
            429 => Self::Limited,
            500.. => Self::Unreachable,
            _ => Self::Refused,
        }
    }
}

/// Runs a command of the API; `None` if the arguments name none and belong to the binary itself.
pub async fn run(arguments: &[OsString]) -> Option<ExitCode> {
    let arguments = &join_two_words(arguments);
    let word = |at: usize| arguments.get(at).and_then(|word| word.to_str()).unwrap_or_default();
    let (first, second) = (word(1), word(2));
    let command = match first {
        "api" if !second.is_empty() && !second.starts_with('-') => command::api(),
        "login" | "logout" | "auth" => command::account(match first {
            "login" => "login",
            "logout" => "logout",
            _ => "auth",
        }),
        "watch" => command::watch(),
        _ => {
            if SHARED_NAMES.contains(&first) && ["--help", "-h", "help"].contains(&second) {
                // The binary's own help follows.
                let chapter = command::chapter(first, operations());
                let _ = chapter.bin_name(format!("fanfare {first}")).print_help();
                let _ = writeln!(std::io::stdout());
                return None;
            }
            if first.is_empty()
                || first.starts_with('-')
                || !is_command(operations(), first, second)
            {
                return None;
            }
            command::chapter(first, operations())
        }
    };
    let command = command.bin_name(format!("fanfare {first}"));
    let matches = match command.try_get_matches_from(arguments.iter().skip(1)) {
        Ok(matches) => matches,
        Err(error) => {
            let _ = error.print();
            let code = if error.use_stderr() { Exit::Usage } else { Exit::Fine };
            return Some(ExitCode::from(code as u8));
        }
    };
    let done = match first {
        "api" => api(&matches).await,
        "login" => login(&matches).await,
        "logout" => logout(&matches).await,
        "auth" => status(&matches).await,
        "watch" => watch(&matches).await,
        chapter => operation(chapter, &matches).await,
    };
    let exit = done.unwrap_or_else(|error| {
        let _ = writeln!(std::io::stderr(), "error: {error:#}");
        if error.downcast_ref::<LoginError>().is_some() {
            Exit::LogIn
        } else if error.downcast_ref::<reqwest::Error>().is_some() {
            Exit::Unreachable
        } else {
            Exit::Usage
        }
    });
    Some(ExitCode::from(exit as u8))
}

/// Joins the two words of such a chapter into one argument.
fn join_two_words(arguments: &[OsString]) -> Vec<OsString> {
    let mut all = arguments.to_vec();
    let word = |at: usize| arguments.get(at).and_then(|word| word.to_str()).unwrap_or_default();
    let chapter = format!("{} {}", word(1), word(2));
    if TWO_WORDS.contains(&chapter.as_str()) {
        all.splice(1..3, [chapter.into()]);
    }
    all
}

/// Returns every operation with its command.
#[must_use]
pub fn commands() -> Vec<(&'static str, String)> {
    let words = |one: &'static Operation| (one.id.as_str(), format!("{} {}", one.tag, one.verb));
    operations().iter().map(words).collect()
}

/// Returns true if the two words are a command of the API. Some chapters share their name with commands of the binary.
fn is_command(all: &[Operation], first: &str, second: &str) -> bool {
    let mut of_chapter = all.iter().filter(|operation| operation.tag == first).peekable();
    if SHARED_NAMES.contains(&first) {
        return of_chapter.any(|operation| operation.verb == second);
    }
    of_chapter.peek().is_some()
}

async fn operation(chapter: &str, matches: &ArgMatches) -> Result<Exit> {
    let Some((verb, matches)) = matches.subcommand() else {
        bail!("a command is needed; see --help")
    };
    let operation = operations().iter().find(|one| one.tag == chapter && one.verb == verb);
    let Some(operation) = operation else { bail!("there is no such command") };
    let target = command::profile_options(matches).target().await?;
    let mut request = request::of_operation(operation, matches)?;
    if operation.is_destructive() && !confirm(operation, matches)? {
        return Ok(Exit::Usage);
    }
    if operation.tag == "posts" {
        send_media(&target, &mut request).await?;
    }
    let reply = send::send(&target, &request).await?;
    let wants_wait = matches.try_get_one::<bool>("wait").ok().flatten() == Some(&true);
    let work = FollowedWork::of(&reply.body).filter(|_| wants_wait && reply.status < 400);
    match work {
        // Only the final state is printed.
        Some(work) => follow::follow(&work, matches).await,
        None => Ok(show(&reply, matches, operation.list().as_ref())),
    }
}

async fn api(matches: &ArgMatches) -> Result<Exit> {
    let target = command::profile_options(matches).target().await?;
    let (exit, _) = exchange(&target, &request::of_path(matches)?, matches).await?;
    Ok(exit)
}

/// Sends a request and prints the reply.
async fn exchange(
    target: &Target,
    request: &Request,
    matches: &ArgMatches,
) -> Result<(Exit, Value)> {
    let reply = send::send(target, request).await?;
    Ok((show(&reply, matches, None), reply.body))
}

fn show(reply: &Reply, matches: &ArgMatches, list: Option<&ListField>) -> Exit {
    let (exit, as_json) = (Exit::of(reply.status), matches.get_flag("json"));
    if exit == Exit::Fine {
        output::print(&reply.body, as_json, list);
    } else {
        output::print_refusal(&reply.body, as_json);
        if exit == Exit::LogIn && !as_json {
            let _ = writeln!(std::io::stderr(), "Run fanfare login, or set FANFARE_API_KEY.");
        }
    }
    exit
}

/// Asks for confirmation before a destructive operation.
fn confirm(operation: &Operation, matches: &ArgMatches) -> Result<bool> {
    if matches.get_flag("yes") {
        return Ok(true);
    }
    if !std::io::stdin().is_terminal() {
        bail!("{} cannot be taken back; add --yes", operation.summary.to_lowercase());
    }
    let _ = write!(std::io::stderr(), "{}? [y/N] ", operation.summary);
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    Ok(["y", "yes"].contains(&line.trim().to_lowercase().as_str()))
}

/// Uploads the files that a post names by local paths, and replaces the paths by their addresses.
async fn send_media(target: &Target, request: &mut Request) -> Result<()> {
    let fields = request.body.as_mut().and_then(Value::as_object_mut);
    let named = fields.into_iter().flatten().filter(|(name, _)| name.starts_with("media_url"));
    let all = named.flat_map(|(_, value)| match value {
        Value::Array(several) => several.iter_mut().collect(),
        one => vec![one],
    });
    for place in all {
        let Some(path) = place.as_str().filter(|path| !path.contains("://")) else { continue };
        let file = send_file(&target.url, &target.key, Path::new(path)).await?;
        *place = file["public_url"].clone();
    }
    Ok(())
}

/// Prints events as they arrive, until standard output is closed.
async fn watch(matches: &ArgMatches) -> Result<Exit> {
    let mut after = match command::values_of(matches, "after").next() {
        Some(after) => after.clone(),
        None => match newest(matches).await? {
            Ok(newest) => newest.to_string(),
            Err(refused) => return Ok(show(&refused, matches, None)),
        },
    };
    loop {
        let reply = events(matches, &after, 100).await?;
        if reply.status >= 400 {
            return Ok(show(&reply, matches, None));
        }
        let events = reply.body["events"].as_array().cloned().unwrap_or_default();
        if !print_events(&events, matches.get_flag("json")) {
            return Ok(Exit::Fine);
        }
        let last = events.last().and_then(|event| event["sequence"].as_i64());
        match last {
            Some(last) => after = last.to_string(),
            None => tokio::time::sleep(Duration::from_secs(2)).await,
        }
    }
}

async fn events(matches: &ArgMatches, after: &str, limit: u32) -> Result<Reply> {
    let path = format!("/api/v1/events?after={after}&limit={limit}");
    // The access token is renewed when necessary.
    let target = command::profile_options(matches).target().await?;
    send::send(&target, &Request { method: Method::GET, path, body: None }).await
}

/// Returns the number of the newest event, 0 if there is none, or the reply of an error. Numbers have no gaps, so that
/// an exponential search finds it in few requests.
async fn newest(matches: &ArgMatches) -> Result<std::result::Result<i64, Reply>> {
    let (mut newest, mut step, mut doubles) = (0, 1, true);
    while step > 0 {
        let reply = events(matches, &(newest + step - 1).to_string(), 1).await?;
        if reply.status >= 400 {
            return Ok(Err(reply));
        }
        let found = reply.body["events"][0]["sequence"].as_i64();
        doubles &= found.is_some();
        newest = found.unwrap_or(newest);
        step = if doubles { step * 2 } else { step / 2 };
    }
    Ok(Ok(newest))
}

/// Prints events, one a line; returns false if standard output is closed.
fn print_events(events: &[Value], as_json: bool) -> bool {
    events.iter().all(|event| {
        let text = |name: &str| event[name].as_str().unwrap_or_default();
        let line = match as_json {
            true => event.to_string(),
            false => {
                format!("{}\t{}\t{}", text("created_at"), text("type"), subjects(&event["data"]))
            }
        };
        writeln!(std::io::stdout(), "{line}").is_ok()
    })
}

/// Returns the resources that an event is about: `post 12`.
fn subjects(data: &Value) -> String {
    let things = data.as_object().into_iter().flatten();
    let named = things.filter_map(|(name, thing)| match &thing["id"] {
        Value::String(id) => Some(format!("{name} {id}")),
        Value::Number(id) => Some(format!("{name} {id}")),
        _ => None,
    });
    named.collect::<Vec<_>>().join(", ")
}

async fn login(matches: &ArgMatches) -> Result<Exit> {
    let given = command::profile_options(matches);
    let way = match (matches.get_flag("key"), matches.get_flag("no-browser")) {
        (true, _) => LoginMethod::Key,
        (_, true) => LoginMethod::Code,
        _ => LoginMethod::Browser,
    };
    let profile = account::login(&given, way).await?;
    let whoami = Request { method: Method::GET, path: "/api/v1/whoami".to_owned(), body: None };
    let (exit, body) = exchange(&profile.target(), &whoami, matches).await?;
    if exit == Exit::Fine {
        let place = account::store_profile(&given, profile).await?;
        let email = body["user"]["email"].as_str().unwrap_or_default();
        let _ = writeln!(std::io::stderr(), "Logged in as {email}; kept in {}.", place.display());
    }
    Ok(exit)
}

async fn logout(matches: &ArgMatches) -> Result<Exit> {
    account::logout(&command::profile_options(matches)).await?;
    Ok(Exit::Fine)
}

async fn status(matches: &ArgMatches) -> Result<Exit> {
    let matches = matches.subcommand().map_or(matches, |(_, matches)| matches);
    let target = command::profile_options(matches).target().await?;
    let whoami = Request { method: Method::GET, path: "/api/v1/whoami".to_owned(), body: None };
    exchange(&target, &whoami, matches).await.map(|(exit, _)| exit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chapter_of_two_words_may_be_written_as_two() {
        let line = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        let read = join_two_words(&line("fanfare oauth clients list"));
        assert_eq!(read, ["fanfare", "oauth clients", "list"]);
        assert_eq!(join_two_words(&line("fanfare posts list")), line("fanfare posts list"));
        for tag in chapters().iter().filter(|tag| tag.contains(' ')) {
            assert!(TWO_WORDS.contains(&tag.as_str()), "{tag}");
        }
    }
}
