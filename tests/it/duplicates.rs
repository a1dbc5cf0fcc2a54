//! The duplicate guard: posts with the same content for one account, or nearly.

use fanfare_core::access::{Role, Scope};
use fanfare_tests::{ApiReply, Options, TestApp, User, files};
use futures_util::future::{join, join_all};
use reqwest::Method;
use sea_orm::ConnectionTrait;
use serde_json::{Value, json};

const SALE: &str = "Our spring sale begins today!";

const DAY: i64 = 86_400;

async fn quiet() -> (TestApp, User) {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    (app, user)
}

/// A post that goes out so many seconds from now, with these fields.
fn post(app: &TestApp, account: i64, seconds: i64, fields: Value) -> Value {
    let mut body = json!({"account_id": account, "scheduled_at": app.at(seconds)});
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    body
}

async fn create(user: &User, body: &Value) -> ApiReply {
    user.post("/api/v1/posts", body.clone()).await
}

/// Returns the ids and kinds of the posts that an answer calls similar.
fn named(similar: &Value) -> Vec<(i64, String)> {
    let list = similar.as_array().map(Vec::as_slice).unwrap_or_default();
    let one = |one: &Value| {
        assert!(one["scheduled_at"].is_string() && one["status"].is_string(), "{one}");
        (one["post_id"].as_i64().unwrap(), one["kind"].as_str().unwrap().to_owned())
    };
    list.iter().map(one).collect()
}

fn codes(warnings: &Value) -> Vec<&str> {
    let list = warnings.as_array().unwrap().iter();
    list.map(|warning| warning["code"].as_str().unwrap()).collect()
}

/// Returns what the warning about duplicates names.
fn warned(answer: &Value) -> Vec<(i64, String)> {
    let list = answer["warnings"].as_array().unwrap().iter();
    let mut found = list.filter(|warning| warning["code"] == "duplicate_content");
    found.next().map_or_else(Vec::new, |warning| named(&warning["parameters"]["similar"]))
}

/// Carries out a call that an answer leads to.
async fn follow(user: &User, step: &Value) -> ApiReply {
    let method: Method = step["method"].as_str().unwrap().parse().unwrap();
    user.send(method, step["path"].as_str().unwrap(), &[], step.get("body")).await
}

async fn held(user: &User) -> usize {
    user.get("/api/v1/posts?limit=200").await.expect(200).body["posts"].as_array().unwrap().len()
}

#[tokio::test]
async fn of_a_hundred_equal_posts_at_once_one_is_made() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let person = app.person("ada@example.com").await;
    let other = app.second_instance().await;
    let mut callers = Vec::new();
    for _ in 0..4 {
        let key = app.key(person, None, &Scope::ALL).await;
        callers.push(User { origin: other.clone(), ..key.clone() });
        callers.push(key);
    }
    let account = callers[0].connect("bluesky").await;
    let body = post(&app, account, 600, json!({"caption": SALE, "duplicates": "refuse"}));
    let sends = (0..100).map(|number| {
        let (user, body) = (&callers[number % callers.len()], &body);
        async move { user.post_keyed("/api/v1/posts", &format!("key-{number}"), body).await }
    });
    let answers = join_all(sends).await;
    let made: Vec<_> = answers.iter().filter(|answer| answer.status == 201).collect();
    assert_eq!(made.len(), 1);
    let id = made[0].body["post"]["id"].as_i64().unwrap();
    assert_eq!(made[0].body["warnings"], json!([]));
    for refused in answers.iter().filter(|answer| answer.status != 201) {
        assert_eq!((refused.status, &refused.body["code"]), (409, &json!("duplicate_content")));
        assert_eq!(named(&refused.body["similar"]), [(id, "exact".to_owned())], "{}", refused.text);
    }
    assert_eq!(held(&callers[0]).await, 1);
    // A refusal is not kept under its key, and counts as no post.
    let place = answers.iter().position(|answer| answer.status == 409).unwrap();
    callers[0].delete(&format!("/api/v1/posts/{id}")).await.expect(200);
    let again = callers[1].post_keyed("/api/v1/posts", &format!("key-{place}"), &body).await;
    assert_ne!(again.expect(201).header("idempotent-replayed"), "true");
}

