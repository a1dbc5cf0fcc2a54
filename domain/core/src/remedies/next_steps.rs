//! The next steps after an error, by its code.

use fanfare_entities::{PostId, account};
use fanfare_platforms::NextAction;
use serde_json::{Map, Value, json};

use super::RequestContext;
use crate::{
    Act,
    access::{Role, Scope},
    error::Code,
};

/// An operation of the API that a next step names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    /// Its id.
    pub name: &'static str,
    /// HTTP method.
    pub method: &'static str,
    /// Its path, with `{parameters}`.
    pub path: &'static str,
}

impl Operation {
    const fn get(name: &'static str, path: &'static str) -> Self {
        Self { name, method: "GET", path }
    }

    const fn patch(name: &'static str, path: &'static str) -> Self {
        Self { name, method: "PATCH", path }
    }

    const fn post(name: &'static str, path: &'static str) -> Self {
        Self { name, method: "POST", path }
    }

    /// Returns a call of it; an empty `path` stands for its own path.
    pub(super) fn next(&self, path: String, body: Option<Value>, why: &'static str) -> NextAction {
        let path = if path.is_empty() { self.path.to_owned() } else { path };
        let operation = Some(self.name);
        NextAction { operation, method: self.method, path, body, url: None, why }
    }
}

macro_rules! operations {
    ($($name:ident = $make:ident $id:literal, $path:literal;)+) => {
        $(pub(super) const $name: Operation = Operation::$make($id, $path);)+

        /// All operations that next steps name.
        pub const OPERATIONS: &[Operation] = &[$($name,)+];
    };
}

operations! {
    WHOAMI = get "whoami", "/api/v1/whoami";
    ACCOUNTS = get "list_accounts", "/api/v1/accounts";
    SCHEMA = get "get_platform_schema", "/api/v1/accounts/{id}/schema";
    POSTS = get "list_posts", "/api/v1/posts";
    POST = get "get_post", "/api/v1/posts/{id}";
    ATTEMPTS = get "list_attempts", "/api/v1/posts/{id}/attempts";
    CHANGE = patch "update_post", "/api/v1/posts/{id}";
    MISSING = get "get_post_missing", "/api/v1/posts/{id}/missing";
    RETRY = post "retry_post", "/api/v1/posts/{id}/retry";
    BRANDS = get "list_brands", "/api/v1/brands";
    WEBHOOKS = get "list_webhooks", "/api/v1/webhooks";
    FILES = get "list_media", "/api/v1/media";
    DROP = post "create_media_drop", "/api/v1/media/drop-sessions";
    PLATFORMS = get "list_platforms", "/api/v1/platforms";
    OPTIONS = get "get_connect_link", "/api/v1/connect/{platform}";
    CONNECT = get "list_connect_options", "/api/v1/connect";
    RECONNECT = post "create_connect_session", "/api/v1/connect/{platform}/sessions";
    NEW_SANDBOX_ACCOUNT = post "create_sandbox_account", "/api/v1/sandbox/accounts";
    TRIGGER = post "trigger_platform_helper", "/api/v1/platforms/trigger";
    SUGGESTIONS = get "list_suggestions", "/api/v1/suggestions";
    CREDITS = get "get_credits", "/api/v1/credits";
    JOBS = get "list_video_jobs", "/api/v1/ai/video-jobs";
    KEYS = get "list_api_keys", "/api/v1/keys";
    CLIENTS = get "list_oauth_clients", "/api/v1/oauth/clients";
    GRANTS = get "list_oauth_grants", "/api/v1/oauth/grants";
    CONVERSATIONS = get "list_conversations", "/api/v1/inbox/conversations";
    COMMENTS = get "list_comments", "/api/v1/inbox/comments";
}

/// A next step after an error.
#[derive(Debug, Clone, Copy)]
pub enum NextStep {
    /// A call. It is left out if its path needs an id that the request did not name.
    Call(Operation, &'static str),
    /// Reads the post until its status changes.
    Follow,
    /// The same request with `acknowledge_duplicate_risk: true`.
    TakeRisk,
    /// A page for the user.
    Page(&'static str, &'static str),
}

/// Operations that take `acknowledge_duplicate_risk`.
const RISKY: [&str; 4] =
    ["retry_post", "update_post_status", "reply_to_conversation", "reply_to_comment"];

impl NextStep {
    /// Returns true if it changes what the post says.
    #[must_use]
    pub fn changes_the_post(&self) -> bool {
        matches!(self, Self::Call(operation, _) if *operation == CHANGE)
    }

