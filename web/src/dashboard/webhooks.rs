//! `/dashboard/webhooks`: the webhooks and their deliveries.

use fanfare_core::{
    Error, Result,
    access::Role,
    clock::Time,
    events::TYPES,
    webhooks::{DeliveryPage, Webhook, WebhookDelivery, WebhookList},
};
use maud::{Markup, html};
use serde_json::{Value, json};

use super::{operation, page_member::PageMember, parts, posts::live};
use crate::{
    admin::parts::{badge, table},
    oauth_connect::{PageResponse, Visit},
};

const TITLE: &str = "Webhooks";
const PAGE: &str = "/dashboard/webhooks";

/// Shows the webhooks.
pub async fn show(visit: Visit) -> Result<PageResponse> {
    Ok(PageResponse::Wide(TITLE, page(&visit, None, None).await?))
}

/// Creates a webhook; its secret is shown on this response and nowhere else.
pub async fn create(visit: Visit) -> Result<PageResponse> {
    let events = parts::ticked(&visit, "events");
    let body = json!({
        "url": visit.form("url").unwrap_or_default(),
        "events": events,
        "workspace_id": PageMember::of(&visit).await?.act.membership.workspace_id,
        "idempotency_key": parts::once_key(&visit),
    });
    with_secret(&visit, operation::run(&visit, "create_webhook", body).await).await
}

/// Runs an action on a webhook.
pub async fn act(visit: Visit) -> Result<PageResponse> {
    let id = visit.path("id");
    let (name, body, done) = match visit.path("verb") {
        "rotate" => {
            let body = json!({"id": id, "idempotency_key": parts::once_key(&visit)});
            let made = operation::run(&visit, "rotate_webhook_secret", body).await;
            return with_secret(&visit, made).await;
        }
        "enable" => ("update_webhook", json!({"id": id, "enabled": true}), "changed"),
        "disable" => ("update_webhook", json!({"id": id, "enabled": false}), "changed"),
        "delete" => ("delete_webhook", json!({"id": id}), "deleted"),
        "test" => ("test_webhook", json!({"id": id}), "test"),
        _ => return Err(Error::new(fanfare_core::Code::NotFound, "There is no such step.")),
    };
    match operation::run(&visit, name, body).await {
        Ok(_) if done == "test" => Ok(PageResponse::Redirect(format!("{PAGE}/{id}?done=sent"))),
        Ok(_) => Ok(PageResponse::Redirect(format!("{PAGE}?done={done}"))),
        Err(error) if parts::is_shown_beside(&error) => {
            let main = page(&visit, None, Some(&error)).await?;
            Ok(PageResponse::WideInvalid(TITLE, main, error))
        }
        Err(error) => Err(error),
    }
}

async fn with_secret(visit: &Visit, made: Result<Value>) -> Result<PageResponse> {
    match made {
        Ok(made) => {
            let secret = made["webhook"]["secret"].as_str().unwrap_or_default();
            Ok(PageResponse::Wide(TITLE, page(visit, Some(secret), None).await?))
        }
        Err(error) if parts::is_shown_beside(&error) => {
            let main = page(visit, None, Some(&error)).await?;
            Ok(PageResponse::WideInvalid(TITLE, main, error))
        }
        Err(error) => Err(error),
    }
}

async fn page(visit: &Visit, secret: Option<&str>, wrong: Option<&Error>) -> Result<Markup> {
    let seat = PageMember::of(visit).await?;
    let here = seat.act.membership.workspace_id;
    let list: WebhookList =
        operation::list(visit, "list_webhooks", json!({"workspace_id": here})).await?;
    let may = seat.may(Role::Publisher);
    let done = visit.query("done").map(|done| match done {
        "deleted" => "The webhook is deleted.",
        _ => "The webhook is changed.",
    });
    Ok(html! {
        (seat.head(visit, TITLE, &html! {}))
        (parts::success_note(done))
        (parts::form_error(wrong))
        @if let Some(secret) = secret {
            div.flash.good role="status" {
                p { "This secret signs the deliveries. It is shown only now:" }
                p { code { (secret) } }
            }
        }
        p.soft { "A webhook sends what happens in the workspace to an address of yours, signed with a secret." }
        @if list.webhooks.is_empty() {
            p.empty { "There is no webhook yet. Add one to let a program of yours know when posts are published or fail." }
        }
        @for one in &list.webhooks { (card(visit, one, may)) }
        @if may { (form(visit)) } @else { p.soft { "Adding and changing webhooks needs the role publisher." } }
    })
}

fn card(visit: &Visit, one: &Webhook, may: bool) -> Markup {
    let page = format!("{PAGE}/{}", one.id);
    let again = html! { (parts::once_field()) };
    let events = one.event_types();
    html! {
        section.card {
            h2.clip { (parts::one_line(&one.url, 200)) " " (badge(if one.enabled { "enabled" } else { "disabled" })) }
            dl.facts {
                dt { "Events" } dd { @if events.contains(&"*") { "all" } @else { (events.join(", ")) } }
                @if let Some(reason) = &one.disabled_reason { dt { "Disabled because" } dd { (parts::one_line(reason, 200)) } }
                dt { "Created" } dd { (parts::minute(visit, one.created_at)) }
            }
            div.row {
                a.button href=(page) { "Deliveries" }
                @if may {
                    (step(visit, &format!("{page}/test"), "Send a test"))
                    @if one.enabled {
                        (parts::confirmed_action(visit, "Disable", &format!("{page}/disable"),
                            "Nothing is sent until you enable it again. What happens meanwhile is not sent later.", "Disable this webhook", &html! {}))
                    } @else {
                        (step(visit, &format!("{page}/enable"), "Enable"))
                    }
                    (parts::confirmed_action(visit, "New secret", &format!("{page}/rotate"),
                        "Deliveries are signed with both secrets for a day; then only with the new one.", "Make a new secret", &again))
                    (parts::confirmed_action(visit, "Delete", &format!("{page}/delete"),
                        "Nothing is sent to this address any more. This cannot be undone.", "Delete this webhook", &html! {}))
                }
            }
        }
    }
}

