//! `/dashboard/brands/{id}`: the voice of a brand, and creating a brand.

use fanfare_core::{BrandId, Code, Error, Result, access::Role};
use fanfare_publishing::brands::voice::{self, Voice};
use maud::{Markup, html};
use uuid::Uuid;

use super::{page_member::PageMember, parts};
use crate::oauth_connect::{PageResponse, Visit};

const TITLE: &str = "Brand";
const TEAM: &str = "/dashboard/team";

/// Labels of the parts in words, in the order of [`Voice::TEXTS`].
const TEXTS: [&str; 4] =
    ["How the brand speaks", "Tone of its texts", "Whom it speaks to", "What it stands for"];

/// Labels of the lists, in the order of [`Voice::LISTS`].
const LISTS: [&str; 11] = [
    "Facts that texts may claim",
    "Never say",
    "Values",
    "Keywords",
    "Competitors",
    "Do and do not",
    "How pictures look",
    "Instructions for writers",
    "Topics to cover",
    "Topics to avoid",
    "Examples of the voice",
];

/// Shows the voice of a brand.
pub async fn show(visit: Visit) -> Result<PageResponse> {
    let seat = PageMember::of(&visit).await?;
    let (name, kept) = voice::of(&seat.act, id(&visit)?).await?;
    Ok(PageResponse::Wide(TITLE, page(&visit, &seat, (&name, kept), None)))
}

/// Saves the voice of a brand.
pub async fn save(visit: Visit) -> Result<PageResponse> {
    let seat = PageMember::of(&visit).await?;
    let id = id(&visit)?;
    let (name, _) = voice::of(&seat.act, id).await?;
    let typed = typed(&visit);
    match voice::set(&seat.act, id, typed.clone()).await {
        Ok(()) => Ok(PageResponse::Redirect(format!("/dashboard/brands/{id}?done=saved"))),
        Err(error) if parts::is_shown_beside(&error) => {
            let main = page(&visit, &seat, (&name, typed), Some(&error));
            Ok(PageResponse::WideInvalid(TITLE, main, error))
        }
        Err(error) => Err(error),
    }
}

/// Creates a brand and redirects to its voice.
pub async fn create(visit: Visit) -> Result<PageResponse> {
    let seat = PageMember::of(&visit).await?;
    let name = visit.form("name").unwrap_or_default();
    match voice::create(&seat.act, name).await {
        Ok(id) => Ok(PageResponse::Redirect(format!("/dashboard/brands/{id}?done=made"))),
        Err(error) if parts::is_shown_beside(&error) => {
            let main = html! {
                (seat.head(&visit, TITLE, &html! {}))
                (parts::form_error(Some(&error)))
                (new(&visit))
                p { a href=(TEAM) { "Back to the team" } }
            };
            Ok(PageResponse::WideInvalid(TITLE, main, error))
        }
        Err(error) => Err(error),
    }
}

/// Renders the form that creates a brand.
pub fn new(visit: &Visit) -> Markup {
    html! {
        form.narrow method="post" action="/dashboard/brands" {
            (parts::csrf_field(visit))
            div.field {
                label for="brand-name" { "Name of a new brand" }
                input #brand-name name="name" required maxlength="200" autocomplete="off" value=[visit.form("name")];
            }
            button type="submit" { "Add the brand" }
        }
    }
}

fn id(visit: &Visit) -> Result<BrandId> {
    let absent = || Error::new(Code::BrandNotFound, "There is no such brand.");
    Uuid::parse_str(visit.path("id")).map(BrandId).map_err(|_| absent())
}

fn typed(visit: &Visit) -> Voice {
    let mut typed = Voice::default();
    let sent = |name: &str| visit.form(name).map(|text| text.replace("\r\n", "\n"));
    for (name, part) in Voice::TEXTS.into_iter().zip(typed.texts()) {
        *part = sent(name);
    }
    for (name, list) in Voice::LISTS.into_iter().zip(typed.lists()) {
        *list = sent(name).unwrap_or_default().lines().map(str::to_owned).collect();
    }
    typed.normalized()
}

fn page(
    visit: &Visit,
    seat: &PageMember,
    (name, kept): (&str, Voice),
    wrong: Option<&Error>,
) -> Markup {
    let done = visit.query("done").map(|done| match done {
        "made" => "The brand is made. Write down how it sounds.",
        _ => "The voice is saved.",
    });
    let is_admin = seat.may(Role::Admin);
    html! {
        (seat.head(visit, TITLE, &html! {}))
        (parts::success_note(done))
        (parts::form_error(wrong))
        h2 { (parts::one_line(name, 200)) }
        p.soft {
            "Texts that models write for the brand sound like this, claim only what is known, and never say what it never says."
            @if !is_admin { " Changes need the role admin." }
        }
        form method="post" action=(visit_path(visit)) {
            (parts::csrf_field(visit))
            (fields(kept, is_admin))
            @if is_admin { button type="submit" { "Save the voice" } }
        }
        p { a href=(TEAM) { "Back to the team" } }
    }
}

fn visit_path(visit: &Visit) -> String {
    format!("/dashboard/brands/{}", visit.path("id"))
}

fn fields(mut kept: Voice, is_admin: bool) -> Markup {
    let texts = kept.texts().map(|part| part.take().unwrap_or_default());
    let lists = kept.lists().map(|list| list.join("\n"));
    html! {
        @for ((name, label), text) in Voice::TEXTS.into_iter().zip(TEXTS).zip(texts) {
            div.field {
                label for=(name) { (label) }
                textarea id=(name) name=(name) rows="2" maxlength=(voice::MAX_TEXT) readonly[!is_admin] { "\n" (text) }
            }
        }
        @for ((name, label), entries) in Voice::LISTS.into_iter().zip(LISTS).zip(lists) {
            div.field {
                label for=(name) { (label) }
                textarea id=(name) name=(name) rows="3" readonly[!is_admin] aria-describedby={ (name) "-hint" } { "\n" (entries) }
                p.soft.hint id={ (name) "-hint" } { "One a line, up to " (voice::MAX_ENTRIES) "." }
            }
        }
    }
}
