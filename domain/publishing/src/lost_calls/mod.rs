//! What became of a call whose answer was lost: judges what a network shows, for posts and for all other changes.
//!
//! An object is the result of a call only if no row of ours owns it ([`register`]), if it was made after the call began,
//! by the network's own clock ([`CallWindow`]), if it has the call's content, and if nothing else of ours could have made
//! it. That there is none is believed only after two complete reads, since lists lag. Everything else is a doubt.

pub mod register;
mod rivals;
mod window;

use fanfare_core::{
    Domain,
    error::Result,
    mutation::{self, Mutation},
};
use fanfare_entities::{AccountId, Millis};
use fanfare_outbound::ServerClock;
use fanfare_platforms::{Candidate, Listing, Progress};

pub use register::Owner;
pub use rivals::Content;
pub use window::{CallWindow, SETTLE_TIME};
use window::{Place, Span};

/// What a network's list says of a call.
#[derive(Debug)]
pub enum Verdict {
    /// It was carried out, with this result.
    Found(Progress),
    /// A complete list does not show it.
    Absent,
    /// The list leaves it open.
    Doubt,
}

/// The call that is asked about.
#[derive(Debug)]
pub struct LostCall<'a> {
    /// The account that it was made with.
    pub account_id: AccountId,
    /// The row that made it.
    pub owner: Owner,
    /// What it was to make.
    pub content: Content<'a>,
    /// When it was made.
    pub window: CallWindow,
}

impl LostCall<'_> {
    /// Judges what a list shows. `clock` is that of the server that was read.
    ///
    /// # Errors
    /// The database's.
    pub async fn judge(
        &self,
        cx: &Domain,
        listing: Listing,
        clock: &ServerClock,
    ) -> Result<Verdict> {
        let shift = clock.now().map(|date| date.timestamp_millis() - cx.clock.now());
        let span = self.window.on_network(shift);
        let is_whole = listing.is_whole && !clock.is_cached();
        let mut near: Vec<(Place, Candidate)> = listing
            .candidates
            .into_iter()
            .map(|one| (place(&span, &one), one))
            .filter(|(place, _)| *place != Place::Outside)
            .collect();
        let ids = near.iter().map(|(_, one)| one.id.as_str());
        let owned = register::owned(cx, self.account_id, ids).await?;
        near.retain(|(_, one)| !owned.contains(&one.id));
        if near.is_empty() {
            return Ok(if is_whole { Verdict::Absent } else { Verdict::Doubt });
        }
        let same = near.iter().position(|(_, one)| one.is_same);
        let Some(same) = same.map(|at| near.swap_remove(at)) else { return Ok(Verdict::Doubt) };
        let is_alone = same.0 == Place::Inside && near.iter().all(|(_, one)| !one.is_same);
        if !is_alone {
            return Ok(Verdict::Doubt);
        }
        let rivals = rivals::find(cx, self).await?;
        // What merely resembles it is explained by as many other calls of ours whose outcome is not known.
        Ok(if !rivals.with_same_words && near.len() <= rivals.open {
            Verdict::Found(same.1.progress)
        } else {
            Verdict::Doubt
        })
    }
}

fn place(span: &Span, one: &Candidate) -> Place {
    let at = one.created_at.timestamp_millis();
    if mutation::is_on(Mutation::FoundSince) { Place::Inside } else { span.place(at) }
}

/// Returns true if a call that a complete list did not show at `first` and does not show now was certainly not carried
/// out. `lag` is the longest time for which the network's lists may not show what was just made.
#[must_use]
pub fn is_absent(first: Option<Millis>, lag: Millis, now: Millis) -> bool {
    mutation::is_on(Mutation::AbsentTwice) || first.is_some_and(|first| now >= first + lag)
}
