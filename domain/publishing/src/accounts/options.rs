//! The ways to connect each platform.

use fanfare_core::{
    Act, Reply,
    error::{Code, Error, Result},
};
use fanfare_entities::account;
use fanfare_platforms::{self as platforms, ConnectSpec, PLANNED, Planned, PlatformId, Spec};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Account,
    oauth_connect::{Method, method, redirect_uri, start_page},
    visible,
};

/// The most accounts that are listed for a platform.
const MAX_LISTED: usize = 100;

/// The ways to connect a platform.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ConnectOptions {
    /// Identifier of the platform.
    pub platform: &'static str,
    /// Name for people.
    pub label: &'static str,
    /// The way in which its accounts are connected.
    pub method: ConnectOptionMethod,
    /// The page on which a user starts.
    pub connection_url: Option<String>,
    /// Always null: `POST /connect/{platform}/sessions` makes the address.
    pub oauth_url: Option<String>,
    /// True if a user has to connect in a browser.
    pub requires_browser_session: bool,
    /// True if the operator has registered an app with the platform, or it needs none.
    pub configured: bool,
    /// The number of accounts that are connected.
    pub connected_count: usize,
    /// The permissions that the app asks for.
    pub scopes: Vec<&'static str>,
    /// The settings that the operator has to make.
    pub missing_environment: Vec<String>,
    /// The first hundred of these accounts; `GET /accounts` lists all.
    pub accounts: Vec<Account>,
    /// The address to which the platform redirects the user after the consent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub callback_url: Option<String>,
    /// The credentials that connect an account.
    #[serde(flatten)]
    pub direct: Option<DirectCredentials>,
}

/// The credentials that connect an account without a browser.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DirectCredentials {
    /// The required fields.
    credential_fields: Vec<&'static str>,
    /// The optional fields.
    optional_credential_fields: Vec<&'static str>,
    /// Always true.
    supports_direct_credentials: bool,
    /// The endpoint they are sent to.
    credentials_endpoint: String,
}

/// The ways to connect a platform.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConnectOptionMethod {
    /// A user connects in a browser, at the platform.
    DashboardOauth,
    /// The account is connected with credentials.
    ManualCredentials,
    /// Announced, and cannot be connected yet.
    Planned,
}

/// The ways to connect each platform.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct ConnectOptionsList {
    connect: Vec<ConnectOptions>,
}

/// The ways to connect one platform.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct OneConnectOptions {
    connect: ConnectOptions,
}

/// Lists how each platform is connected.
///
/// # Errors
/// The database's.
pub async fn list_options(act: &Act) -> Result<Reply<ConnectOptionsList>> {
    Ok(Reply::ok(&ConnectOptionsList { connect: all_options(act).await? }))
}

/// Returns the connect options of all platforms.
///
/// # Errors
/// The database's.
pub async fn all_options(act: &Act) -> Result<Vec<ConnectOptions>> {
    let accounts = visible(act).all(&act.cx.db.read).await?;
    let known = platforms::all().iter();
    let known = known.map(|platform| ConnectOptions::of(act, platform.spec(), &accounts));
    Ok(known.chain(PLANNED.iter().map(ConnectOptions::planned)).collect())
}

/// Shows how one platform is connected, or that it is planned.
///
/// # Errors
/// [`Code::PlatformNotFound`].
pub async fn show_options(act: &Act, name: &str) -> Result<Reply<OneConnectOptions>> {
    let announced = PLANNED.iter().find(|planned| planned.id == name);
    let connect = match announced {
        Some(announced) => ConnectOptions::planned(announced),
        None => {
            let unknown = |error| Error::new(Code::PlatformNotFound, format!("{error}"));
            platform_options(act, name.parse().map_err(unknown)?).await?
        }
    };
    Ok(Reply::ok(&OneConnectOptions { connect }))
}

/// Returns the connect options of one platform.
///
/// # Errors
/// The database's.
pub async fn platform_options(act: &Act, platform: PlatformId) -> Result<ConnectOptions> {
    let accounts = visible(act).all(&act.cx.db.read).await?;
    Ok(ConnectOptions::of(act, platforms::find(platform).spec(), &accounts))
}

impl ConnectOptions {
    fn planned(planned: &Planned) -> Self {
        Self {
            platform: planned.id,
            label: planned.label,
            method: ConnectOptionMethod::Planned,
            connection_url: None,
            oauth_url: None,
            requires_browser_session: true,
            configured: false,
            connected_count: 0,
            scopes: Vec::new(),
            missing_environment: Vec::new(),
            accounts: Vec::new(),
            callback_url: None,
            direct: None,
        }
    }

    fn of(act: &Act, spec: &Spec, accounts: &[account::Model]) -> Self {
        let platform = spec.id.as_str();
        let base_url = &act.cx.settings.base_url;
        let own = || accounts.iter().filter(|row| row.platform == platform);
        let configured =
            !spec.connect.needs_app() || crate::settings(&act.cx).apps.contains_key(&spec.id);
        let missing = || spec.id.app_variables().to_vec();
        let options = Self {
            platform,
            label: spec.label,
            method: method(&spec.connect).into(),
            connection_url: Some(start_page(base_url, spec.id)),
            connected_count: own().count(),
            accounts: own().take(MAX_LISTED).map(|row| Account::of(&act.cx, row)).collect(),
            configured,
            ..Self::planned(&Planned { id: platform, label: spec.label })
        };
        match spec.connect {
            ConnectSpec::Credentials(fields) => {
                let named = |required| {
                    let some = fields.iter().filter(move |field| field.required == required);
                    some.map(|field| field.name).collect()
                };
                let direct = DirectCredentials {
                    credential_fields: named(true),
                    optional_credential_fields: named(false),
                    supports_direct_credentials: true,
                    credentials_endpoint: format!(
                        "{base_url}/api/v1/connect/{platform}/credentials"
                    ),
                };
                Self { requires_browser_session: false, direct: Some(direct), ..options }
            }
            ConnectSpec::Oauth(oauth) => Self {
                scopes: oauth.permissions().map(|one| one.name).collect(),
                missing_environment: if configured { Vec::new() } else { missing() },
                callback_url: Some(redirect_uri(&act.cx, spec.id)),
                ..options
            },
        }
    }
}

impl From<Method> for ConnectOptionMethod {
    fn from(method: Method) -> Self {
        match method {
            Method::DashboardOauth => Self::DashboardOauth,
            Method::ManualCredentials => Self::ManualCredentials,
        }
    }
}
