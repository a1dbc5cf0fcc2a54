//! The command line of the operations.

use clap::{Arg, ArgAction, ArgMatches, Command};

use super::{
    document::{Kind, Operation, Parameter, Place},
    follow::FOLLOWED,
};
use crate::account::Given;

/// Returns the command of a chapter, with one command for each of its operations.
#[must_use]
pub fn chapter(tag: &str, operations: &[Operation]) -> Command {
    let about = format!("Operations of the chapter {tag}.");
    let chapter = with_globals(Command::new(tag.to_owned()).about(about))
        .subcommand_required(true)
        .arg_required_else_help(true);
    let of_chapter = operations.iter().filter(|operation| operation.tag == tag);
    of_chapter.fold(chapter, |chapter, operation| chapter.subcommand(one(operation)))
}

/// Returns `fanfare api METHOD PATH`.
#[must_use]
pub fn api() -> Command {
    with_globals(Command::new("api").about("Sends any request to a running service."))
        .arg(Arg::new("method").required(true).help("GET, POST, PUT, PATCH or DELETE"))
        .arg(Arg::new("path").required(true).help("For example /api/v1/posts?limit=5"))
        .arg(Arg::new("field").short('f').value_name("NAME=VALUE").action(ArgAction::Append).help(
            "A field of the body: JSON if it reads as such, else text; NAME=@FILE reads a file",
        ))
        .arg(input())
}

/// Returns `fanfare login`, `fanfare logout` or `fanfare auth status`.
#[must_use]
pub fn account(name: &'static str) -> Command {
    match name {
        "login" => login(),
        "logout" => with_globals(
            Command::new("logout").about("Forgets the stored log-in or key, and ends the log-in."),
        ),
        _ => with_globals(Command::new("auth").about("Shows who the commands act for."))
            .subcommand(Command::new("status").about("Shows who the commands act for.")),
    }
}

fn login() -> Command {
    let switch = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
    };
    with_globals(Command::new("login").about("Logs in with a browser, and keeps the log-in."))
        .arg(switch("no-browser", "Log in with a browser elsewhere, which shows a code"))
        .arg(
            switch("key", "Read an API key from standard input instead")
                .conflicts_with("no-browser"),
        )
        .after_help(
            "Without an account, sign up on the page that asks for your password. A fresh installation on this machine \
             belongs to owner@localhost: \"Forgot your password?\" sends that person a letter, which stands at /dev/mail.",
        )
}

/// Returns `fanfare watch`.
#[must_use]
pub fn watch() -> Command {
    with_globals(Command::new("watch").about("Follows the events of the workspace, one a line."))
        .arg(
            Arg::new("after")
                .long("after")
                .help("Only events after this number; all new ones if left out"),
        )
}

/// Options that every command knows.
pub(super) fn with_globals(command: Command) -> Command {
    let text = |name: &'static str, help: &'static str| {
        let everywhere = Arg::new(name).long(name).global(true).help(help);
        everywhere.help_heading("Options of every command")
    };
    let switch =
        |name: &'static str, help: &'static str| text(name, help).action(ArgAction::SetTrue);
    command
        .arg(switch("json", "Print the reply as it is"))
        .arg(switch("quiet", "Print nothing but data and errors"))
        .arg(switch("yes", "Do not ask before something is deleted or cancelled"))
        .arg(text("profile", "Profile of the configuration file").env("FANFARE_PROFILE"))
        .arg(text("api-url", "Origin of the service").env("FANFARE_URL"))
        .arg(
            text("api-key", "The API key; better kept in the variable, others can read arguments")
                .env("FANFARE_API_KEY")
                .hide_env_values(true),
        )
}

fn input() -> Arg {
    Arg::new("whole-body")
        .long("input")
        .value_name("FILE")
        .help("The whole body as JSON; - is standard input")
}

pub(super) fn one(operation: &Operation) -> Command {
    let mut command = Command::new(operation.verb.clone())
        .about(format!("{}.", operation.summary))
        .after_help(notes(operation));
    // These are followed to their end, in as many requests as that takes.
    let is_followed = FOLLOWED.contains(&operation.id.as_str());
    let parameters = operation.parameters.iter();
    for parameter in parameters.filter(|one| !is_followed || one.name != "wait") {
        command = command.arg(argument(parameter));
    }
    if operation.parameters.iter().any(|parameter| parameter.place == Place::Body) {
        // A field of the same name goes first; then the fields are given one by one.
        if !operation.parameters.iter().any(|parameter| parameter.name == "input") {
            command = command.arg(input());
        }
        command = command.arg(
            Arg::new("clear")
                .long("clear")
                .value_name("FIELD")
                .action(ArgAction::Append)
                .help("Send null for this field"),
        );
    }
    if is_followed {
        let help = "Follow the post or the film to its end";
        command = command.arg(Arg::new("wait").long("wait").action(ArgAction::SetTrue).help(help));
    }
    command
}

/// Returns the text below the options of an operation's command.
fn notes(operation: &Operation) -> String {
    let columns = operation.list().map(|list| {
        let columns = list.columns.join(", ");
        format!("Where it is read by no terminal, its lines hold, between tabs: {columns}.")
    });
    let notes = [Some(operation.needs.clone()), columns];
    notes.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

fn argument(parameter: &Parameter) -> Arg {
    let argument = Arg::new(parameter.name.clone()).help(parameter.doc.clone());
    if parameter.place == Place::Path {
        return argument.required(true).value_name(parameter.name.to_uppercase());
    }
    let argument = argument.long(parameter.name.replace('_', "-"));
    match parameter.kind {
        Kind::Boolean => argument
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
            .value_name("BOOLEAN"),
        Kind::Texts => argument.action(ArgAction::Append).value_name("TEXT"),
        Kind::Json => argument.value_name("JSON"),
        Kind::Integer | Kind::Number => argument.value_name("NUMBER").allow_negative_numbers(true),
        Kind::Text => argument.value_name("TEXT").allow_hyphen_values(true),
    }
}

/// Returns the profile that is to be used, and what was given in its place.
pub fn profile(matches: &ArgMatches) -> Given {
    let first = |name: &str| given(matches, name).next().cloned();
    Given { profile: first("profile"), url: first("api-url"), key: first("api-key") }
}

/// Returns the values that were given for a parameter.
pub fn given<'a>(
    matches: &'a ArgMatches,
    name: &str,
) -> impl Iterator<Item = &'a String> + use<'a> {
    matches.try_get_many::<String>(name).ok().flatten().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::{super::document::operations, *};

    #[test]
    fn every_command_can_be_built() {
        let all = operations();
        for operation in all {
            chapter(&operation.tag, all).debug_assert();
        }
        api().debug_assert();
        watch().debug_assert();
        for name in ["login", "logout", "auth"] {
            account(name).debug_assert();
        }
    }
}
