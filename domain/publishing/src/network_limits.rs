//! The limits of networks on calls that change something. Posts and other changes of all processes share their windows.

use std::time::Duration;

use fanfare_entities::account;
use fanfare_limits::{Rate, Subject};
use fanfare_platforms::{ConnectSpec, LimitScope, Platform, RateLimit, Session};

/// Added to the span of each limit: a network counts a call when it arrives, and calls take different times to get
/// there.
const SLACK: Duration = Duration::from_millis(200);

/// The names of an account and its app in the rate limits. When a network asks to wait, one of them is blocked.
pub struct LimitNames {
    /// The account.
    pub account: String,
    /// Its app.
    pub app: String,
}

impl LimitNames {
    /// Returns the names of an account and its app.
    #[must_use]
    pub fn of(platform: &dyn Platform, account: &account::Model, session: &Session) -> Self {
        Self { account: account_name(account), app: app_name(platform, account, session) }
    }

    /// Returns what a call counts against: the account, the app that all accounts share, and what these limits say. One
    /// of them without a limit may still be blocked.
    pub fn subjects<'a>(
        &self,
        platform: &dyn Platform,
        account: &account::Model,
        limits: impl Iterator<Item = &'a RateLimit>,
    ) -> Vec<Subject> {
        let mut subjects = vec![Subject { name: self.account.clone(), rates: Vec::new() }];
        let has_app = matches!(platform.spec().connect, ConnectSpec::Oauth(_));
        if has_app || platform.blocks_addresses() {
            subjects.push(Subject { name: self.app.clone(), rates: Vec::new() });
        }
        for limit in limits {
            let mut name = match limit.scope {
                LimitScope::Account => self.account.clone(),
                LimitScope::Workspace => {
                    format!("workspace:{}:{}", network_name(account), account.workspace_id)
                }
                LimitScope::App => self.app.clone(),
            };
            if !limit.post_types.is_empty() {
                name = format!("{name}:{}", limit.post_types.join("+"));
            }
            let rate = Rate { limit: limit.calls, span: limit.period + SLACK };
            match subjects.iter_mut().find(|subject| subject.name == name) {
                Some(subject) => subject.rates.push(rate),
                None => subjects.push(Subject { name, rates: vec![rate] }),
            }
        }
        subjects
    }
}

/// Returns the name of an account in the rate limits: the network's own account, which several workspaces may have
/// connected.
#[must_use]
pub fn account_name(account: &account::Model) -> String {
    format!("account:{}:{}", network_name(account), account.remote_id)
}

/// Returns the name of an account's app in the rate limits.
fn app_name(platform: &dyn Platform, account: &account::Model, session: &Session) -> String {
    let app = platform.app(&session.account);
    format!("app:{}:{}", network_name(account), app.as_deref().unwrap_or("own"))
}

/// Returns the name of the network; a simulated network is counted separately.
fn network_name(account: &account::Model) -> String {
    if account.sandbox { format!("{}:sandbox", account.platform) } else { account.platform.clone() }
}
