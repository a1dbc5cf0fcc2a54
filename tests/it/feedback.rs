//! Feedback stands on a public board without saying who it is from; what agents tell is for operators alone.

use std::time::Duration;

use fanfare_core::access::Scope;
use fanfare_entities::{agent_feedback, feedback as row, subscription};
use fanfare_ops::{
    ops::{Action, Actor, Moderation, Order, perform},
    upkeep,
};
use fanfare_tests::{Options, TestApp};
use sea_orm::{EntityTrait, PaginatorTrait, sea_query::Expr};
use serde_json::{Value, json};

async fn quiet() -> TestApp {
    TestApp::with(Options { workers: false, ..Options::default() }).await
}

fn message() -> Value {
    json!({
        "category": "bug",
        "title": "Slots <b>skip</b> Sunday",
        "description": "My key fan_abcdefghijklmnopqrstuvwxyzABCDEF123456 of ada@example.com finds no slot.",
        "confirm": true,
        "source": "agent",
        "context": {"request_id": "req_12345678", "related_tool": "find_available_slot"},
    })
}

#[tokio::test]
async fn a_message_stands_on_the_board_without_its_sender_and_its_secrets() {
    let app = quiet().await;
    let user = app.user().await;
    let sent = user.post("/api/v1/feedback", message()).await.expect(201).body;
    assert!(sent["request_id"].is_string());
    let url = sent["board_url"].as_str().unwrap();
    let path = url.find("/feedback/").map(|at| &url[at..]).unwrap();
    let page = app.without_key().get(path).await.expect(200).text;
    assert!(page.contains("Slots &lt;b&gt;skip&lt;/b&gt; Sunday"), "{page}");
    assert!(page.contains("My key [removed] of [removed] finds no slot."), "{page}");
    assert!(!page.contains("fan_") && !page.contains("@example.com"), "{page}");
    let board = app.without_key().get("/feedback").await.expect(200).text;
    assert!(board.contains("Slots &lt;b&gt;"), "{board}");
    let stored = row::Entity::find().one(&app.domain.db.read).await.unwrap().unwrap();
    assert!(!stored.description.contains("fan_"), "the key was stored");
    let actor = Actor { name: "shell:test".to_owned(), request_id: "test".to_owned() };
    let action = Action::Moderate(Moderation::new(stored.id, "declined", true).unwrap());
    let order = Order { id: uuid::Uuid::now_v7(), action, reason: "a test".to_owned() };
    perform(&app.domain, &actor, order).await.unwrap();
    let _ = app.without_key().get(path).await.expect(404);
}

#[tokio::test]
async fn nothing_becomes_public_without_consent_and_all_that_is_wrong_is_named() {
    let app = quiet().await;
    let user = app.user().await;
    let mut silent = message();
    silent["confirm"] = json!(false);
    user.post("/api/v1/feedback", silent.clone()).await.refused(400, "confirm_required");
    silent["title"] = json!("  a ");
    silent["sourc"] = json!("api");
    let refused = user.post("/api/v1/feedback", silent).await;
    let broken = refused.body["validation_errors"].as_array().unwrap();
    let fields: Vec<_> = broken.iter().map(|one| one["field"].as_str().unwrap()).collect();
    for field in ["title", "sourc", "confirm"] {
        assert!(fields.contains(&field), "{fields:?}");
    }
    assert_eq!(refused.status, 400);
    assert_eq!(row::Entity::find().count(&app.domain.db.read).await.unwrap(), 0);
    let person = app.person("reader@example.com").await;
    let reader = app.key(person, None, &[Scope::PostsRead]).await;
    reader.post("/api/v1/feedback", message()).await.refused(403, "insufficient_scope");
}

#[tokio::test]
async fn five_messages_a_day_are_taken_of_a_key() {
    let app =
        TestApp::with(Options { workers: false, limits_factor: 1.0, ..Options::default() }).await;
    let user = app.user().await;
    for _ in 0..5 {
        let _ = user.post("/api/v1/feedback", message()).await.expect(201);
    }
    user.post("/api/v1/feedback", message()).await.refused(429, "rate_limited");
}

