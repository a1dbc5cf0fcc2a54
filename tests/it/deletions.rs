//! Every operation that deletes: what is another's reads like what never was, a repeated request is answered as the first
//! one was, and a second one says that it is gone, or that it is so already.

use std::{collections::BTreeSet, time::Duration};

use fanfare_api::routes::ROUTES;
use fanfare_core::access::{PlanTier, Scope};
use fanfare_people::users;
use fanfare_tests::{ApiReply, TestApp, User, Visitor, files::plain_png};
use reqwest::Method;
use serde_json::{Value, json};
use url::form_urlencoded;

use crate::{business, inbox, oauth};

/// Deletions of whole workspaces, which are started, stopped and carried out in stories of their own.
const ELSEWHERE: [&str; 2] = ["delete_workspace", "stop_workspace_deletion"];

/// An operation, the address of what it deletes, and the address of something that never was.
struct Deletion {
    operation: &'static str,
    path: String,
    unknown: String,
}

fn deletion(operation: &'static str, path: impl Fn(&str) -> String, id: &Value) -> Deletion {
    let id = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
    // Of the same form: what is no id at all may be refused in other words.
    let last = if id.ends_with('0') { "1" } else { "0" };
    let other = match id.parse::<i64>() {
        Ok(_) => "987654".to_owned(),
        Err(_) => format!("{}{last}", &id[..id.len() - 1]),
    };
    Deletion { operation, path: path(&id), unknown: path(&other) }
}

/// Something to delete of each kind that belongs to people themselves.
async fn of_a_person(app: &TestApp, user: &User, visitor: &mut Visitor) -> Vec<Deletion> {
    let key = user.post("/api/v1/keys", json!({"name": "short"})).await.expect(201).body;
    let client = json!({"client_name": "Mine", "allowed_redirect_uris": ["https://a.example/cb"]});
    let client = user.post("/api/v1/oauth/clients", client).await.expect(201).body;
    let tool = oauth::register(&app.origin).await;
    let _ = oauth::let_in(app, visitor, &tool).await;
    let grants = user.get("/api/v1/oauth/grants").await.expect(200).body;
    let below = |place: &'static str| move |id: &str| format!("/api/v1/{place}/{id}");
    vec![
        deletion("revoke_api_key", below("keys"), &key["api_key"]["id"]),
        deletion("delete_oauth_client", below("oauth/clients"), &client["client"]["client_id"]),
        deletion("end_oauth_grant", below("oauth/grants"), &grants["grants"][0]["id"]),
    ]
}

/// Something to delete of each kind that a workspace has.
async fn of_a_workspace(user: &User) -> Vec<Deletion> {
    let below = |place: &'static str| move |id: &str| format!("/api/v1/{place}/{id}");
    let leaving = json!(user.connect("bluesky").await);
    let account = user.connect("bluesky").await;
    let draft = |group: Option<&str>| json!({"account_id": account, "caption": "Draft", "status": "draft", "group": group});
    let post = user.publish(draft(None)).await["id"].clone();
    user.publish(draft(Some("spring"))).await;
    let set = json!({"targets": [{"account_id": account}], "caption": "Draft", "status": "draft"});
    let set = user.post("/api/v1/post-sets", set).await.expect(201).body["post_set"]["id"].clone();
    let file = user.upload("dot.png", "image/png", &plain_png(3, 3)).await;
    let hook = json!({"url": "https://example.com/hook", "events": ["*"]});
    let hooks = [
        user.post("/api/v1/webhooks", hook.clone()).await.expect(201).body["webhook"]["id"].clone(),
        user.post("/api/v1/webhooks", hook).await.expect(201).body["webhook"]["id"].clone(),
    ];
    let there = json!({"account_id": account, "text": "Made there"});
    let there =
        user.post("/api/v1/sandbox/bluesky/posts", there).await.expect(201).body["id"].clone();
    let faults = |id: &str| format!("/api/v1/sandbox/bluesky/faults?account_id={id}");
    let post_there = |id: &str| {
        let id: String = form_urlencoded::byte_serialize(id.as_bytes()).collect();
        format!("/api/v1/sandbox/bluesky/posts/{id}?account_id={account}")
    };
    vec![
        deletion("disconnect_account", below("accounts"), &leaving),
        deletion("delete_post", below("posts"), &post),
        deletion(
            "delete_post_group",
            |id| format!("/api/v1/posts/group/{id}?confirm=true"),
            &json!("spring"),
        ),
        deletion("delete_post_set", below("post-sets"), &set),
        deletion("delete_media", below("media"), &file["id"]),
        deletion(
            "delete_earlier_webhook_secrets",
            |id| format!("/api/v1/webhooks/{id}/earlier-secrets"),
            &hooks[0],
        ),
        deletion("delete_webhook", below("webhooks"), &hooks[1]),
        deletion("reset_sandbox_faults", faults, &json!(account)),
        deletion("delete_sandbox_post", post_there, &there),
    ]
}

