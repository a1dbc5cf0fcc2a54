//! The files of `docs/updates/`: TOML between two lines of `+++`, then Markdown. A name is `YYYY-MM-DD-slug.md`.

use std::sync::LazyLock;

use serde::Deserialize;

macro_rules! files {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../../../docs/updates/", $name, ".md")))),+]
    };
}

/// The files, in any order; a test fails if one is missing here.
const FILES: &[(&str, &str)] = files![
    "2026-11-24-sign-up-by-api",
    "2026-11-25-command-line",
    "2026-11-25-dashboard",
    "2026-11-25-feedback-and-updates",
    "2026-11-25-mcp",
    "2026-11-25-openapi-from-the-code",
    "2026-11-25-reference-with-search",
    "2026-11-25-remedies",
];

/// A published update of the service.
#[derive(Debug)]
pub struct Update {
    /// Its name in addresses.
    pub slug: String,
    /// The day of its release, YYYY-MM-DD.
    pub date: String,
    /// Its title.
    pub title: String,
    /// The version that it was released with.
    pub version: String,
    /// A summary in a sentence.
    pub summary: String,
    /// `feature`, `improvement` or `fix`.
    pub kind: Option<String>,
    /// The parts of the product that it is about.
    pub areas: Vec<String>,
    /// The address of a picture.
    pub image: Option<String>,
    /// The address of a video.
    pub video: Option<String>,
    /// The text, Markdown.
    pub content: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FrontMatter {
    title: String,
    version: String,
    summary: String,
    #[serde(rename = "type")]
    kind: Option<String>,
    areas: Vec<String>,
    image: Option<String>,
    video: Option<String>,
}

static ALL: LazyLock<Vec<Update>> = LazyLock::new(|| {
    let mut read: Vec<_> = FILES.iter().filter_map(|(name, text)| parse(name, text)).collect();
    read.sort_by(|one, other| (&other.date, &other.slug).cmp(&(&one.date, &one.slug)));
    read
});

/// Returns all updates, newest first.
#[must_use]
pub fn all() -> &'static [Update] {
    &ALL
}

/// Returns the update with this name.
#[must_use]
pub fn find(slug: &str) -> Option<&'static Update> {
    all().iter().find(|update| update.slug == slug)
}

fn parse(name: &str, text: &str) -> Option<Update> {
    let (date, slug) = name.split_at_checked(10)?;
    let (front, content) = text.strip_prefix("+++\n")?.split_once("\n+++\n")?;
    let front: FrontMatter = toml::from_str(front).ok()?;
    let FrontMatter { title, version, summary, kind, areas, image, video } = front;
    let (slug, date) = (slug.trim_start_matches('-').to_owned(), date.to_owned());
    let content = content.trim().to_owned();
    Some(Update { slug, date, title, version, summary, kind, areas, image, video, content })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const AREAS: [&str; 13] = [
        "publishing",
        "media",
        "accounts",
        "analytics",
        "inbox",
        "ai",
        "billing",
        "api",
        "mcp",
        "cli",
        "dashboard",
        "webhooks",
        "security",
    ];

    #[test]
    fn every_file_is_listed_and_can_be_read() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/updates");
        let files: HashSet<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        let listed: HashSet<_> = FILES.iter().map(|(name, _)| format!("{name}.md")).collect();
        assert_eq!(files, listed);
        assert_eq!(all().len(), FILES.len(), "a file is malformed");
        for update in all() {
            assert!(fanfare_core::input::day("date", &update.date).is_ok(), "{}", update.date);
            assert!(!update.slug.is_empty() && !update.content.is_empty(), "{}", update.slug);
            assert!(
                update.areas.iter().all(|area| AREAS.contains(&area.as_str())),
                "{:?}",
                update.areas
            );
            let kinds = ["feature", "improvement", "fix"];
            assert!(
                update.kind.as_deref().is_none_or(|kind| kinds.contains(&kind)),
                "{:?}",
                update.kind
            );
        }
    }
}
