//! Two changes of one thing at the same time: the second one depends on what the first one left, not on what it read before.

use fanfare_tests::{ApiReply, TestApp, User, files::plain_png};
use reqwest::Method;
use serde_json::{Value, json};

use super::{BASE, profile, read, review, reviews};
use crate::inbox::{self, gate::Gate};

/// A request: method, path and body.
type Request = (Method, String, Option<Value>);

/// Has the first request stand still after its first read while the second one is carried out; both replies.
async fn overtaken(
    app: &TestApp,
    user: &User,
    first: &Request,
    second: &Request,
) -> (ApiReply, ApiReply) {
    let (gate, slow) = Gate::at(app, user, "considered").await;
    let (method, path, body) = first.clone();
    let waiting = tokio::spawn(async move { slow.send(method, &path, &[], body.as_ref()).await });
    gate.is_reached().await;
    let (method, path, body) = second.clone();
    let overtaking = user.send(method, &path, &[], body.as_ref()).await;
    gate.let_go();
    (waiting.await.unwrap(), overtaking)
}

/// The reply that stands at the network below the only review.
async fn at_google(app: &TestApp, user: &User) -> Value {
    read(app, user).await;
    reviews(user, "").await[0]["reply"]["text"].clone()
}

#[tokio::test]
async fn of_two_changes_of_one_reply_the_second_sees_what_the_first_left() {
    let post = |id: &Value, text: &str, replace: bool| {
        let body = json!({"review_id": id, "text": text, "replace": replace});
        (Method::POST, format!("{BASE}/reviews/reply"), Some(body))
    };
    let delete =
        |id: &Value| (Method::DELETE, format!("{BASE}/reviews/reply?review_id={id}"), None);
    type Make = Box<dyn Fn(&Value) -> Request>;
    type Case = (bool, Make, Make, (u16, &'static str), Option<&'static str>);
    let reply = |text: &'static str| Box::new(move |id: &Value| post(id, text, false)) as Make;
    let replace = |text: &'static str| Box::new(move |id: &Value| post(id, text, true)) as Make;
    let take_back = || Box::new(delete) as Make;
    // Whether there is a reply before; the slow request, the fast one; the reply to the slow one; what stands at last.
    let cases: Vec<Case> = vec![
        (false, reply("Slow"), reply("Fast"), (409, "reply_exists"), Some("Fast")),
        (false, replace("Slow"), reply("Fast"), (200, ""), Some("Slow")),
        (true, replace("Slow"), take_back(), (201, ""), Some("Slow")),
        (true, reply("Slow"), take_back(), (201, ""), Some("Slow")),
        (true, take_back(), take_back(), (404, "reply_not_found"), None),
        (true, take_back(), replace("Fast"), (200, ""), None),
    ];
    for (nth, (answered, slow, fast, (status, code), left)) in cases.into_iter().enumerate() {
        let app = TestApp::start().await;
        let user = app.user().await;
        let account = profile(&app, &user).await;
        review(&user, account, "Fine", 5).await;
        read(&app, &user).await;
        let id = reviews(&user, "").await[0]["id"].clone();
        if answered {
            let (_, path, body) = post(&id, "Before", false);
            let _ = user.post(&path, body.unwrap()).await.expect(201);
        }
        let (slow, fast) = overtaken(&app, &user, &slow(&id), &fast(&id)).await;
        assert!(fast.status < 300, "{nth}: {}", fast.text);
        assert_eq!(slow.status, status, "{nth}: {}", slow.text);
        if !code.is_empty() {
            assert_eq!(slow.body["code"], code, "{nth}");
        }
        if code == "reply_exists" {
            assert_eq!(slow.body["review"]["id"], id, "{nth}");
            assert_eq!(slow.body["review"]["reply"]["text"], "Fast", "{nth}");
        }
        assert_eq!(at_google(&app, &user).await, json!(left), "{nth}");
    }
}

#[tokio::test]
async fn a_file_that_two_delete_at_once_is_deleted_for_both() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = profile(&app, &user).await;
    let file = user.upload("room.png", "image/png", &plain_png(300, 280)).await;
    let body = json!({"source_url": file["url"], "category": "INTERIOR", "account_id": account});
    let _ = user.post(&format!("{BASE}/media"), body).await.expect(202);
    let name = app
        .eventually_in_time("the photo is there", std::time::Duration::from_secs(5), || async {
            let page = user.get(&format!("{BASE}/media")).await.expect(200).body;
            page["media"][0]["media_name"].as_str().map(str::to_owned)
        })
        .await;
    let gone = (Method::DELETE, format!("{BASE}/media?media_name={name}"), None);
    let (slow, fast) = overtaken(&app, &user, &gone, &gone).await;
    assert_eq!((slow.status, fast.status), (200, 200), "{} {}", slow.text, fast.text);
    assert_eq!((&slow.body["deleted"], &fast.body["deleted"]), (&json!(true), &json!(true)));
    let remote = app.simulator.accounts("google_business").await[0]["remote_id"].clone();
    let calls = app.simulator.calls("google_business", remote.as_str().unwrap()).await;
    assert_eq!(calls.iter().filter(|call| call["method"] == "DELETE").count(), 1, "{calls:#?}");
}

#[tokio::test]
async fn a_comment_that_is_in_the_wanted_state_meanwhile_is_left_alone() {
    let app = TestApp::start().await;
    let user = inbox::pro(&app).await;
    let hide = |path: &str, hidden: bool| {
        (Method::PATCH, path.to_owned(), Some(json!({ "hidden": hidden })))
    };
    let delete = |path: &str| (Method::DELETE, path.to_owned(), None);
    for platform in ["facebook", "instagram"] {
        let (_, path) = inbox::lost::answerable(&app, &user, platform, false).await;
        let (slow, fast) = overtaken(&app, &user, &hide(&path, true), &hide(&path, true)).await;
        assert_eq!((slow.status, fast.status), (200, 200), "{} {}", slow.text, fast.text);
        assert_eq!(slow.body["comment"]["hidden"], true, "{platform}");
        let (slow, fast) = overtaken(&app, &user, &delete(&path), &delete(&path)).await;
        assert_eq!((slow.status, fast.status), (200, 200), "{} {}", slow.text, fast.text);
        // What is deleted is neither hidden nor shown.
        let (_, path) = inbox::lost::answerable(&app, &user, platform, false).await;
        let (slow, fast) = overtaken(&app, &user, &hide(&path, true), &delete(&path)).await;
        assert_eq!(fast.status, 200, "{}", fast.text);
        let _ = slow.refused(409, "action_not_allowed");
    }
}
