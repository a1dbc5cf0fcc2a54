//! The report of each fault: progress while it lasts, one table at the end.

use std::{
    fmt::Write as _,
    io::{IsTerminal, Write as _},
    sync::Mutex,
    time::{Duration, Instant},
};

use crate::judge::Verdict;

/// The outcome of one fault.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The fault and its amounts.
    pub thrown: String,
    /// The comparison with the networks, if posts were published.
    pub verdict: Verdict,
    /// Further figures, one sentence each.
    pub notes: Vec<String>,
    /// Violated guarantees.
    pub broken: Vec<String>,
}

impl Outcome {
    /// Adds a figure.
    pub fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Adds a violation unless a condition holds.
    pub fn require(&mut self, holds: bool, what: impl Into<String>) {
        if !holds {
            self.broken.push(what.into());
        }
    }
}

/// One line of the table.
pub struct Row {
    /// The fault's name.
    pub name: &'static str,
    /// The outcome, or why it was aborted.
    pub outcome: Result<Outcome, String>,
    /// The time it took.
    pub took: Duration,
}

impl Row {
    /// Returns true if everything held.
    pub fn held(&self) -> bool {
        self.outcome.as_ref().is_ok_and(|outcome| outcome.broken.is_empty())
    }
}

/// Returns the table as Markdown.
pub fn table(rows: &[Row]) -> String {
    let mut text = String::from(
        "\n| fault | thrown | posts | public | lost | twice | flagged | further | held | s |\n\
         | --- | --- | ---: | ---: | ---: | ---: | ---: | --- | --- | ---: |\n",
    );
    for row in rows {
        let seconds = row.took.as_secs();
        let _ = match &row.outcome {
            Ok(Outcome { thrown, verdict: v, notes, .. }) => writeln!(
                text,
                "| {} | {thrown} | {} | {} | {} | {} | {} | {} | {} | {seconds} |",
                row.name,
                number(v.posts),
                number(v.public),
                v.lost(),
                v.twice,
                v.flagged,
                notes.join("; "),
                if row.held() { "yes" } else { "**no**" },
            ),
            Err(_) => {
                writeln!(text, "| {} | broke off | | | | | | | **no** | {seconds} |", row.name)
            }
        };
    }
    for row in rows.iter().filter(|row| !row.held()) {
        let why = match &row.outcome {
            Ok(outcome) => outcome.broken.join("\n  "),
            Err(why) => why.clone(),
        };
        let _ = writeln!(text, "\n{} did not hold:\n  {why}", row.name);
    }
    text
}

/// Formats a number with thousands separators.
pub fn number(value: usize) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Shows the progress of a fault: in place on a terminal, every ten seconds elsewhere.
pub fn progress(fault: &str, text: impl std::fmt::Display) {
    static SAID: Mutex<Option<(String, Instant)>> = Mutex::new(None);
    let mut stderr = std::io::stderr();
    if stderr.is_terminal() {
        let _ = write!(stderr, "\r\x1b[2K{fault}: {text}");
        let _ = stderr.flush();
        return;
    }
    let mut said = SAID.lock().expect("the lock");
    let recent =
        said.as_ref().is_some_and(|(last, at)| last == fault && at.elapsed().as_secs() < 10);
    if !recent {
        *said = Some((fault.to_owned(), Instant::now()));
        let _ = writeln!(stderr, "{fault}: {text}");
    }
}
