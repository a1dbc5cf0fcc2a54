//! `/signup`: the sign-up form, for people who come with a browser, for instance from the log-in.

use fanfare_api::{
    address,
    middleware::request::LogFields,
    query::{self, Pairs},
};
use fanfare_core::{Code, Domain, Error, Result, access::plan_name, logins::forged_form};
use fanfare_people::{
    oauth_provider::Parameters,
    signup::{self, NewSignup, SignupTier},
};
use maud::{Markup, html};
use salvo::{
    Depot, FlowCtrl, Handler, Request, Response, async_trait,
    http::{Method, StatusCode, header::RETRY_AFTER},
};
use secrecy::ExposeSecret;

use crate::{
    browser::{
        form::{self, Cookie},
        mail_note::mail_note,
        refusal::refusal,
        response, typed,
    },
    oauth_connect::login::USER_LOGIN,
};

/// The cookie that protects the form.
static FORM: Cookie = Cookie { name: "fanfare_signup", path: "/signup", same_site: "Strict" };

/// The path of OAuth authorization requests.
const AUTHORIZE: &str = "/api/oauth/authorize?";

const TITLE: &str = "Sign up";

/// Shows and handles the form.
pub(super) struct Form(pub Domain);

#[async_trait]
impl Handler for Form {
    async fn handle(
        &self,
        req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        LogFields::set_route(req, "/signup");
        response::protect(res);
        let fields = match self.fields(req).await {
            Ok(fields) => fields,
            Err(error) => {
                let fields = form::raw_fields(req, form::LARGEST).await;
                return self.show(req, res, &fields, Some(&error));
            }
        };
        if req.method() != Method::POST {
            let closed = signup::require_open(&self.0).err();
            return self.show(req, res, &fields, closed.as_ref());
        }
        match self.begin(req, &fields).await {
            Ok(place) => response::redirect(res, &place),
            Err(error) => self.show(req, res, &fields, Some(&error)),
        }
    }
}

impl Form {
    async fn fields(&self, req: &mut Request) -> Result<Pairs> {
        if req.method() != Method::POST {
            return query::checked_pairs(req.uri().query().unwrap_or_default().as_bytes());
        }
        form::fields(req).await
    }

    /// Starts the signup; returns the page that shows the purchase.
    async fn begin(&self, req: &Request, fields: &Pairs) -> Result<String> {
        let cx = &self.0;
        let before = form::cookie(req.headers(), cx, &FORM);
        if !before.is_some_and(|before| form::has_csrf_token(&before, fields)) {
            return Err(forged_form());
        }
        let address = address::of(req, &cx.settings.trusted_proxies);
        let made = signup::begin(cx, new_signup(fields)?, &address).await?;
        Ok(signup::page(cx, made.session_id.expose_secret()))
    }

    fn show(&self, req: &Request, res: &mut Response, fields: &Pairs, wrong: Option<&Error>) {
        let cx = &self.0;
        let token = form::form_secret(req, res, cx, &FORM);
        let status = wrong.map_or(200, Error::status);
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        if let Some(seconds) = wrong.and_then(Error::retry_after_seconds) {
            res.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
        let mut page = page(cx, &form::csrf_token(&token), fields, wrong);
        if let Some(error) = wrong {
            page = typed::refused(page, "/signup", fields, error);
        }
        response::html(res, status, (USER_LOGIN.frame)(TITLE, page));
    }
}

/// Reads the form. A user who came from an OAuth authorization request returns to it afterwards.
fn new_signup(fields: &Pairs) -> Result<NewSignup> {
    let tier =
        TIERS.iter().find(|(tier, _)| plan_name((*tier).into()) == form::field(fields, "tier"));
    let tier = tier.map(|(tier, _)| *tier).ok_or_else(|| {
        Error::field(Code::InvalidField, "tier", "There is no such plan.", "Choose a plan.")
    })?;
    let next = form::field(fields, "next");
    let app = Parameters::of(next.strip_prefix(AUTHORIZE).unwrap_or_default().as_bytes())?;
    let said = |name: &str| app.get(name).map(str::to_owned);
    Ok(NewSignup {
        email: form::field(fields, "email"),
        name: form::field(fields, "name"),
        tier,
        api_addon: !form::field(fields, "api_addon").is_empty(),
        source: "signup-page".to_owned(),
        client_id: said("client_id"),
        redirect_uri: said("redirect_uri"),
        code_challenge: said("code_challenge"),
        code_challenge_method: said("code_challenge_method"),
        scope: said("scope"),
        state: said("state"),
        resource: said("resource"),
    })
}

const TIERS: [(SignupTier, &str); 4] = [
    (SignupTier::Starter, "Starter"),
    (SignupTier::Pro, "Pro"),
    (SignupTier::PowerUser, "Power user"),
    (SignupTier::Agency, "Agency"),
];

fn page(cx: &Domain, csrf: &str, fields: &Pairs, wrong: Option<&Error>) -> Markup {
    let (email, name) = (form::field(fields, "email"), form::field(fields, "name"));
    let (tier, next) = (form::field(fields, "tier"), form::field(fields, "next"));
    let plans = &fanfare_people::settings(cx).plans;
    let addon = !form::field(fields, "api_addon").is_empty();
    html! {
        h1 { "Sign up for Fanfare" }
        @if let Some(wrong) = wrong {
            (refusal(wrong))
        }
        p.soft { "Once you have paid, an e-mail brings the link to choose your password." }
        (mail_note(cx))
        form.narrow method="post" action="/signup" {
            input type="hidden" name="csrf" value=(csrf);
            input type="hidden" name="next" value=(next);
            div.field {
                label for="name" { "Your name" }
                input #name name="name" value=(name) maxlength="100" autocomplete="name" required;
            }
            div.field {
                label for="email" { "E-mail address" }
                input #email type="email" name="email" value=(email) maxlength="254" autocomplete="email" required;
            }
            div.field {
                label for="tier" { "Plan" }
                select #tier name="tier" {
                    @for (one, label) in TIERS {
                        @let key = plan_name(one.into());
                        option value=(key) selected[key == tier] {
                            (label) ", $" (plans.price_of(one.into(), false) / 100) " a month"
                        }
                    }
                }
            }
            div.tick {
                input #addon type="checkbox" name="api_addon" value="1" checked[addon];
                label.beside for="addon" {
                    "API add-on, $" (plans.api_addon.price / 100) " a month: keys, agents and tools need it"
                }
            }
            button type="submit" { "Go on to the payment" }
        }
        p { "You have an account? " a href={ "/login?" (login_url(&next)) } { "Log in" } }
    }
}

fn login_url(next: &str) -> String {
    url::form_urlencoded::Serializer::new(String::new()).append_pair("next", next).finish()
}
