//! Members and the organizations that they administer.

use serde_json::{Value, json};

use super::{Cx, access, failure};
use crate::network::Identity;
use crate::reply::{HandlerResult, Reply};

/// `GET /v2/userinfo`
pub(super) fn userinfo(cx: &Cx) -> HandlerResult {
    let account = access::account_with_scope(cx, &["openid"], "GET /userinfo")?;
    let identity = &account.identity;
    Ok(Reply::ok(&json!({
        "sub": identity.private("sub"),
        "name": identity.private("name"),
        "picture": cx.sim.picture(&identity.remote_id),
        "locale": {"country": "US", "language": "en"},
    })))
}

/// `GET /v2/me`
pub(super) fn me(cx: &Cx) -> HandlerResult {
    let account = access::account_with_scope(cx, &["profile"], "GET /me")?;
    let identity = &account.identity;
    Ok(Reply::ok(&json!({
        "id": identity.private("sub"),
        "vanityName": identity.private("vanity"),
        "localizedFirstName": identity.private("name"),
    })))
}

/// `GET /v2/organizationalEntityAcls?q=roleAssignee`
pub(super) fn acls(cx: &Cx) -> HandlerResult {
    let account = access::account_with_scope(
        cx,
        &["rw_organization_admin"],
        "GET /organizationalEntityAcls",
    )?;
    if cx.call.query_value("q").as_deref() != Some("roleAssignee") {
        return Err(failure::malformed("No such finder"));
    }
    let identity = &account.identity;
    let urn = access::page(identity);
    let mut acl = json!({"role": "ADMINISTRATOR", "organizationalTarget": urn});
    if cx.call.query_value("projection").is_some_and(|it| it.contains("organizationalTarget~")) {
        acl["organizationalTarget~"] = page(identity);
    }
    Ok(Reply::ok(&json!({"elements": [acl], "paging": {"start": 0, "count": 10, "links": []}})))
}

/// `GET /v2/organizations?q=vanityName&vanityName=…`
pub(super) fn organizations(cx: &Cx) -> HandlerResult {
    access::account(cx)?;
    let wanted = cx.call.query_value("vanityName").unwrap_or_default();
    let found = cx.sim.find(&format!("company/{wanted}"));
    let elements: Vec<Value> = found.iter().map(|account| page(&account.identity)).collect();
    Ok(Reply::ok(&json!({"elements": elements})))
}

fn page(identity: &Identity) -> Value {
    json!({
        "id": identity.private("organization_id").parse::<u64>().unwrap_or_default(),
        "localizedName": identity.private("organization_name"),
        "vanityName": identity.private("organization_vanity"),
    })
}

/// `GET /rest/organizationalEntityNotifications?q=criteria`: posts that mention the organization.
pub(super) fn notifications(cx: &Cx) -> HandlerResult {
    access::version(cx)?;
    let account = access::account_with_scope(
        cx,
        &["rw_organization_admin"],
        "GET /organizationalEntityNotifications",
    )?;
    let urn = access::page(&account.identity);
    if cx.call.query_value("organizationalEntity").as_deref() != Some(urn.as_str()) {
        return Err(failure::denied("Viewer is not an administrator of the organization"));
    }
    if !cx.call.query.contains("List(SHARE_MENTION)") {
        return Err(failure::malformed("Unknown actions"));
    }
    let mut elements = Vec::new();
    for other in cx.sim.all() {
        let found = other.read(|state| {
            let posts = state
                .posts
                .iter()
                .filter(|(_, post)| post.commentary.contains(&format!("({urn})")));
            posts
                .map(|(number, post)| {
                    json!({
                        "notificationId": number,
                        "organizationalEntity": urn,
                        "action": "SHARE_MENTION",
                        "sourcePost": post.urn,
                        "generatedActivity": post.urn,
                        "lastModifiedAt": post.at_ms,
                    })
                })
                .collect::<Vec<_>>()
        });
        elements.extend(found);
    }
    Ok(Reply::ok(&json!({"elements": elements, "paging": {"start": 0, "count": 10, "links": []}})))
}
