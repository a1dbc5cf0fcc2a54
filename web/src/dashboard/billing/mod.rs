//! `/dashboard/billing`: the user's subscription and credits, and everything that can be done about them now.

mod act;
mod plan;

use fanfare_core::{
    Code, Error, Result,
    access::plan_name,
    clock::{Time, to_rfc3339 as written},
    limits::{self, Bucket},
};
use fanfare_entities::{billing_subscription::BillingStatus, credit_wallet};
use fanfare_people::{
    billing::{Pack, SoldPlan, Subscription, change},
    credits::{
        self,
        packs::{self, PackPayment},
    },
};
use maud::{Markup, html};
use uuid::Uuid;

use super::{page_member::PageMember, parts};
use crate::oauth_connect::{PageResponse, Visit};

pub use act::{act, buy_credits, portal};
pub use plan::{confirm as confirm_plan, show as show_plan};

const TITLE: &str = "Billing";
const PAGE: &str = "/dashboard/billing";

/// Shows the subscription, what can be done about it, and the credits.
pub async fn show(visit: Visit) -> Result<PageResponse> {
    let payment = match visit.query("paid") {
        Some(checkout) => pack_payment(&visit, checkout).await?,
        None => None,
    };
    let (note, tone) = match payment {
        Some(PackPayment::Paid) => ("Thank you. The credits are in your wallet.", "good"),
        Some(PackPayment::Pending) => (
            "We are waiting for your payment to be confirmed. This page follows it by itself; do not pay again.",
            "plain",
        ),
        Some(PackPayment::Open) => ("Nothing was paid.", "warn"),
        None => ("", ""),
    };
    let is_pending = payment == Some(PackPayment::Pending);
    let main = html! {
        @if !note.is_empty() { p class={ "flash " (tone) } role="status" { (note) } }
        (page(&visit, None, !is_pending).await?)
    };
    Ok(if is_pending {
        PageResponse::Waiting(TITLE, main)
    } else {
        PageResponse::Page(TITLE, main)
    })
}

/// Returns the state of the payment that its buyer comes back from. While Stripe cannot be asked it is on its way.
async fn pack_payment(visit: &Visit, checkout: &str) -> Result<Option<PackPayment>> {
    if admit(visit).await.is_err() {
        return Ok(Some(PackPayment::Pending));
    }
    match packs::settle(&visit.cx, visit.session.user_id, checkout).await {
        Ok(payment) => Ok(Some(payment)),
        Err(error) if [Code::NotFound, Code::PaymentObjectGone].contains(&error.code()) => Ok(None),
        Err(error) if error.status() == 503 => Ok(Some(PackPayment::Pending)),
        Err(error) => Err(error),
    }
}

/// Counts a call of the payment provider that a page makes.
async fn admit(visit: &Visit) -> Result<()> {
    let person = visit.session.user_id.to_string();
    limits::admit_anonymous(&visit.cx, &[(Bucket::PaymentPages, &person)]).await
}

/// Shows the page with the error of one of its forms.
async fn refused(visit: &Visit, error: Error) -> Result<PageResponse> {
    if !parts::is_shown_beside(&error) {
        return Err(error);
    }
    let main = page(visit, Some(&error), true).await?;
    Ok(PageResponse::Invalid(TITLE, main, error))
}

/// Renders the page; `sells` is false while a payment is on its way.
async fn page(visit: &Visit, wrong: Option<&Error>, sells: bool) -> Result<Markup> {
    PageMember::of(visit).await?;
    let (cx, person) = (&visit.cx, visit.session.user_id);
    let subscription = change::subscription_of(cx, person).await?;
    let wallet = credits::wallet_of(cx, person).await?;
    let given = credits::operator_plan(cx, person).await?;
    let sells = sells && fanfare_people::settings(cx).billing.is_some();
    let packs = if sells { &fanfare_people::settings(cx).plans.packs[..] } else { &[] };
    let live = subscription.as_ref().filter(|it| it.status != BillingStatus::Ended);
    Ok(html! {
        h1 { (TITLE) }
        (parts::form_error(wrong))
        (parts::success_note(done(visit)))
        @if live.is_none() {
            @match given {
                Some(tier) => p { "Your plan is " strong { (spoken(tier)) } ". The operator of this service gave it to you; nothing is charged." },
                None if subscription.is_none() => p.empty { "You have no subscription." },
                None => {}
            }
        }
        @if let Some(subscription) = &subscription {
            (facts(visit, subscription))
            (act::forms(visit, subscription))
        }
        @if sells && given.is_none() { (plan::choices(visit, live)) }
        h2 id="credits" { "Credits" }
        (credit_facts(wallet, packs, visit))
    })
}

