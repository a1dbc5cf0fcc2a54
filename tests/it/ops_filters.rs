//! `fanfare ops retry` and its page: no filter is dropped, none means nothing, and everything that is known is said before.

use std::process::Output;

use fanfare_entities::{PostId, post, worker};
use fanfare_ops::ops::fleet;
use fanfare_tests::{Operator, TestApp, User};
use sea_orm::{ActiveModelTrait, ActiveValue::NotSet, ActiveValue::Set, EntityTrait};
use serde_json::{Value, json};

use crate::worker::command;

fn ops(app: &TestApp, line: &[&str]) -> Output {
    command(app).arg("ops").args(line).env("USER", "root").output().expect("the command runs")
}

fn text(output: &Output) -> String {
    let both = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8_lossy(&both).into_owned()
}

/// The posts that an order would send.
fn found(app: &TestApp, filter: &[&str]) -> Vec<i64> {
    let ran = ops(app, &[&["retry", "--json"], filter].concat());
    let preview: Value = serde_json::from_slice(&ran.stdout)
        .unwrap_or_else(|_| panic!("{filter:?}: {}", text(&ran)));
    let rows = preview["would"]["rows"].as_array().unwrap().clone();
    rows.iter().map(|row| row["id"].as_i64().unwrap()).collect()
}

/// A post on a network that refuses it, or gives no answer.
async fn failed(app: &TestApp, user: &User, platform: &str, kind: &str) -> (i64, i64) {
    let account = user.connect(platform).await;
    // Which of them says what is wrong differs.
    let status = if platform == "mastodon" { 422 } else { 400 };
    user.faults(platform, account, json!([{"on": "commit", "kind": kind, "status": status}])).await;
    let post = user.publish(json!({"account_id": account, "caption": "x"})).await;
    let id = post["id"].as_i64().unwrap();
    app.wait_for_status(user, id, &["failed"]).await;
    (account, id)
}

