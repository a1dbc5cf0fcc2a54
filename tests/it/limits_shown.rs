//! What callers see of their limits: each reply names the nearest one, one call shows all, and the keys of a customer's
//! workspace share that customer's.

use std::collections::BTreeMap;

use fanfare_core::access::{PlanTier, Role, Scope};
use fanfare_people::users;
use fanfare_tests::{Options, TestApp, User};
use serde_json::{Value, json};

async fn limited(factor: f64) -> TestApp {
    TestApp::with(Options { workers: false, limits_factor: factor, ..Options::default() }).await
}

/// The limits of the guide: name, number, window in seconds, and whether they are those of one key.
const PROMISED: &[(&str, u64, u64, bool)] = &[
    ("posts", 100, 3_600, true),
    ("created", 1_000, 3_600, false),
    ("checks", 1_000, 3_600, true),
    ("media", 120, 3_600, true),
    ("reads", 300, 3_600, true),
    ("subscription", 30, 3_600, true),
    ("captions", 20, 60, false),
    ("support_chat", 30, 3_600, false),
    ("connect", 20, 3_600, false),
    ("webhook_tests", 60, 3_600, false),
    ("feedback", 5, 86_400, true),
    ("agent_feedback", 60, 3_600, true),
    ("other", 2_000, 3_600, false),
];

async fn shown(user: &User) -> BTreeMap<String, Value> {
    let all = user.get("/api/v1/rate-limits").await.expect(200).body["rate_limits"].clone();
    let all = all.as_array().unwrap().iter();
    all.map(|one| (one["resource"].as_str().unwrap().to_owned(), one.clone())).collect()
}

#[tokio::test]
async fn one_call_shows_every_limit_and_each_reply_names_its_own() {
    let app = limited(1.0).await;
    let user = app.user().await;
    let all = shown(&user).await;
    assert_eq!(all.len(), PROMISED.len(), "{all:?}");
    for (name, limit, window, of_key) in PROMISED {
        let one = &all[*name];
        let per = if *of_key { "key" } else { "person" };
        assert_eq!(
            (&one["limit"], &one["window_seconds"], &one["per"]),
            (&json!(limit), &json!(window), &json!(per)),
            "{name}"
        );
    }
    assert_eq!(all["reads"]["remaining"], 300, "to look counts only as a request");
    let read = user.get("/api/v1/posts").await.expect(200);
    assert_eq!(read.header("x-ratelimit-resource"), "reads");
    assert_eq!(read.header("x-ratelimit-remaining"), "299");
    let after = shown(&user).await;
    assert_eq!(after["reads"]["remaining"], 299);
    assert_eq!(after["other"]["remaining"], 1_997);
    assert_eq!(
        user.get("/api/v1/whoami").await.expect(200).header("x-ratelimit-resource"),
        "other"
    );
    assert_eq!(user.get("/api/v1/nowhere").await.header("x-ratelimit-resource"), "address");
    let dry = json!({"account_id": user.connect("bluesky").await, "caption": "x", "dry_run": true});
    assert_eq!(
        user.post("/api/v1/posts", dry).await.expect(200).header("x-ratelimit-resource"),
        "checks"
    );
    assert_eq!(user.get("/healthz").await.expect(200).header("x-ratelimit-resource"), "");
}

#[tokio::test]
async fn keys_of_a_workspace_count_on_the_workspace() {
    // 20 requests an hour.
    let app = limited(0.01).await;
    let owner = app.person("owner@example.com").await;
    let (team, other) = (app.workspace(owner).await, app.workspace(owner).await);
    let (id, one) = app.member(team, Role::Admin).await;
    let (_, two) = app.member(team, Role::Viewer).await;
    let (free, elsewhere) =
        (app.key(id, None, &Scope::ALL).await, app.key(owner, Some(other), &Scope::ALL).await);
    for turn in 1..=10 {
        let _ = one.get("/api/v1/whoami").await.expect(200);
        let _ = two.get("/api/v1/whoami").await.expect(200);
        if turn % 2 == 0 {
            // The limit of the address, six a minute here, starts anew.
            app.advance(std::time::Duration::from_secs(61));
        }
    }
    for key in [&one, &two] {
        let refused = key.get("/api/v1/whoami").await.refused(429, "rate_limited");
        assert_eq!(refused.header("x-ratelimit-resource"), "other");
        let message = refused.body["error"].as_str().unwrap().to_owned();
        assert!(message.contains("per hour and workspace"), "{message}");
    }
    assert_eq!(shown(&free).await["other"]["per"], "person");
    let next_door = shown(&elsewhere).await;
    assert_eq!(
        (&next_door["other"]["per"], &next_door["other"]["remaining"]),
        (&json!("workspace"), &json!(19))
    );
}

