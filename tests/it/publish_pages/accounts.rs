//! `/dashboard/accounts`.

use fanfare_core::access::Role;
use fanfare_people::users;
use fanfare_tests::Visitor;

use super::{HOSTILE, choose, person, quiet, send, workspace};

const PAGE: &str = "/dashboard/accounts";

#[tokio::test]
async fn simulated_accounts_are_added_and_disconnected() {
    let app = quiet().await;
    let (mut ada, user) = person(&app, "ada@example.com").await;
    let empty = ada.get(PAGE).await.expect(200).html;
    assert!(empty.contains("No account is connected here yet"));
    let add = format!("{PAGE}/sandbox");
    let fields = [("platform", "bluesky"), ("username", "luna")];
    let _ = send(&mut ada, PAGE, &add, &fields).await.expect(303);
    let odd = send(&mut ada, PAGE, &add, &[("platform", HOSTILE)]).await;
    assert_eq!(odd.status, 400);
    assert!(!odd.html.contains("<script>alert"));
    let listed = user.get("/api/v1/accounts").await.expect(200).body["accounts"].clone();
    let (id, name) = (listed[0]["id"].as_i64().unwrap(), listed[0]["username"].as_str().unwrap());
    let page = ada.get(PAGE).await.expect(200).html;
    assert!(page.contains(name) && page.contains("simulated") && page.contains("Connect again"));
    // It asks before it does it.
    assert!(page.contains("Its credentials are deleted here."));
    let _ = send(&mut ada, PAGE, &format!("{PAGE}/{id}/disconnect"), &[]).await.expect(303);
    assert_eq!(user.get("/api/v1/accounts").await.body["accounts"], serde_json::json!([]));
}

#[tokio::test]
async fn a_viewer_changes_nothing() {
    let app = quiet().await;
    let (_, user) = person(&app, "ada@example.com").await;
    let account = user.connect("bluesky").await;
    let workspace = workspace(&user).await;
    let text = workspace.to_string();
    let (viewer, mut bob) = Visitor::person(&app, "bob@example.com").await;
    users::set_member(&app.domain, workspace, viewer, Role::Viewer).await.unwrap();
    let chosen = choose(&mut bob, &text);
    let _ = chosen.await.expect(303);
    let page = bob.get(PAGE).await.expect(200).html;
    assert!(
        page.contains("Bluesky") && !page.contains("/disconnect\"") && !page.contains("Try it out")
    );
    let gone = send(&mut bob, PAGE, &format!("{PAGE}/{account}/disconnect"), &[]).await;
    assert_eq!(gone.status, 403);
    let added = send(&mut bob, PAGE, &format!("{PAGE}/sandbox"), &[("platform", "bluesky")]).await;
    assert_eq!(added.status, 403);
    assert_eq!(user.get("/api/v1/accounts").await.body["accounts"].as_array().unwrap().len(), 1);
}
