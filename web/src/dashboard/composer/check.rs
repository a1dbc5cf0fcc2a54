//! The check of a post: missing parts, the length of its text, and a preview.

use fanfare_core::{
    Error, Result,
    access::Role,
    input::strict,
    limits::{self, Bucket},
};
use fanfare_entities::account;
use fanfare_publishing::{
    platforms::label,
    posts::{
        self, CaptionLength, CreateOutcome, NewPost, caption_length,
        sets::{self, NewPostSet, SetOutcome},
    },
};
use maud::{Markup, html};
use serde::Deserialize;

use super::{draft::Draft, files::File, problem::Problem};
use crate::dashboard::{marks::account_name, page_member::PageMember, parts::one_line};

/// The most characters of a text in a preview.
const SHOWN: usize = 3_000;

/// The result of a check.
#[derive(Default)]
pub struct Checked {
    /// The faults.
    pub problems: Vec<Problem>,
    /// The things that are right and worth a look all the same.
    pub warnings: Vec<Notice>,
}

/// A warning about the post.
pub struct Notice {
    /// The names of the accounts that it is about; empty if it is about all.
    account: String,
    message: String,
}

/// The warnings in the reply to a check of a post, or of a set with targets.
#[derive(Deserialize)]
struct Warned {
    #[serde(default)]
    warnings: Vec<Warning>,
    #[serde(default)]
    targets: Vec<WarnedTarget>,
}

#[derive(Deserialize)]
struct WarnedTarget {
    index: usize,
    warnings: Vec<Warning>,
}

#[derive(Deserialize)]
struct Warning {
    message: String,
    #[serde(default)]
    targets: Option<Vec<usize>>,
}

/// Checks the post on each account as the API does with `dry_run`.
///
/// # Errors
/// [`fanfare_core::Code::RateLimited`] after too many checks in a minute; the database's.
pub async fn all(seat: &PageMember, draft: &Draft) -> Result<Checked> {
    if !seat.may(Role::Editor) {
        return Ok(Checked::default());
    }
    let person = seat.act.caller.user_id.to_string();
    limits::admit_anonymous(&seat.act.cx, &[(Bucket::ComposerChecks, &person)]).await?;
    let accounts = draft.chosen(seat).await?;
    let mut problems = not_filled(draft, accounts.is_empty());
    let checked = match accounts.as_slice() {
        [] => Checked::default(),
        [one] => of_one(seat, draft, one).await?,
        several => of_set(seat, draft, several).await?,
    };
    problems.extend(checked.problems);
    Ok(Checked { problems, ..checked })
}

/// Returns the problems that the form itself has.
fn not_filled(draft: &Draft, is_nowhere: bool) -> Vec<Problem> {
    let about = |(field, input): (&str, &str), message: &str, remedy: &str| Problem {
        account: String::new(),
        accounts: Vec::new(),
        field: field.to_owned(),
        input: input.to_owned(),
        message: message.to_owned(),
        remedy: remedy.to_owned(),
    };
    let mut problems = Vec::new();
    if is_nowhere {
        let field = ("accounts", "account_id");
        problems.push(about(field, "No account is chosen.", "Choose at least one."));
    }
    if draft.step == "schedule" && draft.at.is_none() {
        let field = ("time", "scheduled_at");
        problems.push(about(field, "There is no time yet.", "Choose one, or publish it now."));
    }
    problems
}

async fn of_one(seat: &PageMember, draft: &Draft, account: &account::Model) -> Result<Checked> {
    let mut body = draft.body(seat, account).await?;
    body["dry_run"] = true.into();
    let checked = match strict::read_partial::<NewPost>(body) {
        Ok((new, flaws)) => posts::create(&seat.act, new, flaws).await,
        Err(error) => Err(error),
    };
    match checked {
        Ok(CreateOutcome::Checked(reply)) => {
            let warnings = notices(reply.body(), std::slice::from_ref(account))?;
            Ok(Checked { problems: Vec::new(), warnings })
        }
        Ok(CreateOutcome::Created(_)) => Ok(Checked::default()),
        Err(error) => refused(error, |error| Problem::on(account, draft, error)),
    }
}

async fn of_set(seat: &PageMember, draft: &Draft, accounts: &[account::Model]) -> Result<Checked> {
    let mut body = draft.set_body(seat, accounts).await?;
    body["dry_run"] = true.into();
    let checked = match strict::read_partial::<NewPostSet>(body) {
        Ok((new, flaws)) => sets::create(&seat.act, new, flaws).await,
        Err(error) => Err(error),
    };
    match checked {
        Ok(SetOutcome::Checked(reply)) => {
            Ok(Checked { problems: Vec::new(), warnings: notices(reply.body(), accounts)? })
        }
        Ok(SetOutcome::Created(_)) => Ok(Checked::default()),
        Err(error) => refused(error, |error| Problem::of_set(accounts, draft, error)),
    }
}

