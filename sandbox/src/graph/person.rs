//! Objects that a user token can read: the user, the pages, the permissions.

use serde_json::{Value, json};

use super::{Graph, access, fields, page};
use crate::network::Cx;
use crate::reply::{HandlerResult, Reply};
use crate::sim::Account;

/// The default and the largest number of pages in a response.
const PAGE: usize = 25;
const PAGE_MAX: usize = 100;

/// Optional fields of a page.
const OPTIONAL: [&str; 4] = ["instagram_business_account", "cover", "followers_count", "fan_count"];

/// `GET /me`: the user, or the page that the token belongs to.
pub(crate) fn me<N: Graph>(cx: &Cx<N>) -> HandlerResult {
    if access::is_person(&cx.call) {
        let (account, _) = access::person_of(cx, &access::required_token(&cx.call)?)?;
        let whole = json!({"id": person_id(&account), "name": "Simulated Person"});
        return Ok(Reply::ok(&fields::pick(&cx.call, &whole, &[], "User")?));
    }
    let account = access::page(cx)?;
    let whole = page(&account, &cx.sim.picture(&account.identity.remote_id));
    Ok(Reply::ok(&fields::pick(&cx.call, &whole, &OPTIONAL, "Page")?))
}

fn person_id<N: Graph>(account: &Account<N>) -> String {
    format!("9{}", account.identity.remote_id)
}

/// `GET /me/accounts`: the pages that the user selected, each with its token.
pub(crate) fn accounts<N: Graph>(cx: &Cx<N>) -> HandlerResult {
    let (_, life) = access::person_of(cx, &access::required_token(&cx.call)?)?;
    let limit = cx.call.query_value("limit").and_then(|limit| limit.parse().ok());
    let limit = limit.unwrap_or(PAGE).clamp(1, PAGE_MAX);
    let from: usize =
        cx.call.query_value("after").and_then(|after| after.parse().ok()).unwrap_or(0);
    let mut shown = Vec::new();
    let known = life.granted.accounts.iter().filter_map(|id| cx.sim.account(id));
    for account in known.skip(from).take(limit) {
        let mut whole = page(&account, &cx.sim.picture(&account.identity.remote_id));
        whole["access_token"] = json!(account.identity.private(access::PAGE_TOKEN));
        shown.push(fields::pick(&cx.call, &whole, &OPTIONAL, "Page")?);
    }
    let end = from + shown.len();
    let mut paging = json!({"cursors": {"before": from.to_string(), "after": end.to_string()}});
    if end < life.granted.accounts.len() {
        let path = &cx.call.path;
        paging["next"] = json!(format!("{}/{path}?limit={limit}&after={end}", cx.sim.base()));
    }
    Ok(Reply::ok(&json!({"data": shown, "paging": paging})))
}

/// `GET /me/businesses`: this user has none.
pub(crate) fn businesses<N: Graph>(cx: &Cx<N>) -> HandlerResult {
    access::person_of(cx, &access::required_token(&cx.call)?)?;
    Ok(Reply::ok(&json!({"data": []})))
}

/// `GET /me/permissions`
pub(crate) fn permissions<N: Graph>(cx: &Cx<N>) -> HandlerResult {
    let (_, life) = access::person_of(cx, &access::required_token(&cx.call)?)?;
    let entry =
        |status: &'static str| move |name: &String| json!({"permission": name, "status": status});
    let granted = life.granted.scopes.iter().map(entry("granted"));
    let all: Vec<Value> =
        granted.chain(life.granted.declined.iter().map(entry("declined"))).collect();
    Ok(Reply::ok(&json!({"data": all})))
}

/// `DELETE /me/permissions`: the app loses its access to all pages of the user.
pub(crate) fn revoke<N: Graph>(cx: &Cx<N>) -> HandlerResult {
    let (_, life) = access::person_of(cx, &access::required_token(&cx.call)?)?;
    for account in life.granted.accounts.iter().filter_map(|id| cx.sim.account(id)) {
        cx.sim.apply(&account, N::login(super::login::Change::Revoked));
    }
    Ok(Reply::ok(&json!({"success": true})))
}
