//! Caps, deadlines and requests that are given up.

use std::{
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::{mpsc, watch},
};
use url::Url;

use super::{CLOSED, Failure, OPEN, Outcome, Server, answer};
use crate::{
    Client,
    ErrorKind::{self, Lost, NotSent, TooLarge},
    Request,
    resolver::Lookup,
};

const SOON: Duration = Duration::from_millis(150);
/// More than the buffers of both sockets can hold.
const HUGE: usize = 32 * 1024 * 1024;

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

/// Sends a request with a deadline to a server that reads it, sends `text` and then, over and over, `more`. On a busy
/// machine an early deadline may come before the request is out, so it is put off until it does not.
async fn at_deadline(
    text: &'static str,
    more: &'static str,
    request: impl Fn(&Client, Url) -> Request,
) -> Result<ErrorKind, Failure> {
    let arrived = Arc::new(AtomicBool::new(false));
    let note = arrived.clone();
    let server = Server::start(move |mut wire| {
        let note = note.clone();
        async move {
            wire.request().await?;
            note.store(true, Ordering::SeqCst);
            wire.stream.write_all(text.as_bytes()).await?;
            if !more.is_empty() {
                loop {
                    wire.stream.write_all(more.as_bytes()).await?;
                }
            }
            wire.hang().await
        }
    })
    .await?;
    let client = server.client(CLOSED)?;
    let mut deadline = SOON;
    loop {
        let sent = request(&client, server.url.clone()).deadline(deadline).send().await;
        let kind = sent.err().ok_or("it was answered")?.kind;
        if kind != NotSent || arrived.load(Ordering::SeqCst) {
            return Ok(kind);
        }
        assert!(deadline < SOON * 1000, "the server reads nothing");
        deadline *= 2;
    }
}

#[tokio::test]
async fn an_answer_that_hangs_is_lost() -> Outcome {
    for text in ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"] {
        assert_eq!(at_deadline(text, "", |client, url| client.get(url)).await?, Lost, "{text:?}");
        assert_eq!(at_deadline(text, "", |client, url| client.post(url)).await?, Lost, "{text:?}");
        let with_body = at_deadline(text, "", |client, url| client.post(url).json("x")).await?;
        assert_eq!(with_body, Lost, "{text:?}");
    }
    Ok(())
}

#[tokio::test]
async fn an_answer_without_end_is_lost_at_the_deadline() -> Outcome {
    let endless = |client: &Client, url| client.get(url).max_reply(usize::MAX);
    assert_eq!(at_deadline("HTTP/1.1 200 OK\r\n\r\n", "and so on ", endless).await?, Lost);
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
    let (begun, mut heads) = mpsc::unbounded_channel();
    let (note, mut notes) = mpsc::unbounded_channel();
    let (go, gate) = watch::channel(false);
    let server = Server::start(move |mut wire| {
        let (begun, note, mut gate) = (begun.clone(), note.clone(), gate.clone());
        async move {
            wire.head().await?;
            let _ = begun.send(());
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
    tokio::select! {
        ended = upload().send() => return Err(format!("{ended:?}").into()),
        begun = heads.recv() => begun.ok_or("no head came")?,
    }
    let mut deadline = SOON;
    while heads.try_recv().is_err() {
        let error = upload().deadline(deadline).send().await.err().ok_or("it was answered")?;
        assert_eq!(error.kind, NotSent);
        deadline *= 2;
    }
    go.send(true)?;
    drop(server);
    let mut connections = 0;
    while let Some(arrived) = notes.recv().await {
        assert!(arrived < HUGE, "{arrived} bytes arrived");
        connections += 1;
    }
    assert!(connections >= 2, "{connections}");
    Ok(())
}
