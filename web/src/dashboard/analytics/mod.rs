//! `/dashboard/analytics`: metrics of accounts and posts as charts, with insights and suggestions.

mod account;
mod chart;
pub mod post;
mod posts;
pub mod suggestion;
mod view;

use chrono::{Days, NaiveDate};
use fanfare_core::Result;
use fanfare_insight::analytics::{AccountNumbers, AccountNumbersList};
use fanfare_publishing::platforms::label;
use maud::{Markup, html};
use serde_json::json;

use super::{operation, page_member::PageMember, parts};
use crate::oauth_connect::{PageResponse, Visit};

const TITLE: &str = "Analytics";
const PAGE: &str = "/dashboard/analytics";

/// The periods to choose from, in days.
const PERIODS: [u64; 4] = [7, 30, 90, 365];
const DEFAULT_PERIOD: u64 = 30;

/// The account and the days that a page shows.
struct AccountPeriod {
    numbers: AccountNumbers,
    days: u64,
    from: String,
}

/// Shows the metrics of an account.
pub async fn show(visit: Visit) -> Result<PageResponse> {
    let seat = PageMember::of(&visit).await?;
    let here = seat.act.membership.workspace_id;
    let all: AccountNumbersList =
        operation::list(&visit, "list_account_analytics", json!({"workspace_id": here})).await?;
    let Some(shown) = chosen(&visit, &all).await? else {
        let main = html! {
            (seat.head(&visit, TITLE, &html! {}))
            p.empty {
                "Numbers of Instagram, Facebook, Threads, YouTube, LinkedIn, Pinterest and Google business profiles appear here. "
                a href="/connect" { "Connect an account" } " of one of them first."
            }
        };
        return Ok(PageResponse::Wide(TITLE, main));
    };
    let posts = posts::section(&visit, &shown).await?;
    let follows = suggestion::section(&visit, &seat, shown.numbers.account.id).await?;
    let main = html! {
        (seat.head(&visit, TITLE, &html! {}))
        (parts::success_note(visit.query("done").map(suggestion::done_message)))
        (choice(&all, &shown))
        (account::section(&visit, &shown))
        (posts)
        (follows)
    };
    Ok(PageResponse::Wide(TITLE, main))
}

/// Returns the metrics of the account for the period of the query.
async fn chosen(visit: &Visit, all: &AccountNumbersList) -> Result<Option<AccountPeriod>> {
    let asked = visit.query("account_id");
    let named = all.accounts.iter().find(|one| asked == Some(one.account.id.to_string().as_str()));
    let Some(first) = named.or_else(|| best(all)) else { return Ok(None) };
    let days =
        visit.parsed("days")?.filter(|days| PERIODS.contains(days)).unwrap_or(DEFAULT_PERIOD);
    // The network's days end in its own zone, so its today is where the period ends.
    let to = NaiveDate::parse_from_str(&first.to, "%Y-%m-%d").ok();
    let from = to.and_then(|to| to.checked_sub_days(Days::new(days - 1)));
    let from = from.map_or_else(|| first.to.clone(), |from| from.to_string());
    let asked = json!({"account_id": first.account.id, "from": from, "to": first.to});
    let read: AccountNumbersList = operation::list(visit, "list_account_analytics", asked).await?;
    let numbers = read.accounts.into_iter().next();
    Ok(numbers.map(|numbers| AccountPeriod { numbers, days, from }))
}

/// Returns the account that is shown by default: one with metrics, if there is one.
fn best(all: &AccountNumbersList) -> Option<&AccountNumbers> {
    let measured = all.accounts.iter().find(|one| one.synced_at.is_some());
    measured.or_else(|| all.accounts.first())
}

fn choice(all: &AccountNumbersList, shown: &AccountPeriod) -> Markup {
    html! {
        form.filter method="get" action=(PAGE) {
            div.field {
                label for="account" { "Account" }
                select #account name="account_id" {
                    @for one in &all.accounts {
                        option value=(one.account.id) selected[one.account.id == shown.numbers.account.id] {
                            (parts::one_line(&one.account.username, 40)) " on " (label(&one.account.platform))
                        }
                    }
                }
            }
            div.field {
                label for="days" { "Period" }
                select #days name="days" {
                    @for days in PERIODS {
                        option value=(days) selected[days == shown.days] { "The last " (days) " days" }
                    }
                }
            }
            button type="submit" { "Show" }
        }
    }
}
