//! Bad requests, corrected blindly by the fixes that their refusals bring.

mod callers;
mod causes;
mod doors;
mod mistakes;
mod near_misses;
mod parameters;

use std::{collections::BTreeMap, time::Duration};

use fanfare_core::access::Scope;
use fanfare_tests::{ApiReply, Options, TestApp, User};
use reqwest::Method;
use sea_orm::ConnectionTrait;
use serde_json::{Map, Value, json};

use mistakes::mistakes;

/// A request that is right, of one operation.
struct Valid {
    operation: &'static str,
    method: Method,
    path: String,
    body: Value,
}

async fn quiet() -> (TestApp, User) {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    // A zone that somebody chose, in which clocks show UTC or an hour more.
    let chosen = "UPDATE workspaces SET timezone = 'Europe/London'";
    let _ = app.domain.db.write.execute_unprepared(chosen).await.expect("the zone changes");
    (app, user)
}

/// Returns a right request of each operation that can be repeated on a service without networks and models.
async fn valid(app: &TestApp, user: &User) -> Vec<Valid> {
    let account = user.connect("bluesky").await;
    let later = app.at(7_200);
    let post = json!({"account_id": account, "caption": "Later", "scheduled_at": later});
    let id = user.publish(post).await["id"].clone();
    let hook = json!({"url": "https://203.0.113.7/hook", "events": ["post.published"]});
    let made = user.post("/api/v1/webhooks", hook.clone()).await.expect(201).body;
    let hook_id = made["webhook"]["id"].as_str().unwrap().to_owned();
    let one = |operation, method, path: &str, body| Valid {
        operation,
        method,
        path: path.to_owned(),
        body,
    };
    let post = |operation, path: &str, body| one(operation, Method::POST, path, body);
    let full = json!({
        "account_id": account, "caption": "Checked", "scheduled_at": later, "status": "scheduled",
        "post_type": "feed", "group": "spring", "dry_run": true,
        "settings": {"languages": ["en"]}, "media_urls": [],
    });
    vec![
        post("create_post", "/api/v1/posts", full.clone()),
        one(
            "update_post",
            Method::PATCH,
            &format!("/api/v1/posts/{id}"),
            json!({"caption": "Changed", "scheduled_at": app.at(9_000), "group": "spring", "settings": {"languages": ["de"]}}),
        ),
        one(
            "update_post_status",
            Method::PUT,
            &format!("/api/v1/posts/{id}/status"),
            json!({"status": "scheduled", "scheduled_at": app.at(9_600)}),
        ),
        one(
            "update_post_release_id",
            Method::PUT,
            &format!("/api/v1/posts/{id}/release-id"),
            json!({"release_id": "2030.1", "group": "spring"}),
        ),
        one(
            "set_account_slots",
            Method::PUT,
            &format!("/api/v1/accounts/{account}/slots"),
            json!({"times": ["09:00"], "days": ["monday"], "timezone": "Europe/Berlin"}),
        ),
        one(
            "update_webhook",
            Method::PATCH,
            &format!("/api/v1/webhooks/{hook_id}"),
            json!({"events": ["post.failed"], "enabled": false}),
        ),
        post(
            "create_api_key",
            "/api/v1/keys",
            json!({"name": "Other", "scopes": ["posts:read"], "expires_in_days": 30}),
        ),
        post(
            "submit_product_feedback",
            "/api/v1/feedback",
            json!({
                "category": "feature", "title": "One more network", "description": "Customers ask for it.",
                "confirm": true, "source": "api",
            }),
        ),
        post(
            "submit_agent_feedback",
            "/api/v1/agent-feedback",
            json!({"source": "mcp", "tool": "create_post", "outcome": "failure"}),
        ),
        post("ask_support", "/api/v1/support/chat", json!({"message": "How are posts scheduled?"})),
        post("create_media_drop", "/api/v1/media/drop-sessions", json!({})),
        post(
            "create_signed_upload",
            "/api/v1/media/signed-upload",
            json!({"filename": "film.mp4", "content_type": "video/mp4", "size": 1_024}),
        ),
        post("create_sandbox_account", "/api/v1/sandbox/accounts", json!({"platform": "mastodon"})),
        post(
            "trigger_platform_helper",
            "/api/v1/platforms/trigger",
            json!({"tool": "x.quota", "input": {}}),
        ),
    ]
}

