//! The poll of a status.

use serde_json::Value;

use super::access;
use super::instance::{EXPIRES_IN, OPTION_MAX, OPTIONS_MAX};
use super::state::Poll;
use crate::params::Params;
use crate::reply::Reply;

/// Parses the requested poll, given as JSON or as `poll[…]` of a form.
pub(super) fn read(params: &Params, now_ms: i64) -> Result<Option<Poll>, Reply> {
    let json = match params.json("poll") {
        Some(Ok(poll)) if poll.is_object() => Some(poll),
        Some(_) => return Err(access::failure(400, "There was a problem with the poll")),
        None => None,
    };
    if json.is_none() && !params.has("poll[options]") {
        return Ok(None);
    }
    let number = |name: &str| match &json {
        Some(poll) => poll[name].as_i64(),
        None => params.integer(&format!("poll[{name}]")),
    };
    let flag = |name: &str| match &json {
        Some(poll) => poll[name] == true,
        None => params.flag(&format!("poll[{name}]")),
    };
    let options = match &json {
        Some(poll) => {
            let list = poll["options"].as_array().into_iter().flatten();
            list.filter_map(Value::as_str).map(str::to_owned).collect()
        }
        None => params.texts("poll[options]"),
    };
    let expires_in = number("expires_in").unwrap_or(0);
    checked(&options, expires_in)?;
    let expires_ms = now_ms + expires_in * 1_000;
    let (multiple, hide_totals) = (flag("multiple"), flag("hide_totals"));
    Ok(Some(Poll { options, expires_ms, multiple, hide_totals }))
}

fn checked(options: &[String], expires_in: i64) -> Result<(), Reply> {
    let mut unique = options.to_vec();
    unique.sort();
    unique.dedup();
    let flaws = [
        (options.len() < 2, "Options must be more than one item"),
        (options.len() > OPTIONS_MAX, "Options can't contain more than 4 items"),
        (
            options.iter().any(|one| one.chars().count() > OPTION_MAX),
            "Options cannot be longer than 50 characters each",
        ),
        (options.iter().any(|one| one.trim().is_empty()), "Options can't be blank"),
        (unique.len() < options.len(), "Options contain duplicate items"),
        (expires_in < *EXPIRES_IN.start(), "Expires at is too soon"),
        (expires_in > *EXPIRES_IN.end(), "Expires at is too far into the future"),
    ];
    match flaws.iter().find(|(is_flawed, _)| *is_flawed) {
        Some((_, why)) => Err(access::invalid(why)),
        None => Ok(()),
    }
}
