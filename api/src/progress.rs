//! The progress of a call, for a caller who listens while it runs.

use tokio::sync::watch;

/// The stage of a call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stage {
    /// The work under way, in a few words.
    pub what: String,
    /// The longest time that the caller asked it to take, in seconds.
    pub most: Option<u32>,
}

/// Tells of the stages of a call; tells nobody where nobody listens.
#[derive(Debug, Clone, Default)]
pub struct Progress(Option<watch::Sender<Stage>>);

impl Progress {
    /// Makes a pair for a caller who listens.
    #[must_use]
    pub fn heard() -> (Self, watch::Receiver<Stage>) {
        let (sender, receiver) = watch::channel(Stage::default());
        (Self(Some(sender)), receiver)
    }

    /// Tells that a call has begun or reached a stage. Before the first stage its caller has not been let in.
    pub fn at(&self, what: &str, most: Option<u32>) {
        if let Some(sender) = &self.0 {
            let stage = Stage { what: what.to_owned(), most };
            sender.send_if_modified(|before| {
                let is_new = *before != stage;
                *before = stage;
                is_new
            });
        }
    }
}
