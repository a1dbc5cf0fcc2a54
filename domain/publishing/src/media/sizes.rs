//! The largest file, and the retention of unused files, by plan.

use fanfare_core::{
    Domain,
    access::{PlanTier, plan_name},
    error::{Code, Result, violation},
};
use fanfare_entities::{Millis, WorkspaceId, subscription};
pub use fanfare_media::Sizes;
use sea_orm::EntityTrait;

use fanfare_platforms::Violation;

const MB: u64 = 1_000_000;
const DAY: Millis = 24 * 3_600_000;

/// Returns the largest files of a plan.
#[must_use]
pub const fn max_sizes(plan: PlanTier) -> Sizes {
    let (image, video) = match plan {
        PlanTier::Starter => (50, 500),
        PlanTier::Pro => (100, 750),
        PlanTier::PowerUser => (150, 1_000),
        PlanTier::Agency => (250, 4_000),
    };
    Sizes { image: image * MB, video: video * MB }
}

/// Returns how long a file is kept that no post needs, in ms.
#[must_use]
pub const fn retention(plan: PlanTier) -> Millis {
    let days = match plan {
        PlanTier::Starter => 30,
        PlanTier::Pro => 60,
        PlanTier::PowerUser => 90,
        PlanTier::Agency => 180,
    };
    days * DAY
}

/// Returns the plan of a workspace.
///
/// # Errors
/// The database's.
pub async fn plan_of(cx: &Domain, workspace: WorkspaceId) -> Result<PlanTier> {
    let paid = subscription::Entity::find_by_id(workspace).one(&cx.db.read).await?;
    Ok(paid.map_or(PlanTier::Starter, |paid| paid.plan_tier))
}

/// Returns the violation if a file of this size is too large for the plan.
#[must_use]
pub fn too_large(field: &str, mime: &str, bytes: u64, plan: PlanTier) -> Option<Violation> {
    let limit = max_sizes(plan).of(mime);
    if bytes <= limit {
        return None;
    }
    let kind = match mime {
        "text/vtt" => "Captions",
        _ if mime.starts_with("video/") => "Videos",
        _ => "Images",
    };
    let message = format!(
        "{kind} may have {limit} bytes on the plan {}; this one has {bytes}.",
        plan_name(plan)
    );
    let remedy = "Send a smaller file, or move to a larger plan.";
    let mut broken = violation(Code::MediaTooLarge, field, message, remedy);
    broken.limit = Some(limit.into());
    broken.actual = Some(bytes.into());
    broken.unit = Some("bytes");
    Some(broken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_larger_plan_takes_larger_files_and_keeps_them_longer() {
        let plans = [PlanTier::Starter, PlanTier::Pro, PlanTier::PowerUser, PlanTier::Agency];
        for pair in plans.windows(2) {
            let (less, more) = (max_sizes(pair[0]), max_sizes(pair[1]));
            assert!(less.image < more.image && less.video < more.video);
            assert!(retention(pair[0]) < retention(pair[1]));
        }
        assert_eq!(max_sizes(PlanTier::Agency).video, 4_000_000_000);
    }

    #[test]
    fn the_limit_is_that_of_the_kind() {
        let object = |mime, bytes| too_large("size", mime, bytes, PlanTier::Starter);
        assert!(object("image/png", 50_000_000).is_none());
        assert!(object("video/mp4", 500_000_000).is_none());
        assert!(object("text/vtt", 1 << 20).is_none());
        assert_eq!(object("text/vtt", (1 << 20) + 1).unwrap().limit, Some((1 << 20).into()));
        let broken = object("application/pdf", 50_000_001).unwrap();
        assert_eq!((broken.code, broken.field.as_str()), ("media_too_large", "size"));
        assert_eq!(broken.limit, Some(50_000_000.into()));
    }
}
