//! One message on the network is one row here, in whatever order its echo, its answer and a reading of the inbox come.

use std::time::Duration;

use fanfare_entities::{inbound_event, inbox_message, remote_result};
use fanfare_tests::{Options, TestApp, User};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{
    gate::Gate,
    hooks::{deliver, remote_id},
    lost::answerable,
    pro,
    sender::{Sender, ask},
    sent,
};
use crate::worker::Worker;

/// Messages of each kind: the network, whether they answer a message, and what more the request says.
fn kinds() -> [(&'static str, bool, Value); 3] {
    [
        ("facebook", true, json!({})),
        ("instagram", true, json!({})),
        ("instagram", false, json!({"private": true})),
    ]
}

/// When the network's report of a message comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Report {
    /// The echo is applied while the call has not been answered.
    EchoBefore,
    /// The echo is applied when the outcome is known.
    EchoAfter,
    /// The echo comes a second time.
    EchoTwice,
    /// The inbox is read, and the echo comes later.
    ReadBefore,
}

/// The rows of messages with this text that the account sent.
async fn rows(app: &TestApp, text: &str) -> Vec<inbox_message::Model> {
    let found = inbox_message::Entity::find().filter(inbox_message::Column::Text.eq(text));
    found.all(&app.domain.db.write).await.unwrap()
}

/// The network's id of the message with this text, and the other person's.
async fn on_network(user: &User, platform: &str, account: i64, text: &str) -> (String, String) {
    let held = super::held(user, platform, account).await;
    let message = held.iter().find(|item| item["own"] == true && item["text"] == text).unwrap();
    let id = |value: &Value| value["id"].as_str().unwrap().to_owned();
    (id(message), id(&message["with"]))
}

/// Waits until nothing that the network reported is still to be applied.
async fn applied(app: &TestApp) {
    use inbound_event::{Column, Entity};
    app.eventually("all events are applied", || async {
        let open = Entity::find().filter(Column::DueAt.is_not_null());
        open.one(&app.domain.db.write).await.unwrap().is_none().then_some(())
    })
    .await;
}

/// Loses the report that the network sent with the call.
async fn lose_echo(app: &TestApp) {
    use inbound_event::{Column, Entity};
    let open = Entity::delete_many().filter(Column::DueAt.is_not_null());
    open.exec(&app.domain.db.write).await.unwrap();
}

async fn echo(app: &TestApp, (platform, account): (&str, i64), user: &User, text: &str) {
    let page = remote_id(app, account).await;
    let (id, with) = on_network(user, platform, account, text).await;
    let object = if platform == "facebook" { "page" } else { "instagram" };
    let message = json!({
        "sender": {"id": page}, "recipient": {"id": with}, "timestamp": app.clock.now(),
        "message": {"mid": id, "text": text, "is_echo": true},
    });
    let entry = json!({"id": page, "time": 1, "messaging": [message]});
    deliver(app, platform, &json!({"object": object, "entry": [entry]})).await;
}

async fn is_one_row(app: &TestApp, (platform, account): (&str, i64), user: &User, text: &str) {
    let told = format!("{platform}: {text}");
    app.eventually_in_time(
        &format!("{told}: one row with an id"),
        Duration::from_secs(5),
        || async {
            let rows = rows(app, text).await;
            let ended = rows.iter().any(|row| row.status == inbox_message::ItemStatus::Sent);
            (ended && rows.len() == 1 && rows[0].remote_id.is_some()).then_some(())
        },
    )
    .await;
    assert_eq!(sent(user, platform, account, text).await, 1, "{told}");
    let (id, _) = on_network(user, platform, account, text).await;
    assert_eq!(rows(app, text).await[0].remote_id.as_deref(), Some(id.as_str()), "{told}");
    // What the network shows under this id counts as ours from now on.
    let known = remote_result::Entity::find()
        .filter(remote_result::Column::RemoteId.eq(id))
        .filter(remote_result::Column::Owner.eq("outgoing"));
    assert!(known.one(&app.domain.db.write).await.unwrap().is_some(), "{told}");
}

