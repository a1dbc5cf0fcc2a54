//! The forms of the page: pause, resume, cancel, reactivate, keep the plan, buy credits, cards and invoices.

use fanfare_core::{Code, Error, Result, clock::Time};
use fanfare_entities::billing_subscription::BillingStatus;
use fanfare_people::{
    billing::{Subscription, change},
    credits::packs,
};
use maud::{Markup, html};
use serde_json::{Value, json};
use url::Url;
use uuid::Uuid;

use super::{PAGE, admit, day, refused};
use crate::{
    dashboard::{confirm, operation, parts},
    oauth_connect::{PageResponse, Visit},
};

/// The reasons for a cancellation, as a person reads them.
const REASONS: [(&str, &str); 7] = [
    ("too_expensive", "It is too expensive"),
    ("not_using", "I do not use it"),
    ("missing_features", "Something is missing"),
    ("technical_issues", "It does not work well"),
    ("switching_service", "I use another service"),
    ("temporary_break", "I take a break"),
    ("other", "Something else"),
];

/// Renders what can be done about a subscription in its present status.
pub fn forms(visit: &Visit, subscription: &Subscription) -> Markup {
    let status = subscription.status;
    let end = subscription.current_period_end;
    html! {
        div.row {
            @if subscription.pending_change.is_some() {
                (simple(visit, "keep", "Keep the present plan"))
            }
            @match status {
                BillingStatus::Paused => (simple(visit, "resume", "Resume now")),
                BillingStatus::Canceling => (simple(visit, "reactivate", "Take the cancellation back")),
                BillingStatus::Active if subscription.pending_change.is_none() => (pause(visit, subscription.pause_available_at)),
                _ => {}
            }
            (simple(visit, "portal", "Cards and invoices"))
            @if matches!(status, BillingStatus::Active | BillingStatus::PastDue) { (cancel(visit, end)) }
            @else if matches!(status, BillingStatus::Canceling | BillingStatus::Paused) { (cancel_now(visit)) }
        }
    }
}

fn simple(visit: &Visit, verb: &str, label: &str) -> Markup {
    html! {
        form method="post" action={ (PAGE) "/" (verb) } {
            (parts::csrf_field(visit))
            (parts::once_field())
            button type="submit" { (label) }
        }
    }
}

fn pause(visit: &Visit, available_at: Option<Time>) -> Markup {
    if let Some(at) = available_at {
        return html! { p.soft { "You can pause again from " (day(visit, at)) "." } };
    }
    let what = "Nothing is charged for 30 days, and nothing is published: scheduled posts are paused, and scheduled \
                again when the pause ends. You can resume at any time. You can pause once in 90 days.";
    parts::confirmed_action(
        visit,
        "Pause",
        &format!("{PAGE}/pause"),
        what,
        "Pause for 30 days",
        &parts::once_field(),
    )
}

fn cancel(visit: &Visit, end: Time) -> Markup {
    let fields = html! {
        (parts::once_field())
        (reasons())
        div.tick {
            input id="immediate" type="checkbox" name="immediate" value="true";
            label.beside for="immediate" { "End it now, without a refund, and not on " (day(visit, end)) }
        }
        (confirm::password_field(visit, "cancel"))
    };
    let what =
        "It ends with the period that is paid. Scheduled posts of later times are paused then.";
    let action = format!("{PAGE}/cancel");
    parts::confirmed_action(visit, "Cancel", &action, what, "Cancel the subscription", &fields)
}

fn cancel_now(visit: &Visit) -> Markup {
    let fields = html! {
        (parts::once_field())
        input type="hidden" name="immediate" value="true";
        (reasons())
        (confirm::password_field(visit, "cancel"))
    };
    let what = "It ends at once and without a refund. Scheduled posts are paused.";
    let action = format!("{PAGE}/cancel");
    parts::confirmed_action(visit, "End it now", &action, what, "End the subscription now", &fields)
}

fn reasons() -> Markup {
    html! {
        div.field {
            label for="reason" { "Why?" }
            select id="reason" name="reason" {
                @for (name, words) in REASONS { option value=(name) { (words) } }
            }
        }
        div.field {
            label for="feedback" { "Anything else? (optional)" }
            textarea id="feedback" name="feedback" rows="2" maxlength="1000" {}
        }
    }
}

/// Carries out the action in the path.
pub async fn act(mut visit: Visit) -> Result<PageResponse> {
    let verb = visit.path("verb").to_owned();
    let done = match verb.as_str() {
        "cancel" => cancel_as_asked(&mut visit).await,
        "pause" => operation(&visit, "pause_subscription", json!({})).await,
        "resume" => operation(&visit, "resume_subscription", json!({})).await,
        "reactivate" | "keep" => {
            let (cx, person) = (&visit.cx, visit.session.user_id);
            let key = parts::once_key(&visit).to_string();
            let changed = match verb.as_str() {
                "keep" => change::keep_plan(cx, person, &key).await,
                _ => change::reactivate(cx, person, &key).await,
            };
            changed.map(drop)
        }
        _ => return Err(Error::new(Code::NotFound, "There is no such step.")),
    };
    match done {
        Ok(()) => Ok(PageResponse::Redirect(format!("{PAGE}?done={verb}"))),
        Err(error) => refused(&visit, error).await,
    }
}

async fn operation(visit: &Visit, name: &str, mut arguments: Value) -> Result<()> {
    arguments["idempotency_key"] = json!(parts::once_key(visit));
    operation::run(visit, name, arguments).await.map(drop)
}

async fn cancel_as_asked(visit: &mut Visit) -> Result<()> {
    let is_immediate = visit.form("immediate") == Some("true");
    if is_immediate {
        confirm::require_password(visit).await?;
    }
    let mut asked = json!({
        "reason": visit.form("reason").unwrap_or_default(),
        "immediate": is_immediate,
    });
    if let Some(feedback) = visit.form("feedback").filter(|text| !text.trim().is_empty()) {
        asked["feedback"] = feedback.into();
    }
    operation(visit, "cancel_subscription", asked).await
}

/// Leads to the checkout of a pack of credits.
pub async fn buy_credits(visit: Visit) -> Result<PageResponse> {
    admit(&visit).await?;
    let pack = visit.form("pack").and_then(|pack| pack.parse().ok()).unwrap_or_default();
    let order = visit.form("order").and_then(|order| Uuid::parse_str(order).ok());
    let order = order.unwrap_or_else(Uuid::now_v7);
    let opened = packs::open_checkout(&visit.cx, visit.session.user_id, pack, order).await;
    leave_to(&visit, "the checkout", opened).await
}

/// Leads to the payment provider's page for cards, invoices and tax data.
pub async fn portal(visit: Visit) -> Result<PageResponse> {
    admit(&visit).await?;
    let opened = change::portal(&visit.cx, visit.session.user_id).await;
    leave_to(&visit, "your cards and invoices", opened).await
}

async fn leave_to(
    visit: &Visit,
    title: &'static str,
    opened: Result<String>,
) -> Result<PageResponse> {
    match opened {
        Ok(url) => {
            Ok(PageResponse::LeaveTo(title.into(), Url::parse(&url).map_err(Error::internal)?))
        }
        Err(error) => refused(visit, error).await,
    }
}
