//! Every route of `/api/v1`: who may use it, what answers it, what the documents say of it.

mod parts;

use fanfare_domain::{
    Code,
    access::{Role, Scope},
    accounts::{ConnectRequest, Faults, NewSandboxAccount, oauth_connect::NewConnectSession},
    activity::EventsQuery,
    billing::change::{Cancellation, Downgrade},
    media::{MediaQuery, NewFile, NewRemote, guest_uploads::NewGuestUpload, signed::NewUpload},
    platform_tools::Trigger,
    posting_schedule::{NewGrid, NextQuery},
    posts::{Changes, Filter, NewBatch, NewPost, Release, Retry, StatusChange},
    signup::NewSignup,
    webhooks::{NewWebhook, Page, WebhookChanges},
};
use futures_util::FutureExt;

use crate::{
    Body, Bucket, Method, Query, Route,
    Shape::{List, One, Page as Pages, Record},
    WorkspaceScope, accounts, activity,
    billing::subscription,
    brands, connect, discovery,
    discovery::{InWorkspace, PlatformsQuery},
    media, platform_tools, posting_schedule, posts, sandbox, signup, webhooks,
};
use parts::{
    ANYBODY, CREDENTIALS, EDIT, FAULTS, NEW_BATCH, NEW_FILE, NEW_POST, NEW_REMOTE, NEW_UPLOAD,
    NEW_WEBHOOK, NOBODY, REFUSED_CHANGE, REFUSED_CONTENT, REFUSED_EDIT, REFUSED_FILE,
    REFUSED_STATUS, RELAY, UPLOAD, billing, reads, writes,
};

