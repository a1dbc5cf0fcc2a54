//! Finds the result of a change whose answer was lost.

use chrono::{DateTime, Utc};

use super::{
    List, get,
    inbox::{GraphInbox, ListedReply, MESSAGES_LISTED},
    list_query,
};
use crate::{
    Candidate, Likeness, Listing, Progress, ReconcileOutcome, RemoteChange, RemoteMessage, Result,
    Session, recent_posts::CLOCK_SLACK, text::likeness,
};

impl GraphInbox {
    /// Looks for the result of a lost call.
    pub async fn find_result(
        &self,
        session: &Session,
        change: &RemoteChange,
        sent_at: DateTime<Utc>,
    ) -> Result<ReconcileOutcome> {
        let listing = match change {
            RemoteChange::Message { to, text, .. } => {
                let listed = self.conversations(session, Some(to), None).await?;
                if !listed.unread.is_empty() {
                    // It may be among what could not be read.
                    return Ok(ReconcileOutcome::Unknown);
                }
                let listed: Vec<_> = listed.page.items.into_iter().flatten().collect();
                let likeness = |one: &RemoteMessage| match text {
                    Some(text) => likeness(text, &one.text),
                    None if one.attachments.is_empty() => Likeness::Different,
                    None => Likeness::Same,
                };
                let is_whole = listed.len() < MESSAGES_LISTED
                    || listed.iter().any(|one| one.at < sent_at - CLOCK_SLACK);
                let own = listed.into_iter().filter(|one| one.out);
                let found = own.map(|one| (likeness(&one), one.id, one.at));
                listing(found, is_whole)
            }
            RemoteChange::Reply { comment, text } => {
                let path = format!("/{comment}/{}", self.replies);
                let fields = if self.replies == "replies" {
                    "id,text,timestamp"
                } else {
                    "id,message,created_time"
                };
                let query = list_query(fields, "50", None);
                let below: List<ListedReply> = get(session, &path, &query, self.parse).await?;
                let is_whole = below.data.len() < 50;
                let found = below.data.into_iter();
                listing(
                    found.map(|one| (likeness(text, &one.message), one.id, one.created_time)),
                    is_whole,
                )
            }
            _ => return Ok(ReconcileOutcome::Unknown),
        };
        Ok(listing.into())
    }
}

/// Lists objects that may be the result of a change, each with its likeness, id and time.
fn listing(
    found: impl Iterator<Item = (Likeness, String, DateTime<Utc>)>,
    is_whole: bool,
) -> Listing {
    let likely = found.filter(|(likeness, ..)| *likeness != Likeness::Different);
    let candidate = |(likeness, id, created_at): (Likeness, String, _)| Candidate {
        is_same: likeness == Likeness::Same,
        progress: Progress::done(id.clone(), None),
        id,
        created_at,
    };
    Listing { candidates: likely.map(candidate).collect(), is_whole }
}
