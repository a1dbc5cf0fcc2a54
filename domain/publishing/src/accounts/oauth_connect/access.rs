//! A user's access to a connect session: opening it, submitting credentials, choosing accounts, cancelling.

use fanfare_core::{
    Act, Domain, Tx,
    access::{self, Caller, Role},
    error::{Code, Error, Result},
    limits::{self, Bucket, Meter},
};
use fanfare_entities::{
    ConnectSessionId, UserId,
    connect_session::{self, ConnectStatus},
    workspace,
};
use fanfare_platforms::{
    self as platforms, ConnectSpec, CredentialField, PlatformId, Spec, oauth::Oauth,
};
use sea_orm::{ActiveValue::Set, EntityTrait};
use secrecy::SecretString;
use serde_json::{Map, Value};
use url::Url;

use super::{
    End, FINISHING_TIMEOUT, OPEN, end, end_connected,
    flow_state::{self, GrantedAccount},
    links, not_found, read, settings, step, view,
};
use crate::accounts::{
    connect::{self, store},
    sandbox,
};

/// A connect session that a user has opened and may use.
pub struct ConnectAccess {
    /// The user and the workspace.
    pub act: Act,
    /// Name of the workspace.
    pub workspace: String,
    pub(super) row: connect_session::Model,
    pub(super) platform: PlatformId,
}

/// A person at the page of a session.
#[derive(Debug, Clone, Copy)]
pub enum ConnectVisitor<'a> {
    /// A user who is logged in.
    User(UserId),
    /// The browser with this secret, in which a link was opened that needs no account.
    Guest(&'a SecretString),
}

