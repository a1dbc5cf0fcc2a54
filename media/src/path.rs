//! Paths in the store.

use object_store::path::Path;

use crate::Error;

const MAX_PATH: usize = 512;
const MAX_SEGMENT: usize = 128;

/// Checks a path from an external source. A valid path cannot refer to anything outside the root of the store, nor to a
/// hidden file in which a [`crate::Writer`] collects its bytes.
pub(crate) fn check(path: &str) -> Result<&str, Error> {
    if path.len() <= MAX_PATH && path.split('/').all(is_segment) {
        Ok(path)
    } else {
        Err(Error::InvalidPath)
    }
}

/// Returns a new, unguessable path under `prefix`, with 128 random bits.
pub(crate) fn unguessable(prefix: &str, extension: &str) -> Result<String, Error> {
    let path = format!("{prefix}/{:032x}.{extension}", rand::random::<u128>());
    check(&path)?;
    Ok(path)
}

/// Returns the key in the bucket or directory. `root` is a checked path or empty.
pub(crate) fn key(root: &str, path: &str) -> Result<Path, Error> {
    let path = check(path)?;
    let whole = if root.is_empty() { path.to_owned() } else { format!("{root}/{path}") };
    Path::parse(whole).map_err(|_| Error::InvalidPath)
}

/// Returns true for letters, digits and `-_.` without a leading dot. This excludes `..`, the separators of any system,
/// and characters that are decoded or escaped on the way.
fn is_segment(segment: &str) -> bool {
    (1..=MAX_SEGMENT).contains(&segment.len())
        && !segment.starts_with('.')
        && segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{check, key, unguessable};
    use crate::Error;

    #[test]
    fn nothing_leads_out_of_the_root() {
        for path in [
            "",
            "/",
            "..",
            ".",
            "../a",
            "a/..",
            "a/../b",
            "a/./b",
            "/a",
            "a/",
            "a//b",
            "a\\..\\b",
            "a\0b",
            "a b",
            "a#1",
            "%2e%2e/a",
            "a/%2e%2e",
            "a\n",
            "ä",
            ".hidden",
            "a/.hidden",
            "c:",
            "~",
            "a?b",
        ] {
            assert!(matches!(check(path), Err(Error::InvalidPath)), "{path:?}");
            assert!(matches!(key("root", path), Err(Error::InvalidPath)), "{path:?}");
        }
        assert!(check(&"a/".repeat(300)).is_err());
        assert!(check(&"a".repeat(129)).is_err());
    }

    #[test]
    fn ordinary_paths_pass_as_they_are() -> Result<(), Error> {
        for path in ["a", "a/b.png", "0192-ab/00ff.jpg", "a..b/c-_d.mp4"] {
            assert_eq!(key("", path)?.as_ref(), path);
            assert_eq!(key("x/y", path)?.as_ref(), format!("x/y/{path}"));
        }
        Ok(())
    }

    #[test]
    fn fresh_paths_carry_128_bits_and_never_repeat() -> Result<(), Error> {
        let paths =
            (0..1000).map(|_| unguessable("w", "png")).collect::<Result<HashSet<_>, _>>()?;
        assert_eq!(paths.len(), 1000);
        for path in &paths {
            let name = path.strip_prefix("w/").and_then(|name| name.strip_suffix(".png"));
            let name = name.unwrap_or_default();
            assert!(
                name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit()),
                "{path}"
            );
        }
        assert!(matches!(unguessable("../w", "png"), Err(Error::InvalidPath)));
        Ok(())
    }
}
