//! Rules that the descriptor cannot express.

use chrono::{NaiveDate, NaiveDateTime, NaiveTime};

use super::{
    CAN_POST, PHOTO_HEIGHT_MIN,
    settings::{CallToAction, Date, Schedule, Settings, TimeOfDay},
};
use crate::{Account, Draft, Violation, Warning, WarningCode, text};

/// Returns the violations of rules that the descriptor cannot express.
pub(super) fn check(draft: &Draft) -> Vec<Violation> {
    let Ok(settings) = draft.settings::<Settings>() else { return Vec::new() };
    let mut found = parts(draft, &settings);
    let tag = settings.language_code.as_deref();
    found.extend(tag.and_then(|tag| text::language_violation("settings.language_code", tag)));
    found.extend(settings.call_to_action.as_ref().and_then(button));
    found.extend(settings.event.iter().flat_map(|event| schedule(&event.schedule)));
    found.extend(draft.media.iter().enumerate().filter_map(|(place, file)| {
        let (_, height) = file.dimensions.filter(|_| file.is_image())?;
        (height < PHOTO_HEIGHT_MIN).then(|| {
            let message = format!(
                "The image is {height} pixels high; google_business takes {PHOTO_HEIGHT_MIN} and more."
            );
            let remedy = format!("Use an image at least {PHOTO_HEIGHT_MIN} pixels high.");
            Violation::new(
                format!("media_urls[{place}]"),
                "media_dimensions_unsupported",
                message,
                remedy,
            )
            .with_limit(PHOTO_HEIGHT_MIN, height)
            .in_unit("pixels")
        })
    }));
    found
}

/// Checks which parts each post type requires and forbids.
fn parts(draft: &Draft, settings: &Settings) -> Vec<Violation> {
    let kind = draft.post_type.as_str();
    let (is_event, is_offer) = (kind == "event", kind == "offer");
    let mut found = Vec::new();
    if (is_event || is_offer) && settings.event.is_none() {
        let message = format!("A post of the type {kind} needs a title and a schedule.");
        let remedy = "Set settings.event with title and schedule.";
        found.push(Violation::new("settings.event", "setting_required", message, remedy));
    }
    let rules = [
        ("event", settings.event.is_some() && !is_event && !is_offer, "event or offer"),
        ("offer", settings.offer.is_some() && !is_offer, "offer"),
        (
            "recurrence_info",
            settings.recurrence_info.is_some() && !is_event && !is_offer,
            "event or offer",
        ),
        ("call_to_action", settings.call_to_action.is_some() && is_offer, "standard or event"),
    ];
    found.extend(rules.into_iter().filter(|(_, broken, _)| *broken).map(|(name, _, kinds)| {
        let message = format!("A post of the type {kind} has no {name}.");
        invalid(name, &message, &format!("Leave out {name}, or set post_type to {kinds}."))
    }));
    found
}

fn button(button: &CallToAction) -> Option<Violation> {
    let calls = button.action_type == "CALL";
    let (message, remedy) = match (calls, &button.url) {
        (true, Some(_)) => ("A CALL button calls the location and leads nowhere.", "Leave it out."),
        (false, None) => ("This button needs an address to lead to.", "Set it, or use CALL."),
        _ => return None,
    };
    Some(invalid("call_to_action.url", message, remedy))
}

/// Checks that the days exist and are in the right order.
fn schedule(schedule: &Schedule) -> Vec<Violation> {
    let mut found = Vec::new();
    let ends = [
        ("start_date", &schedule.start_date, &schedule.start_time, NaiveTime::MIN),
        ("end_date", &schedule.end_date, &schedule.end_time, LATEST),
    ];
    let times = ends.map(|(name, date, time, default)| {
        let day = day(date);
        if day.is_none() {
            let field = format!("event.schedule.{name}");
            found.push(invalid(&field, "There is no such day.", "Give a day of the calendar."));
        }
        let time = time.as_ref().map_or(Some(default), time_of);
        Some(NaiveDateTime::new(day?, time?))
    });
    if let [Some(start), Some(end)] = times
        && end <= start
    {
        let message = "It ends before it starts.";
        found.push(invalid("event.schedule.end_date", message, "Give a later end."));
    }
    found
}

/// The last minute of a day.
const LATEST: NaiveTime = match NaiveTime::from_hms_opt(23, 59, 59) {
    Some(time) => time,
    None => NaiveTime::MIN,
};

fn day(date: &Date) -> Option<NaiveDate> {
    NaiveDate::from_ymd_opt(date.year, date.month, date.day)
}

fn time_of(time: &TimeOfDay) -> Option<NaiveTime> {
    NaiveTime::from_hms_opt(time.hours, time.minutes, 0)
}

/// Returns warnings about values without their full effect.
pub(super) fn warnings(draft: &Draft) -> Vec<Warning> {
    let videos = draft.media.iter().enumerate().filter(|(_, file)| file.is_video());
    videos
        .map(|(place, _)| {
            let message = "Google often refuses videos in posts, though its API takes them; then the post fails.";
            Warning::new(WarningCode::MayBeRefused, format!("media_urls[{place}]"), message)
        })
        .collect()
}

/// Returns the violation of a location that may not post, such as those of large chains.
pub(super) fn lacks(account: &Account) -> Option<Violation> {
    let can_post = account.meta.get(CAN_POST).and_then(serde_json::Value::as_bool);
    (can_post == Some(false)).then(|| {
        let message = "Google does not let this location post.";
        let remedy = "Verify the location with Google, then connect it again; or post on another.";
        Violation::new("account_id", "location_cannot_post", message, remedy)
    })
}

fn invalid(name: &str, message: &str, remedy: &str) -> Violation {
    Violation::new(format!("settings.{name}"), "setting_invalid", message, remedy)
}
