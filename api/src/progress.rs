//! Reports the progress of a call while it runs.

use tokio::sync::watch;

/// The stage of a call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stage {
    /// The work under way, in a few words.
    pub description: String,
    /// The longest time that the caller asked to wait, in seconds.
    pub max_seconds: Option<u32>,
}

/// The sending half of a progress channel; without a receiver it does nothing.
#[derive(Debug, Clone, Default)]
pub struct Progress(Option<watch::Sender<Stage>>);

impl Progress {
    /// Returns both halves of a progress channel.
    #[must_use]
    pub fn channel() -> (Self, watch::Receiver<Stage>) {
        let (sender, receiver) = watch::channel(Stage::default());
        (Self(Some(sender)), receiver)
    }

    /// Reports that a call has begun or reached a stage. The first report means that the caller is authorized.
    pub fn report(&self, what: &str, most: Option<u32>) {
        if let Some(sender) = &self.0 {
            let stage = Stage { description: what.to_owned(), max_seconds: most };
            sender.send_if_modified(|before| {
                let is_new = *before != stage;
                *before = stage;
                is_new
            });
        }
    }
}
