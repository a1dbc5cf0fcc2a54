//! `fanfare login`, `logout` and `auth status`.

use anyhow::Result;
use clap::ArgMatches;

use super::{
    Exit, Shape, command,
    output::note,
    request::Request,
    send::{self, as_user},
    show,
};
use crate::account::{self, LoginMethod};

fn whoami() -> Request {
    Request::get("/api/v1/whoami".to_owned())
}

/// Logs in, and keeps the log-in.
///
/// # Errors
/// The service does not answer, or the profile cannot be written.
pub(super) async fn login(matches: &ArgMatches) -> Result<Exit> {
    let given = command::profile_options(matches);
    let way = match (matches.get_flag("key"), matches.get_flag("no-browser")) {
        (true, _) => LoginMethod::Key,
        (_, true) => LoginMethod::Code,
        _ => LoginMethod::Browser,
    };
    let profile = account::login(&given, way).await?;
    let reply = send::send(&profile.target(), &whoami()).await?;
    let exit = show(&reply, matches, &Shape::default(), None)?;
    if exit == Exit::Fine {
        let place = account::store_profile(&given, profile).await?;
        let email = reply.body["user"]["email"].as_str().unwrap_or_default();
        note(&format!("Logged in as {email}; kept in {}.", place.display()));
    }
    Ok(exit)
}

/// Forgets the log-in.
///
/// # Errors
/// The profile cannot be written.
pub(super) async fn logout(matches: &ArgMatches) -> Result<Exit> {
    account::logout(&command::profile_options(matches)).await?;
    if !matches.get_flag("quiet") {
        note("Logged out.");
    }
    Ok(Exit::Fine)
}

/// Shows who the commands act for.
///
/// # Errors
/// The service does not answer.
pub(super) async fn status(matches: &ArgMatches) -> Result<Exit> {
    let matches = matches.subcommand().map_or(matches, |(_, matches)| matches);
    let reply = as_user(&command::profile_options(matches), &whoami()).await?;
    show(&reply, matches, &Shape::default(), None)
}
