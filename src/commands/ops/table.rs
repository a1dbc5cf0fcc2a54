//! Tables for terminals.

use std::io::{IsTerminal, Write};

use anyhow::Result;
use fanfare_core::clock::to_rfc3339;
use fanfare_entities::Millis;
use serde::Serialize;

use crate::commands::say;

/// Prints a table with these headings, or the records as JSON.
pub fn print<T: Serialize>(
    json: bool,
    records: &T,
    heads: &[&str],
    rows: &[Vec<String>],
) -> Result<()> {
    if json {
        say(serde_json::to_string_pretty(records)?);
        return Ok(());
    }
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| plain(cell)).collect()).collect();
    let text = laid_out(heads, &rows, std::io::stdout().is_terminal());
    // A closed pipe is no error.
    let _ = std::io::stdout().write_all(text.as_bytes());
    Ok(())
}

/// Returns a user's text without terminal control characters.
pub fn plain(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { '\u{fffd}' } else { letter }).collect()
}

fn laid_out(heads: &[&str], rows: &[Vec<String>], colours: bool) -> String {
    let width = |place: usize| {
        let cells = rows.iter().filter_map(|row| row.get(place)).map(|cell| cell.chars().count());
        cells.chain([heads[place].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let line = |cells: &mut dyn Iterator<Item = (String, &str)>| {
        let padded = cells.zip(&widths).map(|((shown, plain), width)| {
            shown + &" ".repeat(width.saturating_sub(plain.chars().count()))
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    let head =
        |head: &&str| if colours { format!("\x1b[1m{head}\x1b[0m") } else { (*head).to_owned() };
    let mut text = line(&mut heads.iter().map(|one| (head(one), *one)));
    for row in rows {
        text += &line(&mut row.iter().map(|cell| (coloured(cell, colours), cell.as_str())));
    }
    if rows.is_empty() {
        text += "(none)\n";
    }
    text
}

/// Colours words that matter most.
fn coloured(cell: &str, colours: bool) -> String {
    let colour = match cell {
        "published" | "delivered" | "ready" | "working" => 32,
        "failed" | "dead" | "outcome_unknown" | "disabled" => 31,
        "paused" | "draining" | "drained" | "missed" | "failing" => 33,
        _ => 0,
    };
    if colours && colour != 0 { format!("\x1b[{colour}m{cell}\x1b[0m") } else { cell.to_owned() }
}

/// Formats a time, if there is one.
pub fn time(at: Option<Millis>) -> String {
    at.map_or_else(|| "-".to_owned(), to_rfc3339)
}

/// Formats a value, if there is one.
pub fn maybe(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::{laid_out, plain};

    #[test]
    fn a_caption_cannot_steer_the_terminal() {
        assert_eq!(plain("a\x1b[2Jb\nc é"), "a\u{fffd}[2Jb\u{fffd}c é");
    }

    #[test]
    fn columns_stand_under_their_heads_with_and_without_colours() {
        let rows = vec![vec!["7".to_owned(), "failed".to_owned(), "x".to_owned()]];
        let plain = laid_out(&["id", "status", "y"], &rows, false);
        assert_eq!(plain, "id  status  y\n7   failed  x\n");
        let coloured = laid_out(&["id", "status", "y"], &rows, true);
        assert!(coloured.contains("\x1b[31mfailed\x1b[0m  x"), "{coloured:?}");
        assert_eq!(laid_out(&["id"], &[], false), "id\n(none)\n");
    }
}
