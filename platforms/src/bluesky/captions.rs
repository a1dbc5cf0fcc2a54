//! Checks the captions of a video.

use super::settings::{CAPTION_BYTES_MAX, CaptionFile, Settings};
use crate::{Draft, Media, Violation, text};

/// The media type of captions.
const VTT: &str = "text/vtt";

/// Returns what is wrong with the captions. The files are judged only if they were looked up.
pub fn violations(draft: &Draft, settings: &Settings) -> Vec<Violation> {
    let captions = &settings.captions;
    let mut found = Vec::new();
    let may_have_video = draft.media.iter().any(|one| one.is_video() || one.mime.is_empty());
    if !captions.is_empty() && !may_have_video {
        let message = "There are captions, but no video.";
        let remedy = "Add the video, or leave out captions.";
        found.push(Violation::new("settings.captions", "setting_invalid", message, remedy));
    }
    for (index, one) in captions.iter().enumerate() {
        let field = |name| format!("settings.captions[{index}].{name}");
        found.extend(text::language_violation(field("lang"), &one.lang));
        if captions.iter().take(index).any(|other| is_same_language(one, other)) {
            let message = format!("There are several captions in {}.", one.lang);
            let remedy = "Give one file for each language.";
            found.push(Violation::new(field("lang"), "setting_invalid", message, remedy));
        }
        let file = draft.caption_files.get(index);
        found.extend(file.and_then(|file| file_violation(field("url"), file)));
    }
    found
}

fn is_same_language(one: &CaptionFile, other: &CaptionFile) -> bool {
    one.lang.eq_ignore_ascii_case(&other.lang)
}

fn file_violation(field: String, file: &Media) -> Option<Violation> {
    if file.mime.is_empty() {
        let message = "This is not the address of a stored file of this workspace.";
        let remedy = "Upload the WebVTT file first and send its url.";
        return Some(Violation::new(field, "setting_invalid", message, remedy));
    }
    if file.mime != VTT {
        let message = format!("The file is {}; captions are WebVTT files.", file.mime);
        let remedy = "Send a file whose first line is WEBVTT.";
        return Some(
            Violation::new(field, "setting_invalid", message, remedy).with_limit(VTT, &file.mime),
        );
    }
    let bytes = file.bytes.filter(|bytes| *bytes > CAPTION_BYTES_MAX)?;
    let message = format!("The captions have {bytes} bytes; bluesky allows {CAPTION_BYTES_MAX}.");
    let remedy = "Shorten the captions, or leave out notes and styles.";
    let broken = Violation::new(field, "setting_invalid", message, remedy);
    Some(broken.with_limit(CAPTION_BYTES_MAX, bytes).in_unit("bytes"))
}
