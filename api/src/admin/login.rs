//! Logging in and out.

use fanfare_domain::{
    Domain, Error, Result,
    ops::sessions::{self, LASTS, LogIn},
};
use maud::{Markup, html};
use rand::RngExt;
use salvo::{
    Depot, FlowCtrl, Handler, Request, Response, async_trait,
    http::{HeaderValue, Method, StatusCode, header::RETRY_AFTER},
};
use secrecy::{ExposeSecret, SecretString};

use super::{
    form::{self, BEFORE, SESSION},
    gate, layout,
    visit::{Answer, Visit},
};
use crate::{
    address,
    front::Seen,
    query::{self, Pairs},
    request_id,
};

/// The form, and what takes it.
pub struct Form(pub Domain);

#[async_trait]
impl Handler for Form {
    async fn handle(
        &self,
        req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        Seen::route(req, "/admin/login");
        gate::protect(res);
        if req.method() == Method::POST {
            let request_id = request_id::get(req);
            if let Err(error) = self.take(req, res, &request_id).await {
                gate::refuse(res, &error, &request_id, None);
            }
            return;
        }
        let next = query::pairs(req.uri().query()).into_iter().find(|(name, _)| name == "next");
        let next = next.map_or_else(String::new, |(_, next)| next);
        self.show(req, res, StatusCode::OK, Shown { next, ..Shown::default() });
    }
}

/// What the form is filled with.
#[derive(Default)]
struct Shown {
    email: String,
    next: String,
    wrong: Option<String>,
}

impl Form {
    /// Shows the form. Its token follows from a cookie of its own, so that no other site can log a visitor in.
    fn show(&self, req: &Request, res: &mut Response, status: StatusCode, shown: Shown) {
        let before = form::cookie(req.headers(), BEFORE).unwrap_or_else(|| {
            let mut bytes = [0_u8; 16];
            rand::rng().fill(&mut bytes);
            let fresh: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            form::set_cookie(res.headers_mut(), &self.0, (BEFORE, &fresh), 24 * 3_600);
            SecretString::from(fresh)
        });
        gate::html(res, status, layout::bare("Log in", page(&shown, &form::token_of(&before))));
    }

    async fn take(&self, req: &mut Request, res: &mut Response, request_id: &str) -> Result<()> {
        let fields = form::fields(req).await;
        let ours = form::cookie(req.headers(), BEFORE)
            .is_some_and(|before| form::is_ours(&before, &fields));
        if !ours {
            return Err(sessions::forged());
        }
        let (email, next) = (field(&fields, "email"), field(&fields, "next"));
        let password = SecretString::from(field(&fields, "password"));
        let trusted = &self.0.settings.trusted_proxies;
        let address = address::of(req.remote_addr(), req.headers(), trusted);
        let tried = sessions::log_in(&self.0, (&email, password), &address, request_id).await?;
        let shown =
            |wrong: String| Shown { email: email.clone(), next: next.clone(), wrong: Some(wrong) };
        match tried {
            LogIn::Welcome(token) => {
                let lasts = LASTS / 1_000;
                let value = (SESSION, token.expose_secret());
                form::set_cookie(res.headers_mut(), &self.0, value, lasts);
                gate::see(res, place(&next));
            }
            LogIn::Wrong => {
                let wrong = "The address or the password is wrong.".to_owned();
                self.show(req, res, StatusCode::UNAUTHORIZED, shown(wrong));
            }
            LogIn::TooMany(seconds) => {
                res.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
                let minutes = seconds / 60 + 1;
                let wrong = format!("Too many tries. Wait {minutes} minutes, then try again.");
                self.show(req, res, StatusCode::TOO_MANY_REQUESTS, shown(wrong));
            }
        }
        Ok(())
    }
}

fn field(fields: &Pairs, name: &str) -> String {
    fields.iter().find(|(known, _)| known == name).map_or_else(String::new, |(_, v)| v.clone())
}

/// A page of ours to go on with: never another site's, nor one that only looks like ours.
fn place(next: &str) -> &str {
    let plain = next.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    if plain && (next == "/admin" || next.starts_with("/admin/")) { next } else { "/admin" }
}

fn page(shown: &Shown, token: &str) -> Markup {
    html! {
        h1 { "Log in" }
        p.soft { "For the people who run this service. " code { "fanfare admin create EMAIL" } " makes a log-in." }
        @if let Some(wrong) = &shown.wrong {
            p.flash.bad role="alert" { (wrong) }
        }
        form.narrow method="post" action="/admin/login" {
            input type="hidden" name="csrf" value=(token);
            input type="hidden" name="next" value=(shown.next);
            label for="email" { "Address" }
            input #email type="email" name="email" value=(shown.email) autocomplete="username" required
                autofocus[shown.email.is_empty()];
            label for="password" { "Password" }
            input #password type="password" name="password" autocomplete="current-password" required
                autofocus[!shown.email.is_empty()];
            button type="submit" { "Log in" }
        }
    }
}

/// Ends the log-in.
pub async fn log_out(visit: Visit) -> Result<Answer, Error> {
    sessions::log_out(&visit.cx, &visit.token).await?;
    Ok(Answer::Leave("/admin/login".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn a_log_in_leads_to_pages_of_ours_only() {
        assert_eq!(place("/admin/work?id=7"), "/admin/work?id=7");
        for elsewhere in
            ["", "https://x.example", "//x.example", "/administer", "/admin/\r\nx", "/admin/\\x"]
        {
            assert_eq!(place(elsewhere), "/admin", "{elsewhere:?}");
        }
    }
}
