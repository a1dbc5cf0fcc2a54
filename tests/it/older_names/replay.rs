//! The whole table of accepted older names, request by request.

use fanfare_core::access::PlanTier;
use fanfare_people::users;
use fanfare_tests::{Options, TestApp, User, networks};
use reqwest::Method;
use serde_json::{Value, json};

use super::username;

/// A request in older names, and the status that it gets.
struct Row {
    method: Method,
    path: String,
    body: Option<Value>,
    status: u16,
}

fn row(
    method: Method,
    path: impl Into<String>,
    body: impl Into<Option<Value>>,
    status: u16,
) -> Row {
    Row { method, path: path.into(), body: body.into(), status }
}

fn get(path: impl Into<String>) -> Row {
    row(Method::GET, path, None, 200)
}

fn post(path: &str, body: Value, status: u16) -> Row {
    row(Method::POST, path, body, status)
}

async fn replay(user: &User, rows: Vec<Row>) {
    for Row { method, path, body, status } in rows {
        let answer = user.send(method.clone(), &path, &[], body.as_ref()).await;
        assert_eq!(answer.status, status, "{method} {path} {body:?}\n{}", answer.text);
    }
}

/// A person whose workspace has every part of the service.
async fn pro(app: &TestApp) -> User {
    let user = app.user().await;
    let me = user.get("/api/v1/whoami").await.expect(200).body;
    let id = me["workspaces"][0]["id"].as_str().unwrap().parse().unwrap();
    users::set_plan(&app.domain, fanfare_core::WorkspaceId(id), PlanTier::Pro, None).await.unwrap();
    user
}

#[tokio::test]
async fn posts_lists_slots_and_files_are_asked_for_in_older_names() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("instagram").await;
    let name = username(&user, account).await;
    let named = |caption: &str| json!({"username": name, "platform": "instagram", "caption": caption, "scheduled_at": app.at(3_600), "status": "draft"});
    let reel = json!({"account_id": account, "post_type": "reel", "status": "draft", "reel_cover_url": "https://example.com/a.jpg"});
    let checked = json!({"username": name, "platform": "instagram", "caption": "x", "status": "draft", "dry_run": true});
    let many = json!({"posts": [named("a"), {"account_id": account, "status": "draft", "post_type": "reel", "reel_cover_url": "https://example.com/a.jpg"}]});
    let file = json!({"file_name": "dot.gif", "content_type": "image/gif", "file_data": "R0lGODlhAQABAIAAAP9mAAAAACwAAAAAAQABAAACAkQBADs="});
    let made = user.post("/api/v1/posts", named("first")).await.expect(201).body;
    let id = made["post"]["id"].clone();
    assert_eq!(made["workspace"]["resolved_from"], "account", "{made:#}");
    let later = app.at(0);
    let mut rows = vec![
        post("/api/v1/posts", named("second"), 201),
        post("/api/v1/posts", reel, 201),
        post("/api/v1/posts", checked, 200),
        post("/api/v1/posts/batch", many, 200),
        post("/api/v1/media/upload", file.clone(), 201),
        post("/api/v1/media/signed-upload/upload", file, 201),
        get(format!("/api/v1/slots/next?account_ids={account}&count=10&timezone=Europe/Berlin")),
        get("/api/v1/slots/next"),
        row(
            Method::PUT,
            format!("/api/v1/posts/{id}/release-id"),
            json!({"release_id": "1", "group_id": "spring"}),
            200,
        ),
    ];
    for query in [
        "offset=0",
        "offset=10000",
        "sort_by=scheduled_at",
        "sort_by=updated_at&order=asc",
        "sort_by=created_at&order=desc",
        &format!("updated_since={later}"),
        &format!("created_since={later}"),
        &format!("scheduled_from={later}&scheduled_to={later}"),
        "group_id=spring",
        "limit=200",
        "platform=twitter",
    ] {
        rows.push(get(format!("/api/v1/posts?{query}")));
    }
    for query in ["offset=1", "offset=1&limit=50"] {
        rows.push(get(format!("/api/v1/media?{query}")));
    }
    for list in ["activity", "notifications"] {
        for query in
            ["offset=1", &format!("since={later}"), &format!("post_id={id}"), "type=post.created"]
        {
            rows.push(get(format!("/api/v1/{list}?{query}")));
        }
    }
    replay(&user, rows).await;
}

