//! Kills at each statement of each migration, from empty and from every earlier schema with rows.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use fanfare_core::db::Db;
use fanfare_migration::Run;
use fanfare_tests::Stack;
use sea_orm::{ConnectionTrait, TransactionTrait};

use super::{
    close, migrate, names, open,
    schema::{dump, fill, schema, texts},
};
use crate::service::Dir;

/// Returns the schema of a database that was never disturbed.
async fn undisturbed(dir: &Path) -> super::schema::Dump {
    std::fs::create_dir_all(dir).unwrap();
    let db = open(&Stack::of_this_run().empty_database(dir).await).await;
    migrate(&db, None).await;
    schema(&db).await
}

#[tokio::test]
async fn a_start_after_a_kill_at_any_statement_of_any_migration_brings_the_schema_up_to_date() {
    let dir = Dir::new();
    let right = undisturbed(&dir.join("undisturbed")).await;
    let held = match Stack::of_this_run() {
        Stack::Embedded => on_sqlite(&dir).await,
        Stack::Fleet => on_postgres(&dir).await,
    };
    assert_eq!(held, right);
}

/// What a kill leaves on the disk is what is on the disk after a statement: each such image is started again.
async fn on_sqlite(dir: &Path) -> super::schema::Dump {
    let file = dir.join("fanfare.db");
    let url = |file: &Path| format!("sqlite://{}", file.display());
    let mut images = 0;
    for name in names() {
        let base = open(&url(&file)).await;
        if base.write.execute_unprepared("SELECT 1 FROM seaql_migrations").await.is_ok() {
            fill(&base).await;
        }
        close(base).await;
        let count = Arc::new(AtomicUsize::new(0));
        let (counted, from, to) = (Arc::clone(&count), file.clone(), dir.to_owned());
        let watch = Arc::new(move |_: &str| {
            let number = counted.fetch_add(1, Ordering::Relaxed);
            for end in ["", "-wal"] {
                let _ = std::fs::copy(with_end(&from, end), with_end(&image(&to, number), end));
            }
        });
        let db = open(&url(&file)).await;
        Run { last: Some(name), watch: Some(watch) }.on(&db.write).await.unwrap();
        let right = dump(&db).await;
        close(db).await;
        for number in 0..count.load(Ordering::Relaxed) {
            let file = image(dir, number);
            let db = open(&url(&file)).await;
            migrate(&db, Some(name)).await;
            assert_eq!(dump(&db).await, right, "killed after statement {number} of {name}");
            close(db).await;
            for end in ["", "-wal", "-shm"] {
                let _ = std::fs::remove_file(with_end(&file, end));
            }
            images += 1;
        }
    }
    assert!(images > 200, "{images} images");
    let db = open(&url(&file)).await;
    schema(&db).await
}

fn image(dir: &Path, number: usize) -> PathBuf {
    dir.join(format!("image-{number}.db"))
}

fn with_end(file: &Path, end: &str) -> PathBuf {
    format!("{}{end}", file.display()).into()
}

/// A run is ended at its first statement, then at its second, and so on, until one comes to its end. What PostgreSQL
/// holds of a half-built index is left each time.
async fn on_postgres(dir: &Path) -> super::schema::Dump {
    let url = Stack::Fleet.empty_database(dir).await;
    let mut kills = 0;
    for name in names() {
        let db = open(&url).await;
        if !texts(&db, "SELECT tablename::text FROM pg_tables WHERE tablename = 'users'")
            .await
            .is_empty()
        {
            fill(&db).await;
        }
        let indexes = texts(&db, INDEXES).await;
        for last in 0.. {
            if !is_killed_after(&url, name, last).await {
                break;
            }
            kills += 1;
            // Its indexes are whole before its record is written.
            if indexes.is_empty() || is_recorded(&db, name).await {
                continue;
            }
            for index in texts(&db, INDEXES).await.iter().filter(|one| !indexes.contains(one)) {
                leave_half_built(&db, index).await;
            }
        }
        close(db).await;
    }
    assert!(kills > 200, "{kills} kills");
    let db = open(&url).await;
    let broken =
        texts(&db, "SELECT indexrelid::regclass::text FROM pg_index WHERE NOT indisvalid").await;
    assert_eq!(broken, Vec::<String>::new());
    schema(&db).await
}

