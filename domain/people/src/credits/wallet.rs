//! The rules for changes of a wallet: no database, no clock.

use fanfare_entities::{
    Millis,
    credit_entry::{EntryKind, Pool},
    credit_reservation,
    credit_wallet::{CreditSource, Model},
};

/// An entry of the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LedgerLine {
    /// The reason for the change.
    pub kind: EntryKind,
    /// The pool.
    pub pool: Pool,
    /// The change of the pool, in credits.
    pub amount: i64,
    /// The pool's balance after it.
    pub balance: i64,
}

/// A period for which an allowance is granted once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Period {
    /// The source of the credits.
    pub source: CreditSource,
    /// The unique key of the period.
    pub key: String,
    /// Its beginning.
    pub start: Millis,
    /// Its end.
    pub end: Millis,
}

/// A wallet that is being changed, and the ledger lines of its changes.
#[derive(Debug)]
pub(super) struct Book {
    pub wallet: Model,
    pub lines: Vec<LedgerLine>,
}

impl Book {
    pub const fn of(wallet: Model) -> Self {
        Self { wallet, lines: Vec::new() }
    }

    /// Changes a pool's balance. A change of zero adds no line, except at the end of a reservation.
    fn record(&mut self, kind: EntryKind, pool: Pool, amount: i64) {
        let balance = match pool {
            Pool::Included => &mut self.wallet.included,
            Pool::Purchased => &mut self.wallet.purchased,
        };
        *balance += amount;
        if amount != 0 || matches!(kind, EntryKind::Settle | EntryKind::Refund) {
            self.lines.push(LedgerLine { kind, pool, amount, balance: *balance });
        }
    }

    /// Reserves credits, included ones first. Returns how many of each pool; `None` if there are not enough.
    pub fn reserve(&mut self, credits: i64) -> Option<(i64, i64)> {
        if credits < 0 || self.wallet.included + self.wallet.purchased < credits {
            return None;
        }
        let included = self.wallet.included.min(credits);
        let purchased = credits - included;
        self.record(EntryKind::Reserve, Pool::Included, -included);
        self.record(EntryKind::Reserve, Pool::Purchased, -purchased);
        self.wallet.included_held += included;
        self.wallet.held += credits;
        Some((included, purchased))
    }

    /// Ends a reservation of which `spent` credits were used: the rest goes back, purchased ones first.
    pub fn settle(&mut self, held: &credit_reservation::Model, spent: i64) {
        let rest = held.included + held.purchased - spent;
        let purchased = rest.min(held.purchased);
        self.give_back(EntryKind::Settle, held, rest - purchased, purchased);
    }

    /// Ends a reservation of which nothing was used.
    pub fn refund(&mut self, held: &credit_reservation::Model) {
        self.give_back(EntryKind::Refund, held, held.included, held.purchased);
    }

    /// Returns credits to the pools they came from. Credits of a past period are dropped.
    fn give_back(
        &mut self,
        kind: EntryKind,
        held: &credit_reservation::Model,
        included: i64,
        purchased: i64,
    ) {
        let is_current = held.period.is_some() && held.period == self.wallet.period;
        if held.included > 0 {
            self.record(kind, Pool::Included, if is_current { included } else { 0 });
        }
        if held.purchased > 0 {
            self.record(kind, Pool::Purchased, purchased);
        }
        if is_current {
            self.wallet.included_held -= held.included;
        }
        self.wallet.held -= held.included + held.purchased;
    }

    /// Ends the period: the rest of its allowance expires.
    pub fn end_period(&mut self) {
        self.record(EntryKind::Expire, Pool::Included, -self.wallet.included);
        self.wallet.included_held = 0;
        self.wallet.allowance = 0;
        self.wallet.period = None;
        self.wallet.source = None;
    }

    /// Begins a period with its allowance, unless it has begun before, or a later one of a subscription has.
    pub fn begin_period(&mut self, period: &Period, allowance: i64) -> bool {
        let is_new = match period.source {
            CreditSource::Subscription => period.start > self.wallet.last_start,
            CreditSource::Operator => self.wallet.period.as_ref() != Some(&period.key),
        };
        if !is_new {
            return false;
        }
        self.end_period();
        if period.source == CreditSource::Subscription {
            self.wallet.last_start = period.start;
        }
        self.wallet.source = Some(period.source);
        self.wallet.period = Some(period.key.clone());
        self.wallet.period_end = period.end;
        self.wallet.allowance = allowance;
        self.record(EntryKind::Grant, Pool::Included, allowance);
        true
    }

