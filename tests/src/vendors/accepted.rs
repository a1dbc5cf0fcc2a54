//! Findings that were looked at and accepted: `sandbox/facts/accepted.toml`.

use std::{collections::BTreeSet, path::Path};

use toml::{Table, Value};

use super::Finding;

/// The time for which an acceptance holds, in days.
const DAYS: i64 = 180;

/// An accepted finding. `*` stands for any text.
struct Entry {
    network: String,
    by: String,
    operation: String,
    side: String,
    finding: String,
    date: String,
}

/// The accepted findings.
pub struct Accepted(Vec<Entry>);

/// What remains of findings.
#[derive(Debug)]
pub struct Verdict {
    /// Findings that nobody accepted.
    pub open: Vec<Finding>,
    /// Acceptances that nothing meets any more.
    pub idle: Vec<String>,
}

impl Accepted {
    /// Reads the file.
    ///
    /// # Panics
    /// It cannot be read, or an entry has no reason.
    #[must_use]
    pub fn read() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sandbox/facts/accepted.toml");
        let text = std::fs::read_to_string(path).expect("sandbox/facts/accepted.toml");
        Self::parse(&text)
    }

    /// Reads the text of such a file.
    ///
    /// # Panics
    /// It cannot be read, or an entry has no reason.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let table: Table = text.parse().expect("accepted.toml is TOML");
        let entries = table.get("accepted").and_then(Value::as_array);
        Self(entries.into_iter().flatten().map(Entry::of).collect())
    }

    /// Separates findings from those that were accepted. Acceptances of findings by others than `by` are not looked at.
    #[must_use]
    pub fn judge(&self, findings: &BTreeSet<Finding>, by: &[&str]) -> Verdict {
        let open = findings.iter().filter(|one| !self.0.iter().any(|entry| entry.meets(one)));
        let idle = self.0.iter().filter(|entry| by.contains(&entry.by.as_str()));
        let idle = idle.filter(|entry| !findings.iter().any(|one| entry.meets(one)));
        Verdict { open: open.cloned().collect(), idle: idle.map(Entry::name).collect() }
    }

    /// Returns the acceptances that are too old on a day such as `2026-11-29`.
    ///
    /// # Panics
    /// A date is none.
    #[must_use]
    pub fn outdated(&self, today: &str) -> Vec<String> {
        let today = days(today).expect("a date");
        let age = |entry: &Entry| today - days(&entry.date).expect("the date of an acceptance");
        let old = self.0.iter().filter(|entry| age(entry) > DAYS);
        old.map(|entry| format!("{} is of {}", entry.name(), entry.date)).collect()
    }
}

impl Entry {
    fn of(value: &Value) -> Self {
        let text = |name: &str| {
            let found = value.get(name).and_then(Value::as_str).unwrap_or_default();
            assert!(!found.is_empty(), "an acceptance has no {name}: {value}");
            found.to_owned()
        };
        let _ = text("reason");
        assert!(days(&text("date")).is_some(), "an acceptance has no date: {value}");
        Self {
            network: text("network"),
            by: text("by"),
            operation: text("operation"),
            side: text("side"),
            finding: text("finding"),
            date: text("date"),
        }
    }

    fn meets(&self, finding: &Finding) -> bool {
        self.network == finding.network
            && self.by == finding.by
            && self.side == finding.side
            && fits(&self.operation, &finding.operation)
            && fits(&self.finding, &finding.what)
    }

    fn name(&self) -> String {
        let Self { network, by, operation, side, finding, .. } = self;
        format!("{network} ({by}), {operation}, {side}: {finding}")
    }
}

/// Returns true if a text is as the pattern says, in which `*` stands for any text.
fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut last = None;
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
        last = Some(part);
    }
    rest.is_empty() || last.is_some_and(|part| part.is_empty() || text.ends_with(part))
}

/// Returns the days from the year 0 to a date; `None` if it is none.
fn days(date: &str) -> Option<i64> {
    let parts: Vec<i64> = date.split('-').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let [year, month, day] = parts[..] else { return None };
    // The year begins in March, so that the leap day is its last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    Some(365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day)
}
