//! The addresses that events may be sent to.

use fanfare_outbound::{Client, ErrorKind};
use url::{Host, Url};

use crate::{
    Act, Domain, access,
    error::{Code, Error, Result},
};

/// Returns the client that reaches a receiver. An installation on somebody's own machine also reaches receivers there.
#[must_use]
pub fn client(cx: &Domain, url: &Url) -> Client {
    if is_on_own_machine(cx) && is_loopback(url) {
        return cx.http.trusting(std::slice::from_ref(url));
    }
    cx.http.clone()
}

/// Checks the address of a receiver. Addresses on the own machine are for the owner of the installation, who could
/// reach them anyway.
///
/// # Errors
/// [`Code::InvalidField`] or [`Code::UrlNotAllowed`], with all reasons.
pub(super) async fn check(act: &Act, text: &str) -> Result<()> {
    let url = Url::parse(text).map_err(|_| {
        let message = format!("{text:?} is no address.");
        Error::field(Code::InvalidField, "url", message, "Send a full https address.")
    })?;
    let is_own = is_loopback(&url) && Some(act.caller.user_id) == access::owner(&act.cx).await?;
    let http = if is_own { client(&act.cx, &url) } else { act.cx.http.clone() };
    let Err(refused) = http.check(&url).await else { return Ok(()) };
    let remedy = remedy(&act.cx, refused.kind);
    Err(Error::field(Code::UrlNotAllowed, "url", refused.to_string(), remedy))
}

fn remedy(cx: &Domain, kind: ErrorKind) -> String {
    if kind == ErrorKind::NotSent {
        return "Check the spelling of the name, or wait until DNS knows it.".to_owned();
    }
    let usual = Code::UrlNotAllowed.entry().remedy;
    if !cx.settings.is_on_loopback() {
        return usual.to_owned();
    }
    let owner = match is_on_own_machine(cx) {
        true => {
            " The owner of this installation may use 127.0.0.1, [::1] and localhost without it."
        }
        false => "",
    };
    format!(
        "{usual} While you develop, FANFARE_ALLOW_PRIVATE_TARGETS=true allows private addresses, http and every port.{owner}"
    )
}

/// Returns true for an embedded installation that only its own machine reaches.
fn is_on_own_machine(cx: &Domain) -> bool {
    cx.settings.is_on_loopback() && !cx.db.is_postgres()
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}
