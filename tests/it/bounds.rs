//! One request costs no more than its size, and no text of any route ends in an error of ours.

use std::collections::BTreeSet;

use fanfare_api::{Route, routes::ROUTES};
use fanfare_tests::{Options, TestApp, User, Visitor, visitor::PASSWORD};
use reqwest::Method;
use sea_orm::ConnectionTrait;
use serde_json::{Map, Value, json};
use url::form_urlencoded::byte_serialize;

async fn quiet() -> (TestApp, User) {
    let app = TestApp::with(Options { workers: false, stand_ins: true, ..Options::default() });
    let app = app.await;
    let user = app.user().await;
    (app, user)
}

async fn raw(user: &User, body: String) -> fanfare_tests::ApiReply {
    user.send_raw(Method::POST, "/api/v1/posts", "application/json", body.into_bytes()).await
}

#[tokio::test]
async fn a_body_that_is_wrong_everywhere_gets_a_short_answer() {
    let (_app, user) = quiet().await;
    let account = user.connect("bluesky").await;
    let key = "k".repeat(256);
    let nuls = vec!["\0"; 19_000];
    let unknown: Map<String, Value> = (0..15_000).map(|n| (format!("u{n}"), n.into())).collect();
    let cases = [
        (
            json!({"account_id": account, "caption": "x", "settings": {&key: {&key: {&key: nuls}}}}),
            19_000,
        ),
        (json!({"account_id": account, "caption": "x", "media_urls": vec![1; 15_000]}), 15_000),
        (json!({"account_id": account, "caption": "x", "settings": &unknown}), 15_000),
        (json!({"account_id": account, "caption": "x", "metadata": &unknown}), 15_000),
    ];
    for (body, expected) in cases {
        let answer = user.post("/api/v1/posts", body).await.expect(400);
        let listed = answer.body["validation_errors"].as_array().unwrap().len();
        let more = answer.body["more_violations"].as_u64().unwrap();
        assert!(listed <= 50 && answer.text.len() <= 64 * 1024, "{}", answer.text.len());
        // A list that is too long is a broken rule of its own.
        assert!((expected..=expected + 1).contains(&(listed as u64 + more)), "{more}");
    }
    let mut all = unknown.clone();
    all.insert("account_id".into(), account.into());
    let answer = user.post_keyed("/api/v1/posts", "wide", &Value::Object(all)).await;
    assert_eq!(answer.body["more_violations"], 14_950 + 1);
}

#[tokio::test]
async fn a_batch_of_wrong_items_gets_an_answer_below_a_mebibyte() {
    let (_app, user) = quiet().await;
    let account = user.connect("bluesky").await;
    let name = |n: usize| format!("{}{n}", "\"".repeat(120));
    let unknown: Map<String, Value> = (0..150).map(|n| (name(n), 1.into())).collect();
    let item = json!({"account_id": account, "caption": "x", "settings": unknown});
    let answer = user.post("/api/v1/posts/batch", json!({"posts": vec![item; 25]})).await;
    let answer = answer.expect(200);
    assert_eq!(answer.body["errors"].as_array().unwrap().len(), 25);
    assert!(answer.text.len() < 1 << 20, "{}", answer.text.len());
    for error in answer.body["errors"].as_array().unwrap() {
        assert!(error.to_string().len() <= 64 * 1024);
    }
}