    /// Returns its description for the documentation of errors.
    #[must_use]
    pub fn description(&self) -> (&'static str, &'static str) {
        match self {
            Self::Call(operation, why) => (operation.name, why),
            Self::Follow => (POST.name, FOLLOW),
            Self::TakeRisk => ("the same operation", TAKE_RISK),
            Self::Page(path, why) => (path, why),
        }
    }

    /// Returns the call, if everything that it needs is known.
    #[must_use]
    pub fn call(&self, situation: &RequestContext) -> Option<NextAction> {
        match self {
            Self::Call(operation, why) => {
                let path = path(operation, situation)?;
                Some(operation.next(path, body(operation, situation), why))
            }
            Self::Follow => {
                let path = format!("{}?wait=25", path(&POST, situation)?);
                Some(POST.next(path, None, FOLLOW))
            }
            Self::TakeRisk => take_risk(situation),
            Self::Page(path, why) => {
                let url = Some(format!("{}{path}", situation.base_url));
                let path = (*path).to_owned();
                Some(NextAction { operation: None, method: "GET", path, body: None, url, why })
            }
        }
    }
}

const FOLLOW: &str = "Waits until the post's status changes, and shows it.";

const TAKE_RISK: &str = "Sends it although it may be public already; look first, and ask the user.";

fn take_risk(situation: &RequestContext) -> Option<NextAction> {
    let (operation, method, path) = situation.request.clone()?;
    if !RISKY.contains(&operation) {
        return None;
    }
    let mut body = match &situation.body {
        Some(Value::Object(body)) => body.clone(),
        _ => Map::new(),
    };
    body.insert("acknowledge_duplicate_risk".to_owned(), true.into());
    let (operation, body) = (Some(operation), Some(body.into()));
    Some(NextAction { operation, method, path, body, url: None, why: TAKE_RISK })
}

fn path(operation: &Operation, situation: &RequestContext) -> Option<String> {
    let mut path = operation.path.to_owned();
    if path.contains("{platform}") {
        path = path.replace("{platform}", &situation.account.as_ref()?.platform);
    }
    if path.contains("{id}") {
        let id = match path.starts_with("/api/v1/posts/") {
            true => situation.post?.0,
            false => situation.account.as_ref()?.id.0,
        };
        path = path.replace("{id}", &id.to_string());
    }
    Some(path)
}

fn body(operation: &Operation, situation: &RequestContext) -> Option<Value> {
    match operation.name {
        "create_connect_session" => {
            let sandbox = situation.account.as_ref().is_some_and(|account| account.sandbox);
            Some(if sandbox { json!({"sandbox": true}) } else { json!({"auto_start": true}) })
        }
        _ if operation.method != "GET" => Some(json!({})),
        _ => None,
    }
}

/// Returns the call, or the page, with which this caller connects an account again.
pub fn reconnect(act: &Act, account: &account::Model) -> Option<NextAction> {
    const LINK: &str = "Makes a link on which a person connects the account again.";
    const PAGE: NextStep =
        NextStep::Page("/dashboard/accounts", "Ask a publisher to connect the account again.");
    let situation = RequestContext {
        base_url: act.cx.settings.base_url.clone(),
        account: Some(account.into()),
        ..RequestContext::default()
    };
    let may = act.caller.scopes.contains(&Scope::AccountsWrite);
    if !may || act.membership.role < Role::Publisher {
        return PAGE.call(&situation);
    }
    let mut body = json!({ "workspace_id": account.workspace_id });
    if let Some(brand) = account.brand_id {
        body["workspace_client_id"] = json!(brand);
    }
    if account.sandbox {
        body["platform"] = account.platform.as_str().into();
        body["username"] = account.username.as_str().into();
        let why = "Connects the account on the simulated network again.";
        return Some(NEW_SANDBOX_ACCOUNT.next(String::new(), Some(body), why));
    }
    body["auto_start"] = true.into();
    Some(RECONNECT.next(path(&RECONNECT, &situation)?, Some(body), LINK))
}

/// Returns the call that shows a post.
pub fn show_post(act: &Act, id: PostId) -> Option<NextAction> {
    let base_url = act.cx.settings.base_url.clone();
    let situation = RequestContext { base_url, post: Some(id), ..RequestContext::default() };
    NextStep::Call(POST, "Shows the post.").call(&situation)
}

const RECONNECT_LINK: NextStep =
    NextStep::Call(RECONNECT, "Makes a link on which a person connects the account again.");
const RECONNECTING: &[NextStep] =
    &[RECONNECT_LINK, NextStep::Call(OPTIONS, "Shows how the platform is connected.")];
const LOOK_AT_ATTEMPTS: NextStep =
    NextStep::Call(ATTEMPTS, "Shows what was sent, and what the platform answered.");
const BILLING: &str = "/dashboard/billing";
const LARGER_PLAN: &[NextStep] = &[NextStep::Page(BILLING, "Change the plan.")];
const SHOW_RULES: NextStep = NextStep::Call(SCHEMA, "Shows the account's limits and settings.");
const RULES: &[NextStep] = &[SHOW_RULES];
const OTHER_FILE: &[NextStep] = &[
    NextStep::Call(SCHEMA, "Shows what files the account takes."),
    NextStep::Call(FILES, "Lists the files that there are."),
    NextStep::Call(DROP, "Makes a page on which a person uploads files."),
];
const FIND_POST: &[NextStep] = &[NextStep::Call(POSTS, "Lists the posts.")];

/// Returns the next steps after an error, most useful first.
#[must_use]
pub const fn next_steps(code: Code) -> &'static [NextStep] {
    match code {
        Code::AccountNotFound | Code::PlatformMismatch | Code::LocationNotFound => &[
            NextStep::Call(ACCOUNTS, "Lists the accounts."),
            NextStep::Call(CONNECT, "Shows how an account is connected."),
        ],
        Code::PostNotFound | Code::GroupNotFound => FIND_POST,
        Code::BrandNotFound | Code::BrandRequired => &[NextStep::Call(BRANDS, "Lists the brands.")],
        Code::WebhookNotFound | Code::WebhookLimit | Code::DeliveryNotFound => {
            &[NextStep::Call(WEBHOOKS, "Lists the webhooks.")]
        }
        Code::MediaNotFound => &[NextStep::Call(FILES, "Lists the files.")],
        Code::ToolNotFound | Code::PlatformNotFound => {
            &[NextStep::Call(PLATFORMS, "Lists the platforms with their tools.")]
        }
        Code::CredentialsNotSupported | Code::ConnectSessionNotFound => {
            &[NextStep::Call(CONNECT, "Shows how each platform is connected.")]
        }
        Code::SuggestionNotFound | Code::SuggestionDismissed | Code::SuggestionAlreadyScheduled => {
            &[NextStep::Call(SUGGESTIONS, "Lists the suggestions.")]
        }
        Code::WorkspaceNotFound
        | Code::WorkspaceScopeMismatch
        | Code::InsufficientWorkspacePermissions => {
            &[NextStep::Call(WHOAMI, "Shows the workspaces and the role in each.")]
        }
        Code::KeyNotFound | Code::KeyLimit => &[NextStep::Call(KEYS, "Lists the keys.")],
        Code::ClientNotFound | Code::ClientLimit => &[NextStep::Call(CLIENTS, "Lists the apps.")],
        Code::GrantNotFound => &[NextStep::Call(GRANTS, "Lists the tools that were let in.")],
        Code::ConversationNotFound => &[NextStep::Call(CONVERSATIONS, "Lists the conversations.")],
        Code::CommentNotFound => &[NextStep::Call(COMMENTS, "Lists the comments.")],
        Code::JobNotFound | Code::TooManyJobs => &[NextStep::Call(JOBS, "Lists the jobs.")],
        Code::InsufficientScope
        | Code::MissingApiKey
        | Code::InvalidApiKey
        | Code::ApiKeyExpired
        | Code::ApiKeyRevoked => {
            &[NextStep::Page("/dashboard/api", "Make a key with the scopes that are needed.")]
        }
        Code::ApiAddonRequired
        | Code::FeatureNotAvailable
        | Code::SubscriptionRequired
        | Code::PlanLimit => LARGER_PLAN,
        Code::InsufficientCredits => &[
            NextStep::Page("/dashboard/billing", "Buy credits."),
            NextStep::Call(CREDITS, "Shows what is left, and when more is included."),
        ],
        Code::AccountReconnectRequired
        | Code::PlatformPermissionMissing
        | Code::InvalidCredentials => RECONNECTING,
        Code::TargetNotFound => RULES,
        Code::AccountRestricted => {
            &[NextStep::Call(ACCOUNTS, "Shows whether the account is connected.")]
        }
        Code::Misconfigured => &[NextStep::Call(CONNECT, "Shows what the operator has to set.")],
        Code::DuplicateRisk => &[LOOK_AT_ATTEMPTS, NextStep::TakeRisk],
        Code::InvalidTransition => &[
            NextStep::Call(POST, "Shows where the post stands."),
            NextStep::Call(MISSING, "Shows what the post is missing."),
        ],
        Code::SettingRequired
        | Code::SettingInvalid
        | Code::CaptionTooLong
        | Code::CaptionRequired
        | Code::ThreadSegmentTooLong => RULES,
        Code::MediaRequired
        | Code::MediaUnreadable
        | Code::MediaTooLarge
        | Code::MediaTypeUnsupported
        | Code::MediaDimensionsUnsupported
        | Code::MediaAspectUnsupported
        | Code::VideoTooLong
        | Code::VideoTooShort => OTHER_FILE,
        _ => &[],
    }
}

