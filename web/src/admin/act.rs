//! `/admin/act/{verb}`: previews an action, asks for the reason and carries it out, once even if the form is sent
//! twice.

use fanfare_api::query::Pairs;
use fanfare_core::{Code, Error, PostId, Result, WebhookId};
use fanfare_entities::FeedbackId;
use fanfare_ops::{
    feedback::status_name,
    ops::{
        self, Action, MOST_RETRIED, Moderation, Order, Preview, PreviewRow, pauses::PauseTarget,
    },
};
use maud::{Markup, html};
use uuid::Uuid;

use super::{
    parts::{badge, table},
    visit::{PageResponse, Visit, parse},
    work,
};
use crate::browser::form;

/// The fields of a retry that find posts.
const FILTER: &[&str] =
    &["kind", "id", "status", "platform", "class", "account", "workspace", "error", "cursor"];

/// The fields of a form beside those of its action. `error` leads back to the page of missed posts.
const FORM: &[&str] = &["csrf", "order", "reason", "error"];

/// Fails if a field means nothing for the action, so that none is dropped in silence.
fn check_names(verb: &str, pairs: &Pairs, more: &[&str]) -> Result<()> {
    let own: &[&str] = match verb {
        "drain" | "wake" => &["worker"],
        "pause" | "resume" => &["target", "account"],
        "retry" => &["post", "risk"],
        "replay" => &["webhook"],
        "moderate" => &["feedback", "status", "hidden"],
        _ => return Ok(()),
    };
    let takes_more = verb == "retry" || more == FORM;
    let is_known = |name: &str| own.contains(&name) || (takes_more && more.contains(&name));
    match pairs.iter().find(|(name, _)| !is_known(name)) {
        None => Ok(()),
        Some((name, _)) => {
            let message = format!("{name} means nothing here.");
            let remedy = format!("Leave it out; the fields are {}.", own.join(", "));
            Err(Error::field(Code::UnknownField, name, message, remedy))
        }
    }
}

/// Shows the preview and asks for the reason.
pub async fn ask(visit: Visit) -> Result<PageResponse> {
    check_names(visit.path("verb"), &visit.query, FILTER)?;
    let mut action = action(visit.path("verb"), &visit.query)?;
    let preview = match &mut action {
        Action::Retry { posts, .. } if posts.is_empty() => {
            let found = ops::candidates(&visit.cx, work::search_query(&visit)?).await?;
            let preview = ops::preview_found(&visit.cx, &found).await?;
            *posts = found.posts;
            preview
        }
        Action::Retry { .. }
            if FILTER.iter().any(|name| all(&visit.query, name).next().is_some()) =>
        {
            let message = "Posts and a filter were named together.";
            let remedy = "Name the posts, or a filter that finds them.";
            return Err(Error::field(Code::InvalidField, "post", message, remedy));
        }
        action => ops::preview(&visit.cx, action).await?,
    };
    Ok(PageResponse::Page("Confirm", question(&visit, &action, &preview)))
}

/// Carries the action out.
pub async fn carry_out(visit: Visit) -> Result<PageResponse> {
    check_names(visit.path("verb"), &visit.form, FORM)?;
    let action = action(visit.path("verb"), &visit.form)?;
    if is_empty(&action) {
        one(&visit.form, "post")?;
    }
    let back = back(&action, &visit.form);
    let id: Uuid = parse("order", visit.form("order").unwrap_or_default())?;
    let reason = visit.form("reason").unwrap_or_default().to_owned();
    let done = ops::perform(&visit.cx, &visit.actor(), Order { id, action, reason }).await?;
    let again = if done.repeated { "&again=1" } else { "" };
    let joint = if back.contains('?') { '&' } else { '?' };
    Ok(PageResponse::Redirect(format!("{back}{joint}done={id}{again}")))
}

/// Returns the page that shows the result.
fn back(action: &Action, pairs: &Pairs) -> String {
    match action {
        Action::Drain(_) | Action::Wake(_) => "/admin/fleet".to_owned(),
        Action::Pause(_) | Action::Resume(_) => "/admin/platforms".to_owned(),
        Action::Retry { posts, .. } => match posts.as_slice() {
            [one] => format!("/admin/work/post/{one}"),
            _ if is_missed(pairs) => "/admin/waiting".to_owned(),
            _ => "/admin/work?kind=post&status=failed".to_owned(),
        },
        Action::Replay(_) => "/admin/webhooks".to_owned(),
        Action::Moderate(_) => "/admin/feedback".to_owned(),
    }
}

/// Returns true if the posts are those that missed their time, which have a page of their own.
fn is_missed(pairs: &Pairs) -> bool {
    all(pairs, "error").any(|code| code == "missed")
}

