//! Redirects to the network's authorization page and stores the flow state for the callback.

use std::{collections::BTreeMap, time::Duration};

use fanfare_core::{
    Domain,
    error::{Code, Error, Result},
};
use fanfare_entities::{
    connect_session::{self, ConnectStatus},
    registered_app,
};
use fanfare_platforms::{
    self as platforms, ConnectSpec, PlatformId, Session,
    oauth::{self, App, AuthorizationRequest, CLIENT_ID, CLIENT_SECRET, INSTANCE, Oauth},
};
use sea_orm::{ActiveValue::Set, EntityTrait, sea_query::OnConflict};
use secrecy::ExposeSecret;
use url::Url;

use super::{
    access::{ConnectAccess, ConnectStage},
    flow_state::{self, FlowState},
    links::GUEST_STATE,
    read, step,
};
use crate::accounts::{connect, sandbox_control, session::anonymous};

/// The longest wait for a server to register our app.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Name of the table of registered apps, to which secrets are bound.
const APPS: &str = "registered_apps";

impl ConnectAccess {
    /// Starts the authorization and returns the network's address to redirect to. A second redirect of the same user
    /// reuses the flow state, so that both tabs can come back. A colleague who continues the session gets a new one:
    /// only the user who was redirected can come back.
    ///
    /// # Errors
    /// The network's server cannot be reached, or the session has ended.
    pub async fn authorize(&mut self, instance: Option<&str>) -> Result<Url> {
        let ConnectSpec::Oauth(oauth) = self.spec().connect else { return Err(self.stale_page()) };
        if !matches!(self.stage(), ConnectStage::Ready(_)) {
            return Err(self.stale_page());
        }
        let redirect_uri = redirect_uri(&self.act.cx, self.platform);
        if self.row.sandbox {
            sandbox_control::prepare_consent(&self.act, self.platform, &redirect_uri).await?;
        }
        let known: Option<FlowState> = flow_state::load(&self.act.cx, &self.row).await?;
        let asked = self.user_answers(&oauth, instance)?;
        let own = self.row.opened_by == Some(self.act.caller.user_id);
        let unused = known.filter(|_| own && self.row.taken_at.is_none());
        let flow_state =
            match unused.filter(|known| asked.iter().all(|pair| has_answer(known, pair))) {
                Some(known) => known,
                None => self.start_flow(&oauth, asked).await?,
            };
        let mut session = self.session(&flow_state)?;
        if self.row.sandbox {
            session.base = Some(sandbox_control::pages(&self.act, self.platform)?);
        }
        let leave = AuthorizationRequest {
            redirect_uri: &redirect_uri,
            state: &flow_state.state,
            verifier: &flow_state.verifier,
        };
        oauth::authorize_url(&oauth, &session, &leave)
            .map_err(|error| connect::connect_error(self.platform, error))
    }

    /// Returns the answers that the user gave before authorizing.
    fn user_answers(
        &self,
        oauth: &Oauth,
        instance: Option<&str>,
    ) -> Result<BTreeMap<String, String>> {
        let Some(field) = oauth.instance else { return Ok(BTreeMap::new()) };
        if self.row.sandbox {
            let server = sandbox_control::network(&self.act, self.platform)?;
            return Ok(BTreeMap::from([(INSTANCE.to_owned(), server.into())]));
        }
        let given = instance.map(str::trim).filter(|given| !given.is_empty());
        let given = given.ok_or_else(|| {
            let message = format!("{} has many servers; name the account's.", self.spec().label);
            Error::field(Code::FieldRequired, INSTANCE, message, field.doc)
        })?;
        Ok(BTreeMap::from([(INSTANCE.to_owned(), given.to_owned())]))
    }

