//! Users who connect accounts in a browser.

use fanfare_core::UserId;
use fanfare_people::sign_in;
use secrecy::SecretString;

use crate::{
    TestApp, Visitor,
    visitor::{PASSWORD, PageReply},
};

impl Visitor {
    /// Creates a user with a password, and logs in.
    ///
    /// # Panics
    /// The log-in is refused.
    pub async fn person(app: &TestApp, email: &str) -> (UserId, Self) {
        let id = app.person(email).await;
        let password = SecretString::from(PASSWORD);
        sign_in::set_password(&app.domain, email, password).await.expect("a password");
        let mut person = Self::nobody(app);
        let welcome = person.try_password_at("/login", email, PASSWORD).await.expect(303);
        assert_eq!(welcome.location, "/dashboard");
        (id, person)
    }

    /// Sends a step of a connect session.
    ///
    /// # Panics
    /// The page has no form.
    pub async fn step(&mut self, page: &str, verb: &str, fields: &[(&str, &str)]) -> PageReply {
        let csrf = self.get(page).await.hidden("csrf");
        let mut sent = vec![("csrf", csrf)];
        sent.extend(fields.iter().map(|(name, value)| (*name, (*value).to_owned())));
        self.send(&format!("{page}/{verb}"), &sent).await
    }

    /// Sends a step that the page no longer offers.
    ///
    /// # Panics
    /// There is no page with a form at all.
    pub async fn step_blind(
        &mut self,
        page: &str,
        verb: &str,
        fields: &[(&str, &str)],
    ) -> PageReply {
        let csrf = self.get("/connect").await.hidden("csrf");
        let mut sent = vec![("csrf", csrf)];
        sent.extend(fields.iter().map(|(name, value)| (*name, (*value).to_owned())));
        self.send(&format!("{page}/{verb}"), &sent).await
    }

    /// Returns the same browser for another process of the service.
    #[must_use]
    pub fn at(&self, origin: &str) -> Self {
        self.with_origin(origin)
    }

    /// Follows the link from the page of a session to the network; returns the network's page.
    ///
    /// # Panics
    /// The page does not lead anywhere.
    pub async fn leave(&mut self, page: &str) -> String {
        let away = self.step(page, "go", &[]).await.expect(200);
        away.link("Continue to")
    }

    /// Grants access as the first account of the network's page, or denies it; returns the redirect.
    ///
    /// # Panics
    /// The network does not offer that.
    pub async fn answer(&self, page: &str, words: Option<&str>) -> String {
        let shown = self.elsewhere(page).await.expect(200);
        let link = words.map_or_else(|| shown.first_choice(), |words| shown.link(words));
        let back = self.elsewhere(&link).await;
        assert_eq!(back.status, 302, "{}", back.html);
        back.location.trim_end_matches("#_").to_owned()
    }
}

impl PageReply {
    /// Returns the address of the link with this text.
    ///
    /// # Panics
    /// The page has no such link.
    #[must_use]
    #[track_caller]
    pub fn link(&self, words: &str) -> String {
        let found = self.links().into_iter().find(|(_, text)| text.contains(words));
        found.unwrap_or_else(|| panic!("no link {words:?} in {}", self.html)).0
    }

    fn first_choice(&self) -> String {
        let chosen = self.links().into_iter().find(|(link, _)| link.contains("account="));
        chosen.unwrap_or_else(|| panic!("nobody to choose in {}", self.html)).0
    }

    fn links(&self) -> Vec<(String, String)> {
        let pieces = self.html.split("<a ").skip(1);
        let link = |piece: &str| {
            let from = piece.find("href=\"")? + 6;
            let href = &piece[from..from + piece[from..].find('"')?];
            let words = piece.split('>').nth(1)?.split('<').next()?;
            Some((href.replace("&amp;", "&"), words.to_owned()))
        };
        pieces.filter_map(link).collect()
    }
}
