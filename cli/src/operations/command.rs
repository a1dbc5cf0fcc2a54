//! The command line of the operations.

use clap::{Arg, ArgAction, ArgMatches, Command};

use super::{
    document::{Operation, Parameter, ParameterKind, ParameterLocation},
    exit::CODES,
    follow::FOLLOWED,
    refusal::words,
    shell,
    words::SHORT_FORMS,
};
use crate::account::ProfileOptions;

/// Returns the command of a chapter, with one command for each of its operations.
#[must_use]
pub fn chapter(tag: &str, operations: &[Operation]) -> Command {
    let about = format!("Operations of the chapter {tag}.");
    let chapter = with_globals(Command::new(tag.to_owned()).about(about))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .after_help(short_forms(tag));
    let of_chapter = operations.iter().filter(|operation| operation.tag == tag);
    of_chapter.fold(chapter, |chapter, operation| chapter.subcommand(operation_command(operation)))
}

/// Returns the text about the short forms of a chapter.
fn short_forms(tag: &str) -> String {
    let own = SHORT_FORMS.iter().filter(|(chapter, ..)| *chapter == tag);
    let lines: Vec<_> =
        own.map(|(_, short, words)| format!("  {short:10}{}", words.join(" "))).collect();
    match lines.is_empty() {
        true => CODES.to_owned(),
        false => format!("Short forms:\n{}\n\n{CODES}", lines.join("\n")),
    }
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
        .arg(
            Arg::new("header")
                .short('H')
                .long("header")
                .value_name("NAME: VALUE")
                .action(ArgAction::Append)
                .help("A header of the request"),
        )
        .arg(idempotency_key())
        .arg(input())
        .after_help(CODES)
}