#[tokio::test]
async fn names_values_and_levels_of_a_body_are_counted_while_it_is_read() {
    let (_app, user) = quiet().await;
    let account = user.connect("bluesky").await;
    let with = |settings: String| format!(r#"{{"account_id": {account}, "settings": {settings}}}"#);
    let values = |count: usize| with(format!(r#"{{"a": [{}1]}}"#, "1,".repeat(count - 5)));
    raw(&user, values(20_000)).await.refused(400, "caption_required");
    raw(&user, values(20_001)).await.refused(400, "invalid_json");
    let key = |length: usize| with(format!(r#"{{"{}": 1}}"#, "k".repeat(length)));
    let fits = raw(&user, key(256)).await.expect(400);
    assert_ne!(fits.body["code"], "invalid_json");
    assert!(!fits.text.contains(&"k".repeat(201)), "names are cut");
    raw(&user, key(257)).await.refused(400, "invalid_json");
    let twice = format!(r#"{{"{0}": 1, "{0}": 2}}"#, "k".repeat(250));
    let twice = raw(&user, twice).await.expect(400);
    assert!(!twice.text.contains(&"k".repeat(201)), "{}", twice.text);
}

#[tokio::test]
async fn a_draft_has_a_length_too() {
    let (_app, user) = quiet().await;
    let account = user.connect("bluesky").await;
    let long = json!({"account_id": account, "caption": "x".repeat(301), "status": "draft"});
    user.post("/api/v1/posts", long).await.refused(400, "caption_too_long");
    let short = json!({"account_id": account, "status": "draft"});
    let id = user.publish(short).await["id"].clone();
    let change = json!({"caption": "x".repeat(301)});
    user.patch(&format!("/api/v1/posts/{id}"), change).await.refused(400, "caption_too_long");
}

#[tokio::test]
async fn a_page_ends_where_it_gets_too_large_and_the_next_goes_on_there() {
    let (_app, user) = quiet().await;
    let account = user.connect("wordpress").await;
    let text = "x".repeat(900_000);
    let mut made = BTreeSet::new();
    for number in 0..12 {
        let body = json!({"account_id": account, "caption": format!("{number} {text}"), "status": "draft"});
        made.insert(user.publish(body).await["id"].as_i64().unwrap());
    }
    let mut expected: Vec<_> = made.iter().copied().collect();
    let of_event = |one: &Value| one["data"]["post"]["id"].as_i64();
    assert_eq!(pages(&user, "/api/v1/events?limit=100", "events", of_event).await, expected);
    expected.reverse();
    let id = |one: &Value| one["id"].as_i64();
    assert_eq!(pages(&user, "/api/v1/posts?limit=100", "posts", id).await, expected);
}

/// The entries of a list that takes several pages, each below its limit; by their ids.
async fn pages(
    user: &User,
    path: &str,
    list: &str,
    id: impl Fn(&Value) -> Option<i64>,
) -> Vec<i64> {
    let (mut seen, mut pages, mut next) = (Vec::new(), 0, path.to_owned());
    loop {
        let page = user.get(&next).await.expect(200);
        assert!(page.text.len() < 9 << 20, "{}", page.text.len());
        pages += 1;
        seen.extend(page.body[list].as_array().unwrap().iter().filter_map(&id));
        // The event stream always says where it goes on.
        let cursor = page.body["next_cursor"].as_str();
        let Some(cursor) = cursor.filter(|_| page.body["has_more"] != false) else { break };
        next = format!("{path}{}cursor={cursor}", if path.contains('?') { '&' } else { '?' });
    }
    assert!(pages >= 2, "{path}");
    seen
}

#[tokio::test]
async fn lists_without_a_limit_end_where_they_get_too_large_too() {
    let (app, user) = quiet().await;
    let mut accounts = Vec::new();
    for _ in 0..12 {
        accounts.push(user.connect("bluesky").await);
    }
    let large = "x".repeat(900_000);
    let db = &app.domain.db.write;
    let meta = json!({ "did": large }).to_string();
    let sql = format!("UPDATE accounts SET meta = '{meta}'");
    db.execute_unprepared(&sql).await.expect("the rows change");
    let id = |one: &Value| one["id"].as_i64();
    assert_eq!(pages(&user, "/api/v1/accounts", "accounts", id).await, accounts);
    let draft = json!({"account_id": accounts[0], "caption": "x", "status": "draft"});
    let post = user.publish(draft).await["id"].clone();
    let error = json!({"code": "content_rejected", "message": large, "retryable": false,
        "retry_safe": true, "remedy": null, "platform_error": null});
    for number in 1..=12 {
        let sql = format!(
            "INSERT INTO post_attempts (post_id, number, worker, started_at, error, steps) \
             VALUES ({post}, {number}, 'w', 1, '{error}', '[]')"
        );
        db.execute_unprepared(&sql).await.expect("a row");
    }
    let number = |one: &Value| one["number"].as_i64();
    let path = format!("/api/v1/posts/{post}/attempts");
    assert_eq!(pages(&user, &path, "attempts", number).await, (1..=12).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_place_in_a_stream_is_never_below_its_beginning() {
    let (_app, user) = quiet().await;
    for path in ["/api/v1/events?after=-1", "/api/v1/events?cursor=-1"] {
        let refused = user.get(path).await.refused(400, "invalid_field");
        let broken = &refused.body["validation_errors"][0];
        assert!(broken["message"].as_str().unwrap().contains("-1"), "{broken}");
    }
    let _ = user.get("/api/v1/events?after=0").await.expect(200);
    let beyond = format!("/api/v1/events?after={}", i64::MAX);
    user.get(&beyond).await.refused(410, "sequence_unknown");
    for bad in ["accounts", "brands"] {
        let _ = user.get(&format!("/api/v1/{bad}?cursor=x")).await.refused(400, "invalid_field");
    }
}

/// Existing objects for the paths and bodies of the table.
struct Known {
    account: i64,
    post: Value,
    webhook: String,
}

impl Known {
    async fn of(user: &User) -> Self {
        let account = user.connect("bluesky").await;
        let draft = json!({"account_id": account, "caption": "x", "status": "draft"});
        let post = user.publish(draft).await["id"].clone();
        let hook = json!({"url": "https://example.com/hook", "events": ["*"]});
        let hook = user.post("/api/v1/webhooks", hook).await.expect(201);
        let webhook = hook.body["webhook"]["id"].as_str().unwrap().to_owned();
        Self { account, post, webhook }
    }

    /// The path of a route, with what there is in place of its parameters, but for `text` in place of one.
    fn path(&self, route: &Route, changed: Option<(&str, &str)>) -> String {
        let step = |step: &str| {
            let name = step.trim_matches(['{', '}']);
            match (name, changed) {
                (name, Some((wrong, text))) if name == wrong => encoded(text),
                ("platform", _) => "bluesky".to_owned(),
                ("group", _) => "nothing".to_owned(),
                ("delivery_id", _) => uuid::Uuid::nil().to_string(),
                ("id", _) if route.path.contains("/posts/") => self.post.to_string(),
                ("id", _) if route.path.contains("/accounts/") => self.account.to_string(),
                ("id", _) if route.path.contains("/webhooks/") => self.webhook.clone(),
                ("id", _) => uuid::Uuid::nil().to_string(),
                _ => step.to_owned(),
            }
        };
        route.path.split('/').map(step).collect::<Vec<_>>().join("/")
    }
}

fn encoded(text: &str) -> String {
    byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}

/// The names of the fields of a route's body.
fn fields(document: &Value, route: &Route) -> Vec<String> {
    let operation = &document["paths"][route.path][route.method.as_str().to_lowercase()];
    let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
    let named = schema["$ref"].as_str().map(|named| named.trim_start_matches('#'));
    let schema = named.and_then(|named| document.pointer(named)).unwrap_or(schema);
    schema["properties"].as_object().into_iter().flat_map(Map::keys).cloned().collect()
}

fn parameters(document: &Value, route: &Route) -> Vec<String> {
    let operation = &document["paths"][route.path][route.method.as_str().to_lowercase()];
    let all = operation["parameters"].as_array().into_iter().flatten();
    let all = all.filter(|one| one["in"] == "query").filter_map(|one| one["name"].as_str());
    all.map(str::to_owned).collect()
}

async fn never_ours(user: &User, route: &Route, path: &str, body: Option<&Value>) {
    let method = Method::from_bytes(route.method.as_str().as_bytes()).unwrap();
    let answer = user.send(method, path, &[], body).await;
    let start: String = path.chars().take(100).collect();
    let sent: String = body.map(Value::to_string).unwrap_or_default().chars().take(200).collect();
    assert_ne!(answer.status, 500, "{} {start} {sent}: {}", route.name, answer.text);
    // A batch as a whole is taken, and says of its items what is wrong with them.
    let refused = answer.status >= 400 || answer.body["posts"] == json!([]);
    assert!(refused, "{} {start} {sent}: {}", route.name, answer.text);
    assert!(answer.text.len() <= 64 * 1024, "{} {start}", route.name);
}

#[tokio::test]
async fn no_text_of_any_route_is_an_error_of_ours() {
    let (_app, user) = quiet().await;
    let known = Known::of(&user).await;
    let document = user.get("/openapi.json").await.expect(200).body;
    let texts = ["x".repeat(12_000), "a\0b".to_owned(), "a\u{7}b".to_owned()];
    for route in ROUTES {
        let plain = known.path(route, None);
        for text in &texts {
            for name in route.path_parameters() {
                let path = known.path(route, Some((name, text)));
                never_ours(&user, route, &path, None).await;
            }
            for name in parameters(&document, route) {
                let path = format!("{plain}?{name}={}", encoded(text));
                never_ours(&user, route, &path, None).await;
            }
        }
        let Some(body) = route.body else { continue };
        let mut example: Value = serde_json::from_str(body.example).unwrap();
        if example.get("account_id").is_some() {
            example["account_id"] = known.account.into();
        }
        let large = "x".repeat((1 << 20) - 4_096);
        for field in fields(&document, route) {
            for text in texts.iter().chain([&large]) {
                for value in [json!(text), json!([text]), json!({"a": text}), json!([{"a": text}])]
                {
                    // The network decides what a caption may hold; no network takes a control character.
                    let mut sent = example.clone();
                    sent[&field] = value;
                    never_ours(&user, route, &plain, Some(&sent)).await;
                }
            }
        }
    }
}

#[tokio::test]
async fn no_text_of_any_page_is_an_error_of_ours() {
    let app = TestApp::start().await;
    let texts = ["x".repeat(3_000), "x".repeat(60_000), "a\0b".to_owned(), "a\u{7}@b".to_owned()];
    let (_, mut ada) = Visitor::person(&app, "ada@example.com").await;
    let mut operator = Visitor::log_in(&app, "op@example.com").await;
    for text in &texts {
        for page in ["/login", "/admin/login"] {
            for (email, password) in [(text.as_str(), PASSWORD), ("ada@example.com", text)] {
                let mut somebody = Visitor::nobody(&app);
                let answer = somebody.try_password_at(page, email, password).await;
                assert!((400..500).contains(&answer.status), "{page}: {}", answer.status);
            }
            let mut somebody = Visitor::nobody(&app);
            let path = format!("{page}?next={}", encoded(text));
            let _ = somebody.get(&path).await.expect(200);
        }
        let short = &text[..text.len().min(3_000)];
        for page in [
            "/admin/work?q=",
            "/admin/work?status=",
            "/admin/work?workspace=",
            "/admin/audit?before=",
        ] {
            let answer = operator.get(&format!("{page}{}", encoded(short))).await;
            assert!(answer.status < 500, "{page}: {}", answer.html);
        }
        for path in
            ["/connect/", "/connect/session/", "/drop/", "/upload/", "/media/", "/admin/work/post/"]
        {
            let answer =
                operator.get(&format!("{path}{}", encoded(&short[..short.len().min(900)]))).await;
            assert!(answer.status < 500, "{path}: {}", answer.html);
        }
        let answer = ada.get(&format!("/connect?workspace_id={}", encoded(short))).await;
        assert!(answer.status < 500, "{}", answer.html);
    }
}

/// The schema that a reference leads to, and the one that applies besides null.
fn resolved<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    if let Some(named) = schema["$ref"].as_str() {
        return resolved(document, document.pointer(named.trim_start_matches('#')).unwrap());
    }
    let choices = schema["anyOf"].as_array().into_iter().flatten();
    let mut choices = choices.filter(|choice| choice["type"] != "null");
    match (choices.next(), choices.next()) {
        (Some(only), None) => resolved(document, only),
        _ => schema,
    }
}

fn is_a(schema: &Value, kind: &str) -> bool {
    match &schema["type"] {
        Value::String(one) => one == kind,
        Value::Array(several) => several.iter().any(|one| one == kind),
        _ => false,
    }
}

/// A value that a schema takes.
fn sample(document: &Value, schema: &Value) -> Value {
    let schema = resolved(document, schema);
    if let Some(first) = schema["enum"].get(0).or(schema["oneOf"].get(0).map(|one| &one["const"])) {
        return first.clone();
    }
    if is_a(schema, "object") {
        let required = schema["required"].as_array().into_iter().flatten();
        let field = |name: &Value| {
            let name = name.as_str().unwrap();
            (name.to_owned(), sample(document, &schema["properties"][name]))
        };
        return Value::Object(required.map(field).collect());
    }
    if is_a(schema, "array") {
        let least = schema["minItems"].as_u64().unwrap_or(0);
        return (0..least).map(|_| sample(document, &schema["items"])).collect();
    }
    if is_a(schema, "string") {
        let least = schema["minLength"].as_u64().unwrap_or(1).max(1) as usize;
        return if schema["format"] == "uuid" {
            json!(uuid::Uuid::nil())
        } else {
            json!("x".repeat(least))
        };
    }
    if is_a(schema, "boolean") {
        json!(false)
    } else {
        json!(schema["minimum"].as_i64().unwrap_or(1))
    }
}

/// Values that break one bound of a schema by one, each with the field that is wrong.
fn broken(document: &Value, schema: &Value) -> Vec<(String, Value)> {
    let schema = resolved(document, schema);
    let mut found = Vec::new();
    for (name, of) in schema["properties"].as_object().into_iter().flatten() {
        for (field, value) in broken(document, of) {
            let mut whole = sample(document, schema);
            whole[name] = value;
            let joint = if field.is_empty() || field.starts_with('[') { "" } else { "." };
            found.push((format!("{name}{joint}{field}"), whole));
        }
    }
    let bound = |name: &str| schema[name].as_u64().and_then(|bound| usize::try_from(bound).ok());
    if is_a(schema, "array") {
        let many = |count: usize| -> Value {
            (0..count).map(|_| sample(document, &schema["items"])).collect()
        };
        found.extend(bound("maxItems").map(|most| (String::new(), many(most + 1))));
        found.extend(bound("minItems").map(|least| (String::new(), many(least - 1))));
        for (field, value) in broken(document, &schema["items"]) {
            let joint = if field.is_empty() || field.starts_with('[') { "" } else { "." };
            found.push((format!("[0]{joint}{field}"), json!([value])));
        }
    }
    if is_a(schema, "string") {
        // A text that makes the body too large is refused for that.
        let most = bound("maxLength").filter(|most| *most < 200_000);
        found.extend(most.map(|most| (String::new(), json!("x".repeat(most + 1)))));
        found.extend(bound("minLength").map(|least| (String::new(), json!("x".repeat(least - 1)))));
        if most.is_some() && schema["format"] != "uuid" {
            found.push((String::new(), json!("a\0b")));
        }
    }
    let number = |name: &str| schema[name].as_i64();
    found.extend(number("maximum").map(|most| (String::new(), json!(most + 1))));
    found.extend(number("minimum").map(|least| (String::new(), json!(least - 1))));
    found
}

#[tokio::test]
async fn every_bound_of_the_document_holds() {
    let app = TestApp::with(Options { workers: false, limits_factor: 1e4, ..Options::default() });
    let app = app.await;
    let user = app.user().await;
    let known = Known::of(&user).await;
    let document = user.get("/openapi.json").await.expect(200).body;
    let mut checked = 0;
    for route in ROUTES {
        let Some(body) = route.body else { continue };
        let path = known.path(route, None);
        if path.contains('{') || path.contains(&uuid::Uuid::nil().to_string()) {
            // The row that is not there is said before.
            continue;
        }
        let operation = &document["paths"][route.path][route.method.as_str().to_lowercase()];
        let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
        let mut example: Value = serde_json::from_str(body.example).unwrap();
        if example.get("account_id").is_some() {
            example["account_id"] = known.account.into();
        }
        for (field, wrong) in broken(&document, schema) {
            let name = field.split(['.', '[']).next().unwrap();
            let mut sent = example.clone();
            sent[name] = wrong[name].clone();
            let method = Method::from_bytes(route.method.as_str().as_bytes()).unwrap();
            let answer = user.send(method, &path, &[], Some(&sent)).await;
            let told = format!("{} {field}: {} {}", route.name, answer.status, answer.text);
            if route.name == "create_posts_batch" && field != "posts" {
                assert!(answer.body["errors"].to_string().contains("validation_errors"), "{told}");
                continue;
            }
            assert_eq!(answer.status, 400, "{told}");
            let named = answer.body["validation_errors"].as_array().into_iter().flatten();
            // A rule that a handler knows may leave out where its part of the body stands.
            let is_it = |one: &str| field == one || field.ends_with(&format!(".{one}"));
            assert!(
                named.into_iter().any(|one| one["field"].as_str().is_some_and(is_it)),
                "{told}"
            );
            checked += 1;
        }
    }
    assert!(checked > 150, "{checked}");
}
