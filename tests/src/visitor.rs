//! A browser that runs no scripts.

use reqwest::{
    Client, Response,
    header::{COOKIE, SET_COOKIE},
    redirect::Policy,
};

use crate::TestApp;

/// The password of all users in tests.
pub const PASSWORD: &str = "a long enough password";

/// A browser without scripts, with its cookies.
#[derive(Clone)]
pub struct Visitor {
    http: Client,
    origin: String,
    /// The cookies, as the browser sends them back.
    pub cookie: String,
}

/// A reply of the service to the browser.
#[derive(Debug, Clone)]
pub struct PageReply {
    /// HTTP status.
    pub status: u16,
    /// The `Location` header; empty if there is none.
    pub location: String,
    /// The page.
    pub html: String,
}

impl PageReply {
    /// Returns the value of a hidden field.
    ///
    /// # Panics
    /// The page has no such field.
    #[must_use]
    #[track_caller]
    pub fn hidden(&self, name: &str) -> String {
        let start = format!("name=\"{name}\" value=\"");
        let from = self.html.find(&start).unwrap_or_else(|| panic!("no {name} in {}", self.html));
        let rest = &self.html[from + start.len()..];
        rest[..rest.find('"').expect("an end")].replace("&amp;", "&")
    }

    /// Returns the reply, if it has this status.
    ///
    /// # Panics
    /// It has another.
    #[must_use]
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{} {}", self.location, self.html);
        self
    }
}

impl Visitor {
    /// Returns a browser without a log-in.
    ///
    /// # Panics
    /// No client can be made.
    #[must_use]
    pub fn nobody(app: &TestApp) -> Self {
        Self::of(&app.origin)
    }

    /// Returns a browser for the service at `origin`.
    ///
    /// # Panics
    /// No client can be made.
    #[must_use]
    pub fn of(origin: &str) -> Self {
        let http =
            crate::local_client_builder().redirect(Policy::none()).build().expect("a client");
        Self { http, origin: origin.to_owned(), cookie: String::new() }
    }

    /// Sends a log-in form, and keeps the cookie.
    pub async fn try_password_at(&mut self, page: &str, email: &str, password: &str) -> PageReply {
        let form = self.get(page).await.expect(200);
        let fields = [
            ("csrf", form.hidden("csrf")),
            ("next", form.hidden("next")),
            ("email", email.into()),
            ("password", password.into()),
        ];
        let path = page.split('?').next().unwrap_or_default();
        self.send(path, &fields).await
    }

    /// Requests a page of the service, by its path or its whole address.
    ///
    /// # Panics
    /// The service does not answer.
    pub async fn get(&mut self, path: &str) -> PageReply {
        let request = self.http.get(self.address(path)).header(COOKIE, &self.cookie);
        self.read(request.send().await.expect("an answer")).await
    }

    /// Sends a form.
    ///
    /// # Panics
    /// The service does not answer.
    pub async fn send(&mut self, path: &str, fields: &[(&str, String)]) -> PageReply {
        let request = self.http.post(self.address(path)).header(COOKIE, &self.cookie);
        self.read(request.form(fields).send().await.expect("an answer")).await
    }

    /// Sends a form of a page that a link in an e-mail leads to, with the token of its form; of a page that has ended,
    /// with that of a form made before.
    pub async fn submit(&mut self, page: &str, fields: &[(&str, String)]) -> PageReply {
        let mut shown = self.get(page).await;
        if !shown.html.contains("name=\"csrf\"") {
            shown = self.get("/forgot").await;
        }
        let mut sent = vec![("csrf", shown.hidden("csrf"))];
        sent.extend(fields.iter().cloned());
        self.send(page, &sent).await
    }

    /// Requests a page of another site, without our cookies.
    ///
    /// # Panics
    /// It does not answer.
    pub async fn elsewhere(&self, url: &str) -> PageReply {
        let reply = self.http.get(url).send().await.expect("an answer");
        let (status, location) = (reply.status().as_u16(), header(&reply, "location"));
        PageReply { status, location, html: reply.text().await.expect("a page") }
    }

    pub(crate) fn with_origin(&self, origin: &str) -> Self {
        Self { origin: origin.to_owned(), ..self.clone() }
    }

    fn address(&self, path: &str) -> String {
        if path.starts_with('/') { format!("{}{path}", self.origin) } else { path.to_owned() }
    }

    async fn read(&mut self, reply: Response) -> PageReply {
        let (status, location) = (reply.status().as_u16(), header(&reply, "location"));
        assert_eq!(
            header(&reply, "cache-control"),
            "no-store",
            "pages of persons are kept nowhere"
        );
        assert!(!header(&reply, "content-security-policy").contains("unsafe"));
        for line in reply.headers().get_all(SET_COOKIE) {
            let line = line.to_str().expect("text");
            // The cookies of users' sessions, of links without an account and of the chosen workspace are `Lax`, since networks redirect users back
            // to us.
            let goes_along = ["fanfare_session=", "fanfare_workspace=", "fanfare_guest="]
                .iter()
                .any(|name| line.starts_with(name));
            let same_site = if goes_along { "Lax" } else { "Strict" };
            assert!(line.contains("; HttpOnly"), "{line}");
            assert!(line.contains(&format!("; SameSite={same_site}")), "{line}");
            let pair = line.split(';').next().unwrap_or_default();
            let name = pair.split('=').next().unwrap_or_default();
            let others =
                self.cookie.split("; ").filter(|known| !known.starts_with(&format!("{name}=")));
            let kept: Vec<_> = others.chain([pair]).filter(|pair| !pair.is_empty()).collect();
            self.cookie = kept.join("; ");
        }
        PageReply { status, location, html: reply.text().await.expect("a page") }
    }
}

fn header(reply: &Response, name: &str) -> String {
    reply.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or("").to_owned()
}