/// The way in which an account is connected.
#[derive(Debug, Clone, Copy)]
pub enum ConnectMethod {
    /// At the network, with the permissions listed there, and the field that must be known before.
    Provider(&'static Oauth, Option<CredentialField>),
    /// With these credentials.
    Credentials(&'static [CredentialField]),
    /// On the simulated network, which needs no credentials.
    Simulated,
}

/// An account that the user can choose.
#[derive(Debug, Clone)]
pub struct AccountChoice {
    /// Its position in the list.
    pub place: usize,
    /// Its name.
    pub username: String,
    /// Its longer name.
    pub display_name: Option<String>,
}

/// The stage of a session, as the page shows it.
#[derive(Debug, Clone)]
pub enum ConnectStage {
    /// The user can continue.
    Ready(ConnectMethod),
    /// The network has answered, and the connection is being completed.
    Finishing,
    /// The network granted several accounts.
    Choose(Vec<AccountChoice>),
    /// It is connected.
    Connected,
    /// It was cancelled, or it has expired.
    Ended,
    /// The connection failed.
    Failed,
}

impl ConnectAccess {
    /// Opens a session for a person. Without an account, a person does what the user who made the link may do there.
    ///
    /// # Errors
    /// [`Code::ConnectSessionNotFound`] for users outside its workspace and for other browsers,
    /// [`Code::InsufficientWorkspacePermissions`] for users who may not connect accounts there.
    pub async fn enter(
        cx: &Domain,
        visitor: ConnectVisitor<'_>,
        request_id: &str,
        id: ConnectSessionId,
    ) -> Result<Self> {
        let user_id = match visitor {
            ConnectVisitor::User(user_id) => user_id,
            ConnectVisitor::Guest(secret) => Self::host(cx, secret, id).await?,
        };
        let caller = Caller::browser_session(user_id);
        let membership = access::membership_for_connect_session(cx, &caller, id).await?;
        membership.require(Role::Publisher)?;
        let row = read(cx, id).await?;
        if row.guest != matches!(visitor, ConnectVisitor::Guest(_)) {
            return Err(not_found());
        }
        let workspace = workspace::Entity::find_by_id(row.workspace_id).one(&cx.db.read).await?;
        let workspace = workspace.ok_or_else(not_found)?.name;
        let (cx, request_id) = (cx.clone(), request_id.to_owned());
        let platform = crate::platforms::from_row(&row.platform)?;
        let meter = Meter::default();
        let act =
            Act { cx, caller, membership, request_id, reservation: None, meter, if_match: None };
        Ok(Self { act, workspace, row, platform })
    }

    /// Returns the user who made a link that this browser has opened.
    async fn host(cx: &Domain, secret: &SecretString, id: ConnectSessionId) -> Result<UserId> {
        let row = read(cx, id).await?;
        let is_allowed = settings::read(&cx.db.write, row.workspace_id).await?.guest_links;
        let is_theirs = is_allowed && links::is_claimed_by(&row, secret);
        is_theirs.then_some(row.user_id).ok_or_else(not_found)
    }

    /// Returns true if the person needs no account of this service.
    #[must_use]
    pub fn is_guest(&self) -> bool {
        self.row.guest
    }

    /// Returns the name of the program that the person comes from.
    #[must_use]
    pub fn app(&self) -> Option<&str> {
        self.row.app_name.as_deref()
    }

    /// Returns the address that the person goes on to, if the session has ended and the program named one.
    #[must_use]
    pub fn return_address(&self) -> Option<Url> {
        links::return_address(&self.row)
    }

    /// Returns the id of the session.
    #[must_use]
    pub fn id(&self) -> ConnectSessionId {
        self.row.id
    }

    /// Returns the descriptor of its network.
    #[must_use]
    pub fn spec(&self) -> &'static Spec {
        platforms::find(self.platform).spec()
    }

    /// Returns true if it connects an account on the simulated network.
    #[must_use]
    pub fn is_sandbox(&self) -> bool {
        self.row.sandbox
    }

    /// Returns true if the user is redirected to the network without a page in between.
    #[must_use]
    pub fn starts_automatically(&self) -> bool {
        let untouched = matches!(self.row.status, ConnectStatus::Created | ConnectStatus::Opened);
        let asks_nothing = matches!(self.method(), ConnectMethod::Provider(_, None));
        self.row.auto_start && untouched && asks_nothing
    }

    /// Returns how the account is connected.
    #[must_use]
    pub fn method(&self) -> ConnectMethod {
        match &self.spec().connect {
            ConnectSpec::Oauth(oauth) => {
                // The simulated network has one address, so the user's answer is not used.
                ConnectMethod::Provider(oauth, oauth.instance.filter(|_| !self.row.sandbox))
            }
            ConnectSpec::Credentials(_) if self.row.sandbox => ConnectMethod::Simulated,
            ConnectSpec::Credentials(fields) => ConnectMethod::Credentials(fields),
        }
    }

    /// Returns the stage of the session.
    #[must_use]
    pub fn stage(&self) -> ConnectStage {
        match self.row.status {
            ConnectStatus::Connected => ConnectStage::Connected,
            ConnectStatus::Failed => ConnectStage::Failed,
            ConnectStatus::Cancelled | ConnectStatus::Expired => ConnectStage::Ended,
            _ if self.row.choices.is_some() => ConnectStage::Choose(self.choices()),
            _ if self.is_finishing() => ConnectStage::Finishing,
            _ => ConnectStage::Ready(self.method()),
        }
    }

    fn is_finishing(&self) -> bool {
        self.row.taken_at.is_some_and(|at| at + FINISHING_TIMEOUT > self.act.cx.clock.now())
    }

    fn choices(&self) -> Vec<AccountChoice> {
        let listed = self.row.choices.as_ref().and_then(Value::as_array).into_iter().flatten();
        let text = |one: &Value, name: &str| one[name].as_str().map(str::to_owned);
        listed
            .enumerate()
            .map(|(place, one)| AccountChoice {
                place,
                username: text(one, "username").unwrap_or_default(),
                display_name: text(one, "display_name"),
            })
            .collect()
    }

    /// Returns the status message that the polling caller sees, too.
    ///
    /// # Errors
    /// The database's.
    pub async fn message(&self) -> Result<String> {
        Ok(view::view(&self.act, &self.row).await?.status_message)
    }

    /// Records that the page was opened.
    ///
    /// # Errors
    /// The database's.
    pub async fn open(&mut self) -> Result<()> {
        if !matches!(self.row.status, ConnectStatus::Created | ConnectStatus::Opened) {
            return Ok(());
        }
        let next = match self.method() {
            ConnectMethod::Credentials(_) => ConnectStatus::AwaitingCredentials,
            ConnectMethod::Provider(..) | ConnectMethod::Simulated => ConnectStatus::Opened,
        };
        self.advance(connect_session::ActiveModel {
            status: Set(next),
            updated_at: Set(self.act.cx.clock.now()),
            ..Default::default()
        })
        .await
    }

    async fn advance(&mut self, change: connect_session::ActiveModel) -> Result<()> {
        step(&self.act.cx.db.write, &self.row, change).await?;
        self.row = read(&self.act.cx, self.row.id).await?;
        Ok(())
    }

    /// Cancels the session.
    ///
    /// # Errors
    /// The database's.
    pub async fn cancel(&self) -> Result<()> {
        let note = Some("The connection was cancelled in the browser.".to_owned());
        let cancelled = End { status: ConnectStatus::Cancelled, note, code: None };
        end(&self.act.cx, &self.row, cancelled).await.map(drop)
    }

    /// Connects with credentials. If they are wrong the session stays open, so that the user can correct them.
    ///
    /// # Errors
    /// The errors of a connect with credentials through the API.
    pub async fn submit(&self, given: Map<String, Value>) -> Result<()> {
        let ConnectMethod::Credentials(fields) = self.method() else {
            return Err(self.stale_page());
        };
        if !matches!(self.stage(), ConnectStage::Ready(_)) {
            return Err(self.stale_page());
        }
        limits::admit(&self.act.cx, &self.act.caller, Bucket::Connect, &self.act.meter).await?;
        let secrets = connect::parse_credentials(fields, given)?;
        let identity = connect::verify(&self.act, self.platform, false, secrets).await?;
        self.finish(vec![identity]).await
    }

    /// Creates and connects an account on the simulated network.
    ///
    /// # Errors
    /// The name is taken or invalid there.
    pub async fn simulate(&self, username: Option<&str>) -> Result<()> {
        if !matches!(
            (self.stage(), self.method()),
            (ConnectStage::Ready(_), ConnectMethod::Simulated)
        ) {
            return Err(self.stale_page());
        }
        let identity = sandbox::create_and_verify(&self.act, self.platform, username).await?;
        self.finish(vec![identity]).await
    }

    /// Connects the chosen accounts.
    ///
    /// # Errors
    /// None was chosen, or the session has ended.
    pub async fn choose(&self, places: &[usize]) -> Result<()> {
        if !matches!(self.stage(), ConnectStage::Choose(_)) {
            return Err(self.stale_page());
        }
        let reached: Option<Vec<GrantedAccount>> =
            flow_state::load(&self.act.cx, &self.row).await?;
        let reached = reached.unwrap_or_default().into_iter().enumerate();
        let chosen = reached.filter(|(place, _)| places.contains(place));
        let chosen: Vec<_> = chosen.map(|(_, one)| one.into()).collect();
        if chosen.is_empty() {
            let message = "Choose at least one account.";
            return Err(Error::field(Code::FieldRequired, "account", message, "Tick an account."));
        }
        self.finish(chosen).await
    }

    /// Connects these accounts and ends the session, in one transaction.
    pub(super) async fn finish(&self, identities: Vec<platforms::Identity>) -> Result<()> {
        let mut tx = Tx::begin(&self.act.cx).await?;
        let mut ids = Vec::with_capacity(identities.len());
        for identity in identities {
            let row = store(
                &self.act,
                &mut tx,
                (self.platform, self.row.sandbox, self.row.brand_id),
                identity,
                Some(&self.row),
            )
            .await?;
            ids.push(row.id);
        }
        if !end_connected(&self.act.cx, tx.conn(), &self.row, &ids).await? {
            return Err(self.stale_page());
        }
        tx.commit().await
    }

    /// Returns the error for a page that shows an earlier stage of the session.
    pub(super) fn stale_page(&self) -> Error {
        let status = view::status_name(self.row.status);
        let message = "This connection has moved on meanwhile. Load the page again.";
        Error::new(Code::InvalidTransition, message).with_state(status, &[])
    }

    /// Returns true if the session can still be continued.
    pub(super) fn is_open(&self) -> bool {
        OPEN.contains(&self.row.status)
    }
}
