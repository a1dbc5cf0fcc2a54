//! Logging in. There is one [`Realm`] for operators and one for users, each with its pages and cookies.

use fanfare_api::{address, middleware::request::LogFields, query, request_id};
use fanfare_core::{
    Domain, Error, Result,
    logins::{self, LoginKind, LoginOutcome, LoginSource},
};
use futures_util::future::BoxFuture;
use maud::{Markup, html};
use salvo::{
    Depot, FlowCtrl, Handler, Request, Response, async_trait,
    http::{HeaderValue, Method, StatusCode, header::RETRY_AFTER},
};
use secrecy::{ExposeSecret, SecretString};
use url::form_urlencoded;

use super::{
    form::{self, Cookie},
    refusal::refusal,
    response,
};

/// An attempt to log in.
pub struct LoginAttempt {
    /// The domain.
    pub cx: Domain,
    /// The user's name or e-mail address.
    pub email: String,
    /// The password.
    pub password: SecretString,
    /// The client's IP address.
    pub address: String,
    /// What the browser has kept from earlier log-ins.
    pub remembered: Option<SecretString>,
    /// The id of the request, for logs.
    pub request_id: String,
}

impl LoginAttempt {
    /// Returns where it comes from.
    #[must_use]
    pub fn source(&self) -> LoginSource<'_> {
        let remembered = self.remembered.as_ref().map(ExposeSecret::expose_secret);
        LoginSource { address: &self.address, remembered }
    }
}

/// A log-in, such as that of the dashboard, with its pages and cookies.
pub struct LoginRealm {
    /// The path of the log-in page.
    pub path: &'static str,
    /// The cookie of the session.
    pub session: Cookie,
    /// The cookie that protects the log-in form itself.
    pub form_cookie: Cookie,
    /// The cookie that remembers the names under which somebody has logged in.
    pub known_cookie: Cookie,
    /// The kind of log-in.
    pub kind: LoginKind,
    /// The default page after the log-in; pages below it are allowed as the next page too.
    pub home: &'static str,
    /// Other paths below which the next page may be.
    pub other_paths: &'static [&'static str],
    /// Renders the text above the form: who logs in here and how one gets a log-in, for the next page.
    pub intro: fn(&Domain, &str) -> Markup,
    /// Renders a page for a visitor who is not logged in.
    pub frame: fn(&str, Markup) -> Markup,
    /// Attempts the log-in.
    pub log_in: fn(LoginAttempt) -> BoxFuture<'static, Result<LoginOutcome>>,
    /// The lifetime of a session, in seconds.
    pub lifetime: i64,
}

impl LoginRealm {
    /// Returns the URL of the log-in page, with the current page as the next one if it can be requested again.
    pub fn login_url(&self, req: &Request) -> String {
        if ![Method::GET, Method::HEAD].contains(req.method()) {
            return format!("{}?{ENDED}=1", self.path);
        }
        let page = req.uri().path_and_query().map_or(self.home, |page| page.as_str());
        let next: String = form_urlencoded::byte_serialize(page.as_bytes()).collect();
        format!("{}?next={next}", self.path)
    }

    /// Returns the next page if it is one of ours, else the home page: an open redirect to another site is impossible.
    fn allowed_next<'a>(&self, next: &'a str) -> &'a str
    where
        Self: 'a,
    {
        let plain = next.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
        let is_below = |place: &str| {
            next.strip_prefix(place)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']))
        };
        let below = is_below(self.home) || self.other_paths.iter().any(|place| is_below(place));
        if plain && below { next } else { self.home }
    }
}

/// The time for which a browser remembers a log-in, in seconds.
const REMEMBERED: i64 = 365 * 24 * 3_600;

/// A query parameter: the session had expired when a form was sent.
const ENDED: &str = "ended";

