//! Checks the effects of a step, and adds them to the trace.

use fanfare_entities::Millis;

use crate::{
    driver::Simulation,
    judge::{Cause, Violation},
    lockstep::Actor,
    rows,
    world::SKEW,
};

impl Simulation {
    /// Collects the jobs that were enqueued.
    pub fn hear(&mut self, actor: Option<Actor>) -> Result<(), Violation> {
        let now = self.world.now() + SKEW;
        for post in self.world.queue.take_local(self.kind.job(), 64) {
            self.trace.push(format!("  post {post} is enqueued"));
            if actor.is_some() {
                self.judge.check_job(post, now)?;
            }
            self.jobs.push(post);
        }
        Ok(())
    }

    /// Checks what a step has changed.
    pub async fn look(&mut self, actor: Option<Actor>) -> Result<(), Violation> {
        self.world.stage.cut_next(None);
        let now = actor.map_or(self.world.now(), |actor| self.time_of(actor.worker));
        let rows = rows::of(self.kind, &self.world.db).await;
        let network = self.world.network.clone();
        let mut network = network.lock();
        let changes = self.judge.check_rows(rows, Cause { actor, now }, &network.calls)?;
        self.trace.extend(changes.into_iter().map(|change| format!("  {change}")));
        let seen = self.calls_seen;
        for call in network.calls.iter_mut().filter(|call| call.number > seen) {
            self.calls_seen = call.number;
            let what = (&call.ask, call.actor);
            self.trace.push(format!("  call {} of {:?}: {:?}", call.number, what.1, what.0));
            self.judge.check_call(call, now)?;
            call.shielded = self.judge.shield_of(call, now);
            if self.dice.happens(self.mood.slow) {
                call.ready += self.dice.between(1_000, call.deadline);
            }
        }
        self.judge.check_public(&network.entries)?;
        drop(network);
        self.hear(actor)
    }

    pub fn time_of(&self, number: usize) -> Millis {
        let found = self.world.workers.iter().find(|worker| worker.number == number);
        found.map_or(self.world.now(), |worker| worker.clock.now())
    }
}
