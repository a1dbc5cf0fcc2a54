//! Asks before something is removed.

use std::io::{self, IsTerminal, Write};

use anyhow::{Result, bail};
use clap::ArgMatches;
use serde_json::Value;

use super::{
    cell::{begin, cell},
    command::{profile_options, values_of},
    document::{Operation, ParameterLocation, operations},
    request::Request,
    send::as_user,
};

/// The fields by which a person knows a thing, the best first.
const NAMES: [&str; 7] = ["caption", "name", "title", "text", "filename", "username", "url"];

/// The most characters of a name in a question.
const NAME_MAX: usize = 80;

/// Asks for confirmation of an operation that cannot be undone, and names what it is about.
///
/// # Errors
/// There is nobody to ask.
pub async fn confirm(
    operation: &Operation,
    request: &Request,
    matches: &ArgMatches,
) -> Result<bool> {
    if matches.get_flag("yes") {
        return Ok(true);
    }
    if !io::stdin().is_terminal() {
        bail!("{} cannot be taken back; add --yes", operation.summary.to_lowercase());
    }
    let question = match named(operation, request, matches).await {
        Some(what) => format!("{}: {what}? [y/N] ", operation.summary),
        None => format!("{}? [y/N] ", operation.summary),
    };
    let _ = io::stderr().write_all(question.as_bytes());
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    Ok(["y", "yes"].contains(&line.trim().to_lowercase().as_str()))
}

/// Returns the thing that an operation is about: its id, and its name where it can be read.
async fn named(operation: &Operation, request: &Request, matches: &ArgMatches) -> Option<String> {
    let in_path = operation.parameters.iter().filter(|one| one.location == ParameterLocation::Path);
    let ids: Vec<_> = in_path
        .filter_map(|one| values_of(matches, &one.name).last())
        .map(String::as_str)
        .collect();
    let read = operations().iter().find(|one| !one.writes() && one.path == operation.path);
    let path = request.path.split('?').next().unwrap_or_default().to_owned();
    let found = match read {
        Some(_) => as_user(&profile_options(matches), &Request::get(path)).await.ok(),
        None => None,
    };
    let main = read.and_then(|read| read.shape().main);
    let name = found.and_then(|reply| name_of(&reply.body[main?.as_str()]));
    let words: Vec<_> = ids.into_iter().map(str::to_owned).chain(name).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

fn name_of(entry: &Value) -> Option<String> {
    let name =
        NAMES.iter().find_map(|name| entry[name].as_str().filter(|name| !name.is_empty()))?;
    Some(format!("\"{}\"", begin(&cell(&name.into()), NAME_MAX)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::name_of;

    #[test]
    fn what_is_removed_has_a_name() {
        let name = |entry| name_of(&entry);
        assert_eq!(name(json!({"caption": "Hi\n!", "url": "x"})).as_deref(), Some("\"Hi !\""));
        assert_eq!(name(json!({"caption": "", "url": "x"})).as_deref(), Some("\"x\""));
        assert_eq!(name(json!({"id": 7})), None);
        let article = name(json!({"caption": "word ".repeat(1_000)})).unwrap();
        assert!(article.starts_with("\"word word") && article.chars().count() < 90, "{article}");
    }
}
