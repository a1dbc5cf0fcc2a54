//! Requirements that each kind of store must meet.

use bytes::Bytes;
use futures_util::TryStreamExt;

use super::{Failure, Outcome, Room};
use crate::{Error, FileReader, Store};

/// More than two parts of a bucket, and no multiple of anything.
const LARGE: usize = 12 * 1024 * 1024 + 4321;

#[tokio::test]
async fn a_directory_keeps_what_it_is_given() -> Outcome {
    let room = Room::new();
    keeps(&room.store()?).await
}

/// The whole suite.
pub async fn keeps(store: &Store) -> Outcome {
    store.check().await?;
    for size in [0, 1, 256 * 1024, 256 * 1024 + 1, LARGE] {
        round_trip(store, size).await?;
    }
    ranges(store).await?;
    what_is_not_there(store).await?;
    a_new_file_takes_the_place_of_an_old_one(store).await
}

pub async fn write(store: &Store, path: &str, bytes: &[u8]) -> Result<u64, Error> {
    let mut writer = store.writer(path)?;
    // Pieces that fit no block of anybody's.
    for piece in bytes.chunks(77_777) {
        writer.write(piece).await?;
    }
    writer.finish().await
}

pub fn pattern(size: usize) -> Vec<u8> {
    (0..size).map(|at| (at * 31 % 251) as u8).collect()
}

async fn all(stored: FileReader) -> Result<Vec<u8>, Error> {
    Ok(stored.into_stream().try_collect::<Vec<Bytes>>().await?.concat())
}

async fn round_trip(store: &Store, size: usize) -> Outcome {
    let (path, bytes) = (format!("w/{size}.png"), pattern(size));
    assert_eq!(write(store, &path, &bytes).await?, size as u64);
    assert_eq!(store.read(&path, size as u64).await?, bytes);
    let stored = store.open_read(&path).await?;
    assert_eq!((stored.stat.size, &stored.range), (size as u64, &(0..size as u64)));
    assert_eq!(stored.stat, store.stat(&path).await?);
    let etag = stored.stat.etag.clone().ok_or("no etag")?;
    assert!(etag.len() > 2 && etag.starts_with('"') && etag.ends_with('"'), "{etag}");
    assert!(all(stored).await? == bytes, "the stream of {size} bytes differs");
    if let Some(less) = (size as u64).checked_sub(1) {
        let refused = store.read(&path, less).await;
        assert_eq!(refused, Err(Error::TooLarge { limit: less, actual: size as u64 }));
    }
    store.delete(&path).await?;
    assert_eq!(store.read(&path, u64::MAX).await, Err(Error::Gone));
    Ok(())
}

async fn ranges(store: &Store) -> Outcome {
    let size = 300_000;
    let bytes = pattern(size);
    write(store, "w/r.mp4", &bytes).await?;
    for (from, to) in
        [(0, 1), (0, size), (1, 10), (size - 1, size), (100_000, 270_000), (size - 5, size + 100)]
    {
        let stored = store.open_range("w/r.mp4", from as u64..to as u64).await?;
        let end = to.min(size);
        assert_eq!((stored.stat.size, &stored.range), (size as u64, &(from as u64..end as u64)));
        assert!(all(stored).await? == bytes[from..end], "{from}..{to}");
    }
    for (from, to) in [(size, size + 1), (size + 50, size + 60), (7, 7), (9, 8)] {
        let refused =
            store.open_range("w/r.mp4", from as u64..to as u64).await.map(|stored| stored.range);
        assert_eq!(refused, Err(Error::OutOfRange { size: size as u64 }), "{from}..{to}");
    }
    store.delete("w/r.mp4").await?;
    Ok(())
}

async fn what_is_not_there(store: &Store) -> Outcome {
    assert_eq!(store.read("w/none.png", 10).await, Err(Error::Gone));
    assert_eq!(store.stat("w/none.png").await, Err(Error::Gone));
    assert_eq!(store.open_read("w/none.png").await.map(|stored| stored.range), Err(Error::Gone));
    assert_eq!(
        store.open_range("w/none.png", 0..1).await.map(|stored| stored.range),
        Err(Error::Gone)
    );
    store.delete("w/none.png").await?;
    for path in
        ["../w/a.png", "/etc/passwd", "w/../../a", "w/\0", "w/a#1", "", "w//a", "w/%2e%2e/a"]
    {
        let refused: [Result<(), Error>; 5] = [
            store.read(path, 10).await.map(drop),
            store.stat(path).await.map(drop),
            store.open_range(path, 0..1).await.map(drop),
            store.delete(path).await,
            store.writer(path).map(drop),
        ];
        assert!(
            refused.iter().all(|result| *result == Err(Error::InvalidPath)),
            "{path:?}: {refused:?}"
        );
    }
    Ok(())
}

async fn a_new_file_takes_the_place_of_an_old_one(store: &Store) -> Outcome {
    write(store, "w/a.png", b"first").await?;
    let before = store.stat("w/a.png").await?;
    write(store, "w/a.png", b"second!").await?;
    let after = store.stat("w/a.png").await?;
    assert_eq!((before.size, after.size), (5, 7));
    assert_ne!(before.etag, after.etag);
    store.delete("w/a.png").await?;
    Ok(())
}

/// Writers that end before the file does: by [`crate::Writer::abort`], and by being dropped with a part on its way.
pub async fn give_up(store: &Store) -> Result<(), Failure> {
    for size in [10, LARGE] {
        let mut writer = store.writer("w/half.mp4")?;
        writer.write(&pattern(size)).await?;
        assert_eq!(writer.written(), size as u64);
        assert_eq!(store.stat("w/half.mp4").await, Err(Error::Gone), "seen before it is whole");
        writer.abort().await;
        let mut writer = store.writer("w/half.mp4")?;
        writer.write(&pattern(size)).await?;
        drop(writer);
        assert_eq!(store.stat("w/half.mp4").await, Err(Error::Gone));
    }
    Ok(())
}