/// Returns the action of a query or a form.
fn action(verb: &str, pairs: &Pairs) -> Result<Action> {
    Ok(match verb {
        "drain" => Action::Drain(one(pairs, "worker")?.to_owned()),
        "wake" => Action::Wake(one(pairs, "worker")?.to_owned()),
        "pause" => Action::Pause(target(pairs)?),
        "resume" => Action::Resume(target(pairs)?),
        "retry" => Action::Retry {
            posts: all(pairs, "post").map(post).collect::<Result<_>>()?,
            risky: all(pairs, "risk").map(post).collect::<Result<_>>()?,
        },
        "replay" => Action::Replay(WebhookId(parse("webhook", one(pairs, "webhook")?)?)),
        "moderate" => {
            let id = FeedbackId(parse("feedback", one(pairs, "feedback")?)?);
            let hidden = one(pairs, "hidden").is_ok_and(|hidden| hidden == "true");
            Action::Moderate(Moderation::new(id, one(pairs, "status")?, hidden)?)
        }
        _ => return Err(Error::new(Code::NotFound, format!("There is no action {verb:?}."))),
    })
}

fn all<'a>(pairs: &'a Pairs, name: &'static str) -> impl Iterator<Item = &'a str> {
    let known = pairs.iter().filter(move |(known, _)| known == name);
    known.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
}

fn one<'a>(pairs: &'a Pairs, name: &'static str) -> Result<&'a str> {
    let missing = || {
        let message = format!("{name} is missing.");
        Error::field(Code::FieldRequired, name, message, "Go back and choose again.")
    };
    all(pairs, name).next().ok_or_else(missing)
}

fn target(pairs: &Pairs) -> Result<PauseTarget> {
    match (one(pairs, "account"), one(pairs, "target")) {
        (Ok(_), Ok(_)) => {
            let message = "A target and an account were named together.";
            let remedy = "Name one of them.";
            Err(Error::field(Code::InvalidField, "target", message, remedy))
        }
        (Ok(account), Err(_)) => format!("account:{account}").parse(),
        (Err(_), target) => target?.parse(),
    }
}

fn post(text: &str) -> Result<PostId> {
    parse("post", text).map(PostId)
}

fn question(visit: &Visit, action: &Action, preview: &Preview) -> Markup {
    html! {
        h1 { (preview.question) }
        @for sentence in &preview.consequences { p { (sentence) } }
        form.confirm method="post" action={ "/admin/act/" (action.verb()) } {
            input type="hidden" name="csrf" value=(form::csrf_token(&visit.token));
            input type="hidden" name="order" value=(Uuid::now_v7());
            (fields(action))
            @if is_missed(&visit.query) { input type="hidden" name="error" value="missed"; }
            @if !preview.rows.is_empty() { (rows(&preview.rows)) }
            @if is_empty(action) {
                p.actions { a.button href=(back(action, &visit.query)) { "Go back" } }
            } @else {
                label for="reason" { "Reason, for the audit log" }
                input #reason name="reason" required maxlength="500" autocomplete="off" pattern=".*\\S.*" title="A few words";
                p.actions {
                    button.strong type="submit" { (effect(action)) }
                    a.button href=(back(action, &visit.query)) { "No, go back" }
                }
            }
        }
    }
}

fn is_empty(action: &Action) -> bool {
    matches!(action, Action::Retry { posts, .. } if posts.is_empty())
}

/// Renders the hidden fields that describe the action.
fn fields(action: &Action) -> Markup {
    let hidden = |name: &str, value: &str| html! { input type="hidden" name=(name) value=(value); };
    html! {
        @match action {
            Action::Drain(name) | Action::Wake(name) => (hidden("worker", name)),
            Action::Pause(target) | Action::Resume(target) => (hidden("target", &target.to_string())),
            Action::Retry { posts, .. } => @for id in posts.iter().take(MOST_RETRIED) {
                (hidden("post", &id.to_string()))
            },
            Action::Replay(id) => (hidden("webhook", &id.to_string())),
            Action::Moderate(one) => {
                (hidden("feedback", &one.id.to_string()))
                (hidden("status", &status_name(one.status)))
                (hidden("hidden", &one.hidden.to_string()))
            },
        }
    }
}

const fn effect(action: &Action) -> &'static str {
    match action {
        Action::Drain(_) => "Drain it",
        Action::Wake(_) => "Let it work",
        Action::Pause(_) => "Pause",
        Action::Resume(_) => "Resume",
        Action::Retry { .. } => "Send again",
        Action::Replay(_) => "Replay",
        Action::Moderate(_) => "Change it",
    }
}

fn rows(rows: &[PreviewRow]) -> Markup {
    let cells: Vec<_> = rows.iter().map(cells).collect();
    table("Affected rows", &["Post", "Where", "Error", "Action"], &cells)
}

fn cells(row: &PreviewRow) -> Vec<Markup> {
    let id = format!("risk-{}", row.id);
    vec![
        html! { a href={ "/admin/work/post/" (row.id) } { (row.id) } },
        html! { (row.what) },
        html! { code { (row.error) } },
        html! {
            @if let Some(why) = &row.left_out { span.soft { "Left out. " (why) } }
            @else if row.risky {
                (badge("may_be_public")) " "
                input type="checkbox" id=(id) name="risk" value=(row.id);
                " " label.beside for=(id) { "I checked: it is not there. Send it although it may be public" }
            } @else { "Sent again" }
            @if let Some(warning) = &row.warning { span.soft { ", but likely to fail: " (warning) } }
        },
    ]
}