/// Returns all fixes of a refusal, in their order.
fn fixes(refused: &Value) -> Vec<Value> {
    let broken = refused["validation_errors"].as_array().into_iter().flatten();
    broken.flat_map(|one| one["fix"].as_array().cloned().unwrap_or_default()).collect()
}

/// Applies JSON Patch, as far as fixes use it.
fn patched(body: &Value, fixes: &[Value]) -> Value {
    let mut next = body.clone();
    for fix in fixes {
        let (op, path) = (fix["op"].as_str().unwrap(), fix["path"].as_str().unwrap());
        let value = match op {
            "move" => taken(&mut next, fix["from"].as_str().unwrap()),
            "remove" => {
                let _ = taken(&mut next, path);
                continue;
            }
            _ => fix["value"].clone(),
        };
        let (parent, name) = path.rsplit_once('/').unwrap();
        let parent = next.pointer_mut(parent).expect("the place of a fix is there");
        parent.as_object_mut().expect("an object").insert(name.to_owned(), value);
    }
    next
}

fn taken(body: &mut Value, path: &str) -> Value {
    let (parent, name) = path.rsplit_once('/').unwrap();
    let fields: &mut Map<_, _> = body.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    fields.remove(name).expect("what a fix takes is there")
}

async fn sent(user: &User, valid: &Valid, body: &Value) -> ApiReply {
    user.send(valid.method.clone(), &valid.path, &[], Some(body)).await
}

/// Says what a corrected body does that no fix may do.
fn forbidden(right: &Value, corrected: &Value) -> Option<&'static str> {
    let text = |body: &Value| body["caption"].as_str().unwrap_or_default().chars().count();
    let files = |body: &Value| body["media_urls"].as_array().map_or(0, Vec::len);
    if text(corrected) < text(right) {
        return Some("shortens the text");
    }
    if files(corrected) < files(right) {
        return Some("drops media");
    }
    if right["scheduled_at"].is_string() && !corrected["scheduled_at"].is_string() {
        return Some("publishes earlier");
    }
    (right["dry_run"] != corrected["dry_run"]).then_some("spends")
}

#[tokio::test]
async fn fixes_applied_blindly_correct_what_can_be_corrected() {
    let (app, user) = quiet().await;
    let mut classes: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut missed = Vec::new();
    for valid in valid(&app, &user).await {
        let right = sent(&user, &valid, &valid.body).await;
        assert!(right.status < 300, "{}: {}", valid.operation, right.text);
        for broken in mistakes(&valid.body) {
            let refused = sent(&user, &valid, &broken.body).await;
            if refused.status < 300 {
                continue;
            }
            let (operation, class) = (valid.operation, broken.class);
            let corrected = patched(&broken.body, &fixes(&refused.body));
            assert_eq!(
                forbidden(&valid.body, &corrected),
                None,
                "{operation}, {class}: {corrected:#}"
            );
            let again = sent(&user, &valid, &corrected).await;
            assert!(again.status < 500, "{operation}, {class}: {}", again.text);
            let (right, all) = classes.entry(class).or_default();
            *all += 1;
            if again.status < 300 {
                *right += 1;
                // A plan has a number of keys.
                if let (Some(key), "create_api_key") =
                    (again.body["api_key"]["id"].as_str(), operation)
                {
                    let _ = user.delete(&format!("/api/v1/keys/{key}")).await.expect(200);
                }
            } else {
                missed.push(format!("{operation}, {class}: {} -> {}", broken.body, again.text));
            }
        }
    }
    for (class, (right, all)) in &classes {
        eprintln!("{class}: {right} of {all}");
    }
    let (right, all) =
        classes.values().fold((0, 0), |(right, all), (more, of)| (right + more, all + of));
    eprintln!(
        "{right} of {all} requests pass with their fixes; these do not:\n{}",
        missed.join("\n")
    );
    assert!(classes.len() >= 12 && all >= 80, "{} classes, {all} requests", classes.len());
    assert_eq!(right, all, "{}", missed.join("\n"));
}

