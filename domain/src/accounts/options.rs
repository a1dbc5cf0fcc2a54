//! How each platform is connected.

use fanfare_entities::account;
use fanfare_platforms::{self as platforms, Connect, PLANNED, PlatformId, Spec};
use serde_json::{Value, json};

use super::{in_seat, view};
use crate::{Act, Reply, error::Result};

/// The connect options of all platforms.
///
/// # Errors
/// The database's.
pub async fn options(act: &Act) -> Result<Reply> {
    let accounts = in_seat(act).all(&act.cx.db.read).await?;
    let mut all: Vec<Value> =
        platforms::all().iter().map(|platform| option(act, platform.spec(), &accounts)).collect();
    all.extend(PLANNED.iter().map(|planned| {
        json!({
            "platform": planned.id, "label": planned.label, "method": "planned",
            "connection_url": null, "oauth_url": null, "requires_browser_session": true,
            "configured": false, "connected_count": 0, "scopes": [], "missing_environment": [],
            "accounts": [],
        })
    }));
    Ok(Reply::of("connect", all))
}

/// The connect options of one platform.
///
/// # Errors
/// The database's.
pub async fn options_of(act: &Act, platform: PlatformId) -> Result<Reply> {
    let accounts = in_seat(act).all(&act.cx.db.read).await?;
    Ok(Reply::of("connect", option(act, platforms::find(platform).spec(), &accounts)))
}

fn option(act: &Act, spec: &Spec, accounts: &[account::Model]) -> Value {
    let platform = spec.id.as_str();
    let matching: Vec<_> = accounts
        .iter()
        .filter(|row| row.platform == platform)
        .map(|row| view(&act.cx, row))
        .collect();
    let mut option = json!({
        "platform": platform, "label": spec.label, "connection_url": null, "oauth_url": null,
        "connected_count": matching.len(), "accounts": matching,
    });
    match spec.connect {
        Connect::Credentials(fields) => {
            option["method"] = "manual_credentials".into();
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
            option["method"] = "dashboard_oauth".into();
            option["requires_browser_session"] = true.into();
            let is_configured = act.cx.settings.apps.contains_key(&spec.id);
            option["configured"] = is_configured.into();
            option["scopes"] = json!(scopes);
            let missing = if is_configured { Vec::new() } else { spec.id.app_variables().to_vec() };
            option["missing_environment"] = json!(missing);
        }
    }
    option
}
