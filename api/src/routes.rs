//! Every route of `/api/v1`: who may use it, what answers it, what the documents say of it.

mod parts;

use crate::{
    Body, Bucket, Method, Policy, Query, Route, WorkspaceScope, accounts, activity, ai, analytics,
    api_keys,
    billing::{credits, subscription},
    brands, business, connect, discovery,
    discovery::{InWorkspace, PlatformsQuery},
    feedback, inbox, media,
    oauth::apps,
    platform_tools, posting_schedule, posts, sandbox, signup, support, updates, webhooks,
};
use fanfare_domain::{
    Code,
    access::{Role, Scope},
    accounts::{
        ConnectRequest, Faults, ItemChanges, NewElsewhere, NewItem, NewNumbers, NewSandboxAccount,
        ReviewDecisions, oauth_connect::NewConnectSession,
    },
    activity::EventsQuery,
    ai::{
        captions::NewCaptions,
        image::NewImages,
        video::{JobQuery, VideoFunction, VideoRequest},
    },
    analytics::{
        AccountsQuery, PostsQuery,
        insights::InsightsQuery,
        suggestions::{SuggestNow, SuggestionsQuery},
    },
    billing::change::{Cancellation, Downgrade},
    business::{
        Locations, MediaFilter, MediaName, NewMedia, NewReviewReply, ReviewFilter, ReviewNamed,
    },
    feedback::{NewAgentFeedback, NewFeedback},
    inbox::{
        CommentChanges, CommentFilter, CommentReply, ConversationFilter, MessageReply,
        MessagesQuery, SyncRequest,
    },
    input::{Cursor, List},
    keys::KeyRequest,
    media::{MediaQuery, NewFile, NewRemote, guest_uploads::NewGuestUpload, signed::NewUpload},
    oauth_provider::{AppChanges, NewApp},
    platform_tools::Trigger,
    posting_schedule::{NewGrid, NextQuery},
    posts::{Changes, Filter, NewBatch, NewPost, Release, Retry, StatusChange},
    signup::NewSignup,
    support::Question,
    updates::UpdatesQuery,
    webhooks::{NewWebhook, Page, WebhookChanges},
};
use parts::{
    ANYBODY, CREDENTIALS, EDIT, FAULTS, NEW_AGENT_FEEDBACK, NEW_BATCH, NEW_FEEDBACK, NEW_FILE,
    NEW_POST, NEW_REMOTE, NEW_UPLOAD, NEW_WEBHOOK, NOBODY, REFUSED_BUSINESS, REFUSED_CHANGE,
    REFUSED_CONTENT, REFUSED_EDIT, REFUSED_FILE, REFUSED_OUTGOING, REFUSED_STATUS, RELAY, UPLOAD,
    billing, own, performance, reads, wallet, writes,
};
use parts::{inbox as inbox_policy, reads_either};

