//! The next steps after an error, by its code.

use fanfare_entities::{PostId, WorkspaceId, account};
use fanfare_platforms::NextAction;
use serde_json::{Map, Value, json};

use super::{RequestContext, Rights};
use crate::{
    Act,
    access::{PlanTier, Role, Scope},
    error::Code,
};

/// An operation of the API that a next step names, with what it takes to call it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    /// Its id.
    pub name: &'static str,
    /// HTTP method.
    pub method: &'static str,
    /// Its path, with `{parameters}`.
    pub path: &'static str,
    /// The scope that it needs; `None` admits any key.
    pub scope: Option<Scope>,
    /// The lowest role that may call it.
    pub role: Role,
    /// The lowest plan that includes it, if not all do.
    pub plan: Option<PlanTier>,
    /// True if it takes the `workspace_id` that it is about.
    pub in_workspace: bool,
}

impl Operation {
    const fn new(method: &'static str, name: &'static str, path: &'static str) -> Self {
        let (scope, role, plan) = (None, Role::Viewer, None);
        Self { name, method, path, scope, role, plan, in_workspace: false }
    }

    const fn get(name: &'static str, path: &'static str) -> Self {
        Self::new("GET", name, path)
    }

    const fn post(name: &'static str, path: &'static str) -> Self {
        Self::new("POST", name, path)
    }

    const fn needs(self, scope: Scope) -> Self {
        Self { scope: Some(scope), ..self }
    }

    const fn role(self, role: Role) -> Self {
        Self { role, ..self }
    }

    const fn pro(self) -> Self {
        Self { plan: Some(PlanTier::Pro), ..self }
    }

    const fn in_workspace(self) -> Self {
        Self { in_workspace: true, ..self }
    }

    /// Returns a call of it; an empty `path` stands for its own path.
    pub(super) fn next(&self, path: String, body: Option<Value>, why: &'static str) -> NextAction {
        let path = if path.is_empty() { self.path.to_owned() } else { path };
        let operation = Some(self.name);
        NextAction { operation, method: self.method, path, body, url: None, why }
    }
}

macro_rules! operations {
    ($($name:ident = $operation:expr;)+) => {
        $(pub(super) const $name: Operation = $operation;)+

        /// All operations that next steps name.
        pub const OPERATIONS: &[Operation] = &[$($name,)+];
    };
}

#[rustfmt::skip]
operations! {
    WHOAMI = Operation::get("whoami", "/api/v1/whoami");
    ACCOUNTS = Operation::get("list_accounts", "/api/v1/accounts").needs(Scope::AccountsRead).in_workspace();
    SCHEMA = Operation::get("get_platform_schema", "/api/v1/accounts/{id}/schema").needs(Scope::AccountsRead);
    POSTS = Operation::get("list_posts", "/api/v1/posts").needs(Scope::PostsRead).in_workspace();
    POST = Operation::get("get_post", "/api/v1/posts/{id}").needs(Scope::PostsRead);
    ATTEMPTS = Operation::get("list_attempts", "/api/v1/posts/{id}/attempts").needs(Scope::PostsRead);
    CHANGE = Operation::new("PATCH", "update_post", "/api/v1/posts/{id}").needs(Scope::PostsWrite).role(Role::Editor);
    MISSING = Operation::get("get_post_missing", "/api/v1/posts/{id}/missing").needs(Scope::PostsRead);
    RETRY = Operation::post("retry_post", "/api/v1/posts/{id}/retry").needs(Scope::PostsWrite).role(Role::Publisher);
    POST_SETS = Operation::get("list_post_sets", "/api/v1/post-sets").needs(Scope::PostsRead).in_workspace();
    POST_SET = Operation::get("get_post_set", "/api/v1/post-sets/{id}").needs(Scope::PostsRead);
    BRANDS = Operation::get("list_brands", "/api/v1/brands").needs(Scope::AccountsRead).in_workspace();
    WEBHOOKS = Operation::get("list_webhooks", "/api/v1/webhooks").needs(Scope::PostsRead).in_workspace();
    FILES = Operation::get("list_media", "/api/v1/media").needs(Scope::MediaWrite).in_workspace();
    DROP = Operation::post("create_media_drop", "/api/v1/media/drop-sessions")
        .needs(Scope::MediaWrite).role(Role::Editor).in_workspace();
    PLATFORMS = Operation::get("list_platforms", "/api/v1/platforms").needs(Scope::AccountsRead).in_workspace();
    OPTIONS = Operation::get("get_connect_link", "/api/v1/connect/{platform}").needs(Scope::AccountsRead).in_workspace();
    CONNECT = Operation::get("list_connect_options", "/api/v1/connect").needs(Scope::AccountsRead).in_workspace();
    RECONNECT = Operation::post("create_connect_session", "/api/v1/connect/{platform}/sessions")
        .needs(Scope::AccountsWrite).role(Role::Publisher).in_workspace();
    NEW_SANDBOX_ACCOUNT = Operation::post("create_sandbox_account", "/api/v1/sandbox/accounts")
        .needs(Scope::AccountsWrite).role(Role::Publisher).in_workspace();
    TRIGGER = Operation::post("trigger_platform_helper", "/api/v1/platforms/trigger")
        .needs(Scope::AccountsWrite).role(Role::Editor);
    SUGGESTIONS = Operation::get("list_suggestions", "/api/v1/suggestions").needs(Scope::AnalyticsRead).pro().in_workspace();
    CREDITS = Operation::get("get_credits", "/api/v1/credits").needs(Scope::BillingRead).in_workspace();
    JOBS = Operation::get("list_video_jobs", "/api/v1/ai/video-jobs").needs(Scope::PostsRead).in_workspace();
    KEYS = Operation::get("list_api_keys", "/api/v1/keys").needs(Scope::AccountsRead);
    CLIENTS = Operation::get("list_oauth_clients", "/api/v1/oauth/clients").needs(Scope::AccountsRead);
    GRANTS = Operation::get("list_oauth_grants", "/api/v1/oauth/grants").needs(Scope::AccountsRead);
    CONVERSATIONS = Operation::get("list_conversations", "/api/v1/inbox/conversations")
        .needs(Scope::PostsRead).pro().in_workspace();
    COMMENTS = Operation::get("list_comments", "/api/v1/inbox/comments").needs(Scope::PostsRead).pro().in_workspace();
}