#[tokio::test]
async fn what_only_a_person_can_decide_has_no_fix() {
    let (app, user) = quiet().await;
    let account = user.connect("bluesky").await;
    for (body, code) in [
        (json!({"caption": "x".repeat(301)}), "caption_too_long"),
        (json!({"caption": "x", "scheduled_at": app.at(-3_600)}), "scheduled_in_past"),
        (json!({"caption": "x", "scheduled_at": null}), "invalid_field"),
        (json!({"caption": "x", "scheduled_at": "tomorrow"}), "invalid_timestamp"),
        (json!({"caption": ""}), "caption_required"),
        (json!({"caption": "x", "captoin": "y"}), "unknown_field"),
    ] {
        let mut body = body;
        body["account_id"] = account.into();
        let refused = user.post("/api/v1/posts", body.clone()).await.refused(400, code);
        assert_eq!(fixes(&refused.body), Vec::<Value>::new(), "{body}: {}", refused.text);
    }
}

#[tokio::test]
async fn an_item_of_a_batch_is_corrected_in_its_place() {
    let (app, user) = quiet().await;
    let account = user.connect("bluesky").await;
    let right = json!({
        "account_id": account, "caption": "Right", "scheduled_at": app.at(7_200), "status": "scheduled",
        "post_type": "feed", "group": "spring", "settings": {"languages": ["en"]}, "media_urls": [],
    });
    for broken in mistakes(&right) {
        let batch = json!({"dry_run": true, "posts": [right, broken.body]});
        let first = user.post("/api/v1/posts/batch", batch.clone()).await.expect(200).body;
        if first["errors"] == json!([]) {
            continue;
        }
        let corrected = patched(&batch, &fixes(&first["errors"][0]));
        let second = user.post("/api/v1/posts/batch", corrected).await.expect(200).body;
        assert_eq!(second["errors"], json!([]), "{}: {}", broken.class, broken.body);
    }
}

#[tokio::test]
async fn calls_that_lead_out_work_as_they_stand() {
    let (app, user) = quiet().await;
    let account = user.connect("pinterest").await;
    let steps = |answer: &Value| -> Vec<Value> {
        let own = answer["next"].as_array().into_iter().flatten();
        let broken = answer["validation_errors"].as_array().into_iter().flatten();
        own.chain(broken.flat_map(|one| one["next"].as_array().into_iter().flatten()))
            .cloned()
            .collect()
    };
    let no_board =
        json!({"account_id": account, "caption": "x", "media_url": "https://example.com/a.png"});
    let mut answers = vec![
        user.post("/api/v1/posts", no_board).await.expect(400).body,
        user.post("/api/v1/posts", json!({"account_id": 999_999, "caption": "x"}))
            .await
            .expect(404)
            .body,
        user.get("/api/v1/posts/999999").await.expect(404).body,
        user.get("/api/v1/brands/00000000-0000-0000-0000-000000000000").await.expect(404).body,
    ];
    let id = user
        .publish(json!({"account_id": user.connect("bluesky").await, "caption": "x", "scheduled_at": app.at(600)}))
        .await["id"]
        .clone();
    answers.push(user.post(&format!("/api/v1/posts/{id}/retry"), json!({})).await.expect(409).body);
    for answer in &answers {
        let steps = steps(answer);
        assert!(!steps.is_empty(), "{answer:#}");
        for step in steps {
            let method: Method = step["method"].as_str().unwrap().parse().unwrap();
            let done =
                user.send(method, step["path"].as_str().unwrap(), &[], step.get("body")).await;
            assert!(done.status < 300, "{step}: {}", done.text);
        }
    }
    let boards = steps(&answers[0]);
    assert!(boards.iter().any(|one| one["body"]["tool"] == "pinterest.boards"), "{boards:?}");
}

