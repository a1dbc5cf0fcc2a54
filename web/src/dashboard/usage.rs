//! `/dashboard/usage`: credits, what they were spent on, and how much of the plan's limits is used.

use fanfare_core::{
    Result,
    access::{PlanTier, plan_name},
    clock::Time,
    limits::{self, LimitRule, LimitState},
};
use fanfare_entities::credit_entry::EntryKind;
use fanfare_people::{
    billing::Pack,
    credits::{self, CreditEntry, EntryPage, IncludedCredits, OneWallet, Wallet},
    team::{self, PlanLimit},
};
use maud::{Markup, html};
use serde_json::json;

use super::{billing, operation, page_member::PageMember, parts};
use crate::{
    admin::parts::{number, table},
    oauth_connect::{PageResponse, Visit},
};

const TITLE: &str = "Usage";
const PAGE: &str = "/dashboard/usage";

/// Shows the credits, the ledger and the limits.
pub async fn show(visit: Visit) -> Result<PageResponse> {
    let seat = PageMember::of(&visit).await?;
    let here = seat.act.membership.workspace_id;
    let wallet: OneWallet =
        operation::read(&visit, "get_credits", json!({"workspace_id": here})).await?;
    let mut asked = json!({"workspace_id": here});
    if let Some(cursor) = visit.query("cursor") {
        asked["cursor"] = cursor.into();
    }
    let ledger: EntryPage = operation::list(&visit, "list_credit_entries", asked).await?;
    let reserved = credits::reservations(&seat.act).await?;
    let plan = team::plan_limits(&seat.act).await?;
    let rates = limits::limit_states(&visit.cx, &seat.act.caller).await;
    let is_payer = credits::payer(&visit.cx.db.read, here).await? == visit.session.user_id;
    let sold = fanfare_people::settings(&visit.cx).billing.as_ref().filter(|_| is_payer);
    let packs = sold.map_or(&[][..], |_| &fanfare_people::settings(&visit.cx).plans.packs);
    let main = html! {
        (seat.head(&visit, TITLE, &html! {}))
        div.columns {
            section { h2 { "Credits" } (balance(&visit, &wallet.wallet)) (offers(&visit, packs, is_payer)) }
            section { h2 { "Plan" } (plan_table(wallet.wallet.plan_tier, &plan)) }
        }
        @if !reserved.is_empty() { (reserved_table(&visit, &reserved)) }
        h2 { "Ledger" }
        (entries(&visit, &ledger.ledger))
        (parts::next(PAGE, ledger.next_cursor.as_deref()))
        h2 { "Rate limits" }
        (rate_table(&rates))
    };
    Ok(PageResponse::Wide(TITLE, main))
}

fn balance(visit: &Visit, wallet: &Wallet) -> Markup {
    let IncludedCredits { allowance, used, .. } = wallet.included;
    html! {
        p.big { strong { (number(wallet.available)) } " credits to spend" }
        @if allowance > 0 {
            (meter("Included credits used", used.unsigned_abs(), allowance.unsigned_abs()))
        }
        dl.facts {
            dt { "Included" } dd { (number(used)) " of " (number(allowance)) " used" }
            @if let Some(at) = wallet.resets_at { dt { "Set anew" } dd { (parts::minute(visit, at)) } }
            dt { "Bought" } dd { (number(wallet.purchased_balance)) ", which never expire" }
            dt { "Reserved" } dd { (number(wallet.reserved)) }
        }
    }
}

fn offers(visit: &Visit, packs: &[Pack], is_payer: bool) -> Markup {
    html! {
        @if !is_payer {
            p.soft { "The credits belong to the owner of the workspace, who alone can buy more." }
        } @else if !packs.is_empty() {
            (billing::pack_buttons(visit, packs))
        }
    }
}

