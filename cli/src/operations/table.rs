//! Tables that fit a terminal.

use serde_json::{Map, Value};

use super::{
    cell::{NONE, begin, cell, here},
    output::NOTHING,
    shape::heading,
};

/// The most columns of a table.
const COLUMNS: usize = 7;

/// The narrowest column in which words are wrapped.
const NARROW: usize = 16;

/// The widest text that is left as it is; a time is as wide.
const SHORT: usize = 20;

/// The most characters of a text in a list: an article is read whole where it alone is shown.
const TEXT_MAX: usize = 300;

/// The space between two columns.
const GAP: usize = 2;

/// A column of a table: its heading and its cells.
struct Column {
    heading: String,
    cells: Vec<String>,
}

impl Column {
    fn width(&self) -> usize {
        let cells = self.cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0);
        cells.max(self.heading.chars().count())
    }

    /// Returns true if its cells may be wrapped. Ids and addresses have no spaces, and stay whole.
    fn is_text(&self) -> bool {
        self.width() > SHORT && self.cells.iter().any(|cell| cell.contains(' '))
    }
}

/// Returns the field of a row at a path.
pub fn at<'a>(row: &'a Map<String, Value>, path: &str) -> &'a Value {
    if let Some(value) = row.get(path) {
        return value;
    }
    let (outer, inner) = path.split_once('.').unwrap_or((path, ""));
    row.get(outer).and_then(|outer| outer.get(inner)).unwrap_or(&Value::Null)
}

/// Returns rows as a table for a terminal of this width: nothing is cut, texts wrap, and the least important
/// columns are left out.
pub fn table(rows: &[Map<String, Value>], columns: &[String], width: usize) -> String {
    if rows.is_empty() {
        return NOTHING.to_owned();
    }
    let mut columns: Vec<_> = columns.iter().map(|name| column(rows, name)).collect();
    columns.retain(|column| column.cells.iter().any(|cell| cell != NONE));
    if let Some(error) = columns.iter().position(|column| column.heading == "ERROR") {
        // Of work that failed the reason is what one looks for.
        let error = columns.remove(error);
        columns.insert(columns.len().min(COLUMNS - 1), error);
    }
    columns.truncate(COLUMNS);
    // Ids that take most of a line leave no room for what one looks for: each row is a paragraph.
    if columns.len() > 1 && !columns[0].is_text() && columns[0].width() > width / 2 {
        return paragraphs(&columns, rows.len(), width);
    }
    let widths = fit(&mut columns, width);
    let heading: Vec<_> = columns.iter().map(|column| column.heading.as_str()).collect();
    let mut text = line(&heading, &widths);
    for row in 0..rows.len() {
        let cells: Vec<_> = columns.iter().map(|column| column.cells[row].as_str()).collect();
        text.push_str(&line(&cells, &widths));
    }
    text
}

/// Returns rows as paragraphs, with a line for each column.
fn paragraphs(columns: &[Column], rows: usize, width: usize) -> String {
    let names = columns.iter().map(|one| one.heading.chars().count()).max().unwrap_or(0);
    let room = width.saturating_sub(names + GAP).max(NARROW);
    let row = |row: usize| {
        let shown = columns.iter().filter(|column| column.cells[row] != NONE);
        let lines = shown.map(|column| {
            let lines = wrapped(&column.cells[row], room);
            let text = lines.join(&format!("\n{:1$}", "", names + GAP));
            format!("{:names$}  {text}\n", column.heading)
        });
        lines.collect::<String>()
    };
    (0..rows).map(row).collect::<Vec<_>>().join("\n")
}

fn column(rows: &[Map<String, Value>], name: &str) -> Column {
    let whole = rows.iter().map(|row| here(&cell(at(row, name))));
    // Ids and addresses have no spaces, and stay whole.
    let is_article = |text: &String| text.contains(' ');
    let cells = whole.map(|text| if is_article(&text) { begin(&text, TEXT_MAX) } else { text });
    let cells = cells.collect();
    Column { heading: heading(name).to_uppercase(), cells }
}

