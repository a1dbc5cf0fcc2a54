//! `/set-password/{token}`: the link in an e-mail. Opening it changes nothing, so that programs that follow links in
//! mail do no harm.

use fanfare_api::{middleware::request::LogFields, query::Pairs, request_id};
use fanfare_core::{Domain, Error, Result, error::Code};
use fanfare_people::sign_in::{
    SESSION_LIFETIME,
    links::{self, LinkKind, PasswordLink},
};
use maud::{Markup, html};
use salvo::{
    Depot, FlowCtrl, Handler, Request, Response, async_trait,
    http::{Method, StatusCode},
};
use secrecy::{ExposeSecret, SecretString};

use super::refuse;
use crate::{
    browser::{
        form::{self, FORM},
        refusal::refusal,
        response, typed,
    },
    oauth_connect::login::USER_LOGIN,
};

/// Shows and handles the form. The token in the address says whose password it is; that of the form, that the person
/// who sends it has seen the page: otherwise another site could log its visitors in as somebody else.
pub struct SetPassword(pub Domain);

#[async_trait]
impl Handler for SetPassword {
    async fn handle(
        &self,
        req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        LogFields::set_route(req, "/set-password/{token}");
        response::protect_secret(res);
        let token = req.params().get("token").cloned().unwrap_or_default();
        let done = if req.method() == Method::POST {
            self.take(req, res, &token).await
        } else {
            self.show(req, res, &token, None).await
        };
        if let Err(error) = done {
            let way = ("/forgot", "Ask for a new link");
            refuse(res, &error, &request_id::get(req), way);
        }
    }
}

impl SetPassword {
    async fn show(
        &self,
        req: &Request,
        res: &mut Response,
        token: &str,
        wrong: Option<&Error>,
    ) -> Result<()> {
        let link = links::find(&self.0, token).await?;
        let status = match wrong {
            Some(error) => StatusCode::from_u16(error.status()).unwrap_or(StatusCode::BAD_REQUEST),
            None => StatusCode::OK,
        };
        let csrf = form::csrf_token(&form::form_secret(req, res, &self.0, &FORM));
        let mut main = page(&link, &csrf, wrong);
        if let Some(error) = wrong {
            main = typed::refused(main, "", &Pairs::new(), error);
        }
        response::html(res, status, (USER_LOGIN.frame)("Choose a password", main));
        Ok(())
    }

    async fn take(&self, req: &mut Request, res: &mut Response, token: &str) -> Result<()> {
        // What has ended is said first.
        links::find(&self.0, token).await?;
        let fields = form::own_fields(req, &self.0, &FORM).await?;
        let password = SecretString::from(form::field(&fields, "password"));
        if form::field(&fields, "password_again") != password.expose_secret() {
            let message = "The two passwords differ.";
            let remedy = "Type the same password twice.";
            let wrong = Error::field(Code::InvalidField, "password_again", message, remedy);
            return self.show(req, res, token, Some(&wrong)).await;
        }
        match links::redeem(&self.0, token, password).await {
            Ok(redeemed) => {
                let session = redeemed.session.expose_secret();
                let headers = res.headers_mut();
                form::set_cookie(
                    headers,
                    &self.0,
                    &USER_LOGIN.session,
                    session,
                    SESSION_LIFETIME / 1_000,
                );
                response::redirect(res, &redeemed.next);
                Ok(())
            }
            Err(error) if error.code() == Code::InvalidField => {
                self.show(req, res, token, Some(&error)).await
            }
            Err(error) => Err(error),
        }
    }
}

fn page(link: &PasswordLink, csrf: &str, wrong: Option<&Error>) -> Markup {
    html! {
        h1 { "Choose a password" }
        p.soft {
            "For " strong { (link.email) } ". "
            @if link.kind == LinkKind::Reset { "It ends all sessions of this account." }
        }
        @if let Some(wrong) = wrong {
            (refusal(wrong))
        }
        form.narrow method="post" {
            input type="hidden" name="csrf" value=(csrf);
            input type="hidden" name="username" value=(link.email) autocomplete="username";
            label for="password" { "Password (10 to 200 characters)" }
            input #password type="password" name="password" autocomplete="new-password" required autofocus;
            label for="again" { "The same password again" }
            input #again type="password" name="password_again" autocomplete="new-password" required;
            button type="submit" { "Set the password" }
        }
    }
}
