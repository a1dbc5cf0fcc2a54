//! Commands for everything the API does, made from its OpenAPI document: `fanfare posts create`, `fanfare api GET …`.

mod cell;
mod command;
mod confirm;
mod document;
mod exit;
mod follow;
mod near;
mod output;
mod refusal;
mod request;
mod send;
mod session;
mod shape;
mod shell;
mod table;
mod tree;
mod watch;
mod words;

use std::{ffi::OsString, io::Write, path::Path, process::ExitCode};

use anyhow::{Context as _, Result, bail};
use clap::ArgMatches;
use serde_json::Value;

use document::{Operation, operations};
use exit::Exit;
use follow::{Followed, FollowedWork};
pub use near::with_near_names;
use output::note;
use request::Request;
use send::Reply;
use shape::Shape;
pub use tree::{chapters, with_commands};
use words::word;

use crate::{account::Target, media::send_file};

/// Chapters that share their name with commands of the binary.
const SHARED_NAMES: [&str; 3] = ["media", "billing", "sandbox"];

/// Runs a command of the API; `None` if the arguments name none and belong to the binary itself.
pub async fn run(arguments: &[OsString]) -> Option<ExitCode> {
    let arguments = &words::read(arguments);
    let first = word(arguments, 1);
    let command = command_of(first, word(arguments, 2))?.bin_name(format!("fanfare {first}"));
    let matches = match command.clone().try_get_matches_from(arguments.iter().skip(1)) {
        Ok(matches) => matches,
        Err(error) => {
            let error = near::with_near_names(error, &command, word(arguments, 2));
            let error = near::with_meaning(error, first, word(arguments, 2));
            let _ = error.print();
            let code = if error.use_stderr() { Exit::Usage } else { Exit::Fine };
            return Some(ExitCode::from(code as u8));
        }
    };
    let done = match first {
        "api" => api(&matches).await,
        "login" => session::login(&matches).await,
        "logout" => session::logout(&matches).await,
        "auth" => session::status(&matches).await,
        "watch" => watch::watch(&matches).await,
        chapter => operation(chapter, &matches).await,
    };
    let exit = done.unwrap_or_else(|error| {
        note(&format!("error: {error:#}"));
        let exit = Exit::of_error(&error);
        if exit == Exit::LogIn {
            note("Run fanfare login.");
        }
        exit
    });
    Some(ExitCode::from(exit as u8))
}

/// Returns the command that the first two words name; `None` if it belongs to the binary itself.
fn command_of(first: &str, second: &str) -> Option<clap::Command> {
    Some(match first {
        "api" if !second.is_empty() && !second.starts_with('-') => command::api(),
        "login" => command::account("login"),
        "logout" => command::account("logout"),
        "auth" => command::account("auth"),
        "watch" => command::watch(),
        _ if SHARED_NAMES.contains(&first) && ["--help", "-h", "help"].contains(&second) => {
            // The binary's own help follows.
            let chapter = command::chapter(first, operations());
            let _ = chapter.bin_name(format!("fanfare {first}")).print_help();
            let _ = writeln!(std::io::stdout());
            return None;
        }
        _ if is_command(operations(), first, second) => command::chapter(first, operations()),
        _ => return None,
    })
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
    if operation.is_destructive() && !confirm::confirm(operation, &request, matches).await? {
        return Ok(Exit::Usage);
    }
    if operation.tag == "posts" {
        send_media(&target, &mut request).await?;
    }
    if is_set(matches, "all") {
        return print_all(operation, request, matches).await;
    }
    let reply = send::as_user(&command::profile_options(matches), &request).await?;
    let wants_wait = is_set(matches, "wait");
    let work = FollowedWork::of(&reply.body).filter(|_| wants_wait && reply.status < 400);
    match work {
        // Only the final state is printed.
        Some(work) => {
            let followed = follow::follow(&work, matches, &operation.shape()).await;
            match followed {
                Ok(Followed::To(exit)) => Ok(exit),
                // The change is made, and stays made though it cannot be followed.
                Ok(Followed::Refused(_)) if operation.writes() => {
                    print_unfollowed(operation, &reply, matches)
                }
                Err(error) if operation.writes() => {
                    note(&format!("error: {error:#}"));
                    print_unfollowed(operation, &reply, matches)
                }
                Ok(Followed::Refused(exit)) => Ok(exit),
                Err(error) => Err(error),
            }
        }
        None => print_one(operation, &reply, matches),
    }
}

