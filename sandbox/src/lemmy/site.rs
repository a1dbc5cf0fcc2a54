//! The instance and the user who asks (`GET /site`), with all that Lemmy promises of them.

use serde_json::{Value, json};

use super::{Cx, HOST, access, representations};
use crate::reply::{HandlerResult, Reply};

/// Since when the instance is there.
const SINCE: &str = "2023-06-01T00:00:00.000000Z";

/// `GET /site`
pub(super) fn get(cx: &Cx) -> HandlerResult {
    let mut shown = json!({
        "site_view": {
            "site": site(),
            "local_site": local_site(),
            "local_site_rate_limit": rate_limits(),
            "counts": counts(cx.sim.all().len()),
        },
        "version": "0.19.11",
        "admins": [],
        "all_languages": [
            {"id": 0, "code": "und", "name": "Undetermined"},
            {"id": 37, "code": "en", "name": "English"},
        ],
        "discussion_languages": [0, 37],
        "taglines": [],
        "custom_emojis": [],
        "blocked_urls": [],
    });
    if let Some(account) = access::visitor(cx) {
        let mut person = representations::person(&account.identity);
        person["avatar"] = json!(cx.sim.picture(&account.identity.remote_id));
        shown["my_user"] = my_user(&person);
    }
    Ok(Reply::ok(&shown))
}

fn site() -> Value {
    json!({
        "id": 1,
        "instance_id": 1,
        "name": "Fanfare's Lemmy",
        "actor_id": format!("https://{HOST}/"),
        "inbox_url": format!("https://{HOST}/inbox"),
        "public_key": "",
        "published": SINCE,
        "last_refreshed_at": SINCE,
    })
}

fn local_site() -> Value {
    json!({
        "id": 1,
        "site_id": 1,
        "site_setup": true,
        "enable_downvotes": true,
        "enable_nsfw": true,
        "community_creation_admin_only": false,
        "require_email_verification": false,
        "private_instance": false,
        "default_theme": "browser",
        "default_post_listing_type": "Local",
        "default_post_listing_mode": "List",
        "default_sort_type": "Active",
        "hide_modlog_mod_names": true,
        "application_email_admins": false,
        "reports_email_admins": false,
        "slur_filter_regex": null,
        "actor_name_max_length": 20,
        "federation_enabled": true,
        "federation_signed_fetch": false,
        "captcha_enabled": false,
        "captcha_difficulty": "medium",
        "registration_mode": "Open",
        "published": SINCE,
    })
}

fn rate_limits() -> Value {
    json!({
        "local_site_id": 1,
        "message": 180, "message_per_second": 60,
        "post": 6, "post_per_second": 600,
        "register": 3, "register_per_second": 3_600,
        "image": 6, "image_per_second": 3_600,
        "comment": 6, "comment_per_second": 600,
        "search": 60, "search_per_second": 600,
        "import_user_settings": 1, "import_user_settings_per_second": 86_400,
        "published": SINCE,
    })
}

fn counts(users: usize) -> Value {
    json!({
        "site_id": 1,
        "users": users,
        "posts": 0,
        "comments": 0,
        "communities": 5,
        "users_active_day": users,
        "users_active_week": users,
        "users_active_month": users,
        "users_active_half_year": users,
    })
}

fn my_user(person: &Value) -> Value {
    let id = &person["id"];
    json!({
        "local_user_view": {
            "local_user": local_user(id),
            "local_user_vote_display_mode": {
                "local_user_id": id,
                "score": false,
                "upvotes": true,
                "downvotes": true,
                "upvote_percentage": false,
            },
            "person": person,
            "counts": {"person_id": id, "post_count": 0, "comment_count": 0},
        },
        "follows": [],
        "moderates": [],
        "community_blocks": [],
        "instance_blocks": [],
        "person_blocks": [],
        "discussion_languages": [0, 37],
    })
}

fn local_user(id: &Value) -> Value {
    json!({
        "id": id,
        "person_id": id,
        "show_nsfw": false,
        "theme": "browser",
        "default_sort_type": "Active",
        "default_listing_type": "Local",
        "interface_language": "browser",
        "show_avatars": true,
        "send_notifications_to_email": false,
        "show_scores": true,
        "show_bot_accounts": true,
        "show_read_posts": true,
        "email_verified": true,
        "accepted_application": true,
        "open_links_in_new_tab": false,
        "blur_nsfw": true,
        "auto_expand": false,
        "infinite_scroll_enabled": false,
        "admin": false,
        "post_listing_mode": "List",
        "totp_2fa_enabled": false,
        "enable_keyboard_navigation": false,
        "enable_animated_images": true,
        "collapse_bot_comments": false,
    })
}