#[tokio::test]
async fn the_event_stream_waits_for_what_comes_next() {
    let app = limited(1.0).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let latest = user.get("/api/v1/events").await.expect(200).body["latest_sequence"].clone();
    let path = format!("/api/v1/events?type=post.created&cursor={latest}&wait=25");
    let draft = json!({"account_id": account, "caption": "x", "status": "draft"});
    let (waited, made) = tokio::join!(user.get(&path), user.post("/api/v1/posts", draft));
    let (waited, made) = (waited.expect(200).body, made.expect(201).body);
    assert_eq!(waited["events"][0]["data"]["post"]["id"], made["post"]["id"], "{waited}");
    let next = waited["next_cursor"].as_str().unwrap();
    let nothing = user.get(&format!("/api/v1/events?cursor={next}&wait=1")).await.expect(200);
    assert_eq!(nothing.body["events"], json!([]));
    for wrong in ["26", "-1", "x"] {
        let refused = user.get(&format!("/api/v1/events?wait={wrong}")).await;
        refused.refused(400, "invalid_field");
    }
}

#[tokio::test]
async fn a_plan_says_how_many_keys_it_allows() {
    let app = limited(1.0).await;
    let user = app.user().await;
    let who = user.get("/api/v1/whoami").await.expect(200).body;
    let own = who["default_workspace"]["id"].as_str().unwrap().parse().unwrap();
    let own = fanfare_core::WorkspaceId(own);
    for (plan, allowed) in [
        (PlanTier::Starter, 10),
        (PlanTier::Pro, 50),
        (PlanTier::PowerUser, 500),
        (PlanTier::Agency, 500),
    ] {
        users::set_plan(&app.domain, own, plan, Some(true)).await.unwrap();
        let listed = user.get("/api/v1/keys").await.expect(200).body;
        assert_eq!(listed["room"], json!({"used": 1, "max": allowed}), "{plan:?}");
    }
}

#[tokio::test]
async fn a_key_of_a_brand_reaches_that_brand_alone() {
    let app = limited(1.0).await;
    let owner = app.person("owner@example.com").await;
    let team = app.workspace(owner).await;
    let (mine, other) = (app.brand(team, &[]).await, app.brand(team, &[]).await);
    let user = app.key(owner, None, &Scope::ALL).await;
    let connect = async |brand: Option<fanfare_core::BrandId>| {
        let body =
            json!({"platform": "bluesky", "workspace_id": team, "workspace_client_id": brand});
        let made = user.post("/api/v1/sandbox/accounts", body).await.expect(201);
        made.body["account"]["id"].as_i64().unwrap()
    };
    let (inside, beside, without) =
        (connect(Some(mine)).await, connect(Some(other)).await, connect(None).await);
    let asked = json!({"name": "rose", "workspace_client_id": mine});
    let made = user.post("/api/v1/keys", asked).await.expect(201).body;
    assert_eq!(
        (&made["api_key"]["workspace_id"], &made["api_key"]["workspace_client_id"]),
        (&json!(team), &json!(mine))
    );
    let key = User::new(&app.origin, made["key"].as_str().unwrap().to_owned());
    let who = key.get("/api/v1/whoami").await.expect(200).body;
    assert_eq!((&who["key"]["workspace_client_id"], &who["limits"]), (&json!(mine), &Value::Null));
    let listed = key.get("/api/v1/accounts").await.expect(200).body["accounts"].clone();
    let ids: Vec<_> =
        listed.as_array().unwrap().iter().map(|one| one["id"].as_i64().unwrap()).collect();
    assert_eq!(ids, [inside]);
    let draft = |account: i64| json!({"account_id": account, "caption": "x", "status": "draft"});
    let _ = key.post("/api/v1/posts", draft(inside)).await.expect(201);
    for hidden in [beside, without] {
        key.post("/api/v1/posts", draft(hidden)).await.refused(404, "account_not_found");
    }
    let brands = key.get("/api/v1/brands").await.expect(200).body["brands"].clone();
    assert_eq!(brands.as_array().unwrap().len(), 1, "{brands}");
    let events = key.get("/api/v1/events").await.expect(200).body["events"].clone();
    let all =
        user.get(&format!("/api/v1/events?workspace_id={team}")).await.expect(200).body["events"]
            .clone();
    assert!(events.as_array().unwrap().len() < all.as_array().unwrap().len(), "{events}");
    // It makes, sees and ends keys of its brand alone.
    let child = key.post("/api/v1/keys", json!({"name": "child"})).await.expect(201).body;
    assert_eq!(child["api_key"]["workspace_client_id"], json!(mine));
    let wider = json!({"name": "wider", "workspace_client_id": other});
    key.post("/api/v1/keys", wider.clone()).await.refused(404, "brand_not_found");
    let next = user.post("/api/v1/keys", wider).await.expect(201).body["api_key"]["id"].clone();
    let listed = key.get("/api/v1/keys").await.expect(200).body;
    let keys = listed["keys"].as_array().unwrap();
    assert!(
        keys.len() == 2 && keys.iter().all(|one| one["workspace_client_id"] == json!(mine)),
        "{listed}"
    );
    assert_eq!(listed["room"], Value::Null);
    let path = format!("/api/v1/keys/{}", next.as_str().unwrap());
    key.delete(&path).await.refused(404, "key_not_found");
    // The lock of its person holds too.
    users::lock_to_brand(&app.domain, team, owner, other).await.unwrap();
    assert_eq!(key.get("/api/v1/accounts").await.expect(200).body["accounts"], json!([]));
    // A brand of strangers is none.
    let stranger = app.user().await;
    let theirs = json!({"name": "x", "workspace_client_id": mine});
    stranger.post("/api/v1/keys", theirs).await.refused(404, "brand_not_found");
}
