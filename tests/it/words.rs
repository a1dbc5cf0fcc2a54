//! Texts that users read, in the sources: strings, and the comments that become descriptions. Words that they are not to
//! read stand in `typos.toml`, each with the word to use.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// A text of a source: its line and its words.
struct Text {
    line: usize,
    words: String,
}

/// Returns the strings and the documentation of a source, up to its tests.
fn texts(source: &str) -> Vec<Text> {
    let source = source.split("#[cfg(test)]").next().unwrap_or_default();
    let mut texts = Vec::new();
    let mut rest = source;
    while let Some(at) = rest.find(['"', '/', '\'']) {
        let line = source[..source.len() - rest.len() + at].lines().count().max(1);
        let (before, from) = rest.split_at(at);
        let (words, length) = match from.as_bytes() {
            [b'/', b'/', third, ..] => {
                let end = from.find('\n').unwrap_or(from.len());
                let is_doc = [b'/', b'!'].contains(third);
                (is_doc.then(|| from[3..end].to_owned()), end)
            }
            [b'"', ..] => string(before, from),
            [b'\'', b'\\', _, ..] => (None, from[3..].find('\'').map_or(1, |end| end + 4)),
            [b'\'', _, b'\'', ..] => (None, 3),
            _ => (None, 1),
        };
        texts.extend(words.map(|words| Text { line, words }));
        rest = &from[length..];
    }
    texts
}

/// Returns the words of a string, and its length in the source.
fn string(before: &str, from: &str) -> (Option<String>, usize) {
    let hashes = before.len() - before.trim_end_matches('#').len();
    if before[..before.len() - hashes].ends_with('r') {
        let end = format!("\"{}", "#".repeat(hashes));
        let length = from[1..].find(&end).map_or(from.len(), |at| at + 1 + end.len());
        return (Some(from[..length].to_owned()), length);
    }
    let mut escaped = false;
    let end = from[1..].find(|letter| {
        let is_end = letter == '"' && !escaped;
        escaped = letter == '\\' && !escaped;
        is_end
    });
    let length = end.map_or(from.len(), |end| end + 2);
    (Some(from[1..(length - 1).max(1)].to_owned()), length)
}

/// Returns the words of `typos.toml` for which there is another one.
fn unwanted() -> Vec<(String, String)> {
    let list = include_str!("../../typos.toml");
    let words = list.split("[default.extend-words]").nth(1).expect("words");
    let words = words.split("\n[").next().unwrap_or_default().lines();
    let pairs = words.filter_map(|line| line.split_once(" = "));
    let pairs = pairs.map(|(word, better)| {
        let better = better.trim_start_matches('"').split('"').next().unwrap_or_default();
        (word.to_owned(), better.to_owned())
    });
    pairs.filter(|(word, better)| word != better).collect()
}

/// Returns true if a text holds this word, and not as a part of a name.
fn holds(text: &str, word: &str) -> bool {
    let is_word = |letter: char| letter.is_alphanumeric() || "_-./:`{\"".contains(letter);
    let lower = text.to_lowercase();
    lower.match_indices(word).any(|(at, _)| {
        let after = &lower[at + word.len()..];
        let mut following = after.chars();
        let next = following.next();
        let ends = match next {
            Some('.' | ':') => {
                following.next().is_none_or(|letter| !letter.is_alphanumeric() && letter != ':')
            }
            Some(letter) => !letter.is_alphanumeric() && !"_-`(".contains(letter),
            None => true,
        };
        ends && !lower[..at].ends_with(is_word)
    })
}

/// A letter of the alphabet is one; an e-mail is none.
fn is_mail(text: &str) -> bool {
    const ALPHABET: [&str; 13] = [
        "digit",
        "capital",
        "latin",
        "accent",
        "-case",
        "small",
        "underscore",
        "slip",
        "spell",
        "script",
        "two names",
        "escape",
        "a word",
    ];
    let lower = text.to_lowercase();
    (holds(text, "letter") || holds(text, "letters"))
        && !ALPHABET.iter().any(|word| lower.contains(word))
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && name != "tests" {
            sources(&path, found);
        } else if name.ends_with(".rs") && name != "tests.rs" {
            found.push(path);
        }
    }
}

#[test]
fn users_read_plain_words() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    // What a crate's users read: pages, answers, commands, e-mails, and errors of networks.
    for part in ["api", "cli", "domain", "mail", "media", "platforms", "web", "workers"] {
        sources(&root.join(part), &mut files);
    }
    sources(&root.join("src"), &mut files);
    let unwanted = unwanted();
    assert!(unwanted.len() >= 5, "{unwanted:?}");
    let mut found = Vec::new();
    for file in files {
        for Text { line, words } in texts(&fs::read_to_string(&file).expect("a source")) {
            if !words.trim().contains(' ') {
                continue;
            }
            let place =
                format!("{}:{line}: {words}", file.strip_prefix(root).unwrap_or(&file).display());
            for (word, better) in &unwanted {
                if holds(&words, word) {
                    found.push(format!("{better}, not {word}: {place}"));
                }
            }
            if file.components().any(|part| {
                ["api", "cli", "mail", "web"].contains(&&*part.as_os_str().to_string_lossy())
            }) && is_mail(&words)
            {
                found.push(format!("e-mail, not letter: {place}"));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_word_is_found_where_users_read_it() {
    let source = r##"
        /// A film of the post.
        fn film(film: &str) -> String { let told = '"'; format!("The film {film} is told.") }
        // A film that nobody reads.
        const NAME: &str = r#"one "film""#;
    "##;
    let of = |word: &str| {
        let texts = texts(source);
        texts.iter().filter(|text| holds(&text.words, word)).count()
    };
    assert_eq!((of("film"), of("told")), (2, 1));
    assert!(is_mail("The letter is sent.") && !is_mail("Letters and digits."));
}