const INDEXES: &str = "SELECT indexname::text FROM pg_indexes WHERE schemaname = 'public' \
     AND tablename <> 'seaql_migrations'";

async fn is_recorded(db: &Db, name: &str) -> bool {
    texts(db, "SELECT version FROM seaql_migrations").await.iter().any(|one| one == name)
}

async fn leave_half_built(db: &Db, index: &str) {
    let sql =
        format!("UPDATE pg_index SET indisvalid = false WHERE indexrelid = '{index}'::regclass");
    db.write.execute_unprepared(&sql).await.unwrap();
}

/// Runs the migrations up to `name`, and ends that after `last` statements. Returns false if it came to its end before.
async fn is_killed_after(url: &str, name: &'static str, last: usize) -> bool {
    let db = open(url).await;
    let count = AtomicUsize::new(0);
    let watch = Arc::new(move |_: &str| {
        // It ends here, in the middle of what it does, and its connection with it.
        assert!(count.fetch_add(1, Ordering::Relaxed) < last, "killed on purpose");
    });
    let run = tokio::spawn(async move {
        let outcome = Run { last: Some(name), watch: Some(watch) }.on(&db.write).await;
        close(db).await;
        outcome
    });
    match run.await {
        Ok(outcome) => outcome.map(|()| false).unwrap(),
        Err(error) => error.is_panic(),
    }
}

#[tokio::test]
async fn a_full_disk_at_any_moment_of_a_first_start_leaves_a_database_that_starts_when_there_is_room()
 {
    if Stack::of_this_run() == Stack::Fleet {
        return;
    }
    let dir = Dir::new();
    let right = undisturbed(&dir.join("undisturbed")).await;
    let db = open(&Stack::Embedded.empty_database(&dir).await).await;
    let mut refused = 0;
    for pages in (1..).step_by(3) {
        let sql = format!("PRAGMA max_page_count = {pages}");
        db.write.execute_unprepared(&sql).await.unwrap();
        match fanfare_migration::migrate(&db.write).await {
            Ok(()) => break,
            Err(error) => assert!(error.to_string().contains("full"), "{error}"),
        }
        refused += 1;
    }
    assert!(refused > 10, "{refused} refusals");
    assert_eq!(schema(&db).await, right);
}

#[tokio::test]
async fn a_migration_gives_way_to_the_queries_that_queue_up_behind_it() {
    if Stack::of_this_run() == Stack::Embedded {
        return;
    }
    let dir = Dir::new();
    std::fs::create_dir_all(&*dir).unwrap();
    let url = Stack::Fleet.empty_database(&dir).await;
    let db = open(&url).await;
    migrate(&db, Some("m0011_processes")).await;
    let reading = db.write.begin().await.unwrap();
    reading.execute_unprepared("SELECT id FROM posts").await.unwrap();
    let stays = tokio::spawn(async move {
        loop {
            reading.execute_unprepared("SELECT id FROM posts").await.unwrap();
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    });
    let upgrade = tokio::spawn(async move {
        let db = open(&url).await;
        migrate(&db, None).await;
    });
    let waits = async || {
        let sql = "SELECT mode FROM pg_locks WHERE NOT granted AND locktype = 'relation' \
                   AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
        !texts(&db, sql).await.is_empty()
    };
    for right in [true, false, true] {
        let begun = std::time::Instant::now();
        while waits().await != right {
            assert!(begun.elapsed() < fanfare_tests::patience(), "it waits: {right}");
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }
    assert!(!upgrade.is_finished());
    stays.abort();
    upgrade.await.unwrap();
    fanfare_migration::check(&db.write).await.unwrap();
}
