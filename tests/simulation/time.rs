//! Advances time.

use fanfare_entities::Millis;

use crate::{
    driver::Simulation,
    judge::Violation,
    lockstep::WaitingTask,
    network::{Call, nothing_heard},
};

/// The longest step of time during a call, in ms.
const STRETCH: Millis = 5_000;

impl Simulation {
    /// Advances time, in steps between which leases are renewed.
    pub async fn pass(&mut self, by: Millis) -> Result<(), Violation> {
        let until = self.world.now() + by;
        loop {
            let now = self.world.now();
            if now >= until {
                return Ok(());
            }
            let next = {
                let network = self.world.network.lock();
                let ends = network.calls.iter().map(|call| call.started + call.deadline);
                let end = ends.filter(|end| *end > now).min();
                let stretch = if network.calls.is_empty() { by } else { STRETCH };
                until.min(now + stretch).min(end.unwrap_or(until))
            };
            self.world.tick(next - now);
            self.world.stage.settle().await;
            self.note(format!("{} ms pass", next - now));
            // A due lease is renewed first: until then its worker gets no replies.
            self.renew().await?;
            self.expire().await?;
            self.hear(None)?;
        }
    }

    /// Renews the leases of all workers that are not stopped.
    pub async fn renew(&mut self) -> Result<(), Violation> {
        loop {
            let waiting = self.world.stage.waiting();
            let due =
                |held: &WaitingTask| held.place == "renewing" && self.is_awake(held.actor.worker);
            let Some(place) = waiting.iter().position(due) else { return Ok(()) };
            self.go_on(place).await?;
        }
    }

    /// Gives up calls past their deadline, carried out or not.
    pub async fn expire(&mut self) -> Result<(), Violation> {
        loop {
            let now = self.world.now();
            let found = {
                let network = self.world.network.lock();
                let over = |call: &&Call| {
                    now >= call.started + call.deadline
                        && (!call.decided || call.go.is_none() || self.is_awake(call.actor.worker))
                };
                network.calls.iter().find(over).map(|call| call.number)
            };
            let Some(number) = found else { return Ok(()) };
            self.give_up(number).await?;
        }
    }

    pub async fn give_up(&mut self, number: u64) -> Result<(), Violation> {
        let heard = {
            let mut network = self.world.network.lock();
            let place = network.calls.iter().position(|call| call.number == number);
            let place = place.expect("a call under way");
            if !network.calls[place].decided {
                let carried_out = self.dice.happens(500);
                self.trace.push(format!("  call {number} ends, carried out: {carried_out}"));
                if carried_out {
                    let _ = network.carry_out(place);
                }
            }
            let call = &mut network.calls[place];
            call.decided = true;
            call.answer = Some(nothing_heard());
            let (actor, key) = (call.actor, call.key);
            let awake = call.go.is_some() && self.is_awake(actor.worker);
            if call.go.is_none() {
                network.calls.remove(place);
                None
            } else if awake {
                let mut call = network.calls.remove(place);
                self.judge.note_fault(key, "trouble");
                call.go.take().map(|go| (actor, go))
            } else {
                None
            }
        };
        let Some((actor, go)) = heard else { return self.look(None).await };
        self.note(format!("worker {} gives call {number} up", actor.worker));
        self.world.stage.step(actor, || drop(go.send(nothing_heard()))).await;
        self.look(Some(actor)).await
    }
}
