//! Prints replies: for people on a terminal, with tabs elsewhere.

use std::io::{self, IsTerminal, Write};

use serde_json::{Map, Value};

use super::{
    cell::{NONE, cell, here, leaves},
    refusal::words,
    shape::Shape,
    shell::quoted,
    table::{at, table, wrapped},
};

/// The width of a terminal that does not tell it.
const WIDTH: usize = 80;

/// The text that a terminal shows for an empty reply.
pub const NOTHING: &str = "Nothing.\n";

/// Fields of lists that are about their pages.
const PAGING: [&str; 5] = ["next_cursor", "limit", "offset", "total", "latest_sequence"];

/// Prints a reply on standard output.
///
/// # Errors
/// It cannot be written.
pub fn print(body: &Value, as_json: bool, shape: &Shape) -> io::Result<()> {
    let text = match as_json {
        true => format!("{body}\n"),
        false => {
            let mut body = body.clone();
            words().show(&mut body);
            rendered(&body, shape, terminal_width())
        }
    };
    write(&text)
}

/// Returns the width of the terminal that is written to; `None` if it is none.
fn terminal_width() -> Option<usize> {
    let width = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    io::stdout().is_terminal().then(|| width().unwrap_or(WIDTH))
}

/// Prints a reply as it came: JSON, over several lines on a terminal, or the text that it is.
///
/// # Errors
/// It cannot be written.
pub fn print_raw(body: &Value, as_json: bool) -> io::Result<()> {
    match body {
        Value::String(text) if !as_json => write(&format!("{}\n", text.trim_end_matches('\n'))),
        _ if !as_json && io::stdout().is_terminal() => write(&format!("{body:#}\n")),
        _ => write(&format!("{body}\n")),
    }
}

/// Writes text to standard output, to its end. A reader that wants no more, such as `head`, is no error.
///
/// # Errors
/// It cannot be written, for example because a disk is full.
pub fn write(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Writes a line to standard error.
pub fn note(line: &str) {
    let _ = io::stderr().write_all(format!("{line}\n").as_bytes());
}

/// Says on standard error that a list goes on, and how to read the rest.
pub fn print_more(body: &Value) {
    if body["has_more"] == false {
        return;
    }
    if let Some(cursor) = body["next_cursor"].as_str() {
        note(&format!("more: --cursor {}, or --all", quoted(cursor)));
    }
}

/// Says on standard error why a list is empty, where no table says it.
pub fn print_why_empty(body: &Value) {
    if let Some(why) = body["empty_because"].as_str().filter(|_| terminal_width().is_none()) {
        note(&format!("nothing: {}", why.replace('_', " ")));
    }
}

/// Returns a reply as text: for a terminal of a width, or for a program.
fn rendered(body: &Value, shape: &Shape, width: Option<usize>) -> String {
    let Some(fields) = body.as_object() else { return format!("{}\n", cell(body)) };
    if let (Some(columns), Some(rows)) = (&shape.columns, shape.rows(body)) {
        return match width {
            Some(width) => table(&rows, columns, width) + &beside(fields, shape, width),
            None => rows.iter().map(|row| tabs(row, columns)).collect(),
        };
    }
    match shape.main.as_deref().map(|main| (main, &body[main])) {
        Some((_, Value::String(text))) => format!("{}\n", plain(text)),
        Some((main, Value::Object(entry))) => {
            let mut all = leaves(entry);
            let rest: Map<_, _> = without(fields, main);
            let known: Vec<_> = all.iter().map(|(name, _)| name.clone()).collect();
            all.extend(leaves(&rest).into_iter().filter(|(name, _)| !known.contains(name)));
            pairs(&all, width)
        }
        _ => pairs(&leaves(fields), width),
    }
}

/// Returns what a reply says beside its list.
fn beside(fields: &Map<String, Value>, shape: &Shape, width: usize) -> String {
    let list = shape.main.as_deref().and_then(|main| main.split('.').next()).unwrap_or_default();
    let mut rest = without(fields, list);
    rest.retain(|name, value| {
        !PAGING.contains(&name.as_str()) && !value.is_array() && !value.is_null()
    });
    if rest.is_empty() {
        return String::new();
    }
    format!("\n{}", pairs(&leaves(&rest), Some(width)))
}

fn without(fields: &Map<String, Value>, name: &str) -> Map<String, Value> {
    let rest = fields.iter().filter(|(field, _)| *field != name);
    rest.map(|(field, value)| (field.clone(), value.clone())).collect()
}

/// Returns fields with their names. A terminal shows only what is there.
fn pairs(all: &[(String, String)], width: Option<usize>) -> String {
    let Some(width) = width else {
        return all.iter().map(|(name, text)| format!("{name}\t{text}\n")).collect();
    };
    let shown: Vec<_> = all.iter().filter(|(_, text)| text != NONE).collect();
    if shown.is_empty() {
        return NOTHING.to_owned();
    }
    let names = shown.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let line = |(name, text): &&(String, String)| {
        let lines = wrapped(&here(text), width.saturating_sub(names + 2).max(20));
        format!("{name:names$}  {}\n", lines.join(&format!("\n{:1$}", "", names + 2)))
    };
    shown.iter().map(line).collect()
}

fn tabs(row: &Map<String, Value>, columns: &[String]) -> String {
    let cells: Vec<_> = columns.iter().map(|name| cell(at(row, name))).collect();
    cells.join("\t") + "\n"
}

/// Returns a text with its lines, without the other control characters.
fn plain(text: &str) -> String {
    text.chars().map(|mark| if mark.is_control() && mark != '\n' { ' ' } else { mark }).collect()
}

#[cfg(test)]
#[path = "output_tests.rs"]
mod tests;
