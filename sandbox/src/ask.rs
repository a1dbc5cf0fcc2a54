//! The page on which a person lets an application act for an account: what is asked, and what was answered. Codes and
//! tokens are the network's own affair, or those of `consent.rs`.

use std::fmt::Write;
use std::sync::Arc;

use url::Url;
use url::form_urlencoded::Serializer;

use crate::network::{Cx, Network};
use crate::page;
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
    let mut back = redirect(cx, &redirect_uri).ok_or("redirect_uri")?;
    if required("response_type")? != "code" {
        return Err("response_type".to_owned());
    }
    let scope = required("scope")?;
    if let Some(state) = query("state") {
        back.query_pairs_mut().append_pair("state", &state);
    }
    let Some(chosen) = query("account") else { return Ok(Consent::Asked(choice(cx, &[]))) };
    Ok(match cx.sim.account(&chosen) {
        Some(account) => Consent::Given(Given { account, back, redirect_uri, scope }),
        None => Consent::Refused(back),
    })
}

/// All accounts to continue as, `more` ways besides with their names, and a way to refuse.
pub(crate) fn choice<N: Network>(cx: &Cx<N>, more: &[(&str, &str)]) -> Reply {
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

/// The address to send a person back to, if apps may: whoever made it up is sent nowhere.
pub(crate) fn redirect<N: Network>(cx: &Cx<N>, redirect_uri: &str) -> Option<Url> {
    let known = cx.sim.world.may_redirect(redirect_uri);
    Url::parse(redirect_uri).ok().filter(|_| known)
}

/// A redirect.
pub(crate) fn go(to: &Url) -> Reply {
    Reply::empty(302).with("location", to)
}
