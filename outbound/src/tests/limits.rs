//! Caps, deadlines and requests that are given up.

use std::{future::pending, sync::Arc, time::Duration};

use bytes::Bytes;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::mpsc,
};
use url::Url;

use super::{CLOSED, OPEN, Outcome, Server, answer};
use crate::{
    Client,
    ErrorKind::{Lost, NotSent, TooLarge},
    resolver::Lookup,
};

const SOON: Duration = Duration::from_millis(150);
/// More than the buffers of both sockets can hold.
const HUGE: usize = 64 * 1024 * 1024;

#[tokio::test]
async fn an_answer_over_the_cap_is_too_large() -> Outcome {
    let known = answer(200, "", &"x".repeat(1000));
    let chunked = format!(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n{}\r\n0\r\n\r\n",
        "x".repeat(1000)
    );
    let endless = format!("HTTP/1.1 200 OK\r\n\r\n{}", "x".repeat(1000));
    for text in [known, chunked, endless] {
        let server = Server::answering(text).await?;
        let client = server.client(CLOSED)?;
        assert_eq!(client.get(server.url.clone()).max_reply(1000).send().await?.body.len(), 1000);
        let error = client
            .get(server.url.clone())
            .max_reply(999)
            .send()
            .await
            .err()
            .ok_or("it was read")?;
        assert_eq!(error.kind, TooLarge);
        assert!(error.maybe_sent());
    }
    let server = Server::answering(answer(200, "", &"x".repeat(1024 * 1024 + 1))).await?;
    let error = server.client(CLOSED)?.get(server.url.clone()).send().await.err();
    assert_eq!(error.map(|error| error.kind), Some(TooLarge), "a mebibyte is the default");
    Ok(())
}

#[tokio::test]
async fn the_length_told_to_a_head_request_is_no_body() -> Outcome {
    let server = Server::answering("HTTP/1.1 200 OK\r\nContent-Length: 5000000000\r\n\r\n").await?;
    let client = server.client(CLOSED)?;
    let head = client.request(http::Method::HEAD, server.url.clone()).open().await?;
    assert_eq!((head.status, head.content_length), (200, Some(5_000_000_000)));
    Ok(())
}

#[tokio::test]
async fn a_download_streams_under_its_cap() -> Outcome {
    let server = Server::answering(answer(206, "X-Kind: video\r\n", &"x".repeat(300_000))).await?;
    let client = server.client(CLOSED)?;
    let mut download = client.get(server.url.clone()).max_reply(300_000).open().await?;
    assert_eq!((download.status, download.content_length), (206, Some(300_000)));
    assert_eq!(download.headers["x-kind"], "video");
    let (mut bytes, mut chunks) = (0, 0);
    while let Some(chunk) = download.chunk().await? {
        bytes += chunk.len();
        chunks += 1;
    }
    assert_eq!(bytes, 300_000);
    assert!(chunks > 1, "it came in one piece");
    Ok(())
}

#[tokio::test]
async fn an_answer_that_hangs_is_lost() -> Outcome {
    for text in ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"] {
        let server = Server::start(move |mut wire| async move {
            wire.request().await?;
            wire.stream.write_all(text.as_bytes()).await?;
            wire.hang().await
        })
        .await?;
        let client = server.client(CLOSED)?;
        let (get, post) = (client.get(server.url.clone()), client.post(server.url.clone()));
        for request in [get, post.json("x"), client.post(server.url.clone())] {
            let error = request.deadline(SOON).send().await.err().ok_or("it was answered")?;
            assert_eq!(error.kind, Lost, "{text:?}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn an_answer_without_end_is_lost_at_the_deadline() -> Outcome {
    let server = Server::start(|mut wire| async move {
        wire.request().await?;
        wire.stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await?;
        loop {
            wire.stream.write_all(&[b'x'; 1000]).await?;
        }
    })
    .await?;
    let request = server.client(CLOSED)?.get(server.url.clone());
    let error =
        request.max_reply(usize::MAX).deadline(SOON).send().await.err().ok_or("it ended")?;
    assert_eq!(error.kind, Lost);
    Ok(())
}

#[tokio::test]
async fn a_deadline_before_the_end_of_the_request_is_not_sent() -> Outcome {
    let server = Server::start(|wire| wire.hang()).await?;
    let body = Bytes::from(vec![0; HUGE]);
    let request = server.client(CLOSED)?.post(server.url.clone()).body("video/mp4", body);
    let error = request.deadline(SOON).send().await.err().ok_or("it was answered")?;
    assert_eq!(error.kind, NotSent);

    let lookup: Lookup = Arc::new(|_| Box::pin(pending()));
    let client = Client::assemble(OPEN, lookup, |builder| builder)?;
    let silent = Url::parse("https://silent.test/")?;
    for request in
        [client.get(silent.clone()), client.post(silent.clone()), client.post(silent).json("x")]
    {
        let error = request.deadline(SOON).send().await.err().ok_or("it was answered")?;
        assert_eq!(error.kind, NotSent);
    }
    Ok(())
}

/// The server must not get the rest of an upload after the caller was told that it was not sent, or went away.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_given_up_is_never_completed() -> Outcome {
    let (note, mut notes) = mpsc::unbounded_channel();
    let (go, gate) = tokio::sync::watch::channel(false);
    let server = Server::start(move |mut wire| {
        let (note, mut gate) = (note.clone(), gate.clone());
        async move {
            wire.head().await?;
            let _ = gate.wait_for(|&open| open).await;
            let mut rest = Vec::new();
            let _ = wire.stream.read_to_end(&mut rest).await;
            let _ = note.send(rest.len());
            Ok(())
        }
    })
    .await?;
    let client = server.client(CLOSED)?;
    let upload = || client.post(server.url.clone()).body("video/mp4", Bytes::from(vec![0; HUGE]));
    let error = upload().deadline(SOON).send().await.err().ok_or("it was answered")?;
    assert_eq!(error.kind, NotSent);
    let dropped = tokio::time::timeout(SOON, upload().send()).await;
    assert!(dropped.is_err());
    go.send(true)?;
    for _ in 0..2 {
        let arrived = notes.recv().await.ok_or("no connection came")?;
        assert!(arrived < HUGE, "{arrived} bytes arrived");
    }
    Ok(())
}
