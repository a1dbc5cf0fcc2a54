//! `/forgot`: requests a link to set a new password. The reply is the same for every address.

use fanfare_domain::{Domain, Result, logins::forged_form, mail};
use maud::{Markup, html};
use salvo::{
    Depot, FlowCtrl, Handler, Request, Response, async_trait,
    http::{Method, StatusCode},
};

use super::{FORM, refuse};
use crate::{
    address,
    browser::{form, response},
    middleware::request::LogFields,
    oauth_connect::login::USER_LOGIN,
    request_id,
};

/// Shows and handles the form.
pub struct Forgot(pub Domain);

#[async_trait]
impl Handler for Forgot {
    async fn handle(
        &self,
        req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        LogFields::set_route(req, "/forgot");
        response::protect(res);
        if req.method() != Method::POST {
            let token = form::form_secret(req, res, &self.0, &FORM);
            return show(res, StatusCode::OK, ask(&form::csrf_token(&token), None));
        }
        match self.take(req).await {
            Ok(()) => show(res, StatusCode::OK, sent_page()),
            Err(error) => refuse(res, &error, &request_id::get(req), ("/forgot", "Try again")),
        }
    }
}

impl Forgot {
    async fn take(&self, req: &mut Request) -> Result<()> {
        let fields = form::fields(req).await?;
        let before = form::cookie(req.headers(), &self.0, &FORM);
        if !before.is_some_and(|before| form::has_csrf_token(&before, &fields)) {
            return Err(forged_form());
        }
        let email = form::field(&fields, "email");
        let trusted = &self.0.settings.trusted_proxies;
        let address = address::of(req.remote_addr(), req.headers(), trusted);
        mail::request_reset(&self.0, &email, &address).await
    }
}

fn show(res: &mut Response, status: StatusCode, main: Markup) {
    response::html(res, status, (USER_LOGIN.frame)("Forgot your password?", main));
}

fn ask(csrf: &str, email: Option<&str>) -> Markup {
    html! {
        h1 { "Forgot your password?" }
        p.soft { "Enter your e-mail address. We send you a link to choose a new password." }
        form.narrow method="post" action="/forgot" {
            input type="hidden" name="csrf" value=(csrf);
            label for="email" { "E-mail address" }
            input #email type="email" name="email" value=[email] autocomplete="username" required autofocus;
            button type="submit" { "Send the link" }
        }
        p { a href="/login" { "Back to the log-in" } }
    }
}

fn sent_page() -> Markup {
    html! {
        h1 { "Check your mail" }
        p.flash.good role="status" {
            "If there is an account with this address, a link is on its way. It works for one hour."
        }
        p.soft { "No e-mail after a few minutes? Check your spam folder and the address." }
        p { a href="/login" { "Back to the log-in" } }
    }
}