/// The next steps while a post goes on by itself.
pub const WHILE_WAITING: &[NextStep] = &[NextStep::Follow, LOOK_AT_ATTEMPTS];

/// Returns the next steps after a failed post, by the code of its error.
#[must_use]
pub fn after_post_failure(code: &str) -> &'static [NextStep] {
    match code {
        "account_disconnected" | "token_expired" => &[
            NextStep::Call(OPTIONS, "Shows how the account is connected again."),
            NextStep::Call(RETRY, "Sends the post again, once the account is connected."),
        ],
        "platform_permission_missing" => &[
            NextStep::Call(
                OPTIONS,
                "Shows how the account is connected again, with all permissions.",
            ),
            LOOK_AT_ATTEMPTS,
            NextStep::Call(RETRY, "Sends the post again, once the account has the permission."),
        ],
        "account_restricted" => &[
            LOOK_AT_ATTEMPTS,
            NextStep::Call(RETRY, "Sends the post again, once the platform has lifted it."),
        ],
        "target_not_found" => &[
            SHOW_RULES,
            LOOK_AT_ATTEMPTS,
            NextStep::Call(CHANGE, "Changes the post: send the settings that are right."),
            NextStep::Call(RETRY, "Sends the post again, once what it names is there."),
        ],
        "content_rejected" | "media_rejected" | "duplicate_content" => &[
            LOOK_AT_ATTEMPTS,
            SHOW_RULES,
            NextStep::Call(CHANGE, "Changes the post: send what it is to say instead."),
            NextStep::Call(RETRY, "Sends the post again, once it is changed."),
        ],
        "outcome_unknown" => &[LOOK_AT_ATTEMPTS, NextStep::TakeRisk],
        "missed" | "platform_unavailable" | "platform_rate_limited" | "quota_exhausted" => {
            &[NextStep::Call(RETRY, "Sends the post again, now.")]
        }
        "misconfigured" => &[
            NextStep::Call(OPTIONS, "Shows what the operator has to set."),
            NextStep::Call(RETRY, "Sends the post again, once the operator has set it right."),
        ],
        _ => &[LOOK_AT_ATTEMPTS],
    }
}

/// Describes the fixes that a violation with this code may bring; empty if there are none.
#[must_use]
pub const fn fixes(code: Code) -> &'static str {
    match code {
        Code::UnknownField => {
            "`move` gives a misspelt field its name, and `replace` its value the right type; `remove` takes out a setting \
             that only other networks have."
        }
        Code::InvalidField => {
            "`replace` writes a value of another type as the right one (`\"42\"`, `\"true\"`, a Unix time), and a \
             misspelt choice as the one that is meant."
        }
        Code::SettingInvalid => {
            "`replace` writes a value of another type as the right one, and a misspelt choice or post type as the one \
             that is meant."
        }
        Code::SettingRequired => "`add` makes the caption's first line the title, where it fits.",
        Code::InvalidTimestamp => {
            "`add` gives a time without an offset the `timezone` that was chosen for the workspace."
        }
        Code::ImmutableField => "`remove` takes out the account of a post that already has it.",
        _ => "",
    }
}