#[tokio::test]
async fn a_change_and_a_new_post_at_once_do_not_make_the_same() {
    let (app, user) = quiet().await;
    let account = user.connect("bluesky").await;
    for round in 0..8 {
        let caption = format!("The programme of evening number {round} is out");
        let first = json!({"caption": format!("{round} something else"), "status": "draft"});
        // Each round is far from the others.
        let day = 20 * round * DAY;
        let id = user.publish(post(&app, account, day + 600, first)).await["id"].clone();
        let wanted = json!({"caption": caption, "duplicates": "refuse"});
        let body = post(&app, account, day + 900, wanted.clone());
        let path = format!("/api/v1/posts/{id}");
        let (changed, made) = join(user.patch(&path, wanted), create(&user, &body)).await;
        let mut statuses = [changed.status, made.status];
        statuses.sort_unstable();
        assert!([[200, 409], [201, 409]].contains(&statuses), "{} {}", changed.text, made.text);
    }
}

#[tokio::test]
async fn a_duplicate_is_warned_of_or_refused_with_the_way_on() {
    let (app, user) = quiet().await;
    let account = user.connect("bluesky").await;
    let first =
        create(&user, &post(&app, account, DAY, json!({"caption": SALE}))).await.expect(201);
    assert_eq!(first.body["warnings"], json!([]));
    let id = first.body["post"]["id"].as_i64().unwrap();
    let near = "Our spring sale begins today 🎉 https://example.com/sale?utm_source=a";
    let mut body = post(&app, account, 2 * DAY, json!({"caption": near, "duplicates": "refuse"}));

    for dry_run in [true, false] {
        body["dry_run"] = dry_run.into();
        let refused = create(&user, &body).await.refused(409, "duplicate_content");
        assert_eq!(named(&refused.body["similar"]), [(id, "near".to_owned())]);
        assert_eq!(refused.body["similar"][0]["status"], "scheduled");
        assert_eq!(refused.body["retry"], "after_change");
        let next = refused.body["next"].as_array().unwrap().clone();
        assert_eq!(next.len(), 2, "{}", refused.text);
        assert_eq!(follow(&user, &next[0]).await.expect(200).body["post"]["id"], id);
        assert_eq!(next[1]["body"]["duplicates"], "warn");
        let made = follow(&user, &next[1]).await.expect(if dry_run { 200 } else { 201 });
        assert_eq!(warned(&made.body), [(id, "near".to_owned())], "{}", made.text);
        assert_eq!(made.body["warnings"][0]["next"][0]["path"], format!("/api/v1/posts/{id}"));
    }
    assert_eq!(held(&user).await, 2);
    // By a dry run, too; the newest stands first, and the forecast names the same.
    let dry = post(&app, account, DAY, json!({"caption": SALE, "dry_run": true}));
    let dry = create(&user, &dry).await.expect(200).body;
    let ids: Vec<_> = warned(&dry).into_iter().map(|(id, _)| id).collect();
    assert_eq!(json!(ids), dry["forecast"]["similar"], "{dry:#}");
    assert!(ids.len() == 2 && ids[0] > ids[1] && ids[1] == id, "{ids:?}");
    // A key that may not read posts is led nowhere that it may not go.
    let person = app.person("writer@example.com").await;
    let (all, writer) = (
        app.key(person, None, &Scope::ALL).await,
        app.key(person, None, &[Scope::PostsWrite]).await,
    );
    let own = all.connect("bluesky").await;
    let body = post(&app, own, DAY, json!({"caption": SALE, "duplicates": "refuse"}));
    let _ = create(&writer, &body).await.expect(201);
    let refused = create(&writer, &body).await.refused(409, "duplicate_content");
    assert_eq!(refused.body["next"].as_array().unwrap().len(), 1, "{}", refused.text);
    let _ = follow(&writer, &refused.body["next"][0]).await.expect(201);
}

