//! Names that somebody may have meant: those that differ by a slip, or hold the word that was typed.

use clap::{
    Command,
    error::{ContextKind, ContextValue, Error},
};

use fanfare_doors::near_misses::{self, Meant};

use super::{document::operations, refusal, words::SHORT_FORMS};

/// The most letters in which a slip differs from the name, for names long enough.
const SLIP: usize = 2;

/// The most names that are offered.
const MOST: usize = 4;

/// Returns an error of a chapter with names that are near in place of those that merely sound alike. `verb` is the
/// command of the chapter.
#[must_use]
pub fn with_near_names(mut error: Error, chapter: &Command, verb: &str) -> Error {
    let text = |error: &Error, kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    for kind in [
        ContextKind::Suggested,
        ContextKind::SuggestedArg,
        ContextKind::SuggestedSubcommand,
        ContextKind::SuggestedValue,
    ] {
        error.remove(kind);
    }
    if let Some(typed) = text(&error, ContextKind::InvalidSubcommand) {
        let verbs = chapter.get_subcommands().map(|one| one.get_name().to_owned());
        let shorts = SHORT_FORMS.iter().filter(|(tag, ..)| chapter.get_name() == *tag);
        let names = verbs.chain(shorts.map(|(_, short, _)| (*short).to_owned()));
        let near = near(&typed, names);
        if !near.is_empty() {
            error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(near));
        }
    }
    if let Some(typed) = text(&error, ContextKind::InvalidArg) {
        let command = chapter.find_subcommand(verb).unwrap_or(chapter);
        let names = command.get_arguments().filter_map(|one| one.get_long().map(str::to_owned));
        let typed = typed.trim_start_matches('-').split('=').next().unwrap_or_default();
        if let Some(near) = near(typed, names).into_iter().next() {
            error.insert(ContextKind::SuggestedArg, ContextValue::String(format!("--{near}")));
        }
    }
    error
}

/// Returns an error of a command with what stands for a flag that other services have.
#[must_use]
pub fn with_meaning(mut error: Error, tag: &str, verb: &str) -> Error {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let typed = typed.trim_start_matches('-').split(['=', ' ']).next().unwrap_or_default();
    let name = typed.replace('-', "_");
    let Some(operation) = operations().iter().find(|one| one.tag == tag && one.verb == verb) else {
        return error;
    };
    let known: Vec<_> = operation.parameters.iter().map(|one| one.name.as_str()).collect();
    let Some(miss) = near_misses::of(&name, &known) else { return error };
    let said = refusal::words().hint(&miss.hint(), &operation.id);
    let said = match miss.meant {
        Meant::Field(_) => said.replacen("Send it as", "use", 1),
        Meant::Inside(_) | Meant::Hint(_) => said,
    };
    error.remove(ContextKind::SuggestedArg);
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![said.into()]));
    error
}

/// Returns the names that are near to a word, the nearest first.
fn near(typed: &str, names: impl Iterator<Item = String>) -> Vec<String> {
    let slips = |name: &str| strsim::damerau_levenshtein(typed, name);
    let is_near = |name: &String| {
        let holds = typed.len() > 2 && name.split('-').any(|part| part.starts_with(typed));
        holds || slips(name) <= SLIP.min(typed.len() / 3)
    };
    let mut near: Vec<_> = names.filter(is_near).collect();
    near.sort_by_key(|name| slips(name));
    near.truncate(MOST);
    near
}

#[cfg(test)]
mod tests {
    use super::{super::document::operations, *};

    fn said(line: &str) -> String {
        let words: Vec<_> = line.split(' ').collect();
        let chapter = super::super::command::chapter(words[0], operations());
        let error = chapter.clone().try_get_matches_from(&words).unwrap_err();
        with_near_names(error, &chapter, words.get(1).unwrap_or(&"")).to_string()
    }

    #[test]
    fn only_names_that_are_near_are_offered() {
        for (line, offered) in [
            ("posts creat", "create"),
            ("posts attempts", "list-attempts"),
            ("posts create --captoin x", "--caption"),
            ("inbox comments", "list-comments"),
            ("ai captoin", "captions"),
        ] {
            assert!(said(line).contains(&format!("'{offered}'")), "{line}: {}", said(line));
        }
        for line in ["posts get 7 --poll", "posts xyzzy", "posts list --zone x"] {
            assert!(
                !said(line).contains("similar") && !said(line).contains("tip:"),
                "{}",
                said(line)
            );
        }
    }
}
