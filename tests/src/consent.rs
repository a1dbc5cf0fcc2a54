//! A person on the page of consent, where tools are let in.

use url::Url;

use crate::Visitor;

impl Visitor {
    /// Decides on the page: `allow` or `deny`, with everything as it stands there. The address that the browser is sent to.
    ///
    /// # Panics
    /// The page is not there, or leads nowhere.
    pub async fn decide(&mut self, page: &str, decision: &str) -> Url {
        let shown = self.get(page).await.expect(200);
        let mut fields = vec![("csrf", shown.hidden("csrf")), ("decision", decision.to_owned())];
        fields.extend(values(&shown.html, "scope").into_iter().map(|scope| ("scope", scope)));
        fields.push(("workspace_id", checked(&shown.html, "workspace_id")));
        let sent = self.send(page, &fields).await.expect(303);
        sent.location.parse().expect("an address")
    }
}

/// The values of the fields of this name.
///
/// # Panics
/// The page is cut off.
#[must_use]
pub fn values(html: &str, name: &str) -> Vec<String> {
    let mark = format!("name=\"{name}\" value=\"");
    let all = html.split(&mark).skip(1);
    all.map(|rest| rest[..rest.find('"').expect("an end")].to_owned()).collect()
}

/// The value of the field of this name that is chosen.
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
