//! Writes new posts that must not repeat another post of their account (`duplicates: refuse`).
//!
//! They are compared in the transaction that writes them, with the account locked, so that of equal posts only the first is
//! written, whichever process the others come to.

use std::sync::Arc;

use fanfare_core::{
    Reply, Tx,
    error::{Error, Result},
};

use super::{
    duplicates::{self, Place, Print},
    view::CreatedPost,
    write::{self, NewPostRow},
};

/// The comparison that a post has to pass when it is written.
#[derive(Debug, Clone)]
pub struct Once {
    /// Where and when it goes out.
    pub place: Place,
    /// The parts of it that are compared.
    pub print: Print,
}

/// The answer to one request.
type Answer = Result<Reply<CreatedPost>>;

/// Writes posts of one account. An error says that nothing was written.
///
/// # Errors
/// The database's, or that of one post; then each is to be tried alone.
pub(super) async fn write(news: Vec<Arc<NewPostRow>>) -> Result<Vec<Answer>> {
    let mut answers: Vec<Option<Answer>> = news.iter().map(|_| None).collect();
    let tx = write::begin(&news).await?;
    let chosen = choose(&tx, &news, &mut answers).await?;
    if !chosen.is_empty() {
        let rows: Vec<_> = chosen.iter().map(|place| Arc::clone(&news[*place])).collect();
        let written = write::commit(write::prepare(tx, &rows, "").await?).await;
        for (place, answer) in chosen.iter().zip(written) {
            answers[*place] = Some(answer);
        }
    }
    let mut all = Vec::with_capacity(news.len());
    for (new, answer) in news.iter().zip(answers) {
        all.push(match answer {
            Some(answer) => answer,
            // It repeats one of those that were written just now, unless writing that failed.
            None => write_alone(Arc::clone(new)).await,
        });
    }
    Ok(all)
}

/// Returns the places of the posts that can be written together: they repeat neither a stored post nor each other. Those that
/// repeat a stored one are answered.
async fn choose(
    tx: &Tx,
    news: &[Arc<NewPostRow>],
    answers: &mut [Option<Answer>],
) -> Result<Vec<usize>> {
    if let Some(first) = news.first() {
        duplicates::lock_account(tx.conn(), first.row.account_id).await?;
    }
    let mut chosen: Vec<usize> = Vec::new();
    for (place, new) in news.iter().enumerate() {
        let once = guarded(new)?;
        let similar = duplicates::find(tx.conn(), &once.place, &once.print).await?;
        if let Err(refused) = duplicates::refuse(&similar) {
            answers[place] = Some(Err(refused));
            continue;
        }
        let mut repeats = false;
        for earlier in &chosen {
            repeats |= once.resembles(guarded(&news[*earlier])?);
        }
        if !repeats {
            chosen.push(place);
        }
    }
    Ok(chosen)
}

async fn write_alone(new: Arc<NewPostRow>) -> Answer {
    let news = [new];
    let tx = write::begin(&news).await?;
    let mut answers = [None];
    if choose(&tx, &news, &mut answers).await?.is_empty() {
        let [answer] = answers;
        return answer.unwrap_or_else(|| Err(Error::internal("a new post had no answer")));
    }
    let mut written = write::commit(write::prepare(tx, &news, "").await?).await;
    written.pop().unwrap_or_else(|| Err(Error::internal("a new post had no answer")))
}

fn guarded(new: &NewPostRow) -> Result<&Once> {
    new.once.as_ref().ok_or_else(|| Error::internal("a post without a guard is not written here"))
}

impl Once {
    fn resembles(&self, other: &Self) -> bool {
        (self.place.at - other.place.at).abs() <= duplicates::COMPARED_SPAN
            && self.print.compare(&other.print).is_some()
    }
}
