//! `/dashboard/reviews`: reviews of business profiles, and answers to them.

use fanfare_conversations::business::{
    Review, ReviewAction, ReviewPage, ReviewReply, ReviewSummary,
};
use fanfare_core::{Error, Result};
use maud::{Markup, html};
use serde_json::{Value, json};

use super::{choices::AccountChoices, operation, page_member::PageMember, parts};
use crate::oauth_connect::{PageResponse, Visit};

const TITLE: &str = "Reviews";
const PAGE: &str = "/dashboard/reviews";

/// Shows reviews, the last changed first.
pub async fn show(visit: Visit) -> Result<PageResponse> {
    Ok(PageResponse::Wide(TITLE, page(&visit, None).await?))
}

/// Answers a review, or replaces its answer.
pub async fn reply(visit: Visit) -> Result<PageResponse> {
    let mut body = json!({
        "review_id": visit.path("id"),
        "workspace_id": PageMember::of(&visit).await?.act.membership.workspace_id,
        "text": visit.form("text").unwrap_or_default(),
        "idempotency_key": parts::once_key(&visit),
    });
    if visit.form("replace").is_some() {
        body["replace"] = true.into();
    }
    answer(&visit, operation::run(&visit, "reply_to_review", body).await, "sent").await
}

/// Deletes the answer to a review.
pub async fn delete(visit: Visit) -> Result<PageResponse> {
    let here = PageMember::of(&visit).await?.act.membership.workspace_id;
    let named = json!({"review_id": visit.path("id"), "workspace_id": here});
    answer(&visit, operation::run(&visit, "delete_review_reply", named).await, "deleted").await
}

async fn answer(visit: &Visit, outcome: Result<Value>, done: &str) -> Result<PageResponse> {
    match outcome {
        Ok(_) => {
            Ok(PageResponse::Redirect(format!("{PAGE}?done={done}#review-{}", visit.path("id"))))
        }
        Err(error) if parts::is_shown_beside(&error) => {
            let main = page(visit, Some(&error)).await?;
            Ok(PageResponse::WideInvalid(TITLE, main, error))
        }
        Err(error) => Err(error),
    }
}

async fn page(visit: &Visit, wrong: Option<&Error>) -> Result<Markup> {
    let seat = PageMember::of(visit).await?;
    let mut asked = json!({"workspace_id": seat.act.membership.workspace_id});
    for name in ["account_id", "rating", "replied", "cursor"] {
        if let Some(value) = visit.query(name) {
            asked[name] = value.into();
        }
    }
    let accounts = AccountChoices::of(visit, &seat).await?.on(&["google_business"]);
    let shown: ReviewPage = operation::list(visit, "list_reviews", asked).await?;
    let done = visit.query("done").map(|done| match done {
        "deleted" => "The answer is being deleted.",
        _ => "The answer was sent. The network looks at it before it is public.",
    });
    Ok(html! {
        (seat.head(visit, TITLE, &html! {}))
        (parts::success_note(done))
        (parts::form_error(wrong))
        @for one in &shown.summary { (summary(visit, one, &accounts)) }
        (filter(visit, &accounts))
        @if shown.reviews.is_empty() {
            p.empty {
                @if accounts.accounts.is_empty() {
                    "Reviews of Google business profiles appear here. " a href="/connect/google_business" { "Connect a profile" } " first."
                } @else { "There is no review like that." }
            }
        }
        @for review in &shown.reviews { (card(visit, review)) }
        (parts::next(&here(visit), shown.next_cursor.as_deref()))
    })
}

/// Returns the address of this list without its cursor.
fn here(visit: &Visit) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    for name in ["account_id", "rating", "replied"] {
        if let Some(value) = visit.query(name) {
            query.append_pair(name, value);
        }
    }
    format!("{PAGE}?{}", query.finish()).trim_end_matches('?').to_owned()
}

fn summary(visit: &Visit, one: &ReviewSummary, accounts: &AccountChoices) -> Markup {
    html! {
        p {
            strong { (accounts.name(one.account_id)) } ": "
            @match one.average_rating { Some(rating) => { (format!("{rating:.1}")) " of 5" } None => "average not known" }
            @if let Some(count) = one.total_review_count { " from " (count) @if count == 1 { " review" } @else { " reviews" } }
            @if let Some(at) = one.synced_at { span.soft { ", read " (parts::minute(visit, at)) } }
        }
    }
}

