//! Consent, codes and tokens.

use std::collections::{HashMap, HashSet};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::access::{self, ACCESS_MS, PREFIX, REFRESH_MS};
use super::{Google, failure};
use crate::consent_page::{self, Consent};
use crate::network::Cx;
use crate::params::Params;
use crate::reply::{HandlerResult, Reply};

/// The time for which a code is valid, in milliseconds.
const CODE_MS: i64 = 10 * 60_000;

/// The codes and tokens in an account's state.
#[derive(Default)]
pub(crate) struct Logins {
    pub tokens: HashMap<String, Token>,
    pub codes: HashMap<String, Code>,
    /// Revoked tokens; an empty one stands for the initial tokens.
    dead: HashSet<String>,
    /// True if a fault has expired all access tokens.
    pub expired: bool,
}

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Token {
    pub expires_ms: i64,
    pub scope: String,
    pub refresh: bool,
}

/// An authorization code that was not exchanged yet.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Code {
    client_id: String,
    redirect_uri: String,
    scope: String,
    challenge: Option<String>,
    /// True if a refresh token was requested.
    offline: bool,
    expires_ms: i64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Change {
    Code {
        code: String,
        consent: Code,
    },
    /// Tokens were issued; this consumes a code, but not a refresh token.
    Tokens {
        spent: String,
        tokens: Vec<(String, Token)>,
    },
    /// The authorization was revoked.
    Revoked,
    Expired(bool),
    /// The person let the app in again: the first tokens are valid.
    Revived,
}

impl Logins {
    pub fn apply(&mut self, change: Change) {
        match change {
            Change::Code { code, consent } => drop(self.codes.insert(code, consent)),
            Change::Tokens { spent, tokens } => {
                self.codes.remove(&spent);
                self.expired = false;
                self.tokens.extend(tokens);
            }
            Change::Revoked => {
                self.dead.extend(self.tokens.drain().map(|(token, _)| token));
                self.dead.insert(String::new());
            }
            Change::Expired(expired) => self.expired = expired,
            Change::Revived => {
                self.expired = false;
                self.dead.clear();
            }
        }
    }

    /// Returns true if a token is no longer valid.
    pub fn is_dead(&self, token: &str) -> bool {
        self.dead.contains(token) || (self.dead.contains("") && !self.tokens.contains_key(token))
    }
}

/// `GET /o/oauth2/v2/auth`
pub(crate) fn authorize<N: Google>(cx: &Cx<N>) -> HandlerResult {
    let wrong = |what: String| failure::oauth("invalid_request", &format!("{what} is not valid"));
    let query = |name: &str| cx.call.query_value(name).filter(|value| !value.is_empty());
    let challenge = query("code_challenge");
    if challenge.is_some() && query("code_challenge_method").as_deref() != Some("S256") {
        return Err(wrong("code_challenge_method".to_owned()));
    }
    let given = match consent_page::read_request(cx, "client_id").map_err(wrong)? {
        Consent::Pending(page) => return Ok(page),
        Consent::Denied(mut back) => {
            back.query_pairs_mut().append_pair("error", "access_denied");
            return Ok(consent_page::redirect_to(&back));
        }
        Consent::Granted(given) => given,
    };
    let is_known =
        |scope: &str| scope.strip_prefix(PREFIX).is_some_and(|scope| N::SCOPES.contains(&scope));
    if let Some(unknown) = given.scope.split(' ').find(|scope| !is_known(scope)) {
        return Err(failure::oauth("invalid_scope", &format!("{unknown} is no scope")));
    }
    let consent = Code {
        client_id: query("client_id").unwrap_or_default(),
        redirect_uri: given.redirect_uri,
        scope: given.scope.clone(),
        challenge,
        offline: query("access_type").as_deref() == Some("offline"),
        expires_ms: cx.now_ms() + CODE_MS,
    };
    let code = access::new_token("4/0A", &given.account.identity.remote_id);
    cx.sim.apply(&given.account, N::login(Change::Code { code: code.clone(), consent }));
    let mut back = given.redirect_url;
    back.query_pairs_mut().append_pair("code", &code).append_pair("scope", &given.scope);
    Ok(consent_page::redirect_to(&back))
}

