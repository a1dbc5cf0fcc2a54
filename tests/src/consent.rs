//! The user of the consent page.

use url::Url;

use crate::{Visitor, visitor::PASSWORD};

impl Visitor {
    /// Sends the form of the page with `allow` or `deny`; returns the address that the browser is redirected to.
    ///
    /// # Panics
    /// There is no page, or no redirect.
    pub async fn decide(&mut self, page: &str, decision: &str) -> Url {
        let shown = self.get(page).await.expect(200);
        let mut fields = vec![("csrf", shown.hidden("csrf")), ("decision", decision.to_owned())];
        fields.extend(values(&shown.html, "scope").into_iter().map(|scope| ("scope", scope)));
        if shown.html.contains("name=\"password\"") {
            fields.push(("password", PASSWORD.to_owned()));
        }
        fields.push(("workspace_id", checked(&shown.html, "workspace_id")));
        let sent = self.send(page, &fields).await.expect(303);
        sent.location.parse().expect("an address")
    }
}

/// Returns the values of the fields of this name.
///
/// # Panics
/// The page is incomplete.
#[must_use]
pub fn values(html: &str, name: &str) -> Vec<String> {
    let mark = format!("name=\"{name}\" value=\"");
    let all = html.split(&mark).skip(1);
    all.map(|rest| rest[..rest.find('"').expect("an end")].to_owned()).collect()
}

/// Returns the value of the checked field of this name.
///
/// # Panics
/// None is.
#[must_use]
pub fn checked(html: &str, name: &str) -> String {
    let mark = format!("name=\"{name}\" value=\"");
    let mut all = html.split(&mark).skip(1);
    let is_chosen = |rest: &&str| rest[..rest.find('>').expect("an end")].ends_with(" checked");
    let chosen = all.find(is_chosen).unwrap_or_else(|| panic!("no {name} is chosen in {html}"));
    chosen[..chosen.find('"').expect("an end")].to_owned()
}
