//! Behaviour of a store in a bucket.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::{
    bucket::{Bucket, State},
    signature::{ACCESS, REGION, SECRET},
};
use crate::{
    Error, S3, Store, copy_remote,
    tests::{
        ANY, Failure, Outcome,
        both::{give_up, keeps, pattern, write},
        files,
        server::{Server, whole},
    },
};

fn keys(access: &str, secret: &str) -> S3 {
    S3 {
        access_key: Some(access.into()),
        secret_key: Some(secret.into()),
        region: Some(REGION.to_owned()),
    }
}

impl Bucket {
    fn store(&self) -> Result<Store, Error> {
        Store::open(&format!("s3://media/live/files?endpoint={}", self.url), keys(ACCESS, SECRET))
    }

    /// Waits for what happens in the background.
    async fn comes_to(&self, wanted: impl Fn(&State) -> bool) -> Result<(), Failure> {
        let until = Instant::now() + Duration::from_secs(20);
        while !wanted(&self.state()) {
            if Instant::now() > until {
                return Err(format!("it did not come to that: {:?}", self.state().calls).into());
            }
            sleep(Duration::from_millis(5)).await;
        }
        Ok(())
    }
}

#[tokio::test]
async fn a_bucket_keeps_what_it_is_given() -> Outcome {
    let bucket = Bucket::start().await?;
    keeps(&bucket.store()?).await?;
    assert!(bucket.state().files.is_empty() && bucket.state().uploads.is_empty());
    Ok(())
}

#[tokio::test]
async fn files_lie_under_the_prefix_with_their_type() -> Outcome {
    let bucket = Bucket::start().await?;
    let store = bucket.store()?;
    write(&store, "w/a.webm", &pattern(6_000_000)).await?;
    write(&store, "w/a.png", b"small").await?;
    write(&store, "w/a.bin", b"small").await?;
    let state = bucket.state();
    let found = state
        .files
        .iter()
        .map(|(key, (_, mime))| (key.as_str(), mime.as_str()))
        .collect::<Vec<_>>();
    assert_eq!(
        found,
        [
            ("live/files/w/a.bin", "application/octet-stream"),
            ("live/files/w/a.png", "image/png"),
            ("live/files/w/a.webm", "video/webm"),
        ]
    );
    Ok(())
}

#[tokio::test]
async fn an_upload_that_is_given_up_is_ended_at_the_server() -> Outcome {
    let bucket = Bucket::start().await?;
    give_up(&bucket.store()?).await?;
    let ended =
        |state: &State| state.calls.iter().filter(|call| *call == "DELETE uploadId").count() == 2;
    bucket.comes_to(|state| ended(state) && state.uploads.is_empty()).await?;
    assert!(bucket.state().files.is_empty());
    Ok(())
}

#[tokio::test]
async fn an_upload_left_while_it_is_completed_is_ended_too() -> Outcome {
    let bucket = Bucket::start().await?;
    bucket.stall.send_replace(true);
    let mut writer = bucket.store()?.writer("w/a.mp4")?;
    writer.write(&pattern(11_000_000)).await?;
    let finishing = tokio::spawn(writer.finish());
    bucket.comes_to(|state| state.calls.iter().any(|call| call == "POST uploadId")).await?;
    finishing.abort();
    bucket.comes_to(|state| state.uploads.is_empty()).await?;
    bucket.stall.send_replace(false);
    assert!(bucket.state().files.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_file_of_one_part_takes_one_request() -> Outcome {
    let bucket = Bucket::start().await?;
    write(&bucket.store()?, "w/a.png", &pattern(4_000_000)).await?;
    assert_eq!(bucket.state().calls, ["PUT"]);
    Ok(())
}

#[tokio::test]
async fn wrong_keys_and_a_missing_bucket_are_told_without_the_keys() -> Outcome {
    let bucket = Bucket::start().await?;
    let open =
        |name: &str, keys| Store::open(&format!("s3://{name}?endpoint={}", bucket.url), keys);
    let denied = |code: &str| -> Result<(), Error> { Err(Error::Denied(code.to_owned())) };
    assert_eq!(
        open("media", keys("AKIA-OTHER", SECRET))?.check().await,
        denied("InvalidAccessKeyId")
    );
    assert_eq!(
        open("media", keys(ACCESS, "other"))?.check().await,
        denied("SignatureDoesNotMatch")
    );
    let missing = open("other", keys(ACCESS, SECRET))?.check().await;
    assert_eq!(missing, Err(Error::Failed("NoSuchBucket".to_owned())));
    assert!(bucket.state().files.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_file_is_copied_into_a_bucket() -> Outcome {
    let bucket = Bucket::start().await?;
    let mut film = files::ftyp(b"qt  ");
    film.extend(pattern(7_000_000));
    let server = Server::answering(whole(&film)).await?;
    let store = bucket.store()?;
    let copied = copy_remote(&store, &server.client()?, &server.at("a.mov")?, "w", ANY).await?;
    assert_eq!((copied.file.mime, copied.file.bytes), ("video/quicktime", film.len() as u64));
    assert!(store.read(&copied.file.path, copied.file.bytes).await? == film, "the copy differs");
    Ok(())
}

#[tokio::test]
async fn a_copy_that_fails_leaves_nothing_in_the_bucket() -> Outcome {
    let bucket = Bucket::start().await?;
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\n";
    let film = files::join(&[head, &files::ftyp(b"isom"), &pattern(8_000_000)]);
    let server = Server::answering(film).await?;
    let failed =
        copy_remote(&bucket.store()?, &server.client()?, &server.at("a.mp4")?, "w", ANY).await;
    assert!(failed.is_err(), "{failed:?}");
    let state = bucket.state();
    assert!(state.files.is_empty() && state.uploads.is_empty());
    assert!(
        state.calls.iter().any(|call| call == "POST uploads"),
        "no upload was begun: {:?}",
        state.calls
    );
    Ok(())
}
