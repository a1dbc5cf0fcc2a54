//! What callers are shown of posts that are alike.

use fanfare_core::{
    Act,
    clock::to_rfc3339,
    error::{
        self, Code, Error, Result, Violation,
        refusal::{Likeness, RefusalDetails, SimilarPost},
    },
    remedies,
};
use fanfare_entities::Millis;
use fanfare_platforms::{self as platforms, PlatformId, Warning, WarningCode};

use super::{HOUR, Print};

/// The most posts that are named.
const SHOWN_MAX: usize = 10;

const REMEDY: &str = "Look at the other post; then change this one, or send `duplicates: warn`.";

/// Returns those of the posts that are shown.
#[must_use]
pub fn shown(similar: &[SimilarPost]) -> &[SimilarPost] {
    &similar[..similar.len().min(SHOWN_MAX)]
}

/// Refuses a post if there are others like it.
///
/// # Errors
/// [`Code::DuplicateContent`] with the posts.
pub fn refuse(similar: &[SimilarPost]) -> Result<()> {
    let Some(message) = sentence(similar) else { return Ok(()) };
    let similar = Some(shown(similar).to_vec());
    let details = RefusalDetails { similar, ..RefusalDetails::default() };
    Err(Error::new(Code::DuplicateContent, message).with_details(details))
}

/// Returns the violation of one post of several that has others like it; `None` if it has none.
#[must_use]
pub fn violation(field: &str, similar: &[SimilarPost]) -> Option<Violation> {
    let message = sentence(similar)?;
    Some(error::violation(Code::DuplicateContent, field, message, REMEDY))
}

/// Returns the error of an item of a batch that would be refused once the item at the place `earlier` is made.
#[must_use]
pub fn refuse_item(earlier: usize, kind: Likeness) -> Error {
    let details = RefusalDetails {
        similar: Some(Vec::new()),
        items: Some(vec![earlier]),
        ..RefusalDetails::default()
    };
    Error::new(Code::DuplicateContent, sentence_of_item(earlier, kind)).with_details(details)
}

/// Returns the warnings about a post at this time that is like others of its account.
#[must_use]
pub fn warnings(
    act: &Act,
    platform: PlatformId,
    (print, at): (&Print, Millis),
    similar: &[SimilarPost],
) -> Vec<Warning> {
    let (Some(message), Some(newest)) = (sentence(similar), similar.first()) else {
        return Vec::new();
    };
    let repeated = Warning::new(WarningCode::DuplicateContent, field(print), message)
        .with("similar", shown(similar))
        .with_next(remedies::show_post(act, newest.post_id));
    let distance = |one: &SimilarPost| (one.scheduled_at.0 - at).abs();
    let exact =
        similar.iter().filter(|one| one.kind == Likeness::Exact).min_by_key(|one| distance(one));
    let refused = exact.and_then(|one| {
        let which = format!("Post {}", one.post_id);
        let warning = refused_by_network(platform, print, (&which, distance(one)))?;
        Some(
            warning
                .with("post_ids", [one.post_id])
                .with_next(remedies::show_post(act, one.post_id)),
        )
    });
    std::iter::once(repeated).chain(refused).collect()
}

/// Returns the warnings about an item of a batch that is like the one at the place `earlier`, whose time is `distance`
/// milliseconds from its own.
#[must_use]
pub fn warnings_of_item(
    platform: PlatformId,
    print: &Print,
    (earlier, kind, distance): (usize, Likeness, Millis),
) -> Vec<Warning> {
    let message = sentence_of_item(earlier, kind);
    let repeated = Warning::new(WarningCode::DuplicateContent, field(print), message)
        .with("items", [earlier])
        .with("kind", kind);
    let exact = (kind == Likeness::Exact).then(|| format!("Item {earlier} of this batch"));
    let refused = exact.and_then(|which| refused_by_network(platform, print, (&which, distance)));
    let refused = refused.map(|warning| warning.with("items", [earlier]));
    std::iter::once(repeated).chain(refused).collect()
}

/// Returns the warning that a network refuses a text that was just posted, if it does so for such a distance in time.
fn refused_by_network(
    platform: PlatformId,
    print: &Print,
    (which, distance): (&str, Millis),
) -> Option<Warning> {
    let spec = platforms::find(platform).spec();
    let hours = spec.equal_text_hours.filter(|_| !print.is_without_text())?;
    if distance >= Millis::from(hours) * HOUR {
        return None;
    }
    let message = format!(
        "{} may refuse this text: {which} has the same, less than {hours} hours from this one.",
        spec.label
    );
    let warning = Warning::new(WarningCode::NetworkRefusesEqualText, field(print), message)
        .with_limit(hours, distance / HOUR, "hours")
        .with("platform", platform.as_str());
    Some(warning)
}

/// Returns the field by which a post is like others.
fn field(print: &Print) -> &'static str {
    if print.is_without_text() { "media_urls" } else { "caption" }
}

fn sentence(similar: &[SimilarPost]) -> Option<String> {
    let newest = similar.first()?;
    let others = match similar.len() - 1 {
        0 => String::new(),
        more => {
            format!(" and {more} more of this account have nearly the same content, the newest")
        }
    };
    let has = match (others.is_empty(), newest.kind) {
        (false, _) => "",
        (true, Likeness::Exact) => " of this account has the same content,",
        (true, Likeness::Near) => " of this account has nearly the same content,",
    };
    let at = to_rfc3339(newest.scheduled_at.0);
    Some(format!("Post {}{others}{has} at {at}, within seven days of this one.", newest.post_id))
}

fn sentence_of_item(earlier: usize, kind: Likeness) -> String {
    let same = match kind {
        Likeness::Exact => "the same",
        Likeness::Near => "nearly the same",
    };
    format!(
        "Item {earlier} of this batch has {same} content for this account, within seven days of this one."
    )
}

#[cfg(test)]
mod tests {
    use fanfare_core::clock::Time;
    use fanfare_entities::{PostId, post::PostStatus};

    use super::*;

    fn similar(id: i64, kind: Likeness) -> SimilarPost {
        let (post_id, status) = (PostId(id), PostStatus::Draft);
        SimilarPost { post_id, kind, scheduled_at: Time(0), status }
    }

    #[test]
    fn the_newest_post_is_named_and_ten_are_shown() {
        let one = [similar(7, Likeness::Exact)];
        assert_eq!(
            sentence(&one).unwrap(),
            "Post 7 of this account has the same content, at 1970-01-01T00:00:00.000Z, within seven days of this one."
        );
        let many: Vec<_> = (0..12).rev().map(|id| similar(id, Likeness::Near)).collect();
        assert_eq!(
            sentence(&many).unwrap(),
            "Post 11 and 11 more of this account have nearly the same content, the newest at 1970-01-01T00:00:00.000Z, \
             within seven days of this one."
        );
        let refused = refuse(&many).unwrap_err();
        let named = refused.details().similar.clone().unwrap_or_default();
        assert_eq!((refused.status(), named.len(), named[0].post_id), (409, 10, PostId(11)));
        let violation = violation("targets[1].caption", &one).unwrap();
        assert_eq!((violation.code, violation.index), ("duplicate_content", Some(1)));
        assert!(refuse(&[]).is_ok() && super::violation("caption", &[]).is_none());
    }
}