#[tokio::test]
async fn what_an_agent_tells_is_kept_for_180_days() {
    let app = quiet().await;
    let user = app.user().await;
    let event = json!({
        "source": "mcp", "tool": "create_post", "outcome": "failure", "error_code": "caption_too_long",
        "comment": "Bearer abcdefghijkl", "context": {"platform": "x", "attempt": 2, "duration_ms": 900},
    });
    let sent = user.post("/api/v1/agent-feedback", event).await.expect(201).body;
    assert!(sent["event_id"].is_string() && sent["request_id"].is_string());
    let stored = agent_feedback::Entity::find().one(&app.domain.db.read).await.unwrap().unwrap();
    assert_eq!(stored.comment.as_deref(), Some("Bearer [removed]"));
    for (field, value) in [("outcome", json!("fine")), ("tool", json!("")), ("extra", json!(1))] {
        let mut wrong = json!({"source": "mcp", "tool": "x", "outcome": "success"});
        wrong[field] = value;
        assert_eq!(user.post("/api/v1/agent-feedback", wrong).await.status, 400, "{field}");
    }
    let wrong = json!({"source": "sdk", "tool": "x", "outcome": "success", "context": {"platform": "myspace"}});
    assert_eq!(user.post("/api/v1/agent-feedback", wrong).await.status, 400);
    app.advance(Duration::from_secs(181 * 24 * 3_600));
    assert!(upkeep::clean_up(&app.domain).await.failed.is_empty());
    assert_eq!(agent_feedback::Entity::find().count(&app.domain.db.read).await.unwrap(), 0);
}

#[tokio::test]
async fn updates_are_listed_for_programs_and_shown_to_people() {
    let app = quiet().await;
    let user = app.user().await;
    let all = user.get("/api/v1/updates").await.expect(200).body;
    let all = all["updates"].as_array().unwrap().clone();
    assert!(all.len() >= 3 && all[0].get("content").is_none(), "{all:?}");
    let dates: Vec<_> = all.iter().map(|update| update["date"].as_str().unwrap()).collect();
    assert!(dates.is_sorted_by(|one, next| one >= next), "{dates:?}");
    let one = user.get("/api/v1/updates?limit=1&include_content=true").await.expect(200).body;
    assert_eq!(one["updates"].as_array().unwrap().len(), 1);
    assert!(one["updates"][0]["content"].as_str().unwrap().contains("`"));
    let none = user.get("/api/v1/updates?since=2999-01-01").await.expect(200).body;
    assert_eq!(none["updates"], json!([]));
    for bad in ["limit=0", "limit=51", "since=yesterday", "since=2026-02-30"] {
        user.get(&format!("/api/v1/updates?{bad}")).await.refused(400, "invalid_field");
    }
    for update in &all {
        let url = update["url"].as_str().unwrap();
        let path = url.find("/updates/").map(|at| &url[at..]).unwrap();
        let page = app.without_key().get(path).await.expect(200).text;
        assert!(page.contains(update["title"].as_str().unwrap()), "{page}");
    }
    let _ = app.without_key().get("/updates").await.expect(200);
    let feed = app.without_key().get("/updates.xml").await.expect(200).text;
    assert!(feed.starts_with("<?xml") && feed.matches("<entry>").count() == all.len(), "{feed}");
    let unpaid = subscription::Entity::update_many()
        .col_expr(subscription::Column::Active, Expr::value(false));
    unpaid.exec(&app.domain.db.write).await.unwrap();
    user.get("/api/v1/updates").await.refused(403, "subscription_required");
}

#[tokio::test]
async fn questions_are_answered_from_the_documentation() {
    let app = TestApp::with(Options { workers: false, ai: false, ..Options::default() }).await;
    let user = app.user().await;
    let ask = |message: &str| json!({"message": message});
    let body = ask("How do I rotate the secret of a webhook?");
    let answer = user.post("/api/v1/support/chat", body).await.expect(200).body;
    assert!(answer["answer"].as_str().unwrap().contains("rotate-secret"), "{answer}");
    let url = answer["sources"][0]["url"].as_str().unwrap();
    assert!(url.ends_with("#rotate_webhook_secret"), "{url}");
    assert_eq!(answer["provider"], Value::Null);
    let again = json!({
        "message": "and?",
        "history": [{"role": "user", "content": "caption_too_long"}, {"role": "assistant", "content": "…"}],
    });
    let answer = user.post("/api/v1/support/chat", again).await.expect(200).body;
    assert!(answer["sources"].to_string().contains("caption_too_long"), "{answer}");
    user.post("/api/v1/support/chat", ask("  ")).await.refused(400, "invalid_field");
    user.post("/api/v1/support/chat", ask(&"x".repeat(2_001))).await.refused(400, "invalid_field");
    let lost = user.post("/api/v1/support/chat", ask("xyzzy")).await.expect(200).body;
    assert_eq!(lost["sources"], json!([]));
}

