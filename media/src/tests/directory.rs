//! Behaviour that only a store in a directory has.

use std::{
    fs,
    time::{Duration, SystemTime},
};

use futures_util::TryStreamExt;

use super::{
    Outcome, Room,
    both::{give_up, pattern, write},
};
use crate::{Error, S3, Store};

#[tokio::test]
async fn a_file_that_is_given_up_leaves_nothing() -> Outcome {
    let room = Room::new();
    give_up(&room.store()?).await?;
    assert!(room.empties().await?, "{:?}", room.files()?);
    Ok(())
}

#[tokio::test]
async fn what_an_abort_answers_for_is_gone_when_it_returns() -> Outcome {
    let room = Room::new();
    let mut writer = room.store()?.writer("w/half.mp4")?;
    writer.write(&pattern(3_000_000)).await?;
    assert!(!room.files()?.is_empty(), "nothing was written yet");
    writer.abort().await;
    assert!(room.files()?.is_empty());
    Ok(())
}

#[tokio::test]
async fn the_leavings_of_a_dead_process_are_swept_up_and_nothing_else() -> Outcome {
    let room = Room::new();
    let store = room.store()?;
    write(&store, "w/whole.png", b"whole").await?;
    let mut writer = store.writer("w/half.mp4")?;
    writer.write(&pattern(600_000)).await?;
    // As a killed process does: no destructor runs.
    std::mem::forget(writer);
    assert_eq!(room.files()?.len(), 2);
    assert_eq!(store.remove_unfinished(SystemTime::now() - Duration::from_secs(3600)).await?, 0);
    assert_eq!(store.remove_unfinished(SystemTime::now() + Duration::from_secs(3600)).await?, 1);
    assert_eq!(room.files()?, [room.0.join("w/whole.png")]);
    Ok(())
}

#[tokio::test]
async fn a_file_cut_on_disk_ends_the_stream_with_an_error() -> Outcome {
    let room = Room::new();
    let store = room.store()?;
    write(&store, "w/a.mp4", &pattern(1_000_000)).await?;
    let stored = store.open_read("w/a.mp4").await?;
    fs::File::options().write(true).open(room.0.join("w/a.mp4"))?.set_len(300_000)?;
    let read = stored
        .into_stream()
        .try_fold(0_usize, |sum, piece| async move { Ok(sum + piece.len()) })
        .await;
    assert!(matches!(read, Err(Error::Failed(_))), "{read:?}");
    Ok(())
}

#[cfg(unix)]
#[tokio::test]
async fn the_directory_is_made_for_our_own_eyes() -> Outcome {
    use std::os::unix::fs::PermissionsExt;

    let room = Room::new();
    let deep = room.0.join("a/b");
    Store::open(&format!("file://{}", deep.display()), S3::default())?.check().await?;
    assert_eq!(fs::metadata(&deep)?.permissions().mode() & 0o777, 0o700);
    assert!(room.files()?.is_empty(), "the probe is still there");
    Ok(())
}

#[tokio::test]
async fn a_store_that_cannot_be_is_refused() -> Outcome {
    let room = Room::new();
    fs::create_dir_all(&room.0)?;
    let file = room.0.join("file");
    fs::write(&file, "in the way")?;
    let refused = Store::open(&format!("file://{}", file.display()), S3::default());
    assert!(matches!(refused, Err(Error::Config(_))), "{refused:?}");
    assert!(matches!(Store::open("media", S3::default()), Err(Error::Config(_))));
    Ok(())
}

#[tokio::test]
async fn a_broken_store_is_found_by_its_check() -> Outcome {
    let room = Room::new();
    let store = room.store()?;
    store.check().await?;
    fs::write(room.0.join("probe-blocker"), "")?;
    fs::remove_dir_all(room.0.join("probe"))?;
    fs::rename(room.0.join("probe-blocker"), room.0.join("probe"))?;
    let found = store.check().await;
    assert!(matches!(found, Err(Error::Failed(_))), "{found:?}");
    Ok(())
}

#[test]
fn keys_are_never_shown() -> Outcome {
    let keys = |access: &str, secret: Option<&str>| S3 {
        access_key: Some(access.into()),
        secret_key: secret.map(Into::into),
        region: None,
    };
    let both = keys("AKIA-hunter1", Some("hunter2"));
    let store = Store::open("s3://media/here?endpoint=https://s3.example.com", both.clone())?;
    let shown = format!("{store:?} {both:?} {:?}", store.writer("w/a.png")?);
    assert!(shown.contains("s3://media/here") && !shown.contains("hunter"), "{shown}");
    let half = Store::open("s3://media", keys("AKIA-hunter1", None));
    assert!(matches!(&half, Err(Error::Config(text)) if !text.contains("hunter")), "{half:?}");
    Ok(())
}
