//! `/dev/mail`: the last e-mails, if no mail server is configured and the service runs on the visitor's own machine.

use fanfare_api::{middleware::request::LogFields, reply, request_id};
use fanfare_core::{Code, Domain, Error, Reply, Result, clock::to_rfc3339};
use fanfare_people::mail::{self, ShownLetter};
use maud::{Markup, html};
use salvo::{
    Depot, FlowCtrl, Handler, Request, Response, async_trait,
    conn::SocketAddr,
    http::{
        HeaderMap, StatusCode,
        header::{ACCEPT, HOST},
    },
};
use serde_json::{Value, json};

use crate::{browser::response, oauth_connect::login::USER_LOGIN};

/// `GET /dev/mail`.
pub struct Letters(pub Domain);

#[async_trait]
impl Handler for Letters {
    async fn handle(
        &self,
        req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        LogFields::set_route(req, "/dev/mail");
        response::protect_secret(res);
        let is_json = text(req.headers(), ACCEPT.as_str()).contains("application/json");
        match self.letters(req).await {
            Ok(letters) if is_json => {
                let letters: Vec<Value> = letters.iter().map(json).collect();
                let said = Reply::ok(&json!({ "letters": letters }));
                reply::write(res, said, &request_id::get(req), &self.0.settings.base_url);
            }
            Ok(letters) => {
                response::html(res, StatusCode::OK, (USER_LOGIN.frame)("E-mails", page(&letters)));
            }
            Err(error) => {
                let said = reply::refusal(&error);
                reply::write(res, said, &request_id::get(req), &self.0.settings.base_url);
            }
        }
    }
}

impl Letters {
    async fn letters(&self, req: &Request) -> Result<Vec<ShownLetter>> {
        if !is_local(req.remote_addr(), req.headers()) {
            return Err(Error::new(Code::NotFound, "There is nothing at this address."));
        }
        mail::list_shown(&self.0).await
    }
}

/// Returns true for a caller on this machine, without a proxy and by a name of this machine; a site that uses DNS
/// rebinding is refused.
fn is_local(peer: &SocketAddr, headers: &HeaderMap) -> bool {
    let is_loopback = match peer {
        SocketAddr::IPv4(peer) => peer.ip().is_loopback(),
        SocketAddr::IPv6(peer) => peer.ip().to_canonical().is_loopback(),
        _ => false,
    };
    let is_proxied =
        ["forwarded", "x-forwarded-for"].iter().any(|name| headers.contains_key(*name));
    is_loopback && !is_proxied && is_loopback_name(text(headers, HOST.as_str()))
}

fn is_loopback_name(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, port)| {
        if port.bytes().all(|byte| byte.is_ascii_digit()) { name } else { host }
    });
    let address = name.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    name == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

fn json(shown: &ShownLetter) -> Value {
    let letter = &shown.letter;
    json!({
        "id": shown.id, "to": letter.to, "subject": letter.subject, "text": letter.text,
        "links": letter.links, "created_at": to_rfc3339(shown.created_at),
    })
}

fn page(letters: &[ShownLetter]) -> Markup {
    html! {
        h1 { "E-mails" }
        p.soft { "No mail server is set, so e-mails are shown here: the last 50, for a day." }
        @if letters.is_empty() { p.empty { "No e-mail yet." } }
        @for shown in letters {
            article.card {
                h2 { (shown.letter.subject) }
                p.soft { "To " (shown.letter.to) ", " time { (to_rfc3339(shown.created_at)) } }
                @for part in shown.letter.text.split("\n\n") {
                    @if shown.letter.links.iter().any(|link| link == part.trim()) {
                        p { a href=(part.trim()) { (part.trim()) } }
                    } @else {
                        p { (part) }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_loopback_name;

    #[test]
    fn only_names_of_this_machine_are_taken() {
        for good in ["localhost", "localhost:8080", "127.0.0.1:80", "[::1]:8080", "[::1]"] {
            assert!(is_loopback_name(good), "{good}");
        }
        for bad in ["", "example.com", "evil.example:8080", "localhost.evil.example", "10.0.0.1:80"]
        {
            assert!(!is_loopback_name(bad), "{bad}");
        }
    }
}
