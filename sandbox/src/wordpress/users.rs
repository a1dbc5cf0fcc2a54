//! The API's index and the current user.

use serde_json::json;

use super::{Cx, representations, rest};
use crate::reply::{HandlerResult, Reply};

/// The capabilities of an editor.
const ABILITIES: [&str; 12] = [
    "read",
    "edit_posts",
    "edit_others_posts",
    "edit_published_posts",
    "publish_posts",
    "delete_posts",
    "delete_published_posts",
    "upload_files",
    "manage_categories",
    "edit_pages",
    "unfiltered_html",
    "editor",
];

/// `GET /wp-json/`
pub(super) fn index(cx: &Cx) -> HandlerResult {
    let base = cx.sim.base();
    Ok(Reply::ok(&json!({
        "name": "Sandbox site",
        "description": "A simulated WordPress site",
        "url": base,
        "home": base,
        "gmt_offset": 0,
        "timezone_string": "",
        "namespaces": ["oembed/1.0", "wp/v2"],
        "authentication": {"application-passwords": {"endpoints": {"authorization": format!("{base}/wp-admin/authorize-application.php")}}},
        "routes": {},
    })))
}

/// `GET /users/me`
pub(super) fn me(cx: &Cx) -> HandlerResult {
    let account = rest::editor(cx, "rest_not_logged_in", "You are not currently logged in.")?;
    let edit = rest::edits(cx)?;
    let identity = &account.identity;
    let id = rest::user_id(identity);
    let picture = cx.sim.picture(&identity.remote_id);
    let mut user = json!({
        "id": id,
        "name": identity.username,
        "url": "",
        "description": "",
        "link": format!("{}/ui/{id}", cx.sim.base()),
        "slug": identity.username.replace(['.', '_'], "-"),
        "avatar_urls": {"24": picture, "48": picture, "96": picture},
        "meta": [],
    });
    if edit {
        user["username"] = json!(identity.username);
        user["email"] = json!(identity.private("email"));
        user["registered_date"] =
            json!(format!("{}+00:00", representations::date(identity.created_ms)));
        user["roles"] = json!(["editor"]);
        user["capabilities"] = ABILITIES
            .iter()
            .map(|name| ((*name).to_owned(), json!(true)))
            .collect::<serde_json::Map<_, _>>()
            .into();
    }
    Ok(Reply::ok(&rest::fields(&cx.call, user)))
}
