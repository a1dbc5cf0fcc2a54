//! Moderates the feedback board.

use fanfare_core::{
    Domain, Tx,
    error::{Code, Error, Result},
};
use fanfare_entities::{FeedbackId, feedback::FeedbackStatus};

use super::Preview;
use crate::feedback;

/// A decision on a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moderation {
    /// The message.
    pub id: FeedbackId,
    /// Its new status.
    pub status: FeedbackStatus,
    /// True if it is hidden from the board.
    pub hidden: bool,
}

impl Moderation {
    /// Creates a decision from a status as forms and commands write it.
    ///
    /// # Errors
    /// [`Code::InvalidField`] for an unknown status.
    pub fn new(id: FeedbackId, status: &str, hidden: bool) -> Result<Self> {
        let status = feedback::status_named(status).ok_or_else(|| {
            let remedy = "Choose open, planned, started, done or declined.";
            Error::field(Code::InvalidField, "status", "There is no such status.", remedy)
        })?;
        Ok(Self { id, status, hidden })
    }
}

pub(super) async fn preview(cx: &Domain, moderation: &Moderation) -> Result<Preview> {
    let item = feedback::find_any(&cx.db.read, moderation.id).await?;
    let place = if moderation.hidden {
        "Nobody but operators sees it any more."
    } else {
        "It stands on the public board."
    };
    let status = feedback::status_name(moderation.status);
    Ok(Preview {
        question: format!("Change the message “{}”?", item.title),
        consequences: vec![format!("It is shown as {status}."), place.to_owned()],
        rows: Vec::new(),
    })
}

pub(super) async fn carry_out(tx: &Tx, moderation: &Moderation) -> Result<String> {
    feedback::moderate(tx, moderation.id, moderation.status, moderation.hidden).await?;
    let place = if moderation.hidden { "off the board" } else { "on the board" };
    Ok(format!("The message is {} and {place}.", feedback::status_name(moderation.status)))
}
