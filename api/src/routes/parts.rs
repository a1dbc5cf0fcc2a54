//! Shared parts of the routes: policies, errors and examples.

use fanfare_core::{
    Code,
    access::{PlanTier, Role, Scope},
};

use crate::{BelongsTo, Drafts, Policy, RaisedRole, WorkspaceScope};

/// Returns the policy of reads: any member of the workspace may.
pub(super) const fn reads(scope: Scope, workspace: WorkspaceScope) -> Policy {
    writes(scope, Role::Viewer, workspace)
}

/// Restricts a policy to the plan `pro` and larger ones.
pub(super) const fn pro(policy: Policy) -> Policy {
    Policy { plan: Some(PlanTier::Pro), ..policy }
}

/// Returns the policy of changes, for this role and above.
pub(super) const fn writes(scope: Scope, role: Role, workspace: WorkspaceScope) -> Policy {
    Policy {
        belongs_to: BelongsTo::Workspace,
        scope: Some(scope),
        or_scope: None,
        role,
        raised: None,
        drafts: None,
        addon: true,
        plan: None,
        workspace,
        allows_tokens: true,
    }
}

/// The policy for any key, whatever its scopes.
pub(super) const ANY_KEY: Policy =
    Policy { scope: None, ..reads(Scope::AccountsRead, WorkspaceScope::Home) };

/// Returns a policy for what is the same for every caller.
pub(super) const fn of_service(policy: Policy) -> Policy {
    Policy { belongs_to: BelongsTo::Service, ..policy }
}

/// Returns a policy for what belongs to the caller and to no workspace.
pub(super) const fn of_person(policy: Policy) -> Policy {
    Policy { belongs_to: BelongsTo::Person, ..policy }
}

/// Returns the policy for a user's keys, apps and grants, which OAuth access tokens may not touch.
pub(super) const fn api_key_only(scope: Scope) -> Policy {
    Policy { allows_tokens: false, ..reads(scope, WorkspaceScope::Home) }
}

/// Returns the policy for a user's subscription, which needs neither add-on nor active plan.
pub(super) const fn billing(scope: Scope) -> Policy {
    of_person(Policy { addon: false, ..reads(scope, WorkspaceScope::Home) })
}

/// Returns the policy for the wallet that pays for a workspace, which needs neither add-on nor active plan.
pub(super) const fn wallet() -> Policy {
    Policy { addon: false, ..reads(Scope::BillingRead, WorkspaceScope::Query) }
}

pub(super) const REFUSED_CHANGE: &[Code] = &[
    Code::NoSubscription,
    Code::InvalidTransition,
    Code::BillingNotConfigured,
    Code::BillingMisconfigured,
    Code::PaymentRefused,
    Code::PaymentDeclined,
    Code::PaymentObjectGone,
];

/// Returns the policy for reading business profiles: either `accounts:read` or `analytics:read` is enough.
pub(super) const fn reads_either(workspace: WorkspaceScope) -> Policy {
    Policy { or_scope: Some(Scope::AnalyticsRead), ..reads(Scope::AccountsRead, workspace) }
}

pub(super) const REFUSED_BUSINESS: &[Code] = &[
    Code::ReviewNotFound,
    Code::ReplyNotFound,
    Code::ReplyExists,
    Code::DuplicateRisk,
    Code::ActionNotAllowed,
    Code::AccountReconnectRequired,
    Code::PlatformPermissionMissing,
    Code::AccountRestricted,
    Code::TargetNotFound,
    Code::Misconfigured,
    Code::PlatformRateLimited,
    Code::ContentRefused,
    Code::ProviderUnreachable,
];

pub(super) const REFUSED_BUSINESS_MEDIA: &[Code] = &[
    Code::MediaNotFound,
    Code::DuplicateRisk,
    Code::ActionNotAllowed,
    Code::AccountReconnectRequired,
    Code::PlatformPermissionMissing,
    Code::AccountRestricted,
    Code::TargetNotFound,
    Code::Misconfigured,
    Code::PlatformRateLimited,
    Code::ContentRefused,
    Code::ProviderUnreachable,
];

pub(super) const REFUSED_OUTGOING: &[Code] = &[
    Code::ActionNotAllowed,
    Code::ReplyWindowClosed,
    Code::DuplicateRisk,
    Code::TooManyParts,
    Code::PrivateReplyNotSupported,
    Code::DeleteNotSupported,
    Code::AccountReconnectRequired,
    Code::PlatformPermissionMissing,
    Code::AccountRestricted,
    Code::TargetNotFound,
    Code::Misconfigured,
    Code::PlatformRateLimited,
    Code::ContentRefused,
    Code::ProviderUnreachable,
];

/// The policy for callers without a key.
pub(super) const NO_KEY: Policy = of_service(Policy { addon: false, ..ANY_KEY });

/// The policy for creating a post: editors may write drafts.
pub(super) const CREATE: Policy = Policy {
    drafts: Some(Drafts::New),
    ..writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::AccountInBody)
};

/// The policy for deleting a post: editors may delete their own drafts.
pub(super) const DELETE: Policy = Policy {
    drafts: Some(Drafts::Own),
    ..writes(Scope::PostsWrite, Role::Publisher, WorkspaceScope::Post)
};

/// The policy for editing a post: editors may change its text, only publishers its time.
pub(super) const EDIT: Policy = Policy {
    raised: Some(RaisedRole { fields: &["scheduled_at", "timezone"], role: Role::Publisher }),
    ..writes(Scope::PostsWrite, Role::Editor, WorkspaceScope::Post)
};

