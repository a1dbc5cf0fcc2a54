//! The catalogue of errors, read as a table: one cause, one remedy and one way on for each code, whose words belong
//! together.

use std::collections::BTreeSet;

use fanfare_core::{Code, Retry, remedies};
use fanfare_publishing::posts::POST_FAILURES;
use fanfare_tests::{Options, TestApp, networks};
use sea_orm::ConnectionTrait;
use serde_json::{Value, json};

/// Failures of posts: the code, what repeating leads to, words of which the remedy has one, and the first call.
const FAILURES: [(&str, &str, &[&str], &str); 15] = [
    ("account_disconnected", "after_change", &["onnect"], "get_connect_link"),
    ("token_expired", "after_change", &["onnect"], "get_connect_link"),
    (
        "platform_permission_missing",
        "after_change",
        &["permission", "right", "Allow", "plan", "board", "control"],
        "get_connect_link",
    ),
    (
        "account_restricted",
        "after_change",
        &["follow what it asks", "limit", "settings"],
        "list_attempts",
    ),
    ("target_not_found", "after_change", &["Check", "onnect", "Create"], "get_platform_schema"),
    ("content_rejected", "after_change", &[""], "list_attempts"),
    ("duplicate_content", "after_change", &["later"], "list_attempts"),
    ("media_rejected", "after_change", &[""], "list_attempts"),
    ("platform_rate_limited", "after", &["retried"], "retry_post"),
    ("quota_exhausted", "after", &["retried"], "retry_post"),
    ("platform_unavailable", "after", &["later"], "retry_post"),
    ("misconfigured", "after_change", &["operator"], "get_connect_link"),
    ("outcome_unknown", "unsafe", &["acknowledge_duplicate_risk"], "list_attempts"),
    ("missed", "after", &["Retry"], "retry_post"),
    ("internal_error", "after_change", &["operator"], "list_attempts"),
];

/// Checks that code, remedy, next and retry of a failed post are of one row of the table.
fn is_one_story(story: &str, error: &Value) {
    let row = FAILURES.iter().find(|(code, ..)| error["code"] == *code);
    let (code, retry, words, first) = row.unwrap_or_else(|| panic!("{story}: {error:#}"));
    assert_eq!(error["retry"], *retry, "{story}: {error:#}");
    let repeats = ["after", "unsafe"].contains(retry);
    assert_eq!(error["retryable"], repeats, "{story}: {error:#}");
    let remedy = error["remedy"].as_str().unwrap();
    assert!(words.iter().any(|word| remedy.contains(word)), "{story}, {code}: {error:#}");
    assert_eq!(error["next"][0]["operation"], *first, "{story}: {error:#}");
    let sends_to_operator = error["next"].to_string().contains("the operator");
    assert_eq!(sends_to_operator, *code == "misconfigured", "{story}: {error:#}");
}

#[tokio::test]
async fn what_failed_tells_one_story_for_each_code() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let names: BTreeSet<&str> = POST_FAILURES.iter().map(|failure| failure.name).collect();
    assert_eq!(names, FAILURES.iter().map(|(code, ..)| *code).collect());
    for failure in POST_FAILURES {
        let new = json!({"account_id": account, "caption": "a", "scheduled_at": app.at(600)});
        let id = user.publish(new).await["id"].clone();
        let error = json!({
            "code": failure.name, "message": failure.cause, "retry_safe": true, "remedy": failure.remedy,
            "retryable": matches!(failure.retry, Retry::After | Retry::Unsafe), "platform_error": null,
        });
        let sql = format!(
            "UPDATE posts SET status = 'failed', due_at = NULL, error = '{}' WHERE id = {id}",
            error.to_string().replace('\'', "''")
        );
        let _ = app.domain.db.write.execute_unprepared(&sql).await.unwrap();
        let shown = user.get(&format!("/api/v1/posts/{id}")).await.expect(200).body;
        is_one_story("a stored error", &shown["post"]["error"]);
    }
    let page = user.get("/docs/errors").await.text;
    for name in names {
        assert_eq!(page.matches(&format!("id=\"{name}\"")).count(), 1, "{name}");
    }
}

#[tokio::test]
async fn a_refusal_of_any_network_tells_one_story() {
    let app = TestApp::start().await;
    for name in networks::all() {
        for status in [403, 404] {
            let user = app.user().await;
            let account = user.connect(name).await;
            let fault = json!([{"on": "commit", "kind": "status", "status": status}]);
            user.faults(name, account, fault).await;
            let post = networks::publish(&app, &user, networks::post(name, account)).await;
            if post["status"] == "failed" {
                is_one_story(&format!("{name} answers {status}"), &post["error"]);
            }
            if (name, status) == ("x", 403) {
                assert_eq!(post["error"]["code"], "platform_permission_missing", "{post:#}");
            }
        }
    }
}

/// Returns the names of the calls and pages that a refusal leads to.
fn ways_on(code: Code) -> Vec<&'static str> {
    remedies::next_steps(code).iter().map(|step| step.description().0).collect()
}

#[test]
fn remedies_of_refusals_fit_what_they_lead_to() {
    for code in Code::ALL {
        let entry = code.entry();
        let (name, retry) = (entry.code, code.retry());
        let says = |word: &str| entry.remedy.contains(word);
        assert_eq!(entry.retryable, retry == Retry::After, "{name}");
        let asks_risk = says("acknowledge_duplicate_risk");
        assert_eq!(asks_risk, retry == Retry::Unsafe, "{name}");
        let ways = ways_on(*code);
        if says("Connect the account again") && !ways.is_empty() {
            assert_eq!(ways[0], "create_connect_session", "{name}");
        }
        if ways.contains(&"create_connect_session") {
            assert!(says("onnect") || says("Check them"), "{name}: {}", entry.remedy);
        }
        if ways.iter().any(|way| way.starts_with("/dashboard/billing")) {
            assert!(["plan", "credits", "subscription"].iter().any(|word| says(word)), "{name}");
        }
        if retry == Retry::Never {
            assert_eq!(entry.status / 100, 4, "{name}");
        }
        assert!(!entry.remedy.starts_with("Remove it"), "{name}");
    }
}