#[tokio::test]
async fn tools_webhooks_and_platforms_go_by_their_older_names() {
    let app = TestApp::with(Options { stand_ins: true, ..Options::default() }).await;
    let user = app.user().await;
    let company = user.connect("linkedin").await;
    let hook = json!({"url": "https://203.0.113.7/hook", "is_active": true, "description": "Ours"});
    let hook = user.post("/api/v1/webhooks", hook).await.expect(201).body["webhook"].clone();
    assert_eq!((&hook["description"], &hook["enabled"]), (&json!("Ours"), &json!(true)));
    let hook = format!("/api/v1/webhooks/{}", hook["id"].as_str().unwrap());
    let trigger = "/api/v1/platforms/trigger";
    let lookup = json!({"helper": "linkedin.company_lookup", "account_id": company, "platform": "linkedin_page", "params": {"vanity": "nobody-at-all"}});
    let mut rows = vec![
        post(trigger, json!({"helper": "x.quota", "params": {}, "platform": "twitter"}), 200),
        post(trigger, lookup, 200),
        row(Method::PATCH, &hook, json!({"is_active": false, "description": "Theirs"}), 200),
        row(Method::PATCH, &hook, json!({"description": null}), 200),
    ];
    for name in ["twitter", "gmb", "google-business", "linkedin_page"] {
        rows.push(get(format!("/api/v1/connect/{name}")));
        rows.push(get(format!("/api/v1/posts?platform={name}")));
        rows.push(post("/api/v1/sandbox/accounts", json!({"platform": name}), 201));
        let link = format!("/api/v1/connect/{name}/sessions");
        rows.push(post(&link, json!({}), 201));
    }
    for (network, older) in [
        ("bluesky", [("handle", "identifier"), ("app_password", "app_password")].as_slice()),
        ("hashnode", &[("pat", "personal_access_token")]),
        (
            "lemmy",
            &[("instance", "instance_url"), ("username", "username"), ("password", "password")],
        ),
    ] {
        let known = app.simulator.stand_in(network).await["credentials"].clone();
        let mut sent = known.as_object().unwrap().clone();
        for (name, today) in older {
            if let Some(value) = sent.remove(*today) {
                sent.insert((*name).to_owned(), value);
            }
        }
        let path = format!("/api/v1/connect/{network}/credentials");
        rows.push(post(&path, json!({"credentials": sent}), 200));
    }
    replay(&user, rows).await;
}

