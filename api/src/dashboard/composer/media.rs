//! The files of the post: stored ones to choose from, and a page to upload others.

use fanfare_domain::{
    Error, Result,
    access::Role,
    media::{self, MediaQuery},
};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::json;

use super::{StepOutcome, draft::Draft};
use crate::{
    dashboard::{operation, page_member::PageMember, parts::one_line},
    oauth_connect::{PageResponse, Visit},
};

/// Stored files, newest first.
#[derive(Deserialize)]
struct Files {
    media: Vec<File>,
}

#[derive(Deserialize)]
struct File {
    url: String,
    filename: String,
    mime: Option<String>,
    ai_generated: bool,
}

#[derive(Deserialize)]
struct DropSession {
    drop_url: String,
}

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

/// Renders the list of files to choose from, including older ones that are chosen.
///
/// # Errors
/// The database's.
pub async fn chooser(seat: &PageMember, draft: &Draft) -> Result<Markup> {
    let query = MediaQuery { limit: Some(12), ..MediaQuery::default() };
    let reply = media::list(&seat.act, query).await?;
    let files: Files = serde_json::from_str(reply.body()).map_err(Error::internal)?;
    let older = draft.media.iter().filter(|url| !files.media.iter().any(|file| file.url == **url));
    Ok(html! {
        @if files.media.is_empty() && draft.media.is_empty() { p.soft { "No file is stored yet." } }
        ul.media {
            @for (nth, file) in files.media.iter().enumerate() {
                @let id = format!("file-{nth}");
                li {
                    label.pick for=(id) {
                        (thumbnail(file))
                        span { (one_line(&file.filename, 30)) @if file.ai_generated { " " span.badge.plain { "AI" } } }
                    }
                    input id=(id) type="checkbox" name="media" value=(file.url) checked[draft.media.contains(&file.url)];
                }
            }
            @for (nth, url) in older.enumerate() {
                @let id = format!("older-{nth}");
                li {
                    label.pick for=(id) { span { (one_line(url, 60)) } }
                    input id=(id) type="checkbox" name="media" value=(url) checked;
                }
            }
        }
    })
}

fn thumbnail(file: &File) -> Markup {
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
