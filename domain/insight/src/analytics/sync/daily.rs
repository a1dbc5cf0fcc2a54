//! The daily reading: the account's days, a few at a time, and all its posts, including those made outside this
//! service.

use chrono::NaiveDate;
use fanfare_core::{Tx, events::NewEvent};
use fanfare_entities::{Millis, analytics_sync};
use fanfare_platforms::{
    self as platforms,
    analytics::{
        DailySpec, Day, DayMetrics, MissingReason, ends_all_readings, is_refusal, is_trouble, name,
    },
};
use fanfare_publishing::accounts::{Account, account_event};
use sea_orm::{ActiveModelTrait, ActiveValue::Set};
use serde_json::{Map, Value, json};

use super::{Stop, Turn};
use crate::analytics::{
    days,
    pace::DAY,
    profile,
    zone::{self, date_at, day, start},
};

/// The number of days that are read and written at once.
const DAYS_PER_SLICE: usize = 10;

type StepResult = std::result::Result<(), Stop>;

impl Turn<'_> {
    /// Starts or continues the daily reading, if it is due.
    pub(super) async fn read_day(&mut self) -> StepResult {
        let now = self.cx.clock.now();
        if now < self.row.daily_at {
            return Ok(());
        }
        // Each of the readings fails alone.
        let mut failed = Failed::default();
        if let Some(daily) = self.network.daily(&self.reading.session.account) {
            failed.days(self.read_days(daily, now).await)?;
            failed.other(self.read_periods(daily).await)?;
        }
        failed.other(self.list_posts(now).await)?;
        // The posts that were just found are read on the same day.
        self.read_posts(None).await?;
        match failed.trouble {
            // The network failed: what is missing is read again soon.
            Some(error) => Err(Stop::Network(error)),
            None => self.end_day(now, !failed.are_days_refused).await,
        }
    }

    async fn read_days(&mut self, daily: &'static DailySpec, now: Millis) -> StepResult {
        let zone = zone::zone(daily.zone);
        let today = date_at(zone, now);
        let last = zone::before(today, 1);
        let mut first = self.first_day(daily, today);
        while first <= last {
            let dates: Vec<_> = zone::days(first, last).take(DAYS_PER_SLICE).collect();
            if self.permits.calls_left() < dates.len() + 2 {
                return Err(out_of_calls());
            }
            let asked: Vec<Day> = dates.iter().map(|date| day(zone, *date)).collect();
            let mut read = self.network.days(self.reading, &asked).await?;
            let end = dates.last().copied().unwrap_or(last);
            if end == last {
                self.add_followers(&mut read, last).await?;
            }
            let lag = Millis::try_from(daily.lag.as_millis()).unwrap_or_default();
            let final_until = now - self.pace.shortened(lag);
            let is_final = |one: &DayMetrics| {
                let until = start(zone, zone::next(one.date)).timestamp_millis();
                one.is_final.unwrap_or(until <= final_until)
            };
            let read = read.into_iter().map(|one| (is_final(&one), one));
            let read = read.map(|(is_final, one)| (one, is_final)).collect();
            self.write_days(read, (first, end)).await?;
            first = zone::next(end);
        }
        Ok(())
    }

    /// Returns the first day to read: the oldest that the network has after a connect, otherwise a few days back, or
    /// the first missing day.
    fn first_day(&self, daily: &DailySpec, today: NaiveDate) -> NaiveDate {
        let earliest = zone::before(today, daily.backfill.into());
        let next = self.row.next_day.as_deref().and_then(zone::parse);
        let first = next.unwrap_or_else(|| {
            let through = self.row.complete_through.as_deref().and_then(zone::parse);
            let missing = through.map_or(earliest, zone::next);
            missing.min(zone::before(today, daily.reread.into()))
        });
        first.max(earliest)
    }

    /// Adds the current number of followers to the last complete day.
    async fn add_followers(&self, read: &mut Vec<DayMetrics>, last: NaiveDate) -> StepResult {
        let followers = match self.network.followers(self.reading).await {
            Err(error) if is_refusal(&error) => Err(MissingReason::Refused),
            followers => followers?,
        };
        match read.iter_mut().find(|one| one.date == last) {
            Some(one) => drop(one.numbers.insert(name::FOLLOWERS, followers)),
            None => read.push(DayMetrics {
                date: last,
                numbers: [(name::FOLLOWERS, followers)].into(),
                is_final: None,
            }),
        }
        Ok(())
    }

    /// Writes the days from `first` to `end`.
    async fn write_days(
        &mut self,
        read: Vec<(DayMetrics, bool)>,
        (first, end): (NaiveDate, NaiveDate),
    ) -> StepResult {
        let finals = read.iter().filter(|(_, is_final)| *is_final);
        let through = finals.map(|(one, _)| one.date.to_string()).max();
        let through = through.max(self.row.complete_through.clone());
        let tx = Tx::begin(self.cx).await?;
        let held = self.held(&tx).await?;
        days::write(tx.conn(), self.row.id, read, self.cx.clock.now()).await?;
        let next_day = Some(zone::next(end).to_string());
        let first_day = held.first_day.or_else(|| Some(first.to_string()));
        let changed = analytics_sync::ActiveModel {
            id: Set(held.id),
            first_day: Set(first_day.clone()),
            next_day: Set(next_day.clone()),
            complete_through: Set(through.clone()),
            ..Default::default()
        };
        changed.update(tx.conn()).await?;
        tx.commit().await?;
        self.row.first_day = first_day;
        (self.row.next_day, self.row.complete_through) = (next_day, through);
        Ok(())
    }

    /// Reads the reach of the periods that end with the last final day.
    async fn read_periods(&mut self, daily: &'static DailySpec) -> StepResult {
        let through = self.row.complete_through.as_deref().and_then(zone::parse);
        let Some(through) = through.filter(|_| !daily.periods.is_empty()) else { return Ok(()) };
        let zone = zone::zone(daily.zone);
        let until = start(zone, zone::next(through));
        let mut periods = Map::new();
        for length in daily.periods {
            let since = start(zone, zone::before(through, u64::from(*length).saturating_sub(1)));
            let reach = self.network.reach(self.reading, (since, until)).await?;
            if let Ok(reach) = reach {
                let period = json!({"to": through.to_string(), "reach": reach});
                periods.insert(length.to_string(), period);
            }
        }
        self.row.period_reach = Value::Object(periods);
        Ok(())
    }

    /// Lists the posts that the account has published in the last 90 days, wherever they were made.
    async fn list_posts(&mut self, now: Millis) -> StepResult {
        if self.row.listed {
            return Ok(());
        }
        let since = fanfare_core::clock::date(now - 90 * DAY);
        let listed = self.network.list_posts(self.reading, since).await?;
        let tx = Tx::begin(self.cx).await?;
        let held = self.held(&tx).await?;
        self.store_listed(&tx, listed, now).await?;
        let changed = analytics_sync::ActiveModel {
            id: Set(held.id),
            listed: Set(true),
            ..Default::default()
        };
        changed.update(tx.conn()).await?;
        tx.commit().await?;
        self.row.listed = true;
        Ok(())
    }

    /// Ends the daily reading. An account whose days are refused was not read.
    async fn end_day(&mut self, now: Millis, has_days: bool) -> StepResult {
        let daily = self.network.daily(&self.reading.session.account);
        let zone = zone::zone(daily.map_or("UTC", |daily| daily.zone));
        let ends = start(zone, zone::next(date_at(zone, now))).timestamp_millis();
        let daily_at = self.pace.next_daily(self.row.id.0, ends, now);
        let mut tx = Tx::begin(self.cx).await?;
        let held = self.held(&tx).await?;
        let is_backfill = held.synced_at.is_none();
        let changed = analytics_sync::ActiveModel {
            id: Set(held.id),
            first_day: Set(None),
            next_day: Set(None),
            listed: Set(false),
            daily_at: Set(daily_at),
            synced_at: Set(if has_days { Some(now) } else { held.synced_at }),
            period_reach: Set(self.row.period_reach.clone()),
            changed_posts: Set(0),
            missing_permissions: Set(json!(self.reading.findings().missing_permissions)),
            ..Default::default()
        };
        changed.update(tx.conn()).await?;
        if let (Some(home), true) = (self.derives_in, self.network.has_denominator()) {
            profile::derive(&tx, self.account, (self.network, self.pace, home)).await?;
        }
        // If a network only reports numbers of posts, there is nothing to report without posts.
        if daily.is_some() || held.changed_posts > 0 {
            tx.emit(self.event(held.changed_posts, is_backfill));
        }
        self.list_refused(&mut tx).await?;
        tx.commit().await?;
        self.row.daily_at = daily_at;
        self.is_day_over = true;
        Ok(())
    }

    fn event(&self, posts: i32, is_backfill: bool) -> NewEvent {
        let row = self.account;
        let first = self.row.first_day.as_deref();
        let next = self.row.next_day.as_deref().and_then(zone::parse);
        let last = next.filter(|_| first.is_some()).map(|next| zone::before(next, 1).to_string());
        let data = json!({
            "account": Account::of(self.cx, row),
            "posts": posts,
            "backfill": is_backfill,
            "from": first,
            "to": last,
            "complete_through": self.row.complete_through,
        });
        let message = format!("The numbers of {} on {} were read.", row.username, row.platform);
        account_event(row, ("analytics.synced", true), &data, message)
    }
}

