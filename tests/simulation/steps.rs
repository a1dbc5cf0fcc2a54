//! Possible next steps of workers, queued jobs and posts.

use fanfare_core::failpoint::Moment;

use crate::{
    callers,
    driver::{Simulation, WORKERS},
    judge::{Violation, hold},
    kind::Kind,
    lockstep::{Actor, WaitingTask},
    replies,
};

impl Simulation {
    pub fn start_worker(&mut self, place: usize) {
        let skew = self.dice.between(-self.mood.skew, self.mood.skew);
        let worker = self.world.start_worker(skew);
        self.note(format!("worker {} starts, its clock off by {skew} ms", worker.number));
        if place < self.world.workers.len() {
            self.world.workers[place] = worker;
        } else {
            self.world.workers.push(worker);
        }
    }

    pub fn kill(&mut self, place: usize) {
        let number = self.world.workers[place].number;
        self.note(format!("worker {number} is killed"));
        self.world.stage.kill(number);
        self.world.network.lock().orphan(number);
        self.start_worker(place);
    }

    pub fn stop(&mut self, place: usize) {
        let worker = &mut self.world.workers[place];
        if worker.asleep.is_none() {
            worker.asleep = Some(0);
            let number = worker.number;
            let mut network = self.world.network.lock();
            for call in network.calls.iter_mut().filter(|call| call.actor.worker == number) {
                call.shielded = None;
            }
            drop(network);
            self.note(format!("worker {number} is stopped"));
        }
    }

    pub async fn wake(&mut self, place: usize) -> Result<(), Violation> {
        let worker = &mut self.world.workers[place];
        let Some(missed) = worker.asleep.take() else { return Ok(()) };
        worker.clock.advance(missed);
        let number = worker.number;
        self.note(format!("worker {number} goes on, {missed} ms later"));
        self.world.stage.settle().await;
        self.look(None).await?;
        self.renew().await?;
        self.expire().await
    }

    /// Delivers a job to a worker, or loses it.
    pub async fn deliver(&mut self) -> Result<(), Violation> {
        let place = self.dice.place(self.jobs.len());
        let post = self.jobs[place];
        if self.dice.happens(self.mood.jobs / 2) {
            self.note(format!("the job of post {post} is doubled"));
        } else {
            self.jobs.remove(place);
        }
        if self.dice.happens(self.mood.jobs) {
            let told = self.dice.happens(500);
            self.note(format!("the job of post {post} is lost, told: {told}"));
            if told {
                for worker in &mut self.world.workers {
                    worker.selection.forget();
                }
            }
            return Ok(());
        }
        let worker = &self.world.workers[self.dice.place(WORKERS)];
        if worker.asleep.is_some() {
            // Popped by a frozen process, so it is lost.
            return Ok(());
        }
        let actor = Actor { worker: worker.number, post };
        let (kind, cx, stage) = (self.kind, worker.cx.clone(), self.world.stage.clone());
        self.note(format!("worker {} hears of post {post}", actor.worker));
        self.maybe_cut();
        let work = async move {
            kind.work(post, cx).await;
            stage.rest();
        };
        self.world.stage.step(actor, || drop(tokio::spawn(work))).await;
        self.look(Some(actor)).await
    }

    /// Continues work that waits at a failpoint.
    pub async fn go_on(&mut self, place: usize) -> Result<(), Violation> {
        let WaitingTask { actor, place: name, .. } = self.world.stage.waiting()[place].clone();
        if name != "renewing" && self.dice.happens(self.mood.lingers) {
            let time = self.dice.between(1_000, 130_000);
            self.note(format!("post {} stays at {name} for {time} ms", actor.post));
            self.world.stage.linger(place, self.world.now() + time);
            return Ok(());
        }
        if let Some((post, fatal)) = self.mood.poison
            && actor.post == post
            && name == fatal
        {
            let workers = &self.world.workers;
            let victim = workers.iter().position(|worker| worker.number == actor.worker);
            self.kill(victim.expect("it is awake"));
            return Ok(());
        }
        self.note(format!("worker {} goes on with post {} from {name}", actor.worker, actor.post));
        self.maybe_cut();
        self.world.stage.go_on(place).await;
        self.look(Some(actor)).await
    }

    /// Decides whether the next commit loses its database connection.
    pub fn maybe_cut(&mut self) {
        let cut = self.dice.happens(self.mood.cuts).then(|| {
            if self.dice.happens(500) { Moment::BeforeCommit } else { Moment::AfterCommit }
        });
        if let Some(moment) = cut {
            self.note(format!("the next commit is cut: {moment:?}"));
        }
        self.world.stage.cut_next(cut);
    }

    /// Runs the scheduler of a worker, which enqueues due posts.
    pub async fn sweep(&mut self, place: usize) -> Result<(), Violation> {
        let worker = &mut self.world.workers[place];
        if worker.asleep.is_some() {
            return Ok(());
        }
        let (prefetch, loss) = (1 + self.dice.place(8), self.dice.happens(200));
        let domain = worker.cx.domain.clone();
        let found = worker.selection.select(&domain, self.kind.job(), prefetch, loss).await;
        let found = found.expect("the scheduler does not fail").into_iter().map(|job| job.id);
        let found: Vec<i64> = found.collect();
        let (number, now) = (worker.number, worker.clock.now());
        for post in &found {
            let due = self.judge.rows.get(post).and_then(|row| row.due_at);
            hold!(due.is_some_and(|due| due <= now), "the scheduler enqueued post {post}, not due");
        }
        self.note(format!("worker {number} schedules: {found:?}"));
        self.jobs.extend(found);
        Ok(())
    }

    pub async fn create(&mut self) -> Result<(), Violation> {
        self.maybe_cut();
        // A post whose reply was lost may exist too, so each number is used once.
        self.created += 1;
        let number = self.created;
        let said = match self.kind {
            Kind::Posts => {
                let (said, made) = callers::create(&self.world, &mut self.dice, number).await;
                self.wishes.extend(made);
                said
            }
            Kind::Replies => replies::create(&self.world, &mut self.dice, number).await,
        };
        self.note(said);
        self.world.stage.settle().await;
        self.look(Some(Actor { worker: 0, post: 0 })).await
    }

    pub async fn change(&mut self) -> Result<(), Violation> {
        self.maybe_cut();
        let number = self.dice.place(self.wishes.len());
        let mut wish = self.wishes[number].clone();
        let said = Box::pin(callers::change(&self.world, &mut self.dice, &mut wish)).await;
        self.wishes[number] = wish;
        self.judge.disconnected |= said.starts_with("disconnect");
        self.note(said);
        self.world.stage.settle().await;
        self.look(Some(Actor { worker: 0, post: 0 })).await
    }
}
