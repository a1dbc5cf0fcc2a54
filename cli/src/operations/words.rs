//! The words of a command line before they are parsed: chapters of two words, `help`, short forms.

use std::ffi::OsString;

use super::{document::operations, tree::chapters};

/// Chapters whose names have two words.
const TWO_WORDS: [&str; 3] = ["oauth clients", "oauth grants", "post sets"];

/// Short forms of operations: the chapter, the short form, and the words that it stands for.
pub const SHORT_FORMS: [(&str, &str, &[&str]); 9] = [
    ("posts", "pause", &["update-status", "--status=paused"]),
    ("posts", "resume", &["update-status", "--status=scheduled"]),
    ("posts", "status", &["get"]),
    ("posts", "show", &["get"]),
    ("inbox", "reply", &["reply-to-comment"]),
    ("ai", "captions", &["generate-captions"]),
    ("ai", "image", &["generate-image"]),
    ("ai", "video", &["generate-video"]),
    ("feedback", "ask", &["ask-support"]),
];

/// Returns the arguments with the names of chapters in one word, and short forms written out.
pub fn read(arguments: &[OsString]) -> Vec<OsString> {
    let mut all = join(&ask_help(arguments));
    if let Some(chapter) = chapter_of(word(&all, 1)) {
        all[1] = chapter.into();
    }
    let short = SHORT_FORMS
        .iter()
        .find(|(chapter, short, _)| word(&all, 1) == *chapter && word(&all, 2) == *short);
    if let Some((_, _, words)) = short {
        all.splice(2..3, words.iter().map(OsString::from));
    }
    all
}

/// Returns an argument, or nothing if there is none or it is no text.
pub fn word(arguments: &[OsString], at: usize) -> &str {
    arguments.get(at).and_then(|word| word.to_str()).unwrap_or_default()
}

/// Writes `help posts create` as `posts create --help`, for what the binary's own help does not know.
fn ask_help(arguments: &[OsString]) -> Vec<OsString> {
    let rest = join(&[&arguments[..1], arguments.get(2..).unwrap_or_default()].concat());
    let first = word(&rest, 1);
    let is_ours = chapter_of(first).is_some()
        || operations().iter().any(|one| one.tag == first)
        || ["login", "logout", "auth", "watch"].contains(&first);
    match word(arguments, 1) == "help" && is_ours {
        true => rest.into_iter().chain([OsString::from("--help")]).collect(),
        false => arguments.to_vec(),
    }
}

fn join(arguments: &[OsString]) -> Vec<OsString> {
    let mut all = arguments.to_vec();
    let chapter = format!("{} {}", word(arguments, 1), word(arguments, 2));
    if TWO_WORDS.contains(&chapter.as_str()) {
        all.splice(1..3, [chapter.into()]);
    }
    all
}

/// Returns the chapter that is meant by its name in the singular: `post` is `posts`. `key` is a command of the binary.
fn chapter_of(name: &str) -> Option<String> {
    let plural = format!("{name}s");
    chapters().into_iter().find(|chapter| *chapter == plural && name != "key")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(line: &str) -> String {
        let words: Vec<_> = line.split(' ').map(OsString::from).collect();
        let read: Vec<_> =
            read(&words).into_iter().map(|word| word.into_string().unwrap()).collect();
        read.join("|")
    }

    #[test]
    fn words_that_one_types_first_are_understood() {
        for (line, read) in [
            ("fanfare oauth clients list", "fanfare|oauth clients|list"),
            ("fanfare posts list", "fanfare|posts|list"),
            ("fanfare post sets list", "fanfare|post sets|list"),
            ("fanfare post pause 7", "fanfare|posts|update-status|--status=paused|7"),
            ("fanfare posts resume 7", "fanfare|posts|update-status|--status=scheduled|7"),
            ("fanfare inbox reply 7", "fanfare|inbox|reply-to-comment|7"),
            ("fanfare ai image", "fanfare|ai|generate-image"),
            ("fanfare help posts", "fanfare|posts|--help"),
            ("fanfare help oauth clients list", "fanfare|oauth clients|list|--help"),
            ("fanfare help ops", "fanfare|help|ops"),
            ("fanfare key create", "fanfare|key|create"),
            ("fanfare", "fanfare"),
        ] {
            assert_eq!(made(line), read, "{line}");
        }
    }

    #[test]
    fn each_short_form_is_of_a_command_and_hides_none() {
        let known = |chapter: &str, verb: &str| {
            operations().iter().any(|one| one.tag == chapter && one.verb == verb)
        };
        for (chapter, short, words) in SHORT_FORMS {
            assert!(known(chapter, words[0]) && !known(chapter, short), "{chapter} {short}");
        }
        for tag in chapters().iter().filter(|tag| tag.contains(' ')) {
            assert!(TWO_WORDS.contains(&tag.as_str()), "{tag}");
        }
    }
}