fn step(visit: &Visit, action: &str, words: &str) -> Markup {
    html! {
        form method="post" action=(action) {
            (parts::csrf_field(visit))
            button type="submit" { (words) }
        }
    }
}

fn form(visit: &Visit) -> Markup {
    let ticked = parts::ticked(visit, "events");
    let is_ticked =
        |event: &str| ticked.iter().any(|one| one == event) || (ticked.is_empty() && event == "*");
    html! {
        h2 { "Add a webhook" }
        form.narrow method="post" action=(PAGE) {
            (parts::csrf_field(visit))
            (parts::once_field())
            div.field {
                label for="url" { "Address" }
                input #url type="url" name="url" required maxlength="2048" placeholder="https://example.com/fanfare"
                    value=(visit.form("url").unwrap_or_default()) autocomplete="off";
            }
            fieldset {
                legend { "Events" }
                (event_field("*", "All events", is_ticked("*")))
                @for event in TYPES { (event_field(event, event, is_ticked(event))) }
            }
            button type="submit" { "Add the webhook" }
        }
    }
}

fn event_field(event: &str, words: &str, is_ticked: bool) -> Markup {
    let id = format!("event-{}", event.replace(['.', '*'], "-"));
    html! {
        div.tick {
            input id=(id) type="checkbox" name="events" value=(event) checked[is_ticked];
            label.beside for=(id) { (words) }
        }
    }
}

/// Shows the deliveries of a webhook, newest first.
pub async fn deliveries(visit: Visit) -> Result<PageResponse> {
    let (main, changes) = delivery_page(&visit, None).await?;
    Ok(PageResponse::following("Deliveries", main, changes))
}

/// Returns true for a delivery that is under way or tried again in a moment.
fn is_under_way(visit: &Visit, one: &WebhookDelivery) -> bool {
    one.next_try_at.is_some_and(|Time(at)| at < visit.cx.clock.now() + 30_000)
}

/// Delivers an event again.
pub async fn redeliver(visit: Visit) -> Result<PageResponse> {
    let (id, delivery) = (visit.path("id"), visit.path("delivery_id"));
    let body = json!({"id": id, "delivery_id": delivery});
    match operation::run(&visit, "redeliver", body).await {
        Ok(_) => Ok(PageResponse::Redirect(format!("{PAGE}/{id}?done=sent"))),
        Err(error) if parts::is_shown_beside(&error) => {
            let (main, _) = delivery_page(&visit, Some(&error)).await?;
            Ok(PageResponse::WideInvalid("Deliveries", main, error))
        }
        Err(error) => Err(error),
    }
}

/// Renders the page; also returns whether it changes by itself soon.
async fn delivery_page(visit: &Visit, wrong: Option<&Error>) -> Result<(Markup, bool)> {
    let id = visit.path("id");
    let mut asked = json!({"id": id});
    if let Some(cursor) = visit.query("cursor") {
        asked["cursor"] = cursor.into();
    }
    let shown: DeliveryPage = operation::list(visit, "list_deliveries", asked).await?;
    let may = PageMember::of(visit).await?.may(Role::Publisher);
    let done = visit
        .query("done")
        .map(|_| "The delivery is on its way. Its outcome appears here by itself.");
    let changes = shown.deliveries.iter().any(|one| is_under_way(visit, one));
    let rows: Vec<_> = shown.deliveries.iter().map(|one| row(visit, id, one, may)).collect();
    let heads = ["When", "Event", "Status", "Attempts", "Answer", ""];
    let main = html! {
        p { a href=(PAGE) { "← All webhooks" } }
        h1 { "Deliveries" }
        (parts::success_note(done))
        (parts::form_error(wrong))
        (live(&html! {
            @if rows.is_empty() { p.empty { "Nothing was delivered yet. Send a test to see whether the address answers." } }
            @else { (table("Deliveries, newest first", &heads, &rows)) }
        }, changes))
        (parts::next(&format!("{PAGE}/{id}"), shown.next_cursor.as_deref()))
    };
    Ok((main, changes))
}

fn row(visit: &Visit, webhook: &str, one: &WebhookDelivery, may: bool) -> Vec<Markup> {
    vec![
        parts::minute(visit, one.created_at),
        html! { code { (one.event_type) } },
        html! {
            (badge(&parts::name_of(one.status)))
            @if let Some(at) = one.next_try_at { span.soft { " next attempt " (parts::minute(visit, at)) } }
        },
        html! { (one.tries) },
        html! {
            @match one.last_status { Some(status) => { "HTTP " (status) } None => "–" }
            @if let Some(error) = &one.last_error { " " span.soft { (parts::one_line(error, 160)) } }
        },
        html! { @if may { (step(visit, &format!("{PAGE}/{webhook}/deliveries/{}/redeliver", one.id), "Deliver again")) } },
    ]
}
