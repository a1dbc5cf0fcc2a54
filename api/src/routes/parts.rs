//! The parts of the table's entries: policies, errors, examples.

use fanfare_domain::{
    Code,
    access::{PlanTier, Role, Scope},
};

use crate::{Policy, Raised, WorkspaceScope};

/// Reading: any member of the workspace may.
pub(super) const fn reads(scope: Scope, workspace: WorkspaceScope) -> Policy {
    writes(scope, Role::Viewer, workspace)
}

/// The same as a part of the plans from `pro` on.
pub(super) const fn pro(policy: Policy) -> Policy {
    Policy { plan: Some(PlanTier::Pro), ..policy }
}

/// Everything else, for this role and above.
pub(super) const fn writes(scope: Scope, role: Role, workspace: WorkspaceScope) -> Policy {
    Policy {
        scope: Some(scope),
        or: None,
        role,
        raised: None,
        addon: true,
        plan: None,
        workspace,
        tokens: true,
    }
}

/// For every key, with any scopes.
pub(super) const ANYBODY: Policy =
    Policy { scope: None, ..reads(Scope::AccountsRead, WorkspaceScope::Home) };

/// Keys, apps and grants of a person, which no tool that was let in may touch.
pub(super) const fn own(scope: Scope) -> Policy {
    Policy { tokens: false, ..reads(scope, WorkspaceScope::Home) }
}

/// A person's subscription: needs no add-on and no live plan.
pub(super) const fn billing(scope: Scope) -> Policy {
    Policy { addon: false, ..reads(scope, WorkspaceScope::Home) }
}

/// The wallet that pays for a workspace: needs no add-on and no live plan.
pub(super) const fn wallet() -> Policy {
    Policy { addon: false, ..reads(Scope::BillingRead, WorkspaceScope::Query) }
}

pub(super) const REFUSED_CHANGE: &[Code] =
    &[Code::NoSubscription, Code::InvalidTransition, Code::BillingNotConfigured];

/// Reading a business profile: a key that reads analytics or accounts may.
pub(super) const fn reads_either(workspace: WorkspaceScope) -> Policy {
    Policy { or: Some(Scope::AnalyticsRead), ..reads(Scope::AccountsRead, workspace) }
}

pub(super) const REFUSED_BUSINESS: &[Code] = &[
    Code::ReviewNotFound,
    Code::ReplyNotFound,
    Code::ReplyExists,
    Code::DuplicateRisk,
    Code::ActionNotAllowed,
    Code::AccountReconnectRequired,
    Code::PlatformPermissionMissing,
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
    Code::PlatformRateLimited,
    Code::ContentRefused,
    Code::ProviderUnreachable,
];

/// For callers without a key, of whom nothing is known.
pub(super) const NOBODY: Policy = Policy { addon: false, ..ANYBODY };

/// Wording a post is an editor's work; moving it in time is a publisher's.
pub(super) const EDIT: Policy = Policy {
    raised: Some(Raised { fields: &["scheduled_at", "timezone"], role: Role::Publisher }),
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

pub(super) const NEW_FILE: &str =
    r#"{"filename": "dot.gif", "content_type": "image/gif", "data": "R0lGODlhAQABAAAAACw="}"#;
pub(super) const NEW_UPLOAD: &str =
    r#"{"filename": "film.mp4", "content_type": "video/mp4", "size": 73400320}"#;
pub(super) const NEW_REMOTE: &str =
    r#"{"url": "https://example.com/photo.jpg", "filename": "photo.jpg"}"#;

/// The largest body of an upload: about 4.5 MB of a file, in base64.
pub(super) const UPLOAD: usize = 6 << 20;

/// The relay's: all that it takes of a file, in base64, and its name.
pub(super) const RELAY: usize = 7 << 20;