    /// Creates a new flow state, with our app on the account's own server where one is needed.
    async fn start_flow(
        &mut self,
        oauth: &Oauth,
        asked: BTreeMap<String, String>,
    ) -> Result<FlowState> {
        let mut flow_state = FlowState::new(asked);
        if self.row.guest {
            flow_state.state.insert_str(0, GUEST_STATE);
        }
        if oauth.instance.is_some()
            && let Some(app) = self.app_on_server(&flow_state).await?
        {
            flow_state.answers.insert(CLIENT_ID.to_owned(), app.client_id);
            let secret = app.client_secret.expose_secret().to_owned();
            flow_state.answers.insert(CLIENT_SECRET.to_owned(), secret);
        }
        let cx = &self.act.cx;
        let tx = cx.db.begin().await?;
        let secret = flow_state::store(cx, &tx, &flow_state).await?;
        let change = connect_session::ActiveModel {
            status: Set(ConnectStatus::AwaitingProvider),
            opened_by: Set(Some(self.act.caller.user_id)),
            state_hash: Set(Some(flow_state.state_hash())),
            secret_id: Set(Some(secret)),
            taken_at: Set(None),
            updated_at: Set(cx.clock.now()),
            ..Default::default()
        };
        if !step(&tx, &self.row, change).await? {
            return Err(self.stale_page());
        }
        if let Some(old) = self.row.secret_id {
            cx.vault.delete(&tx, old).await?;
        }
        tx.commit().await?;
        self.row = read(&self.act.cx, self.row.id).await?;
        Ok(flow_state)
    }

    /// Returns our app on the account's own server. Registers a new one if none is known.
    async fn app_on_server(&self, flow_state: &FlowState) -> Result<Option<App>> {
        let (cx, session) = (&self.act.cx, self.session(flow_state)?);
        let named = flow_state.answers.get(INSTANCE).map_or("sandbox", String::as_str);
        let server = session.base.as_ref().map_or(named, Url::as_str).to_lowercase();
        let redirect_uri = redirect_uri(cx, self.platform);
        let key = (self.platform.as_str().to_owned(), server, redirect_uri);
        let known = registered_app::Entity::find_by_id(key.clone()).one(&cx.db.read).await?;
        if let Some(known) = known
            && let Some(plain) = cx.vault.open(&cx.db.read, APPS, known.secret_id).await?
        {
            let (client_id, secret): (String, String) =
                serde_json::from_slice(&plain).map_err(Error::internal)?;
            return Ok(Some(App { client_id, client_secret: secret.into() }));
        }
        let Some(servers) = platforms::find(self.platform).app_registration() else {
            return Ok(None);
        };
        let asked = tokio::time::timeout(TIMEOUT, servers.register(&session, &key.2)).await;
        let answer = asked.unwrap_or_else(|_| Err(connect::timed_out(self.platform, TIMEOUT)));
        let app = answer.map_err(|error| connect::connect_error(self.platform, error))?;
        store_app(cx, key, &app).await?;
        Ok(Some(app))
    }

    fn session(&self, flow_state: &FlowState) -> Result<Session> {
        let workspace = self.row.workspace_id;
        anonymous(&self.act.cx, workspace, self.platform, self.row.sandbox, flow_state.secrets())
    }
}

fn has_answer(flow_state: &FlowState, (name, value): (&String, &String)) -> bool {
    flow_state.answers.get(name) == Some(value)
}

/// Returns the redirect URI, which the operator registers with each network.
pub(in crate::accounts) fn redirect_uri(cx: &Domain, platform: PlatformId) -> String {
    format!("{}/connect/{platform}/callback", cx.settings.base_url)
}

async fn store_app(cx: &Domain, key: (String, String, String), app: &App) -> Result<()> {
    let pair = (app.client_id.as_str(), app.client_secret.expose_secret());
    let plain = serde_json::to_vec(&pair).map_err(Error::internal)?;
    let (now, tx) = (cx.clock.now(), cx.db.begin().await?);
    let secret_id = cx.vault.store(&tx, APPS, &plain, now).await?;
    let row = registered_app::ActiveModel {
        platform: Set(key.0),
        server: Set(key.1),
        redirect_uri: Set(key.2),
        secret_id: Set(secret_id),
        created_at: Set(now),
    };
    // Two users at once register two apps; both work, and the later one is kept.
    let again = OnConflict::columns([
        registered_app::Column::Platform,
        registered_app::Column::Server,
        registered_app::Column::RedirectUri,
    ])
    .update_columns([registered_app::Column::SecretId, registered_app::Column::CreatedAt])
    .to_owned();
    registered_app::Entity::insert(row).on_conflict(again).exec_without_returning(&tx).await?;
    Ok(tx.commit().await?)
}