/// Prints the reply to a change that could not be followed.
fn print_unfollowed(operation: &Operation, reply: &Reply, matches: &ArgMatches) -> Result<Exit> {
    let _ = print_one(operation, reply, matches)?;
    note("It is done, as shown; only its end is not known here.");
    Ok(Exit::Pending)
}

/// Prints a reply, and what there is to say about it beside.
fn print_one(operation: &Operation, reply: &Reply, matches: &ArgMatches) -> Result<Exit> {
    let shown = show(reply, matches, &operation.shape(), Some(&operation.id));
    let exit = match operation.writes() {
        true => shown.context("it is done, but what came of it could not be written")?,
        false => shown?,
    };
    if matches.get_flag("json") {
        return Ok(Exit::of_batch(&reply.body).filter(|_| exit == Exit::Fine).unwrap_or(exit));
    }
    if operation.takes("cursor") {
        output::print_more(&reply.body);
    }
    if !matches.get_flag("quiet") {
        output::print_why_empty(&reply.body);
    }
    let Some(exit) = Exit::of_batch(&reply.body).filter(|_| exit == Exit::Fine) else {
        return Ok(exit);
    };
    for failed in reply.body["errors"].as_array().into_iter().flatten() {
        refusal::print_item(failed, Some(&operation.id));
    }
    Ok(exit)
}

/// Returns true if a switch that only some commands have is set.
fn is_set(matches: &ArgMatches, name: &str) -> bool {
    matches.try_get_one::<bool>(name).ok().flatten() == Some(&true)
}

/// Prints a list page by page, to its end.
async fn print_all(
    operation: &Operation,
    mut request: Request,
    matches: &ArgMatches,
) -> Result<Exit> {
    let (first, shape) = (request.path.clone(), operation.shape());
    loop {
        let reply = send::as_user(&command::profile_options(matches), &request).await?;
        let exit = show(&reply, matches, &shape, Some(&operation.id))?;
        // The event stream says where it goes on although it has no more.
        let goes_on = exit == Exit::Fine && reply.body["has_more"] != false;
        let cursor = reply.body["next_cursor"].as_str().filter(|_| goes_on);
        let Some(cursor) = cursor else { return Ok(exit) };
        let mark = if first.contains('?') { '&' } else { '?' };
        request.path = format!("{first}{mark}cursor={}", request::encoded(cursor));
    }
}

async fn api(matches: &ArgMatches) -> Result<Exit> {
    let request = request::of_path(matches)?;
    let reply = send::as_user(&command::profile_options(matches), &request).await?;
    if Exit::of(reply.status) != Exit::Fine {
        return show(&reply, matches, &Shape::default(), None);
    }
    output::print_raw(&reply.body, matches.get_flag("json"))?;
    Ok(Exit::Fine)
}

fn show(
    reply: &Reply,
    matches: &ArgMatches,
    shape: &Shape,
    operation: Option<&str>,
) -> Result<Exit> {
    let (exit, as_json) = (Exit::of(reply.status), matches.get_flag("json"));
    if exit == Exit::Fine {
        output::print(&reply.body, as_json, shape)?;
    } else {
        refusal::print(&reply.body, as_json, operation);
        if exit == Exit::LogIn && !as_json {
            note("Run fanfare login, or set FANFARE_API_KEY.");
        }
    }
    Ok(exit)
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
