//! Consent, codes and tokens of a user who manages pages.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Graph, access, failure};
use crate::consent_page;
use crate::network::Cx;
use crate::params::Params;
use crate::random::{self, BASE62};
use crate::reply::{HandlerResult, Reply};

/// The time for which a code is valid, in milliseconds.
const CODE_MS: i64 = 10 * 60_000;
/// The lifetimes of a short-lived token and of the long-lived one it is exchanged for.
const SHORT_MS: i64 = 3_600_000;
const LONG_MS: i64 = 60 * 86_400_000;

/// The codes and tokens in an account's state.
#[derive(Default)]
pub(crate) struct Logins {
    pub codes: HashMap<String, Consent>,
    pub tokens: HashMap<String, PersonToken>,
    /// True if a fault has expired the page's token.
    pub expired: bool,
    /// True if the user removed the app's access.
    pub revoked: bool,
}

/// An authorization code that was not exchanged yet.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Consent {
    pub redirect_uri: String,
    pub expires_ms: i64,
    pub granted: Granted,
}

/// The permissions that a user granted to an app.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Granted {
    /// The accounts whose pages were selected.
    pub accounts: Vec<String>,
    pub scopes: Vec<String>,
    pub declined: Vec<String>,
}

/// A user token.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct PersonToken {
    pub expires_ms: i64,
    pub granted: Granted,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Change {
    Code {
        code: String,
        consent: Consent,
    },
    /// A code was exchanged for a token.
    Exchanged {
        code: String,
        token: String,
        life: PersonToken,
    },
    Token {
        token: String,
        life: PersonToken,
    },
    /// The user authorized the app for this page again.
    Granted,
    Expired(bool),
    Revoked,
}

impl Logins {
    pub fn apply(&mut self, change: Change) {
        match change {
            Change::Code { code, consent } => drop(self.codes.insert(code, consent)),
            Change::Exchanged { code, token, life } => {
                self.codes.remove(&code);
                self.tokens.insert(token, life);
            }
            Change::Token { token, life } => drop(self.tokens.insert(token, life)),
            Change::Granted => (self.expired, self.revoked) = (false, false),
            Change::Expired(expired) => self.expired = expired,
            Change::Revoked => {
                self.revoked = true;
                self.tokens.clear();
            }
        }
    }
}

/// `GET /dialog/oauth`: lets the user select pages, then redirects to the client with a code.
pub(crate) fn authorize<N: Graph>(cx: &Cx<N>) -> HandlerResult {
    let query = |name: &str| cx.call.query_value(name).filter(|value| !value.is_empty());
    let required = |name: &str| {
        let message = format!("The parameter {name} is required");
        query(name).ok_or_else(|| failure::graph(400, 100, 0, &message))
    };
    required("client_id")?;
    let redirect_uri = required("redirect_uri")?;
    let mut back = consent_page::allowed_redirect(cx, &redirect_uri)
        .ok_or_else(|| failure::graph(400, 191, 0, "Can't load URL: the app does not list it."))?;
    if let Some(state) = query("state") {
        back.query_pairs_mut().append_pair("state", &state);
    }
    let Some(chosen) = query("account") else {
        return Ok(consent_page::account_chooser(cx, &[("all", "All of them")]));
    };
    let accounts: Vec<String> = match chosen.as_str() {
        "all" => cx.sim.all().iter().map(|one| one.identity.remote_id.clone()).collect(),
        id => vec![id.to_owned()],
    };
    let Some(first) = accounts.first().and_then(|id| cx.sim.account(id)) else {
        back.query_pairs_mut()
            .append_pair("error", "access_denied")
            .append_pair("error_code", "200")
            .append_pair("error_description", "Permissions error")
            .append_pair("error_reason", "user_denied");
        return Ok(Reply::empty(302).with("location", back));
    };
    let list = |name: &str| -> Vec<String> {
        let names = query(name).unwrap_or_default();
        names.split([',', ' ']).filter(|name| !name.is_empty()).map(str::to_owned).collect()
    };
    // A user may decline permissions that an app requests.
    let declined = list("declined");
    let scopes: Vec<String> =
        list("scope").into_iter().filter(|name| !declined.contains(name)).collect();
    for account in accounts.iter().filter_map(|id| cx.sim.account(id)) {
        account.permit(&scopes.join(","));
    }
    let code = format!("AQ{}.{}", first.identity.remote_id, random::text(BASE62, 60));
    let granted = Granted { accounts, scopes, declined };
    let consent = Consent { redirect_uri, expires_ms: cx.now_ms() + CODE_MS, granted };
    cx.sim.apply(&first, N::login(Change::Code { code: code.clone(), consent }));
    back.query_pairs_mut().append_pair("code", &code);
    // Facebook's redirects end like this.
    Ok(Reply::empty(302).with("location", format!("{back}#_=_")))
}

/// `/oauth/access_token`: exchanges a code for a token of an hour, or that for one of 60 days.
pub(crate) fn token<N: Graph>(cx: &Cx<N>) -> HandlerResult {
    let params = Params::read(&cx.call)
        .map_err(|_| failure::graph(400, 100, 0, "(#100) The body cannot be read"))?;
    let required = |name: &str, code: u32| {
        let message = format!("Missing {name} parameter.");
        params.filled(name).ok_or_else(|| failure::graph(400, code, 0, &message))
    };
    required("client_id", 101)?;
    required("client_secret", 1)?;
    if params.filled("grant_type").as_deref() == Some("fb_exchange_token") {
        return long_lived_token(cx, &required("fb_exchange_token", 1)?);
    }
    let (code, redirect_uri) = (required("code", 1)?, required("redirect_uri", 191)?);
    let refused = |subcode: u32, message: &str| failure::graph(400, 100, subcode, message);
    let used = || refused(36_009, "This authorization code has been used.");
    let account = access::of_code(&cx.sim, &code).ok_or_else(used)?;
    let now_ms = cx.now_ms();
    let token = access::person_token(&account.identity.remote_id);
    let accounts = cx.sim.change(&account, |state| {
        let consent = N::logins(state).codes.get(&code).ok_or_else(used)?;
        if consent.expires_ms <= now_ms {
            return Err(refused(36_007, "This authorization code has expired."));
        }
        if consent.redirect_uri != redirect_uri {
            return Err(refused(
                36_008,
                "Error validating verification code. Please make sure your redirect_uri is identical to the one you used in the OAuth dialog request",
            ));
        }
        let granted = consent.granted.clone();
        let accounts = granted.accounts.clone();
        let life = PersonToken { expires_ms: now_ms + SHORT_MS, granted };
        let token = token.clone();
        Ok((N::login(Change::Exchanged { code: code.clone(), token, life }), accounts))
    })?;
    for account in accounts.iter().filter_map(|id| cx.sim.account(id)) {
        cx.sim.apply(&account, N::login(Change::Granted));
    }
    Ok(issued(&token, SHORT_MS))
}

fn long_lived_token<N: Graph>(cx: &Cx<N>, short: &str) -> HandlerResult {
    let (account, life) = access::person_of(cx, short)?;
    let token = access::person_token(&account.identity.remote_id);
    let life = PersonToken { expires_ms: cx.now_ms() + LONG_MS, granted: life.granted };
    cx.sim.apply(&account, N::login(Change::Token { token: token.clone(), life }));
    Ok(issued(&token, LONG_MS))
}

fn issued(token: &str, life_ms: i64) -> Reply {
    Reply::ok(
        &json!({"access_token": token, "token_type": "bearer", "expires_in": life_ms / 1_000}),
    )
}