pub(super) const REFUSED_CONTENT: &[Code] = &[
    Code::AccountNotFound,
    Code::AmbiguousAccount,
    Code::ConflictingFields,
    Code::PostTypeMismatch,
    Code::PostTypeUnsupported,
    Code::InvalidTimestamp,
    Code::ScheduledInPast,
    Code::CaptionRequired,
    Code::CaptionTooLong,
    Code::CaptionTooManyLinks,
    Code::MediaRequired,
    Code::TooManyMedia,
    Code::MixedMediaUnsupported,
    Code::MediaTypeUnsupported,
    Code::MediaTooLarge,
    Code::MediaUnreadable,
    Code::MediaTooComplex,
    Code::MediaDimensionsUnsupported,
    Code::MediaAspectUnsupported,
    Code::MediaConversionFailed,
    Code::MediaTypeMismatch,
    Code::VideoTooShort,
    Code::VideoTooLong,
    Code::VideoExceedsPlatformLimit,
    Code::PdfRequiresLinkedin,
    Code::SettingRequired,
    Code::SettingInvalid,
    Code::ThreadSegmentTooLong,
    Code::ThreadSegmentHasUrl,
    Code::RemoteMediaTooLarge,
    Code::RemoteMediaUnavailable,
    Code::UrlNotAllowed,
    Code::MediaCopyPending,
    Code::DuplicateContent,
];

pub(super) const REFUSED_EDIT: &[Code] = &[
    Code::ImmutableField,
    Code::InvalidTransition,
    Code::InvalidTimestamp,
    Code::ScheduledInPast,
    Code::CaptionRequired,
    Code::CaptionTooLong,
    Code::CaptionTooManyLinks,
    Code::MediaRequired,
    Code::TooManyMedia,
    Code::MixedMediaUnsupported,
    Code::MediaTypeUnsupported,
    Code::MediaTooLarge,
    Code::MediaUnreadable,
    Code::MediaTooComplex,
    Code::MediaDimensionsUnsupported,
    Code::MediaAspectUnsupported,
    Code::MediaConversionFailed,
    Code::MediaTypeMismatch,
    Code::VideoTooShort,
    Code::VideoTooLong,
    Code::VideoExceedsPlatformLimit,
    Code::SettingRequired,
    Code::SettingInvalid,
    Code::ThreadSegmentTooLong,
    Code::ThreadSegmentHasUrl,
    Code::RemoteMediaTooLarge,
    Code::RemoteMediaUnavailable,
    Code::UrlNotAllowed,
    Code::MediaCopyPending,
    Code::DuplicateContent,
];

pub(super) const REFUSED_SET: &[Code] = &[
    Code::TargetsRefused,
    Code::DuplicateTarget,
    Code::NoAccounts,
    Code::MixedWorkspaces,
    Code::ContentTooLarge,
    Code::ConflictingFields,
    Code::PlanLimit,
    Code::ScheduledInPast,
    Code::InvalidTimestamp,
    Code::BrandNotFound,
    Code::MediaCopyPending,
];

pub(super) const REFUSED_SET_CHANGE: &[Code] = &[
    Code::TargetsRefused,
    Code::InvalidTransition,
    Code::ScheduledInPast,
    Code::InvalidTimestamp,
    Code::PostNotFound,
    Code::ImmutableField,
    Code::MediaCopyPending,
];

pub(super) const REFUSED_STATUS: &[Code] =
    &[Code::InvalidTransition, Code::DuplicateRisk, Code::InvalidTimestamp, Code::ScheduledInPast];

pub(super) const NEW_POST: &str =
    r#"{"account_id": 7, "caption": "Hello!", "scheduled_at": "2030-01-31T09:00:00Z"}"#;
pub(super) const NEW_BATCH: &str =
    r#"{"posts": [{"account_id": 7, "caption": "One"}, {"account_id": 8, "caption": "Two"}]}"#;
pub(super) const NEW_FEEDBACK: &str = r#"{"category": "feature", "title": "Post to one more network", "description": "Our customers ask for it every week.", "confirm": true, "source": "agent"}"#;
pub(super) const NEW_AGENT_FEEDBACK: &str = r#"{"source": "mcp", "tool": "create_post", "outcome": "failure", "error_code": "caption_too_long", "context": {"platform": "x", "attempt": 1}}"#;
pub(super) const NEW_WEBHOOK: &str =
    r#"{"url": "https://example.com/hook", "events": ["post.published", "post.failed"]}"#;
pub(super) const CREDENTIALS: &str =
    r#"{"credentials": {"identifier": "ada.bsky.social", "app_password": "xxxx-xxxx-xxxx-xxxx"}}"#;
pub(super) const FAULTS: &str = r#"{"account_id": 7, "faults": [{"on": "commit", "kind": "status", "status": 503, "times": 2}]}"#;

pub(super) const REFUSED_FILE: &[Code] =
    &[Code::MediaTypeUnsupported, Code::MediaTypeMismatch, Code::MediaTooLarge];

pub(super) const NEW_FILE: &str = r#"{"filename": "dot.gif", "content_type": "image/gif", "data": "R0lGODlhAQABAIAAAP9mAAAAACwAAAAAAQABAAACAkQBADs="}"#;
pub(super) const NEW_UPLOAD: &str =
    r#"{"filename": "video.mp4", "content_type": "video/mp4", "size": 73400320}"#;
pub(super) const NEW_REMOTE: &str =
    r#"{"url": "https://example.com/photo.jpg", "filename": "photo.jpg"}"#;

/// The largest body of an upload: a file of about 4.5 MB in base64.
pub(super) const UPLOAD: usize = 6 << 20;

/// The largest body of the relay: the largest file that it accepts in base64, and its name.
pub(super) const RELAY: usize = 7 << 20;
