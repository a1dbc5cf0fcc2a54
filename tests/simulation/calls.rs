//! Decides the outcomes of calls to networks.

use crate::{
    driver::Simulation,
    fate::Fate,
    judge::{self, Violation},
    network::nothing_heard,
};

impl Simulation {
    /// Answers a waiting call in some way.
    pub async fn answer(&mut self, number: u64) -> Result<(), Violation> {
        let (actor, answer, go) = {
            let mut network = self.world.network.lock();
            let place = network.calls.iter().position(|call| call.number == number);
            let place = place.expect("a call under way");
            let call = &mut network.calls[place];
            let (actor, key) = (call.actor, call.key);
            let mut fate = Fate::random(&mut self.dice, self.mood.faults, &call.ask);
            let away = self.mood.outage.map(|place| &self.world.accounts[place].remote_id);
            if away == Some(&call.account) {
                fate = Fate::NotSent;
            }
            let (answer, open) = match call.answer.take() {
                Some(known) if fate == Fate::Answered => (known, false),
                Some(_) => (nothing_heard(), false),
                None => fate.apply(&mut network, place, &mut self.dice),
            };
            if let Err(error) = &answer {
                self.judge.note_fault(key, judge::fault_name(error.kind));
            }
            let call = &mut network.calls[place];
            let go = call.go.take().expect("somebody waits");
            self.trace
                .push(format!("  call {number} {:?} for post {}: {fate:?}", call.ask, actor.post));
            if !open {
                network.calls.remove(place);
            }
            (actor, answer, go)
        };
        self.maybe_cut();
        self.world.stage.step(actor, || drop(go.send(answer))).await;
        self.look(Some(actor)).await
    }

    /// Has a network carry out a call, without a reply yet.
    pub async fn carry_out(&mut self, number: u64) -> Result<(), Violation> {
        {
            let mut network = self.world.network.lock();
            let place = network.calls.iter().position(|call| call.number == number);
            let place = place.expect("a call under way");
            if network.calls[place].decided {
                return Ok(());
            }
            let answer = network.carry_out(place);
            network.calls[place].answer = Some(answer);
        }
        self.note(format!("call {number} is carried out"));
        self.look(None).await
    }
}
