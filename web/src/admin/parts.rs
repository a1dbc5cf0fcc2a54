//! Small parts that pages share: times, badges, tables.

use fanfare_core::clock::to_rfc3339;
use fanfare_entities::Millis;
use maud::{Markup, html};

/// Formats a duration in one unit.
#[must_use]
pub fn duration(ms: Millis) -> String {
    match ms.max(0) {
        ms @ ..1_000 => format!("{ms} ms"),
        ms @ ..60_000 => format!("{} s", ms / 1_000),
        ms @ ..3_600_000 => format!("{} min", ms / 60_000),
        ms @ ..172_800_000 => format!("{} h", ms / 3_600_000),
        ms => format!("{} d", ms / 86_400_000),
    }
}

/// Formats the upper bound of a latency bucket.
#[must_use]
pub fn at_most(ms: Option<Millis>) -> String {
    match ms {
        None => "–".to_owned(),
        Some(Millis::MAX) => "> 10 min".to_owned(),
        Some(ms) => format!("≤ {}", duration(ms)),
    }
}

/// Renders a time as date and clock in UTC.
#[must_use]
pub fn time(at: Millis) -> Markup {
    let full = to_rfc3339(at);
    let short = full.get(..19).unwrap_or(&full).replace('T', " ");
    html! { time datetime=(full) { (short) } }
}

/// Renders a time relative to now.
#[must_use]
pub fn relative_time(at: Millis, now: Millis) -> Markup {
    let text = match at - now {
        ahead @ 1_000.. => format!("in {}", duration(ahead)),
        -999..1_000 => "now".to_owned(),
        behind => format!("{} ago", duration(-behind)),
    };
    html! { time datetime=(to_rfc3339(at)) title=(to_rfc3339(at)) { (text) } }
}

/// Renders a status in words and colour.
#[must_use]
pub fn badge(status: &str) -> Markup {
    let tone = match status {
        "published" | "delivered" | "ready" | "working" | "enabled" => "good",
        "failed" | "dead" | "disabled" | "outcome_unknown" => "bad",
        "paused" | "draining" | "drained" | "missed" | "may_be_public" | "retry"
        | "rate_limited" | "failing" => "warn",
        "publishing" | "processing" | "pending" | "copying" => "busy",
        _ => "plain",
    };
    html! { span class={ "badge " (tone) } { (status.replace('_', " ")) } }
}

/// Returns the beginning of a text.
#[must_use]
pub fn truncated(text: &str, most: usize) -> String {
    let cut: String = text.chars().take(most).collect();
    if cut.len() < text.len() { cut + "…" } else { cut }
}

/// Formats a number with thousands separators.
#[must_use]
pub fn number(n: i64) -> String {
    let digits = n.unsigned_abs().to_string();
    let mut parts: Vec<&str> = Vec::new();
    let mut rest = digits.as_str();
    while rest.len() > 3 {
        let (head, tail) = rest.split_at(rest.len() - 3);
        parts.push(tail);
        rest = head;
    }
    parts.push(rest);
    parts.reverse();
    format!("{}{}", if n < 0 { "-" } else { "" }, parts.join(","))
}

/// Renders a table. Each cell carries the name of its column, so that a row can be shown as a card on a phone.
#[must_use]
pub fn table(caption: &str, heads: &[&str], rows: &[Vec<Markup>]) -> Markup {
    html! {
        table {
            caption { (caption) }
            thead { tr { @for head in heads { (column(head)) } } }
            tbody {
                @for row in rows {
                    tr {
                        @for (head, cell) in heads.iter().zip(row) {
                            td data-label=(head) { div { (cell) } }
                        }
                    }
                }
            }
        }
    }
}

/// Renders the head of a column; one of buttons alone has none.
fn column(head: &str) -> Markup {
    html! { @if head.is_empty() { td {} } @else { th scope="col" { (head) } } }
}

/// Renders the text in place of an empty list.
#[must_use]
pub fn empty(words: &str) -> Markup {
    html! { p.empty { (words) } }
}

/// Renders a link to the preview of an action.
#[must_use]
pub fn action_link(verb: &str, query: &str, words: &str) -> Markup {
    html! { a.button href={ "/admin/act/" (verb) "?" (query) } { (words) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_numbers_read_well() {
        assert_eq!(
            [duration(999), duration(61_000), duration(90_000_000)],
            ["999 ms", "1 min", "25 h"]
        );
        assert_eq!([number(0), number(1_234_567), number(-1_000)], ["0", "1,234,567", "-1,000"]);
    }

    #[test]
    fn nothing_in_a_cell_is_markup() {
        let cell = html! { ("<b>") };
        let table = table("T", &["A"], &[vec![cell]]).into_string();
        assert!(table.contains("&lt;b&gt;") && table.contains("data-label=\"A\""));
    }
}
