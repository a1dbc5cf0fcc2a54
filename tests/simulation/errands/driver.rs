//! The main loop: a seed decides each step, until nothing is left to do.

use std::collections::BTreeSet;

use fanfare_ai::{Ai, Catalogue, Endpoint};
use fanfare_core::failpoint::Moment;
use fanfare_entities::Millis;
use fanfare_mail::Mailer;
use fanfare_media::{S3, Store};
use fanfare_outbound::{Client, Policy};
use fanfare_payments::Stripe;
use fanfare_people::{
    billing::Billing,
    credits::{self, packs},
};
use secrecy::SecretString;
use url::Url;

use super::{Errand, judge::Judge, money, outside::Server, requests, rows};
use crate::{
    dice::Dice,
    fault_rates::FaultRates,
    judge::{Violation, hold},
    kind::Kind,
    lockstep::Actor,
    world::{Outside, SKEW, World, settings},
};

const WORKERS: usize = 3;

/// The number of decisions with faults.
const DECISIONS: usize = 150;

/// The most rows that are made.
const ROWS: usize = 8;

/// The most decisions without faults until everything has ended.
const PATIENCE: usize = 2_000;

/// A simulation, and what it came to.
pub struct Play {
    errand: Errand,
    seed: u64,
    world: World,
    outside: Server,
    dice: Dice,
    mood: FaultRates,
    judge: Judge,
    jobs: Vec<i64>,
    made: usize,
    begun: Millis,
    pub trace: Vec<String>,
    pub broken: Option<Violation>,
    pub ends: BTreeSet<String>,
    /// The credits of all wallets at the beginning.
    start: i64,
}