/// The table. A route that is not in it does not exist.
#[rustfmt::skip]
pub static ROUTES: &[Route] = &[
    // Signup
    Route::new(Method::Post, "/api/v1/signup", "start_signup", NOBODY, &discovery::whoami)
        .answers_anybody(&signup::begin)
        .doc("signup", "Begin a signup: send the person to `checkout_redirect_url`, then poll `poll_url`")
        .core()
        .counts(Bucket::SignupHour)
        .takes(Body::of::<NewSignup>(r#"{"email": "ada@example.com", "name": "Ada", "tier": "starter", "api_addon": true}"#))
        .answers(201, "The signup has begun.")
        .refuses(&[Code::SignupClosed, Code::BillingNotConfigured, Code::MailNotConfigured]),
    Route::new(Method::Get, "/api/v1/signup/sessions/{session_id}", "get_signup_session", NOBODY,
        &discovery::whoami)
        .answers_anybody(&signup::poll)
        .doc("signup", "Show how far a signup is; never a key")
        .core()
        .counts(Bucket::Address)
        .answers(200, "The signup.")
        .refuses(&[Code::SignupSessionNotFound]),

    // Subscription
    Route::new(Method::Get, "/api/v1/subscription", "get_subscription", billing(Scope::BillingRead),
        &subscription::show)
        .doc("billing", "Show the key owner's subscription")
        .counts(Bucket::Reads)
        .answers(200, "The subscription.")
        .refuses(&[Code::NoSubscription]),
    Route::new(Method::Post, "/api/v1/subscription/cancel", "cancel_subscription", billing(Scope::BillingWrite),
        &subscription::cancel)
        .doc("billing", "Cancel the subscription at the end of its period, or at once")
        .counts(Bucket::Subscription)
        .takes(Body::of::<Cancellation>(r#"{"reason": "temporary_break", "feedback": "Back in spring"}"#))
        .answers(200, "The subscription.")
        .refuses(&[Code::InvalidReason, Code::NoSubscription, Code::InvalidTransition, Code::BillingNotConfigured]),
    Route::new(Method::Post, "/api/v1/subscription/pause", "pause_subscription", billing(Scope::BillingWrite),
        &subscription::pause)
        .doc("billing", "Pause the subscription for 30 days, once in 90 days")
        .counts(Bucket::Subscription)
        .answers(200, "The subscription.")
        .refuses(&[Code::PauseCooldown, Code::NoSubscription, Code::InvalidTransition, Code::BillingNotConfigured]),
    Route::new(Method::Post, "/api/v1/subscription/resume", "resume_subscription", billing(Scope::BillingWrite),
        &subscription::resume)
        .doc("billing", "End the pause of the subscription")
        .counts(Bucket::Subscription)
        .answers(200, "The subscription.")
        .refuses(REFUSED_CHANGE),
    Route::new(Method::Post, "/api/v1/subscription/downgrade", "downgrade_subscription", billing(Scope::BillingWrite),
        &subscription::downgrade)
        .doc("billing", "Move to a lower plan when the period ends, without proration")
        .counts(Bucket::Subscription)
        .takes(Body::of::<Downgrade>(r#"{"tier": "starter"}"#))
        .answers(200, "The subscription.")
        .refuses(&[Code::InvalidTier, Code::NoLowerTier, Code::NoSubscription, Code::InvalidTransition, Code::BillingNotConfigured]),

    // Feedback and updates
    Route::new(Method::Post, "/api/v1/feedback", "submit_product_feedback",
        writes(Scope::PostsWrite, Role::Viewer, WorkspaceScope::Home), &feedback::submit)
        .doc("feedback", "Put a message on the public feedback board; ask the user first")
        .core()
        .counts(Bucket::Feedback)
        .takes(Body::of::<NewFeedback>(NEW_FEEDBACK))
        .answers(201, "The message is on the board.")
        .refuses(&[Code::ConfirmRequired]),
    Route::new(Method::Post, "/api/v1/agent-feedback", "submit_agent_feedback",
        writes(Scope::PostsWrite, Role::Viewer, WorkspaceScope::Home), &feedback::tell)
        .doc("feedback", "Tell the operators how an agent fared with a tool; nobody else sees it")
        .core()
        .counts(Bucket::AgentFeedback)
        .takes(Body::of::<NewAgentFeedback>(NEW_AGENT_FEEDBACK))
        .answers(201, "The event is stored."),
    Route::new(Method::Post, "/api/v1/support/chat", "ask_support", Policy { addon: false, ..ANYBODY }, &support::ask)
        .doc("feedback", "Ask how the service works; answers come from its documentation alone")
        .counts(Bucket::SupportChat)
        .takes(Body::of::<Question>(r#"{"message": "How do I post at a certain time?"}"#))
        .answers(200, "The answer."),
    Route::new(Method::Get, "/api/v1/updates", "list_updates",
        Policy { addon: false, ..reads(Scope::AccountsRead, WorkspaceScope::Query) }, &updates::list)
        .doc("updates", "List what is new in the service, newest first")
        .core()
        .asks(Query::of::<UpdatesQuery>())
        .answers(200, "The updates.")
        .refuses(&[Code::SubscriptionRequired]),
    // Credits
    Route::new(Method::Get, "/api/v1/credits", "get_credits", wallet(), &credits::show)
        .doc("billing", "Show the credits of the workspace's billing owner, shared by all its members")
        .core()
        .counts(Bucket::Reads)
        .asks(Query::of::<InWorkspace>())
        .answers(200, "The wallet.")
        .refuses(&[Code::WalletUnavailable]),
    Route::new(Method::Get, "/api/v1/credits/ledger", "list_credit_entries", wallet(), &credits::ledger)
        .doc("billing", "List the changes of the wallet, newest first")
        .counts(Bucket::Reads)
        .asks(Query::of::<Page>())
        .answers(200, "The changes.")
        .refuses(&[Code::WalletUnavailable]),

    // Models
    Route::new(Method::Post, "/api/v1/ai/generate-captions", "generate_captions",
        writes(Scope::PostsWrite, Role::Editor, WorkspaceScope::Body), &ai::generate_captions)
        .doc("ai", "Write captions that claim nothing that is not in the brief; makes no post")
        .core()
        .counts(Bucket::Captions)
        .takes(Body::of::<NewCaptions>(r#"{"brief": "Brunch every Sunday, 9 euros, at cafe-luna.de", "platforms": ["bluesky", "linkedin"], "count": 2}"#))
        .answers(200, "The captions. A network may get fewer than were asked for.")
        .refuses(&[Code::InsufficientCredits, Code::AccountNotFound, Code::BrandNotFound, Code::ContentRefused,
            Code::ProviderBadAnswer, Code::ProviderUnreachable, Code::ProviderNotConfigured]),
    Route::new(Method::Post, "/api/v1/ai/generate-image", "generate_image",
        writes(Scope::PostsWrite, Role::Editor, WorkspaceScope::Body), &ai::generate_image)
        .doc("ai", "Draw images, which are stored as media")
        .counts(Bucket::Media)
        .takes(Body::of::<NewImages>(r#"{"prompt": "A cat on a red sofa", "aspect_ratio": "16:9", "count": 2}"#))
        .answers(201, "The images.")
        .refuses(&[Code::InsufficientCredits, Code::ContentRefused, Code::ProviderBadAnswer,
            Code::ProviderUnreachable, Code::ProviderNotConfigured]),
    Route::new(Method::Get, "/api/v1/ai/video-options", "get_video_options",
        reads(Scope::PostsRead, WorkspaceScope::Query), &ai::video_options)
        .doc("ai", "Show what can be filmed, and what it costs; spends nothing")
        .counts(Bucket::Reads)
        .asks(Query::of::<InWorkspace>())
        .answers(200, "The providers of films."),
    Route::new(Method::Post, "/api/v1/ai/video-function", "run_video_function",
        reads(Scope::PostsRead, WorkspaceScope::Body), &ai::video_function)
        .doc("ai", "Estimate what a film costs, check a request, or list models; spends nothing")
        .counts(Bucket::Reads)
        .takes(Body::of::<VideoFunction>(r#"{"identifier": "xai_grok", "function": "estimate_cost", "params": {"prompt": "A cat", "duration_seconds": 6}}"#))
        .answers(200, "What the function answers.")
        .refuses(&[Code::WalletUnavailable, Code::ProviderNotConfigured]),
    Route::new(Method::Post, "/api/v1/ai/generate-video", "generate_video",
        writes(Scope::PostsWrite, Role::Editor, WorkspaceScope::Body), &ai::generate_video)
        .doc("ai", "Queue a film; poll its job until it is completed")
        .counts(Bucket::Media)
        .takes(Body::of::<VideoRequest>(r#"{"prompt": "A cat plays the piano", "provider": "xai", "aspect_ratio": "9:16", "duration_seconds": 6}"#))
        .answers(202, "The film is queued.")
        .refuses(&[Code::InsufficientCredits, Code::TooManyJobs, Code::ProviderNotConfigured]),
    Route::new(Method::Get, "/api/v1/ai/video-jobs", "list_video_jobs",
        reads(Scope::PostsRead, WorkspaceScope::Query), &ai::list_video_jobs)
        .doc("ai", "List films, newest first")
        .counts(Bucket::Reads)
        .asks(Query::of::<JobQuery>())
        .answers(200, "The films."),
    Route::new(Method::Get, "/api/v1/ai/video-jobs/{id}", "get_video_job",
        reads(Scope::PostsRead, WorkspaceScope::VideoJob), &ai::get_video_job)
        .doc("ai", "Show how far a film is; `video_url` is there once it is completed")
        .counts(Bucket::Reads)
        .answers(200, "The film.")
        .refuses(&[Code::JobNotFound]),
    Route::new(Method::Post, "/api/v1/ai/video-jobs/{id}/cancel", "cancel_video_job",
        writes(Scope::PostsWrite, Role::Editor, WorkspaceScope::VideoJob), &ai::cancel_video_job)
        .doc("ai", "Cancel a film that is still queued; its credits come back")
        .answers(200, "The film.")
        .refuses(&[Code::JobNotFound, Code::InvalidTransition]),

    // Discovery
    Route::new(Method::Get, "/api/v1/whoami", "whoami", ANYBODY, &discovery::whoami)
        .doc("discovery", "Show the caller, the key and its workspaces")
        .core()
        .answers(200, "Who asks."),
    Route::new(Method::Get, "/api/v1/platforms", "list_platforms", reads(Scope::AccountsRead, WorkspaceScope::Query),
        &discovery::list_platforms)
        .doc("discovery", "List what each platform takes")
        .core()
        .asks(Query::of::<PlatformsQuery>())
        .answers(200, "The platforms."),
    Route::new(Method::Post, "/api/v1/platforms/trigger", "trigger_platform_helper",
        writes(Scope::AccountsWrite, Role::Editor, WorkspaceScope::AccountInBody), &platform_tools::trigger)
        .doc("discovery", "Run a platform's helper tool; it only reads")
        .takes(Body::of::<Trigger>(r#"{"tool": "pinterest.boards", "account_id": 7}"#))
        .answers(200, "What the tool found.")
        .refuses(&[Code::ToolNotFound, Code::InvalidCredentials, Code::ProviderUnreachable]),
    Route::new(Method::Get, "/api/v1/x-posting/quota", "get_x_posting_quota", reads(Scope::PostsRead, WorkspaceScope::Query),
        &platform_tools::x_quota)
        .doc("discovery", "Show what is left of this month's posts to X")
        .counts(Bucket::Reads)
        .asks(Query::of::<InWorkspace>())
        .answers(200, "The allowance."),

    // Accounts
    Route::new(Method::Get, "/api/v1/accounts", "list_accounts", reads(Scope::AccountsRead, WorkspaceScope::Query),
        &accounts::list)
        .doc("accounts", "List connected accounts")
        .core()
        .counts(Bucket::Reads)
        .asks(Query::of::<List>())
        .answers(200, "The accounts, oldest first."),
    Route::new(Method::Get, "/api/v1/accounts/{id}/schema", "get_platform_schema",
        reads(Scope::AccountsRead, WorkspaceScope::Account),
        &accounts::schema)
        .doc("accounts", "Show the JSON Schema of an account's settings")
        .core()
        .counts(Bucket::Reads)
        .answers(200, "The schema."),
    Route::new(Method::Delete, "/api/v1/accounts/{id}", "disconnect_account",
        writes(Scope::AccountsWrite, Role::Publisher, WorkspaceScope::Account), &accounts::disconnect)
        .doc("accounts", "Disconnect an account, for good")
        .answers(200, "It is disconnected."),
    Route::new(Method::Get, "/api/v1/accounts/{id}/slots", "get_account_slots",
        reads(Scope::PostsRead, WorkspaceScope::Account),
        &posting_schedule::get)
        .doc("accounts", "Show the times of day at which an account posts")
        .counts(Bucket::Reads)
        .answers(200, "The grid."),
    Route::new(Method::Put, "/api/v1/accounts/{id}/slots", "set_account_slots",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Account), &posting_schedule::set)
        .doc("accounts", "Set the times of day at which an account posts")
        .takes(Body::of::<NewGrid>(r#"{"times": ["09:00", "17:30"], "days": ["monday"], "timezone": "Europe/Berlin"}"#))
        .answers(200, "The grid."),
    Route::new(Method::Get, "/api/v1/slots/next", "find_available_slot", reads(Scope::PostsRead, WorkspaceScope::AccountInQuery),
        &posting_schedule::next)
        .doc("accounts", "Find an account's next free slot")
        .core()
        .counts(Bucket::Reads)
        .asks(Query::of::<NextQuery>())
        .answers(200, "The slot, or null with the reason.")
        .refuses(&[Code::InvalidTimestamp]),

    // Connecting
    Route::new(Method::Get, "/api/v1/connect", "list_connect_options", reads(Scope::AccountsRead, WorkspaceScope::Query),
        &connect::list_options)
        .doc("connect", "List how each platform is connected")
        .asks(Query::of::<InWorkspace>())
        .answers(200, "The options of all platforms."),
    Route::new(Method::Get, "/api/v1/connect/{platform}", "get_connect_link",
        reads(Scope::AccountsRead, WorkspaceScope::Query),
        &connect::get_options)
        .doc("connect", "Show how a platform is connected")
        .asks(Query::of::<InWorkspace>())
        .answers(200, "The options.")
        .refuses(&[Code::PlatformNotFound]),
    Route::new(Method::Post, "/api/v1/connect/{platform}/credentials", "connect_with_credentials",
        writes(Scope::AccountsWrite, Role::Publisher, WorkspaceScope::Body), &connect::with_credentials)
        .doc("connect", "Connect an account with credentials, or renew them")
        .counts(Bucket::Connect)
        .takes(Body::of::<ConnectRequest>(CREDENTIALS))
        .answers(200, "The account is connected.")
        .refuses(&[Code::PlatformNotFound, Code::CredentialsNotSupported, Code::InvalidCredentials,
            Code::BrandRequired,
            Code::BrandNotFound, Code::AccountNotFound, Code::ConnectSessionNotFound, Code::InvalidTransition,
            Code::PlanLimit, Code::ProviderUnreachable]),
    Route::new(Method::Post, "/api/v1/connect/{platform}/sessions", "create_connect_session",
        writes(Scope::AccountsWrite, Role::Publisher, WorkspaceScope::Body), &connect::create_session)
        .doc("connect", "Make a link on which a person connects an account in a browser")
        .core()
        .takes(Body::of::<NewConnectSession>(r#"{"auto_start": true}"#))
        .answers(201, "The session, with the link for the person.")
        .refuses(&[Code::PlatformNotFound, Code::PlatformNotConfigured, Code::BrandRequired,
            Code::BrandNotFound]),
    Route::new(Method::Get, "/api/v1/connect/sessions/{id}", "get_connect_session",
        reads(Scope::AccountsRead, WorkspaceScope::ConnectSession), &connect::get_session)
        .doc("connect", "Show how far the person is, with a sentence to read aloud")
        .core()
        .answers(200, "The session."),

    // Sandbox
    Route::new(Method::Post, "/api/v1/sandbox/accounts", "create_sandbox_account",
        writes(Scope::AccountsWrite, Role::Publisher, WorkspaceScope::Body), &sandbox::create_account)
        .doc("sandbox", "Make and connect an account on a simulated network")
        .takes(Body::of::<NewSandboxAccount>(r#"{"platform": "bluesky"}"#))
        .answers(201, "The account.")
        .refuses(&[Code::BrandRequired, Code::ProviderUnreachable]),
    Route::new(Method::Get, "/api/v1/sandbox/{platform}/posts", "list_sandbox_posts",
        reads(Scope::PostsRead, WorkspaceScope::AccountInQuery), &sandbox::list_posts)
        .doc("sandbox", "List the posts of an account on a simulated network")
        .asks(Query::of::<sandbox::PostsQuery>())
        .answers(200, "The posts.")
        .refuses(&[Code::PlatformNotFound]),
    Route::new(Method::Post, "/api/v1/sandbox/{platform}/inbound", "create_sandbox_item",
        writes(Scope::AccountsWrite, Role::Publisher, WorkspaceScope::AccountInBody), &sandbox::create_item)
        .doc("sandbox", "Have somebody write to an account on a simulated network: a message, a comment, a review")
        .takes(Body::of::<NewItem>(r#"{"account_id": 7, "kind": "message", "text": "Are you open today?"}"#))
        .answers(201, "The network has it.")
        .refuses(&[Code::PlatformNotFound]),
    Route::new(Method::Get, "/api/v1/sandbox/{platform}/inbox", "list_sandbox_inbox",
        reads(Scope::AccountsWrite, WorkspaceScope::AccountInQuery), &sandbox::list_inbox)
        .doc("sandbox", "List the messages, comments and reviews of an account on a simulated network")
        .asks(Query::of::<sandbox::PostsQuery>())
        .answers(200, "What the network holds, oldest first.")
        .refuses(&[Code::PlatformNotFound]),
    Route::new(Method::Patch, "/api/v1/sandbox/{platform}/inbox/{id}", "update_sandbox_item",
        writes(Scope::AccountsWrite, Role::Publisher, WorkspaceScope::AccountInBody), &sandbox::update_item)
        .doc("sandbox", "Change an item on a simulated network, as the person who wrote it would")
        .takes(Body::of::<ItemChanges>(r#"{"account_id": 7, "text": "Are you open tomorrow?"}"#))
        .answers(200, "The changed item.")
        .refuses(&[Code::PlatformNotFound]),
    Route::new(Method::Delete, "/api/v1/sandbox/{platform}/inbox/{id}", "delete_sandbox_item",
        writes(Scope::AccountsWrite, Role::Publisher, WorkspaceScope::AccountInQuery), &sandbox::delete_item)
        .doc("sandbox", "Delete an item on a simulated network, as the person who wrote it would")
        .asks(Query::of::<sandbox::PostsQuery>())
        .answers(200, "The deleted item.")
        .refuses(&[Code::PlatformNotFound]),
    Route::new(Method::Put, "/api/v1/sandbox/{platform}/reviews", "set_sandbox_reviews",
        writes(Scope::AccountsWrite, Role::Publisher, WorkspaceScope::AccountInBody), &sandbox::set_decisions)
        .doc("sandbox", "Set what a simulated network decides about answers to reviews and about films")
        .takes(Body::of::<ReviewDecisions>(r#"{"account_id": 7, "reply": "reject"}"#))
        .answers(200, "It is set.")
        .refuses(&[Code::PlatformNotFound]),
    Route::new(Method::Put, "/api/v1/sandbox/{platform}/faults", "set_sandbox_faults",
        writes(Scope::AccountsWrite, Role::Publisher, WorkspaceScope::AccountInBody), &sandbox::set_faults)
        .doc("sandbox", "Set the faults of an account on a simulated network")
        .takes(Body::of::<Faults>(FAULTS))
        .answers(200, "The faults are set.")
        .refuses(&[Code::PlatformNotFound]),
    Route::new(Method::Put, "/api/v1/sandbox/{platform}/metrics", "set_sandbox_metrics",
        writes(Scope::AccountsWrite, Role::Publisher, WorkspaceScope::AccountInBody), &sandbox::set_numbers)
        .doc("sandbox", "Set the numbers that a simulated network tells of an account, a day or a post")
        .takes(Body::of::<NewNumbers>(r#"{"account_id": 1, "date": "2026-11-24", "metrics": {"reach": 120, "likes": null}}"#))
        .answers(200, "The numbers are set.")
        .refuses(&[Code::PlatformNotFound]),
    Route::new(Method::Post, "/api/v1/sandbox/{platform}/posts", "create_sandbox_post",
        writes(Scope::AccountsWrite, Role::Publisher, WorkspaceScope::AccountInBody), &sandbox::post_elsewhere)
        .doc("sandbox", "Make a post on a simulated network, as a person would there")
        .takes(Body::of::<NewElsewhere>(r#"{"account_id": 1, "text": "Made in the app"}"#))
        .answers(201, "The post.")
        .refuses(&[Code::PlatformNotFound]),
    Route::new(Method::Delete, "/api/v1/sandbox/{platform}/posts/{id}", "delete_sandbox_post",
        writes(Scope::AccountsWrite, Role::Publisher, WorkspaceScope::AccountInQuery), &sandbox::delete_elsewhere)
        .doc("sandbox", "Delete a post on a simulated network, as a person would there")
        .asks(Query::of::<sandbox::PostsQuery>())
        .answers(200, "It is deleted.")
        .refuses(&[Code::PlatformNotFound]),
    Route::new(Method::Post, "/api/v1/sandbox/suggestions", "create_sandbox_suggestions",
        writes(Scope::AccountsWrite, Role::Publisher, WorkspaceScope::AccountInBody), &analytics::suggest_now)
        .doc("sandbox", "Suggest posts for an account on a simulated network at once")
        .takes(Body::of::<SuggestNow>(r#"{"account_id": 1}"#))
        .answers(200, "How many suggestions are new.")
        .refuses(&[Code::AccountNotFound]),

    // Posts
    Route::new(Method::Post, "/api/v1/posts", "create_post",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::AccountInBody), &posts::create)
        .doc("posts", "Schedule a post, or publish it now")
        .core()
        .counts(Bucket::Posts)
        .takes(Body::of::<NewPost>(NEW_POST))
        .answers(200, "With `dry_run`: the post would be created.")
        .answers(201, "The post was created.")
        .refuses(REFUSED_CONTENT),
    Route::new(Method::Post, "/api/v1/posts/batch", "create_posts_batch",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Body), &posts::create_batch)
        .doc("posts", "Create up to 25 posts, each on its own")
        .core()
        .counts(Bucket::Posts)
        .takes(Body::of::<NewBatch>(NEW_BATCH))
        .keyed_by_item()
        .answers(200, "What became of each item.")
        .refuses(&[Code::TooManyItems]),
    Route::new(Method::Get, "/api/v1/posts", "list_posts", reads(Scope::PostsRead, WorkspaceScope::Query),
        &posts::list)
        .doc("posts", "List posts, newest first")
        .core()
        .counts(Bucket::Reads)
        .asks(Query::of::<Filter>())
        .answers(200, "A page of posts."),
    Route::new(Method::Get, "/api/v1/posts/{id}", "get_post", reads(Scope::PostsRead, WorkspaceScope::Post),
        &posts::get)
        .doc("posts", "Show a post")
        .core()
        .counts(Bucket::Reads)
        .answers(200, "The post."),
    Route::new(Method::Patch, "/api/v1/posts/{id}", "update_post", EDIT, &posts::update)
        .doc("posts", "Change a scheduled, draft or paused post")
        .core()
        .takes(Body::of::<Changes>(r#"{"caption": "Hello again!"}"#))
        .answers(200, "The changed post.")
        .refuses(REFUSED_EDIT),
    Route::new(Method::Delete, "/api/v1/posts/{id}", "delete_post",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Post), &posts::delete)
        .doc("posts", "Delete a draft or scheduled post")
        .core()
        .answers(200, "It is deleted.")
        .refuses(&[Code::InvalidTransition]),
    Route::new(Method::Put, "/api/v1/posts/{id}/status", "update_post_status",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Post), &posts::set_status)
        .doc("posts", "Pause, schedule or draft a post")
        .core()
        .takes(Body::of::<StatusChange>(r#"{"status": "paused"}"#))
        .answers(200, "The post in its new status.")
        .refuses(REFUSED_STATUS),
    Route::new(Method::Get, "/api/v1/posts/{id}/missing", "get_post_missing", reads(Scope::PostsRead, WorkspaceScope::Post),
        &posts::missing)
        .doc("posts", "Show what a post is missing")
        .core()
        .counts(Bucket::Reads)
        .answers(200, "What it lacks."),
    Route::new(Method::Put, "/api/v1/posts/{id}/release-id", "update_post_release_id",
        writes(Scope::PostsWrite, Role::Editor, WorkspaceScope::Post), &posts::set_release)
        .doc("posts", "Store release and group metadata")
        .takes(Body::of::<Release>(r#"{"release_id": "2030.1", "group": "launch"}"#))
        .answers(200, "The post."),
    Route::new(Method::Get, "/api/v1/posts/{id}/attempts", "list_attempts", reads(Scope::PostsRead, WorkspaceScope::Post),
        &posts::attempts)
        .doc("posts", "List the attempts to publish a post, oldest first")
        .core()
        .counts(Bucket::Reads)
        .asks(Query::of::<Cursor>())
        .answers(200, "The ledger."),
    Route::new(Method::Post, "/api/v1/posts/{id}/retry", "retry_post",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Post), &posts::retry)
        .doc("posts", "Send a failed post again, now")
        .core()
        .takes(Body::of::<Retry>("{}"))
        .answers(200, "The post, scheduled for now.")
        .refuses(&[Code::InvalidTransition, Code::DuplicateRisk]),
    Route::new(Method::Delete, "/api/v1/posts/group/{group}", "delete_post_group",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Query), &posts::delete_group)
        .doc("posts", "Delete the draft, scheduled, failed and paused posts of a group")
        .asks(Query::of::<posts::GroupQuery>())
        .answers(200, "What was deleted and what was left alone.")
        .refuses(&[Code::ConfirmRequired, Code::GroupNotFound]),

    // Media
    Route::new(Method::Post, "/api/v1/media/upload", "upload_media",
        writes(Scope::MediaWrite, Role::Editor, WorkspaceScope::Body), &media::upload)
        .doc("media", "Upload a small file; location metadata is removed, as in every upload")
        .counts(Bucket::Media)
        .takes(Body::of::<NewFile>(NEW_FILE))
        .holds(UPLOAD, Code::PayloadTooLarge)
        .answers(201, "The file.")
        .refuses(REFUSED_FILE),
    Route::new(Method::Post, "/api/v1/media/signed-upload", "create_signed_upload",
        writes(Scope::MediaWrite, Role::Editor, WorkspaceScope::Body), &media::announce)
        .doc("media", "Get an upload URL for a file of any size; send the file with PUT within 15 minutes")
        .core()
        .counts(Bucket::Media)
        .takes(Body::of::<NewUpload>(NEW_UPLOAD))
        .answers(201, "Where and with what headers the file is sent; the reply to that has `asset_id`.")
        .refuses(&[Code::MediaTypeUnsupported, Code::MediaTooLarge]),
    Route::new(Method::Post, "/api/v1/media/signed-upload/upload", "relay_media",
        writes(Scope::MediaWrite, Role::Editor, WorkspaceScope::Body), &media::relay)
        .doc("media", "Upload a small file (legacy address); use `/media/upload` or `/media/signed-upload` instead")
        .counts(Bucket::Media)
        .takes(Body::of::<NewFile>(NEW_FILE))
        .holds(RELAY, Code::FunctionPayloadTooLarge)
        .answers(201, "The file.")
        .refuses(REFUSED_FILE),
    Route::new(Method::Post, "/api/v1/media/upload-from-url", "upload_media_from_url",
        writes(Scope::MediaWrite, Role::Editor, WorkspaceScope::Body), &media::from_url)
        .doc("media", "Copy a file from another address")
        .core()
        .counts(Bucket::Media)
        .takes(Body::of::<NewRemote>(NEW_REMOTE))
        .answers(201, "The file; its `url` can be used as `media_url`.")
        .refuses(&[Code::MediaTypeUnsupported, Code::RemoteMediaTooLarge, Code::RemoteMediaUnavailable,
            Code::UrlNotAllowed, Code::MediaCopyPending]),
    Route::new(Method::Post, "/api/v1/media/drop-sessions", "create_media_drop",
        writes(Scope::MediaWrite, Role::Editor, WorkspaceScope::Body), &media::create_drop)
        .doc("media", "Create a page on which a person without a log-in can upload files for a day")
        .core()
        .counts(Bucket::Media)
        .takes(Body::of::<NewGuestUpload>(r#"{"filename": "the team photo", "max_files": 3}"#))
        .answers(201, "The page."),
    Route::new(Method::Get, "/api/v1/media", "list_media", reads(Scope::MediaWrite, WorkspaceScope::Query),
        &media::list)
        .doc("media", "List files, newest first")
        .core()
        .asks(Query::of::<MediaQuery>())
        .answers(200, "A page of files."),
    Route::new(Method::Delete, "/api/v1/media/{id}", "delete_media",
        writes(Scope::MediaWrite, Role::Editor, WorkspaceScope::Media), &media::delete)
        .doc("media", "Delete a file that no unpublished post uses")
        .answers(200, "It is deleted.")
        .refuses(&[Code::MediaInUse]),

    // Brands
    Route::new(Method::Get, "/api/v1/brands", "list_brands", reads(Scope::AccountsRead, WorkspaceScope::Query),
        &brands::list)
        .doc("brands", "List brands")
        .core()
        .asks(Query::of::<List>())
        .answers(200, "The brands, oldest first."),
    Route::new(Method::Get, "/api/v1/brands/{id}", "get_brand", reads(Scope::AccountsRead, WorkspaceScope::Brand),
        &brands::get)
        .doc("brands", "Show a brand")
        .answers(200, "The brand."),
    Route::new(Method::Get, "/api/v1/brands/{id}/accounts", "list_brand_accounts",
        reads(Scope::AccountsRead, WorkspaceScope::Brand),
        &brands::list_accounts)
        .doc("brands", "List the accounts of a brand")
        .asks(Query::of::<Cursor>())
        .answers(200, "The accounts, oldest first."),
    Route::new(Method::Get, "/api/v1/brands/{id}/profile", "get_brand_profile",
        reads(Scope::AccountsRead, WorkspaceScope::Brand),
        &brands::get_profile)
        .doc("brands", "Show the voice of a brand")
        .answers(200, "The profile."),

    // Analytics
    Route::new(Method::Get, "/api/v1/analytics/accounts", "list_account_analytics",
        reads(Scope::AnalyticsRead, WorkspaceScope::Query), &analytics::list_accounts)
        .doc("analytics", "Show the numbers of accounts by the day, with a summary")
        .asks(Query::of::<AccountsQuery>())
        .answers(200, "The accounts, each with one row for each day.")
        .refuses(&[Code::AccountNotFound]),
    Route::new(Method::Get, "/api/v1/analytics/posts", "list_post_analytics",
        reads(Scope::AnalyticsRead, WorkspaceScope::Query), &analytics::list_posts)
        .doc("analytics", "List the numbers of posts, newest first")
        .asks(Query::of::<PostsQuery>())
        .answers(200, "A part of the posts.")
        .refuses(&[Code::AccountNotFound]),
    Route::new(Method::Get, "/api/v1/accounts/{id}/performance-profile", "get_performance_profile",
        performance(Scope::AnalyticsRead, WorkspaceScope::Account), &analytics::get_profile)
        .doc("analytics", "Show what an account does well")
        .answers(200, "The profile, or why there is none."),
    Route::new(Method::Get, "/api/v1/analytics/insights", "list_insights",
        performance(Scope::AnalyticsRead, WorkspaceScope::Query), &analytics::list_insights)
        .doc("analytics", "List insights about posts, newest first")
        .core()
        .asks(Query::of::<InsightsQuery>())
        .answers(200, "The insights.")
        .refuses(&[Code::AccountNotFound, Code::PostNotFound]),
    Route::new(Method::Get, "/api/v1/suggestions", "list_suggestions",
        performance(Scope::AnalyticsRead, WorkspaceScope::Query), &analytics::list_suggestions)
        .doc("analytics", "List suggested posts, newest first")
        .asks(Query::of::<SuggestionsQuery>())
        .answers(200, "The suggestions.")
        .refuses(&[Code::AccountNotFound]),
    Route::new(Method::Post, "/api/v1/suggestions/{id}/dismiss", "dismiss_suggestion",
        Policy { role: Role::Editor, ..performance(Scope::PostsWrite, WorkspaceScope::Suggestion) },
        &analytics::dismiss_suggestion)
        .doc("analytics", "Dismiss a suggested post")
        .answers(200, "The suggestion.")
        .refuses(&[Code::SuggestionAlreadyScheduled]),

    // Webhooks
    Route::new(Method::Get, "/api/v1/webhooks", "list_webhooks", reads(Scope::PostsRead, WorkspaceScope::Query),
        &webhooks::list)
        .doc("webhooks", "List webhooks")
        .asks(Query::of::<InWorkspace>())
        .answers(200, "The webhooks, newest first."),
    Route::new(Method::Post, "/api/v1/webhooks", "create_webhook",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Body), &webhooks::create)
        .doc("webhooks", "Create a webhook; its secret is shown only once")
        .takes(Body::of::<NewWebhook>(NEW_WEBHOOK))
        .answers(201, "The webhook with its secret.")
        .refuses(&[Code::UrlNotAllowed, Code::WebhookLimit]),
    Route::new(Method::Patch, "/api/v1/webhooks/{id}", "update_webhook",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Webhook), &webhooks::update)
        .doc("webhooks", "Change, disable or enable a webhook")
        .takes(Body::of::<WebhookChanges>(r#"{"enabled": false}"#))
        .answers(200, "The changed webhook.")
        .refuses(&[Code::UrlNotAllowed]),
    Route::new(Method::Delete, "/api/v1/webhooks/{id}", "delete_webhook",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Webhook), &webhooks::delete)
        .doc("webhooks", "Delete a webhook")
        .answers(200, "It is deleted."),
    Route::new(Method::Post, "/api/v1/webhooks/{id}/test", "test_webhook",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Webhook), &webhooks::test)
        .doc("webhooks", "Send a test delivery")
        .counts(Bucket::WebhookTests)
        .answers(202, "The delivery is on its way."),
    Route::new(Method::Get, "/api/v1/webhooks/{id}/deliveries", "list_deliveries",
        reads(Scope::PostsRead, WorkspaceScope::Webhook),
        &webhooks::list_deliveries)
        .doc("webhooks", "List deliveries, newest first")
        .asks(Query::of::<webhooks::DeliveriesQuery>())
        .answers(200, "A page of deliveries."),
    Route::new(Method::Post, "/api/v1/webhooks/{id}/deliveries/{delivery_id}/redeliver", "redeliver",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Webhook), &webhooks::redeliver)
        .doc("webhooks", "Deliver an event again")
        .answers(202, "The delivery is on its way.")
        .refuses(&[Code::DeliveryNotFound]),
    Route::new(Method::Post, "/api/v1/webhooks/{id}/rotate-secret", "rotate_webhook_secret",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Webhook), &webhooks::rotate_secret)
        .doc("webhooks", "Rotate a webhook's secret; the old one stays valid for a day")
        .answers(200, "The webhook with its new secret."),

    // Keys
    Route::new(Method::Get, "/api/v1/keys", "list_api_keys", own(Scope::AccountsRead), &api_keys::list)
        .doc("keys", "List your API keys, by their beginnings")
        .answers(200, "The keys, oldest first."),
    Route::new(Method::Post, "/api/v1/keys", "create_api_key", own(Scope::AccountsWrite), &api_keys::create)
        .doc("keys", "Create an API key; it is shown only once")
        .takes(Body::of::<KeyRequest>(r#"{"name": "nightly import", "scopes": ["posts:read", "posts:write"], "expires_in_days": 90}"#))
        .answers(201, "The key.")
        .refuses(&[Code::KeyLimit, Code::WorkspaceScopeMismatch, Code::WorkspaceNotFound,
            Code::InsufficientWorkspacePermissions]),
    Route::new(Method::Delete, "/api/v1/keys/{id}", "revoke_api_key", own(Scope::AccountsWrite), &api_keys::delete)
        .doc("keys", "Revoke an API key, for good")
        .answers(200, "It is revoked.")
        .refuses(&[Code::KeyNotFound]),

    // OAuth
    Route::new(Method::Get, "/api/v1/oauth/clients", "list_oauth_clients", own(Scope::AccountsRead),
        &apps::list_clients)
        .doc("oauth clients", "List your OAuth apps")
        .answers(200, "The apps, oldest first."),
    Route::new(Method::Post, "/api/v1/oauth/clients", "create_oauth_client", own(Scope::AccountsWrite),
        &apps::create_client)
        .doc("oauth clients", "Create an OAuth app: a public client with PKCE, without a secret")
        .takes(Body::of::<NewApp>(r#"{"client_name": "My tool", "allowed_redirect_uris": ["https://example.com/callback"]}"#))
        .answers(201, "The app.")
        .refuses(&[Code::ClientLimit]),
    Route::new(Method::Patch, "/api/v1/oauth/clients/{client_id}", "update_oauth_client", own(Scope::AccountsWrite),
        &apps::update_client)
        .doc("oauth clients", "Change an OAuth app")
        .takes(Body::of::<AppChanges>(r#"{"client_name": "My better tool"}"#))
        .answers(200, "The changed app.")
        .refuses(&[Code::ClientNotFound]),
    Route::new(Method::Delete, "/api/v1/oauth/clients/{client_id}", "delete_oauth_client", own(Scope::AccountsWrite),
        &apps::delete_client)
        .doc("oauth clients", "Delete an OAuth app and end all its grants")
        .answers(200, "It is deleted.")
        .refuses(&[Code::ClientNotFound]),
    Route::new(Method::Get, "/api/v1/oauth/grants", "list_oauth_grants", own(Scope::AccountsRead), &apps::list_grants)
        .doc("oauth grants", "List the tools that you let in")
        .answers(200, "The grants, newest first."),
    Route::new(Method::Delete, "/api/v1/oauth/grants/{id}", "end_oauth_grant", own(Scope::AccountsWrite),
        &apps::delete_grant)
        .doc("oauth grants", "End what a tool may do; its tokens stop at once")
        .answers(200, "It has ended.")
        .refuses(&[Code::GrantNotFound]),

    // Activity
    Route::new(Method::Get, "/api/v1/events", "list_events", reads(Scope::PostsRead, WorkspaceScope::Query),
        &activity::list_events)
        .doc("activity", "Poll the event stream, oldest first")
        .asks(Query::of::<EventsQuery>())
        .answers(200, "Events after the one named."),
    Route::new(Method::Get, "/api/v1/activity", "list_activity", reads(Scope::PostsRead, WorkspaceScope::Query),
        &activity::list)
        .doc("activity", "List recent activity, newest first")
        .core()
        .asks(Query::of::<Page>())
        .answers(200, "A page of activity."),
    Route::new(Method::Get, "/api/v1/notifications", "list_notifications", reads(Scope::PostsRead, WorkspaceScope::Query),
        &activity::list)
        .doc("activity", "List recent activity, newest first; the same as `/activity`")
        .asks(Query::of::<Page>())
        .answers(200, "A page of activity."),
    // Inbox
    Route::new(Method::Get, "/api/v1/inbox/conversations", "list_conversations",
        inbox_policy(Role::Viewer, WorkspaceScope::Query), &inbox::list_conversations)
        .doc("inbox", "List conversations, those with the latest activity first")
        .counts(Bucket::Reads)
        .asks(Query::of::<ConversationFilter>())
        .answers(200, "A page of conversations."),
    Route::new(Method::Get, "/api/v1/inbox/conversations/{id}", "get_conversation",
        inbox_policy(Role::Viewer, WorkspaceScope::Conversation), &inbox::get_conversation)
        .doc("inbox", "Show a conversation with its messages, newest first")
        .counts(Bucket::Reads)
        .asks(Query::of::<MessagesQuery>())
        .answers(200, "The conversation."),
    Route::new(Method::Post, "/api/v1/inbox/conversations/{id}/reply", "reply_to_conversation",
        inbox_policy(Role::Editor, WorkspaceScope::Conversation), &inbox::reply_to_conversation)
        .doc("inbox", "Answer a conversation, up to 24 hours after the person's last message")
        .takes(Body::of::<MessageReply>(r#"{"text": "Thank you for asking: we are open until six."}"#))
        .answers(201, "The network has the message.")
        .answers(202, "The outcome is open: read the message again.")
        .refuses(REFUSED_OUTGOING),
    Route::new(Method::Get, "/api/v1/inbox/comments", "list_comments",
        inbox_policy(Role::Viewer, WorkspaceScope::Query), &inbox::list_comments)
        .doc("inbox", "List comments on posts, newest first, replies among them")
        .counts(Bucket::Reads)
        .asks(Query::of::<CommentFilter>())
        .answers(200, "A page of comments."),
    Route::new(Method::Get, "/api/v1/inbox/comments/{id}", "get_comment",
        inbox_policy(Role::Viewer, WorkspaceScope::Comment), &inbox::get_comment)
        .doc("inbox", "Show a comment with its replies, oldest first")
        .counts(Bucket::Reads)
        .answers(200, "The comment."),
    Route::new(Method::Patch, "/api/v1/inbox/comments/{id}", "update_comment",
        inbox_policy(Role::Editor, WorkspaceScope::Comment), &inbox::update_comment)
        .doc("inbox", "Hide a comment, or show it again")
        .takes(Body::of::<CommentChanges>(r#"{"hidden": true}"#))
        .answers(200, "The comment.")
        .answers(202, "The outcome is open: read the comment again.")
        .refuses(REFUSED_OUTGOING),
    Route::new(Method::Delete, "/api/v1/inbox/comments/{id}", "delete_comment",
        inbox_policy(Role::Admin, WorkspaceScope::Comment), &inbox::delete_comment)
        .doc("inbox", "Delete a comment")
        .answers(200, "It is deleted.")
        .answers(202, "The outcome is open: read the comment again.")
        .refuses(REFUSED_OUTGOING),
    Route::new(Method::Post, "/api/v1/inbox/comments/{id}/reply", "reply_to_comment",
        inbox_policy(Role::Editor, WorkspaceScope::Comment), &inbox::reply_to_comment)
        .doc("inbox", "Answer a comment in public, or on Instagram once by a direct message")
        .takes(Body::of::<CommentReply>(r#"{"text": "Glad that you like it!"}"#))
        .answers(201, "The network has the answer.")
        .answers(202, "The outcome is open: read the comment again.")
        .refuses(REFUSED_OUTGOING),
    Route::new(Method::Post, "/api/v1/inbox/sync", "sync_inbox",
        inbox_policy(Role::Editor, WorkspaceScope::AccountInBody), &inbox::sync)
        .doc("inbox", "Have inboxes read now")
        .takes(Body::of::<SyncRequest>(r#"{"account_id": 7}"#))
        .answers(202, "Which accounts are going to be read.")
        .refuses(&[Code::AccountNotFound]),
    // Business profiles
    Route::new(Method::Get, "/api/v1/google-business/reviews", "list_reviews",
        reads_either(WorkspaceScope::AccountInQuery), &business::list_reviews)
        .doc("google-business", "List reviews, the last changed first")
        .counts(Bucket::Reads)
        .asks(Query::of::<ReviewFilter>())
        .answers(200, "A page of reviews.")
        .refuses(&[Code::PlatformMismatch, Code::LocationNotFound]),
    Route::new(Method::Post, "/api/v1/google-business/reviews/reply", "reply_to_review",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Body), &business::reply)
        .doc("google-business", "Answer a review; 200 in place of an earlier answer")
        .takes(Body::of::<NewReviewReply>(r#"{"review_id": 7, "text": "Thank you for coming!"}"#))
        .answers(200, "The network has the answer, in place of an earlier one.")
        .answers(201, "The network has the answer.")
        .answers(202, "The outcome is open: read the review again.")
        .refuses(REFUSED_BUSINESS),
    Route::new(Method::Delete, "/api/v1/google-business/reviews/reply", "delete_review_reply",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Query), &business::delete_reply)
        .doc("google-business", "Delete the answer to a review")
        .asks(Query::of::<ReviewNamed>())
        .answers(200, "It is deleted.")
        .answers(202, "The outcome is open: read the review again.")
        .refuses(REFUSED_BUSINESS),
    Route::new(Method::Get, "/api/v1/google-business/review-link", "get_review_link",
        reads_either(WorkspaceScope::AccountInQuery), &business::review_link)
        .doc("google-business", "Show the addresses at which people review locations")
        .counts(Bucket::Reads)
        .asks(Query::of::<Locations>())
        .answers(200, "The addresses.")
        .refuses(&[Code::PlatformMismatch, Code::LocationNotFound]),
    Route::new(Method::Get, "/api/v1/google-business/audit", "audit_business_profile",
        reads_either(WorkspaceScope::AccountInQuery), &business::audit)
        .doc("google-business", "Check what business profiles lack")
        .counts(Bucket::Reads)
        .asks(Query::of::<Locations>())
        .answers(200, "The audits.")
        .refuses(&[Code::PlatformMismatch, Code::LocationNotFound]),
    Route::new(Method::Get, "/api/v1/google-business/media", "list_business_media",
        reads_either(WorkspaceScope::AccountInQuery), &business::list_media)
        .doc("google-business", "List the photos and films of locations, whoever added them")
        .counts(Bucket::Reads)
        .asks(Query::of::<MediaFilter>())
        .answers(200, "A page of media.")
        .refuses(&[Code::PlatformMismatch, Code::LocationNotFound]),
    Route::new(Method::Post, "/api/v1/google-business/media", "add_business_media",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::AccountInBody), &business::add_media)
        .doc("google-business", "Add a photo or film to a location")
        .takes(Body::of::<NewMedia>(r#"{"source_url": "https://fanfare.example/media/2f9c.jpg", "category": "INTERIOR"}"#))
        .answers(202, "It is on its way.")
        .refuses(&[Code::PlatformMismatch, Code::LocationNotFound, Code::AccountReconnectRequired, Code::DuplicateRisk,
            Code::MediaTypeUnsupported, Code::MediaTooLarge, Code::MediaDimensionsUnsupported, Code::MediaNotFound]),
    Route::new(Method::Delete, "/api/v1/google-business/media", "delete_business_media",
        writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Query), &business::delete_media)
        .doc("google-business", "Delete a photo or film of a location")
        .asks(Query::of::<MediaName>())
        .answers(200, "It is deleted.")
        .answers(202, "The outcome is open: list the media again.")
        .refuses(REFUSED_BUSINESS),
];

#[cfg(test)]
mod tests;
