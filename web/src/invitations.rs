//! `/invitations/{token}`: the link in an invitation. Looking at it changes nothing, so programs that follow links in mail do no
//! harm.

use fanfare_api::{
    middleware::request::LogFields, query::Pairs, request_id, router_ext::RouterExt as _,
};
use fanfare_core::{Code, Domain, Error, Result, WorkspaceId, access::role_name};
use fanfare_people::{
    invitations::{self, Offer},
    sign_in::{self, SESSION_LIFETIME, UserSession},
};
use maud::{Markup, html};
use salvo::{
    Depot, FlowCtrl, Handler, Request, Response, Router, async_trait,
    http::{Method, StatusCode},
};
use secrecy::{ExposeSecret, SecretString};

use crate::{
    browser::{
        form::{self, FORM},
        refusal::refusal,
        response, typed,
    },
    oauth_connect::login::USER_LOGIN,
    page,
    passwords::refuse,
};

/// The page's router.
pub fn router(domain: &Domain) -> Router {
    let page = || InvitationPage(domain.clone());
    Router::with_path("invitations/{token}").get_and_head(page()).post(page())
}

/// The page, and what takes its form. The token in the address proves the invitation; that of the form, that the person
/// who sends it has seen the page.
struct InvitationPage(Domain);

/// A user who is logged in, with the token of the log-in.
type Visitor = Option<(UserSession, SecretString)>;

#[async_trait]
impl Handler for InvitationPage {
    async fn handle(
        &self,
        req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        LogFields::set_route(req, "/invitations/{token}");
        response::protect_secret(res);
        let token = req.params().get("token").cloned().unwrap_or_default();
        let done = match self.visitor(req).await {
            Ok(visitor) if req.method() == Method::POST => {
                self.accept(req, res, &token, &visitor).await
            }
            Ok(visitor) => self.show(req, res, &token, &visitor, None).await,
            Err(error) => Err(error),
        };
        if let Err(error) = done {
            refuse(res, &error, &request_id::get(req), (USER_LOGIN.path, "Log in"));
        }
    }
}

impl InvitationPage {
    async fn visitor(&self, req: &Request) -> Result<Visitor> {
        let Some(cookie) = form::cookie(req.headers(), &self.0, &USER_LOGIN.session) else {
            return Ok(None);
        };
        Ok(sign_in::find(&self.0, &cookie).await?.map(|session| (session, cookie)))
    }

    async fn show(
        &self,
        req: &Request,
        res: &mut Response,
        token: &str,
        visitor: &Visitor,
        wrong: Option<(&Pairs, &Error)>,
    ) -> Result<()> {
        let offer = invitations::find(&self.0, token).await?;
        let status = wrong.map_or(StatusCode::OK, |(_, error)| page::status(error));
        let visitor = visitor.as_ref().map(|(session, _)| session);
        let csrf = form::csrf_token(&form::form_secret(req, res, &self.0, &FORM));
        let mut main = page(&offer, (token, &csrf), visitor, wrong.map(|(_, error)| error));
        if let Some((fields, error)) = wrong {
            main = typed::refused(main, "", fields, error);
        }
        response::html(res, status, (USER_LOGIN.frame)("Invitation", main));
        Ok(())
    }

    async fn accept(
        &self,
        req: &mut Request,
        res: &mut Response,
        token: &str,
        visitor: &Visitor,
    ) -> Result<()> {
        // What has ended is said first.
        invitations::find(&self.0, token).await?;
        let fields = form::own_fields(req, &self.0, &FORM).await?;
        let done = match visitor {
            Some((session, cookie)) => invitations::accept(&self.0, token, (session, cookie)).await,
            None => self.accept_as_new(&fields, res, token).await,
        };
        match done {
            Ok(workspace) => {
                self.show_workspace(res, workspace);
                Ok(())
            }
            Err(error)
                if [Code::InvalidField, Code::FieldRequired, Code::PlanLimit]
                    .contains(&error.code()) =>
            {
                self.show(req, res, token, visitor, Some((&fields, &error))).await
            }
            Err(error) => Err(error),
        }
    }

    async fn accept_as_new(
        &self,
        fields: &Pairs,
        res: &mut Response,
        token: &str,
    ) -> Result<WorkspaceId> {
        let password = SecretString::from(form::field(fields, "password"));
        if form::field(fields, "password_again") != password.expose_secret() {
            let message = "The two passwords differ.";
            let remedy = "Type the same password twice.";
            return Err(Error::field(Code::InvalidField, "password_again", message, remedy));
        }
        let name = form::field(fields, "name");
        let accepted = invitations::accept_as_new(&self.0, token, &name, password).await?;
        let session = accepted.session.expose_secret();
        form::set_cookie(
            res.headers_mut(),
            &self.0,
            &USER_LOGIN.session,
            session,
            SESSION_LIFETIME / 1_000,
        );
        Ok(accepted.workspace)
    }

    fn show_workspace(&self, res: &mut Response, id: WorkspaceId) {
        form::choose_workspace(res, &self.0, id);
        response::redirect(res, USER_LOGIN.home);
    }
}

fn page(
    offer: &Offer,
    (token, csrf): (&str, &str),
    visitor: Option<&UserSession>,
    wrong: Option<&Error>,
) -> Markup {
    let is_invited = visitor.is_some_and(|session| session.email == offer.email);
    html! {
        h1 { "Join " (offer.workspace) }
        p {
            (offer.invited_by) " invites " strong { (offer.email) } " with the role "
            strong { (role_name(offer.role)) } "."
        }
        @if let Some(wrong) = wrong {
            (refusal(wrong))
        }
        @if is_invited {
            form.narrow method="post" {
                input type="hidden" name="csrf" value=(csrf);
                button type="submit" autofocus { "Join the workspace" }
            }
        } @else if let Some(session) = visitor {
            p.flash.warn { "You are logged in as " (session.email) ". The invitation is for " (offer.email) "." }
            (log_in(token, "Log in as that user"))
        } @else if offer.has_password {
            (log_in(token, "Log in to join"))
        } @else {
            (new_user(offer, csrf))
        }
    }
}

fn log_in(token: &str, label: &str) -> Markup {
    html! { p { a.button href={ (USER_LOGIN.path) "?next=/invitations/" (token) } { (label) } } }
}

fn new_user(offer: &Offer, csrf: &str) -> Markup {
    html! {
        p.soft { "Choose a name and a password for your new account." }
        form.narrow method="post" {
            input type="hidden" name="csrf" value=(csrf);
            input type="hidden" name="username" value=(offer.email) autocomplete="username";
            label for="name" { "Your name" }
            input #name name="name" maxlength="100" autocomplete="name" required autofocus;
            label for="password" { "Password (10 to 200 characters)" }
            input #password type="password" name="password" autocomplete="new-password" required;
            label for="again" { "The same password again" }
            input #again type="password" name="password_again" autocomplete="new-password" required;
            button type="submit" { "Join the workspace" }
        }
    }
}