/// Moves texts to the end, where they share the room that is left, and drops columns that do not fit beside them. Returns
/// the widths.
fn fit(columns: &mut Vec<Column>, width: usize) -> Vec<usize> {
    let total = |columns: &[Column]| columns.iter().map(|one| one.width() + GAP).sum::<usize>();
    if total(columns) <= width + GAP {
        return columns.iter().map(Column::width).collect();
    }
    let (texts, mut fixed): (Vec<_>, Vec<_>) = columns.drain(..).partition(Column::is_text);
    let needed = texts.len() * (NARROW + GAP);
    while fixed.len() > 1 && total(&fixed) + needed > width + GAP {
        // The status says how a row is, so that it stays to the last.
        let last = fixed.iter().rposition(|column| column.heading != "STATUS").unwrap_or(0);
        fixed.remove(if last == 0 { fixed.len() - 1 } else { last });
    }
    let mut room = (width + GAP).saturating_sub(total(&fixed));
    let mut widths: Vec<_> = fixed.iter().map(Column::width).collect();
    for (at, text) in texts.iter().enumerate() {
        let share = (room / (texts.len() - at)).saturating_sub(GAP).max(NARROW);
        widths.push(text.width().min(share));
        room = room.saturating_sub(text.width().min(share) + GAP);
    }
    columns.extend(fixed.into_iter().chain(texts));
    widths
}

/// Returns a row, over as many lines as its longest cell needs.
fn line(cells: &[&str], widths: &[usize]) -> String {
    let cells: Vec<_> =
        cells.iter().zip(widths).map(|(cell, width)| wrapped(cell, *width)).collect();
    let lines = cells.iter().map(Vec::len).max().unwrap_or(0);
    let line = |at: usize| {
        let parts = cells
            .iter()
            .zip(widths)
            .map(|(cell, width)| format!("{:width$}", cell.get(at).map_or("", String::as_str)));
        parts.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    (0..lines).map(line).collect()
}

/// Returns the lines of a text, broken between words. A word that is longer stays whole.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    if text.chars().count() <= width {
        return vec![text.to_owned()];
    }
    let (mut lines, mut line) = (Vec::new(), String::new());
    for word in text.split_whitespace() {
        let length = line.chars().count() + 1 + word.chars().count();
        if !line.is_empty() && length > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(width: usize) -> String {
        let rows = json!([
            {"id": 184467440737i64, "platform": "google_business", "caption": "A caption of several words that is longer than \
              a line of a terminal has room for, all in all", "status": "published", "scheduled_at": "2030-01-31T09:00:00.000Z",
              "platform_post_url": "https://example.com/a-very-long-address/that-must-not-be-cut/0123456789"},
            {"id": 2, "platform": "x", "caption": "Short", "status": "failed",
              "error": {"code": "limited", "message": "The network wants a pause."}}
        ]);
        let rows: Vec<_> =
            rows.as_array().unwrap().iter().map(|row| row.as_object().unwrap().clone()).collect();
        let columns = [
            "id",
            "platform",
            "caption",
            "status",
            "scheduled_at",
            "platform_post_url",
            "error.message",
        ];
        table(&rows, &columns.map(str::to_owned), width)
    }

    #[test]
    fn a_table_fits_the_terminal_and_cuts_nothing() {
        for width in [80, 120, 200] {
            let table = shown(width);
            assert!(table.lines().all(|line| line.chars().count() <= width), "{width}:\n{table}");
            let words: Vec<_> = table.split_whitespace().collect();
            for whole in ["184467440737", "google_business", "published", "failed", "caption"] {
                assert!(words.contains(&whole), "{width}: {whole} in\n{table}");
            }
            assert!(!table.contains('…'), "{table}");
            let address = words.iter().find(|word| word.starts_with("https://"));
            assert!(address.is_none_or(|address| address.ends_with("0123456789")), "{table}");
        }
        assert!(shown(80).contains("pause."), "the reason of a failure is shown:\n{}", shown(80));
    }

    #[test]
    fn ids_that_fill_a_line_leave_the_rest_readable() {
        let id = format!("at://did:plc:{}", "x".repeat(60));
        let row = json!({"id": id, "text": "Hello from Fanfare", "created_at": "2030-01-31"});
        let columns = ["id", "text", "created_at"].map(str::to_owned);
        let shown = table(&[row.as_object().unwrap().clone()], &columns, 80);
        for whole in [id.as_str(), "Hello from Fanfare", "2030-01-31"] {
            assert!(shown.contains(whole), "{whole} in\n{shown}");
        }
    }

    #[test]
    fn an_article_does_not_fill_the_list_that_it_is_in() {
        let row = json!({"id": 7, "caption": "word ".repeat(10_000), "status": "draft"});
        let columns = ["id", "caption", "status"].map(str::to_owned);
        let shown = table(&[row.as_object().unwrap().clone()], &columns, 80);
        assert!(shown.contains("draft") && shown.lines().count() < 10, "{shown}");
    }

    #[test]
    fn an_empty_list_says_so() {
        assert_eq!(table(&[], &["id".to_owned()], 80), "Nothing.\n");
    }
}
