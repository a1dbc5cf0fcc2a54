//! The main loop of a simulation: a seed decides each step, until nothing is left to do.

use std::collections::BTreeSet;

use fanfare_entities::Millis;

use crate::{
    callers::CallerPost,
    dice::Dice,
    events_and_ledger,
    fault_rates::FaultRates,
    judge::{Judge, Violation},
    kind::Kind,
    lockstep::WaitingTask,
    network::Call,
    world::{SKEW, World},
};

/// The number of concurrent workers.
pub const WORKERS: usize = 3;

/// The number of decisions with faults.
const DECISIONS: usize = 170;

/// The most posts that are created.
const POSTS: usize = 8;

/// The most decisions without faults until everything has ended.
const PATIENCE: usize = 5_000;

/// A running simulation.
pub struct Simulation {
    pub kind: Kind,
    pub world: World,
    pub dice: Dice,
    pub mood: FaultRates,
    pub judge: Judge,
    pub trace: Vec<String>,
    /// Queued jobs.
    pub jobs: Vec<i64>,
    pub wishes: Vec<CallerPost>,
    pub begun: Millis,
    pub calls_seen: u64,
    pub created: usize,
}

impl Simulation {
    /// Sets everything up.
    pub async fn new(kind: Kind, seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let mood = FaultRates::random(&mut dice, SKEW, kind.fatal_places());
        let world = World::open(kind).await;
        let begun = world.now();
        let mut play = Self {
            kind,
            world,
            dice,
            mood,
            judge: Judge::new(kind),
            trace: Vec::new(),
            jobs: Vec::new(),
            wishes: Vec::new(),
            begun,
            calls_seen: 0,
            created: 0,
        };
        for place in 0..WORKERS {
            play.start_worker(place);
        }
        play.note(format!("{mood:?}"));
        play
    }

    /// Runs it to the end.
    pub async fn run(&mut self) -> Result<(), Violation> {
        for _ in 0..DECISIONS {
            Box::pin(self.decide()).await?;
        }
        self.note("it calms down".into());
        self.mood = self.mood.calm();
        for place in 0..WORKERS {
            self.wake(place).await?;
        }
        for _ in 0..PATIENCE {
            if !self.calmly().await? {
                let entries = self.world.network.lock().entries.clone();
                self.judge.check_end(&entries)?;
                if self.kind == Kind::Replies {
                    return Ok(());
                }
                return events_and_ledger::compare(&self.judge, &self.world.db).await;
            }
        }
        let open: Vec<_> = self.judge.rows.values().filter(|row| row.is_on_its_way()).collect();
        Err(format!("it never ends: {open:?}"))
    }

    /// Makes one decision.
    async fn decide(&mut self) -> Result<(), Violation> {
        let (held, calls) = (self.held(), self.answerable());
        let asleep = self.world.workers.iter().filter(|one| one.asleep.is_some()).count();
        let some = |list: usize, weight: u32| if list == 0 { 0 } else { weight };
        let weights = [
            some(self.jobs.len(), 30),
            some(held.len(), 80),
            some(calls.len(), 40),
            12,
            8,
            self.mood.kills,
            self.mood.stops,
            some(asleep, 6),
            some(self.wishes.len(), self.mood.changes),
            if self.made() < POSTS { 10 } else { 0 },
            some(calls.len(), 3),
        ];
        match self.dice.weighed(&weights).expect("time can pass") {
            0 => self.deliver().await,
            1 => {
                let place = held[self.dice.place(held.len())];
                self.go_on(place).await
            }
            2 => {
                let number = calls[self.dice.place(calls.len())];
                self.answer(number).await
            }
            3 => {
                let longest = if self.dice.happens(600) { 900 } else { self.mood.leap };
                let by = self.dice.between(1, longest);
                self.pass(by).await
            }
            4 => {
                let place = self.dice.place(WORKERS);
                self.sweep(place).await
            }
            5 => {
                let place = self.dice.place(WORKERS);
                self.kill(place);
                Ok(())
            }
            6 => {
                let place = self.dice.place(WORKERS);
                self.stop(place);
                Ok(())
            }
            7 => {
                let place = self.dice.place(WORKERS);
                self.wake(place).await
            }
            8 => Box::pin(self.change()).await,
            9 => self.create().await,
            _ => {
                let number = calls[self.dice.place(calls.len())];
                self.carry_out(number).await
            }
        }
    }

    /// Makes one step without faults; returns false when nothing is left to do.
    async fn calmly(&mut self) -> Result<bool, Violation> {
        if let Some(place) = self.held().first() {
            self.go_on(*place).await?;
        } else if let Some(number) = self.answerable().first() {
            self.answer(*number).await?;
        } else if !self.jobs.is_empty() {
            self.deliver().await?;
        } else {
            self.sweep(0).await?;
            if self.jobs.is_empty() {
                let Some(next) = self.next() else { return Ok(false) };
                self.pass((next - self.world.now()).max(1_000)).await?;
            }
        }
        Ok(true)
    }

    /// Returns the time at which something can happen again.
    fn next(&self) -> Option<Millis> {
        let (now, network) = (self.world.now(), self.world.network.lock());
        let end = |call: &Call| call.started + call.deadline;
        let calls =
            network.calls.iter().map(|call| if call.ready > now { call.ready } else { end(call) });
        let held = self.world.stage.waiting().into_iter().map(|held| held.until);
        let rows = self.judge.rows.values().filter_map(|row| Some(row.due_at? + 2 * SKEW));
        calls.chain(held).chain(rows).min()
    }

    /// Returns the indexes of waiting work whose workers are not stopped.
    pub fn held(&self) -> Vec<usize> {
        let (now, waiting) = (self.world.now(), self.world.stage.waiting());
        let may = |held: &WaitingTask| held.until <= now && self.is_awake(held.actor.worker);
        let places = waiting.iter().enumerate();
        places.filter(|(_, held)| may(held)).map(|(place, _)| place).collect()
    }

    /// Returns the numbers of the calls whose workers are not stopped.
    fn answerable(&self) -> Vec<u64> {
        let network = self.world.network.lock();
        let heard = |call: &&Call| {
            call.go.is_some() && call.ready <= network.now && self.is_awake(call.actor.worker)
        };
        network.calls.iter().filter(heard).map(|call| call.number).collect()
    }

    pub fn is_awake(&self, number: usize) -> bool {
        let mut workers = self.world.workers.iter();
        workers.any(|worker| worker.number == number && worker.asleep.is_none())
    }

    /// Returns the number of rows that callers have made.
    fn made(&self) -> usize {
        match self.kind {
            Kind::Posts => self.wishes.len(),
            Kind::Replies => self.created,
        }
    }

    pub fn note(&mut self, what: String) {
        let at = self.world.now() - self.begun;
        self.trace.push(format!("{:>9.3} s  {what}", at as f64 / 1_000.0));
    }

    /// Returns the kinds of ends that posts have reached, to show that a simulation covers them.
    pub fn ends(&self) -> BTreeSet<(String, String)> {
        let ends = self.judge.rows.values().filter(|row| row.is_final());
        ends.map(|row| (row.status.clone(), row.code().to_owned())).collect()
    }
}