fn filter(visit: &Visit, accounts: &AccountChoices) -> Markup {
    let (rating, replied) = (visit.query("rating"), visit.query("replied"));
    html! {
        form.filter method="get" action=(PAGE) {
            (accounts.field(visit.query("account_id")))
            div.field {
                label for="rating" { "Stars" }
                select #rating name="rating" {
                    option value="" { "Any" }
                    @for (value, words) in [("1,2", "1 or 2"), ("3", "3"), ("4,5", "4 or 5")] {
                        option value=(value) selected[rating == Some(value)] { (words) }
                    }
                }
            }
            div.field {
                label for="replied" { "Answer" }
                select #replied name="replied" {
                    option value="" { "Any" }
                    option value="false" selected[replied == Some("false")] { "Not answered" }
                    option value="true" selected[replied == Some("true")] { "Answered" }
                }
            }
            button type="submit" { "Filter" }
        }
    }
}

fn card(visit: &Visit, review: &Review) -> Markup {
    let name = review.reviewer.name.as_deref().filter(|_| !review.reviewer.anonymous);
    html! {
        section.card id={ "review-" (review.id) } {
            h2 { (parts::one_line(name.unwrap_or("Anonymous"), 80)) " " (stars(review.rating)) }
            p.soft { (parts::one_line(&review.location_title, 80)) " · " (parts::minute(visit, review.updated_at)) }
            @if review.text.is_empty() { p.soft { "Without a text." } } @else { p.said { (parts::lines(&review.text)) } }
            @if let Some(reply) = &review.answer() { (reply_of(visit, reply, review.changed_after_reply)) }
            @if review.can.contains(&ReviewAction::Reply) { (form(visit, review)) }
            @if review.can.contains(&ReviewAction::DeleteReply) {
                (parts::confirmed_action(visit, "Delete the answer", &format!("{PAGE}/{}/delete", review.id),
                    "The answer disappears from the profile. You can write another one.", "Delete this answer", &html! {}))
            }
        }
    }
}

fn stars(rating: Option<i32>) -> Markup {
    html! {
        @match rating.map(|rating| usize::try_from(rating).unwrap_or(0).min(5)) {
            Some(rating) => {
                span.stars role="img" aria-label={ (rating) " of 5 stars" } { ("★".repeat(rating)) span.soft { ("☆".repeat(5 - rating)) } }
            }
            None => { span.soft { "no stars known" } }
        }
    }
}

fn reply_of(visit: &Visit, reply: &ReviewReply, is_older: bool) -> Markup {
    html! {
        div.answered {
            p.soft { "Your answer · " (parts::minute(visit, reply.updated_at)) " " (state(&reply.state)) }
            p.said { (parts::lines(&reply.text)) }
            @if let Some(violation) = &reply.policy_violation { p.late { "The network refused it: " (parts::one_line(violation, 200)) } }
            @if is_older { p.flash.warn { "The review was changed after you answered it." } }
        }
    }
}

fn state(state: &str) -> Markup {
    let (tone, words) = match state {
        "approved" => ("good", "public"),
        "rejected" => ("bad", "rejected"),
        _ => ("busy", "being looked at"),
    };
    html! { span class={ "badge " (tone) } { (words) } }
}

fn form(visit: &Visit, review: &Review) -> Markup {
    let is_this = visit.path("id") == review.id.to_string();
    let sent = visit.form("text").filter(|_| is_this);
    let answer = review.answer();
    let earlier = answer.as_ref().map(|reply| reply.text.as_str());
    let (id, label) = (
        format!("text-{}", review.id),
        if earlier.is_some() { "Change the answer" } else { "Answer" },
    );
    html! {
        details.confirm open[sent.is_some()] {
            summary { (label) }
            form.narrow method="post" action={ (PAGE) "/" (review.id) } {
                (parts::csrf_field(visit))
                (parts::once_field())
                @if earlier.is_some() { input type="hidden" name="replace" value="1"; }
                div.field {
                    label for=(id) { "Your answer, which everybody can read" }
                    textarea id=(id) name="text" rows="4" required { (sent.or(earlier).unwrap_or_default()) }
                }
                button type="submit" { "Send the answer" }
            }
        }
    }
}