/// Something to delete of each kind that stands at a network.
async fn at_networks(app: &TestApp, user: &User) -> Vec<Deletion> {
    let (account, path) = inbox::lost::answerable(app, user, "facebook", false).await;
    let comment = path.rsplit('/').next().unwrap().parse::<i64>().unwrap();
    let item = json!({"account_id": account, "kind": "comment", "text": "Taken back"});
    let item = user.post("/api/v1/sandbox/facebook/inbound", item).await.expect(201).body;
    let profile = business::profile(app, user).await;
    business::review(user, profile, "Fine", 5).await;
    business::read(app, user).await;
    let review = business::reviews(user, "").await[0]["id"].clone();
    let reply = json!({"review_id": review, "text": "Thanks"});
    let base = business::BASE;
    let _ = user.post(&format!("{base}/reviews/reply"), reply).await.expect(201);
    let file = user.upload("room.png", "image/png", &plain_png(300, 280)).await;
    let body = json!({"source_url": file["url"], "category": "INTERIOR", "account_id": profile});
    let _ = user.post(&format!("{base}/media"), body).await.expect(202);
    let name = app
        .eventually_in_time("the photo is there", Duration::from_secs(5), || async {
            let page = user.get(&format!("{base}/media")).await.expect(200).body;
            page["media"].get(0).map(|one| one["media_name"].clone()).filter(Value::is_string)
        })
        .await;
    vec![
        deletion("delete_comment", |id| format!("/api/v1/inbox/comments/{id}"), &json!(comment)),
        deletion(
            "delete_sandbox_item",
            |id| format!("/api/v1/sandbox/facebook/inbox/{id}?account_id={account}"),
            &item["id"],
        ),
        deletion(
            "delete_review_reply",
            |id| format!("{base}/reviews/reply?review_id={id}"),
            &review,
        ),
        deletion("delete_business_media", |id| format!("{base}/media?media_name={id}"), &name),
    ]
}

/// What a refusal says, but for the numbers in it.
fn said(reply: &ApiReply) -> (u16, Value, String) {
    let words = reply.body["error"].as_str().unwrap_or_default();
    let words = words.chars().filter(|letter| !letter.is_ascii_digit()).collect();
    (reply.status, reply.body["code"].clone(), words)
}

#[tokio::test]
async fn what_is_deleted_is_ones_own_and_deleted_once() {
    let app = TestApp::start().await;
    let (person, mut visitor) = Visitor::person(&app, "ada@example.com").await;
    let workspace = app.workspace(person).await;
    users::set_plan(&app.domain, workspace, PlanTier::Agency, Some(true)).await.unwrap();
    let user = app.key(person, Some(workspace), &Scope::ALL).await;
    let whole = app.key(person, None, &Scope::ALL).await;
    let stranger = inbox::pro(&app).await;
    let mut all: Vec<(&User, Deletion)> = Vec::new();
    all.extend(of_a_person(&app, &whole, &mut visitor).await.into_iter().map(|one| (&whole, one)));
    all.extend(of_a_workspace(&user).await.into_iter().map(|one| (&user, one)));
    all.extend(at_networks(&app, &user).await.into_iter().map(|one| (&user, one)));
    let made: BTreeSet<_> = all.iter().map(|(_, one)| one.operation).chain(ELSEWHERE).collect();
    let known = ROUTES.iter().filter(|route| route.method.as_str() == "DELETE");
    assert_eq!(made, known.map(|route| route.name).collect());
    for (owner, Deletion { operation, path, unknown }) in all {
        let [foreign, never] = [stranger.delete(&path).await, stranger.delete(&unknown).await];
        assert_eq!(said(&foreign), said(&never), "{operation}: {} {}", foreign.text, never.text);
        assert_eq!(foreign.status, 404, "{operation}: {}", foreign.text);
        let never = owner.delete(&unknown).await;
        assert_eq!(never.status, 404, "{operation}: {}", never.text);
        let key = format!("{operation}-once");
        let keyed = [("Idempotency-Key", key.as_str())];
        let first = owner.send(Method::DELETE, &path, &keyed, None).await;
        assert!(first.status < 300, "{operation}: {}", first.text);
        let replayed = owner.send(Method::DELETE, &path, &keyed, None).await;
        assert_eq!((replayed.status, &replayed.body), (first.status, &first.body), "{operation}");
        let again = owner.delete(&path).await;
        let is_gone = again.status == 404;
        assert!(is_gone || again.status == 200, "{operation}: {}", again.text);
        // What was deleted through us at a network is deleted, however often it is asked for.
        if ["delete_business_media", "delete_comment"].contains(&operation) {
            assert_eq!((again.status, &again.body["deleted"]), (200, &json!(true)), "{operation}");
        }
    }
}
