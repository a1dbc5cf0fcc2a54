//! `/forgot`: requests a link to set a new password. The reply is the same for every address.

use fanfare_api::{address, middleware::request::LogFields, query, request_id};
use fanfare_core::{Domain, Result};
use fanfare_people::mail::{self, MailTransport};
use maud::{Markup, html};
use salvo::{
    Depot, FlowCtrl, Handler, Request, Response, async_trait,
    http::{Method, StatusCode},
};
use url::form_urlencoded;

use super::refuse;
use crate::{
    browser::{
        form::{self, FORM},
        mail_note::mail_note,
        response,
    },
    oauth_connect::login::USER_LOGIN,
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
            let pairs = query::pairs(req.uri().query()).unwrap_or_default();
            let email =
                pairs.iter().find(|(name, _)| name == "email").map(|(_, email)| email.as_str());
            let page = ask(&self.0, &form::csrf_token(&token), email);
            return show(res, StatusCode::OK, page);
        }
        match self.take(req).await {
            Ok(()) => show(res, StatusCode::OK, sent_page(&self.0)),
            Err(error) => {
                // The address that was typed is kept in the way back.
                let fields = form::raw_fields(req, form::LARGEST).await;
                let email = form::field(&fields, "email");
                let email: String = form_urlencoded::byte_serialize(email.as_bytes()).collect();
                let again = format!("/forgot?email={email}");
                refuse(res, &error, &request_id::get(req), (&again, "Try again"));
            }
        }
    }
}

impl Forgot {
    async fn take(&self, req: &mut Request) -> Result<()> {
        let fields = form::own_fields(req, &self.0, &FORM).await?;
        let email = form::field(&fields, "email");
        let trusted = &self.0.settings.trusted_proxies;
        let address = address::of(req, trusted);
        mail::request_reset(&self.0, &email, &address).await
    }
}

fn show(res: &mut Response, status: StatusCode, main: Markup) {
    response::html(res, status, (USER_LOGIN.frame)("Forgot your password?", main));
}

fn ask(cx: &Domain, csrf: &str, email: Option<&str>) -> Markup {
    html! {
        h1 { "Forgot your password?" }
        p.soft { "Enter your e-mail address. We send you a link to choose a new password." }
        (mail_note(cx))
        form.narrow method="post" action="/forgot" {
            input type="hidden" name="csrf" value=(csrf);
            label for="email" { "E-mail address" }
            input #email type="email" name="email" value=[email] autocomplete="username" required autofocus;
            button type="submit" { "Send the link" }
        }
        p { a href="/login" { "Back to the log-in" } }
    }
}

fn sent_page(cx: &Domain) -> Markup {
    let is_sent = matches!(fanfare_people::mail::mail_transport(cx), MailTransport::Smtp(_));
    html! {
        h1 { "Check your mail" }
        p.flash.good role="status" {
            "If there is an account with this address, a link is on its way. It works for one hour."
        }
        (mail_note(cx))
        @if is_sent { p.soft { "No e-mail after a few minutes? Check your spam folder and the address." } }
        p { a href="/login" { "Back to the log-in" } }
    }
}
