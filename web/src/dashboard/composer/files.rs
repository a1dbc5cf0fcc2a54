//! The files of a post in their order, each with its alt text.

use fanfare_api::query::Pairs;

/// A file of the post.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct File {
    /// Its address.
    pub url: String,
    /// Its alt text; empty without one.
    pub alt: String,
}

/// The most files that the form keeps.
const MOST: usize = 40;

/// Reads the files from the form, after what its buttons do: `add` a file, move one `up` or `down`, `remove` one.
pub fn read(form: &Pairs) -> Vec<File> {
    let mut files: Vec<File> = Vec::new();
    for (name, value) in form {
        match name.as_str() {
            "media" => files.push(File { url: value.trim().to_owned(), alt: String::new() }),
            "alt" => {
                if let Some(file) = files.last_mut() {
                    file.alt = value.trim().to_owned();
                }
            }
            _ => {}
        }
    }
    files.retain(|file| !file.url.is_empty());
    for (name, value) in form {
        change(&mut files, name, value.trim());
    }
    files.truncate(MOST);
    files
}

fn change(files: &mut Vec<File>, button: &str, value: &str) {
    if matches!(button, "add" | "media_url") {
        let is_new = !value.is_empty() && files.iter().all(|file| file.url != value);
        files.extend(is_new.then(|| File { url: value.to_owned(), alt: String::new() }));
        return;
    }
    let Some(place) = value.parse::<usize>().ok().filter(|place| *place < files.len()) else {
        return;
    };
    match button {
        "up" if place > 0 => files.swap(place, place - 1),
        "down" if place + 1 < files.len() => files.swap(place, place + 1),
        "remove" => drop(files.remove(place)),
        _ => {}
    }
}

/// Returns the alt text of each file, up to the last one that has any.
pub fn alt_texts(files: &[File]) -> Vec<&str> {
    let last = files.iter().rposition(|file| !file.alt.is_empty());
    files.iter().take(last.map_or(0, |last| last + 1)).map(|file| file.alt.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(pairs: &[(&str, &str)]) -> Pairs {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    fn urls(pairs: &[(&str, &str)]) -> String {
        let filled = [("media", "a"), ("alt", "one, two"), ("media", "b"), ("alt", "")];
        let all = [&filled[..], pairs].concat();
        read(&form(&all)).iter().map(|file| file.url.as_str()).collect()
    }

    #[test]
    fn a_file_keeps_its_alt_text_wherever_it_goes() {
        let files = read(&form(&[
            ("media", "a"),
            ("alt", "A cat, asleep"),
            ("media", "b"),
            ("alt", ""),
            ("media", "c"),
            ("alt", "A dog"),
            ("up", "2"),
        ]));
        assert_eq!(alt_texts(&files), ["A cat, asleep", "A dog"]);
        assert_eq!(files.iter().map(|file| file.url.as_str()).collect::<String>(), "acb");
    }

    #[test]
    fn buttons_add_move_and_remove_files() {
        assert_eq!(urls(&[]), "ab");
        assert_eq!(urls(&[("add", "c")]), "abc");
        assert_eq!(urls(&[("add", "a"), ("media_url", " ")]), "ab");
        assert_eq!(urls(&[("up", "1")]), "ba");
        assert_eq!(urls(&[("down", "0")]), "ba");
        assert_eq!(urls(&[("up", "0"), ("down", "1"), ("down", "9"), ("up", "x")]), "ab");
        assert_eq!(urls(&[("remove", "0")]), "b");
    }
}
