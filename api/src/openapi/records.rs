//! The records that replies are made of.

mod media;

use serde_json::{Map, Value, json};

use super::connecting;
use super::kinds::{
    choice, list, maybe, number, object, real, record, reference, text, time, truth, uuid,
};

/// All records, by name.
pub fn all() -> Map<String, Value> {
    let mut all = Map::new();
    let all_of_them = posts()
        .into_iter()
        .chain(media::all())
        .chain(accounts())
        .chain(connecting::all())
        .chain(others());
    for (name, schema) in all_of_them {
        all.insert(name.to_owned(), schema);
    }
    all
}

const STATUSES: [&str; 7] =
    ["draft", "scheduled", "paused", "publishing", "processing", "published", "failed"];

/// Something an accepted post does not get.
fn warning() -> Value {
    record([("field", text()), ("message", text())])
}

fn posts() -> Vec<(&'static str, Value)> {
    vec![
        ("Post", post()),
        ("PostMedia", media::of_post()),
        ("PlannedPost", planned_post()),
        ("PostError", post_error()),
        (
            "DryRun",
            record([
                ("dry_run", truth()),
                ("valid", truth()),
                ("post", reference("PlannedPost")),
                ("warnings", list(warning())),
            ]),
        ),
        ("Created", record([("post", reference("Post")), ("warnings", list(warning()))])),
        (
            "Batch",
            record([
                (
                    "posts",
                    list(record([
                        ("index", number()),
                        ("post", json!({"anyOf": [reference("Post"), reference("PlannedPost")]})),
                        ("warnings", list(warning())),
                    ])),
                ),
                ("errors", list(batch_error())),
            ]),
        ),
        (
            "GroupDeleted",
            record([
                ("deleted", list(number())),
                ("kept", list(record([("id", number()), ("status", choice(&STATUSES))]))),
            ]),
        ),
        ("Missing", record([("ready", truth()), ("missing", list(lack()))])),
        ("Attempt", attempt()),
        ("SandboxPost", record([("id", text()), ("text", text()), ("created_at", time())])),
    ]
}

fn post() -> Value {
    record([
        ("id", number()),
        ("account_id", number()),
        ("platform", text()),
        ("workspace_id", uuid()),
        ("workspace_client_id", maybe(uuid())),
        ("caption", text()),
        ("media_urls", list(text())),
        ("media", list(reference("PostMedia"))),
        ("post_type", text()),
        ("settings", object()),
        ("metadata", object()),
        ("status", choice(&STATUSES)),
        ("scheduled_at", maybe(time())),
        ("timezone", maybe(text())),
        ("group", maybe(text())),
        ("release_id", maybe(text())),
        ("attempts", number()),
        ("next_attempt_at", maybe(time())),
        ("published_at", maybe(time())),
        ("platform_post_id", maybe(text())),
        ("platform_post_url", maybe(text())),
        ("error", maybe(reference("PostError"))),
        ("created_at", time()),
        ("updated_at", time()),
    ])
}

/// A post that was only checked: it has no id.
fn planned_post() -> Value {
    let mut post = post();
    post["description"] = "A post as it would be made: with `dry_run` it gets no id.".into();
    if let Some(fields) = post["properties"].as_object_mut() {
        fields.remove("id");
    }
    if let Some(required) = post["required"].as_array_mut() {
        required.retain(|name| name != "id");
    }
    post
}

fn post_error() -> Value {
    let codes = [
        "account_disconnected",
        "token_expired",
        "content_rejected",
        "media_rejected",
        "platform_rate_limited",
        "quota_exhausted",
        "platform_unavailable",
        "misconfigured",
        "outcome_unknown",
        "missed",
    ];
    record([
        ("code", choice(&codes)),
        ("message", text()),
        ("retryable", truth()),
        ("retry_safe", truth()),
        ("remedy", maybe(text())),
        ("platform_error", maybe(object())),
    ])
}

fn batch_error() -> Value {
    let mut error =
        record([("index", number()), ("status", number()), ("code", text()), ("error", text())]);
    error["properties"]["validation_errors"] = list(reference("Violation"));
    error["properties"]["more_violations"] = number();
    error
}

fn lack() -> Value {
    record([
        ("kind", choice(&["content", "media", "account", "settings"])),
        ("field", text()),
        ("code", text()),
        ("message", text()),
        ("remedy", text()),
    ])
}