#[tokio::test]
async fn only_posts_of_the_account_within_seven_days_that_have_not_failed_count() {
    let (app, user) = quiet().await;
    let (account, other) = (user.connect("bluesky").await, user.connect("bluesky").await);
    let stranger = app.user().await;
    let theirs = stranger.connect("bluesky").await;
    let at = |seconds: i64, fields: Value| {
        let mut body =
            post(&app, account, seconds, json!({"caption": SALE, "duplicates": "refuse"}));
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        body
    };
    let id = user.publish(at(20 * DAY, json!({}))).await["id"].as_i64().unwrap();
    let set = async |status: &str| {
        let sql = format!("UPDATE posts SET status = '{status}' WHERE id = {id}");
        let _ = app.domain.db.write.execute_unprepared(&sql).await.unwrap();
    };
    let dry = json!({"dry_run": true});
    for status in ["draft", "scheduled", "paused", "publishing", "processing", "published"] {
        set(status).await;
        for days in [13, 20, 27] {
            let refused = create(&user, &at(days * DAY, dry.clone())).await;
            let similar = refused.refused(409, "duplicate_content").body["similar"].clone();
            assert_eq!(similar[0]["status"], status);
        }
    }
    for seconds in [13 * DAY - 1, 27 * DAY + 1, 12 * DAY, 28 * DAY] {
        let _ = create(&user, &at(seconds, dry.clone())).await.expect(200);
    }
    let _ = create(&user, &at(20 * DAY, json!({"dry_run": true, "account_id": other})))
        .await
        .expect(200);
    let of_others = at(20 * DAY, json!({"dry_run": true, "account_id": theirs}));
    let _ = create(&stranger, &of_others).await.expect(200);
    for caption in ["Our autumn sale ended yesterday", "👍"] {
        let _ = create(&user, &at(20 * DAY, json!({"dry_run": true, "caption": caption})))
            .await
            .expect(200);
    }
    set("failed").await;
    let _ = create(&user, &at(20 * DAY, dry.clone())).await.expect(200);
    // A draft without a time is near nothing.
    let draft = json!({"account_id": account, "caption": "A thought of mine", "status": "draft"});
    let _ = create(&user, &draft).await.expect(201);
    let mut now = draft;
    now["duplicates"] = "refuse".into();
    let _ = create(&user, &now).await.expect(201);
}

#[tokio::test]
async fn links_and_files_tell_posts_apart() {
    let (app, user) = quiet().await;
    let account = user.connect("mastodon").await;
    let upload = async |side: u32, name: &str| {
        let file = user.upload(name, "image/png", &files::plain_png(side, side)).await;
        file["public_url"].clone()
    };
    let (one, again, other) =
        (upload(300, "a.png").await, upload(300, "b.png").await, upload(301, "c.png").await);
    let with_link = |path: &str| format!("Read our story of the week https://example.com/{path}");
    for (place, (first, second, expected)) in [
        (
            json!({"caption": with_link("a")}),
            json!({"caption": with_link("a?utm=1")}),
            Some("exact"),
        ),
        (json!({"caption": with_link("b")}), json!({"caption": with_link("c")}), None),
        (
            json!({"caption": "A picture of the harbour", "media_urls": [one]}),
            json!({"caption": "a picture of the harbour!", "media_urls": [again]}),
            Some("exact"),
        ),
        (
            json!({"caption": "A picture of the market", "media_urls": [one]}),
            json!({"caption": "A picture of the market", "media_urls": [other]}),
            Some("near"),
        ),
        (json!({"media_urls": [one]}), json!({"media_urls": [other]}), None),
        (json!({"media_urls": [one, other]}), json!({"media_urls": [other, again]}), Some("exact")),
        (
            json!({"media_urls": [other], "caption": "🎉"}),
            json!({"media_urls": [other]}),
            Some("exact"),
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let day = (1 + 20 * i64::try_from(place).unwrap()) * DAY;
        let id = user.publish(post(&app, account, day, first.clone())).await["id"].clone();
        let mut body = post(&app, account, day + DAY, second);
        for dry_run in [true, false] {
            body["dry_run"] = dry_run.into();
            body["duplicates"] = "refuse".into();
            let answer = create(&user, &body).await;
            match expected {
                Some(kind) => {
                    let refused = answer.refused(409, "duplicate_content");
                    let similar = &refused.body["similar"][0];
                    assert_eq!(
                        (&similar["post_id"], &similar["kind"]),
                        (&id, &json!(kind)),
                        "{body}"
                    );
                    body["duplicates"] = "warn".into();
                    let told = create(&user, &body).await;
                    assert!(told.status < 300 && !warned(&told.body).is_empty(), "{}", told.text);
                    let field = if first["caption"].as_str().is_some_and(|text| text != "🎉") {
                        "caption"
                    } else {
                        "media_urls"
                    };
                    assert_eq!(told.body["warnings"][0]["field"], field, "{}", told.text);
                }
                None => assert!(answer.status < 300, "{body}: {}", answer.text),
            }
        }
    }
}

#[tokio::test]
async fn files_of_other_addresses_are_compared_by_their_bytes_once_they_are_copied() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("mastodon").await;
    let picture = fanfare_tests::Picture::lasting();
    let [one, same, other] =
        [picture.file("image/png", 0), picture.file("image/png", 1), picture.file("image/jpeg", 0)];
    fanfare_tests::Picture::make(&[one.clone(), same.clone(), other.clone()]).await;
    let body =
        |file: &str| post(&app, account, 6_000, json!({"media_url": file, "duplicates": "refuse"}));
    let id = create(&user, &body(&one)).await.expect(201).body["post"]["id"].clone();
    let refused = create(&user, &body(&same)).await.refused(409, "duplicate_content");
    assert_eq!(refused.body["similar"][0]["post_id"], id);
    let _ = create(&user, &body(&other)).await.expect(201);
    assert_eq!(held(&user).await, 2);
}

