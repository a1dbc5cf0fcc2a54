//! Front matter: lines between `---` at the start of a text, which override the other fields.

/// Returns the pairs of the front matter, and the text below it; `None` if there is none.
pub(super) fn split(body: &str) -> Option<(Vec<(String, String)>, &str)> {
    let rest =
        body.strip_prefix("---")?.trim_start_matches([' ', '\t', '\r']).strip_prefix('\n')?;
    let (head, text) = rest.split_once("\n---")?;
    let pair = |line: &str| {
        let (name, value) = line.split_once(':')?;
        let value = value.trim().trim_matches(['"', '\'']);
        Some((name.trim().to_owned(), value.to_owned()))
    };
    Some((head.lines().filter_map(pair).collect(), text.trim_start_matches(['\r', '\n'])))
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn lines_between_dashes_are_front_matter() {
        let (pairs, text) = split("---\ntitle: \"A\"\npublished: false\n---\nText").unwrap();
        assert_eq!(pairs[0], ("title".to_owned(), "A".to_owned()));
        assert_eq!((pairs[1].1.as_str(), text), ("false", "Text"));
        assert_eq!(split("Text\n---\n"), None);
        assert_eq!(split("--- a"), None);
    }
}
