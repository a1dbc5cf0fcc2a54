//! `/dashboard/billing`: a person's subscription, and the way to cards and invoices.

use fanfare_domain::{Result, billing::change};
use maud::{Markup, html};
use serde_json::Value;

use crate::oauth_connect::{Answer, Visit};

/// Shows the subscription.
pub async fn show(visit: Visit) -> Result<Answer> {
    let subscription = change::of_person(&visit.cx, visit.session.user_id).await?;
    Ok(Answer::Page("Billing", page(subscription.as_ref())))
}

/// Leads on to the payment provider's page for cards, invoices and tax data.
pub async fn portal(visit: Visit) -> Result<Answer> {
    Ok(Answer::See(change::portal(&visit.cx, visit.session.user_id).await?))
}

fn page(subscription: Option<&Value>) -> Markup {
    html! {
        h1 { "Billing" }
        @match subscription {
            None => p.empty { "You have no subscription." },
            Some(subscription) => (facts(subscription)),
        }
    }
}

fn facts(subscription: &Value) -> Markup {
    let text = |name: &str| subscription[name].as_str().unwrap_or_default();
    let day =
        |value: &Value| value.as_str().unwrap_or_default().chars().take(10).collect::<String>();
    let cents = subscription["price"]["amount"].as_i64().unwrap_or_default();
    let (pause, change) = (&subscription["pause"], &subscription["pending_change"]);
    html! {
        dl.facts {
            dt { "Plan" }
            dd {
                (text("plan_tier").replace('_', " "))
                @if subscription["api_addon"] == true { " with the API add-on" }
            }
            dt { "Status" } dd { (text("status").replace('_', " ")) }
            dt { "Price" } dd { "$" (cents / 100) "." (format!("{:02}", cents % 100)) " a month" }
            dt { @if text("status") == "canceling" { "Ends on" } @else { "Period ends on" } }
            dd { (day(&subscription["current_period_end"])) }
            @if !change.is_null() {
                dt { "Then" } dd { (change["plan_tier"].as_str().unwrap_or_default().replace('_', " ")) }
            }
            @if !pause["resumes_at"].is_null() { dt { "Resumes on" } dd { (day(&pause["resumes_at"])) } }
        }
        p.actions { a.button href="/dashboard/billing/portal" rel="nofollow" { "Cards and invoices" } }
    }
}
