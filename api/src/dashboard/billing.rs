//! `/dashboard/billing`: the user's subscription and credits, with links to cards, invoices and more credits.

use fanfare_domain::{
    Result,
    access::plan_name,
    billing::{Pack, Subscription, change, change::status_name},
    clock::{Time, to_rfc3339 as written},
    credits::{self, packs},
};
use fanfare_entities::credit_wallet;
use maud::{Markup, html};
use uuid::Uuid;

use crate::oauth_connect::{PageResponse, Visit};

/// Shows the subscription and the credits.
pub async fn show(visit: Visit) -> Result<PageResponse> {
    let (cx, person) = (&visit.cx, visit.session.user_id);
    let subscription = change::subscription_of(cx, person).await?;
    let wallet = credits::wallet_of(cx, person).await?;
    let packs = cx.settings.billing.as_ref().map_or(&[][..], |_| &cx.settings.plans.packs);
    Ok(PageResponse::Page("Billing", page(subscription.as_ref(), &wallet, packs)))
}

/// Redirects to the checkout of a pack of credits.
pub async fn buy_credits(visit: Visit) -> Result<PageResponse> {
    let pack = visit.parsed("pack")?.unwrap_or_default();
    let order = visit.parsed("order")?.unwrap_or_else(Uuid::now_v7);
    Ok(PageResponse::Redirect(
        packs::open_checkout(&visit.cx, visit.session.user_id, pack, order).await?,
    ))
}

/// Redirects to the payment provider's page for cards, invoices and tax data.
pub async fn portal(visit: Visit) -> Result<PageResponse> {
    Ok(PageResponse::Redirect(change::portal(&visit.cx, visit.session.user_id).await?))
}

fn page(
    subscription: Option<&Subscription>,
    wallet: &credit_wallet::Model,
    packs: &[Pack],
) -> Markup {
    html! {
        h1 { "Billing" }
        @match subscription {
            None => p.empty { "You have no subscription." },
            Some(subscription) => (facts(subscription)),
        }
        h2 { "Credits" }
        dl.facts {
            dt { "Available" } dd { (wallet.included + wallet.purchased) }
            dt { "Included" } dd { (wallet.included) " of " (wallet.allowance) }
            @if wallet.period.is_some() {
                dt { "Set anew on" } dd { (written(wallet.period_end).chars().take(10).collect::<String>()) }
            }
            dt { "Bought" } dd { (wallet.purchased) }
            @if wallet.held > 0 { dt { "Reserved" } dd { (wallet.held) } }
        }
        @if !packs.is_empty() {
            p.soft { "Bought credits never expire. Included ones are spent first." }
            @let order = Uuid::now_v7();
            p.actions {
                @for pack in packs {
                    a.button rel="nofollow"
                        href={ "/dashboard/billing/credits?pack=" (pack.credits) "&order=" (order) } {
                        "Buy " (pack.credits) " for $" (pack.price / 100)
                        @if pack.price % 100 != 0 { "." (format!("{:02}", pack.price % 100)) }
                    }
                }
            }
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
