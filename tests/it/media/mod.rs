//! Files on their way in: by every way there is, with everything that can be wrong with them, and out again.

mod announced;
mod owned;
mod places;
mod remote;
mod served;
mod small;

use fanfare_entities::media_asset;
use fanfare_tests::{Options, TestApp};
use sea_orm::{EntityTrait, PaginatorTrait};

pub use remote::serving;

async fn app() -> TestApp {
    TestApp::with(Options { workers: false, ..Options::default() }).await
}

/// Returns the number of files the workspaces of the service have.
async fn rows(app: &TestApp) -> u64 {
    media_asset::Entity::find().count(&app.domain.db.read).await.unwrap()
}

/// Returns the number of files that lie in its store.
fn stored(app: &TestApp) -> usize {
    let (mut open, mut found) = (vec![app.dir().join("media")], 0);
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { open.push(path) } else { found += 1 }
        }
    }
    found
}

/// Returns the number of files that are being written: in the directory of the store, or by its server beside that.
fn parts(app: &TestApp) -> usize {
    let beside = std::fs::read_dir(app.dir()).unwrap().filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_string_lossy().starts_with(".upload_id-")
    });
    beside.count() + stored(app)
}

/// Waits for what is removed in the background.
async fn comes_to_store(app: &TestApp, wanted: usize) {
    app.eventually("what was given up is gone", || async { (stored(app) == wanted).then_some(()) })
        .await;
}
