//! The records of connecting, helpers and slots.

use serde_json::Value;

use super::kinds::{
    choice, list, maybe, number, object, record, reference, text, time, truth, uuid,
};

/// All of them, by name.
pub fn all() -> Vec<(&'static str, Value)> {
    vec![
        ("ConnectOptions", connect_options()),
        ("ConnectSession", connect_session()),
        (
            "Connected",
            record([
                ("connected", truth()),
                ("account", record([("id", number()), ("platform", text()), ("username", text())])),
                ("workspace_id", uuid()),
            ]),
        ),
        ("HelperResult", helper_result()),
        ("XQuota", x_quota()),
        ("Slots", slots()),
        ("NextSlot", next_slot()),
    ]
}

fn connect_options() -> Value {
    let mut options = record([
        ("platform", text()),
        ("label", text()),
        ("method", choice(&["dashboard_oauth", "manual_credentials", "planned"])),
        ("connection_url", maybe(text())),
        ("oauth_url", maybe(text())),
        ("requires_browser_session", truth()),
        ("configured", truth()),
        ("connected_count", number()),
        ("scopes", list(text())),
        ("missing_environment", list(text())),
        ("accounts", list(reference("Account"))),
    ]);
    options["properties"]["callback_url"] = text();
    options["properties"]["credential_fields"] = list(text());
    options["properties"]["optional_credential_fields"] = list(text());
    options["properties"]["supports_direct_credentials"] = truth();
    options["properties"]["credentials_endpoint"] = text();
    options
}

fn connect_session() -> Value {
    let statuses = [
        "created",
        "opened",
        "awaiting_provider",
        "awaiting_credentials",
        "connected",
        "failed",
        "cancelled",
        "expired",
    ];
    record([
        ("id", uuid()),
        ("platform", text()),
        ("method", choice(&["dashboard_oauth", "manual_credentials"])),
        ("status", choice(&statuses)),
        ("status_message", text()),
        ("connect_url", text()),
        ("poll_url", text()),
        ("connected_count", number()),
        ("workspace_id", uuid()),
        ("workspace_client_id", maybe(uuid())),
        ("sandbox", truth()),
        ("auto_start", truth()),
        ("accounts", list(record([("id", number()), ("platform", text()), ("username", text())]))),
        ("error", maybe(object())),
        ("created_at", time()),
        ("expires_at", time()),
    ])
}

fn helper_result() -> Value {
    record([("tool", text()), ("account_id", maybe(number())), ("result", object())])
}

fn x_quota() -> Value {
    let mut quota = record([
        ("platform", text()),
        ("managed", truth()),
        ("used", number()),
        ("limit", number()),
        ("remaining", number()),
        ("period", record([("start", time()), ("end", time())])),
        ("url_blocked", truth()),
        ("url_cost", number()),
        ("addon", maybe(object())),
        ("plans", list(record([("plan", text()), ("posts_per_month", number())]))),
    ]);
    quota["description"] = "What the workspace's plan includes of posts to X in a calendar month (UTC). It is told and \
        not enforced. A post whose caption has an address counts `url_cost` posts, and `url_blocked` tells that as many \
        are not left."
        .into();
    quota
}

fn slots() -> Value {
    record([
        ("account_id", number()),
        ("times", list(text())),
        ("days", list(text())),
        ("timezone", text()),
        ("default", truth()),
    ])
}

fn next_slot() -> Value {
    let slot = record([
        ("scheduled_at", time()),
        ("local_time", text()),
        ("timezone", text()),
        ("reason", text()),
    ]);
    let mut next = record([("slot", maybe(slot))]);
    next["properties"]["reason"] = text();
    next
}
