//! `/dashboard/posts/new`: the composer. One form holds everything, so that it works without scripts; a script keeps
//! the check and the jobs up to date while the user writes.

mod ai;
mod check;
mod draft;
mod files;
mod media;
mod problem;
mod settings;
mod view;

use fanfare_core::{Error, Result, access::Role};
use fanfare_entities::account;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{operation, page_member::PageMember, sets};
use crate::oauth_connect::{PageResponse, Visit};
use check::Checked;
use draft::Draft;
use problem::Problem;

const TITLE: &str = "New post";
const PAGE: &str = "/dashboard/posts/new";

/// The largest form of the composer, in bytes: enough for the longest text that a network accepts.
pub const LARGEST: usize = 1 << 20;

/// The result of a step of the composer.
#[derive(Default)]
struct StepOutcome {
    /// The faults of the post, and the things that are worth a look.
    checked: Checked,
    /// A message that the step was done.
    done: Option<String>,
    /// Captions that a model wrote.
    captions: Vec<ai::Caption>,
    /// The page on which files are uploaded.
    upload: Option<String>,
    /// The first error, for the status of the page.
    error: Option<Error>,
}

/// A created post.
#[derive(Deserialize)]
struct Created {
    post: CreatedPost,
}

/// A created set.
#[derive(Deserialize)]
struct CreatedSet {
    post_set: SetHead,
    warnings: Vec<Value>,
}

#[derive(Deserialize)]
struct SetHead {
    id: Uuid,
}

#[derive(Deserialize)]
struct CreatedPost {
    id: i64,
}

/// Shows an empty composer, or one that a link fills in.
pub async fn show(visit: Visit) -> Result<PageResponse> {
    let seat = PageMember::of(&visit).await?;
    let draft = Draft::from_link(&visit);
    let main = view::page(&visit, &seat, &draft, &StepOutcome::default()).await?;
    Ok(PageResponse::Wide(TITLE, main))
}

/// Runs the step of the button that was pressed.
pub async fn act(visit: Visit) -> Result<PageResponse> {
    let seat = PageMember::of(&visit).await?;
    let mut draft = Draft::from_form(&visit);
    let step = visit.form("do").unwrap_or("check").to_owned();
    let mut outcome = StepOutcome::default();
    let done = if let Some(text) = visit.form("use") {
        draft.caption = text.to_owned();
        Ok(None)
    } else if let Some(job) = visit.form("cancel") {
        ai::cancel(&visit, job, &mut outcome).await
    } else {
        match step.as_str() {
            "captions" => ai::captions(&visit, &seat, &draft, &mut outcome).await,
            "image" => ai::image(&visit, &seat, &mut draft, &mut outcome).await,
            "video" => ai::video(&visit, &seat, &draft, &mut outcome).await,
            "upload" => media::open_page(&visit, &seat, &mut outcome).await,
            "draft" | "schedule" | "publish" => {
                create(&visit, &seat, &mut draft, &step, &mut outcome).await
            }
            _ => Ok(None),
        }
    };
    match done {
        Ok(Some(answer)) => return Ok(answer),
        Ok(None) if outcome.checked.problems.is_empty() => {
            outcome.checked = check::all(&seat, &draft).await?;
        }
        Ok(None) => {}
        Err(error) if (400..500).contains(&error.status()) || error.status() == 502 => {
            outcome.checked.problems.extend(Problem::of(&error));
            outcome.error = Some(error);
        }
        Err(error) => return Err(error),
    }
    let main = view::page(&visit, &seat, &draft, &outcome).await?;
    Ok(match outcome.error {
        Some(error) => PageResponse::WideInvalid(TITLE, main, error),
        None => PageResponse::Wide(TITLE, main),
    })
}

/// Renders the parts of the page that depend on the form's content.
pub async fn part(visit: Visit) -> Result<PageResponse> {
    let seat = PageMember::of(&visit).await?;
    let draft = Draft::from_form(&visit);
    Ok(PageResponse::Fragment(match visit.form("part") {
        Some("settings") => settings::fields(&seat, &draft, &[]).await?,
        Some("media") => media::chooser(&seat, &draft).await?,
        Some("upload") => {
            let mut outcome = StepOutcome::default();
            media::open_page(&visit, &seat, &mut outcome).await?;
            let page = outcome.upload.unwrap_or_default();
            maud::html! { (page) }
        }
        _ => {
            let checked = check::all(&seat, &draft).await?;
            check::shown(&seat, &draft, &checked).await?
        }
    }))
}

/// Renders the list of video jobs, for live updates.
pub async fn jobs(visit: Visit) -> Result<PageResponse> {
    let seat = PageMember::of(&visit).await?;
    Ok(PageResponse::Fragment(ai::jobs(&seat, &[]).await?))
}

/// Creates a post on the chosen account; on several accounts a set, on all of them or on none.
async fn create(
    visit: &Visit,
    seat: &PageMember,
    draft: &mut Draft,
    step: &str,
    outcome: &mut StepOutcome,
) -> Result<Option<PageResponse>> {
    let needed = if step == "draft" { Role::Editor } else { Role::Publisher };
    seat.act.membership.require(needed)?;
    draft.step = step.to_owned();
    let checked = check::all(seat, draft).await?;
    if !checked.problems.is_empty() {
        outcome.error = Some(problem::refusal(&checked.problems));
        outcome.checked = checked;
        return Ok(None);
    }
    let accounts = draft.chosen(seat).await?;
    let made = match accounts.as_slice() {
        [one] => create_post(visit, seat, draft, one).await,
        several => create_set(visit, seat, draft, several).await,
    };
    match made {
        Ok(place) => Ok(Some(PageResponse::Redirect(place))),
        Err(error) if error.status() < 500 => {
            let problems = match accounts.as_slice() {
                [one] => Problem::on(one, draft, &error),
                several => Problem::of_set(several, draft, &error),
            };
            let has_fields = !error.violations().is_empty();
            outcome.error = Some(if has_fields { problem::refusal(&problems) } else { error });
            outcome.checked.problems = problems;
            draft.renew();
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Creates a post and returns the address of its page.
async fn create_post(
    visit: &Visit,
    seat: &PageMember,
    draft: &Draft,
    account: &account::Model,
) -> Result<String> {
    let mut body = draft.body(seat, account).await?;
    body["idempotency_key"] = json!(format!("composer-{}-{}", draft.once, account.id));
    let created: Created = operation::read(visit, "create_post", body).await?;
    Ok(format!("/dashboard/posts/{}", created.post.id))
}

/// Creates a set and returns the address of its page, which names the posts that it repeats.
async fn create_set(
    visit: &Visit,
    seat: &PageMember,
    draft: &Draft,
    accounts: &[account::Model],
) -> Result<String> {
    let mut body = draft.set_body(seat, accounts).await?;
    body["mode"] = json!("all_or_nothing");
    body["idempotency_key"] = json!(format!("composer-{}", draft.once));
    let created: CreatedSet = operation::read(visit, "create_post_set", body).await?;
    let page = format!("{}/{}", sets::PAGE, created.post_set.id);
    let alike = sets::alike::ids(&created.warnings);
    Ok(if alike.is_empty() { page } else { format!("{page}?alike={alike}") })
}
