//! The ways to connect each platform.

use fanfare_entities::account;
use fanfare_platforms::{self as platforms, Connect, PLANNED, Planned, PlatformId, Spec};
use serde_json::{Value, json};

use super::{
    oauth_connect::{method, redirect_uri, start_page},
    view, visible,
};
use crate::{
    Act, Reply,
    error::{Code, Error, Result},
};

/// The connect options of all platforms.
///
/// # Errors
/// The database's.
pub async fn options(act: &Act) -> Result<Reply> {
    let accounts = visible(act).all(&act.cx.db.read).await?;
    let mut all: Vec<Value> =
        platforms::all().iter().map(|platform| option(act, platform.spec(), &accounts)).collect();
    all.extend(PLANNED.iter().map(planned));
    Ok(Reply::of("connect", all))
}

/// The connect options of one platform, be it only announced.
///
/// # Errors
/// [`Code::PlatformNotFound`].
pub async fn options_of(act: &Act, name: &str) -> Result<Reply> {
    if let Some(announced) = PLANNED.iter().find(|planned| planned.id == name) {
        return Ok(Reply::of("connect", planned(announced)));
    }
    let platform: PlatformId =
        name.parse().map_err(|error| Error::new(Code::PlatformNotFound, format!("{error}")))?;
    let accounts = visible(act).all(&act.cx.db.read).await?;
    Ok(Reply::of("connect", option(act, platforms::find(platform).spec(), &accounts)))
}

fn planned(planned: &Planned) -> Value {
    json!({
        "platform": planned.id, "label": planned.label, "method": "planned",
        "connection_url": null, "oauth_url": null, "requires_browser_session": true,
        "configured": false, "connected_count": 0, "scopes": [], "missing_environment": [],
        "accounts": [],
    })
}

fn option(act: &Act, spec: &Spec, accounts: &[account::Model]) -> Value {
    let platform = spec.id.as_str();
    let matching: Vec<_> = accounts
        .iter()
        .filter(|row| row.platform == platform)
        .map(|row| view(&act.cx, row))
        .collect();
    let mut option = json!({
        "platform": platform, "label": spec.label, "method": method(&spec.connect),
        "connection_url": start_page(&act.cx.settings.base_url, spec.id), "oauth_url": null,
        "connected_count": matching.len(), "accounts": matching,
    });
    match spec.connect {
        Connect::Credentials(fields) => {
            option["requires_browser_session"] = false.into();
            option["configured"] = true.into();
            option["scopes"] = json!([]);
            option["missing_environment"] = json!([]);
            let required = fields.iter().filter(|field| field.required);
            option["credential_fields"] = required.map(|field| field.name).collect();
            let optional = fields.iter().filter(|field| !field.required);
            option["optional_credential_fields"] = optional.map(|field| field.name).collect();
            option["supports_direct_credentials"] = true.into();
            option["credentials_endpoint"] =
                format!("{}/api/v1/connect/{platform}/credentials", act.cx.settings.base_url)
                    .into();
        }
        Connect::Oauth(oauth) => {
            let scopes: Vec<_> = oauth.permissions.iter().map(|one| one.name).collect();
            option["requires_browser_session"] = true.into();
            let is_configured =
                !spec.connect.needs_app() || act.cx.settings.apps.contains_key(&spec.id);
            option["configured"] = is_configured.into();
            option["scopes"] = json!(scopes);
            let missing = if is_configured { Vec::new() } else { spec.id.app_variables().to_vec() };
            option["missing_environment"] = json!(missing);
            option["callback_url"] = redirect_uri(&act.cx, spec.id).into();
        }
    }
    option
}
