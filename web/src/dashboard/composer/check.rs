//! The check of a post: missing parts, the length of its text, and a preview.

use fanfare_core::{
    Code, Error, Result,
    access::Role,
    error::violation,
    input::strict,
    limits::{self, Bucket},
};
use fanfare_entities::account;
use fanfare_publishing::{
    platforms::label,
    posts::{self, CaptionLength, CreateOutcome, NewPost, caption_length},
};
use maud::{Markup, html};

use super::{draft::Draft, files::File, settings};
use crate::dashboard::{marks::account_name, page_member::PageMember, parts::one_line};

/// The most characters of a text in a preview.
const SHOWN: usize = 3_000;

/// A problem of the post.
pub struct Problem {
    /// The account that has it; empty if all have.
    pub account: String,
    /// The label of the field.
    pub field: String,
    /// The name of the form's field.
    pub input: String,
    /// The problem and its remedy.
    pub message: String,
    /// The remedy.
    pub remedy: String,
}

impl Problem {
    /// Returns the problems of an error, one for each violation.
    pub fn of(account: &str, error: &Error) -> Vec<Self> {
        let problem = |field: &str, message: &str, remedy: &str| Self {
            account: account_name(account),
            field: field.replace('_', " "),
            input: input(field, None),
            message: message.to_owned(),
            remedy: remedy.to_owned(),
        };
        if error.violations().is_empty() {
            let entry = error.code().entry();
            let remedy = error.details().remedy.as_deref().unwrap_or(entry.remedy);
            return vec![problem("", error.message(), remedy)];
        }
        let all = error.violations().iter();
        all.map(|one| problem(&one.field, &one.message, &one.remedy)).collect()
    }

    /// Returns the problems that a post has on an account.
    pub fn on(account: &account::Model, error: &Error) -> Vec<Self> {
        let mut all = Self::of(&account.username, error);
        for (one, broken) in all.iter_mut().zip(error.violations()) {
            one.input = input(&broken.field, Some(account));
        }
        all
    }
}

/// Returns the name of the form's field for a field of the request, of one account or of all.
fn input(field: &str, account: Option<&account::Model>) -> String {
    let first = field.split(['.', '[']).next().unwrap_or(field);
    let setting = field.strip_prefix("settings.").or((first == "post_type").then_some(first));
    match (setting, account) {
        (Some(setting), Some(account)) => {
            let setting = setting.split(['.', '[']).next().unwrap_or(setting);
            settings::named(account, setting)
        }
        _ if first == "media_urls" => "media".to_owned(),
        _ => first.to_owned(),
    }
}

/// Returns the error that represents these problems, with the form's fields.
pub fn refusal(problems: &[Problem]) -> Error {
    let code = Code::InvalidField;
    let all = problems
        .iter()
        .map(|one| violation(code, one.input.clone(), one.message.clone(), one.remedy.clone()));
    let broken = Error::check(all.collect::<Vec<_>>());
    broken.err().unwrap_or_else(|| Error::new(code, "Something is missing."))
}

/// Checks the post on each account as the API does with `dry_run`.
///
/// # Errors
/// [`Code::RateLimited`] after too many checks in a minute; the database's.
pub async fn all(seat: &PageMember, draft: &Draft) -> Result<Vec<Problem>> {
    let about = |(field, input): (&str, &str), message: &str, remedy: &str| Problem {
        account: String::new(),
        field: field.to_owned(),
        input: input.to_owned(),
        message: message.to_owned(),
        remedy: remedy.to_owned(),
    };
    if !seat.may(Role::Editor) {
        return Ok(Vec::new());
    }
    let person = seat.act.caller.user_id.to_string();
    limits::admit_anonymous(&seat.act.cx, &[(Bucket::ComposerChecks, &person)]).await?;
    let accounts = draft.chosen(seat).await?;
    let mut problems = Vec::new();
    if accounts.is_empty() {
        problems.push(about(
            ("accounts", "account_id"),
            "No account is chosen.",
            "Choose at least one.",
        ));
    }
    if draft.step == "schedule" && draft.at.is_none() {
        problems.push(about(
            ("time", "scheduled_at"),
            "There is no time yet.",
            "Choose one, or publish it now.",
        ));
    }
    for account in &accounts {
        problems.extend(of_account(seat, draft, account).await?);
    }
    Ok(problems)
}

async fn of_account(
    seat: &PageMember,
    draft: &Draft,
    account: &account::Model,
) -> Result<Vec<Problem>> {
    let mut body = draft.body(seat, account).await?;
    body["dry_run"] = true.into();
    let checked = match strict::read_partial::<NewPost>(body) {
        Ok((new, flaws)) => posts::create(&seat.act, new, flaws).await,
        Err(error) => Err(error),
    };
    match checked {
        Ok(CreateOutcome::Checked(_) | CreateOutcome::Created(_)) => Ok(Vec::new()),
        Err(error) if error.status() < 500 => Ok(Problem::on(account, &error)),
        Err(error) => Err(error),
    }
}

/// Renders the counters, the problems and a preview for each account.
///
/// # Errors
/// The database's.
pub async fn shown(seat: &PageMember, draft: &Draft, problems: &[Problem]) -> Result<Markup> {
    let mut accounts = Vec::new();
    for account in draft.chosen(seat).await? {
        let length = caption_length(&account, &draft.caption, draft.media.len()).await?;
        accounts.push((account, length));
    }
    Ok(html! {
        (missing(problems))
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
                            @if !one.account.is_empty() { strong { (one_line(&one.account, 40)) ": " } }
                            (one_line(&one.message, 300)) " " (one_line(&one.remedy, 300))
                            @if !one.field.is_empty() { " " span.soft { "(" (one_line(&one.field, 60)) ")" } }
                        }
                    }
                }
            }
        }
    }
}

fn preview(draft: &Draft, account: &account::Model, length: CaptionLength) -> Markup {
    let text: String = draft.caption.chars().take(SHOWN).collect();
    let is_cut = text.len() < draft.caption.len();
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
