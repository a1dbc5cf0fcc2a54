//! What is known of a post that did not go out as planned, in words for the pages.
//!
//! "Was not published" is said only where that is certain.

use fanfare_entities::{Millis, post, post::PostStatus};

use super::{
    Reader,
    failure::{self, Standing},
    status_name,
};
use crate::platforms;

/// What is known of a post that did not go out as planned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// What is known, in one sentence.
    pub headline: String,
    /// What happened.
    pub message: String,
    /// What the user can do, or what happens by itself.
    pub remedy: Option<String>,
    /// The kind of failure.
    pub code: String,
    /// The time at which the post is tried again, or asked about.
    pub next_look: Option<Millis>,
}

/// Returns what is known of a post that did not go out as planned; `None` if there is nothing to say.
#[must_use]
pub fn trouble(row: &post::Model) -> Option<Trouble> {
    let error = failure::shown(row, &Reader::anybody(""))?;
    let said = |field: &str| error[field].as_str().map(str::to_owned);
    let standing = Standing::of(row);
    let doubt = is_in_doubt(row);
    let network = platforms::label(&row.platform);
    Some(Trouble {
        headline: headline(row, standing, doubt),
        message: said("message")?,
        remedy: match standing {
            Standing::Asking => {
                Some("You do not have to do anything. Do not publish the post again.".to_owned())
            }
            Standing::Waiting => Some("You do not have to do anything.".to_owned()),
            Standing::Ended if doubt => Some(format!(
                "Look at {network}. If the post is there, nothing is left to do; if it is not, publish it again here."
            )),
            Standing::Ended | Standing::UnderWay => said("remedy"),
        },
        code: said("code").unwrap_or_default(),
        next_look: failure::next_look(row)
            .filter(|_| matches!(standing, Standing::Asking | Standing::Waiting)),
    })
}

/// Returns the status of a post in words that claim no more than is known.
#[must_use]
pub fn status_words(row: &post::Model) -> &'static str {
    let is_open = matches!(row.status, PostStatus::Publishing | PostStatus::Processing);
    let is_failed = row.status == PostStatus::Failed;
    match Standing::of(row) {
        Standing::Ended if is_failed && is_in_doubt(row) => "not known",
        Standing::Ended if is_failed && row.partly_public => "partly published",
        Standing::Asking if row.error.is_some() => "asking",
        Standing::Waiting if is_open && row.error.is_some() => "trying again",
        _ => status_name(row.status),
    }
}

/// Returns true if an earlier call of a post that is not under way may have published it.
fn is_in_doubt(row: &post::Model) -> bool {
    let safe = row.error.as_ref().and_then(|error| error["retry_safe"].as_bool());
    row.duplicate_risk || safe == Some(false) || code(row) == "outcome_unknown"
}

fn code(row: &post::Model) -> &str {
    row.error.as_ref().and_then(|error| error["code"].as_str()).unwrap_or_default()
}

fn headline(row: &post::Model, standing: Standing, doubt: bool) -> String {
    let words = match standing {
        Standing::Asking => "We do not know yet whether it was published.",
        Standing::Waiting if row.partly_public => {
            "A part of it is public. The last attempt to publish the rest failed, and we try again."
        }
        Standing::Waiting | Standing::UnderWay => "The last attempt failed, and we try again.",
        Standing::Ended if doubt && row.partly_public => {
            "A part of it is public. We do not know whether the rest was published."
        }
        Standing::Ended if doubt => "We do not know whether it was published.",
        Standing::Ended if row.status != PostStatus::Failed => "The last attempt failed.",
        Standing::Ended if row.partly_public => {
            "A part of it is public. The rest was not published."
        }
        Standing::Ended => "It was not published.",
    };
    words.to_owned()
}

/// Returns the outcome of an attempt in words; `None` is one that is under way.
#[must_use]
pub fn outcome_words(outcome: Option<&str>) -> &str {
    match outcome {
        None => "under way",
        Some("retry") => "failed, tried again",
        Some("rate_limited") => "asked to wait",
        Some("not_sent") => "did not arrive, sent again",
        Some("outcome_unknown") => "not known",
        Some(other) => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{
        super::{failure::tests::failed, failures::POST_ERRORS},
        *,
    };

    /// Everything that a page says of a row.
    fn said(row: &post::Model) -> String {
        let trouble = trouble(row).unwrap();
        format!(
            "{} {} {} {}",
            status_words(row),
            trouble.headline,
            trouble.message,
            trouble.remedy.unwrap_or_default()
        )
    }

    #[test]
    fn not_published_is_said_only_where_it_is_certain() {
        let statuses = [
            PostStatus::Draft,
            PostStatus::Scheduled,
            PostStatus::Paused,
            PostStatus::Publishing,
            PostStatus::Processing,
            PostStatus::Failed,
        ];
        for (code, _) in POST_ERRORS {
            for status in statuses {
                for bits in 0..16 {
                    let [risk, partly, sending, safe] = [1, 2, 4, 8].map(|bit| bits & bit > 0);
                    let mut row = post::Model { status, ..failed(code) };
                    (row.duplicate_risk, row.partly_public) = (risk, partly);
                    row.sending_at = sending.then_some(1);
                    row.next_attempt_at = (!sending).then_some(5);
                    row.error.as_mut().unwrap()["retry_safe"] = json!(safe);
                    let said = said(&row);
                    let certain =
                        status == PostStatus::Failed && safe && !risk && code != "outcome_unknown";
                    let claims = said.contains("not published") || said.starts_with("failed");
                    assert!(certain || !claims, "{code} {row:?}: {said}");
                    assert!(!certain || claims || partly, "{code} {row:?}: {said}");
                }
            }
        }
    }

    #[test]
    fn a_post_that_is_asked_about_is_not_to_be_published_again() {
        let row = post::Model {
            status: PostStatus::Publishing,
            sending_at: Some(1),
            due_at: Some(9),
            ..failed("platform_unavailable")
        };
        let trouble = trouble(&row).unwrap();
        assert!(trouble.message.contains("We are asking"), "{trouble:?}");
        assert!(trouble.remedy.unwrap().contains("Do not publish the post again"));
        assert_eq!(trouble.next_look, Some(9));
        assert_eq!(status_words(&row), "asking");
    }
}
