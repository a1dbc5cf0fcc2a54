//! A worker that carries out changes on networks and does nothing else, and callers that do not wait for it.

use std::time::Duration;

use fanfare_core::Domain;
use fanfare_entities::{OutgoingId, outgoing};
use fanfare_jobs::SendOutgoing;
use fanfare_tests::{TestApp, User};
use fanfare_workers::Context;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use serde_json::Value;
use tokio::task::JoinHandle;

/// Works until it is dropped.
pub struct Sender(JoinHandle<()>);

impl Sender {
    /// Starts one on a domain.
    pub fn start(domain: &Domain) -> Self {
        let cx = Context::new(domain.clone(), "sender".to_owned());
        Self(tokio::spawn(async move {
            loop {
                let due = outgoing::Entity::find().filter(outgoing::Column::DueAt.lte(cx.now()));
                // A story may have stopped its database.
                for row in due.all(&cx.domain.db.write).await.unwrap_or_default() {
                    let job = SendOutgoing { id: row.id.0 };
                    tokio::spawn(fanfare_workers::send_outgoing(job, cx.clone()));
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }))
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The change that was recorded last.
pub async fn newest(app: &TestApp) -> Option<outgoing::Model> {
    let last = outgoing::Entity::find().order_by_desc(outgoing::Column::Id);
    last.one(&app.domain.db.write).await.unwrap()
}

/// Asks for a change, and waits only until it is recorded; its id.
pub async fn ask(app: &TestApp, user: &User, path: String, body: Value) -> OutgoingId {
    let before = newest(app).await.map(|row| row.id);
    let user = user.clone();
    let asking = tokio::spawn(async move { user.post(&path, body).await });
    let id = app
        .eventually("the change is recorded", || async {
            newest(app).await.map(|row| row.id).filter(|id| Some(*id) != before)
        })
        .await;
    asking.abort();
    id
}
