//! `/oauth/code`: shows the authorization code to a user whose command line has no browser.

use fanfare_api::middleware::request::LogFields;
use fanfare_people::oauth_provider::Parameters;
use maud::{Markup, html};
use salvo::{Depot, FlowCtrl, Handler, Request, Response, async_trait, http::StatusCode};

use crate::{browser::response, oauth_connect::login::USER_LOGIN};

/// The page.
pub(super) struct CodePage;

#[async_trait]
impl Handler for CodePage {
    async fn handle(
        &self,
        req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        LogFields::set_route(req, "/oauth/code");
        response::protect_secret(res);
        let sent =
            Parameters::of(req.uri().query().unwrap_or_default().as_bytes()).unwrap_or_default();
        let (status, title, main) = match sent.get("code").filter(|code| is_code(code)) {
            Some(code) => (StatusCode::OK, "Your code", code_found(code)),
            None => (StatusCode::BAD_REQUEST, "There is no code", code_missing(sent.get("error"))),
        };
        response::html(res, status, (USER_LOGIN.frame)(title, main));
    }
}

/// Returns true for a well-formed code. Nothing else is shown, since anybody can craft an address.
fn is_code(text: &str) -> bool {
    text.len() == 43
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

fn code_found(code: &str) -> Markup {
    html! {
        h1 { "Your code" }
        p { "Copy this code to the command line that asks for it. It is good for one minute." }
        p { code.break { (code) } }
        p.flash.warn { "Give it to nobody: somebody who asks for it in another way wants to act as you." }
    }
}

fn code_missing(error: Option<&str>) -> Markup {
    html! {
        h1 { "There is no code" }
        @if error == Some("access_denied") {
            p { "You did not let the command line in. You can close this page." }
        } @else {
            p { "Start again with " code { "fanfare login --no-browser" } "." }
        }
    }
}