/// The table. A route that is not in it does not exist.
#[rustfmt::skip]
pub static ROUTES: &[Route] = &[
    // Signup
    Route::new(Method::Post, "/api/v1/signup", "start_signup", NOBODY, |call| discovery::whoami(call).boxed())
        .answers_anybody(|call| signup::begin(call).boxed())
        .doc("signup", "Begin a signup: send the person to `checkout_redirect_url`, then poll `poll_url`")
        .counts(Bucket::SignupHour)
        .takes(Body::of::<NewSignup>(r#"{"email": "ada@example.com", "name": "Ada", "tier": "starter", "api_addon": true}"#))
        .answers(201, "The signup has begun.", Record("StartedSignup"))
        .refuses(&[Code::SignupClosed, Code::BillingNotConfigured, Code::MailNotConfigured]),
    Route::new(Method::Get, "/api/v1/signup/sessions/{session_id}", "get_signup_session", NOBODY,
        |call| discovery::whoami(call).boxed())
        .answers_anybody(|call| signup::poll(call).boxed())
        .doc("signup", "Show how far a signup is; never a key")
        .counts(Bucket::Address)
        .answers(200, "The signup.", One("signup_session", "SignupSession"))
        .refuses(&[Code::SignupSessionNotFound]),

    // Subscription
    Route::new(Method::Get, "/api/v1/subscription", "get_subscription", billing(Scope::BillingRead),
        |call| subscription::show(call).boxed())
        .doc("billing", "Show the key owner's subscription")
        .counts(Bucket::Reads)
        .answers(200, "The subscription.", One("subscription", "Subscription"))
        .refuses(&[Code::NoSubscription]),
    Route::new(Method::Post, "/api/v1/subscription/cancel", "cancel_subscription", billing(Scope::BillingWrite),
        |call| subscription::cancel(call).boxed())
        .doc("billing", "Cancel the subscription at the end of its period, or at once")
        .counts(Bucket::Subscription)
        .takes(Body::of::<Cancellation>(r#"{"reason": "temporary_break", "feedback": "Back in spring"}"#))
        .answers(200, "The subscription.", One("subscription", "Subscription"))
        .refuses(&[Code::InvalidReason, Code::NoSubscription, Code::InvalidTransition, Code::BillingNotConfigured]),
    Route::new(Method::Post, "/api/v1/subscription/pause", "pause_subscription", billing(Scope::BillingWrite),
        |call| subscription::pause(call).boxed())
        .doc("billing", "Pause the subscription for 30 days, once in 90 days")
        .counts(Bucket::Subscription)
        .answers(200, "The subscription.", One("subscription", "Subscription"))
        .refuses(&[Code::PauseCooldown, Code::NoSubscription, Code::InvalidTransition, Code::BillingNotConfigured]),
    Route::new(Method::Post, "/api/v1/subscription/resume", "resume_subscription", billing(Scope::BillingWrite),
        |call| subscription::resume(call).boxed())
        .doc("billing", "End the pause of the subscription")
        .counts(Bucket::Subscription)
        .answers(200, "The subscription.", One("subscription", "Subscription"))
        .refuses(REFUSED_CHANGE),
    Route::new(Method::Post, "/api/v1/subscription/downgrade", "downgrade_subscription", billing(Scope::BillingWrite),
        |call| subscription::downgrade(call).boxed())
        .doc("billing", "Move to a lower plan when the period ends, without proration")
        .counts(Bucket::Subscription)
        .takes(Body::of::<Downgrade>(r#"{"tier": "starter"}"#))
        .answers(200, "The subscription.", One("subscription", "Subscription"))
        .refuses(&[Code::InvalidTier, Code::NoLowerTier, Code::NoSubscription, Code::InvalidTransition, Code::BillingNotConfigured]),

    // Discovery
    Route::new(Method::Get, "/api/v1/whoami", "whoami", ANYBODY, |call| discovery::whoami(call).boxed())
        .doc("discovery", "Show the caller, the key and its workspaces")
        .answers(200, "Who asks.", Record("Whoami")),
    Route::new(Method::Get, "/api/v1/platforms", "list_platforms", reads(Scope::AccountsRead, WorkspaceScope::Query),
        |call| discovery::list_platforms(call).boxed())
        .doc("discovery", "List what each platform takes")
        .asks(Query::of::<PlatformsQuery>())
        .answers(200, "The platforms.", Record("Platforms")),
    Route::new(Method::Post, "/api/v1/platforms/trigger", "trigger_helper",
        writes(Scope::AccountsWrite, Role::Editor, WorkspaceScope::AccountInBody), |call| platform_tools::trigger(call).boxed())
        .doc("discovery", "Run a platform's helper tool; it only reads")
        .takes(Body::of::<Trigger>(r#"{"tool": "pinterest.boards", "account_id": 7}"#))
        .answers(200, "What the tool found.", Record("HelperResult"))
        .refuses(&[Code::ToolNotFound, Code::InvalidCredentials, Code::ProviderUnreachable]),
    Route::new(Method::Get, "/api/v1/x-posting/quota", "get_x_quota", reads(Scope::PostsRead, WorkspaceScope::Query),
        |call| platform_tools::x_quota(call).boxed())
        .doc("discovery", "Show what is left of this month's posts to X")
        .counts(Bucket::Reads)
        .asks(Query::of::<InWorkspace>())
        .answers(200, "The allowance.", One("quota", "XQuota")),

    // Accounts
    Route::new(Method::Get, "/api/v1/accounts", "list_accounts", reads(Scope::AccountsRead, WorkspaceScope::Query),
        |call| accounts::list(call).boxed())
        .doc("accounts", "List connected accounts")
        .counts(Bucket::Reads)
        .asks(Query::of::<InWorkspace>())
        .answers(200, "The accounts, oldest first.", List("accounts", "Account")),
    Route::new(Method::Get, "/api/v1/accounts/{id}/schema", "get_account_schema",
        reads(Scope::AccountsRead, WorkspaceScope::Account),
        |call| accounts::schema(call).boxed())
        .doc("accounts", "Show the JSON Schema of an account's settings")
        .counts(Bucket::Reads)
        .answers(200, "The schema.", Record("AccountSchema")),
    Route::new(Method::Delete, "/api/v1/accounts/{id}", "disconnect_account",
        writes(Scope::AccountsWrite, Role::Publisher, WorkspaceScope::Account), |call| accounts::disconnect(call).boxed())
        .doc("accounts", "Disconnect an account, for good")
        .answers(200, "It is disconnected.", Record("Deleted")),
    Route::new(Method::Get, "/api/v1/accounts/{id}/slots", "get_account_slots",
        reads(Scope::PostsRead, WorkspaceScope::Account),
        |call| posting_schedule::get(call).boxed())
        .doc("accounts", "Show the times of day at which an account posts")
        .counts(Bucket::Reads)
        .answers(200, "The grid.", One("slots", "Slots")),
    Route::new(Method::Put, "/api/v1/accounts/{id}/slots", "set_account_slots",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Account), |call| posting_schedule::set(call).boxed())
        .doc("accounts", "Set the times of day at which an account posts")
        .takes(Body::of::<NewGrid>(r#"{"times": ["09:00", "17:30"], "days": ["monday"], "timezone": "Europe/Berlin"}"#))
        .answers(200, "The grid.", One("slots", "Slots")),
    Route::new(Method::Get, "/api/v1/slots/next", "get_next_slot", reads(Scope::PostsRead, WorkspaceScope::AccountInQuery),
        |call| posting_schedule::next(call).boxed())
        .doc("accounts", "Find an account's next free slot")
        .counts(Bucket::Reads)
        .asks(Query::of::<NextQuery>())
        .answers(200, "The slot, or null with the reason.", Record("NextSlot"))
        .refuses(&[Code::InvalidTimestamp]),

    // Connecting
    Route::new(Method::Get, "/api/v1/connect", "list_connect_options", reads(Scope::AccountsRead, WorkspaceScope::Query),
        |call| connect::list_options(call).boxed())
        .doc("connect", "List how each platform is connected")
        .asks(Query::of::<InWorkspace>())
        .answers(200, "The options of all platforms.", List("connect", "ConnectOptions")),
    Route::new(Method::Get, "/api/v1/connect/{platform}", "get_connect_options",
        reads(Scope::AccountsRead, WorkspaceScope::Query),
        |call| connect::get_options(call).boxed())
        .doc("connect", "Show how a platform is connected")
        .asks(Query::of::<InWorkspace>())
        .answers(200, "The options.", One("connect", "ConnectOptions"))
        .refuses(&[Code::PlatformNotFound]),
    Route::new(Method::Post, "/api/v1/connect/{platform}/credentials", "connect_with_credentials",
        writes(Scope::AccountsWrite, Role::Publisher, WorkspaceScope::Body), |call| connect::with_credentials(call).boxed())
        .doc("connect", "Connect an account with credentials, or renew them")
        .counts(Bucket::Connect)
        .takes(Body::of::<ConnectRequest>(CREDENTIALS))
        .answers(200, "The account is connected.", Record("Connected"))
        .refuses(&[Code::PlatformNotFound, Code::CredentialsNotSupported, Code::InvalidCredentials,
            Code::BrandRequired,
            Code::BrandNotFound, Code::AccountNotFound, Code::ConnectSessionNotFound, Code::InvalidTransition,
            Code::PlanLimit, Code::ProviderUnreachable]),
    Route::new(Method::Post, "/api/v1/connect/{platform}/sessions", "create_connect_session",
        writes(Scope::AccountsWrite, Role::Publisher, WorkspaceScope::Body), |call| connect::create_session(call).boxed())
        .doc("connect", "Make a link on which a person connects an account in a browser")
        .takes(Body::of::<NewConnectSession>(r#"{"auto_start": true}"#))
        .answers(201, "The session, with the link for the person.", One("connect_session", "ConnectSession"))
        .refuses(&[Code::PlatformNotFound, Code::PlatformNotConfigured, Code::BrandRequired,
            Code::BrandNotFound]),
    Route::new(Method::Get, "/api/v1/connect/sessions/{id}", "get_connect_session",
        reads(Scope::AccountsRead, WorkspaceScope::ConnectSession), |call| connect::get_session(call).boxed())
        .doc("connect", "Show how far the person is, with a sentence to read aloud")
        .answers(200, "The session.", One("connect_session", "ConnectSession")),

    // Sandbox
    Route::new(Method::Post, "/api/v1/sandbox/accounts", "create_sandbox_account",
        writes(Scope::AccountsWrite, Role::Publisher, WorkspaceScope::Body), |call| sandbox::create_account(call).boxed())
        .doc("sandbox", "Make and connect an account on a simulated network")
        .takes(Body::of::<NewSandboxAccount>(r#"{"platform": "bluesky"}"#))
        .answers(201, "The account.", One("account", "Account"))
        .refuses(&[Code::BrandRequired, Code::ProviderUnreachable]),
    Route::new(Method::Get, "/api/v1/sandbox/{platform}/posts", "list_sandbox_posts",
        reads(Scope::PostsRead, WorkspaceScope::AccountInQuery), |call| sandbox::list_posts(call).boxed())
        .doc("sandbox", "List the posts of an account on a simulated network")
        .asks(Query::of::<sandbox::PostsQuery>())
        .answers(200, "The posts.", List("posts", "SandboxPost"))
        .refuses(&[Code::PlatformNotFound]),
    Route::new(Method::Put, "/api/v1/sandbox/{platform}/faults", "set_sandbox_faults",
        writes(Scope::AccountsWrite, Role::Publisher, WorkspaceScope::AccountInBody), |call| sandbox::set_faults(call).boxed())
        .doc("sandbox", "Set the faults of an account on a simulated network")
        .takes(Body::of::<Faults>(FAULTS))
        .answers(200, "The faults are set.", Record("FaultsSet"))
        .refuses(&[Code::PlatformNotFound]),

    // Posts
    Route::new(Method::Post, "/api/v1/posts", "create_post",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::AccountInBody), |call| posts::create(call).boxed())
        .doc("posts", "Schedule a post, or publish it now")
        .counts(Bucket::Posts)
        .takes(Body::of::<NewPost>(NEW_POST))
        .answers(201, "The post was created.", Record("Created"))
        .answers(200, "With `dry_run`: the post would be created.", Record("DryRun"))
        .refuses(REFUSED_CONTENT),
    Route::new(Method::Post, "/api/v1/posts/batch", "create_posts",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Body), |call| posts::create_batch(call).boxed())
        .doc("posts", "Create up to 25 posts, each on its own")
        .counts(Bucket::Posts)
        .takes(Body::of::<NewBatch>(NEW_BATCH))
        .keyed_by_item()
        .answers(200, "What became of each item.", Record("Batch"))
        .refuses(&[Code::TooManyItems]),
    Route::new(Method::Get, "/api/v1/posts", "list_posts", reads(Scope::PostsRead, WorkspaceScope::Query),
        |call| posts::list(call).boxed())
        .doc("posts", "List posts, newest first")
        .counts(Bucket::Reads)
        .asks(Query::of::<Filter>())
        .answers(200, "A page of posts.", Pages("posts", "Post")),
    Route::new(Method::Get, "/api/v1/posts/{id}", "get_post", reads(Scope::PostsRead, WorkspaceScope::Post),
        |call| posts::get(call).boxed())
        .doc("posts", "Show a post")
        .counts(Bucket::Reads)
        .answers(200, "The post.", One("post", "Post")),
    Route::new(Method::Patch, "/api/v1/posts/{id}", "update_post", EDIT, |call| posts::update(call).boxed())
        .doc("posts", "Change a scheduled, draft or paused post")
        .takes(Body::of::<Changes>(r#"{"caption": "Hello again!"}"#))
        .answers(200, "The changed post.", One("post", "Post"))
        .refuses(REFUSED_EDIT),
    Route::new(Method::Delete, "/api/v1/posts/{id}", "delete_post",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Post), |call| posts::delete(call).boxed())
        .doc("posts", "Delete a draft or scheduled post")
        .answers(200, "It is deleted.", Record("Deleted"))
        .refuses(&[Code::InvalidTransition]),
    Route::new(Method::Put, "/api/v1/posts/{id}/status", "set_post_status",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Post), |call| posts::set_status(call).boxed())
        .doc("posts", "Pause, schedule or draft a post")
        .takes(Body::of::<StatusChange>(r#"{"status": "paused"}"#))
        .answers(200, "The post in its new status.", One("post", "Post"))
        .refuses(REFUSED_STATUS),
    Route::new(Method::Get, "/api/v1/posts/{id}/missing", "get_missing", reads(Scope::PostsRead, WorkspaceScope::Post),
        |call| posts::missing(call).boxed())
        .doc("posts", "Show what a post is missing")
        .counts(Bucket::Reads)
        .answers(200, "What it lacks.", Record("Missing")),
    Route::new(Method::Put, "/api/v1/posts/{id}/release-id", "set_release_id",
        writes(Scope::PostsWrite, Role::Editor, WorkspaceScope::Post), |call| posts::set_release(call).boxed())
        .doc("posts", "Store release and group metadata")
        .takes(Body::of::<Release>(r#"{"release_id": "2030.1", "group": "launch"}"#))
        .answers(200, "The post.", One("post", "Post")),
    Route::new(Method::Get, "/api/v1/posts/{id}/attempts", "list_attempts", reads(Scope::PostsRead, WorkspaceScope::Post),
        |call| posts::attempts(call).boxed())
        .doc("posts", "List the attempts to publish a post, oldest first")
        .counts(Bucket::Reads)
        .answers(200, "The ledger.", List("attempts", "Attempt")),
    Route::new(Method::Post, "/api/v1/posts/{id}/retry", "retry_post",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Post), |call| posts::retry(call).boxed())
        .doc("posts", "Send a failed post again, now")
        .takes(Body::of::<Retry>("{}"))
        .answers(200, "The post, scheduled for now.", One("post", "Post"))
        .refuses(&[Code::InvalidTransition, Code::DuplicateRisk]),
    Route::new(Method::Delete, "/api/v1/posts/group/{group}", "delete_group",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Query), |call| posts::delete_group(call).boxed())
        .doc("posts", "Delete the draft, scheduled, failed and paused posts of a group")
        .asks(Query::of::<posts::GroupQuery>())
        .answers(200, "What was deleted and what was left alone.", Record("GroupDeleted"))
        .refuses(&[Code::ConfirmRequired, Code::GroupNotFound]),

    // Media
    Route::new(Method::Post, "/api/v1/media/upload", "upload_media",
        writes(Scope::MediaWrite, Role::Editor, WorkspaceScope::Body), |call| media::upload(call).boxed())
        .doc("media", "Upload a small file; location metadata is removed, as in every upload")
        .counts(Bucket::Media)
        .takes(Body::of::<NewFile>(NEW_FILE))
        .holds(UPLOAD, Code::PayloadTooLarge)
        .answers(201, "The file.", Record("Media"))
        .refuses(REFUSED_FILE),
    Route::new(Method::Post, "/api/v1/media/signed-upload", "create_signed_upload",
        writes(Scope::MediaWrite, Role::Editor, WorkspaceScope::Body), |call| media::announce(call).boxed())
        .doc("media", "Get an upload URL for a file of any size; send the file with PUT within 15 minutes")
        .counts(Bucket::Media)
        .takes(Body::of::<NewUpload>(NEW_UPLOAD))
        .answers(201, "Where and with what headers the file is sent; the reply to that has `asset_id`.",
            Record("SignedUpload"))
        .refuses(&[Code::MediaTypeUnsupported, Code::MediaTooLarge]),
    Route::new(Method::Post, "/api/v1/media/signed-upload/upload", "relay_media",
        writes(Scope::MediaWrite, Role::Editor, WorkspaceScope::Body), |call| media::relay(call).boxed())
        .doc("media", "Upload a small file (legacy address); use `/media/upload` or `/media/signed-upload` instead")
        .counts(Bucket::Media)
        .takes(Body::of::<NewFile>(NEW_FILE))
        .holds(RELAY, Code::FunctionPayloadTooLarge)
        .answers(201, "The file.", Record("Media"))
        .refuses(REFUSED_FILE),
    Route::new(Method::Post, "/api/v1/media/upload-from-url", "upload_media_from_url",
        writes(Scope::MediaWrite, Role::Editor, WorkspaceScope::Body), |call| media::from_url(call).boxed())
        .doc("media", "Copy a file from another address")
        .counts(Bucket::Media)
        .takes(Body::of::<NewRemote>(NEW_REMOTE))
        .answers(201, "The file; its `url` can be used as `media_url`.", Record("Media"))
        .refuses(&[Code::MediaTypeUnsupported, Code::RemoteMediaTooLarge, Code::RemoteMediaUnavailable,
            Code::UrlNotAllowed, Code::MediaCopyPending]),
    Route::new(Method::Post, "/api/v1/media/drop-sessions", "create_media_drop",
        writes(Scope::MediaWrite, Role::Editor, WorkspaceScope::Body), |call| media::create_drop(call).boxed())
        .doc("media", "Create a page on which a person without a log-in can upload files for a day")
        .counts(Bucket::Media)
        .takes(Body::of::<NewGuestUpload>(r#"{"filename": "the team photo", "max_files": 3}"#))
        .answers(201, "The page.", Record("DropSession")),
    Route::new(Method::Get, "/api/v1/media", "list_media", reads(Scope::MediaWrite, WorkspaceScope::Query),
        |call| media::list(call).boxed())
        .doc("media", "List files, newest first")
        .asks(Query::of::<MediaQuery>())
        .answers(200, "A page of files.", Pages("media", "Media")),
    Route::new(Method::Delete, "/api/v1/media/{id}", "delete_media",
        writes(Scope::MediaWrite, Role::Editor, WorkspaceScope::Media), |call| media::delete(call).boxed())
        .doc("media", "Delete a file that no unpublished post uses")
        .answers(200, "It is deleted.", Record("Deleted"))
        .refuses(&[Code::MediaInUse]),

    // Brands
    Route::new(Method::Get, "/api/v1/brands", "list_brands", reads(Scope::AccountsRead, WorkspaceScope::Query),
        |call| brands::list(call).boxed())
        .doc("brands", "List brands")
        .asks(Query::of::<InWorkspace>())
        .answers(200, "The brands, oldest first.", List("brands", "Brand")),
    Route::new(Method::Get, "/api/v1/brands/{id}", "get_brand", reads(Scope::AccountsRead, WorkspaceScope::Brand),
        |call| brands::get(call).boxed())
        .doc("brands", "Show a brand")
        .answers(200, "The brand.", One("brand", "Brand")),
    Route::new(Method::Get, "/api/v1/brands/{id}/accounts", "list_brand_accounts",
        reads(Scope::AccountsRead, WorkspaceScope::Brand),
        |call| brands::list_accounts(call).boxed())
        .doc("brands", "List the accounts of a brand")
        .answers(200, "The accounts, oldest first.", List("accounts", "Account")),
    Route::new(Method::Get, "/api/v1/brands/{id}/profile", "get_brand_profile",
        reads(Scope::AccountsRead, WorkspaceScope::Brand),
        |call| brands::get_profile(call).boxed())
        .doc("brands", "Show the voice of a brand")
        .answers(200, "The profile.", One("profile", "BrandProfile")),

    // Webhooks
    Route::new(Method::Get, "/api/v1/webhooks", "list_webhooks", reads(Scope::PostsRead, WorkspaceScope::Query),
        |call| webhooks::list(call).boxed())
        .doc("webhooks", "List webhooks")
        .asks(Query::of::<InWorkspace>())
        .answers(200, "The webhooks, newest first.", List("webhooks", "Webhook")),
    Route::new(Method::Post, "/api/v1/webhooks", "create_webhook",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Body), |call| webhooks::create(call).boxed())
        .doc("webhooks", "Create a webhook; its secret is shown only once")
        .takes(Body::of::<NewWebhook>(NEW_WEBHOOK))
        .answers(201, "The webhook with its secret.", One("webhook", "WebhookWithSecret"))
        .refuses(&[Code::UrlNotAllowed, Code::WebhookLimit]),
    Route::new(Method::Patch, "/api/v1/webhooks/{id}", "update_webhook",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Webhook), |call| webhooks::update(call).boxed())
        .doc("webhooks", "Change, disable or enable a webhook")
        .takes(Body::of::<WebhookChanges>(r#"{"enabled": false}"#))
        .answers(200, "The changed webhook.", One("webhook", "Webhook"))
        .refuses(&[Code::UrlNotAllowed]),
    Route::new(Method::Delete, "/api/v1/webhooks/{id}", "delete_webhook",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Webhook), |call| webhooks::delete(call).boxed())
        .doc("webhooks", "Delete a webhook")
        .answers(200, "It is deleted.", Record("Deleted")),
    Route::new(Method::Post, "/api/v1/webhooks/{id}/test", "test_webhook",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Webhook), |call| webhooks::test(call).boxed())
        .doc("webhooks", "Send a test delivery")
        .counts(Bucket::WebhookTests)
        .answers(202, "The delivery is on its way.", One("delivery", "Delivery")),
    Route::new(Method::Get, "/api/v1/webhooks/{id}/deliveries", "list_deliveries",
        reads(Scope::PostsRead, WorkspaceScope::Webhook),
        |call| webhooks::list_deliveries(call).boxed())
        .doc("webhooks", "List deliveries, newest first")
        .asks(Query::of::<webhooks::DeliveriesQuery>())
        .answers(200, "A page of deliveries.", Pages("deliveries", "Delivery")),
    Route::new(Method::Post, "/api/v1/webhooks/{id}/deliveries/{delivery_id}/redeliver", "redeliver",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Webhook), |call| webhooks::redeliver(call).boxed())
        .doc("webhooks", "Deliver an event again")
        .answers(202, "The delivery is on its way.", One("delivery", "Delivery"))
        .refuses(&[Code::DeliveryNotFound]),
    Route::new(Method::Post, "/api/v1/webhooks/{id}/rotate-secret", "rotate_webhook_secret",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Webhook), |call| webhooks::rotate_secret(call).boxed())
        .doc("webhooks", "Rotate a webhook's secret; the old one stays valid for a day")
        .answers(200, "The webhook with its new secret.", One("webhook", "WebhookWithSecret")),

    // Activity
    Route::new(Method::Get, "/api/v1/events", "list_events", reads(Scope::PostsRead, WorkspaceScope::Query),
        |call| activity::list_events(call).boxed())
        .doc("activity", "Poll the event stream, oldest first")
        .asks(Query::of::<EventsQuery>())
        .answers(200, "Events after the one named.", Pages("events", "Event")),
    Route::new(Method::Get, "/api/v1/activity", "list_activity", reads(Scope::PostsRead, WorkspaceScope::Query),
        |call| activity::list(call).boxed())
        .doc("activity", "List recent activity, newest first")
        .asks(Query::of::<Page>())
        .answers(200, "A page of activity.", Pages("activity", "Activity")),
    Route::new(Method::Get, "/api/v1/notifications", "list_notifications", reads(Scope::PostsRead, WorkspaceScope::Query),
        |call| activity::list(call).boxed())
        .doc("activity", "List recent activity, newest first; the same as `/activity`")
        .asks(Query::of::<Page>())
        .answers(200, "A page of activity.", Pages("activity", "Activity")),
];

#[cfg(test)]
mod tests;
