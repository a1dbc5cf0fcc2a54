//! Renders the guest upload page.

use fanfare_core::{Error, clock::to_rfc3339};
use fanfare_publishing::media::guest_uploads::GuestUpload;
use maud::{DOCTYPE, Markup, html};

use super::form::{FIELD, UploadOutcome};
use crate::assets;

/// The types that the file chooser offers. With these, phones send JPEG copies of HEIC photos.
const ACCEPT: &str =
    "image/jpeg,image/png,image/gif,image/webp,video/mp4,video/quicktime,video/webm";

/// Renders a page that accepts files.
pub fn open(
    session: &GuestUpload,
    (action, csrf): (&str, &str),
    outcomes: &[UploadOutcome],
) -> Markup {
    let (left, sizes) = (session.files_left(), session.sizes());
    frame(
        "Send files",
        html! {
            h1 { "Send files" }
            @if let Some(hint) = session.hint() {
                p.hint { "Wanted: " strong { (hint) } }
            }
            (results(outcomes))
            p {
                @let more = if session.names.is_empty() { "" } else { " more" };
                @if left == 1 { "One" (more) " file" } @else { "Up to " (left) (more) " files" }
                ": pictures (JPEG, PNG, GIF, WebP) of up to " (size(sizes.image))
                ", videos (MP4, MOV, WebM) of up to " (size(sizes.video)) "."
            }
            p.soft.small { "No HEIC and no PDF. This page is open until " (deadline(session)) "." }
            form #drop method="post" action=(action) enctype="multipart/form-data"
                data-left=(left) data-image=(sizes.image) data-video=(sizes.video) {
                // Before the files: they are stored as they arrive.
                input type="hidden" name="csrf" value=(csrf);
                div.zone {
                    p.scripted-only.mouse { "Drag files here, or paste them." }
                    div.choose {
                        input #files type="file" name=(FIELD) multiple[left > 1] accept=(ACCEPT);
                        label.button.strong.scripted-only for="files" {
                            @if left == 1 { "Choose a file" } @else { "Choose files" }
                        }
                        input #camera.scripted-only type="file" accept="image/*,video/*" capture="environment" tabindex="-1";
                        label.button.camera for="camera" { "Use the camera" }
                    }
                    button.strong.plain type="submit" { "Send" }
                }
            }
            ul #list.files aria-label="Files" {}
            p #status role="status" tabindex="-1" {}
            (uploaded_earlier(&session.names))
        },
    )
}

/// Renders a page that has just received its last file.
pub fn full(session: &GuestUpload, outcomes: &[UploadOutcome]) -> Markup {
    frame(
        "All files are in",
        html! {
            h1 { "All files are in" }
            (results(outcomes))
            p {
                "This page took " (session.max_files())
                @if session.max_files() == 1 { " file" } @else { " files" }
                " and is closed. You can leave it."
            }
        },
    )
}

/// Renders a page that accepts no files.
pub fn closed(title: &str, error: &Error) -> Markup {
    frame(
        title,
        html! {
            h1 { (title) }
            p.flash.bad role="alert" { (error.message()) }
            p { "If you still have files to send, ask the person who sent you this link for a new one." }
        },
    )
}

fn frame(title: &str, main: Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · Fanfare" }
                link rel="stylesheet" href=(assets::BASE.path());
                link rel="stylesheet" href=(assets::DROP_STYLE.path());
                link rel="icon" type="image/svg+xml" href=(assets::ICON.path());
                script src=(assets::DROP_SCRIPT.path()) defer {}
            }
            body {
                header { span.brand { "Fanfare" } }
                main { (main) }
            }
        }
    }
}

/// Renders the results of a form's files.
fn results(outcomes: &[UploadOutcome]) -> Markup {
    html! {
        @for outcome in outcomes {
            @match &outcome.error {
                None => p.flash.good role="status" { (outcome.name) " was sent." },
                Some(error) => p.flash.bad role="alert" {
                    strong { (outcome.name) } " was not taken. " (error.message())
                    @for broken in error.violations() { " " (broken.remedy) }
                },
            }
        }
    }
}

/// Renders the files that were uploaded before the page was loaded.
fn uploaded_earlier(names: &[String]) -> Markup {
    html! {
        @if !names.is_empty() {
            h2 { "Sent before" }
            ul.files.short {
                @for name in names { li { span.name { (name) } } }
            }
        }
    }
}

fn deadline(session: &GuestUpload) -> Markup {
    let full = to_rfc3339(session.expires_at());
    let short = full.get(..16).unwrap_or(&full).replace('T', " ");
    html! { time datetime=(full) { (short) " UTC" } }
}

/// Returns a limit, which is a round number, in MB or GB.
fn size(bytes: u64) -> String {
    match bytes / 1_000_000 {
        mb if mb >= 1_000 => format!("{} GB", mb / 1_000),
        mb => format!("{mb} MB"),
    }
}
