//! What is known of a commit call whose answer was lost.

use std::time::Duration;

use fanfare_core::{
    Result,
    mutation::{self, Mutation},
};
use fanfare_entities::Millis;
use fanfare_platforms::{
    self as platforms, ErrorKind, Progress, ReconcileOutcome, RecoveryClass, Session,
};
use fanfare_publishing::lost_calls::{LostCall, SETTLE_TIME, Verdict, is_absent};

use crate::Context;

/// The longest time after a call for which a limit of reads is waited for, in ms.
const MAX_LIMITED_TIME: Millis = 2 * 86_400_000;

/// A commit call that may have been carried out. All times are in ms since 1970.
#[derive(Debug, Clone, Copy)]
pub struct Unsettled {
    /// The way in which its network can be asked.
    pub class: RecoveryClass,
    /// True if it was refused, in a way that does not tell whether it was carried out. It is not repeated.
    pub is_refused: bool,
    /// True if the call may be repeated under its key.
    pub may_repeat: bool,
    /// When it was made.
    pub sent_at: Millis,
    /// Its deadline.
    pub until: Option<Millis>,
    /// When a complete list first did not show its result.
    pub absent_at: Option<Millis>,
    /// The longest time for which the network's lists may not show what was just made.
    pub list_lag: Millis,
    /// Until when the network is asked if it leaves the outcome open.
    pub patient_until: Millis,
}

/// The conclusion about a lost call, from which its row goes on.
#[derive(Debug)]
pub enum Finding {
    /// It was carried out, with this result.
    Found(Progress),
    /// It was certainly not carried out.
    NotMade,
    /// A complete list does not show it; the next one may.
    LookAgain,
    /// The network leaves it open; it is asked again.
    AskAgain,
    /// It is repeated under its key, which cannot take effect twice.
    Repeat,
    /// The network has left it open for too long.
    Unknown,
    /// The network cannot be asked.
    Blind,
}

impl Unsettled {
    /// Returns the time from which the network may be asked. A call with a key is harmless to repeat, so it need not wait.
    pub fn settled_from(&self) -> Millis {
        match (self.class, self.until) {
            (_, None) => Millis::MIN,
            (RecoveryClass::Key { .. }, _) if !self.is_refused => Millis::MIN,
            (_, Some(_)) if mutation::is_on(Mutation::Settled) => Millis::MIN,
            (_, Some(until)) => until + SETTLE_TIME,
        }
    }

    /// Returns the time from which on its result can have been made.
    pub fn since(&self) -> Millis {
        if mutation::is_off(Mutation::FoundSince) { self.sent_at } else { 0 }
    }

    /// Returns what follows from what the network said at `now`.
    pub fn finding(&self, verdict: Verdict, now: Millis) -> Finding {
        // Until then the call may still be carried out, although the network does not know it yet.
        let is_settled = self.until.is_none_or(|until| now >= until + SETTLE_TIME);
        let is_keyed = self.may_repeat
            && !self.is_refused
            && matches!(self.class, RecoveryClass::Key { window } if self.in_window(window, now));
        match verdict {
            Verdict::Found(progress) => Finding::Found(progress),
            Verdict::Absent if is_settled && is_absent(self.absent_at, self.list_lag, now) => {
                Finding::NotMade
            }
            Verdict::Absent if is_settled || !is_keyed => Finding::LookAgain,
            // The outcome of the first call stays open until the network answers the repetition.
            _ if is_keyed && mutation::is_off(Mutation::RepeatedStaysOpen) => Finding::Repeat,
            _ if is_keyed => Finding::NotMade,
            Verdict::Absent | Verdict::Doubt if now < self.patient_until => Finding::AskAgain,
            Verdict::Absent | Verdict::Doubt => Finding::Unknown,
        }
    }

    /// Returns true while the network still remembers the key of the call.
    fn in_window(&self, window: Option<Duration>, now: Millis) -> bool {
        let ms = |window: Duration| Millis::try_from(window.as_millis()).unwrap_or(Millis::MAX / 4);
        window.is_none_or(|window| now < self.sent_at + ms(window).max(1))
    }
}

/// Judges what a network says of a lost call. With `knows_handle` it is certain which container or upload was the call's, so
/// that its end says something. What a cache answers is a doubt.
///
/// # Errors
/// The database's.
pub async fn judge(
    cx: &Context,
    session: &Session,
    (outcome, knows_handle): (ReconcileOutcome, bool),
    call: LostCall<'_>,
) -> Result<Verdict> {
    let clock = session.http.server_clock();
    match outcome {
        ReconcileOutcome::Committed(progress) => Ok(Verdict::Found(progress)),
        ReconcileOutcome::NotCommitted if !clock.is_cached() => Ok(Verdict::Absent),
        ReconcileOutcome::HandleEnded if !clock.is_cached() && knows_handle => Ok(Verdict::Absent),
        ReconcileOutcome::Listed(listing) => call.judge(&cx.domain, listing, clock).await,
        ReconcileOutcome::NotCommitted
        | ReconcileOutcome::HandleEnded
        | ReconcileOutcome::Unknown => Ok(Verdict::Doubt),
    }
}

/// Returns when the network may be asked again that limits how often it is read, for a call that was made at `sent_at`:
/// some allow one read a day.
pub(super) fn limit_end(error: &platforms::Error, sent_at: Millis, now: Millis) -> Option<Millis> {
    let is_limit = matches!(error.kind, ErrorKind::RateLimited | ErrorKind::QuotaExhausted);
    let wait = Millis::try_from(error.retry_after?.as_millis()).ok()?;
    let at = now + wait.max(1_000);
    (is_limit && at < sent_at + MAX_LIMITED_TIME).then_some(at)
}
