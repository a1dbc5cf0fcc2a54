//! Post types that callers of several networks use everywhere: text, image, video, carousel, reel and story.

use fanfare_core::error::{Code, violation};
use fanfare_platforms::{self as platforms, PlatformId, Violation};

use super::view::PostMedia;

const GENERIC: [&str; 6] = ["text", "image", "video", "carousel", "reel", "story"];

/// Returns the generic type of this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static str> {
    GENERIC.into_iter().find(|generic| *generic == name)
}

/// Returns the generic type in `asked`, unless the network has a type of that name.
#[must_use]
pub fn of(platform: PlatformId, asked: Option<&str>) -> Option<&'static str> {
    let generic = named(asked?)?;
    let known = platforms::find(platform).spec().post_types;
    known.iter().all(|kind| kind.name != generic).then_some(generic)
}

/// Returns the reason why a post of this type cannot be published with these files. A network's own type of the name
/// means the same.
#[must_use]
pub fn objection(platform: PlatformId, kind: &str, files: &[PostMedia]) -> Option<Violation> {
    if matches!(kind, "reel" | "story") && of(platform, Some(kind)).is_some() {
        let spec = platforms::find(platform).spec();
        let known: Vec<&str> = spec.post_types.iter().map(|kind| kind.name).collect();
        let message = format!("{} has no post type {kind:?}.", spec.id);
        let remedy = format!("Use one of: {}.", known.join(", "));
        let broken = violation(Code::PostTypeUnsupported, "post_type", message, remedy);
        return Some(broken.with_limit(known, kind));
    }
    if matches!(kind, "image" | "video" | "carousel") && files.is_empty() {
        let message = format!("A post of the type {kind:?} has files, and none was sent.");
        let remedy = "Send media_urls, or leave post_type out.";
        return Some(violation(Code::MediaRequired, "media_urls", message, remedy));
    }
    let contradicts = match kind {
        "text" => !files.is_empty(),
        "image" => files.iter().any(|file| kind_of(file).is_some_and(|kind| kind != "image")),
        "video" => files.iter().any(|file| kind_of(file).is_some_and(|kind| kind != "video")),
        "carousel" => files.len() == 1,
        _ => false,
    };
    contradicts.then(|| {
        let message = format!("The files are none of a post of the type {kind:?}.");
        let remedy = "Leave post_type out, or send the files that it needs.";
        violation(Code::PostTypeMismatch, "post_type", message, remedy)
    })
}

const IMAGE_EXTENSIONS: [&str; 5] = [".jpg", ".jpeg", ".png", ".gif", ".webp"];
const VIDEO_EXTENSIONS: [&str; 3] = [".mp4", ".mov", ".webm"];

/// Returns the first half of a file's media type; by its address while the type is not known.
fn kind_of(file: &PostMedia) -> Option<&str> {
    if !file.mime.is_empty() {
        return file.mime.split('/').next();
    }
    let address = file.url.to_lowercase();
    let ends_in = |endings: &[&str]| endings.iter().any(|ending| address.ends_with(ending));
    match () {
        () if ends_in(&IMAGE_EXTENSIONS) => Some("image"),
        () if ends_in(&VIDEO_EXTENSIONS) => Some("video"),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(urls: &[&str]) -> Vec<PostMedia> {
        urls.iter()
            .map(|url| PostMedia { url: (*url).to_owned(), ..PostMedia::default() })
            .collect()
    }

    #[test]
    fn a_generic_type_is_the_networks_own_or_its_default() {
        assert_eq!(of(PlatformId::Pinterest, Some("image")), None);
        assert_eq!(of(PlatformId::Bluesky, Some("image")), Some("image"));
        assert_eq!(of(PlatformId::Bluesky, Some("feed")), None);
        assert_eq!(of(PlatformId::Bluesky, None), None);
    }

    /// Whether a type and these files say the same, in the words of the documentation.
    fn agree(kind: &str, pictures: usize, films: usize) -> bool {
        match kind {
            "text" => pictures + films == 0,
            "image" => pictures > 0 && films == 0,
            "video" => films > 0 && pictures == 0,
            "carousel" => pictures + films > 1,
            _ => true,
        }
    }

    #[test]
    fn no_network_takes_a_type_that_its_files_contradict() {
        for platform in crate::platforms::ids() {
            for kind in GENERIC {
                for (pictures, films) in [(0, 0), (1, 0), (2, 0), (0, 1), (0, 2), (1, 1)] {
                    let urls = [vec!["a.png"; pictures], vec!["b.mp4"; films]].concat();
                    let found = objection(platform, kind, &files(&urls)).map(|one| one.code);
                    let is_unknown = of(platform, Some(kind)).is_some();
                    let expected = match kind {
                        "reel" | "story" if is_unknown => Some("post_type_unsupported"),
                        _ if agree(kind, pictures, films) => None,
                        _ if urls.is_empty() => Some("media_required"),
                        _ => Some("post_type_mismatch"),
                    };
                    assert_eq!(found, expected, "{platform} {kind} {urls:?}");
                }
            }
        }
    }

    #[test]
    fn a_file_of_an_unknown_type_contradicts_nothing_yet() {
        assert!(
            objection(PlatformId::Bluesky, "video", &files(&["https://a.example/x"])).is_none()
        );
        let known = PostMedia { mime: "image/png".to_owned(), ..PostMedia::default() };
        assert!(objection(PlatformId::Bluesky, "video", &[known]).is_some());
    }
}