/// Returns the note of the change that was just made.
fn done(visit: &Visit) -> Option<&'static str> {
    Some(match visit.query("done")? {
        "plan" => "Your plan is changed.",
        "later" => "Your plan changes with the next period.",
        "keep" => "The change is taken back; your plan stays as it is.",
        "pause" => "Your subscription is paused, and scheduled posts with it.",
        "resume" => "Your subscription goes on.",
        "cancel" => "Your subscription is cancelled.",
        "reactivate" => "The cancellation is taken back; your subscription goes on.",
        _ => return None,
    })
}

/// Returns a plan as a person says it.
fn spoken(tier: fanfare_core::access::PlanTier) -> String {
    plan_name(tier).replace('_', " ")
}

fn spoken_plan(plan: SoldPlan) -> String {
    let addon = if plan.api_addon { " with the API add-on" } else { "" };
    spoken(plan.tier) + addon
}

/// Returns an amount of money, given in the currency's smallest unit.
fn money(cents: i64, currency: &str) -> String {
    let amount = match cents % 100 {
        0 => (cents / 100).to_string(),
        rest => format!("{}.{rest:02}", cents / 100),
    };
    match currency {
        "usd" => format!("${amount}"),
        other => format!("{amount} {}", other.to_uppercase()),
    }
}

fn day(visit: &Visit, time: Time) -> Markup {
    html! { time datetime=(written(time.0)) { (parts::day(visit, time.0)) } }
}

fn facts(visit: &Visit, subscription: &Subscription) -> Markup {
    let price = &subscription.price;
    let plan = SoldPlan { tier: subscription.plan_tier, api_addon: subscription.api_addon };
    let resumes_at = subscription.pause.as_ref().and_then(|pause| pause.resumes_at);
    html! {
        dl.facts {
            dt { "Plan" } dd { (spoken_plan(plan)) }
            dt { "Status" } dd { (change::status_name(subscription.status).replace('_', " ")) }
            dt { "Price" } dd { (money(price.amount, &price.currency)) " a month" }
            @match subscription.cancel_at {
                Some(at) => { dt { "Ends on" } dd { (day(visit, at)) } }
                None if subscription.status == BillingStatus::Ended => {}
                None => { dt { "Period ends on" } dd { (day(visit, subscription.current_period_end)) } }
            }
            @if let Some(change) = &subscription.pending_change {
                @let next = SoldPlan { tier: change.plan_tier, api_addon: change.api_addon };
                dt { "Then" } dd { (spoken_plan(next)) " from " (day(visit, change.effective_at)) }
            }
            @if let Some(at) = resumes_at { dt { "Resumes on" } dd { (day(visit, at)) } }
        }
    }
}

fn credit_facts(wallet: credit_wallet::Model, packs: &[Pack], visit: &Visit) -> Markup {
    html! {
        dl.facts {
            dt { "Available" } dd { (wallet.included + wallet.purchased) }
            dt { "Included" } dd { (wallet.included) " of " (wallet.allowance) }
            @if wallet.period.is_some() { dt { "Set anew on" } dd { (parts::day(visit, wallet.period_end)) } }
            dt { "Bought" } dd { (wallet.purchased) }
            @if wallet.held > 0 { dt { "Reserved" } dd { (wallet.held) } }
        }
        @if !packs.is_empty() {
            p.soft { "Bought credits never expire. Included ones are spent first." }
            (pack_buttons(visit, packs))
        }
    }
}

/// Renders a button for each pack of credits. A form that is sent twice opens one checkout.
pub fn pack_buttons(visit: &Visit, packs: &[Pack]) -> Markup {
    html! {
        form.actions method="post" action={ (PAGE) "/credits" } {
            (parts::csrf_field(visit))
            input type="hidden" name="order" value=(Uuid::now_v7());
            @for pack in packs {
                button type="submit" name="pack" value=(pack.credits) {
                    "Buy " (pack.credits) " for " (money(pack.price, &fanfare_people::settings(&visit.cx).plans.currency))
                }
            }
        }
    }
}