fn attempt() -> Value {
    let step = record([
        ("name", text()),
        ("phase", choice(&["prepare", "commit", "confirm"])),
        ("started_at", time()),
        ("ended_at", maybe(time())),
        ("remote_id", maybe(text())),
    ]);
    record([
        ("number", number()),
        ("started_at", time()),
        ("ended_at", maybe(time())),
        ("worker", text()),
        ("outcome", maybe(text())),
        ("error", maybe(object())),
        ("steps", list(step)),
    ])
}

fn accounts() -> Vec<(&'static str, Value)> {
    vec![
        ("Account", account()),
        (
            "AccountSchema",
            record([
                ("account_id", number()),
                ("platform", text()),
                ("post_types", list(text())),
                ("schema", object()),
                ("content_limits", reference("ContentLimits")),
                ("media_limits", reference("MediaLimits")),
            ]),
        ),
        ("ContentLimits", content_limits()),
        ("MediaLimits", media_limits()),
        ("FaultsSet", record([("account_id", number()), ("faults", list(object()))])),
        ("Platforms", platforms()),
        (
            "Brand",
            record([
                ("id", uuid()),
                ("workspace_id", uuid()),
                ("name", text()),
                ("created_at", time()),
            ]),
        ),
        (
            "BrandProfile",
            record([
                ("brand_id", uuid()),
                ("voice", maybe(text())),
                ("tone", maybe(text())),
                ("audience", maybe(text())),
                ("positioning", maybe(text())),
            ]),
        ),
    ]
}

fn account() -> Value {
    let mut account = record([
        ("id", number()),
        ("platform", text()),
        ("username", text()),
        ("display_name", maybe(text())),
        ("workspace_id", uuid()),
        ("workspace_client_id", maybe(uuid())),
        ("status", choice(&["connected", "reconnect_required", "disconnected"])),
        ("sandbox", truth()),
        ("token_expires_at", maybe(time())),
        ("created_at", time()),
    ]);
    account["properties"]["did"] = text();
    account["properties"]["sandbox_page_url"] = maybe(text());
    account
}

fn content_limits() -> Value {
    record([
        ("caption_max", number()),
        ("caption_max_with_media", number()),
        ("caption_max_with_video", number()),
        ("caption_max_bytes", maybe(number())),
        ("unit", text()),
        ("alt_text_max", number()),
    ])
}

fn media_limits() -> Value {
    record([
        ("min", number()),
        ("total_max", number()),
        ("images_max", number()),
        ("videos_max", number()),
        ("mixed", truth()),
        ("image_types", list(text())),
        ("video_types", list(text())),
        ("video_forms", list(video_form())),
        ("image_bytes_max", number()),
        ("video_bytes_max", number()),
        ("video_duration_ms_max", maybe(number())),
        ("video_duration_ms_min", maybe(number())),
        ("video_ratio", maybe(list(real()))),
        ("image_ratio", maybe(list(real()))),
        ("image_width_min", maybe(number())),
        ("image_width_max", maybe(number())),
    ])
}

fn video_form() -> Value {
    record([
        ("types", list(text())),
        ("video_codecs", list(text())),
        ("video_profiles", list(text())),
        ("pixel_formats", list(text())),
        ("audio_codecs", list(text())),
        ("audio_profiles", list(text())),
        ("audio_channels_max", maybe(number())),
        ("frame_rate", list(real())),
        ("width_max", maybe(number())),
        ("bit_rate_max", maybe(number())),
        ("faststart", truth()),
    ])
}

fn platforms() -> Value {
    let mut platforms = record([("platforms", list(object()))]);
    platforms["properties"]["planned"] = list(record([("id", text()), ("label", text())]));
    platforms
}

fn others() -> Vec<(&'static str, Value)> {
    let mut deleted = record([("deleted", truth())]);
    deleted["properties"]["id"] = serde_json::json!({"type": ["integer", "string"]});
    let mut with_secret = webhook();
    with_secret["properties"]["secret"] = text();
    if let Some(required) = with_secret["required"].as_array_mut() {
        required.push("secret".into());
    }
    vec![
        ("Deleted", deleted),
        ("Webhook", webhook()),
        ("WebhookWithSecret", with_secret),
        ("Delivery", delivery()),
        ("Event", event()),
        ("Activity", activity()),
        ("Whoami", whoami()),
        ("Subscription", subscription()),
        ("StartedSignup", signup(false)),
        ("SignupSession", signup(true)),
        ("Workspace", workspace()),
    ]
}

