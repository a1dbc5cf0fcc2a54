//! Conclusions from the metrics: an account's strengths, insights and suggested posts.

use fanfare_core::{Code, Error, Result, access::Role};
use fanfare_entities::AccountId;
use fanfare_insight::analytics::{
    insights::{Insight, Insights},
    profile::ProfileResponse,
    suggestions::{Suggestion, Suggestions},
};
use maud::{Markup, html};
use serde_json::json;

use super::PAGE;
use crate::{
    dashboard::{operation, page_member::PageMember, parts},
    oauth_connect::{PageResponse, Visit},
};

/// Creates a draft from a suggestion, or dismisses it.
pub async fn act(visit: Visit) -> Result<PageResponse> {
    let id = visit.path("id");
    match visit.path("verb") {
        "dismiss" => {
            operation::run(&visit, "dismiss_suggestion", json!({"id": id})).await?;
            Ok(PageResponse::Redirect(format!("{PAGE}?done=dismissed")))
        }
        "draft" => {
            let body = json!({
                "account_id": visit.form("account_id").unwrap_or_default(),
                "caption": visit.form("caption").unwrap_or_default(),
                "status": "draft",
                "suggestion_id": id,
                "idempotency_key": parts::once_key(&visit),
            });
            let made = operation::run(&visit, "create_post", body).await?;
            Ok(match made["post"]["id"].as_i64() {
                Some(post) => PageResponse::Redirect(format!("/dashboard/posts/{post}")),
                None => PageResponse::Redirect(format!("{PAGE}?done=drafted")),
            })
        }
        _ => Err(Error::new(Code::NotFound, "There is no such step.")),
    }
}

/// Returns the message about a completed action.
pub fn done_message(done: &str) -> &'static str {
    if done == "dismissed" { "The suggestion is dismissed." } else { "The draft is made." }
}

/// Renders the conclusions from the metrics of an account.
pub async fn section(visit: &Visit, seat: &PageMember, account: AccountId) -> Result<Markup> {
    match read(visit, account).await {
        Ok((profile, insights, suggestions)) => Ok(html! {
            (profile_of(&profile))
            (suggested(visit, seat, &suggestions.suggestions))
            h2 { "Insights" }
            @if insights.insights.is_empty() {
                p.empty { "There is no insight yet. They come 1 hour to 7 days after a post, once the account has enough posts to compare with." }
            }
            @for one in &insights.insights { (insight(one, true)) }
        }),
        Err(error) if error.code() == Code::FeatureNotAvailable => Ok(html! {
            h2 { "Insights and suggestions" }
            (parts::not_included(&error))
        }),
        Err(error) => Err(error),
    }
}

async fn read(
    visit: &Visit,
    account: AccountId,
) -> Result<(ProfileResponse, Insights, Suggestions)> {
    let profile = operation::read(visit, "get_performance_profile", json!({"id": account})).await?;
    let of = json!({"account_id": account, "limit": 10});
    let insights = operation::list(visit, "list_insights", of.clone()).await?;
    Ok((profile, insights, operation::list(visit, "list_suggestions", of).await?))
}

fn profile_of(shown: &ProfileResponse) -> Markup {
    html! {
        h2 { "What works" }
        @match (&shown.performance_profile, shown.reason.as_deref()) {
            (Some(profile), _) => { ul { @for bullet in &profile.bullets { li { (bullet) } } } }
            (None, Some("platform_not_measurable")) => { p.empty { "This network gives no base to compare posts by." } }
            (None, _) => { p.empty { "There are too few posts to compare: it takes eight that are at least three days old." } }
        }
    }
}

fn suggested(visit: &Visit, seat: &PageMember, suggestions: &[Suggestion]) -> Markup {
    let pending = suggestions.iter().filter(|one| one.status == "pending");
    html! {
        h2 { "Suggestions" }
        @if suggestions.is_empty() { p.empty { "There is no suggestion now. New ones come on Mondays." } }
        @for one in pending {
            section.card {
                p.said { (parts::lines(&one.caption)) }
                p.soft { (parts::one_line(&one.rationale, 300)) " · for week " (one.period_key) }
                @if seat.may(Role::Editor) { (forms(visit, one)) }
            }
        }
    }
}

fn forms(visit: &Visit, one: &Suggestion) -> Markup {
    let action = format!("{PAGE}/suggestions/{}", one.id);
    html! {
        div.row {
            form method="post" action={ (action) "/draft" } {
                (parts::csrf_field(visit))
                (parts::once_field())
                input type="hidden" name="account_id" value=(one.social_account_id);
                input type="hidden" name="caption" value=(one.caption);
                button type="submit" { "Make a draft" }
            }
            (parts::confirmed_action(visit, "Dismiss", &format!("{action}/dismiss"),
                "The suggestion is not shown again.", "Dismiss this suggestion", &html! {}))
        }
    }
}

/// Renders an insight, with a link to its post if the page is about several.
pub fn insight(one: &Insight, links: bool) -> Markup {
    let tone = match one.finding.performance_tier.as_str() {
        "great" | "good" => "good",
        "poor" => "bad",
        _ => "warn",
    };
    html! {
        section.card {
            h3 { (one.finding.title) " " span class={ "badge " (tone) } { (one.finding.performance_tier) } }
            p { (one.finding.diagnosis) }
            p { strong { "Next: " } (one.finding.next_action) }
            p.soft {
                (one.checkpoint) " after it was published"
                @if links { " · " a href={ "/dashboard/analytics/posts/" (one.post_id) } { "post " (one.post_id) } }
            }
        }
    }
}
