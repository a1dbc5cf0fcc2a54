//! All commands in one tree, for help texts, shell completions and man pages.

use clap::Command;

use super::{
    SHARED_NAMES,
    command::{self, with_globals},
    document::{Operation, operations},
};

/// Returns the names of the chapters, for the binary's help.
#[must_use]
pub fn chapters() -> Vec<String> {
    let mut tags: Vec<_> = operations().iter().map(|operation| operation.tag.clone()).collect();
    tags.sort();
    tags.dedup();
    tags
}

/// Returns the binary's command with all commands of the API beside its own.
#[must_use]
pub fn with_commands(binary: Command) -> Command {
    let own = ["login", "logout", "auth"].map(command::account);
    let binary = with_requests(binary.subcommands(own).subcommand(command::watch()));
    chapters().iter().fold(binary, |binary, tag| with_chapter(binary, tag))
}

/// Adds requests to `api`: alone it starts a process of the service, with a method and a path it sends a request.
fn with_requests(binary: Command) -> Command {
    let request = command::api();
    if binary.find_subcommand("api").is_none() {
        return binary.subcommand(request);
    }
    let arguments: Vec<_> =
        request.get_arguments().map(|argument| argument.clone().required(false)).collect();
    binary.mut_subcommand("api", |own| own.args(arguments))
}

fn with_chapter(binary: Command, tag: &str) -> Command {
    let all = operations();
    if SHARED_NAMES.contains(&tag) {
        let of_chapter = all.iter().filter(|operation| operation.tag == tag);
        let commands: Vec<_> =
            of_chapter.map(|one| with_globals(command::operation_command(one))).collect();
        return binary.mut_subcommand(tag, |shared| shared.subcommands(commands));
    }
    match tag.split_once(' ') {
        Some((first, second)) => with_two_words(binary, (first, second), tag, all),
        None => binary.subcommand(command::chapter(tag, all)),
    }
}

/// Adds a chapter of two words, such as `oauth clients`, as a subcommand of the first word.
fn with_two_words(
    binary: Command,
    (first, second): (&str, &str),
    tag: &str,
    all: &[Operation],
) -> Command {
    let inner = command::chapter(tag, all).name(second.to_owned());
    if binary.find_subcommand(first).is_some() {
        return binary.mut_subcommand(first, |outer| outer.subcommand(inner));
    }
    let about = format!("Chapters whose names begin with {first}.");
    let outer = Command::new(first.to_owned()).about(about).subcommand_required(true);
    binary.subcommand(outer.subcommand(inner))
}