#[tokio::test]
async fn without_a_model_the_answer_says_so_and_quotes_the_guides() {
    let app = quiet().await;
    let user = app.user().await;
    for (question, guide, words) in [
        ("How do I verify the signature of a webhook?", "webhooks", "HMAC-SHA-256"),
        ("How many requests may I send in an hour?", "limits", "2,000 an hour"),
        ("What does Idempotency-Key do?", "idempotency", "24 hours"),
        ("How large may a video be?", "uploads", "4 GB"),
    ] {
        let body = json!({ "message": question });
        let said = user.post("/api/v1/support/chat", body).await.expect(200).body;
        assert_eq!(said["provider"], Value::Null, "{question}");
        let answer = said["answer"].as_str().unwrap();
        assert!(answer.starts_with("No model is configured."), "{answer}");
        assert!(answer.contains(words), "{question}: {answer}");
        assert!(said["sources"].to_string().contains(&format!("/docs/guides/{guide}")), "{said}");
    }
}

#[tokio::test]
async fn a_model_words_answers_and_the_passages_stand_in_for_it() {
    let options = Options { workers: false, real_models: true, ..Options::default() };
    let app = TestApp::with(options).await;
    let user = app.user().await;
    let wallet = user.get("/api/v1/credits").await.expect(200).body;
    let ask = async |message: &str| {
        let body = json!({"message": message});
        user.post("/api/v1/support/chat", body).await.expect(200).body
    };
    let question = "How do I rotate the secret of a webhook?";
    let worded = ask(question).await;
    assert_eq!(worded["provider"], "sandbox", "{worded}");
    let answer = worded["answer"].as_str().unwrap();
    assert!(answer.starts_with("Here it is:") && answer.contains("rotate-secret"), "{answer}");
    assert!(answer.chars().count() <= 2_000, "{answer}");
    // A model that refuses, fails, hangs up, writes nonsense or invents prices and links is not heard.
    for trouble in ["refuse", "fail", "drop", "bad-json", "invent-always"] {
        let quoted = ask(&format!("{question} [[{trouble}]]")).await;
        assert_eq!(quoted["provider"], Value::Null, "{trouble}: {quoted}");
        let answer = quoted["answer"].as_str().unwrap();
        assert!(answer.contains("rotate-secret"), "{trouble}: {answer}");
        assert!(!answer.contains("invented"), "{trouble}: {answer}");
        assert_eq!(quoted["sources"][0], worded["sources"][0], "{trouble}");
    }
    // An answer with something invented is written again.
    assert_eq!(ask(&format!("{question} [[invent]]")).await["provider"], "sandbox");
    // The model is not asked about a topic that the documentation does not have.
    assert_eq!(ask("xyzzy").await["provider"], Value::Null);
    assert_eq!(user.get("/api/v1/credits").await.expect(200).body, wallet, "answers are free");
}

#[tokio::test]
async fn agents_find_every_operation_in_text() {
    let app = quiet().await;
    let document = app.without_key().get("/openapi.json").await.expect(200).body;
    let (index, full) =
        (app.without_key().get("/llms.txt").await, app.without_key().get("/llms-full.txt").await);
    let (index, full) = (index.expect(200).text, full.expect(200).text);
    let errors = app.without_key().get("/docs/errors.md").await.expect(200).text;
    let reference = app.without_key().get("/docs.md").await.expect(200).text;
    assert!(full.contains(reference.trim()) && full.contains(errors.trim()));
    for (path, methods) in document["paths"].as_object().unwrap() {
        for operation in methods.as_object().unwrap().values() {
            let name = operation["operationId"].as_str().unwrap();
            assert!(
                !path.starts_with("/api/v1/") || index.contains(&format!("`{name}`")),
                "{name}"
            );
        }
    }
    assert!(index.len() < 30_000, "{} bytes", index.len());
}