/// `POST /token`: tokens for a code, or an access token for a refresh token.
pub(crate) fn token<N: Google>(cx: &Cx<N>) -> HandlerResult {
    let params = Params::read(&cx.call)
        .map_err(|_| failure::oauth("invalid_request", "The body cannot be read."))?;
    for name in ["client_id", "client_secret"] {
        if params.filled(name).is_none() {
            return Err(failure::oauth("invalid_client", "The OAuth client was not found."));
        }
    }
    match params.filled("grant_type").as_deref() {
        Some("authorization_code") => exchange(cx, &params),
        Some("refresh_token") => refresh(cx, &params),
        _ => Err(failure::oauth("unsupported_grant_type", "Invalid grant_type.")),
    }
}

fn invalid_grant() -> Reply {
    failure::oauth("invalid_grant", "Token has been expired or revoked.")
}

fn exchange<N: Google>(cx: &Cx<N>, params: &Params) -> HandlerResult {
    let code = params.filled("code").ok_or_else(invalid_grant)?;
    let account = access::owner(&cx.sim, &code).ok_or_else(invalid_grant)?;
    let proof = params.filled("code_verifier");
    let proof = proof.map(|text| URL_SAFE_NO_PAD.encode(Sha256::digest(text.as_bytes())));
    let now_ms = cx.now_ms();
    let id = &account.identity.remote_id;
    let (token, refresh) = (access::new_token("ya29", id), access::new_token("1//03", id));
    let (scope, offline) = cx.sim.change(&account, |state| {
        let is_good = |consent: &&Code| {
            consent.expires_ms > now_ms
                && params.filled("client_id").as_ref() == Some(&consent.client_id)
                && params.filled("redirect_uri").as_ref() == Some(&consent.redirect_uri)
                && (consent.challenge.is_none() || proof == consent.challenge)
        };
        let consent =
            N::logins(state).codes.get(&code).filter(is_good).ok_or_else(invalid_grant)?;
        let scope = consent.scope.clone();
        let life = |ms, refresh| Token { expires_ms: now_ms + ms, scope: scope.clone(), refresh };
        let mut tokens = vec![(token.clone(), life(ACCESS_MS, false))];
        if consent.offline {
            tokens.push((refresh.clone(), life(REFRESH_MS, true)));
        }
        let change = Change::Tokens { spent: code.clone(), tokens };
        Ok((N::login(change), (scope.clone(), consent.offline)))
    })?;
    let mut body = token_response(&token, &scope);
    if offline {
        body["refresh_token"] = json!(refresh);
    }
    Ok(Reply::ok(&body))
}

/// Refreshes an access token. The refresh token stays the same, and is valid as long as it is used.
fn refresh<N: Google>(cx: &Cx<N>, params: &Params) -> HandlerResult {
    let refresh = params.filled("refresh_token").ok_or_else(invalid_grant)?;
    let account = access::owner(&cx.sim, &refresh).ok_or_else(invalid_grant)?;
    let now_ms = cx.now_ms();
    let token = access::new_token("ya29", &account.identity.remote_id);
    let scope = cx.sim.change(&account, |state| {
        let found = access::find_token::<N>(&account.identity, N::logins(state), &refresh);
        let found = found.filter(|found| found.refresh && found.expires_ms > now_ms);
        let scope = found.ok_or_else(invalid_grant)?.scope;
        let life = |ms, refresh| Token { expires_ms: now_ms + ms, scope: scope.clone(), refresh };
        let tokens = vec![
            (token.clone(), life(ACCESS_MS, false)),
            (refresh.clone(), life(REFRESH_MS, true)),
        ];
        Ok((N::login(Change::Tokens { spent: String::new(), tokens }), scope))
    })?;
    Ok(Reply::ok(&token_response(&token, &scope)))
}

fn token_response(token: &str, scope: &str) -> Value {
    json!({
        "access_token": token,
        "expires_in": ACCESS_MS / 1_000,
        "scope": scope,
        "token_type": "Bearer",
    })
}

/// `POST /revoke`: accepts either token, and revokes the whole authorization.
pub(crate) fn revoke<N: Google>(cx: &Cx<N>) -> HandlerResult {
    let refused = || failure::oauth("invalid_token", "Token expired or revoked");
    let token = Params::read(&cx.call).ok().and_then(|params| params.filled("token"));
    let token = token.ok_or_else(refused)?;
    let account = access::owner(&cx.sim, &token).ok_or_else(refused)?;
    let known =
        |state: &N::State| access::find_token::<N>(&account.identity, N::logins(state), &token);
    account.read(known).ok_or_else(refused)?;
    cx.sim.apply(&account, N::login(Change::Revoked));
    Ok(Reply::ok(&json!({})))
}