fn plan_table(plan: Option<PlanTier>, limits: &[PlanLimit]) -> Markup {
    let rows: Vec<_> = limits
        .iter()
        .map(|limit| {
            let words = format!("{} of {}", limit.used, limit.allowed);
            vec![
                html! { (limit.what) },
                html! { (words) },
                meter(limit.what, limit.used, limit.allowed),
            ]
        })
        .collect();
    html! {
        p { @match plan {
            Some(plan) => { "The workspace is on the plan " strong { (plan_name(plan).replace('_', " ")) } "." }
            None => "The workspace has no plan.",
        } }
        (table("Limits of the plan", &["Limit", "Used", "Share"], &rows))
    }
}

fn meter(what: &str, used: u64, allowed: u64) -> Markup {
    html! { meter aria-label=(what) min="0" max=(allowed.max(1)) high=(allowed * 9 / 10) value=(used) { (used) " of " (allowed) } }
}

fn reserved_table(visit: &Visit, reserved: &[credits::OpenReservation]) -> Markup {
    let rows: Vec<_> = reserved
        .iter()
        .map(|one| {
            vec![
                html! { (purpose(&one.operation)) },
                html! { (number(one.credits)) },
                parts::minute(visit, Time(one.since)),
                parts::minute(visit, Time(one.until)),
            ]
        })
        .collect();
    html! {
        h2 { "Reserved" }
        (table("Operations under way", &["For", "Credits", "Since", "Given back at the latest"], &rows))
    }
}

fn entries(visit: &Visit, ledger: &[CreditEntry]) -> Markup {
    if ledger.is_empty() {
        return html! { p.empty { "Nothing has changed the balance yet." } };
    }
    let rows: Vec<_> = ledger
        .iter()
        .map(|entry| {
            vec![
                parts::minute(visit, entry.created_at),
                html! { (kind(entry.kind)) },
                reason(entry),
                html! { (parts::name_of(entry.pool)) },
                html! { (signed(entry.amount)) },
                html! { (number(entry.balance)) },
            ]
        })
        .collect();
    let heads = ["When", "Change", "For", "Pool", "Credits", "Balance"];
    table("Changes of the balance, newest first", &heads, &rows)
}

fn signed(amount: i64) -> String {
    if amount > 0 { format!("+{}", number(amount)) } else { number(amount) }
}

const fn kind(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::Grant => "Included credits granted",
        EntryKind::Expire => "Included credits expired",
        EntryKind::Purchase => "Pack bought",
        EntryKind::Reserve => "Reserved",
        EntryKind::Settle => "Paid",
        EntryKind::Refund => "Given back",
        EntryKind::Withdraw => "Payment taken back",
        EntryKind::Adjust => "Plan changed",
    }
}

/// Renders the reason of an entry: the paid operation, or the period or payment it came from.
fn reason(entry: &CreditEntry) -> Markup {
    html! {
        @match (&entry.operation, &entry.r#ref) {
            (Some(operation), _) => {
                (purpose(operation))
                @if let Some((_, id)) = operation.split_once(':') { " " code.soft { (parts::one_line(id, 40)) } }
            }
            (None, Some(reference)) => { code.soft { (parts::one_line(reference, 60)) } }
            (None, None) => { "–" }
        }
    }
}

/// Returns the name of an operation that costs credits.
fn purpose(operation: &str) -> &str {
    match operation.split(':').next().unwrap_or_default() {
        "captions" => "Captions",
        "image" => "Images",
        "video" => "Video",
        _ => operation,
    }
}

fn rate_table(rates: &[(&LimitRule, LimitState)]) -> Markup {
    let rows: Vec<_> = rates
        .iter()
        .map(|(rule, standing)| {
            let used = standing.limit - standing.remaining.min(standing.limit);
            vec![
                html! { (capitalised(rule.what)) },
                html! { (number(i64::try_from(used).unwrap_or(i64::MAX))) " of " (number(i64::try_from(standing.limit).unwrap_or(i64::MAX))) },
                meter(rule.what, used, standing.limit),
            ]
        })
        .collect();
    html! {
        p.soft { "Counted over everything you do, with keys and on these pages. Each key has limits of its own besides." }
        (table("Your rate limits in the current window", &["Limit", "Used", "Share"], &rows))
    }
}

fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
