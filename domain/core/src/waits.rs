//! How many requests without a key wait at the same time, for each address.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use crate::error::{Code, Error, Result};

/// The most requests of one address that wait at the same time.
const MOST: usize = 20;

/// Counts the waiting requests of this process.
#[derive(Debug, Default)]
pub struct Waits(Arc<Mutex<HashMap<String, usize>>>);

/// A request that waits; dropped when it ends.
#[derive(Debug)]
pub struct Waiting {
    waits: Arc<Mutex<HashMap<String, usize>>>,
    address: String,
}

impl Waits {
    /// Counts a request from this address until what is returned is dropped.
    ///
    /// # Errors
    /// [`Code::RateLimited`] if too many wait already.
    pub fn enter(&self, address: &str) -> Result<Waiting> {
        let mut waits = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = waits.entry(address.to_owned()).or_default();
        if *count >= MOST {
            let message = format!("{MOST} requests of this address wait already.");
            return Err(Error::new(Code::RateLimited, message).with_retry_after(1));
        }
        *count += 1;
        Ok(Waiting { waits: self.0.clone(), address: address.to_owned() })
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut waits = self.waits.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = waits.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                waits.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_wait_as_may_and_whoever_ends_makes_room() {
        let waits = Waits::default();
        let mut held: Vec<_> = (0..MOST).map(|_| waits.enter("a").unwrap()).collect();
        assert_eq!(waits.enter("a").unwrap_err().code(), Code::RateLimited);
        let _other = waits.enter("b").unwrap();
        held.pop();
        held.push(waits.enter("a").unwrap());
        drop(held);
        assert_eq!(waits.0.lock().unwrap().len(), 1, "nothing is kept of who has gone");
    }
}
