//! Tables as Markdown, for the documentation.

/// Prints a table; the first column is text, the others are numbers.
pub fn print(title: &str, heads: &[&str], rows: &[Vec<String>]) {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].len());
        cells.chain([heads[column].len()]).max().unwrap_or(0)
    };
    let line = |cells: Vec<&str>| {
        let cells = cells.iter().enumerate().map(|(column, cell)| {
            let width = width(column);
            if column == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
    };
    println!("\n### {title}\n");
    println!("{}", line(heads.to_vec()));
    let rule = (0..heads.len()).map(|column| {
        let dashes = "-".repeat(width(column));
        if column == 0 { format!(" {dashes} ") } else { format!(" {}: ", &dashes[1..]) }
    });
    println!("|{}|", rule.collect::<Vec<_>>().join("|"));
    for row in rows {
        println!("{}", line(row.iter().map(String::as_str).collect()));
    }
    println!();
}

/// Formats a number with thousands separators.
pub fn number(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns the ratio of `a` to `b`.
pub fn ratio(a: f64, b: f64) -> String {
    if b > 0.0 { format!("{:.2}", a / b) } else { "–".to_owned() }
}
