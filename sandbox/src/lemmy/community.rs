//! Communities: those of this instance, and remote ones, which must be resolved once before they are known.

use serde_json::{Value, json};

use super::state::Change;
use super::{Cx, HOST, access};
use crate::reply::{HandlerResult, Reply};

/// A community.
pub(super) struct Community {
    pub id: u64,
    pub name: &'static str,
    pub host: &'static str,
    pub mods_only: bool,
}

const ALL: [Community; 5] = [
    Community { id: 1, name: "fanfare", host: HOST, mods_only: false },
    Community { id: 2, name: "technology", host: HOST, mods_only: false },
    Community { id: 3, name: "pics", host: HOST, mods_only: false },
    Community { id: 4, name: "announcements", host: HOST, mods_only: true },
    Community { id: 5, name: "rust", host: "programming.example", mods_only: false },
];

/// Returns the community with this id.
pub(super) fn by_id(id: u64) -> Option<&'static Community> {
    ALL.iter().find(|one| one.id == id)
}

impl Community {
    /// `name@host`
    pub fn full_name(&self) -> String {
        format!("{}@{}", self.name, self.host)
    }

    /// Returns the `CommunityView` object.
    pub fn view(&self) -> Value {
        json!({
            "community": {
                "id": self.id,
                "name": self.name,
                "title": self.name,
                "actor_id": format!("https://{}/c/{}", self.host, self.name),
                "local": self.host == HOST,
                "removed": false,
                "deleted": false,
                "nsfw": false,
                "posting_restricted_to_mods": self.mods_only,
                "hidden": false,
                "visibility": "Public",
                "published": "2023-06-01T00:00:00.000000Z",
                "instance_id": if self.host == HOST { 1 } else { 2 },
            },
            "counts": {
                "community_id": self.id,
                "subscribers": 1,
                "posts": 0,
                "comments": 0,
                "published": "2023-06-01T00:00:00.000000Z",
                "subscribers_local": 1,
                "users_active_day": 0,
                "users_active_week": 0,
                "users_active_month": 1,
                "users_active_half_year": 1,
            },
            "banned_from_community": false,
            "subscribed": "NotSubscribed",
            "blocked": false,
        })
    }
}

/// Returns a local community by its name, or any by its full name.
fn named(name: &str) -> Option<&'static Community> {
    let (name, host) = name.split_once('@').unwrap_or((name, HOST));
    ALL.iter()
        .find(|one| one.name.eq_ignore_ascii_case(name) && one.host.eq_ignore_ascii_case(host))
}

fn unknown() -> Reply {
    access::failure(404, "couldnt_find_community")
}

/// `GET /community?name=`
pub(super) fn get(cx: &Cx) -> HandlerResult {
    let id = cx.call.query_value("id").and_then(|id| by_id(id.parse().ok()?));
    let name = cx.call.query_value("name");
    let found = id.or_else(|| named(&name?)).ok_or_else(unknown)?;
    let is_known =
        |state: &super::State| found.host == HOST || state.resolved.contains(&found.full_name());
    // A community that one account has resolved is known to all.
    if !cx.sim.all().iter().any(|account| account.read(is_known)) {
        return Err(unknown());
    }
    Ok(Reply::ok(
        &json!({"community_view": found.view(), "moderators": [], "discussion_languages": []}),
    ))
}

/// `GET /community/list`
pub(super) fn list(_cx: &Cx) -> HandlerResult {
    let local = ALL.iter().filter(|one| one.host == HOST);
    Ok(Reply::ok(&json!({"communities": local.map(Community::view).collect::<Vec<_>>()})))
}

/// `GET /resolve_object?q=!name@host`, for logged-in users.
pub(super) fn resolve(cx: &Cx) -> HandlerResult {
    let account = access::account(cx)?;
    let query = cx.call.query_value("q").unwrap_or_default();
    let found = query.strip_prefix('!').and_then(named);
    let found = found.ok_or_else(|| access::failure(404, "couldnt_find_object"))?;
    cx.sim.apply(&account, Change::Resolved { community: found.full_name() });
    Ok(Reply::ok(
        &json!({"community": found.view(), "post": null, "person": null, "comment": null}),
    ))
}