impl Play {
    /// Plays a seed.
    pub fn of(errand: Errand, seed: u64) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async {
            let mut play = Box::pin(Self::open(errand, seed)).await;
            play.broken = Box::pin(play.run()).await.err();
            let end = |row: &rows::Row| match (&row.code, errand) {
                (Some(code), Errand::Videos) => code.clone(),
                _ => row.status.clone(),
            };
            play.ends = play.judge.rows.values().map(end).collect();
            play
        })
    }

    /// Panics if something did not hold.
    pub fn is_good(&self) {
        let Some(broken) = &self.broken else { return };
        let from = self.trace.len().saturating_sub(60);
        panic!(
            "{}\n\n{:?}, seed {}: {broken}",
            self.trace[from..].join("\n"),
            self.errand,
            self.seed
        );
    }

    async fn open(errand: Errand, seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let mood = FaultRates::random(&mut dice, SKEW, errand.fatal_places());
        let outside = Server::start(seed).await;
        let world = World::open_beside(Kind::Posts, beside(&outside, errand, seed)).await;
        for caller in &world.callers {
            let first = format!("pi_first_{}", caller.request_id);
            let bought =
                packs::credit(&caller.cx, caller.caller.user_id, money::START, &first).await;
            bought.expect("credits");
            credits::update(&caller.cx, caller.caller.user_id).await.expect("a wallet");
        }
        let start = money::left(&world.db).await;
        outside.lock().faults = mood.faults;
        outside.lock().is_away = mood.outage.is_some();
        let mut play = Self {
            errand,
            seed,
            begun: world.now(),
            world,
            outside,
            dice,
            mood,
            judge: Judge::default(),
            jobs: Vec::new(),
            made: 0,
            trace: Vec::new(),
            broken: None,
            ends: BTreeSet::new(),
            start,
        };
        for _ in 0..WORKERS {
            let worker = play.world.start_worker(0);
            play.world.workers.push(worker);
        }
        play.note(format!("{mood:?}"));
        play
    }

    async fn run(&mut self) -> Result<(), Violation> {
        for _ in 0..DECISIONS {
            self.decide().await?;
        }
        self.note("it calms down".to_owned());
        self.mood = self.mood.calm();
        self.outside.lock().faults = 0;
        for place in 0..WORKERS {
            self.wake(place).await;
        }
        for _ in 0..PATIENCE {
            if !self.calmly().await? {
                let sales = {
                    let outside = self.outside.lock();
                    self.judge.check_end(self.errand, &outside)?;
                    outside.sales.clone()
                };
                let cx = &self.world.callers[0].cx;
                let judge = (self.errand, &self.judge);
                return Box::pin(money::check(judge, (cx, self.start), &sales)).await;
            }
        }
        Err("it never ends".to_owned())
    }

    async fn decide(&mut self) -> Result<(), Violation> {
        let held = self.held();
        let some = |list: usize, weight: u32| if list == 0 { 0 } else { weight };
        let asleep = self.world.workers.iter().filter(|one| one.asleep.is_some()).count();
        let weights = [
            some(self.jobs.len(), 30),
            some(held.len(), 80),
            12,
            8,
            self.mood.kills,
            self.mood.stops,
            some(asleep, 6),
            if self.made < ROWS { 10 } else { 0 },
        ];
        let place = self.dice.place(WORKERS);
        match self.dice.weighed(&weights).expect("time can pass") {
            0 => return self.deliver().await,
            1 => {
                let place = held[self.dice.place(held.len())];
                return self.go_on(place).await;
            }
            2 => {
                let longest = if self.dice.happens(600) { 900 } else { self.mood.leap };
                let by = self.dice.between(1, longest);
                self.pass(by).await;
            }
            3 => self.sweep(place).await,
            4 => self.kill(place),
            5 => self.stop(place),
            6 => self.wake(place).await,
            _ => return self.make().await,
        }
        Ok(())
    }

    /// Makes one step without faults; returns false when nothing is left to do.
    async fn calmly(&mut self) -> Result<bool, Violation> {
        if let Some(place) = self.held().first() {
            self.go_on(*place).await?;
        } else if !self.jobs.is_empty() {
            self.deliver().await?;
        } else {
            self.sweep(0).await;
            if self.jobs.is_empty() {
                let due = self.judge.rows.values().filter_map(|row| row.due_at).min();
                let Some(due) = due else { return Ok(false) };
                self.pass((due + 1 - self.world.now()).max(1_000)).await;
            }
        }
        Ok(true)
    }

    fn held(&self) -> Vec<usize> {
        let waiting = self.world.stage.waiting();
        let is_awake = |number| {
            let mut workers = self.world.workers.iter();
            workers.any(|worker| worker.number == number && worker.asleep.is_none())
        };
        let places = waiting.iter().enumerate().filter(|(_, held)| is_awake(held.actor.worker));
        places.map(|(place, _)| place).collect()
    }

    async fn pass(&mut self, by: Millis) {
        self.world.tick(by);
        self.world.stage.settle().await;
        self.note(format!("{by} ms pass"));
        self.hear();
    }

    /// Runs the scheduler of a worker.
    async fn sweep(&mut self, place: usize) {
        let (room, loss) = (1 + self.dice.place(8), self.dice.happens(200));
        let worker = &mut self.world.workers[place];
        if worker.asleep.is_some() {
            return;
        }
        let domain = worker.cx.domain.clone();
        let found = worker.selection.select(&domain, self.errand.job(), room, loss).await;
        let found: Vec<i64> = found.expect("it selects").into_iter().map(|job| job.id).collect();
        self.note(format!("rows are scheduled: {found:?}"));
        self.jobs.extend(found);
    }

    fn kill(&mut self, place: usize) {
        let number = self.world.workers[place].number;
        self.note(format!("worker {number} is killed"));
        self.disturb(number);
        self.world.stage.kill(number);
        self.world.workers[place] = self.world.start_worker(0);
    }

    fn stop(&mut self, place: usize) {
        let worker = &mut self.world.workers[place];
        if worker.asleep.is_none() {
            worker.asleep = Some(0);
            let number = worker.number;
            self.note(format!("worker {number} is stopped"));
            self.disturb(number);
        }
    }

    async fn wake(&mut self, place: usize) {
        let worker = &mut self.world.workers[place];
        let Some(missed) = worker.asleep.take() else { return };
        worker.clock.advance(missed);
        let number = worker.number;
        self.note(format!("worker {number} goes on, {missed} ms later"));
        self.world.stage.settle().await;
        self.hear();
    }

    /// Notes that what a worker does may be done again by another.
    fn disturb(&mut self, number: usize) {
        for held in self.world.stage.waiting().iter().filter(|held| held.actor.worker == number) {
            self.judge.disturb(held.actor.post);
        }
    }

    /// Delivers a job to a worker, or loses it.
    async fn deliver(&mut self) -> Result<(), Violation> {
        let place = self.dice.place(self.jobs.len());
        let id = self.jobs[place];
        if !self.dice.happens(self.mood.jobs / 2) {
            self.jobs.remove(place);
        }
        let worker = &self.world.workers[self.dice.place(WORKERS)];
        if self.dice.happens(self.mood.jobs) || worker.asleep.is_some() {
            self.note(format!("the job of row {id} is lost"));
            return Ok(());
        }
        let actor = Actor { worker: worker.number, post: id };
        let (errand, cx, stage) = (self.errand, worker.cx.clone(), self.world.stage.clone());
        self.note(format!("worker {} gets row {id}", actor.worker));
        self.maybe_cut(id);
        let work = async move {
            errand.work(id, cx).await;
            stage.rest();
        };
        self.world.stage.step(actor, || drop(tokio::spawn(work))).await;
        self.look(actor).await
    }

    async fn go_on(&mut self, place: usize) -> Result<(), Violation> {
        let held = self.world.stage.waiting()[place].clone();
        let (actor, name) = (held.actor, held.place);
        if self.mood.poison == Some((actor.post, name.as_str())) {
            let workers = &self.world.workers;
            let victim = workers.iter().position(|worker| worker.number == actor.worker);
            self.kill(victim.expect("it is awake"));
            return Ok(());
        }
        self.note(format!("worker {} goes on with row {} from {name}", actor.worker, actor.post));
        self.maybe_cut(actor.post);
        self.world.stage.go_on(place).await;
        self.look(actor).await
    }

    async fn make(&mut self) -> Result<(), Violation> {
        self.made += 1;
        self.maybe_cut(0);
        let said =
            requests::make(self.errand, (&self.world, &self.outside), &mut self.dice, self.made)
                .await;
        self.note(said);
        self.world.stage.settle().await;
        self.look(Actor { worker: 0, post: 0 }).await
    }

    /// Decides whether the next commit loses its database connection.
    fn maybe_cut(&mut self, id: i64) {
        let cut = self.dice.happens(self.mood.cuts).then(|| {
            if self.dice.happens(500) { Moment::BeforeCommit } else { Moment::AfterCommit }
        });
        if let Some(moment) = cut {
            self.note(format!("the next commit is cut: {moment:?}"));
            self.judge.disturb(id);
        }
        self.world.stage.cut_next(cut);
    }

    async fn look(&mut self, actor: Actor) -> Result<(), Violation> {
        self.world.stage.cut_next(None);
        let mut workers = self.world.workers.iter();
        let worker = workers.find(|worker| worker.number == actor.worker);
        let at = worker.map_or(self.world.now(), |worker| worker.clock.now());
        let rows = rows::of(self.errand, &self.world.db).await;
        for row in rows.values().filter(|row| self.judge.rows.get(&row.id) != Some(*row)) {
            self.trace.push(format!("  {}", row.described()));
        }
        self.judge.look(rows, (actor, at))?;
        self.judge.check(self.errand, &self.outside.lock())?;
        for id in self.hear() {
            let due = self.judge.rows.get(&id).and_then(|row| row.due_at);
            let is_due = due.is_some_and(|due| due <= self.world.now() + SKEW);
            hold!(is_due, "row {id} was enqueued, and nothing was committed");
        }
        Ok(())
    }

    /// Collects the jobs that were enqueued.
    fn hear(&mut self) -> Vec<i64> {
        let heard = self.world.queue.take_local(self.errand.job(), 64);
        self.jobs.extend(&heard);
        heard
    }

    fn note(&mut self, what: String) {
        let at = self.world.now() - self.begun;
        self.trace.push(format!("{:>9.3} s  {what}", at as f64 / 1_000.0));
    }
}

