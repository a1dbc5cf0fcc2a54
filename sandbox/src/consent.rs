//! The page on which a person lets an app act for an account, and the codes that it gives: RFC 6749 with PKCE
//! (RFC 7636), the same for every network that works so. What tokens look like is the network's own affair.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use url::Url;
use url::form_urlencoded::Serializer;

use crate::network::{Cx, Network};
use crate::page;
use crate::params::Params;
use crate::random::{self, BASE62};
use crate::reply::{Answer, Reply};
use crate::sim::Account;
use crate::world::lock;

/// How long a code may be exchanged, in milliseconds.
const CODE_MS: i64 = 600_000;

/// Codes that were given and not exchanged yet. They are not journalled: a code outlives no restart.
#[derive(Default)]
pub(crate) struct Codes(Mutex<HashMap<String, Code>>);

struct Code {
    remote_id: String,
    client_id: String,
    redirect_uri: String,
    challenge: Option<String>,
    expires_ms: i64,
}

/// `GET` of the authorization page: lets a person choose an account or refuse, then goes back to the client. `refuse`
/// words what is wrong with the request.
pub(crate) fn authorize<N: Network>(cx: &Cx<N>, refuse: fn(&str) -> Reply) -> Answer {
    let query = |name: &str| cx.call.query_value(name).filter(|value| !value.is_empty());
    let required = |name: &str| {
        query(name).ok_or_else(|| refuse(&format!("Missing required parameter: {name}.")))
    };
    let client_id = required("client_id")?;
    let redirect_uri = required("redirect_uri")?;
    let back = Url::parse(&redirect_uri);
    let mut back = back.map_err(|_| refuse("The redirect uri included is not valid."))?;
    if query("response_type").is_some_and(|kind| kind != "code") {
        return Err(refuse("The authorization server does not support this response type."));
    }
    let challenge = query("code_challenge");
    if challenge.is_some() && query("code_challenge_method").as_deref() != Some("S256") {
        return Err(refuse("The code_challenge_method must be S256."));
    }
    if let Some(state) = query("state") {
        back.query_pairs_mut().append_pair("state", &state);
    }
    let Some(id) = query("account") else { return Ok(choice(cx)) };
    match cx.sim.account(&id) {
        Some(account) => {
            let name = random::text(BASE62, 43);
            let remote_id = account.identity.remote_id.clone();
            let expires_ms = cx.now_ms() + CODE_MS;
            let code = Code { remote_id, client_id, redirect_uri, challenge, expires_ms };
            lock(&cx.sim.codes.0).insert(name.clone(), code);
            back.query_pairs_mut().append_pair("code", &name);
        }
        None => {
            back.query_pairs_mut().append_pair("error", "access_denied");
        }
    }
    Ok(Reply::empty(302).with("location", back))
}

/// All accounts to continue as, and a way to refuse.
pub(crate) fn choice<N: Network>(cx: &Cx<N>) -> Reply {
    let link = |id: &str| {
        let pairs = cx.call.query_pairs().chain([("account".to_owned(), id.to_owned())]);
        let query = Serializer::new(String::new()).extend_pairs(pairs).finish();
        page::escape(&format!("{}/{}?{query}", cx.sim.base(), cx.call.path))
    };
    let mut list = String::from("<ul>");
    for account in cx.sim.all() {
        let identity = &account.identity;
        let (link, name) = (link(&identity.remote_id), page::escape(&identity.username));
        let _ = write!(list, "<li><a href=\"{link}\">{name}</a></li>");
    }
    let _ = write!(list, "<li><a href=\"{}\">Cancel</a></li></ul>", link("none"));
    let asks = format!("An application asks to post on simulated {}.", N::NAME);
    page::page(200, "Continue as", &asks, &list)
}

/// The account that a code was given for. A code is good once, for the client, the address and the verifier that asked
/// for it.
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
