//! The files of the post: stored ones to choose from, and a page to upload others.

use fanfare_core::{Result, access::Role};
use fanfare_publishing::media::{self, Media, MediaQuery, guest_uploads::DropSession};
use maud::{Markup, html};
use serde_json::json;

use super::{StepOutcome, draft::Draft, files::File, settings};
use crate::{
    dashboard::{operation, page_member::PageMember, parts::one_line},
    oauth_connect::{PageResponse, Visit},
};

/// Creates a page on which files are uploaded.
///
/// # Errors
/// The operation's.
pub async fn open_page(
    visit: &Visit,
    seat: &PageMember,
    outcome: &mut StepOutcome,
) -> Result<Option<PageResponse>> {
    let asked = json!({ "workspace_id": seat.act.membership.workspace_id });
    let session: DropSession = operation::read(visit, "create_media_drop", asked).await?;
    outcome.upload = Some(session.drop_url);
    Ok(None)
}

/// Renders the files of the post in their order, and the stored ones that can be added.
///
/// # Errors
/// The database's.
pub async fn chooser(seat: &PageMember, draft: &Draft) -> Result<Markup> {
    let query = MediaQuery { limit: Some(24), ..MediaQuery::default() };
    let files = media::list(&seat.act, query).await?.view()?.into_list();
    let silent = settings::without_alt_texts(seat, draft).await?;
    let is_chosen = |file: &Media| draft.media.iter().any(|one| one.url == file.url);
    let others: Vec<_> = files.media.iter().filter(|file| !is_chosen(file)).take(12).collect();
    Ok(html! {
        @if !draft.media.is_empty() {
            ol.files {
                @for (place, file) in draft.media.iter().enumerate() {
                    (chosen(file, (place, draft.media.len()), files.media.iter().find(|one| one.url == file.url)))
                }
            }
            @if !silent.is_empty() { p.soft { "Alt texts are not shown on " (silent.join(", ")) "." } }
        }
        @if files.media.is_empty() && draft.media.is_empty() { p.soft { "No file is stored yet." } }
        @if !others.is_empty() {
            details open[draft.media.is_empty()] {
                summary { "Stored files, newest first" }
                ul.media { @for file in others { (stored(file)) } }
            }
        }
    })
}

/// Renders a file of the post, with its place and its alt text.
fn chosen(file: &File, (place, count): (usize, usize), stored: Option<&Media>) -> Markup {
    let id = format!("alt-{place}");
    let name =
        stored.map_or_else(|| file.url.rsplit('/').next().unwrap_or_default(), |one| &one.filename);
    let name = one_line(name, 40);
    html! {
        li {
            input type="hidden" name="media" value=(file.url);
            div.shot { @match stored { Some(stored) => (thumbnail(stored)), None => span.file { (name) } } }
            div.field {
                label for=(id) { "Alt text of file " (place + 1) ", " (name) }
                input id=(id) name="alt" value=(file.alt) maxlength="2000" autocomplete="off";
            }
            div.row {
                @if place > 0 { button.quiet type="submit" name="up" value=(place) aria-label={ "Move file " (place + 1) " up" } { "Up" } }
                @if place + 1 < count { button.quiet type="submit" name="down" value=(place) aria-label={ "Move file " (place + 1) " down" } { "Down" } }
                button.quiet type="submit" name="remove" value=(place) aria-label={ "Remove file " (place + 1) } { "Remove" }
            }
        }
    }
}

fn stored(file: &Media) -> Markup {
    let name = one_line(&file.filename, 30);
    html! {
        li {
            (thumbnail(file))
            span { (name) @if file.ai_generated { " " span.badge.plain { "AI" } } }
            button.quiet type="submit" name="add" value=(file.url) data-asset=(file.asset_id) aria-label={ "Add " (name) } { "Add" }
        }
    }
}

fn thumbnail(file: &Media) -> Markup {
    let mime = file.mime.as_deref().unwrap_or_default();
    html! {
        @if mime.starts_with("image/") { img src=(file.url) alt="" loading="lazy"; }
        @else if mime.starts_with("video/") { video src=(file.url) preload="metadata" muted {} }
        @else { span.file { "File" } }
    }
}

/// Renders the part of the form for files.
///
/// # Errors
/// The database's.
pub async fn section(seat: &PageMember, draft: &Draft, upload: Option<&str>) -> Result<Markup> {
    Ok(html! {
        fieldset {
            legend { "Files" }
            div #media { (chooser(seat, draft).await?) }
            @if let Some(page) = upload {
                div.flash.plain role="status" {
                    p { a href=(page) target="_blank" rel="noopener" { "Open the upload page" } " (in a new tab). Come back when your files are there, and press “Show new files”." }
                }
            }
            @if seat.may(Role::Editor) {
                div.row {
                    label.button.scripted for="files" { "Upload files" }
                    input.hidden-input #files type="file" multiple accept="image/*,video/*" data-part="upload";
                    button.unscripted type="submit" name="do" value="upload" { "Upload files" }
                    button type="submit" name="do" value="check" { "Show new files" }
                }
                p.soft #upload-state role="status" {}
            }
            div.field {
                label for="media_url" { "Or the address of a file" }
                input #media_url type="url" name="media_url" maxlength="2048" placeholder="https://" autocomplete="off";
            }
        }
    })
}