#[tokio::test]
async fn a_dry_run_looks_ahead() {
    let (app, user) = quiet().await;
    let account = user.connect("bluesky").await;
    let at = app.at(3_600);
    let first = json!({"account_id": account, "caption": "Our spring sale begins today!", "scheduled_at": at});
    let id = user.publish(first).await["id"].clone();
    let check = |caption: &str| json!({"account_id": account, "caption": caption, "scheduled_at": at, "dry_run": true});
    let same = user.post("/api/v1/posts", check("our spring SALE begins today")).await.expect(200);
    assert_eq!(same.body["forecast"]["similar"], json!([id]), "{}", same.text);
    let other = user.post("/api/v1/posts", check("Something else")).await.expect(200);
    assert_eq!(other.body["forecast"]["similar"], json!([]), "{}", other.text);
    let instagram = user.connect("instagram").await;
    let soon = app.domain.clock.now() + 60_000;
    let ends = format!("UPDATE accounts SET token_expires_at = {soon} WHERE id = {instagram}");
    let _ = app.domain.db.write.execute_unprepared(&ends).await.expect("the row changes");
    let file = json!({"account_id": instagram, "media_url": "https://example.com/a.jpg", "scheduled_at": at, "dry_run": true});
    let quota = user.post("/api/v1/posts", file).await.expect(200).body["forecast"].clone();
    assert_eq!(quota["quota"]["used"], 0, "{quota:#}");
    assert_eq!(quota["quota"]["fits"], true, "{quota:#}");
    assert_eq!(quota["token"]["outlives"], false, "{quota:#}");
}

/// Takes an account's access away. Where tokens cannot be refreshed, its network ends the token, and the service finds out
/// by a post.
async fn lose(app: &TestApp, user: &User, platform: &str, account: i64) {
    if platform != "mastodon" {
        let lost =
            format!("UPDATE accounts SET status = 'reconnect_required' WHERE id = {account}");
        let _ = app.domain.db.write.execute_unprepared(&lost).await.expect("the row changes");
        return;
    }
    user.faults(platform, account, json!([{"on": "commit", "kind": "token_expired", "times": 1}]))
        .await;
    user.publish(json!({"account_id": account, "caption": "Too late"})).await;
    app.eventually_in_time("the account is lost", Duration::from_secs(5), || async {
        let listed = user.get("/api/v1/accounts").await.expect(200).body["accounts"].clone();
        let mut listed = listed.as_array().unwrap().clone().into_iter();
        let row = listed.find(|row| row["id"] == account).unwrap();
        (row["connection_status"] == "needs_reconnect").then_some(())
    })
    .await;
}

fn warning<'a>(warnings: &'a Value, code: &str) -> Option<&'a Value> {
    warnings.as_array().unwrap().iter().find(|warning| warning["code"] == code)
}

