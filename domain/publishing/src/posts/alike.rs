//! Items of one batch with nearly the same text for one account: which of them is warned of.

use std::{collections::BTreeSet, sync::Arc};

use fanfare_core::{Reply, input};
use fanfare_entities::{AccountId, Millis};
use fanfare_platforms::{Warning, WarningCode};
use serde::Deserialize;

use super::{
    forecast::{COMPARED_SPAN, are_similar, compared_words},
    write::NewPostRow,
};

/// A text of a batch.
pub(super) struct BatchText {
    account: AccountId,
    words: BTreeSet<String>,
    at: Millis,
}

impl BatchText {
    /// Returns the text of a post that can be written.
    pub fn of_row(row: &Arc<NewPostRow>) -> Option<Self> {
        let row = &row.row;
        Self::new(row.account_id, &row.caption, row.scheduled_at.unwrap_or(row.created_at))
    }

    /// Returns the text of a post that was only checked, from its reply; a post without a time is due `now`.
    pub fn of_checked(reply: &Reply, now: Millis) -> Option<Self> {
        #[derive(Deserialize)]
        struct Parts {
            post: Checked,
        }
        #[derive(Deserialize)]
        struct Checked {
            account_id: i64,
            caption: String,
            scheduled_at: Option<String>,
        }
        if reply.status != 200 || reply.replayed {
            return None;
        }
        let Parts { post } = serde_json::from_str(reply.body()).ok()?;
        let at = post.scheduled_at.and_then(|at| input::time("scheduled_at", &at, None).ok());
        Self::new(AccountId(post.account_id), &post.caption, at.unwrap_or(now))
    }

    fn new(account: AccountId, caption: &str, at: Millis) -> Option<Self> {
        let words = compared_words(caption);
        (!words.is_empty()).then_some(Self { account, words, at })
    }

    fn resembles(&self, other: &Self) -> bool {
        self.account == other.account
            && (self.at - other.at).abs() <= COMPARED_SPAN
            && are_similar(&self.words, &other.words)
    }
}

/// Returns for each item the warning that an earlier one resembles it.
pub(super) fn warnings(texts: &[Option<BatchText>]) -> Vec<Option<Warning>> {
    let earlier = |place: usize, text: &BatchText| {
        texts[..place].iter().position(|other| other.as_ref().is_some_and(|it| it.resembles(text)))
    };
    let all = texts.iter().enumerate();
    all.map(|(place, text)| earlier(place, text.as_ref()?).map(warning)).collect()
}

fn warning(earlier: usize) -> Warning {
    let message = format!(
        "Item {earlier} of this batch has nearly the same text for this account, within seven days of this one."
    );
    Warning::new(WarningCode::SimilarPost, "caption", message).with("items", [earlier])
}
