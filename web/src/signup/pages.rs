//! `/signup/{session_id}`: the purchase and its state. Everybody who has the address may see it.

use fanfare_api::{middleware::request::LogFields, request_id, router_ext::RouterExt as _};
use fanfare_core::{Domain, Error, Result, access::plan_name};
use fanfare_entities::signup::{Model, SignupStatus};
use fanfare_people::signup::{self, StartedSignup, masked};
use maud::{Markup, html};
use salvo::{Depot, FlowCtrl, Handler, Request, Response, Router, async_trait, http::StatusCode};

use super::form::Form;
use crate::{
    browser::{frame, mail_note::mail_note, refusal::refusal, response},
    oauth_connect::login::USER_LOGIN,
};

/// Returns the router of the pages.
pub fn router(domain: &Domain) -> Router {
    let step = |step: Step| Page { cx: domain.clone(), step };
    let form = || Form(domain.clone());
    let session = Router::with_path("{session_id}")
        .get_and_head(step(Step::Show))
        .push(Router::with_path("checkout").get_and_head(step(Step::Checkout)))
        .push(Router::with_path("cancel").get_and_head(step(Step::Cancel)));
    Router::with_path("signup").get_and_head(form()).post(form()).push(session)
}

#[derive(Clone, Copy)]
enum Step {
    Show,
    Checkout,
    Cancel,
}

impl Step {
    const fn route(self) -> &'static str {
        match self {
            Self::Show => "/signup/{session_id}",
            Self::Checkout => "/signup/{session_id}/checkout",
            Self::Cancel => "/signup/{session_id}/cancel",
        }
    }
}

struct Page {
    cx: Domain,
    step: Step,
}

#[async_trait]
impl Handler for Page {
    async fn handle(
        &self,
        req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        LogFields::set_route(req, self.step.route());
        response::protect_secret(res);
        let session_id = req.params().get("session_id").cloned().unwrap_or_default();
        let is_back = req.uri().query() == Some("paid=1");
        if let Err(error) = self.answer(res, &session_id, is_back).await {
            refuse(res, &error, &request_id::get(req));
        }
    }
}

impl Page {
    async fn answer(&self, res: &mut Response, session_id: &str, is_back: bool) -> Result<()> {
        match self.step {
            Step::Checkout => {
                // A person who has paid is not led to the payment again.
                let row = signup::poll(&self.cx, session_id).await?;
                let page = format!("/signup/{session_id}");
                let place =
                    if has_paid(&row) { page } else { signup::open(&self.cx, session_id).await? };
                response::redirect(res, &place);
            }
            Step::Cancel => {
                signup::cancel(&self.cx, session_id).await?;
                response::redirect(res, &format!("/signup/{session_id}"));
            }
            Step::Show => {
                let row = signup::poll(&self.cx, session_id).await?;
                let shown = StartedSignup::of(&self.cx, session_id, &row);
                response::html(res, StatusCode::OK, self.page(&row, &shown, is_back));
            }
        }
        Ok(())
    }

    fn page(&self, row: &Model, shown: &StartedSignup, is_back: bool) -> Markup {
        let main = self.main(row, shown, is_back);
        // The page reloads itself while it waits for the payment or for the password.
        let waits = is_unpaid(row)
            || matches!(row.status, SignupStatus::PaymentProcessing | SignupStatus::Paid);
        if !waits {
            return (USER_LOGIN.frame)("Sign up", main);
        }
        let again = html! { meta http-equiv="refresh" content="3"; };
        let brand = html! { a.brand href="/" { "Fanfare" } };
        frame::page("Sign up", &again, &brand, &html! { div.sheet { (main) } })
    }

    fn main(&self, row: &Model, shown: &StartedSignup, is_back: bool) -> Markup {
        let cents = fanfare_people::settings(&self.cx).plans.price_of(row.plan_tier, row.api_addon);
        let is_open = is_unpaid(row) && !is_back;
        let confirms = is_unpaid(row) && is_back;
        let words = if confirms {
            "We are waiting for your payment to be confirmed. This page follows it by itself; do not pay again."
        } else {
            shown.status_message
        };
        html! {
            h1 { "Sign up for Fanfare" }
            dl.facts {
                dt { "For" } dd { (row.name) ", " (masked(&row.email)) }
                dt { "Plan" } dd { (plan_name(row.plan_tier).replace('_', " ")) @if row.api_addon { " with the API add-on" } }
                dt { "Price" } dd { "$" (cents / 100) "." (format!("{:02}", cents % 100)) " a month" }
                dt { "Asked by" } dd { (row.source) }
            }
            p.flash.(if is_open || confirms { "plain" } else { "good" }) role="status" { (words) }
            @if row.status == SignupStatus::Paid { (mail_note(&self.cx)) }
            @if confirms { p.soft { "You have not paid? " a href={ (shown.checkout_redirect_url) } { "Show the payment" } "." } }
            @if is_open {
                p.actions {
                    a.button.strong href={ (shown.checkout_redirect_url) "/checkout" } rel="nofollow" { "Continue to the payment" }
                }
            }
            @if matches!(row.status, SignupStatus::Ready | SignupStatus::Completed) {
                p.actions { a.button.strong href={ (shown.login_url) "?" (next(shown)) } { "Log in" } }
            }
        }
    }
}

/// Returns true once somebody has paid.
fn has_paid(row: &Model) -> bool {
    matches!(
        row.status,
        SignupStatus::PaymentProcessing
            | SignupStatus::Paid
            | SignupStatus::Ready
            | SignupStatus::Completed
    )
}

/// Returns true while nothing is paid, as far as we know.
fn is_unpaid(row: &Model) -> bool {
    matches!(row.status, SignupStatus::Created | SignupStatus::CheckoutOpened)
}

/// Returns the page after the log-in: the authorization request of the app that began the signup, or the API keys.
fn next(shown: &StartedSignup) -> String {
    let app = shown.authorize_url.as_deref();
    let app = app.and_then(|url| url.find(AUTHORIZE).map(|at| &url[at..]));
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("next", app.unwrap_or("/dashboard/api")).finish()
}

/// The path of OAuth authorization requests.
const AUTHORIZE: &str = "/api/oauth/authorize";

fn refuse(res: &mut Response, error: &Error, request_id: &str) {
    let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let said = html! {
        h1 { "That did not work" }
        (refusal(error))
        p.soft { "Request " code { (request_id) } }
    };
    response::html(res, status, (USER_LOGIN.frame)("That did not work", said));
}
