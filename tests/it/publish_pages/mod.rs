//! The pages of a person's dashboard: home, posts, accounts and the composer, without scripts and in a real browser.

mod accounts;
mod compose_sets;
mod composer;
mod files;
mod films;
mod following;
mod home;
mod looks;
mod posts;
mod roles;
mod sets;

use fanfare_core::access::Scope;
use fanfare_tests::{Options, TestApp, User, Visitor};
use serde_json::{Value, json};

/// A text of somebody who wants to run a script in the page.
const HOSTILE: &str = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>";

/// A service without workers: nothing happens but what the person does.
async fn quiet() -> TestApp {
    TestApp::with(Options { workers: false, ..Options::default() }).await
}

/// A person in a browser, and the person's key.
async fn person(app: &TestApp, email: &str) -> (Visitor, User) {
    let (id, visitor) = Visitor::person(app, email).await;
    (visitor, app.key(id, None, &Scope::ALL).await)
}

/// Makes a post; its id.
async fn post(user: &User, body: Value) -> i64 {
    user.publish(body).await["id"].as_i64().unwrap()
}

/// Makes a post for a day from now; its id.
async fn tomorrow(app: &TestApp, user: &User, account: i64, caption: &str) -> i64 {
    let body = json!({"account_id": account, "caption": caption, "scheduled_at": app.at(86_400)});
    post(user, body).await
}

/// The post as the API shows it.
async fn shown(user: &User, id: i64) -> Value {
    user.get(&format!("/api/v1/posts/{id}")).await.expect(200).body["post"].clone()
}

/// Sends a form of a page, with its token.
async fn send(
    visitor: &mut Visitor,
    page: &str,
    action: &str,
    fields: &[(&str, &str)],
) -> fanfare_tests::visitor::PageReply {
    let csrf = visitor.get(page).await.expect(200).hidden("csrf");
    let mut sent = vec![("csrf", csrf)];
    sent.extend(fields.iter().map(|(name, value)| (*name, (*value).to_owned())));
    visitor.send(action, &sent).await
}

/// Has the pages show another workspace.
async fn choose(visitor: &mut Visitor, workspace: &str) -> fanfare_tests::visitor::PageReply {
    let fields = [("workspace_id", workspace)];
    send(visitor, "/dashboard", "/dashboard/workspace", &fields).await
}

/// The workspace of the accounts that a key sees.
async fn workspace(user: &User) -> fanfare_core::WorkspaceId {
    let accounts = user.get("/api/v1/accounts").await.expect(200).body["accounts"].clone();
    let id = accounts[0]["workspace_id"].as_str().expect("an account");
    fanfare_core::WorkspaceId(id.parse().expect("an id"))
}
