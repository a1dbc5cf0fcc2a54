//! The dashboard of a person: usage, numbers, inbox, reviews, team, webhooks, settings. Each page works without scripts, shows what
//! the person may see and nothing else, and does what the API does.

mod analytics;
mod audited;
mod form_reader;
mod forms;
mod inbox;
mod invitations;
mod looks;
mod manage;
mod typed;
mod usage;
mod ways_in;
mod zones;

use fanfare_core::{UserId, WorkspaceId, access::Scope};
use fanfare_tests::{TestApp, User, Visitor, visitor::PageReply};

/// A person with a password, at a browser and with a key.
struct Somebody {
    id: UserId,
    home: WorkspaceId,
    browser: Visitor,
    user: User,
}

impl Somebody {
    async fn new(app: &TestApp, email: &str) -> Self {
        let (id, browser) = Visitor::person(app, email).await;
        let user = app.key(id, None, &Scope::ALL).await;
        let me = user.get("/api/v1/whoami").await.expect(200).body;
        let home = me["workspaces"][0]["id"].as_str().unwrap().parse().unwrap();
        Self { id, home: WorkspaceId(home), browser, user }
    }

    /// Shows another workspace from now on.
    async fn choose(&mut self, workspace: WorkspaceId) {
        let csrf = self.browser.get("/dashboard/settings").await.hidden("csrf");
        let chosen = [("csrf", csrf), ("workspace_id", workspace.to_string())];
        let _ = self.browser.send("/dashboard/workspace", &chosen).await.expect(303);
    }

    async fn page(&mut self, path: &str) -> PageReply {
        self.browser.get(path).await.expect(200)
    }

    /// Sends a form of a page, with the hidden fields of the page.
    async fn send(&mut self, page: &str, action: &str, fields: &[(&str, &str)]) -> PageReply {
        let shown = self.page(page).await;
        self.fill_in(&shown, action, fields).await
    }

    /// Sends a form of a page that was shown before, with the hidden fields of the page.
    async fn fill_in(
        &mut self,
        shown: &PageReply,
        action: &str,
        fields: &[(&str, &str)],
    ) -> PageReply {
        let mut sent = vec![("csrf", shown.hidden("csrf"))];
        for name in ["once", "workspace_id"] {
            if shown.html.contains(&format!("name=\"{name}\" value=\"")) {
                sent.push((name, shown.hidden(name)));
            }
        }
        sent.extend(fields.iter().map(|(name, value)| (*name, (*value).to_owned())));
        self.browser.send(action, &sent).await
    }
}

/// Text that would be markup if it were not escaped.
const HOSTILE: &str = "<script>alert(1)</script><img src=x onerror=alert(2)>";

/// Fails if a page holds markup of somebody's text.
#[track_caller]
fn assert_escaped(page: &PageReply) {
    assert!(!page.html.contains("<script>alert"), "{}", page.html);
    assert!(!page.html.contains("<img src=x"), "{}", page.html);
}
