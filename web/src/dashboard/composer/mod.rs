//! `/dashboard/posts/new`: the composer. One form holds everything, so that it works without scripts; a script keeps
//! the check and the jobs up to date while the user writes.

mod ai;
mod check;
mod draft;
mod files;
mod media;
mod settings;
mod view;

use fanfare_core::{Error, Result, access::Role};
use serde::Deserialize;
use serde_json::json;

use super::{operation, page_member::PageMember};
use crate::oauth_connect::{PageResponse, Visit};
use check::Problem;
use draft::Draft;

const TITLE: &str = "New post";
const PAGE: &str = "/dashboard/posts/new";

/// The largest form of the composer, in bytes: enough for the longest text that a network accepts.
pub const LARGEST: usize = 1 << 20;

/// The result of a step of the composer.
#[derive(Default)]
struct StepOutcome {
    /// The errors of the step.
    problems: Vec<Problem>,
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
        Ok(None) if outcome.problems.is_empty() => {
            outcome.problems = check::all(&seat, &draft).await?;
        }
        Ok(None) => {}
        Err(error) if (400..500).contains(&error.status()) || error.status() == 502 => {
            outcome.problems.extend(Problem::of("", &error));
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
        Some("settings") => settings::fields(&seat, &draft).await?,
        Some("media") => media::chooser(&seat, &draft).await?,
        Some("upload") => {
            let mut outcome = StepOutcome::default();
            media::open_page(&visit, &seat, &mut outcome).await?;
            let page = outcome.upload.unwrap_or_default();
            maud::html! { (page) }
        }
        _ => {
            let problems = check::all(&seat, &draft).await?;
            check::shown(&seat, &draft, &problems).await?
        }
    }))
}

/// Renders the list of video jobs, for live updates.
pub async fn jobs(visit: Visit) -> Result<PageResponse> {
    let seat = PageMember::of(&visit).await?;
    Ok(PageResponse::Fragment(ai::jobs(&seat, &[]).await?))
}

/// Creates a post for each account, if all of them are valid.
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
    let problems = check::all(seat, draft).await?;
    if !problems.is_empty() {
        outcome.error = Some(check::refusal(&problems));
        outcome.problems = problems;
        return Ok(None);
    }
    let accounts = draft.chosen(seat).await?;
    let mut made = Vec::new();
    for account in &accounts {
        let mut body = draft.body(seat, account).await?;
        body["idempotency_key"] = json!(format!("composer-{}-{}", draft.once, account.id));
        if accounts.len() > 1 {
            body["group"] = json!(format!("composer-{}", draft.once));
        }
        match operation::read::<Created>(visit, "create_post", body).await {
            Ok(created) => made.push((account.id.0, created.post.id)),
            Err(error) if error.status() < 500 => {
                let problems = Problem::on(account, &error);
                let has_fields = !error.violations().is_empty();
                outcome.error = Some(if has_fields { check::refusal(&problems) } else { error });
                outcome.problems.extend(problems);
            }
            Err(error) => return Err(error),
        }
    }
    if outcome.error.is_some() {
        // Posts that were created are not created again when the form is sent once more.
        draft.accounts.retain(|id| !made.iter().any(|(done, _)| done == id));
        draft.renew();
        outcome.done = (!made.is_empty()).then(|| {
            let count = made.len();
            format!(
                "{count} of {} posts were created; their accounts are no longer chosen below.",
                accounts.len()
            )
        });
        return Ok(None);
    }
    Ok(Some(PageResponse::Redirect(match made.as_slice() {
        [(_, id)] => format!("/dashboard/posts/{id}"),
        _ => "/dashboard/posts".to_owned(),
    })))
}
