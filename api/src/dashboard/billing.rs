//! `/dashboard/billing`: a person's subscription, and the way to cards and invoices.

use fanfare_domain::{
    Result,
    access::plan_name,
    billing::{Subscription, change, change::status_name},
    clock::{Time, show as written},
};
use maud::{Markup, html};

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

fn page(subscription: Option<&Subscription>) -> Markup {
    html! {
        h1 { "Billing" }
        @match subscription {
            None => p.empty { "You have no subscription." },
            Some(subscription) => (facts(subscription)),
        }
    }
}

fn facts(subscription: &Subscription) -> Markup {
    let day = |time: Time| written(time.0).chars().take(10).collect::<String>();
    let cents = subscription.price.amount;
    let resumes_at = subscription.pause.as_ref().and_then(|pause| pause.resumes_at);
    html! {
        dl.facts {
            dt { "Plan" }
            dd {
                (plan_name(subscription.plan_tier).replace('_', " "))
                @if subscription.api_addon { " with the API add-on" }
            }
            dt { "Status" } dd { (status_name(subscription.status).replace('_', " ")) }
            dt { "Price" } dd { "$" (cents / 100) "." (format!("{:02}", cents % 100)) " a month" }
            dt { @if subscription.cancel_at_period_end { "Ends on" } @else { "Period ends on" } }
            dd { (day(subscription.current_period_end)) }
            @if let Some(change) = &subscription.pending_change {
                dt { "Then" } dd { (plan_name(change.plan_tier).replace('_', " ")) }
            }
            @if let Some(at) = resumes_at { dt { "Resumes on" } dd { (day(at)) } }
        }
        p.actions { a.button href="/dashboard/billing/portal" rel="nofollow" { "Cards and invoices" } }
    }
}
