//! Codes as RFC 6749 with PKCE (RFC 7636) has them, for networks that do nothing else with them: given at the page of
//! `ask.rs`, good once. What tokens look like is the network's own affair.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::ask::{self, Consent};
use crate::network::{Cx, Network};
use crate::params::Params;
use crate::random::{self, BASE62};
use crate::reply::{Answer, Reply};
use crate::sim::Account;
use crate::world::lock;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

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
    let challenge = query("code_challenge");
    if challenge.is_some() && query("code_challenge_method").as_deref() != Some("S256") {
        return Err(refuse("The code_challenge_method must be S256."));
    }
    let asked = ask::ask(cx, "client_id")
        .map_err(|what| refuse(&format!("The parameter {what} is missing or not valid.")))?;
    let given = match asked {
        Consent::Asked(page) => return Ok(page),
        Consent::Refused(mut back) => {
            back.query_pairs_mut().append_pair("error", "access_denied");
            return Ok(ask::go(&back));
        }
        Consent::Given(given) => given,
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
    let mut back = given.back;
    back.query_pairs_mut().append_pair("code", &name);
    Ok(ask::go(&back))
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