/// Shows and handles the log-in form.
pub struct LoginForm(pub Domain, pub &'static LoginRealm);

#[async_trait]
impl Handler for LoginForm {
    async fn handle(
        &self,
        req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        LogFields::set_route(req, self.1.path);
        response::protect(res);
        if req.method() == Method::POST {
            let request_id = request_id::get(req);
            if let Err(error) = self.take(req, res, &request_id).await {
                self.refuse(res, &error, &request_id);
            }
            return;
        }
        // An invalid query is ignored.
        let pairs = query::checked_pairs(req.uri().query().unwrap_or_default().as_bytes());
        let pairs = pairs.unwrap_or_default();
        let is_ended = pairs.iter().any(|(name, _)| name == ENDED);
        let wrong = is_ended.then(|| "Your session had expired, so nothing was done.".to_owned());
        let next = pairs.into_iter().find(|(name, _)| name == "next");
        let next = next.map_or_else(String::new, |(_, next)| next);
        let email = hint(&next).unwrap_or_default();
        self.show(req, res, StatusCode::OK, FormValues { email, next, wrong });
    }
}

/// The values of the form.
#[derive(Default)]
struct FormValues {
    email: String,
    next: String,
    wrong: Option<String>,
}

impl LoginForm {
    /// Shows the form. Its CSRF token is derived from a cookie of its own, so that no other site can log a visitor in.
    fn show(&self, req: &Request, res: &mut Response, status: StatusCode, shown: FormValues) {
        let Self(cx, realm) = self;
        let before = form::form_secret(req, res, cx, &realm.form_cookie);
        let intro = (realm.intro)(cx, &shown.next);
        let page = page(realm, &shown, (&form::csrf_token(&before), &intro));
        response::html(res, status, (realm.frame)("Log in", page));
    }

    fn refuse(&self, res: &mut Response, error: &Error, request_id: &str) {
        let status =
            StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let said = html! {
            h1 { "That did not work" }
            (refusal(error))
            p.soft { "Request " code { (request_id) } }
            p { a href=(self.1.path) { "Back to the log-in" } }
        };
        response::html(res, status, (self.1.frame)("That did not work", said));
    }

    async fn take(&self, req: &mut Request, res: &mut Response, request_id: &str) -> Result<()> {
        let Self(cx, realm) = self;
        let fields = form::own_fields(req, cx, &realm.form_cookie).await?;
        let (email, next) = (form::field(&fields, "email"), form::field(&fields, "next"));
        let trusted = &cx.settings.trusted_proxies;
        let tried = LoginAttempt {
            cx: cx.clone(),
            email: email.clone(),
            password: SecretString::from(form::field(&fields, "password")),
            address: address::of(req, trusted),
            remembered: form::cookie(req.headers(), cx, &realm.known_cookie),
            request_id: request_id.to_owned(),
        };
        let shown = |wrong: String| FormValues {
            email: email.clone(),
            next: next.clone(),
            wrong: Some(wrong),
        };
        match (realm.log_in)(tried).await? {
            LoginOutcome::LoggedIn(token) => {
                let token = token.expose_secret();
                form::set_cookie(res.headers_mut(), cx, &realm.session, token, realm.lifetime);
                let before = form::cookie(req.headers(), cx, &realm.known_cookie);
                let before = before.as_ref().map(ExposeSecret::expose_secret);
                let kept = logins::remember(cx, realm.kind, &email, before)?;
                form::set_cookie(res.headers_mut(), cx, &realm.known_cookie, &kept, REMEMBERED);
                response::redirect(res, realm.allowed_next(&next));
            }
            LoginOutcome::Wrong => {
                let wrong = "The address or the password is wrong.".to_owned();
                self.show(req, res, StatusCode::UNAUTHORIZED, shown(wrong));
            }
            LoginOutcome::TooMany(seconds) => {
                res.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
                let minutes = seconds / 60 + 1;
                let wrong = format!("Too many attempts. Wait {minutes} minutes, then try again.");
                self.show(req, res, StatusCode::TOO_MANY_REQUESTS, shown(wrong));
            }
        }
        Ok(())
    }
}

/// Returns the e-mail address that an OAuth client suggests (`login_hint` of OpenID Connect).
fn hint(next: &str) -> Option<String> {
    let (_, asked) = next.split_once('?')?;
    let hint =
        query::pairs(Some(asked)).ok()?.into_iter().find(|(name, _)| name == "login_hint")?.1;
    (hint.len() <= 254 && hint.contains('@')).then_some(hint)
}

fn page(realm: &LoginRealm, shown: &FormValues, (token, intro): (&str, &Markup)) -> Markup {
    let refused = shown.wrong.as_ref().map(|_| "refusal");
    html! {
        h1 { "Log in" }
        (intro)
        @if let Some(wrong) = &shown.wrong {
            p.flash.bad #refusal role="alert" { (wrong) }
        }
        form.narrow method="post" action=(realm.path) {
            input type="hidden" name="csrf" value=(token);
            input type="hidden" name="next" value=(shown.next);
            label for="email" { "E-mail address" }
            input #email type="email" name="email" value=(shown.email) autocomplete="username" required
                autofocus[shown.email.is_empty()];
            label for="password" { "Password" }
            input #password type="password" name="password" autocomplete="current-password" required
                aria-describedby=[refused] autofocus[!shown.email.is_empty()];
            button type="submit" { "Log in" }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{admin::login::OPERATOR_LOGIN, oauth_connect::login::USER_LOGIN};

    #[test]
    fn a_log_in_leads_to_pages_of_ours_only() {
        assert_eq!(OPERATOR_LOGIN.allowed_next("/admin/work?id=7"), "/admin/work?id=7");
        assert_eq!(
            USER_LOGIN.allowed_next("/connect/x?workspace_id=1"),
            "/connect/x?workspace_id=1"
        );
        assert_eq!(USER_LOGIN.allowed_next("/dashboard/api"), "/dashboard/api");
        for elsewhere in
            ["", "https://x.example", "//x.example", "/administer", "/admin/\r\nx", "/admin/\\x"]
        {
            assert_eq!(OPERATOR_LOGIN.allowed_next(elsewhere), "/admin", "{elsewhere:?}");
            assert_eq!(USER_LOGIN.allowed_next(elsewhere), "/dashboard", "{elsewhere:?}");
        }
    }
}