fn refused(error: Error, problems: impl Fn(&Error) -> Vec<Problem>) -> Result<Checked> {
    match error.status() {
        500.. => Err(error),
        _ => Ok(Checked { problems: problems(&error), warnings: Vec::new() }),
    }
}

/// Returns the warnings of a reply about a post on each of these accounts.
fn notices(reply: &str, accounts: &[account::Model]) -> Result<Vec<Notice>> {
    let warned: Warned = serde_json::from_str(reply).map_err(Error::internal)?;
    let names = |places: &[usize]| {
        let known = places.iter().filter_map(|place| accounts.get(*place));
        known.map(|one| account_name(&one.username)).collect::<Vec<_>>().join(", ")
    };
    let whole =
        warned.warnings.into_iter().map(|one| (one.targets.unwrap_or_default(), one.message));
    let of_targets = warned.targets.into_iter().flat_map(|target| {
        target.warnings.into_iter().map(move |one| (vec![target.index], one.message))
    });
    let all = whole.chain(of_targets);
    Ok(all.map(|(places, message)| Notice { account: names(&places), message }).collect())
}

/// Renders the counters, the problems and a preview for each account.
///
/// # Errors
/// The database's.
pub async fn shown(seat: &PageMember, draft: &Draft, checked: &Checked) -> Result<Markup> {
    let mut accounts = Vec::new();
    for account in draft.chosen(seat).await? {
        let length = caption_length(&account, &draft.text_on(&account), draft.media.len()).await?;
        accounts.push((account, length));
    }
    Ok(html! {
        (missing(&checked.problems))
        (worth_a_look(&checked.warnings))
        @if !accounts.is_empty() {
            h2 { "Preview" }
            div.previews { @for (account, length) in &accounts { (preview(draft, account, *length)) } }
        }
    })
}

fn missing(problems: &[Problem]) -> Markup {
    html! {
        @if problems.is_empty() { p.flash.good role="status" { "Nothing is missing." } }
        @else {
            div.flash.warn role="status" {
                p { strong { "What is missing" } }
                ul {
                    @for one in problems.iter().take(30) {
                        li {
                            @if !one.account.is_empty() { strong { (one_line(&one.account, 200)) ": " } }
                            (one_line(&one.message, 300)) " " (one_line(&one.remedy, 300))
                            @if !one.field.is_empty() { " " span.soft { "(" (one_line(&one.field, 60)) ")" } }
                        }
                    }
                }
            }
        }
    }
}

fn worth_a_look(warnings: &[Notice]) -> Markup {
    html! {
        @if !warnings.is_empty() {
            div.flash.plain role="status" {
                p { strong { "Worth a look" } }
                ul {
                    @for one in warnings.iter().take(30) {
                        li {
                            @if !one.account.is_empty() { strong { (one_line(&one.account, 200)) ": " } }
                            (one_line(&one.message, 300))
                        }
                    }
                }
            }
        }
    }
}

fn preview(draft: &Draft, account: &account::Model, length: CaptionLength) -> Markup {
    let whole = draft.text_on(account);
    let text: String = whole.chars().take(SHOWN).collect();
    let is_cut = text.len() < whole.len();
    let name = account.display_name.as_deref().unwrap_or(&account.username);
    let initial: String = name.chars().find(|one| one.is_alphanumeric()).into_iter().collect();
    html! {
        article.preview data-platform=(account.platform) {
            header {
                span.face aria-hidden="true" { (initial.to_uppercase()) }
                span { strong { (account_name(name)) } span.soft { (account_name(&account.username)) " · " (label(&account.platform)) } }
            }
            @if text.is_empty() { p.soft { "No text yet." } } @else { p.words { (text) @if is_cut { "…" } } }
            @if !draft.media.is_empty() {
                div.shots { @for file in draft.media.iter().take(4) { (media_preview(file)) } }
                @if draft.media.len() > 4 { p.soft { "and " (draft.media.len() - 4) " more files" } }
            }
            p.count.late[length.length > length.limit] { (length.length) " of " (length.limit) " " (length.unit) }
        }
    }
}

/// Renders a file of the preview, whose type is guessed from its address.
fn media_preview(File { url, alt }: &File) -> Markup {
    let is = |ends: &[&str]| ends.iter().any(|end| url.to_lowercase().ends_with(end));
    html! {
        @if is(&[".jpg", ".jpeg", ".png", ".gif", ".webp"]) { img src=(url) alt=(alt); }
        @else { span.file { (one_line(url.rsplit('/').next().unwrap_or_default(), 30)) } }
    }
}
