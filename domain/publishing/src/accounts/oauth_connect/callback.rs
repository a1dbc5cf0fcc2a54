//! The callback that the network redirects to.
//!
//! One guarded update takes the code before it is exchanged, so that it is exchanged at most once, even if the callback is
//! called twice or the process is killed. A session that was interrupted can be started again.

use std::time::Duration;

use fanfare_core::{
    Domain,
    error::{Code, Error, Result},
    token,
};
use fanfare_entities::{
    ConnectSessionId,
    connect_session::{self, ConnectStatus},
};
use fanfare_platforms::{
    self as platforms, ConnectSpec, Identity, PlatformId,
    oauth::{self, AuthorizationRequest, Oauth},
};
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QuerySelect};
use serde_json::json;

use super::{
    End,
    access::{ConnectAccess, ConnectVisitor},
    authorize::redirect_uri,
    end, fail,
    flow_state::{self, FlowState, GrantedAccount},
};
use crate::accounts::{connect, session::anonymous};

/// The longest time for all calls that turn a code into accounts.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The most accounts that a user can choose from.
const MAX_ACCOUNTS: usize = 500;

/// The parameters of the callback.
#[derive(Debug, Clone, Default)]
pub struct Callback {
    /// The state that we sent.
    pub state: String,
    /// The code to exchange for tokens.
    pub code: Option<String>,
    /// The reason why there is no code.
    pub error: Option<String>,
    /// A description of the error.
    pub description: Option<String>,
}

/// Handles the callback and returns the session to show.
///
/// # Errors
/// [`Code::ConnectSessionNotFound`] for a state that is unknown, expired or another user's, or
/// [`Code::SubscriptionRequired`] while the subscription is paused.
pub async fn callback(
    cx: &Domain,
    visitor: ConnectVisitor<'_>,
    request_id: &str,
    platform: PlatformId,
    arrival: Callback,
) -> Result<ConnectSessionId> {
    let id = find(cx, platform, &arrival.state).await?;
    let access = ConnectAccess::enter(cx, visitor, request_id, id).await?;
    // Only the browser that was redirected may come back: nobody can connect another user's account as their own.
    if access.row.opened_by != Some(access.act.caller.user_id) {
        return Err(unknown_state());
    }
    if !access.is_open() || access.row.taken_at.is_some() {
        return Ok(id);
    }
    let Some(code) = arrival.code.clone().filter(|code| !code.is_empty()) else {
        end_refused(&access, &arrival).await?;
        return Ok(id);
    };
    access.act.membership.require_active()?;
    if !claim_code(&access).await? {
        return Ok(id);
    }
    cx.failpoint.reach("code_taken").await;
    // Runs in its own task: a browser that is closed now must not interrupt it.
    let finishing = tokio::spawn(async move { finish_connect(&access, &code).await });
    finishing.await.map_err(Error::internal)??;
    Ok(id)
}

fn unknown_state() -> Error {
    let message = "This sign-in link has expired or belongs to someone else.";
    Error::new(Code::ConnectSessionNotFound, message)
}

async fn find(cx: &Domain, platform: PlatformId, state: &str) -> Result<ConnectSessionId> {
    connect_session::Entity::find()
        .select_only()
        .column(connect_session::Column::Id)
        .filter(connect_session::Column::StateHash.eq(token::hash(state)))
        .filter(connect_session::Column::Platform.eq(platform.as_str()))
        .into_tuple()
        .one(&cx.db.write)
        .await?
        .ok_or_else(unknown_state)
}

/// Ends the session because the user or the network refused access.
async fn end_refused(access: &ConnectAccess, arrival: &Callback) -> Result<()> {
    let (cx, row, label) = (&access.act.cx, &access.row, access.spec().label);
    let word = arrival.error.as_deref().unwrap_or_default();
    let declined =
        ["access_denied", "user_cancelled_login", "user_cancelled_authorize", "user_denied"];
    if declined.contains(&word) {
        let note = Some(format!("Access was not granted at {label}."));
        end(cx, row, End { status: ConnectStatus::Cancelled, note, code: None }).await?;
        return Ok(());
    }
    let said = arrival.description.as_deref().unwrap_or(word);
    let said: String = said.chars().filter(|letter| !letter.is_control()).take(200).collect();
    let message = if said.is_empty() {
        format!("{label} sent no answer that can be used.")
    } else {
        format!("{label} says: {said}")
    };
    fail(cx, row, &Error::new(Code::InvalidCredentials, message)).await
}