#[tokio::test]
async fn an_account_that_cannot_publish_says_so_and_how_it_comes_back() {
    const CODE: &str = "account_needs_reconnect";
    let app = TestApp::start().await;
    let id = app.person("ada@example.com").await;
    let user = app.key(id, None, &Scope::ALL).await;
    let writer = app.key(id, None, &[Scope::PostsRead, Scope::PostsWrite]).await;
    for platform in ["mastodon", "threads", "x"] {
        let named = json!({"platform": platform, "username": "kestrel"});
        let made = user.post("/api/v1/sandbox/accounts", named.clone()).await.expect(201);
        let account = made.body["account"]["id"].as_i64().unwrap();
        let post = |caption: &str, fields: Value| {
            let mut body = json!({"account_id": account, "caption": caption});
            body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            body
        };
        let later = json!({"scheduled_at": app.at(86_400)});
        let waiting = user.publish(post("Waiting", later.clone())).await["id"].clone();
        lose(&app, &user, platform, account).await;

        let dry =
            user.post("/api/v1/posts", post("Another", json!({"dry_run": true}))).await.expect(200);
        let told = warning(&dry.body["warnings"], CODE).unwrap_or_else(|| panic!("{}", dry.text));
        let data = &told["parameters"];
        assert_eq!((&data["account_id"], &data["platform"]), (&json!(account), &json!(platform)));
        assert_ne!(dry.body["forecast"]["token"]["outlives"], true, "{}", dry.text);
        let made = user.post("/api/v1/posts", post("A third", later)).await.expect(201);
        assert_eq!(warning(&made.body["warnings"], CODE), Some(told));
        let shown = user.get(&format!("/api/v1/posts/{waiting}")).await.expect(200);
        assert_eq!(warning(&shown.body["post"]["warnings"], CODE), Some(told));
        for query in ["", "&offset=0"] {
            let list = format!("/api/v1/posts?account_id={account}&status=scheduled{query}");
            let listed = user.get(&list).await.expect(200).body["posts"].clone();
            assert_eq!(listed.as_array().unwrap().len(), 2);
            for post in listed.as_array().unwrap() {
                assert!(warning(&post["warnings"], CODE).is_some(), "{post}");
            }
        }
        // A key that may not connect accounts is led to the person who may.
        let shown = writer.get(&format!("/api/v1/posts/{waiting}")).await.expect(200);
        let next = &warning(&shown.body["post"]["warnings"], CODE).unwrap()["next"];
        assert_eq!(next[0]["url"], format!("{}/dashboard/accounts", app.origin), "{next}");

        let call = &told["next"][0];
        let back =
            user.post(call["path"].as_str().unwrap(), call["body"].clone()).await.expect(201);
        assert_eq!(
            (&back.body["account"]["id"], &back.body["account"]["status"]),
            (&json!(account), &json!("connected"))
        );
        let shown = user.get(&format!("/api/v1/posts/{waiting}")).await.expect(200);
        assert_eq!(warning(&shown.body["post"]["warnings"], CODE), None);
        let sent = user.publish(post("Back again", json!({}))).await;
        app.wait_until_published(&user, &sent).await;

        // Once more, by the name that it was made with; and a name that is taken is refused as that.
        lose(&app, &user, platform, account).await;
        let back = user.post("/api/v1/sandbox/accounts", named.clone()).await.expect(201);
        assert_eq!(back.body["account"]["id"], account);
        let taken =
            user.post("/api/v1/sandbox/accounts", named).await.refused(400, "invalid_field");
        assert_eq!(taken.body["validation_errors"][0]["field"], "username", "{}", taken.text);
    }
}

#[tokio::test]
async fn a_second_post_with_the_same_words_is_warned_of() {
    let (app, user) = quiet().await;
    let account = user.connect("bluesky").await;
    let body = json!({"account_id": account, "caption": "Our spring sale begins today!", "status": "draft"});
    let scheduled = json!({"account_id": account, "caption": "Our spring sale begins today!", "scheduled_at": app.at(3_600)});
    let first = user.post("/api/v1/posts", scheduled.clone()).await.expect(201);
    assert_eq!(first.body["warnings"], json!([]), "{}", first.text);
    let id = first.body["post"]["id"].as_i64().unwrap();
    let batch = user.post("/api/v1/posts/batch", json!({"posts": [body]})).await.expect(200);
    let again = user.post("/api/v1/posts", scheduled).await.expect(201);
    for warnings in [&again.body["warnings"], &batch.body["posts"][0]["warnings"]] {
        let told = warning(warnings, "duplicate_content").unwrap_or_else(|| panic!("{warnings}"));
        assert!(told["message"].as_str().unwrap().contains(&format!("Post {id} ")), "{told}");
        let similar = told["parameters"]["similar"].as_array().unwrap();
        assert!(similar.iter().any(|one| one["post_id"] == id && one["kind"] == "exact"), "{told}");
        assert_eq!(told["next"][0]["path"], format!("/api/v1/posts/{id}"));
    }
}