#[tokio::test]
async fn a_message_whose_answer_is_lost_is_one_row_whenever_its_echo_comes() {
    for report in [Report::EchoAfter, Report::EchoTwice, Report::ReadBefore, Report::EchoBefore] {
        let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
        let user = pro(&app).await;
        let helper = Worker::start(&app, None);
        let mut doors = Vec::new();
        for (platform, messages, more) in kinds() {
            let (account, path) = answerable(&app, &user, platform, messages).await;
            doors.push((platform, account, format!("{path}/reply"), more));
        }
        applied(&app).await;
        drop(helper);
        let (gate, hook) = Gate::hook("outgoing_called");
        let (stop, mut sender) = (CancellationToken::new(), None);
        if report == Report::EchoBefore {
            app.start_workers_of(app.other_process_at(hook).await, stop.clone());
        } else {
            sender = Some(Sender::start(&app.domain));
        }
        for (nth, (platform, account, path, more)) in doors.iter().enumerate() {
            let lost = json!([{"on": "commit", "kind": "drop_after_change"}]);
            user.faults(platform, *account, lost).await;
            let text = format!("{report:?} {nth}");
            let mut body = more.clone();
            body["text"] = json!(text);
            if report == Report::EchoBefore {
                ask(&app, &user, path.clone(), body).await;
                gate.is_reached().await;
                applied(&app).await;
                // It may call again when it goes on.
                (0..5).for_each(|_| gate.let_go());
                continue;
            }
            let answer = user.post(path, body).await;
            assert!([201, 202].contains(&answer.status), "{text}: {}", answer.text);
            if report == Report::ReadBefore {
                lose_echo(&app).await;
            }
        }
        if sender.take().is_some() {
            app.start_workers();
        }
        if report == Report::ReadBefore {
            for (_, account, ..) in &doors {
                super::unlisted::read(&app, &user, *account).await;
            }
        }
        for (nth, (platform, account, ..)) in doors.iter().enumerate() {
            let (at, text) = ((*platform, *account), format!("{report:?} {nth}"));
            is_one_row(&app, at, &user, &text).await;
            if matches!(report, Report::EchoTwice | Report::ReadBefore) {
                echo(&app, at, &user, &text).await;
                applied(&app).await;
                is_one_row(&app, at, &user, &text).await;
            }
        }
    }
}

/// Two private answers of the same words to one person are two messages and two rows, each with an id of its own.
#[tokio::test]
async fn the_same_words_twice_are_two_rows_with_an_id_each() {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let user = pro(&app).await;
    let helper = Worker::start(&app, None);
    let (account, first) = answerable(&app, &user, "instagram", false).await;
    let item = json!({"account_id": account, "kind": "comment", "text": "Hi again"});
    super::write(&user, "instagram", item).await;
    let second = super::comment(&app, &user, account, "Hi again").await["id"].clone();
    applied(&app).await;
    drop(helper);
    let sender = Sender::start(&app.domain);
    for path in [first, format!("/api/v1/inbox/comments/{second}")] {
        let lost = json!([{"on": "commit", "kind": "drop_after_change"}]);
        user.faults("instagram", account, lost).await;
        let body = json!({"text": "Thanks", "private": true});
        let _ = user.post(&format!("{path}/reply"), body).await.expect(201);
    }
    drop(sender);
    app.start_workers();
    app.eventually("both have an id", || async {
        let rows = rows(&app, "Thanks").await;
        let ids: std::collections::BTreeSet<_> =
            rows.iter().filter_map(|row| row.remote_id.clone()).collect();
        (rows.len() == 2 && ids.len() == 2).then_some(())
    })
    .await;
    applied(&app).await;
    assert_eq!(rows(&app, "Thanks").await.len(), 2);
    assert_eq!(sent(&user, "instagram", account, "Thanks").await, 2);
}