/// A next step after an error.
#[derive(Debug, Clone, Copy)]
pub enum NextStep {
    /// A call. It is left out if its path needs an id that the request did not name, or the caller may not make it.
    Call(Operation, &'static str),
    /// Reads the post until its status changes.
    Follow,
    /// The same request with `acknowledge_duplicate_risk: true`.
    TakeRisk,
    /// The same request with `mode: valid_only`.
    LeaveOut,
    /// The same request with `duplicates: warn`.
    Repeat,
    /// A page for the user.
    Page(&'static str, &'static str),
}

/// Operations that take `acknowledge_duplicate_risk`.
const RISKY: [&str; 6] = [
    "retry_post",
    "retry_post_set",
    "update_post_status",
    "update_post_set_status",
    "reply_to_conversation",
    "reply_to_comment",
];

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
            Self::LeaveOut => ("the same operation", LEAVE_OUT),
            Self::Repeat => ("the same operation", REPEAT),
            Self::Page(path, why) => (path, why),
        }
    }

    /// Returns the call, if everything that it needs is known.
    #[must_use]
    pub fn call(&self, situation: &RequestContext) -> Option<NextAction> {
        match self {
            Self::Call(operation, why) => match situation.allows(operation) {
                true => {
                    let path = path(operation, situation)?;
                    Some(operation.next(path, body(operation, situation), why))
                }
                // Another member has to connect the account.
                false if *operation == RECONNECT => ASK_PUBLISHER.call(situation),
                false => None,
            },
            Self::Follow if !situation.allows(&POST) => None,
            Self::Follow => {
                let path = format!("{}?wait=25", path(&POST, situation)?);
                Some(POST.next(path, None, FOLLOW))
            }
            Self::TakeRisk => take_risk(situation),
            Self::LeaveOut => leave_out(situation),
            Self::Repeat => repeat(situation),
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

const REPEAT: &str =
    "Makes it all the same, with a warning; look at the other post first, and ask the user.";

fn take_risk(situation: &RequestContext) -> Option<NextAction> {
    let (operation, ..) = situation.request.as_ref()?;
    let is_shown = *operation == RETRY.name && !situation.allows(&RETRY);
    if !RISKY.contains(operation) || is_shown {
        return None;
    }
    let body = match &situation.body {
        Some(Value::Object(body)) => body.clone(),
        _ => Map::new(),
    };
    again(situation, body, ("acknowledge_duplicate_risk", true.into()), TAKE_RISK)
}

const LEAVE_OUT: &str =
    "Makes the posts of the targets that are accepted, and leaves the others out.";

/// Returns the same request with `mode: valid_only`, if its body is known.
fn leave_out(situation: &RequestContext) -> Option<NextAction> {
    let body = situation.body.as_ref()?.as_object()?.clone();
    again(situation, body, ("mode", "valid_only".into()), LEAVE_OUT)
}

/// Returns the same request with `duplicates: warn`, if its body is known.
fn repeat(situation: &RequestContext) -> Option<NextAction> {
    let body = situation.body.as_ref()?.as_object()?.clone();
    again(situation, body, ("duplicates", "warn".into()), REPEAT)
}

/// Returns the same request with another value of a field.
fn again(
    situation: &RequestContext,
    mut body: Map<String, Value>,
    (field, value): (&str, Value),
    why: &'static str,
) -> Option<NextAction> {
    let (operation, method, path) = situation.request.clone()?;
    body.insert(field.to_owned(), value);
    let (operation, body) = (Some(operation), Some(body.into()));
    Some(NextAction { operation, method, path, body, url: None, why })
}

fn path(operation: &Operation, situation: &RequestContext) -> Option<String> {
    let mut path = operation.path.to_owned();
    if path.contains("{platform}") {
        path = path.replace("{platform}", &situation.account.as_ref()?.platform);
    }
    if path.contains("{id}") {
        let id = if path.starts_with("/api/v1/posts/") {
            situation.post?.to_string()
        } else if path.starts_with("/api/v1/post-sets/") {
            situation.post_set?.to_string()
        } else {
            situation.account.as_ref()?.id.to_string()
        };
        path = path.replace("{id}", &id);
    }
    if let Some(workspace) = workspace(operation, situation).filter(|_| operation.method == "GET") {
        path = format!("{path}?workspace_id={}", workspace.0);
    }
    Some(path)
}

/// Returns the workspace that a call has to name to be about the same one as the request.
fn workspace(operation: &Operation, situation: &RequestContext) -> Option<WorkspaceId> {
    situation.rights.as_ref()?.workspace().filter(|_| operation.in_workspace)
}

fn body(operation: &Operation, situation: &RequestContext) -> Option<Value> {
    let sandbox = situation.account.as_ref().is_some_and(|account| account.sandbox);
    let mut body = match operation.name {
        _ if operation.method == "GET" => return None,
        "create_connect_session" if sandbox => json!({"sandbox": true}),
        "create_connect_session" => json!({"auto_start": true}),
        _ => json!({}),
    };
    if let Some(workspace) = workspace(operation, situation) {
        body["workspace_id"] = json!(workspace);
    }
    Some(body)
}

/// Returns the call, or the page, with which this caller connects an account again.
pub fn reconnect(act: &Act, account: &account::Model) -> Option<NextAction> {
    const LINK: &str = "Makes a link on which a person connects the account again.";
    let situation = RequestContext {
        base_url: act.cx.settings.base_url.clone(),
        account: Some(account.into()),
        rights: Some(Rights::of(act)),
        ..RequestContext::default()
    };
    if !situation.allows(&RECONNECT) {
        return ASK_PUBLISHER.call(&situation);
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
    let situation = RequestContext {
        base_url: act.cx.settings.base_url.clone(),
        post: Some(id),
        rights: Some(Rights::of(act)),
        ..RequestContext::default()
    };
    NextStep::Call(POST, "Shows the post.").call(&situation)
}

const ASK_PUBLISHER: NextStep =
    NextStep::Page("/dashboard/accounts", "Ask a publisher to connect the account again.");
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
        Code::PostSetNotFound => &[NextStep::Call(POST_SETS, "Lists the post sets.")],
        Code::TargetsRefused => &[NextStep::LeaveOut],
        Code::StaleVersion => &[
            NextStep::Call(POST, "Shows the post as it is now."),
            NextStep::Call(POST_SET, "Shows the post set as it is now."),
        ],
        Code::NoAccounts | Code::DuplicateTarget | Code::MixedWorkspaces => {
            &[NextStep::Call(ACCOUNTS, "Lists the accounts.")]
        }
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
        Code::DuplicateContent => {
            &[NextStep::Call(POST, "Shows the newest post like it."), NextStep::Repeat]
        }
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