#[tokio::test]
async fn items_of_a_batch_repeat_neither_stored_posts_nor_each_other() {
    let (app, user) = quiet().await;
    let (account, other) = (user.connect("bluesky").await, user.connect("mastodon").await);
    let stored =
        user.publish(post(&app, account, DAY, json!({"caption": "It is stored already"}))).await;
    let item = |account: i64, caption: &str, guard: &str| {
        post(&app, account, DAY, json!({"caption": caption, "duplicates": guard}))
    };
    let posts = json!([
        item(account, SALE, "refuse"),
        item(account, "our SPRING sale begins today", "refuse"),
        item(other, SALE, "refuse"),
        item(account, "it is stored, already", "refuse"),
        item(account, "Our spring sale begins today", "warn"),
        item(account, "Something quite different", "refuse"),
    ]);
    for dry_run in [true, false] {
        let body = json!({"posts": posts, "dry_run": dry_run});
        let answer =
            user.post_keyed("/api/v1/posts/batch", "doubles", &body).await.expect(200).body;
        let places = |list: &str| -> Vec<i64> {
            let list = answer[list].as_array().unwrap().iter();
            list.map(|one| one["index"].as_i64().unwrap()).collect()
        };
        assert_eq!(
            (places("posts"), places("errors")),
            (vec![0, 2, 4, 5], vec![1, 3]),
            "{answer:#}"
        );
        let (repeats_item, repeats_stored) = (&answer["errors"][0], &answer["errors"][1]);
        for error in [repeats_item, repeats_stored] {
            assert_eq!(
                (&error["status"], &error["code"]),
                (&json!(409), &json!("duplicate_content"))
            );
        }
        assert_eq!(repeats_stored["similar"][0]["post_id"], stored["id"]);
        if dry_run {
            assert_eq!(
                (&repeats_item["similar"], &repeats_item["items"]),
                (&json!([]), &json!([0]))
            );
        } else {
            let first = answer["posts"][0]["post"]["id"].clone();
            assert_eq!(repeats_item["similar"][0]["post_id"], first, "{repeats_item:#}");
        }
        let warning = &answer["posts"][2]["warnings"][0];
        assert_eq!(warning["code"], "duplicate_content", "{answer:#}");
        assert_eq!(warning["parameters"], json!({"items": [0], "kind": "exact"}));
        // What an item leads to is about it alone, and only checks where the batch did.
        for step in repeats_stored["next"].as_array().unwrap() {
            let expected = if step["method"] == "GET" || dry_run { 200 } else { 201 };
            let _ = follow(&user, step).await.expect(expected);
        }
    }
    assert_eq!(held(&user).await, 6, "one, four of the batch, and the one that was repeated");
}

#[tokio::test]
async fn a_change_of_content_or_time_is_compared() {
    let (app, user) = quiet().await;
    let account = user.connect("x").await;
    let first =
        user.publish(post(&app, account, 20 * DAY, json!({"caption": SALE}))).await["id"].clone();
    let mine = json!({"caption": "Something else for now"});
    let id = user.publish(post(&app, account, 21 * DAY, mine)).await["id"].clone();
    let path = format!("/api/v1/posts/{id}");
    let refused = user.patch(&path, json!({"caption": SALE, "duplicates": "refuse"})).await;
    let refused = refused.refused(409, "duplicate_content");
    assert_eq!(refused.body["similar"][0]["post_id"], first);
    let shown = user.get(&path).await.body["post"].clone();
    assert_eq!(shown["caption"], "Something else for now");
    let next = refused.body["next"].clone();
    assert_eq!(follow(&user, &next[0]).await.expect(200).body["post"]["id"], first);
    let changed = follow(&user, &next[1]).await.expect(200).body;
    assert_eq!(codes(&changed["warnings"]), ["duplicate_content", "network_refuses_equal_text"]);
    assert_eq!(changed["post"]["caption"], SALE);
    // Neither content nor time changes.
    for same in [
        json!({"group": "spring", "duplicates": "refuse"}),
        json!({"caption": SALE, "duplicates": "refuse"}),
    ] {
        let changed = user.patch(&path, same).await.expect(200).body;
        assert_eq!(changed["warnings"], json!([]));
    }
    let away = json!({"scheduled_at": app.at(40 * DAY), "duplicates": "refuse"});
    assert_eq!(user.patch(&path, away).await.expect(200).body["warnings"], json!([]));
    let back = json!({"scheduled_at": app.at(22 * DAY), "duplicates": "refuse"});
    let _ = user.patch(&path, back).await.refused(409, "duplicate_content");
}

