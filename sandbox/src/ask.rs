//! The same page for networks that make codes of their own: what an application asks, and what the person answered.

use std::sync::Arc;

use url::Url;

use crate::consent::choice;
use crate::network::{Cx, Network};
use crate::reply::Reply;
use crate::sim::Account;

/// What a person answered, or is still to be asked.
pub(crate) enum Consent<N: Network> {
    /// Nothing yet: this is the page.
    Asked(Reply),
    /// No, or for an account that does not exist: go back here, with an error of the network's own.
    Refused(Url),
    /// Yes.
    Given(Given<N>),
}

/// A yes.
pub(crate) struct Given<N: Network> {
    pub account: Arc<Account<N>>,
    /// Where to go back to; the state is in it already, the code is not.
    pub back: Url,
    pub redirect_uri: String,
    pub scope: String,
}

/// Reads what an application asks a person for. `id_name` is what the network calls an application's id. `Err` names
/// what is wrong with the request.
pub(crate) fn ask<N: Network>(cx: &Cx<N>, id_name: &'static str) -> Result<Consent<N>, String> {
    let query = |name: &str| cx.call.query_value(name).filter(|value| !value.is_empty());
    let required = |name: &'static str| query(name).ok_or_else(|| name.to_owned());
    required(id_name)?;
    let redirect_uri = required("redirect_uri")?;
    let mut back = Url::parse(&redirect_uri).map_err(|_| "redirect_uri".to_owned())?;
    if required("response_type")? != "code" {
        return Err("response_type".to_owned());
    }
    let scope = required("scope")?;
    if let Some(state) = query("state") {
        back.query_pairs_mut().append_pair("state", &state);
    }
    let Some(chosen) = query("account") else { return Ok(Consent::Asked(choice(cx))) };
    Ok(match cx.sim.account(&chosen) {
        Some(account) => Consent::Given(Given { account, back, redirect_uri, scope }),
        None => Consent::Refused(back),
    })
}

/// A redirect.
pub(crate) fn go(to: &Url) -> Reply {
    Reply::empty(302).with("location", to)
}