/// The readings of a day that failed.
#[derive(Debug, Default)]
struct Failed {
    /// The network failed, or did not answer.
    trouble: Option<platforms::Error>,
    /// The network refuses the days.
    are_days_refused: bool,
}

impl Failed {
    fn days(&mut self, read: StepResult) -> StepResult {
        self.are_days_refused = self.note(read)?;
        Ok(())
    }

    fn other(&mut self, read: StepResult) -> StepResult {
        self.note(read).map(drop)
    }

    /// Notes an error that is about this reading alone; returns true for a refusal.
    fn note(&mut self, read: StepResult) -> std::result::Result<bool, Stop> {
        match read {
            Err(Stop::Network(error)) if !ends_all_readings(&error) => {
                let is_refusal = !is_trouble(&error);
                tracing::debug!(kind = ?error.kind, %error, "a reading of an account failed");
                if !is_refusal {
                    self.trouble = Some(error);
                }
                Ok(is_refusal)
            }
            read => read.map(|()| false),
        }
    }
}

/// Returns the stop for a turn whose remaining calls are too few for the next step.
fn out_of_calls() -> Stop {
    let error = fanfare_platforms::Error::new(
        fanfare_platforms::ErrorKind::RateLimited,
        "The calls of this turn are used up.",
    );
    Stop::Network(error.with_retry_after(Some(std::time::Duration::ZERO)))
}
