//! Choosing a plan: every plan with its price, and what a change costs before it is made.

use fanfare_core::{Code, Error, Result, access::plan_name, clock::Time};
use fanfare_entities::billing_subscription::BillingStatus;
use fanfare_people::{
    billing::{Plan, SoldPlan, Subscription, change},
    signup,
};
use maud::{Markup, html};
use url::Url;

use super::{PAGE, TITLE, admit, day, money, refused, spoken_plan};
use crate::{
    dashboard::parts,
    oauth_connect::{PageResponse, Visit},
};

/// Renders every plan with its price, and the way to it.
pub fn choices(visit: &Visit, live: Option<&Subscription>) -> Markup {
    let can_change =
        live.is_none_or(|it| it.status == BillingStatus::Active && it.pending_change.is_none());
    let current = live.map(|it| SoldPlan { tier: it.plan_tier, api_addon: it.api_addon });
    let plans = &fanfare_people::settings(&visit.cx).plans;
    html! {
        h2 id="plans" { "Plans" }
        @if let Some(why) = live.filter(|_| !can_change).map(|it| why_fixed(it.status)) {
            p.soft { (why) }
        }
        table {
            thead { tr {
                th { "Plan" } th { "Price a month" } th { "Includes" } th {}
            } }
            tbody {
                @for (plan, price) in change::choices(&visit.cx) {
                    @let limits = plans.plan(plan.tier);
                    tr {
                        td data-label="Plan" { (spoken_plan(plan)) }
                        td data-label="Price a month" { (money(price, &plans.currency)) }
                        td.soft data-label="Includes" { @if let Some(limits) = limits { (included(limits)) } }
                        td data-label="" {
                            @if current == Some(plan) { "Your plan" }
                            @else if can_change {
                                @let verb = verb(visit, current, plan);
                                a aria-label={ (verb) ": " (spoken_plan(plan)) }
                                    href={ (PAGE) "/plan?tier=" (plan_name(plan.tier)) "&api_addon=" (plan.api_addon) } {
                                    (verb)
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns what a plan has room for, in words.
fn included(limits: &Plan) -> String {
    let all = [
        (limits.accounts, "account"),
        (limits.members, "member"),
        (limits.brands, "brand"),
        (limits.credits, "credit"),
        (limits.keys, "API key"),
    ];
    let plural = |count| if count == 1 { "" } else { "s" };
    let words = all.map(|(count, name)| format!("{count} {name}{}", plural(count)));
    words.join(", ")
}

const fn why_fixed(status: BillingStatus) -> &'static str {
    match status {
        BillingStatus::Active => {
            "A change of your plan is ahead. Take it back to choose another one."
        }
        BillingStatus::Canceling => "Take the cancellation back to change your plan.",
        BillingStatus::Paused => "Resume your subscription to change its plan.",
        BillingStatus::PastDue => {
            "Your last payment failed. Once it is paid you can change your plan."
        }
        BillingStatus::Incomplete => {
            "Your first payment is on its way. Then you can change your plan."
        }
        BillingStatus::Ended => "",
    }
}

fn verb(visit: &Visit, current: Option<SoldPlan>, plan: SoldPlan) -> &'static str {
    let price = |plan: SoldPlan| {
        fanfare_people::settings(&visit.cx).plans.price_of(plan.tier, plan.api_addon)
    };
    match current {
        None => "Buy",
        Some(current) if current.tier == plan.tier && plan.api_addon => "Add the add-on",
        Some(current) if current.tier == plan.tier => "Drop the add-on",
        Some(current) if price(plan) > price(current) => "Upgrade",
        Some(_) => "Downgrade",
    }
}

/// Shows what a change of the plan costs, and when it counts.
pub async fn show(visit: Visit) -> Result<PageResponse> {
    let plan = chosen(&visit, |name| visit.query(name))?;
    match details(&visit, plan).await {
        Ok(main) => Ok(PageResponse::Page(TITLE, main)),
        Err(error) => refused(&visit, error).await,
    }
}

async fn details(visit: &Visit, plan: SoldPlan) -> Result<Markup> {
    admit(visit).await?;
    let (cx, person) = (&visit.cx, visit.session.user_id);
    let subscription = change::subscription_of(cx, person).await?;
    let is_live = subscription.is_some_and(|it| it.status != BillingStatus::Ended);
    let plans = &fanfare_people::settings(cx).plans;
    let (facts, button) = if is_live {
        let offer = change::offer(cx, person, plan).await?;
        let facts = html! {
            @match offer.due_now {
                Some(due) => { dt { "Due now" } dd { (money(due, &offer.currency)) " for the rest of this period" } }
                None => { dt { "Due now" } dd { "nothing; your present plan stays until the period ends" } }
            }
            dt { "Counts from" } dd { (day(visit, Time(offer.from))) }
            dt { "Then" } dd { (money(offer.monthly, &offer.currency)) " a month" }
        };
        (facts, if offer.due_now.is_some() { "Pay and change the plan" } else { "Change the plan" })
    } else {
        let price = plans.price_of(plan.tier, plan.api_addon);
        let facts = html! {
            dt { "Due now" } dd { (money(price, &plans.currency)) " for the first month" }
            dt { "Then" } dd { (money(price, &plans.currency)) " a month, until you cancel" }
        };
        (facts, "Go to the checkout")
    };
    Ok(html! {
        h1 { "Change to " (spoken_plan(plan)) }
        dl.facts { (facts) }
        form.narrow method="post" action={ (PAGE) "/plan" } {
            (parts::csrf_field(visit))
            (parts::once_field())
            input type="hidden" name="tier" value=(plan_name(plan.tier));
            input type="hidden" name="api_addon" value=(plan.api_addon);
            button.strong type="submit" { (button) }
        }
        p.actions { a href=(PAGE) { "Keep everything as it is" } }
    })
}

/// Changes the plan of a live subscription, or leads to the checkout of a new one.
pub async fn confirm(visit: Visit) -> Result<PageResponse> {
    let (cx, person) = (&visit.cx, visit.session.user_id);
    admit(&visit).await?;
    let plan = chosen(&visit, |name| visit.form(name))?;
    let subscription = change::subscription_of(cx, person).await?;
    if subscription.is_none_or(|it| it.status == BillingStatus::Ended) {
        return match signup::open_renewal(cx, person, plan).await {
            Ok(url) => {
                let url = Url::parse(&url).map_err(Error::internal)?;
                Ok(PageResponse::LeaveTo("the checkout".into(), url))
            }
            Err(error) => refused(&visit, error).await,
        };
    }
    let key = parts::once_key(&visit).to_string();
    match change::switch(cx, person, plan, &key).await {
        Ok(changed) => {
            let done = if changed.pending_change.is_some() { "later" } else { "plan" };
            Ok(PageResponse::Redirect(format!("{PAGE}?done={done}")))
        }
        Err(error) => refused(&visit, error).await,
    }
}

fn chosen<'a>(visit: &Visit, field: impl Fn(&str) -> Option<&'a str>) -> Result<SoldPlan> {
    let named = field("tier").unwrap_or_default();
    let plan = change::choices(&visit.cx).into_iter().map(|(plan, _)| plan);
    let wants_addon = field("api_addon") == Some("true");
    let is_chosen =
        |plan: &SoldPlan| plan_name(plan.tier) == named && plan.api_addon == wants_addon;
    plan.into_iter().find(is_chosen).ok_or_else(|| {
        let message = format!("There is no plan called {named:.40}.");
        Error::field(Code::InvalidTier, "tier", message, "Choose a plan on the page.")
    })
}
