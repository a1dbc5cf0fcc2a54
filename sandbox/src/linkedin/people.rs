//! Members and the organizations that they administer.

use serde_json::{Map, Value, json};

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
    let account = access::account_with_scope(cx, &["r_liteprofile", "r_basicprofile"], "GET /me")?;
    let identity = &account.identity;
    Ok(Reply::ok(&json!({
        "id": identity.private("sub"),
        "vanityName": identity.private("vanity"),
        "localizedFirstName": identity.private("name"),
    })))
}

/// `GET /v2/organizationalEntityAcls`, `GET /v2/organizations`: LinkedIn has ended the calls without a version.
pub(super) fn unversioned(cx: &Cx) -> HandlerResult {
    access::account(cx)?;
    Err(failure::denied(&format!("Not enough permissions to access: GET /{}", cx.call.segment(1))))
}

/// `GET /rest/organizationAcls?q=roleAssignee`
pub(super) fn acls(cx: &Cx) -> HandlerResult {
    access::version(cx)?;
    let account =
        access::account_with_scope(cx, &["rw_organization_admin"], "GET /organizationAcls")?;
    if cx.call.query_value("q").as_deref() != Some("roleAssignee") {
        return Err(failure::malformed("No such finder"));
    }
    let identity = &account.identity;
    let acl = json!({
        "role": "ADMINISTRATOR",
        "organization": access::page(identity),
        "roleAssignee": access::person(identity),
        "state": "APPROVED",
    });
    Ok(Reply::ok(&json!({"elements": [acl], "paging": {"start": 0, "count": 10, "links": []}})))
}

/// `GET /rest/organizations?q=vanityName&vanityName=…`, or `?ids=List(1,2)` of organizations that the member administers.
pub(super) fn organizations(cx: &Cx) -> HandlerResult {
    access::version(cx)?;
    let scopes = ["rw_organization_admin", "r_organization_social"];
    let account = access::account_with_scope(cx, &scopes, "GET /organizations")?;
    if let Some(ids) = cx.call.query_value("ids") {
        return batch(&account.identity, &ids);
    }
    if cx.call.query_value("q").as_deref() != Some("vanityName") {
        return Err(failure::malformed("No such finder"));
    }
    let wanted = cx.call.query_value("vanityName").unwrap_or_default();
    let found = cx.sim.find(&format!("company/{wanted}"));
    let elements: Vec<Value> = found.iter().map(|account| page(&account.identity)).collect();
    Ok(Reply::ok(&json!({"elements": elements})))
}

/// Returns organizations by their numbers, and why others are not among them.
fn batch(identity: &Identity, ids: &str) -> HandlerResult {
    let ids = ids.strip_prefix("List(").and_then(|ids| ids.strip_suffix(')'));
    let ids = ids.ok_or_else(|| failure::malformed("ids is no list"))?;
    let (mut results, mut errors, mut statuses) = (Map::new(), Map::new(), Map::new());
    for id in ids.split(',') {
        let is_own = id == identity.private("organization_id");
        statuses.insert(id.to_owned(), json!(if is_own { 200 } else { 403 }));
        if is_own {
            results.insert(id.to_owned(), page(identity));
        } else {
            let message = "Viewer is not an administrator of the organization";
            errors.insert(id.to_owned(), json!({"status": 403, "message": message}));
        }
    }
    Ok(Reply::ok(&json!({"results": results, "statuses": statuses, "errors": errors})))
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