/// A person's subscription.
fn subscription() -> Value {
    let tiers = ["starter", "pro", "power_user", "agency"];
    let change = record([("plan_tier", choice(&tiers)), ("effective_at", time())]);
    let pause = record([("paused_at", time()), ("resumes_at", maybe(time()))]);
    let price =
        record([("amount", number()), ("currency", text()), ("interval", choice(&["month"]))]);
    let statuses = ["incomplete", "active", "past_due", "paused", "canceling", "ended"];
    record([
        ("id", uuid()),
        ("status", choice(&statuses)),
        ("plan_tier", choice(&tiers)),
        ("api_addon", truth()),
        ("price", price),
        ("current_period_start", time()),
        ("current_period_end", time()),
        ("cancel_at_period_end", truth()),
        ("pending_change", maybe(change)),
        ("pause", maybe(pause)),
        ("pause_available_at", maybe(time())),
        ("manage_url", text()),
        ("created_at", time()),
    ])
}

/// A signup as whoever began it or polls it sees it.
fn signup(polled: bool) -> Value {
    let statuses = [
        "created",
        "checkout_opened",
        "payment_processing",
        "paid",
        "ready",
        "completed",
        "failed",
        "expired",
        "cancelled",
    ];
    let started = [
        ("session_id", text()),
        ("status", choice(&statuses)),
        ("status_message", text()),
        ("checkout_redirect_url", text()),
        ("checkout_url", maybe(text())),
        ("poll_url", text()),
        ("dashboard_url", text()),
        ("login_url", text()),
        ("authorize_url", maybe(text())),
        ("expires_at", time()),
    ];
    let more = [
        ("email", text()),
        ("tier", choice(&["starter", "pro", "power_user", "agency"])),
        ("api_addon", truth()),
        ("created_at", time()),
    ];
    record(started.into_iter().chain(more.into_iter().filter(|_| polled)))
}

fn webhook() -> Value {
    record([
        ("id", uuid()),
        ("url", text()),
        ("events", list(text())),
        ("enabled", truth()),
        ("workspace_id", uuid()),
        ("created_at", time()),
        ("disabled_reason", maybe(text())),
    ])
}

fn delivery() -> Value {
    record([
        ("id", uuid()),
        ("event_id", uuid()),
        ("event_type", text()),
        ("status", choice(&["pending", "delivered", "failed"])),
        ("tries", number()),
        ("next_try_at", maybe(time())),
        ("last_status", maybe(number())),
        ("last_error", maybe(text())),
        ("created_at", time()),
    ])
}

fn event() -> Value {
    let mut event = record([
        ("id", uuid()),
        ("type", choice(fanfare_domain::events::TYPES)),
        ("created_at", time()),
        ("workspace_id", uuid()),
        ("data", object()),
    ]);
    event["properties"]["sequence"] = number();
    event
}

fn activity() -> Value {
    record([
        ("id", uuid()),
        ("type", text()),
        ("post_id", maybe(number())),
        ("account_id", maybe(number())),
        ("platform", maybe(text())),
        ("status", maybe(text())),
        ("message", text()),
        ("request_id", maybe(text())),
        ("created_at", time()),
    ])
}

fn whoami() -> Value {
    record([
        ("user", record([("id", uuid()), ("email", text()), ("name", text())])),
        (
            "key",
            record([
                ("id", uuid()),
                ("name", text()),
                ("prefix", text()),
                ("scopes", list(text())),
                ("workspace_id", maybe(uuid())),
                ("created_at", time()),
                ("last_used_at", maybe(time())),
            ]),
        ),
        ("default_workspace", maybe(reference("Workspace"))),
        ("workspaces", list(reference("Workspace"))),
    ])
}

fn workspace() -> Value {
    record([
        ("id", uuid()),
        ("name", text()),
        ("role", choice(&["viewer", "editor", "publisher", "admin"])),
        ("plan_tier", choice(&["starter", "pro", "power_user", "agency"])),
    ])
}
