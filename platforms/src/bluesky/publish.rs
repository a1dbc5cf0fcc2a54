//! The steps of a post.

use serde_json::Value;

use super::{
    IMAGE_BYTES_MAX, card,
    client::Pds,
    quote,
    record::{self, POSTS},
    settings::Settings,
    state::{NextStep, State},
    tid,
};
use crate::{
    Draft, Error, ErrorKind, Likeness, Progress, PublishedPost, ReconcileOutcome, Result, Session,
    Step, outcome::read_state, text::likeness,
};

/// Returns the step of the next call. If the settings are invalid, that call fails before it sends anything.
pub fn step(draft: &Draft, state: Option<&Value>) -> Step {
    let settings = draft.settings::<Settings>().unwrap_or_default();
    read_state::<State>(state).unwrap_or_default().next(draft, &settings).step()
}

/// Makes the next call.
pub async fn publish(session: &Session, draft: &Draft, state: Option<Value>) -> Result<Progress> {
    let settings: Settings = draft.settings()?;
    let mut state: State = read_state(state.as_ref())?;
    let pds = Pds::of_account(session);
    let mut remote_id = None;
    match state.next(draft, &settings) {
        NextStep::Image(index) => {
            let blob = upload_image(&pds, draft, index).await?;
            remote_id = blob.pointer("/ref/$link").and_then(Value::as_str).map(str::to_owned);
            state.images.push(blob);
        }
        NextStep::Card(uri) => state.card = Some(card::read(session, &uri).await),
        NextStep::CardImage => card::upload(session, &pds, &mut state).await?,
        NextStep::Mentions(handles) => {
            for handle in handles {
                let did = pds.resolve_handle(&handle).await?;
                state.mentions.insert(handle, did);
            }
        }
        NextStep::Quote(url) => state.quote = Some(quote::resolve(&pds, &url).await?),
        NextStep::Create => return create(session, &pds, draft, &settings, &state).await,
    }
    Progress::continue_with(&state).map(|progress| progress.with_remote_id(remote_id))
}

async fn upload_image(pds: &Pds<'_>, draft: &Draft, index: usize) -> Result<Value> {
    let missing = || Error::media_rejected("An image of the post is missing.");
    let media = draft.media.get(index).ok_or_else(missing)?;
    let (size, file) = media.stream(IMAGE_BYTES_MAX).await?;
    pds.upload_file(&media.mime, size, file).await
}

/// Publishes the post. If the record already exists, an earlier call created it.
async fn create(
    session: &Session,
    pds: &Pds<'_>,
    draft: &Draft,
    settings: &Settings,
    state: &State,
) -> Result<Progress> {
    let key = tid::from_key(draft.key);
    let did = &session.account.remote_id;
    let writes = record::writes(did, &key, draft, settings, state);
    match pds.apply(&writes).await {
        Ok(()) => Ok(done(session, &key, state)),
        // Most servers respond to a taken key with a plain 500, and a refusal may come after the record was written, so
        // the record is looked up. A server shows its own records at once.
        Err(error) if may_exist(&error) => match pds.text(did, &key).await {
            Ok(Some(text)) if is_text_of(draft, &text) => Ok(done(session, &key, state)),
            Ok(Some(_)) => Err(key_taken()),
            Ok(None) if error.kind != ErrorKind::Server => Err(error.nothing_done()),
            Ok(None) | Err(_) => Err(error),
        },
        Err(error) => Err(error),
    }
}

/// Returns the error when another post has the key: the chance is 2^-20 for posts that other processes create in the
/// same millisecond.
fn key_taken() -> Error {
    Error::rejected("Another post of the account has the record key of this one.")
        .with_remedy("Change the post, which gives it a new key, then schedule it again.")
}

/// Returns true if an existing record may have caused this error.
fn may_exist(error: &Error) -> bool {
    let by_kind = matches!(error.kind, ErrorKind::Server | ErrorKind::Rejected);
    error.reply.is_some() && (by_kind || error.leaves_open())
}

/// Looks up the record by its key.
pub async fn reconcile(
    session: &Session,
    draft: &Draft,
    state: Option<&Value>,
) -> Result<ReconcileOutcome> {
    let key = tid::from_key(draft.key);
    // Only the record matters here; if the stored state is unreadable, only the warnings are lost.
    let state: State = read_state(state).unwrap_or_default();
    let found = Pds::of_account(session).text(&session.account.remote_id, &key).await?;
    Ok(match found {
        Some(text) if is_text_of(draft, &text) => {
            ReconcileOutcome::Committed(done(session, &key, &state))
        }
        // Another post has the key, so ours was not created; the next attempt reports that.
        Some(_) | None => ReconcileOutcome::NotCommitted,
    })
}

fn is_text_of(draft: &Draft, text: &str) -> bool {
    text == draft.caption || likeness(&draft.caption, text) == Likeness::Same
}

fn done(session: &Session, key: &str, state: &State) -> Progress {
    Progress::Done(published(session, key)).with_warnings(state.warnings.clone())
}

fn published(session: &Session, key: &str) -> PublishedPost {
    let account = &session.account;
    let name = if account.username.is_empty() { &account.remote_id } else { &account.username };
    let url = session.public_url("https://bsky.app", &format!("/profile/{name}/post/{key}"));
    PublishedPost {
        id: format!("at://{}/{POSTS}/{key}", account.remote_id),
        url,
        parts: Vec::new(),
        warnings: Vec::new(),
    }
}