#[tokio::test(flavor = "multi_thread")]
async fn each_filter_has_its_effect_or_is_refused() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let (sky, refused) = failed(&app, &user, "bluesky", "status").await;
    let (_, unknown) = failed(&app, &user, "telegram", "drop_after_change").await;
    let post = user.get(&format!("/api/v1/posts/{refused}")).await.expect(200).body["post"].clone();
    let (code, space) =
        (post["error"]["code"].as_str().unwrap(), post["workspace_id"].as_str().unwrap());
    let (sky, one, other) = (sky.to_string(), refused.to_string(), unknown.to_string());
    for (filter, posts) in [
        (&["--status", "failed"][..], &[refused, unknown][..]),
        (&["--platform", "bluesky"], &[refused]),
        (&["--platform", "threads"], &[]),
        (&["--class", "key"], &[refused]),
        (&["--class", "blind", "--error", "outcome_unknown"], &[unknown]),
        (&["--class", "handle"], &[]),
        (&["--account", &sky], &[refused]),
        (&["--error", code], &[refused]),
        (&["--workspace", space], &[refused, unknown]),
        (&["--kind", "post", "--id", &other], &[unknown]),
        (&["--status", "failed", "--cursor", &other], &[refused]),
        (&[&one], &[refused]),
    ] {
        assert_eq!(found(&app, filter), posts, "{filter:?}");
    }
    let mut ada = Operator::log_in(&app, "ada@example.com").await;
    for (filter, query, why) in [
        (&["--kind", "delivery"][..], "kind=delivery", "Only posts are sent again"),
        (
            &["--kind", "copy", "--status", "failed"],
            "kind=copy&status=failed",
            "Only posts are sent again",
        ),
        (&["--status", "pending"], "status=pending", "Only posts that failed"),
        (
            &["--status", "published", "--platform", "bluesky"],
            "status=published&platform=bluesky",
            "Only posts that failed",
        ),
        (&["--class", "vague"], "class=vague", "There is no class called"),
        (&[], "", "every failed post"),
        (&["--kind", "post"], "kind=post", "every failed post"),
        (&["--cursor", "99"], "cursor=99", "every failed post"),
        (&[&one, "--platform", "bluesky"], &format!("post={one}&platform=bluesky"), ""),
    ] {
        for more in [&[][..], &["--yes", "--reason", "All of it"]] {
            let ran = ops(&app, &[&["retry"], filter, more].concat());
            assert!(
                !ran.status.success() && text(&ran).contains(why),
                "{filter:?}: {}",
                text(&ran)
            );
        }
        let page = ada.get(&format!("/admin/act/retry?{query}")).await.expect(400);
        assert!(page.html.contains(why), "{query}: {}", page.html);
    }
    for (verb, query) in [
        ("retry", "platfrom=bluesky"),
        ("pause", "target=all&status=failed"),
        ("pause", "target=all&account=1"),
        ("drain", "worker=x&post=1"),
    ] {
        let page = ada.get(&format!("/admin/act/{verb}?{query}")).await;
        assert_eq!(page.status, 400, "{verb} {query}: {}", page.html);
    }
    let stray = ops(&app, &["retry", &one, "--accept-risk-of", &other, "--yes", "--reason", "x"]);
    assert!(
        !stray.status.success() && text(&stray).contains("is none of the posts"),
        "{}",
        text(&stray)
    );
    assert_eq!(found(&app, &["--status", "failed"]), [refused, unknown], "nothing was sent");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retry_in_bulk_leaves_out_closed_accounts_and_keeps_the_former_times() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let (closed, lost) = failed(&app, &user, "bluesky", "status").await;
    let (_, kept) = failed(&app, &user, "mastodon", "status").await;
    let before = user.get(&format!("/api/v1/posts/{kept}")).await.expect(200).body["post"].clone();
    user.delete(&format!("/api/v1/accounts/{closed}")).await.expect(200);
    ops(&app, &["pause", "platform:mastodon", "--yes", "--reason", "Slow"]);
    let preview = text(&ops(&app, &["retry", "--status", "failed"]));
    for part in [
        "Send 1 failed post again?",
        "1 are left out, because their account is not connected",
        "Its account is disconnected",
        "until the pause of mastodon ends",
    ] {
        assert!(preview.contains(part), "{part} in {preview}");
    }
    assert!(preview.contains("Add --yes and --reason"), "{preview}");
    let reasoned = text(&ops(&app, &["retry", "--status", "failed", "--reason", "x"]));
    assert!(reasoned.contains("Add --yes to do it."), "{reasoned}");
    let done =
        text(&ops(&app, &["retry", "--status", "failed", "--yes", "--reason", "It is back"]));
    assert!(done.contains("Sent again: 1. Left out: 1."), "{done}");
    let left =
        user.get(&format!("/api/v1/posts/{lost}")).await.expect(200).body["post"]["status"].clone();
    assert_eq!(left, "failed");
    let story = text(&ops(&app, &["story", &kept.to_string()]));
    let time = before["scheduled_at"].as_str().unwrap();
    assert!(story.contains(&format!("its time was {time}")), "{time} in {story}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_goes_on_below_two_hundred_that_nobody_dares_to_send() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let (_, oldest) = failed(&app, &user, "telegram", "drop_after_change").await;
    let db = &app.domain.db.write;
    let row = post::Entity::find_by_id(PostId(oldest)).one(db).await.unwrap().unwrap();
    assert!(row.duplicate_risk);
    let copy = post::ActiveModel { id: NotSet, ..post::ActiveModel::from(row).reset_all() };
    post::Entity::insert_many(vec![copy; 200]).exec(db).await.unwrap();
    let first = text(&ops(&app, &["retry", "--status", "failed"]));
    let cursor =
        first.split("with the cursor ").nth(1).and_then(|rest| rest.split('.').next()).unwrap();
    assert_eq!(found(&app, &["--status", "failed", "--cursor", cursor]), [oldest]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_said_of_a_dead_worker_and_of_a_user_that_is_none_is_true() {
    let app = TestApp::start().await;
    let now = app.domain.db.now().await.unwrap();
    let row = worker::ActiveModel {
        name: Set("gone-1".to_owned()),
        host: Set("gone".to_owned()),
        pid: Set(1),
        version: Set("0.1.0".to_owned()),
        queues: Set("publish".to_owned()),
        slots: Set(1),
        running: Set(json!([])),
        running_count: Set(3),
        started_at: Set(now - 7_200_000),
        seen_at: Set(now - 3_600_000),
        drain_at: Set(None),
    };
    row.insert(&app.domain.db.write).await.unwrap();
    assert!(fleet::list(&app.domain).await.unwrap().iter().any(|one| one.name == "gone-1"));
    let done = text(&ops(&app, &["drain", "gone-1", "--yes", "--reason", "It is dead"]));
    assert!(done.contains("has not reported lately") && !done.contains("finishes"), "{done}");

    let admin = |line: &[&str]| command(&app).arg("admin").args(line).output().unwrap();
    let typo = admin(&["user", "adaa@example.com"]);
    assert!(!typo.status.success() && text(&typo).contains("--create"), "{}", text(&typo));
    let again = admin(&["user", "adaa@example.com"]);
    assert!(!again.status.success(), "the look-up made nobody");
    let made = admin(&["user", "adaa@example.com", "--create"]);
    assert!(made.status.success(), "{}", text(&made));
    assert_eq!(text(&admin(&["user", "adaa@example.com"])), text(&made));
}
