//! All error codes: status, cause and remedy. `/docs/errors` and the OpenAPI document are generated from them.

/// The entry of an error code.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// The code, as replies show it.
    pub code: &'static str,
    /// HTTP status.
    pub status: u16,
    /// True if the same request may succeed later.
    pub retryable: bool,
    /// The cause.
    pub cause: &'static str,
    /// The remedy.
    pub remedy: &'static str,
}

macro_rules! codes {
    ($($name:ident = $code:literal, $status:literal, $retryable:literal, $cause:literal, $remedy:literal;)+) => {
        /// An error code.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code {
            $(#[doc = $cause] $name,)+
        }

        impl Code {
            /// All codes.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// Returns its entry.
            #[must_use]
            pub const fn entry(self) -> Entry {
                match self {
                    $(Self::$name => Entry {
                        code: $code,
                        status: $status,
                        retryable: $retryable,
                        cause: $cause,
                        remedy: $remedy,
                    },)+
                }
            }
        }
    };
}

impl Code {
    /// Returns the code with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.entry().code == name)
    }
}

codes! {
    InvalidJson = "invalid_json", 400, false,
        "The body is not one JSON object, holds a key twice, starts with a byte order mark or is nested deeper than 64 levels.",
        "Send one well-formed JSON object in UTF-8.";
    UnknownField = "unknown_field", 400, false,
        "A field or query parameter is unknown.",
        "Use the name the message suggests, or leave the field out.";
    FieldRequired = "field_required", 400, false,
        "A required field is missing or empty.",
        "Send the field.";
    InvalidField = "invalid_field", 400, false,
        "A value has the wrong type, format or range.",
        "Send a value as described in the message.";
    InvalidTimestamp = "invalid_timestamp", 400, false,
        "A time has no offset, or is not a time.",
        "Send RFC 3339 with an offset (2026-01-31T09:00:00Z), or send `timezone` beside a local time.";
    ImmutableField = "immutable_field", 400, false,
        "The field cannot be changed after the post was created.",
        "Create a new post instead.";
    InvalidIdempotencyKey = "invalid_idempotency_key", 400, false,
        "`Idempotency-Key` is empty, longer than 255 characters or not visible ASCII.",
        "Send 1 to 255 visible ASCII characters, for example a UUID.";
    ScheduledInPast = "scheduled_in_past", 400, false,
        "`scheduled_at` is more than 60 seconds in the past.",
        "Send a later time, or leave it out to publish now.";
    CaptionTooLong = "caption_too_long", 400, false,
        "The caption is longer than the platform allows.",
        "Shorten the caption to the limit.";
    CaptionRequired = "caption_required", 400, false,
        "The post has neither text nor media.",
        "Send a caption or media.";
    CaptionTooManyLinks = "caption_too_many_links", 400, false,
        "The caption has more links than the platform allows.",
        "Remove links.";
    CaptionTooManyCashtags = "caption_too_many_cashtags", 400, false,
        "A text names more stocks or coins than the platform allows.",
        "Keep one word like $ABC.";
    CaptionTooManyHashtags = "caption_too_many_hashtags", 400, false,
        "The caption has more hashtags than the platform allows.",
        "Remove hashtags.";
    CaptionTooManyMentions = "caption_too_many_mentions", 400, false,
        "The caption mentions more people than the platform allows.",
        "Remove mentions.";
    CaptionMarkupInvalid = "caption_markup_invalid", 400, false,
        "The caption's markup cannot be parsed in the requested parse mode.",
        "Close or escape what the message names, or leave `parse_mode` out.";
    MediaRequired = "media_required", 400, false,
        "This kind of post needs media.",
        "Send `media_url` or `media_urls`.";
    TooManyMedia = "too_many_media", 400, false,
        "There are more files than the platform allows in one post.",
        "Send fewer files.";
    MixedMediaUnsupported = "mixed_media_unsupported", 400, false,
        "Images and videos cannot be in one post on this platform.",
        "Send either images or one video.";
    MediaTypeUnsupported = "media_type_unsupported", 400, false,
        "The platform does not accept this type of file.",
        "Convert the file to one of the types named in the message.";
    MediaTooLarge = "media_too_large", 400, false,
        "A file is larger than the platform or the plan allows.",
        "Send a smaller file, or move to a larger plan.";
    MediaUnreadable = "media_unreadable", 400, false,
        "A file is damaged, incomplete or not what its type says.",
        "Export the file again and upload it whole.";
    MediaTooComplex = "media_too_complex", 400, false,
        "Reading a file takes more time or memory than a file may.",
        "Export the file again with ordinary settings and upload it.";
    MediaDimensionsUnsupported = "media_dimensions_unsupported", 400, false,
        "An image or video has more or fewer pixels than the platform accepts.",
        "Send one of the size named in the message.";
    MediaAspectUnsupported = "media_aspect_unsupported", 400, false,
        "An image or video is too wide or too narrow for the platform.",
        "Crop it to the shape named in the message.";
    MediaConversionFailed = "media_conversion_failed", 400, false,
        "A file must be converted for the platform, and that failed or needs ffmpeg, which the server does not have.",
        "Send the file in a form that the platform accepts, or ask the operator to install ffmpeg.";
    VideoTooShort = "video_too_short", 400, false,
        "The video is shorter than the platform allows.",
        "Send a longer video.";
    VideoTooLong = "video_too_long", 400, false,
        "The video is longer than the platform allows.",
        "Shorten the video.";
    VideoExceedsPlatformLimit = "video_exceeds_platform_limit", 400, false,
        "The video file is larger than the platform allows.",
        "Compress the video.";
    PdfRequiresLinkedin = "pdf_requires_linkedin", 400, false,
        "PDF documents can be posted on linkedin only.",
        "Remove the PDF or post to linkedin.";
    InstagramVideoUnsupportedContainer = "instagram_video_unsupported_container", 400, false,
        "Instagram does not accept .avi or .mkv.",
        "Send MP4, MOV, WebM or M4V.";
    MissingInstagramBusinessAccountId = "missing_instagram_business_account_id", 400, false,
        "The instagram account lacks its business account id.",
        "Connect the account again.";
    LocationCannotPost = "location_cannot_post", 400, false,
        "Google does not let this location of a Business Profile post.",
        "Have Google verify the location, then connect it again; or post on another.";
    SettingRequired = "setting_required", 400, false,
        "A setting that the platform needs is missing.",
        "Send the setting; `GET /api/v1/accounts/{id}/schema` lists them.";
    SettingInvalid = "setting_invalid", 400, false,
        "A setting has a value that the platform does not accept.",
        "Send a value as the message describes it; see `GET /api/v1/accounts/{id}/schema`.";
    ThreadSegmentTooLong = "thread_segment_too_long", 400, false,
        "A segment of the thread is longer than the platform allows.",
        "Shorten the segment.";
    ThreadSegmentHasUrl = "thread_segment_has_url", 400, false,
        "Segments of this thread may not contain links.",
        "Remove the link.";
    RemoteMediaTooLarge = "remote_media_too_large", 400, false,
        "A file fetched from another address is larger than 60 MB.",
        "Upload the file, or send a smaller one.";
    RemoteMediaUnavailable = "remote_media_unavailable", 400, false,
        "A media URL did not answer with a file.",
        "Check that the URL is public and answers, then send the request again.";
    MediaTypeMismatch = "media_type_mismatch", 400, false,
        "The bytes do not match the named type.",
        "Send the right `content_type`.";
    UploadSizeMismatch = "upload_size_mismatch", 400, false,
        "The size of the file differs from the announced size.",
        "Send the whole file, or announce it again with its exact size.";
    UrlNotAllowed = "url_not_allowed", 400, false,
        "The address is not a public https address.",
        "Use an https address on the public internet, port 443.";
    ConfirmRequired = "confirm_required", 400, false,
        "Deleting a group and sending public feedback need `confirm` to be true.",
        "Ask the user, then send `?confirm=true` or, in a body, `\"confirm\": true`.";
    TooManyItems = "too_many_items", 400, false,
        "A list has more entries than allowed.",
        "Send fewer entries, in several requests.";
    InvalidCredentials = "invalid_credentials", 400, false,
        "The platform refused the credentials.",
        "Check them on the platform and send them again.";
    CredentialsNotSupported = "credentials_not_supported", 400, false,
        "This platform is connected in a browser, not with credentials.",
        "Create a connect session and open its address.";
    MissingApiKey = "missing_api_key", 401, false,
        "No `Authorization` header was sent.",
        "Send `Authorization: Bearer <key>`.";
    InvalidApiKey = "invalid_api_key", 401, false,
        "The key or access token is mistyped or unknown, or it is for another resource.",
        "Check the key, or create a new one.";
    ApiKeyExpired = "api_key_expired", 401, false,
        "The key or access token has expired.",
        "Create a new key.";
    ApiKeyRevoked = "api_key_revoked", 401, false,
        "The key was revoked, or the tool's access was ended.",
        "Create a new key, if that was not meant.";
    InsufficientCredits = "insufficient_credits", 402, false,
        "The wallet does not cover the request.",
        "Buy credits or wait for the next reset.";
    InsufficientScope = "insufficient_scope", 403, false,
        "The key lacks a scope, or is bound to one workspace and asks for what belongs to the person.",
        "Use a key with the scope named in `required_scope`; if none is named, one without a workspace.";
    InsufficientWorkspacePermissions = "insufficient_workspace_permissions", 403, false,
        "The role in this workspace is too low.",
        "Ask an admin of the workspace for the role named in `required_role`.";
    ApiAddonRequired = "api_addon_required", 403, false,
        "The workspace has no API add-on.",
        "Add the API add-on to the subscription.";
    FeatureNotAvailable = "feature_not_available", 403, false,
        "The plan does not include this.",
        "Move to the plan named in `required_plan`.";
    SubscriptionRequired = "subscription_required", 403, false,
        "There is no active subscription.",
        "Start or resume the subscription.";
    WorkspaceScopeMismatch = "workspace_scope_mismatch", 403, false,
        "The key is scoped to another workspace.",
        "Leave `workspace_id` out, or use another key.";
    BrandRequired = "brand_required", 403, false,
        "This membership is locked to brands and must name one.",
        "Send `workspace_client_id` with one of its brands.";
    PlanLimit = "plan_limit", 403, false,
        "The plan allows no more of these.",
        "Remove one, or move to a larger plan.";
    WebhookLimit = "webhook_limit", 403, false,
        "The workspace has reached the limit of webhooks.",
        "Delete a webhook that is no longer needed, or subscribe an existing one to more events.";
    NotFound = "not_found", 404, false,
        "There is nothing at this address.",
        "Check the path; `/docs` lists all of them.";
    PostSetNotFound = "post_set_not_found", 404, false,
        "The post set does not exist for this caller.",
        "List the post sets; a set that was deleted is gone.";
    StaleVersion = "stale_version", 412, false,
        "It was changed after the version that `If-Match` names.",
        "Read it again, and send the change with its new version.";
    PostNotFound = "post_not_found", 404, false,
        "There is no such post, or you have no access to it.",
        "Check the id.";
    AccountNotFound = "account_not_found", 404, false,
        "There is no such account, or you have no access to it.",
        "List the accounts with `GET /api/v1/accounts`.";
    WorkspaceNotFound = "workspace_not_found", 404, false,
        "There is no such workspace, or you are not in it.",
        "`GET /api/v1/whoami` lists the workspaces.";
    DeletionNotFound = "deletion_not_found", 404, false,
        "Nobody has asked to delete the workspace.",
        "`DELETE /api/v1/workspaces/{id}` asks for it.";
    BrandNotFound = "brand_not_found", 404, false,
        "There is no such brand, or you have no access to it.",
        "List the brands with `GET /api/v1/brands`.";
    WebhookNotFound = "webhook_not_found", 404, false,
        "There is no such webhook, or you have no access to it.",
        "List them with `GET /api/v1/webhooks`.";
    DeliveryNotFound = "delivery_not_found", 404, false,
        "There is no such delivery.",
        "List them with `GET /api/v1/webhooks/{id}/deliveries`.";
    MediaNotFound = "media_not_found", 404, false,
        "There is no such file, or you have no access to it.",
        "List the files with `GET /api/v1/media`.";
    GroupNotFound = "group_not_found", 404, false,
        "No post has this group.",
        "Check the group key.";
    ToolNotFound = "tool_not_found", 404, false,
        "There is no helper tool with this name.",
        "`helper_tools` of `GET /api/v1/platforms` lists them.";
    ConnectSessionNotFound = "connect_session_not_found", 404, false,
        "There is no connect session with this id, or you have no access to it.",
        "Start a new one with `POST /api/v1/connect/{platform}/sessions`.";
    PlatformNotFound = "platform_not_found", 404, false,
        "There is no such platform.",
        "`GET /api/v1/platforms` lists them.";
    NoSubscription = "no_subscription", 404, false,
        "The key owner has no subscription.",
        "Start one in the dashboard.";
    MethodNotAllowed = "method_not_allowed", 405, false,
        "The address exists, but not with this method.",
        "Use one of the methods in the `Allow` header.";
    InvalidTransition = "invalid_transition", 409, false,
        "The post cannot change from its status to the requested one.",
        "`allowed` lists the possible statuses.";
    WorkspaceDeletionBlocked = "workspace_deletion_blocked", 409, false,
        "Something keeps the workspace.",
        "`blockers` names each reason, with what to do about it.";
    WorkspaceLeaving = "workspace_leaving", 409, false,
        "The workspace is to be deleted, so nothing in it changes.",
        "Stop the deletion with `DELETE /api/v1/workspaces/{id}/deletion`, or in the settings of the dashboard.";
    MediaInUse = "media_in_use", 409, false,
        "A post that is not published yet uses the file.",
        "Delete the posts in `posts`, or give them other media, first.";
    DuplicateRisk = "duplicate_risk", 409, false,
        "An earlier attempt got no answer, so the post may already be public.",
        "Check the platform; to send it anyway, repeat with `acknowledge_duplicate_risk: true`.";
    IdempotencyInProgress = "idempotency_in_progress", 409, true,
        "A request with this `Idempotency-Key` is still running.",
        "Send it again after `Retry-After` seconds.";
    SuggestionAlreadyScheduled = "suggestion_already_scheduled", 409, false,
        "The suggestion has been scheduled.",
        "Nothing to do.";
    SuggestionNotFound = "suggestion_not_found", 404, false,
        "There is no such suggestion.",
        "GET /api/v1/suggestions lists them.";
    SuggestionDismissed = "suggestion_dismissed", 409, false,
        "The suggestion was dismissed.",
        "Make the post without `suggestion_id`, or use another suggestion.";
    PayloadTooLarge = "payload_too_large", 413, false,
        "The body is larger than this address accepts.",
        "Send a smaller body.";
    FunctionPayloadTooLarge = "FUNCTION_PAYLOAD_TOO_LARGE", 413, false,
        "The file is larger than the relay accepts.",
        "Use `POST /api/v1/media/signed-upload` and send the file to `upload_url`.";
    UnsupportedMediaType = "unsupported_media_type", 415, false,
        "The body is not JSON.",
        "Send `Content-Type: application/json`.";
    PlatformNotConfigured = "platform_not_configured", 409, false,
        "This service has no app registered with the platform.",
        "The operator sets the variables in `missing_environment`; until then send `sandbox: true`.";
    IdempotencyMismatch = "idempotency_mismatch", 422, false,
        "The `Idempotency-Key` was used for another request.",
        "Use a new key for a new request.";
    RateLimited = "rate_limited", 429, true,
        "Too many requests.",
        "Send it again after `Retry-After` seconds.";
    PauseCooldown = "pause_cooldown", 429, true,
        "The subscription was paused less than 90 days ago.",
        "Wait until `reset`.";
    InternalError = "internal_error", 500, true,
        "Something went wrong on our side.",
        "Send it again; if the error remains, send us the `request_id`.";
    ProviderUnreachable = "provider_unreachable", 502, true,
        "The platform or provider did not answer.",
        "Send it again in a minute.";
    Unavailable = "unavailable", 503, true,
        "A service that we depend on is temporarily unavailable.",
        "Send it again after `Retry-After` seconds.";
    MediaCopyPending = "media_copy_pending", 503, true,
        "Remote media is still being copied.",
        "Send it again with the same `Idempotency-Key`.";
    MisdirectedRequest = "misdirected_request", 421, false,
        "The request names a host that is not the service's own.",
        "Use the address under which the service is published.";
    OriginNotAllowed = "origin_not_allowed", 403, false,
        "A page of another origin called an address that takes calls of its own pages only.",
        "Call it from a program, or from a page of the service.";
    ConflictingFields = "conflicting_fields", 400, false,
        "A field and an older name of it were sent with different values.",
        "Send the field alone.";
    InvalidReason = "invalid_reason", 400, false,
        "`reason` of a cancellation is missing or unknown.",
        "Send one of the reasons that the message names.";
    TargetsRefused = "targets_refused", 400, false,
        "Targets of a post set are refused. `validation_errors` says which, and why.",
        "Correct them, or send `mode: valid_only` to leave them out.";
    DuplicateTarget = "duplicate_target", 400, false,
        "Two targets of a set name the same account.",
        "Name each account once.";
    NoAccounts = "no_accounts", 400, false,
        "The brand has no connected account that the caller sees, or none on the platforms named.",
        "Connect an account for the brand, or name another target.";
    MixedWorkspaces = "mixed_workspaces", 400, false,
        "The accounts of a set are in different workspaces.",
        "Make one set for each workspace.";
    ContentTooLarge = "content_too_large", 400, false,
        "The texts of all targets of a set together are larger than 8 MiB.",
        "Shorten the text, or make several sets.";
    InvalidTier = "invalid_tier", 400, false,
        "`tier` is unknown, or not below the subscription's.",
        "Send a lower plan, or leave it out for the next lower one.";
    NoLowerTier = "no_lower_tier", 409, false,
        "There is no plan below the smallest.",
        "Cancel the subscription in its place.";
    InvalidSignature = "invalid_signature", 400, false,
        "A webhook of the payment provider is not signed with a secret of ours, or was signed too long ago.",
        "Set FANFARE_STRIPE_WEBHOOK_SECRET to the secret of the webhook's endpoint.";
    SignupClosed = "signup_closed", 403, false,
        "Nobody signs up here.",
        "Ask the operator of this service for an account.";
    SignupSessionNotFound = "signup_session_not_found", 404, false,
        "There is no signup with this id, or it has been forgotten.",
        "Sign up again.";
    BillingNotConfigured = "billing_not_configured", 503, false,
        "This service sells nothing.",
        "Ask its operator to set FANFARE_STRIPE_SECRET_KEY.";
    BillingMisconfigured = "billing_misconfigured", 503, false,
        "The payment provider does not work with this service's settings.",
        "Ask its operator to run `fanfare doctor`.";
    PaymentRefused = "payment_refused", 400, false,
        "The payment provider refuses what was sent.",
        "Correct what the message names, and send it again.";
    PaymentDeclined = "payment_declined", 402, false,
        "The card was declined.",
        "Change the card at `manage_url` of the subscription, then try again.";
    PaymentObjectGone = "payment_object_gone", 409, false,
        "The payment provider no longer has the subscription or customer.",
        "Ask the operator of this service.";
    MailNotConfigured = "mail_not_configured", 503, false,
        "This service cannot send e-mails.",
        "Ask its operator to set FANFARE_SMTP_URL.";
    WalletUnavailable = "wallet_unavailable", 503, true,
        "The wallet cannot be read right now.",
        "Send it again in a minute.";
    ApiKeyRequired = "api_key_required", 403, false,
        "A tool that a person let in cannot manage keys, apps or other tools.",
        "Use an API key, or the pages under `/dashboard`.";
    KeyLimit = "key_limit", 403, false,
        "The plan allows no more API keys.",
        "Revoke a key, or move to a larger plan.";
    KeyNotFound = "key_not_found", 404, false,
        "There is no such API key, or it has ended.",
        "List the keys to find its id.";
    ClientNotFound = "client_not_found", 404, false,
        "You have no app with this id.",
        "List your apps to find its id.";
    ClientLimit = "client_limit", 403, false,
        "One person has at most 20 apps.",
        "Delete an app first.";
    GrantNotFound = "grant_not_found", 404, false,
        "There is no such grant, or it has ended.",
        "List the grants to find its id.";
    HookSignatureInvalid = "hook_signature_invalid", 401, false,
        "What a network sent is not signed with the secret of its app.",
        "Set the client secret of the network's app to the one in its dashboard.";
    WebhookNotVerified = "webhook_not_verified", 403, false,
        "A network asks whether a webhook is ours and sends another verify token.",
        "Enter the value of FANFARE_META_VERIFY_TOKEN in the app's dashboard.";
    SequenceUnknown = "sequence_unknown", 410, false,
        "`after` or the cursor names an event that has not happened, as after the restore of a backup.",
        "Read the posts you follow again, then go on from `latest_sequence`.";
    SecretLimit = "secret_limit", 409, true,
        "The webhook has as many secrets as there may be: each lives for a day after a newer one was made.",
        "End the earlier ones with DELETE, or wait until the first of them ends.";
    ConversationNotFound = "conversation_not_found", 404, false,
        "There is no such conversation, or it is not visible to the caller.",
        "Check the id; GET /api/v1/inbox/conversations lists them.";
    CommentNotFound = "comment_not_found", 404, false,
        "There is no such comment, or it is not visible to the caller.",
        "Check the id; GET /api/v1/inbox/comments lists them.";
    ReplyWindowClosed = "reply_window_closed", 409, false,
        "The time for an answer is over.",
        "Wait until the person writes again.";
    ActionNotAllowed = "action_not_allowed", 409, false,
        "The network or the state does not allow this now.",
        "Look at `can`: it names what is possible.";
    AccountReconnectRequired = "account_reconnect_required", 409, false,
        "The network no longer accepts the account's credentials.",
        "Connect the account again, then repeat the request.";
    DeleteNotSupported = "delete_not_supported", 400, false,
        "The network does not let comments of others be deleted.",
        "Hide it instead: PATCH with `hidden: true`.";
    PrivateReplyNotSupported = "private_reply_not_supported", 400, false,
        "The network has no private answers to comments.",
        "Leave `private` out to answer in public.";
    TooManyParts = "too_many_parts", 400, false,
        "A message holds a text or a file, not both.",
        "Send two replies.";
    PlatformPermissionMissing = "platform_permission_missing", 403, false,
        "The account did not grant the permission that this needs.",
        "Connect the account again with all permissions.";
    AccountRestricted = "account_restricted", 403, false,
        "The network restricts the account until its owner does there what it asks for.",
        "Log in to the network with the account and follow what it asks for, then send it again.";
    TargetNotFound = "target_not_found", 409, false,
        "What it goes to, or what its settings name, is not there on the network.",
        "Check the account's address and what the settings name, then send it again.";
    Misconfigured = "misconfigured", 503, false,
        "A setting of the service, or of its app at the network, is wrong.",
        "Ask the operator of this service to set right what the message names.";
    PlatformMismatch = "platform_mismatch", 400, false,
        "The account is on another platform than the request is about.",
        "Name an account on the platform that the message names.";
    LocationNotFound = "location_not_found", 404, false,
        "There is no such location, or it is not visible to the caller.",
        "Connect the Google account that manages it, or name another one.";
    ReviewNotFound = "review_not_found", 404, false,
        "There is no such review, or it is not visible to the caller.",
        "Check the id; GET /api/v1/google-business/reviews lists them.";
    ReplyNotFound = "reply_not_found", 404, false,
        "The review has no answer.",
        "Nothing needs to be deleted.";
    ReplyExists = "reply_exists", 409, false,
        "The review has an answer already.",
        "Send `replace: true` to put yours in its place.";
    PlatformRateLimited = "platform_rate_limited", 429, true,
        "The network asks to slow down.",
        "Repeat the request after `retry_after` seconds.";
    ContentRefused = "content_refused", 422, false,
        "The network, or the provider of the model, refuses the content.",
        "Change what the message names and send it again.";
    TooManyJobs = "too_many_jobs", 429, true,
        "Too many videos of this billing owner are being made.",
        "Wait until one is done, or cancel one that is queued.";
    ProviderBadAnswer = "provider_bad_answer", 502, true,
        "The provider's answer could not be read.",
        "Send it again.";
    ProviderNotConfigured = "provider_not_configured", 503, false,
        "The operator of this service has configured no provider for this.",
        "Use another provider, or ask the operator.";
    ProviderDenied = "provider_denied", 503, false,
        "The provider of the model does not accept the key, the plan, the quota, the model or a request of this service.",
        "Use another provider, or ask the operator.";
    AmbiguousAccount = "ambiguous_account", 409, false,
        "Several accounts of the workspace have this name.",
        "Send one of `account_ids` as `account_id`.";
    PostTypeMismatch = "post_type_mismatch", 400, false,
        "The files of the post are none of its type: a text with files, a video with pictures, a carousel of one.",
        "Leave `post_type` out, or send the files that it needs.";
    PostTypeUnsupported = "post_type_unsupported", 400, false,
        "The platform has no post of this type.",
        "Use one of the types that the message names.";
    JobNotFound = "job_not_found", 404, false,
        "There is no such job.",
        "Check the id with `GET /api/v1/ai/video-jobs`.";
    DuplicateContent = "duplicate_content", 409, false,
        "The account has a post with the same content, or nearly, within seven days of this one, and `duplicates` is \
         `refuse`. Of a post that failed: the platform refuses the same text again within some time.",
        "Look at the posts in `similar`, then change the text or the time, or repeat with `duplicates: warn`.";
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::Code;

    #[test]
    fn codes_are_unique_and_say_what_to_do() {
        let mut seen = HashSet::new();
        for code in Code::ALL {
            let entry = code.entry();
            assert!(seen.insert(entry.code), "{} stands twice", entry.code);
            assert!(entry.cause.ends_with('.') && entry.remedy.ends_with('.'), "{}", entry.code);
            assert!((400..600).contains(&entry.status), "{}", entry.code);
        }
    }
}
