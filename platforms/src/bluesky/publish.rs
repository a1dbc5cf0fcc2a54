//! The steps of a post.

use serde_json::Value;

use super::{
    CHAIN_KEY, IMAGE_BYTES_MAX, card,
    client::Pds,
    quote, record,
    settings::Settings,
    state::{NextStep, State, StrongRef},
    texts, tid, video,
};
use crate::{
    Draft, Error, ErrorKind, Likeness, Progress, PublishedPart, PublishedPost, ReconcileOutcome,
    Result, Session, Step, Warning, WarningCode, outcome::read_state, text::likeness,
};

/// The largest body of `applyWrites` that we send, in bytes; servers take a million.
const BODY_MAX: usize = 950_000;

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
        NextStep::VideoLimits => return video::check_limits(session, &pds, draft, state).await,
        NextStep::Video => return video::upload(session, &pds, draft, state).await,
        NextStep::VideoJob(job, since) => {
            return video::look(session, &pds, state, (&job, since)).await;
        }
        NextStep::Captions(index) => {
            let file = video::upload_captions(&pds, draft, index).await?;
            remote_id = file.pointer("/ref/$link").and_then(Value::as_str).map(str::to_owned);
            state.captions.push(file);
        }
        NextStep::Card(place, uri) => state.set_card(place, card::read(session, &uri).await),
        NextStep::CardImage(place) => card::upload(session, &pds, &mut state, place).await?,
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

/// Publishes the post, or a whole chain. If the first record already exists, an earlier call created all of them.
async fn create(
    session: &Session,
    pds: &Pds<'_>,
    draft: &Draft,
    settings: &Settings,
    state: &State,
) -> Result<Progress> {
    let did = &session.account.remote_id;
    let chain = record::chain(did, draft, settings, state)?;
    let size: usize = chain.writes.iter().map(|write| write.to_string().len()).sum();
    if size > BODY_MAX {
        return Err(too_large(size));
    }
    match pds.apply(&chain.writes).await {
        Ok(cids) => {
            let warnings = [state.warnings.clone(), mismatches(&chain.posts, &cids)].concat();
            Ok(Progress::Done(published(session, draft)).with_warnings(warnings))
        }
        // Most servers respond to a taken key with a plain 500, so the record is looked up.
        Err(error) if may_exist(&error) => match pds.text(did, &tid::from_key(draft.key)).await {
            Ok(Some(text)) if is_text_of(draft, &text) => Ok(done(session, draft, state)),
            Ok(Some(_)) => Err(key_taken()),
            Ok(None) if error.kind != ErrorKind::Server => Err(error.nothing_done()),
            Ok(None) | Err(_) => Err(error),
        },
        Err(error) => Err(error),
    }
}

/// Returns a warning if the server calls a post of a chain by another name than the reply to it.
fn mismatches(posts: &[StrongRef], cids: &[Option<String>]) -> Vec<Warning> {
    let differs = |(post, cid): (&StrongRef, &Option<String>)| {
        !post.cid.is_empty() && cid.as_ref().is_some_and(|cid| *cid != post.cid)
    };
    if !posts.iter().zip(cids).any(differs) {
        return Vec::new();
    }
    let message = "The server names a post of the chain otherwise than the reply to it does, so apps may not show \
                   the posts as one chain.";
    let field = format!("metadata.{CHAIN_KEY}");
    vec![Warning::new(WarningCode::ChainReferenceMismatch, field, message)]
}

fn too_large(size: usize) -> Error {
    Error::rejected(format!(
        "The chain is {size} bytes with its links; Bluesky takes {BODY_MAX} at once."
    ))
    .with_remedy("Make two chains of it, or shorten the texts.")
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
            ReconcileOutcome::Committed(done(session, draft, &state))
        }
        // Another post has the key, so ours was not created; the next attempt reports that.
        Some(_) | None => ReconcileOutcome::NotCommitted,
    })
}

/// Returns true if this is the text of the first post.
fn is_text_of(draft: &Draft, text: &str) -> bool {
    let first = texts(draft).into_iter().next().unwrap_or_default();
    text == first || likeness(&first, text) == Likeness::Same
}

fn done(session: &Session, draft: &Draft, state: &State) -> Progress {
    Progress::Done(published(session, draft)).with_warnings(state.warnings.clone())
}

fn published(session: &Session, draft: &Draft) -> PublishedPost {
    let account = &session.account;
    let name = if account.username.is_empty() { &account.remote_id } else { &account.username };
    let address = |part| {
        let key = tid::nth(draft.key, part);
        session.public_url("https://bsky.app", &format!("/profile/{name}/post/{key}"))
    };
    let parts = (1..).take(texts(draft).len().saturating_sub(1)).map(|part| PublishedPart {
        name: format!("segment_{}", part + 1),
        id: record::uri(&account.remote_id, draft, part),
        url: address(part),
    });
    PublishedPost {
        id: record::uri(&account.remote_id, draft, 0),
        url: address(0),
        parts: parts.collect(),
        ..PublishedPost::default()
    }
}
