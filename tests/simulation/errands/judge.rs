//! Checks what holds for all errands, and for each kind in the end.

use std::collections::BTreeMap;

use fanfare_core::durable::MAX_LEASE_EXPIRATIONS;
use fanfare_entities::Millis;

use super::{Errand, outside::Outside, rows::Row};
use crate::{
    judge::{Violation, hold},
    lockstep::Actor,
};

/// What is known about a row besides its columns.
#[derive(Debug, Default)]
struct Case {
    /// The worker that holds it, and its token.
    holder: Option<(usize, i64)>,
    /// How often a worker lost it, by its death, a long stop or a lost commit.
    disturbances: usize,
    lease_expirations: i32,
}

/// The checks of one simulation.
#[derive(Default)]
pub struct Judge {
    pub rows: BTreeMap<i64, Row>,
    cases: BTreeMap<i64, Case>,
}

impl Judge {
    /// Notes that a worker may have lost its work on a row.
    pub fn disturb(&mut self, id: i64) {
        self.cases.entry(id).or_default().disturbances += 1;
    }

    /// Compares the rows with the previous ones, after a step of this worker at its time.
    pub fn look(
        &mut self,
        now: BTreeMap<i64, Row>,
        (actor, at): (Actor, Millis),
    ) -> Result<(), Violation> {
        let before = std::mem::replace(&mut self.rows, now);
        for row in self.rows.values() {
            let (id, case) = (row.id, self.cases.entry(row.id).or_default());
            hold!(
                row.due_at.is_none() == row.is_final(),
                "row {id} is {} and due at {:?}",
                row.status,
                row.due_at
            );
            let Some(old) = before.get(&id).filter(|old| *old != row) else { continue };
            hold!(!old.is_final(), "row {id} was {} and changed", old.status);
            if row.lease_expirations > old.lease_expirations {
                hold!(
                    old.due_at.is_some_and(|due| due <= at),
                    "worker {} took row {id} before it was due",
                    actor.worker
                );
                case.disturbances += usize::from(old.lease_expirations > 0);
                case.lease_expirations = case.lease_expirations.max(row.lease_expirations);
                case.holder = Some((actor.worker, row.fencing_token));
            } else {
                let holds = case.holder == Some((actor.worker, old.fencing_token));
                hold!(holds, "worker {} changed row {id}, which it had lost", actor.worker);
            }
        }
        Ok(())
    }

    /// Checks what the world outside has after a step.
    pub fn check(&self, errand: Errand, outside: &Outside) -> Result<(), Violation> {
        for row in self.rows.values() {
            let about = &row.about;
            if errand == Errand::Videos {
                let orders = outside.orders.get(about).map_or(0, Vec::len);
                hold!(orders <= 1, "{about:?} was ordered, and is billed, {orders} times");
            }
            if errand == Errand::Mails {
                let copies = outside.copies.get(about).map_or(&[][..], Vec::as_slice);
                let excuses = outside.count(about, "lost") + self.cases[&row.id].disturbances;
                hold!(copies.len() <= 1 + excuses, "an e-mail was sent {} times", copies.len());
                hold!(copies.iter().all(|copy| *copy == copies[0]), "copies differ: {copies:?}");
            }
        }
        Ok(())
    }

    /// Checks the end of every row.
    pub fn check_end(&self, errand: Errand, outside: &Outside) -> Result<(), Violation> {
        for row in self.rows.values() {
            hold!(row.is_final(), "row {} stays {} for ever", row.id, row.status);
            let has_reason = match errand {
                Errand::Videos => self.is_good_video(row, outside),
                Errand::Mails => self.is_good_mail(row, outside),
                Errand::Payments => {
                    row.status == "applied" || outside.is_away || self.was_given_up(row)
                }
            };
            hold!(has_reason, "row {} is {} ({:?}) for no reason", row.id, row.status, row.code);
        }
        Ok(())
    }

    /// Returns true if so many workers ended with it that it was given up.
    fn was_given_up(&self, row: &Row) -> bool {
        self.cases[&row.id].lease_expirations > MAX_LEASE_EXPIRATIONS
    }

    fn is_good_video(&self, row: &Row, outside: &Outside) -> bool {
        let about = &row.about;
        let is_ordered = outside.orders.contains_key(about);
        let is_disturbed = self.cases[&row.id].disturbances > 0;
        match row.code.as_deref() {
            None => row.status == "completed" && row.has_file && is_ordered,
            Some("outcome_unknown") => outside.count(about, "lost") > 0 || is_disturbed,
            Some("provider_unreachable") => !is_ordered,
            Some("provider_error") => {
                outside.count(about, "refused") + outside.count(about, "failed") > 0
            }
            Some("provider_timeout" | "result_lost") => is_ordered,
            Some(_) => false,
        }
    }

    fn is_good_mail(&self, row: &Row, outside: &Outside) -> bool {
        let about = &row.about;
        match row.status.as_str() {
            "sent" => outside.copies.contains_key(about),
            "failed" => {
                outside.count(about, "refused") > 0
                    || outside.count(about, "lost") + outside.count(about, "busy") >= 5
                    || self.was_given_up(row)
            }
            _ => false,
        }
    }
}