/// Returns the option that makes a change safe to repeat.
fn idempotency_key() -> Arg {
    Arg::new("idempotency-key").long("idempotency-key").value_name("KEY").help(
        "Make the change once, however often it is sent with this key within a day; without it each call has a key of its own",
    )
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
             belongs to owner@localhost: \"Forgot your password?\" sends an e-mail there, which stands at /dev/mail.",
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

/// Adds the options of every command.
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

pub(super) fn operation_command(operation: &Operation) -> Command {
    let mut command = Command::new(operation.verb.clone())
        .about(in_words(&format!("{}.", operation.summary), operation))
        .after_help(notes(operation));
    // These are followed to their end instead, with as many requests as necessary.
    let is_followed = FOLLOWED.contains(&operation.id.as_str());
    let parameters = operation.parameters.iter();
    for parameter in parameters.filter(|one| !is_followed || one.name != "wait") {
        command = command.args(arguments(parameter, operation));
    }
    if operation.writes() {
        command = command.arg(idempotency_key());
    }
    if operation.takes_if_match {
        let help = "Change it only if it is at this version";
        let version = Arg::new("if-match").long("if-match").value_name("VERSION").help(help);
        command = command.arg(version);
    }
    if operation.parameters.iter().any(|parameter| parameter.location == ParameterLocation::Body) {
        // A field of the same name takes precedence; then the body is given field by field.
        if takes_input(operation) {
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
    if operation.takes("cursor") {
        let help = "Print every page, to the end of the list";
        command = command.arg(
            Arg::new("all")
                .long("all")
                .action(ArgAction::SetTrue)
                .conflicts_with("cursor")
                .help(help),
        );
    }
    if is_followed {
        let help = "Follow the post or the video to its end";
        command = command.arg(Arg::new("wait").long("wait").action(ArgAction::SetTrue).help(help));
    }
    command
}

/// Returns true if the whole body may come from a file.
fn takes_input(operation: &Operation) -> bool {
    let has_body = |one: &Parameter| one.location == ParameterLocation::Body;
    operation.parameters.iter().any(has_body) && !operation.takes("input")
}

/// Returns the text below the options of an operation's help.
fn notes(operation: &Operation) -> String {
    let columns = operation.shape().columns.map(|columns| {
        let columns = columns.join(", ");
        format!("Where it is read by no terminal, its lines hold, between tabs: {columns}.")
    });
    let example = Some(format!("Example:\n  {}", shell::example(operation)));
    let needs = Some(in_words(&operation.needs, operation));
    let notes = [example, needs, columns, Some(CODES.to_owned())];
    notes.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

/// Returns the arguments of a parameter. What stands in a path may be given with or without its name.
fn arguments(parameter: &Parameter, operation: &Operation) -> Vec<Arg> {
    if parameter.location != ParameterLocation::Path {
        return vec![argument(parameter, operation)];
    }
    let flag = format!("{}-flag", parameter.name);
    let help = match parameter.doc.as_str() {
        "" => "[required] As a reply showed it.".to_owned(),
        doc => format!("[required] {}", in_words(doc, operation)),
    };
    let place = Arg::new(parameter.name.clone()).help(help);
    let place = place.value_name(parameter.name.to_uppercase()).required_unless_present(&flag);
    let named = Arg::new(flag).long(parameter.name.replace('_', "-")).hide(true);
    let named = named.conflicts_with(parameter.name.clone()).value_name("TEXT");
    vec![place, named]
}

/// Returns a text of the document in the words of the command line.
fn in_words(text: &str, operation: &Operation) -> String {
    words().hint(text, &operation.id)
}

fn argument(parameter: &Parameter, operation: &Operation) -> Arg {
    let may_come_in_file = takes_input(operation);
    let mut help = in_words(&parameter.doc, operation);
    if parameter.required {
        help = format!("[required] {help}");
    }
    if !parameter.choices.is_empty() {
        help = format!("{help} [values: {}]", parameter.choices.join(", "));
    }
    let argument = Arg::new(parameter.name.clone()).help(help);
    let is_in_body = parameter.location == ParameterLocation::Body;
    let argument = match (parameter.required, may_come_in_file && is_in_body) {
        (true, true) => argument.required_unless_present("whole-body"),
        (required, _) => argument.required(required),
    };
    let argument = argument.long(parameter.name.replace('_', "-"));
    match parameter.kind {
        ParameterKind::Boolean => argument
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
            .value_name("BOOLEAN"),
        ParameterKind::Texts if parameter.are_words() => {
            argument.action(ArgAction::Append).value_delimiter(',').value_name("WORD,WORD")
        }
        ParameterKind::Texts => argument.action(ArgAction::Append).value_name("TEXT"),
        ParameterKind::Json => argument.value_name("JSON"),
        ParameterKind::Integer | ParameterKind::Number => {
            argument.value_name("NUMBER").allow_negative_numbers(true)
        }
        ParameterKind::Text => argument.value_name("TEXT").allow_hyphen_values(true),
    }
}

/// Returns the profile to use, and the options that override it.
pub fn profile_options(matches: &ArgMatches) -> ProfileOptions {
    let first = |name: &str| values_of(matches, name).next().cloned();
    ProfileOptions { profile: first("profile"), url: first("api-url"), key: first("api-key") }
}

/// Returns the values of a parameter, with or without its name.
pub fn values_of<'a>(
    matches: &'a ArgMatches,
    name: &str,
) -> impl Iterator<Item = &'a String> + use<'a> {
    let values = |name: &str| matches.try_get_many::<String>(name).ok().flatten();
    let named = values(&format!("{name}-flag"));
    values(name).into_iter().flatten().chain(named.into_iter().flatten())
}

#[cfg(test)]
mod tests {
    use super::{super::document::operations, *};

    #[test]
    fn help_speaks_of_commands_and_flags() {
        for operation in operations() {
            let help = operation_command(operation).render_long_help().to_string();
            assert!(!help.contains("/api/v1/"), "{}: {help}", operation.id);
            let flags = operation.parameters.iter();
            let flags = flags.filter(|one| one.location != ParameterLocation::Path);
            for name in flags.map(|one| &one.name).filter(|name| name.contains('_')) {
                assert!(!help.contains(&format!("`{name}`")), "{}: {name} in {help}", operation.id);
            }
            for one in &operation.parameters {
                let is_in_path = one.location == ParameterLocation::Path;
                assert!(!is_in_path || help.contains("[required]"), "{}: {help}", operation.id);
            }
        }
    }

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
