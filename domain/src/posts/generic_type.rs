//! Post types that callers of several networks use everywhere: text, image, video, carousel, reel and story.

use fanfare_platforms::{self as platforms, PlatformId, Violation};

use super::view::PostMedia;
use crate::error::{Code, violation};

const GENERIC: [&str; 6] = ["text", "image", "video", "carousel", "reel", "story"];

/// Returns the generic type in `asked`, unless the network has a type of that name.
#[must_use]
pub fn of(platform: PlatformId, asked: Option<&str>) -> Option<&'static str> {
    let generic = GENERIC.into_iter().find(|name| asked == Some(*name))?;
    let known = platforms::find(platform).spec().post_types;
    known.iter().all(|kind| kind.name != generic).then_some(generic)
}

/// Returns the reason why a post of a generic type cannot be published as the network's default type.
#[must_use]
pub fn objection(
    platform: PlatformId,
    generic: &'static str,
    files: &[PostMedia],
) -> Option<Violation> {
    if matches!(generic, "reel" | "story") {
        let spec = platforms::find(platform).spec();
        let known: Vec<&str> = spec.post_types.iter().map(|kind| kind.name).collect();
        let message = format!("{} has no post type {generic:?}.", spec.id);
        let remedy = format!("Use one of: {}.", known.join(", "));
        let broken = violation(Code::PostTypeUnsupported, "post_type", message, remedy);
        return Some(broken.with_limit(known, generic));
    }
    let contradicts = match generic {
        "text" => !files.is_empty(),
        "image" => files.iter().any(|file| is_of_type(file, "video/", &VIDEO_EXTENSIONS)),
        "video" => files.iter().any(|file| is_of_type(file, "image/", &IMAGE_EXTENSIONS)),
        "carousel" => files.len() == 1,
        _ => false,
    };
    contradicts.then(|| {
        let message = format!("The files are none of a post of the type {generic:?}.");
        let remedy = "Leave post_type out, or send the files that it needs.";
        violation(Code::PostTypeMismatch, "post_type", message, remedy)
    })
}

const IMAGE_EXTENSIONS: [&str; 5] = [".jpg", ".jpeg", ".png", ".gif", ".webp"];
const VIDEO_EXTENSIONS: [&str; 3] = [".mp4", ".mov", ".webm"];

/// Returns true if a file is of this kind, by its media type, or by its address while the type is not known.
fn is_of_type(file: &PostMedia, kind: &str, endings: &[&str]) -> bool {
    match file.mime.as_str() {
        "" => {
            let address = file.url.to_lowercase();
            endings.iter().any(|ending| address.ends_with(ending))
        }
        mime => mime.starts_with(kind),
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

    #[test]
    fn files_contradict_a_type() {
        let code = |generic, urls: &[&str]| {
            objection(PlatformId::Bluesky, generic, &files(urls)).map(|one| one.code)
        };
        assert_eq!(code("text", &[]), None);
        assert_eq!(code("text", &["a.png"]), Some("post_type_mismatch"));
        assert_eq!(code("video", &["a.PNG"]), Some("post_type_mismatch"));
        assert_eq!(code("image", &["a.png"]), None);
        assert_eq!(code("carousel", &["a.png"]), Some("post_type_mismatch"));
        assert_eq!(code("carousel", &["a.png", "b.png"]), None);
        assert_eq!(code("story", &[]), Some("post_type_unsupported"));
    }
}