#[tokio::test]
async fn networks_that_refuse_equal_texts_are_named() {
    let (app, user) = quiet().await;
    for (platform, hours, expected) in [
        ("x", 167, true),
        ("linkedin", 23, true),
        ("linkedin", 24, false),
        ("facebook", 23, true),
        ("facebook", 25, false),
        ("bluesky", 1, false),
    ] {
        let account = user.connect(platform).await;
        let first =
            user.publish(post(&app, account, 600, json!({"caption": SALE}))).await["id"].clone();
        let after = |caption: &str| {
            post(&app, account, 600 + hours * 3_600, json!({"caption": caption, "dry_run": true}))
        };
        let told = create(&user, &after("our spring SALE begins today")).await.expect(200).body;
        let codes = codes(&told["warnings"]);
        assert_eq!(codes.contains(&"network_refuses_equal_text"), expected, "{platform}: {told:#}");
        if expected {
            let warning = &told["warnings"][1];
            assert_eq!(warning["parameters"], json!({"platform": platform, "post_ids": [first]}));
            assert_eq!((&warning["actual"], &warning["unit"]), (&json!(hours), &json!("hours")));
            let _ = follow(&user, &warning["next"][0]).await.expect(200);
        }
        let near = "Our spring sale begins today, and lasts a while";
        let near = create(&user, &after(near)).await.expect(200).body;
        assert!(!near["warnings"].to_string().contains("network_refuses"), "{near:#}");
        let listed = user.get(&format!("/api/v1/platforms?platform={platform}")).await;
        let limits = &listed.expect(200).body["platforms"][0]["content_limits"];
        let known = match platform {
            "x" => json!(168),
            "linkedin" | "facebook" => json!(24),
            _ => Value::Null,
        };
        assert_eq!(limits["equal_text_hours"], known, "{limits}");
    }
}

#[tokio::test]
async fn a_seat_is_shown_no_post_that_it_may_not_see() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let owner = app.person("owner@example.com").await;
    let team = app.workspace(owner).await;
    let (locked, seat) = app.member(team, Role::Publisher).await;
    let brand = app.brand(team, &[locked]).await;
    let owner = app.key(owner, Some(team), &Scope::ALL).await;
    let new = json!({"platform": "bluesky", "workspace_client_id": brand});
    let made = owner.post("/api/v1/sandbox/accounts", new).await.expect(201).body;
    let account = made["account"]["id"].as_i64().unwrap();
    let body = post(&app, account, 600, json!({"caption": SALE, "duplicates": "refuse"}));
    let id = owner.publish(body.clone()).await["id"].clone();
    let _ = create(&seat, &body).await.refused(409, "duplicate_content");
    // It was made while the account had no brand.
    let before = format!("UPDATE posts SET brand_id = NULL WHERE id = {id}");
    let _ = app.domain.db.write.execute_unprepared(&before).await.unwrap();
    let mut check = body.clone();
    check["dry_run"] = true.into();
    let told = create(&seat, &check).await.expect(200);
    assert!(!told.text.contains("duplicate_content"), "{}", told.text);
    let _ = create(&owner, &body).await.refused(409, "duplicate_content");
}

#[tokio::test]
async fn no_fix_chooses_what_becomes_of_a_duplicate() {
    let (app, user) = quiet().await;
    let account = user.connect("bluesky").await;
    for wrong in [json!("Refuse"), json!("warm"), json!(["refuse"]), json!(true)] {
        let body = post(&app, account, 600, json!({"caption": SALE, "duplicates": wrong}));
        let refused = create(&user, &body).await.refused(400, "invalid_field");
        let broken = &refused.body["validation_errors"][0];
        assert_eq!((&broken["field"], &broken["fix"]), (&json!("duplicates"), &Value::Null));
    }
}