#[tokio::test]
async fn answers_reviews_and_captions_are_written_in_older_names() {
    let app = TestApp::start().await;
    let user = pro(&app).await;
    let page = user.connect("facebook").await;
    let shown = networks::publish(&app, &user, networks::post("facebook", page)).await;
    assert_eq!(shown["status"], "published", "{shown:#}");
    let profile = user.connect("google_business").await;
    for (network, account, kind) in [
        ("facebook", page, "message"),
        ("facebook", page, "comment"),
        ("google_business", profile, "review"),
    ] {
        let item = json!({"account_id": account, "kind": kind, "text": "Hi", "rating": (kind == "review").then_some(5)});
        let path = format!("/api/v1/sandbox/{network}/inbound");
        let item: Value = item
            .as_object()
            .unwrap()
            .clone()
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .collect();
        let _ = user.post(&path, item).await.expect(201);
    }
    let first = async |path: &str, list: &str| {
        app.eventually_in_time(list, std::time::Duration::from_secs(60), || async {
            let page = user.get(path).await.expect(200).body;
            page[list].get(0).map(|one| one["id"].clone())
        })
        .await
    };
    let plain = |id: Value| id.as_str().map_or_else(|| id.to_string(), str::to_owned);
    let conversation = plain(first("/api/v1/inbox/conversations", "conversations").await);
    let comment = plain(first("/api/v1/inbox/comments", "comments").await);
    let review = first("/api/v1/google-business/reviews", "reviews").await;
    let answered = post(
        "/api/v1/google-business/reviews/reply",
        json!({"review_id": review, "comment": "Thank you"}),
        201,
    );
    let captions = json!({"source_caption": "Brunch on Sunday", "social_account_id": page});
    replay(
        &user,
        vec![
            post(
                &format!("/api/v1/inbox/conversations/{conversation}/reply"),
                json!({"content": "Hello"}),
                201,
            ),
            post(
                &format!("/api/v1/inbox/comments/{comment}/reply"),
                json!({"content": "Thanks"}),
                201,
            ),
            row(
                Method::PATCH,
                format!("/api/v1/inbox/comments/{comment}"),
                json!({"is_hidden": true}),
                200,
            ),
            answered,
            post("/api/v1/ai/generate-captions", captions, 200),
        ],
    )
    .await;
}

/// The files of a post of a generic type.
fn files(kind: &str) -> Value {
    match kind {
        "text" => json!([]),
        "image" => json!(["https://example.com/a.jpg"]),
        "carousel" => json!(["https://example.com/a.jpg", "https://example.com/b.jpg"]),
        _ => json!(["https://example.com/a.mp4"]),
    }
}

#[tokio::test]
async fn generic_types_are_taken_by_every_network() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = pro(&app).await;
    for network in networks::all() {
        let account = user.connect(network).await;
        let spec = networks::connector(network).spec();
        let own: Vec<&str> = spec.post_types.iter().map(|kind| kind.name).collect();
        for kind in ["text", "image", "video", "carousel", "reel", "story"] {
            let body = json!({"account_id": account, "caption": "Hi", "post_type": kind, "media_urls": files(kind), "settings": networks::needed_settings(network), "dry_run": true});
            let answer = user.post("/api/v1/posts", body).await;
            let is_own = own.contains(&kind);
            let broken = answer.body["validation_errors"].as_array().cloned().unwrap_or_default();
            let codes: Vec<&Value> = broken
                .iter()
                .filter(|one| one["field"] == "post_type")
                .map(|one| &one["code"])
                .collect();
            if matches!(kind, "reel" | "story") && !is_own {
                assert_eq!(codes, ["post_type_unsupported"], "{network} {kind}: {}", answer.text);
                continue;
            }
            assert_eq!(codes, Vec::<&str>::new(), "{network} {kind}: {}", answer.text);
            if answer.status == 200 {
                let post = &answer.body["post"];
                let requested = if is_own { Value::Null } else { json!(kind) };
                assert_eq!(post["requested_post_type"], requested, "{network} {kind}: {post:#}");
                assert!(own.iter().any(|name| post["post_type"] == *name), "{network}: {post:#}");
            }
        }
    }
}

#[tokio::test]
async fn the_type_that_was_asked_for_stays_with_the_post() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let body = json!({"account_id": account, "caption": "x", "post_type": "text", "scheduled_at": app.at(3_600)});
    let made = user.publish(body).await;
    let path = format!("/api/v1/posts/{}", made["id"]);
    let shown = async || user.get(&path).await.expect(200).body["post"].clone();
    let post = shown().await;
    assert_eq!(
        (&post["post_type"], &post["requested_post_type"]),
        (&json!("feed"), &json!("text"))
    );
    let mistyped = json!({"post_type": "carousel", "media_urls": ["https://example.com/a.jpg"]});
    let _ = user.patch(&path, mistyped).await.refused(400, "post_type_mismatch");
    let _ = user.patch(&path, json!({"post_type": "feed"})).await.expect(200);
    assert_eq!(shown().await["requested_post_type"], Value::Null);
}
