//! Finds operations in texts, and names them as a door does.

use crate::{Door, Operation};

/// What is said otherwise at each door: over HTTP, to agents, and at a shell.
const PHRASES: [[&str; 3]; 6] = [
    [
        "Check the path; `/docs` lists all of them.",
        "Look for it with `find_operation`.",
        "`fanfare --help` lists all commands.",
    ],
    [
        "The key is a header: send `Idempotency-Key`.",
        "The key is an argument of every change: send `idempotency_key`.",
        "The key is a flag of every change: send `--idempotency-key`.",
    ],
    [
        "The key is a header: send `Authorization: Bearer <key>`.",
        "The key belongs to the connection: connect this server again with it.",
        "The key is `--api-key`, or better the variable FANFARE_API_KEY.",
    ],
    [
        "Send `Authorization: Bearer <key>`.",
        "Connect this server again, with a key or by logging in.",
        "Run `fanfare login`, or set FANFARE_API_KEY.",
    ],
    ["`Idempotency-Key`", "`idempotency_key`", "`--idempotency-key`"],
    [
        "Send one well-formed JSON object in UTF-8.",
        "Send the arguments as one JSON object.",
        "Send one well-formed JSON object in UTF-8.",
    ],
];

/// Returns a text with the phrases of a door.
pub fn phrases(door: Door, text: &str) -> String {
    let mut text = text.to_owned();
    for [rest, mcp, cli] in PHRASES {
        let own = match door {
            Door::Rest => continue,
            Door::Mcp => mcp,
            Door::Cli => cli,
        };
        if text.contains(rest) {
            text = text.replace(rest, own);
        }
    }
    text
}

/// Returns a text in which each operation has its name at the door, however the text names it.
pub fn operations(door: Door, text: &str, known: &[Operation]) -> String {
    let text = match door {
        Door::Rest => text.to_owned(),
        Door::Mcp | Door::Cli => calls(door, text, known),
    };
    match door {
        Door::Mcp => text,
        Door::Rest | Door::Cli => ids(door, &text, known),
    }
}

fn name(door: Door, operation: &Operation) -> String {
    match door {
        Door::Rest => format!("`{} {}`", operation.method, operation.path),
        Door::Mcp => format!("`{}`", operation.id),
        Door::Cli => format!("`{}`", operation.command),
    }
}

/// Names the calls that a text writes as method and path.
fn calls(door: Door, text: &str, known: &[Operation]) -> String {
    let (mut text, mut from) = (text.to_owned(), 0);
    while let Some(place) = text[from..].find("/api/v1/").map(|place| place + from) {
        let is_end = |letter: char| letter.is_whitespace() || "`,;)\"".contains(letter);
        let end = text[place..].find(is_end).map_or(text.len(), |end| place + end);
        let path = text[place..end].trim_end_matches(['.', ':']);
        let end = place + path.len();
        let before = text[..place].trim_end();
        let method = before.rsplit(|letter: char| !letter.is_ascii_uppercase()).next();
        let method = method.unwrap_or_default();
        let Some(operation) = at(method, path, known) else {
            from = end;
            continue;
        };
        let (named, start) = (name(door, operation), before.len() - method.len());
        from = put(&mut text, (start, end), &named);
    }
    text
}

/// Puts a name in the place of a stretch, with the marks around it. Returns the end of the name.
fn put(text: &mut String, (mut start, mut end): (usize, usize), name: &str) -> usize {
    if text[..start].ends_with('`') && text[end..].starts_with('`') {
        (start, end) = (start - 1, end + 1);
    }
    text.replace_range(start..end, name);
    start + name.len()
}

/// Returns the operation of a call as texts write it: with an id, or with the name of one.
pub fn at<'a>(method: &str, path: &str, known: &'a [Operation]) -> Option<&'a Operation> {
    let path = path.split('?').next().unwrap_or(path);
    let fits = |one: &&Operation| {
        one.method == method
            && one.path.split('/').count() == path.split('/').count()
            && one
                .path
                .split('/')
                .zip(path.split('/'))
                .all(|(known, given)| known == given || known.starts_with('{'))
    };
    let exact = known.iter().find(|one| one.method == method && one.path == path);
    exact.or_else(|| known.iter().find(fits))
}

/// Names the operations that a text writes as ids. Ids of one word are left: they may be ordinary words.
fn ids(door: Door, text: &str, known: &[Operation]) -> String {
    let (mut text, mut from) = (text.to_owned(), 0);
    while let Some((start, end)) = word(&text, from) {
        let found = known.iter().find(|one| one.id == text[start..end] && one.id.contains('_'));
        from = match found {
            Some(operation) => put(&mut text, (start, end), &name(door, operation)),
            None => end,
        };
    }
    text
}

/// Returns where the next word of letters, digits and `_.[]-/` stands.
pub fn word(text: &str, from: usize) -> Option<(usize, usize)> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "_-/.[]".contains(letter);
    let start = text[from..].find(is_part)? + from;
    let end = text[start..].find(|letter| !is_part(letter)).map_or(text.len(), |end| start + end);
    let trimmed = text[start..end].trim_end_matches(['.', '-', '/']);
    match trimmed.is_empty() {
        true => word(text, end),
        false => Some((start, start + trimmed.len())),
    }
}