/// Claims the code. Returns true for one caller only.
async fn claim_code(access: &ConnectAccess) -> Result<bool> {
    let (cx, row) = (&access.act.cx, &access.row);
    let now = cx.clock.now();
    let change = connect_session::ActiveModel {
        taken_at: Set(Some(now)),
        updated_at: Set(now),
        ..Default::default()
    };
    let taken = connect_session::Entity::update_many()
        .set(change)
        .filter(connect_session::Column::Id.eq(row.id))
        .filter(connect_session::Column::Status.eq(ConnectStatus::AwaitingProvider))
        .filter(connect_session::Column::StateHash.eq(row.state_hash.clone()))
        .filter(connect_session::Column::TakenAt.is_null())
        .exec(&cx.db.write)
        .await?;
    Ok(taken.rows_affected == 1)
}

/// Exchanges the code, and connects the account or lets the user choose.
async fn finish_connect(access: &ConnectAccess, code: &str) -> Result<()> {
    let outcome = match tokio::time::timeout(TIMEOUT, exchange_code(access, code)).await {
        Ok(outcome) => outcome,
        Err(_) => Err(connect::connect_error(
            access.platform,
            connect::timed_out(access.platform, TIMEOUT),
        )),
    };
    let settled = match outcome {
        Ok(identities) if identities.len() == 1 => access.finish(identities).await,
        Ok(identities) => store_choices(access, &identities).await,
        Err(error) => Err(error),
    };
    match settled {
        Ok(()) => Ok(()),
        // The page shows the session with this error.
        Err(error) => fail(&access.act.cx, &access.row, &error).await,
    }
}

/// Exchanges the code and returns the accounts that it grants access to.
async fn exchange_code(access: &ConnectAccess, code: &str) -> Result<Vec<Identity>> {
    let (cx, platform) = (&access.act.cx, access.platform);
    let ConnectSpec::Oauth(oauth) = access.spec().connect else { return Err(unknown_state()) };
    let flow_state: Option<FlowState> = flow_state::load(cx, &access.row).await?;
    let flow_state = flow_state.ok_or_else(unknown_state)?;
    let workspace = access.row.workspace_id;
    let mut session =
        anonymous(cx, workspace, platform, access.is_sandbox(), flow_state.secrets())?;
    let redirect_uri = redirect_uri(cx, platform);
    let leave = AuthorizationRequest {
        redirect_uri: &redirect_uri,
        state: &flow_state.state,
        verifier: &flow_state.verifier,
    };
    let refusal = |error| connect::connect_error(platform, error);
    session.secrets =
        oauth::exchange_code(&oauth, &session, code, &leave).await.map_err(refusal)?;
    cx.failpoint.reach("code_exchanged").await;
    require_granted(&oauth, &session.secrets, access.spec().label)?;
    let identities = platforms::find(platform).identities(&session).await.map_err(refusal)?;
    if identities.is_empty() {
        let message = format!(
            "{} granted access, but to no account that can be posted to.",
            access.spec().label
        );
        return Err(Error::new(Code::InvalidCredentials, message));
    }
    Ok(identities.into_iter().take(MAX_ACCOUNTS).collect())
}

/// Fails if the user deselected permissions at the network that are needed later.
fn require_granted(oauth: &Oauth, secrets: &platforms::Secrets, label: &str) -> Result<()> {
    let missing = oauth::missing_permissions(oauth, secrets);
    if missing.is_empty() {
        return Ok(());
    }
    let what: Vec<_> = missing.iter().map(|permission| permission.doc.to_lowercase()).collect();
    let message = format!("At {label} it was not allowed to {}.", what.join(", or to "));
    Err(Error::new(Code::InvalidCredentials, message))
}

/// Stores the granted accounts until the user has chosen.
async fn store_choices(access: &ConnectAccess, identities: &[Identity]) -> Result<()> {
    let (cx, row) = (&access.act.cx, &access.row);
    let listed = identities
        .iter()
        .map(|one| json!({"username": one.username, "display_name": one.display_name}));
    let reached: Vec<GrantedAccount> = identities.iter().map(GrantedAccount::from).collect();
    let tx = cx.db.begin().await?;
    let secret = flow_state::store(cx, &tx, &reached).await?;
    let change = connect_session::ActiveModel {
        secret_id: Set(Some(secret)),
        choices: Set(Some(json!(listed.collect::<Vec<_>>()))),
        updated_at: Set(cx.clock.now()),
        ..Default::default()
    };
    if super::step(&tx, row, change).await? {
        if let Some(old) = row.secret_id {
            cx.vault.delete(&tx, old).await?;
        }
        tx.commit().await?;
    }
    Ok(())
}
