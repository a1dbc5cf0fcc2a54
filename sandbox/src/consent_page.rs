//! The consent page, on which a user authorizes an app for an account, and the authorization codes that it issues.
//!
//! Codes follow RFC 6749 with PKCE (RFC 7636) and can be used once. Networks with different codes use only the page,
//! and every network issues its own tokens.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex};

use crate::env::lock;
use crate::network::{Cx, Network};
use crate::page;
use crate::params::Params;
use crate::random::{self, BASE62};
use crate::reply::{HandlerResult, Reply};
use crate::sim::Account;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use url::Url;
use url::form_urlencoded::Serializer;

/// The user's decision, or the page that asks for it.
pub(crate) enum Consent<N: Network> {
    /// No decision yet: show this page.
    Pending(Reply),
    /// The user declined, or the account does not exist: redirect here, with the network's own error.
    Denied(Url),
    /// The user authorized the app.
    Granted(Grant<N>),
}

/// An authorization that the user gave.
pub(crate) struct Grant<N: Network> {
    pub account: Arc<Account<N>>,
    /// The address to redirect to; it already contains the state, but not the code.
    pub redirect_url: Url,
    pub redirect_uri: String,
    pub scope: String,
}

/// Parses an authorization request. `id_name` is the network's parameter for the app's id. `Err` names the invalid
/// parameter.
pub(crate) fn read_request<N: Network>(
    cx: &Cx<N>,
    id_name: &'static str,
) -> Result<Consent<N>, String> {
    let query = |name: &str| cx.call.query_value(name).filter(|value| !value.is_empty());
    let required = |name: &'static str| query(name).ok_or_else(|| name.to_owned());
    required(id_name)?;
    let redirect_uri = required("redirect_uri")?;
    let mut back = allowed_redirect(cx, &redirect_uri).ok_or("redirect_uri")?;
    if required("response_type")? != "code" {
        return Err("response_type".to_owned());
    }
    let scope = required("scope")?;
    if let Some(state) = query("state") {
        back.query_pairs_mut().append_pair("state", &state);
    }
    let Some(chosen) = query("account") else {
        return Ok(Consent::Pending(account_chooser(cx, &[])));
    };
    Ok(match cx.sim.account(&chosen) {
        Some(account) => {
            account.permit(&scope);
            Consent::Granted(Grant { account, redirect_url: back, redirect_uri, scope })
        }
        None => Consent::Denied(back),
    })
}

/// Returns the page with all accounts to choose from, the additional choices in `more`, and a way to decline.
pub(crate) fn account_chooser<N: Network>(cx: &Cx<N>, more: &[(&str, &str)]) -> Reply {
    let mut list = String::from("<ul>");
    let mut add = |id: &str, name: &str| {
        let pairs = cx.call.query_pairs().chain([("account".to_owned(), id.to_owned())]);
        let query = Serializer::new(String::new()).extend_pairs(pairs).finish();
        let link = page::escape(&format!("{}/{}?{query}", cx.sim.pages(), cx.call.path));
        let _ = write!(list, "<li><a href=\"{link}\">{}</a></li>", page::escape(name));
    };
    for account in cx.sim.all() {
        add(&account.identity.remote_id, &account.identity.username);
    }
    for (id, name) in more.iter().chain(&[("none", "Cancel")]) {
        add(id, name);
    }
    list.push_str("</ul>");
    let asks = format!("An application asks to post on simulated {}.", N::NAME);
    page::page(200, "Continue as", &asks, &list)
}

/// Returns the redirect address, if it is registered for an app.
pub(crate) fn allowed_redirect<N: Network>(cx: &Cx<N>, redirect_uri: &str) -> Option<Url> {
    let known = cx.sim.env.may_redirect(redirect_uri);
    Url::parse(redirect_uri).ok().filter(|_| known)
}

/// Returns a redirect.
pub(crate) fn redirect_to(to: &Url) -> Reply {
    Reply::empty(302).with("location", to)
}

/// The time for which a code is valid, in milliseconds.
const CODE_MS: i64 = 600_000;

/// Issued codes that were not exchanged yet. They are not journalled, so they do not survive a restart.
#[derive(Default)]
pub(crate) struct Codes(Mutex<HashMap<String, Code>>);

struct Code {
    remote_id: String,
    client_id: String,
    redirect_uri: String,
    challenge: Option<String>,
    expires_ms: i64,
}

/// `GET` of the authorization page: lets the user choose an account or decline, then redirects to the client. `refuse`
/// creates the response to an invalid request.
pub(crate) fn authorize<N: Network>(cx: &Cx<N>, refuse: fn(&str) -> Reply) -> HandlerResult {
    let query = |name: &str| cx.call.query_value(name).filter(|value| !value.is_empty());
    let challenge = query("code_challenge");
    if challenge.is_some() && query("code_challenge_method").as_deref() != Some("S256") {
        return Err(refuse("The code_challenge_method must be S256."));
    }
    let asked = read_request(cx, "client_id")
        .map_err(|what| refuse(&format!("The parameter {what} is missing or not valid.")))?;
    let given = match asked {
        Consent::Pending(page) => return Ok(page),
        Consent::Denied(mut back) => {
            back.query_pairs_mut().append_pair("error", "access_denied");
            return Ok(redirect_to(&back));
        }
        Consent::Granted(given) => given,
    };
    let name = random::text(BASE62, 43);
    let code = Code {
        remote_id: given.account.identity.remote_id.clone(),
        client_id: query("client_id").unwrap_or_default(),
        redirect_uri: given.redirect_uri,
        challenge,
        expires_ms: cx.now_ms() + CODE_MS,
    };
    lock(&cx.sim.codes.0).insert(name.clone(), code);
    let mut back = given.redirect_url;
    back.query_pairs_mut().append_pair("code", &name);
    Ok(redirect_to(&back))
}

/// Exchanges a code and returns its account. A code can be used once, with the same client, redirect address and
/// verifier.
pub(crate) fn redeem<N: Network>(cx: &Cx<N>, params: &Params) -> Option<Arc<Account<N>>> {
    let code = lock(&cx.sim.codes.0).remove(&params.filled("code")?)?;
    let verifier = params.filled("code_verifier");
    let proof = verifier.map(|text| URL_SAFE_NO_PAD.encode(Sha256::digest(text.as_bytes())));
    let is_good = code.expires_ms > cx.now_ms()
        && params.filled("redirect_uri").as_ref() == Some(&code.redirect_uri)
        && params.filled("client_id").as_ref() == Some(&code.client_id)
        && params.filled("client_secret").is_some()
        && (code.challenge.is_none() || proof == code.challenge);
    cx.sim.account(&code.remote_id).filter(|_| is_good)
}
