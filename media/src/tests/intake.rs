//! Files on their way in.

use std::time::SystemTime;

use futures_util::TryStreamExt;

use super::{ANY, Failure, Outcome, Room, both::pattern, files};
use crate::{Intake, IntakeError, Sizes, Store, StoredMedia};

async fn take(
    store: &Store,
    sizes: Sizes,
    bytes: &[u8],
    step: usize,
) -> Result<Result<StoredMedia, IntakeError>, Failure> {
    let mut intake = Intake::new(store, "assets/w", sizes);
    for piece in bytes.chunks(step) {
        if let Err(refused) = intake.write(piece).await {
            intake.abort().await;
            return Ok(Err(refused));
        }
    }
    Ok(intake.finish().await)
}

fn film(size: usize) -> Vec<u8> {
    let mut film = files::ftyp(b"isom");
    film.extend(pattern(size - film.len()));
    film
}

#[tokio::test]
async fn a_file_is_the_same_however_it_is_cut() -> Outcome {
    let room = Room::new();
    let store = room.store()?;
    let mut digests = Vec::new();
    for step in [1_000_000, 4_096, 4_095, 999] {
        let taken = take(&store, ANY, &film(700_000), step).await??;
        assert_eq!((taken.mime, taken.bytes), ("video/mp4", 700_000));
        assert!(store.read(&taken.path, 700_000).await? == film(700_000), "the file differs");
        digests.push(taken.digest);
    }
    digests.dedup();
    assert_eq!((digests.len(), digests[0].len()), (1, 64));
    assert_eq!(room.files()?.len(), 4);
    Ok(())
}

#[tokio::test]
async fn a_small_file_is_known_by_its_end_at_the_latest() -> Outcome {
    let room = Room::new();
    let png = files::png(3, 2);
    let mut intake = Intake::new(&room.store()?, "w", ANY);
    intake.write(&png).await?;
    assert_eq!((intake.mime(), intake.seen()), (None, png.len() as u64));
    assert_eq!(intake.end().await?, "image/png");
    let taken = intake.finish().await?;
    assert_eq!((taken.width, taken.height), (Some(3), Some(2)));
    Ok(())
}

#[tokio::test]
async fn the_limit_of_its_kind_is_exact_and_a_refusal_leaves_nothing() -> Outcome {
    let room = Room::new();
    let (store, sizes) = (room.store()?, Sizes { image: 100, video: 500_000 });
    for (bytes, limit) in
        [(film(500_001), 500_000), (files::jpeg(9, 9, &files::segment(0xe2, &[7; 200])), 100)]
    {
        let refused = take(&store, sizes, &bytes, 10_000).await?;
        let bytes = bytes.len();
        assert!(bytes as u64 > limit, "{bytes} is not too large");
        assert_eq!(refused, Err(IntakeError::TooLarge { limit }));
    }
    let others: [(&[u8], &str); 3] =
        [(b"", "Empty"), (b"<!doctype html><p>Log in", "Page"), (b"plain text", "Type")];
    for (bytes, kind) in others {
        let refused = format!("{:?}", take(&store, ANY, bytes, 7).await?);
        assert!(refused.contains(kind), "{refused}");
    }
    assert!(room.empties().await?, "{:?}", room.files()?);
    assert_eq!(take(&store, sizes, &film(500_000), 3_000).await??.bytes, 500_000);
    Ok(())
}

#[tokio::test]
async fn what_is_in_the_store_can_be_walked_over() -> Outcome {
    let room = Room::new();
    let store = room.store()?;
    let taken = take(&store, ANY, &files::png(1, 1), 50).await??;
    let mut elsewhere = store.writer("other/b.png")?;
    elsewhere.write(b"b").await?;
    elsewhere.finish().await?;
    let found: Vec<_> = store.walk("assets")?.try_collect().await?;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((&found[0].path, found[0].bytes), (&taken.path, taken.bytes));
    assert!(found[0].modified <= SystemTime::now());
    assert!(store.walk("nothing")?.try_collect::<Vec<_>>().await?.is_empty());
    Ok(())
}
