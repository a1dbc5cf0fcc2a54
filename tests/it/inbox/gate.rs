//! A place in a second process at which work waits until the story lets it go on.

use std::sync::Arc;

use async_trait::async_trait;
use fanfare_core::failpoint::{Failpoint, Hook};
use fanfare_tests::{TestApp, User};
use tokio::sync::Semaphore;

/// Stops whatever reaches one place, until it is let go.
#[derive(Debug)]
pub struct Gate {
    place: &'static str,
    reached: Semaphore,
    open: Semaphore,
}

impl Gate {
    /// Returns a gate at this place, and a caller of a process that stops there.
    pub async fn at(app: &TestApp, user: &User, place: &'static str) -> (Arc<Self>, User) {
        let (gate, hook) = Self::hook(place);
        let origin = app.instance_of(app.other_process_at(hook).await).await;
        (gate, User::new(&origin, user.key.clone()))
    }

    /// Returns a gate at this place, and what makes a process stop there.
    pub fn hook(place: &'static str) -> (Arc<Self>, Failpoint) {
        let (reached, open) = (Semaphore::new(0), Semaphore::new(0));
        let gate = Arc::new(Self { place, reached, open });
        let hook = Failpoint::with_hook(Arc::clone(&gate) as Arc<dyn Hook>);
        (gate, hook)
    }

    /// Waits until something stands at the gate.
    pub async fn is_reached(&self) {
        self.reached.acquire().await.unwrap().forget();
    }

    /// Lets one go on.
    pub fn let_go(&self) {
        self.open.add_permits(1);
    }
}

#[async_trait]
impl Hook for Gate {
    async fn reach(&self, name: &str) {
        if name == self.place {
            self.reached.add_permits(1);
            self.open.acquire().await.unwrap().forget();
        }
    }
}
