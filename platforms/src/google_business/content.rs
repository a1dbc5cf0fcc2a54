//! Converts a post to the format of Google's API. Pure.

use serde_json::{Map, Value, json};

use super::settings::{CallToAction, Date, Event, Offer, Settings, TimeOfDay};
use crate::Draft;

/// Returns the `topicType` of a post type.
pub(super) fn topic(post_type: &str) -> &'static str {
    match post_type {
        "event" => "EVENT",
        "offer" => "OFFER",
        _ => "STANDARD",
    }
}

/// Returns the body of the call that creates the post.
pub(super) fn local_post(draft: &Draft, settings: &Settings) -> Value {
    let mut post = json!({"topicType": topic(&draft.post_type)});
    let media = draft.media.iter().map(|file| {
        let format = if file.is_video() { "VIDEO" } else { "PHOTO" };
        json!({"mediaFormat": format, "sourceUrl": file.url})
    });
    let media: Vec<Value> = media.collect();
    let parts = [
        ("languageCode", settings.language_code.as_ref().map(|code| json!(code))),
        ("summary", Some(json!(draft.caption)).filter(|_| !draft.caption.is_empty())),
        ("callToAction", settings.call_to_action.as_ref().map(call_to_action)),
        ("media", Some(json!(media)).filter(|_| !media.is_empty())),
        ("event", settings.event.as_ref().map(|one| event(one, settings.recurrence_info.as_ref()))),
        ("offer", settings.offer.as_ref().map(offer)),
    ];
    for (name, part) in parts {
        if let Some(part) = part {
            post[name] = part;
        }
    }
    post
}

fn call_to_action(button: &CallToAction) -> Value {
    let mut shown = json!({"actionType": button.action_type});
    if let Some(url) = &button.url {
        shown["url"] = json!(url);
    }
    shown
}

/// Returns an event with its recurrence, which is a field of the event and not of the post
/// (<https://developers.google.com/my-business/reference/rest/v4/accounts.locations.localPosts#LocalPostEvent>).
fn event(event: &Event, recurrence: Option<&Value>) -> Value {
    let schedule = &event.schedule;
    let mut shown =
        json!({"startDate": date(&schedule.start_date), "endDate": date(&schedule.end_date)});
    for (name, time) in [("startTime", &schedule.start_time), ("endTime", &schedule.end_time)] {
        if let Some(TimeOfDay { hours, minutes }) = time {
            shown[name] = json!({"hours": hours, "minutes": minutes});
        }
    }
    let mut event = json!({"title": event.title, "schedule": shown});
    if let Some(recurrence) = recurrence {
        event["recurrenceInfo"] = recurrence.clone();
    }
    event
}

fn date(Date { year, month, day }: &Date) -> Value {
    json!({"year": year, "month": month, "day": day})
}

fn offer(offer: &Offer) -> Value {
    let parts = [
        ("couponCode", &offer.coupon_code),
        ("redeemOnlineUrl", &offer.redeem_online_url),
        ("termsConditions", &offer.terms_conditions),
    ];
    let given = parts.into_iter().filter_map(|(name, text)| Some((name, text.as_ref()?)));
    Value::Object(given.map(|(name, text)| (name.to_owned(), json!(text))).collect::<Map<_, _>>())
}