    /// Changes the allowance of the period. A larger one adds the difference; a smaller one leaves what remains of it
    /// after the used and the reserved credits, at least zero.
    pub fn resize(&mut self, allowance: i64) {
        let wallet = &self.wallet;
        if allowance >= wallet.allowance {
            let more = allowance - wallet.allowance;
            self.record(EntryKind::Grant, Pool::Included, more);
        } else {
            let gone = wallet.allowance - wallet.included;
            let left = (allowance - gone).clamp(0, wallet.included);
            self.record(EntryKind::Adjust, Pool::Included, left - self.wallet.included);
        }
        self.wallet.allowance = allowance;
    }

    /// Adds purchased credits.
    pub fn purchase(&mut self, credits: i64) {
        self.record(EntryKind::Purchase, Pool::Purchased, credits);
    }

    /// Withdraws purchased credits, at most as many as there are. Returns how many.
    pub fn withdraw(&mut self, credits: i64) -> i64 {
        let taken = credits.min(self.wallet.purchased);
        self.record(EntryKind::Withdraw, Pool::Purchased, -taken);
        taken
    }

    /// Returns purchased credits that were withdrawn: a dispute was won, or a refund failed.
    pub fn restore(&mut self, credits: i64) {
        self.record(EntryKind::Withdraw, Pool::Purchased, credits);
    }
}

#[cfg(test)]
mod tests {
    use fanfare_entities::{UserId, credit_reservation::ReservationStatus};

    use super::*;

    fn book(included: i64, purchased: i64) -> Book {
        Book::of(Model {
            user_id: UserId(uuid::Uuid::nil()),
            included,
            included_held: 0,
            allowance: included,
            purchased,
            held: 0,
            source: Some(CreditSource::Operator),
            period: Some("now".to_owned()),
            last_start: 10,
            period_end: 20,
            revision: 0,
            created_at: 0,
            updated_at: 0,
        })
    }

    fn held(included: i64, purchased: i64, period: &str) -> credit_reservation::Model {
        credit_reservation::Model {
            workspace_id: None,
            operation: "o".to_owned(),
            user_id: UserId(uuid::Uuid::nil()),
            included,
            purchased,
            period: Some(period.to_owned()),
            status: ReservationStatus::Open,
            expires_at: 0,
            created_at: 0,
            ended_at: None,
            key_id: None,
            caller_reference: None,
        }
    }

    fn period(key: &str, start: Millis) -> Period {
        let (source, key) = (CreditSource::Subscription, key.to_owned());
        Period { source, key, start, end: start + 10 }
    }

    #[test]
    fn included_credits_go_first_and_nothing_goes_below_zero() {
        let mut book = book(5, 3);
        assert_eq!(book.reserve(9), None);
        assert_eq!(book.lines, []);
        assert_eq!(book.reserve(7), Some((5, 2)));
        assert_eq!((book.wallet.included, book.wallet.purchased, book.wallet.held), (0, 1, 7));
        book.settle(&held(5, 2, "now"), 4);
        // Of three that were not needed two had been bought.
        assert_eq!((book.wallet.included, book.wallet.purchased, book.wallet.held), (1, 3, 0));
        assert_eq!(book.wallet.included_held, 0);
    }

    #[test]
    fn what_comes_back_from_a_past_period_is_dropped() {
        let mut book = book(5, 3);
        assert_eq!(book.reserve(6), Some((5, 1)));
        assert!(book.begin_period(&period("next", 20), 100));
        book.refund(&held(5, 1, "now"));
        assert_eq!((book.wallet.included, book.wallet.purchased, book.wallet.held), (100, 3, 0));
        assert!(!book.begin_period(&period("next", 20), 100), "again");
        assert!(!book.begin_period(&period("earlier", 15), 100), "late");
        book.end_period();
        assert!(!book.begin_period(&period("next", 20), 100), "after its end");
    }

    #[test]
    fn a_smaller_plan_leaves_what_it_grants_minus_what_was_used() {
        let mut book = book(500, 0);
        assert_eq!(book.reserve(60), Some((60, 0)));
        book.resize(100);
        assert_eq!((book.wallet.included, book.wallet.allowance), (40, 100));
        book.resize(50);
        assert_eq!(book.wallet.included, 0);
        book.resize(500);
        assert_eq!((book.wallet.included, book.wallet.allowance), (450, 500));
    }

    #[test]
    fn a_refunded_pack_takes_what_is_left_of_it() {
        let mut book = book(5, 3);
        book.purchase(500);
        assert_eq!(book.reserve(105), Some((5, 100)));
        book.withdraw(500);
        assert_eq!(book.wallet.purchased, 0);
        assert_eq!(book.lines.last().map(|line| line.amount), Some(-403));
    }
}
