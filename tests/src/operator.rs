//! Operators in the dashboard under `/admin`.

use fanfare_ops::ops::{Actor, operators};
use secrecy::SecretString;

pub use crate::visitor::{PASSWORD, PageReply};
use crate::{TestApp, Visitor};

/// An operator.
pub type Operator = Visitor;

impl Visitor {
    /// Creates an operator and logs in.
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

    /// Sends the operators' log-in form, and keeps the cookie.
    pub async fn try_password(&mut self, email: &str, password: &str) -> PageReply {
        self.try_password_at("/admin/login", email, password).await
    }

    /// Carries out an action with a reason; returns the page with the result.
    ///
    /// # Panics
    /// It is refused.
    pub async fn act(&mut self, verb: &str, fields: &[(&str, &str)], reason: &str) -> PageReply {
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
}