/// Returns what the world outside offers to an errand.
fn beside(server: &Server, errand: Errand, seed: u64) -> Outside {
    let http = Client::new(Policy { allow_private: true }).expect("a client");
    let folder = std::env::temp_dir()
        .join(format!("fanfare-errands-{}-{errand:?}-{seed}", std::process::id()));
    let place = format!("file://{}", folder.display());
    let store = Store::open(&place, S3 { access_key: None, secret_key: None, region: None });
    let url = format!("http://127.0.0.1:{}/", server.http);
    let mail = SecretString::from(format!("smtp://127.0.0.1:{}", server.smtp));
    let client = http.clone();
    let features = move || {
        let at = |path: &str| Url::parse(&format!("{url}{path}")).expect("an address");
        let mut settings = settings();
        let key = || SecretString::from("key");
        settings.people.billing = Some(Billing {
            stripe: Stripe::new(&client, at("stripe"), key()),
            webhook_secrets: Vec::new(),
            is_simulated: true,
        });
        settings.people.mailer =
            Some(Mailer::new(&mail, "Fanfare <hello@example.com>").expect("a mailer"));
        let mut ai = Ai::none(Catalogue::built_in().expect("models"));
        ai.xai = Some(Endpoint::new(&client, "xai", at("xai/v1"), Some(key())));
        settings.insight.ai = ai;
        settings.features()
    };
    Outside { http, store: store.expect("the store opens"), features: Box::new(features) }
}
