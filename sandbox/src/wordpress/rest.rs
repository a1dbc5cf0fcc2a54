//! Conventions of the REST API: paths, errors, authentication.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{Cx, WordPress};
use crate::call::Call;
use crate::network::Identity;
use crate::page;
use crate::params::Params;
use crate::reply::Reply;
use crate::sim::Account;

const ROOT: &str = "wp/v2";

/// Returns the path below `wp/v2`, from a pretty address or from `?rest_route=`; empty for the API's index.
pub(super) fn path(call: &Call) -> Option<String> {
    let path = match call.segments().as_slice() {
        ["wp-json", rest @ ..] => rest.join("/"),
        [] | ["index.php"] => call.query_value("rest_route")?.trim_matches('/').to_owned(),
        _ => return None,
    };
    if path.is_empty() || path == ROOT {
        return Some(String::new());
    }
    let below = path.strip_prefix(ROOT)?.strip_prefix('/')?;
    Some(below.to_owned())
}

/// Returns the id at the end of the path.
pub(super) fn id(cx: &Cx) -> Option<u64> {
    path(&cx.call)?.split('/').nth(1)?.parse().ok()
}

/// Returns a user's id.
pub(super) fn user_id(identity: &Identity) -> u64 {
    identity.remote_id.parse().unwrap_or_default()
}

/// Returns an error in WordPress's format.
pub(super) fn failure(status: u16, code: &str, message: &str) -> Reply {
    Reply::json(status, &json!({"code": code, "message": message, "data": {"status": status}}))
}

/// Returns the error of an invalid parameter.
pub(super) fn invalid(name: &str, message: &str) -> Reply {
    let details = json!({"code": "rest_invalid_param", "message": message, "data": null});
    Reply::json(
        400,
        &json!({
            "code": "rest_invalid_param",
            "message": format!("Invalid parameter(s): {name}"),
            "data": {"status": 400, "params": {name: message}, "details": {name: details}},
        }),
    )
}

/// Returns a 404 of the API.
pub(super) fn no_route() -> Reply {
    failure(404, "rest_no_route", "No route was found matching the URL and request method.")
}

/// Returns an HTML error of the web server in front of WordPress.
pub(super) fn web_server(status: u16) -> Reply {
    let reason = salvo::http::StatusCode::from_u16(status)
        .ok()
        .and_then(|s| s.canonical_reason())
        .unwrap_or("Error");
    page::page(status, &format!("{status} {reason}"), "nginx", "")
}

/// Returns the parameters of the request.
pub(super) fn params(cx: &Cx) -> Result<Params, Reply> {
    let invalid = || failure(400, "rest_invalid_json", "Invalid JSON body passed.");
    Params::read(&cx.call).map_err(|_| invalid())
}

/// Returns the account of the request's application password; `None` without one.
pub(super) fn user(cx: &Cx) -> Result<Option<Arc<Account<WordPress>>>, Reply> {
    let Some((_, password)) = cx.call.basic() else { return Ok(None) };
    let unknown = || {
        failure(401, "invalid_username", "Unknown username. Check again or try your email address.")
    };
    let account = cx.account.clone().ok_or_else(unknown)?;
    let plain = |text: &str| text.chars().filter(char::is_ascii_alphanumeric).collect::<String>();
    let right = plain(&password) == plain(account.identity.private("application_password"));
    if !right || account.read(|state| state.revoked.contains(&user_id(&account.identity))) {
        return Err(failure(
            401,
            "incorrect_password",
            "The provided password is an invalid application password.",
        ));
    }
    Ok(Some(account))
}

/// Returns the user, or the error with this code and message if there is none.
pub(super) fn editor(cx: &Cx, code: &str, message: &str) -> Result<Arc<Account<WordPress>>, Reply> {
    user(cx)?.ok_or_else(|| failure(401, code, message))
}

/// Returns true if a request has the context `edit`, which requires a user.
pub(super) fn edits(cx: &Cx) -> Result<bool, Reply> {
    let user = user(cx)?;
    match cx.call.query_value("context").as_deref() {
        None | Some("view" | "embed") => Ok(false),
        Some("edit") if user.is_some() => Ok(true),
        Some("edit") => Err(failure(
            401,
            "rest_forbidden_context",
            "Sorry, you are not allowed to edit posts in this post type.",
        )),
        Some(_) => Err(invalid("context", "context is not one of view, embed, and edit.")),
    }
}

/// Returns the fields of an object that `_fields` names; all fields without it.
pub(super) fn fields(call: &Call, whole: Value) -> Value {
    let Some(names) = call.query_value("_fields") else { return whole };
    let wanted: Vec<_> = names
        .split(',')
        .map(|name| name.trim().split('.').next().unwrap_or_default().to_owned())
        .collect();
    match whole {
        Value::Object(map) => Value::Object(
            map.into_iter().filter(|(name, _)| wanted.contains(name)).collect::<Map<_, _>>(),
        ),
        other => other,
    }
}

/// A page of a list.
pub(super) struct Page {
    pub skip: usize,
    pub take: usize,
}

impl Page {
    /// Reads `page`, `per_page` and `offset`.
    pub fn read(call: &Call) -> Result<Self, Reply> {
        let number = |name: &str, default: usize| {
            call.query_value(name).map_or(Some(default), |text| text.parse().ok())
        };
        let take = number("per_page", 10).filter(|n| (1..=100).contains(n));
        let take = take.ok_or_else(|| {
            invalid("per_page", "per_page must be between 1 (inclusive) and 100 (inclusive)")
        })?;
        let page = number("page", 1).filter(|page| *page >= 1);
        let page =
            page.ok_or_else(|| invalid("page", "page must be greater than or equal to 1"))?;
        let skip = number("offset", (page - 1) * take).unwrap_or(0);
        Ok(Self { skip, take })
    }

    /// Returns the response with one page of a list, and its headers.
    pub fn reply(&self, call: &Call, all: usize, items: Vec<Value>) -> Result<Reply, Reply> {
        if self.skip > 0 && self.skip >= all {
            let message = "The page number requested is larger than the number of pages available.";
            return Err(failure(400, "rest_post_invalid_page_number", message));
        }
        let items: Vec<_> = items.into_iter().map(|item| fields(call, item)).collect();
        Ok(Reply::ok(&items)
            .with("x-wp-total", all)
            .with("x-wp-totalpages", all.div_ceil(self.take)))
    }
}
