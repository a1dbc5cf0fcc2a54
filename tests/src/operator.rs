//! A person at the dashboard, with a browser that runs no scripts.

use fanfare_domain::ops::{Actor, operators};
use reqwest::{
    Client, Response,
    header::{COOKIE, SET_COOKIE},
    redirect::Policy,
};
use secrecy::SecretString;

use crate::TestApp;

/// The password of every operator of a test.
pub const PASSWORD: &str = "a long enough password";

/// An operator.
#[derive(Clone)]
pub struct Operator {
    http: Client,
    origin: String,
    /// The cookie, as the browser sends it back.
    pub cookie: String,
}

/// A page as it was answered.
#[derive(Debug, Clone)]
pub struct Shown {
    /// HTTP status.
    pub status: u16,
    /// Where it leads, if it leads elsewhere.
    pub location: String,
    /// The page.
    pub html: String,
}

impl Shown {
    /// The value of a hidden field.
    ///
    /// # Panics
    /// There is none.
    #[must_use]
    #[track_caller]
    pub fn hidden(&self, name: &str) -> String {
        let start = format!("name=\"{name}\" value=\"");
        let from = self.html.find(&start).unwrap_or_else(|| panic!("no {name} in {}", self.html));
        let rest = &self.html[from + start.len()..];
        rest[..rest.find('"').expect("an end")].to_owned()
    }

    /// The page, if it has this status.
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

impl Operator {
    /// Somebody with a browser, and no log-in.
    ///
    /// # Panics
    /// No client can be made.
    #[must_use]
    pub fn nobody(app: &TestApp) -> Self {
        let http = Client::builder().redirect(Policy::none()).build().expect("a client");
        Self { http, origin: app.origin.clone(), cookie: String::new() }
    }

    /// A new operator who has logged in.
    ///
    /// # Panics
    /// The log-in is refused.
    pub async fn log_in(app: &TestApp, email: &str) -> Self {
        let shell = Actor { name: "shell:test".to_owned(), request_id: "test".to_owned() };
        let password = SecretString::from(PASSWORD);
        operators::create(&app.domain, &shell, email, password).await.expect("an operator");
        let mut operator = Self::nobody(app);
        let welcome = operator.try_password(email, PASSWORD).await;
        assert_eq!(
            (welcome.status, welcome.location.as_str()),
            (303, "/admin"),
            "{}",
            welcome.html
        );
        operator
    }

    /// Fills in the form of the log-in, and keeps the cookie.
    pub async fn try_password(&mut self, email: &str, password: &str) -> Shown {
        let form = self.get("/admin/login").await.expect(200);
        let fields =
            [("csrf", form.hidden("csrf")), ("email", email.into()), ("password", password.into())];
        self.send("/admin/login", &fields).await
    }

    /// Asks for a page.
    ///
    /// # Panics
    /// The service does not answer.
    pub async fn get(&mut self, path: &str) -> Shown {
        let request = self.http.get(format!("{}{path}", self.origin)).header(COOKIE, &self.cookie);
        self.read(request.send().await.expect("an answer")).await
    }

    /// Sends a form.
    ///
    /// # Panics
    /// The service does not answer.
    pub async fn send(&mut self, path: &str, fields: &[(&str, String)]) -> Shown {
        let request = self.http.post(format!("{}{path}", self.origin)).header(COOKIE, &self.cookie);
        self.read(request.form(fields).send().await.expect("an answer")).await
    }

    /// Asks to do something, gives a reason, and does it; what came of it stands on the page that follows.
    ///
    /// # Panics
    /// It is refused.
    pub async fn act(&mut self, verb: &str, fields: &[(&str, &str)], reason: &str) -> Shown {
        let query =
            url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let question = self.get(&format!("/admin/act/{verb}?{query}")).await.expect(200);
        let mut sent: Vec<(&str, String)> =
            fields.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        sent.push(("csrf", question.hidden("csrf")));
        sent.push(("order", question.hidden("order")));
        sent.push(("reason", reason.to_owned()));
        let done = self.send(&format!("/admin/act/{verb}"), &sent).await.expect(303);
        self.get(&done.location).await.expect(200)
    }

    async fn read(&mut self, reply: Response) -> Shown {
        let header = |name: &str| {
            reply.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or("").to_owned()
        };
        let (status, location) = (reply.status().as_u16(), header("location"));
        assert_eq!(header("cache-control"), "no-store", "pages of operators are kept nowhere");
        assert!(!header("content-security-policy").contains("unsafe"));
        for line in reply.headers().get_all(SET_COOKIE) {
            let line = line.to_str().expect("text");
            assert!(line.contains("; HttpOnly") && line.contains("; SameSite=Strict"), "{line}");
            let pair = line.split(';').next().unwrap_or_default();
            let name = pair.split('=').next().unwrap_or_default();
            let others =
                self.cookie.split("; ").filter(|known| !known.starts_with(&format!("{name}=")));
            let kept: Vec<_> = others.chain([pair]).filter(|pair| !pair.is_empty()).collect();
            self.cookie = kept.join("; ");
        }
        Shown { status, location, html: reply.text().await.expect("a page") }
    }
}
