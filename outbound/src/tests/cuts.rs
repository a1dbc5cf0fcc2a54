//! Connections that break at chosen bytes: what reached the server whole is never called "not sent".

use std::{
    collections::{HashMap, HashSet},
    io,
    net::Ipv4Addr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use http::Method;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    sync::mpsc,
};
use url::Url;

use super::{CLOSED, Failure, OPEN, Outcome, Server, client};
use crate::{
    Client,
    ErrorKind::{Lost, NotSent},
    resolver::Lookup,
};

/// The point at which the server stops reading and closes.
#[derive(Debug, Clone, Copy)]
enum Cut {
    Head(usize),
    Body(usize),
}

/// The kind of error a POST of `size` bytes ends with, and whether the server read the whole request.
async fn cut_off(size: usize, cut: Cut) -> Result<(crate::ErrorKind, bool), Failure> {
    let (note, mut notes) = mpsc::unbounded_channel();
    let server = Server::start(move |mut wire| {
        let note = note.clone();
        async move {
            let whole = match cut {
                Cut::Head(bytes) => {
                    wire.stream.read_exact(&mut vec![0; bytes]).await?;
                    false
                }
                Cut::Body(bytes) => {
                    wire.head().await?;
                    wire.stream.read_exact(&mut vec![0; bytes]).await?;
                    bytes == size
                }
            };
            let _ = note.send(whole);
            Ok(())
        }
    })
    .await?;
    let body = Bytes::from(vec![0; size]);
    let sent =
        server.client(CLOSED)?.post(server.url.clone()).body("text/plain", body).send().await;
    let error = sent.err().ok_or("an answer came from nowhere")?;
    Ok((error.kind, notes.recv().await.ok_or("no connection came")?))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_arrived_whole_is_never_called_not_sent() -> Outcome {
    for size in [1, 1000, 64 * 1024, 64 * 1024 + 1, 1024 * 1024] {
        let body = [0, 1, size / 2, size - 1, size].map(Cut::Body);
        for cut in [Cut::Head(0), Cut::Head(20)].into_iter().chain(body) {
            let (kind, whole) = cut_off(size, cut).await?;
            if whole {
                assert_eq!(kind, Lost, "{size} bytes, {cut:?}");
            } else {
                assert!(matches!(kind, Lost | NotSent), "{size} bytes, {cut:?}: {kind:?}");
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn an_upload_that_breaks_off_early_is_not_sent() -> Outcome {
    // More than the buffers of both sockets can hold.
    for cut in [Cut::Head(1), Cut::Body(0), Cut::Body(100_000)] {
        assert_eq!(cut_off(32 * 1024 * 1024, cut).await?, (NotSent, false), "{cut:?}");
    }
    Ok(())
}

#[tokio::test]
async fn an_answer_cut_at_any_byte_is_lost() -> Outcome {
    let answers = [
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{\"id\":\"42\"}",
        "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n{\"id\":\r\n5\r\n\"42\"}\r\n0\r\n\r\n",
    ];
    for answer in answers {
        let cut = Arc::new(AtomicUsize::new(0));
        let at = cut.clone();
        let server = Server::start(move |mut wire| {
            let at = at.load(Ordering::SeqCst);
            async move {
                wire.request().await?;
                wire.stream.write_all(&answer.as_bytes()[..at]).await
            }
        })
        .await?;
        let client = server.client(CLOSED)?;
        for bytes in 0..=answer.len() {
            cut.store(bytes, Ordering::SeqCst);
            for method in [Method::POST, Method::DELETE] {
                let request = client.request(method.clone(), server.url.clone());
                let request = if method == Method::POST { request.json("x") } else { request };
                match request.send().await {
                    Ok(reply) => {
                        assert_eq!(bytes, answer.len());
                        assert_eq!(reply.json::<HashMap<String, String>>()?["id"], "42");
                    }
                    Err(error) => {
                        assert!(bytes < answer.len());
                        assert_eq!(error.kind, Lost, "{method} {bytes} {error}");
                        assert!(error.maybe_sent());
                    }
                }
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn without_a_connection_nothing_was_sent() -> Outcome {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let port = listener.local_addr()?.port();
    drop(listener);
    let gone = Url::parse(&format!("http://127.0.0.1:{port}/"))?;
    let client = client(CLOSED)?.trusting(std::slice::from_ref(&gone));
    for method in [Method::GET, Method::POST, Method::DELETE] {
        let error = client.request(method, gone.clone()).send().await.err().ok_or("it was sent")?;
        assert_eq!(error.kind, NotSent);
    }
    let error = client.post(gone).json("x").send().await.err().ok_or("it was sent")?;
    assert_eq!(error.kind, NotSent);
    assert!(error.to_string().contains("refused"), "{error}");
    Ok(())
}

#[tokio::test]
async fn a_failed_handshake_is_not_sent() -> Outcome {
    for garbage in ["", "HTTP/1.1 400 Bad Request\r\n\r\n"] {
        let server = Server::start(move |mut wire| async move {
            wire.stream.read_u8().await?;
            wire.stream.write_all(garbage.as_bytes()).await
        })
        .await?;
        let port = server.url.port().ok_or("no port")?;
        let https = Url::parse(&format!("https://127.0.0.1:{port}/"))?;
        let client = client(CLOSED)?.trusting(std::slice::from_ref(&https));
        for request in [client.get(https.clone()), client.post(https.clone()).json("x")] {
            assert_eq!(request.send().await.err().map(|error| error.kind), Some(NotSent));
        }
    }
    Ok(())
}

/// The server keeps a connection for one request more or closes it at about the time the next request comes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_dies_between_two_posts_repeats_neither() -> Outcome {
    let done = Arc::new(Mutex::new(HashMap::<Vec<u8>, usize>::new()));
    let log = done.clone();
    let server = Server::start(move |mut wire| {
        let log = log.clone();
        let count = move |body: Vec<u8>| {
            if let Ok(mut log) = log.lock() {
                *log.entry(body).or_default() += 1;
            }
        };
        async move {
            let first = wire.request().await?.body;
            let round = first.iter().map(|&byte| usize::from(byte)).sum::<usize>();
            count(first);
            wire.answer(200, "", "").await?;
            if round % 2 == 0 {
                tokio::time::sleep(Duration::from_micros(round as u64 % 7 * 40)).await;
            } else {
                count(wire.request().await?.body);
            }
            Ok(())
        }
    })
    .await?;
    let client = server.client(CLOSED)?;
    let mut lost = 0;
    for round in 0..200 {
        for post in ["first", "second"] {
            let body = format!("{round} {post}");
            let sent = client
                .post(server.url.clone())
                .body("text/plain", body.clone().into())
                .send()
                .await;
            let times =
                done.lock().map_err(|_| "poisoned")?.get(body.as_bytes()).copied().unwrap_or(0);
            match sent.map_err(|error| error.kind) {
                Ok(reply) => assert_eq!((reply.status, times), (200, 1), "{body}"),
                Err(NotSent) => assert_eq!(times, 0, "{body}"),
                Err(kind) => {
                    assert_eq!(kind, Lost);
                    lost += 1;
                }
            }
        }
    }
    let done = done.lock().map_err(|_| "poisoned")?;
    assert!(done.values().all(|&times| times == 1), "{done:?}");
    assert!(lost > 0, "no connection died in time");
    Ok(())
}

/// Name resolution ends about when the deadline does, so that connecting and sending race with giving up. Bodies of
/// no frame, of one and of two.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deadline_at_any_moment_tells_the_truth() -> Outcome {
    let done = Arc::new(Mutex::new(HashSet::<String>::new()));
    let log = done.clone();
    let server = Server::start(move |mut wire| {
        let log = log.clone();
        async move {
            let seen = wire.request().await?;
            let round = seen.header("x-round").unwrap_or_default().to_owned();
            log.lock().map_err(|_| io::ErrorKind::Other)?.insert(round);
            wire.answer(200, "Connection: close\r\n", "").await
        }
    })
    .await?;
    let delay = Arc::new(AtomicU64::new(0));
    let after = delay.clone();
    let lookup: Lookup = Arc::new(move |_| {
        let after = Duration::from_millis(after.load(Ordering::SeqCst));
        Box::pin(async move {
            tokio::time::sleep(after).await;
            Ok(vec![Ipv4Addr::LOCALHOST.into()])
        })
    });
    let client = Client::assemble(OPEN, lookup, |builder| builder)?;
    let port = server.url.port().ok_or("no port")?;
    let url = Url::parse(&format!("http://slow.test:{port}/"))?;
    let mut not_sent = Vec::new();
    for round in 0..300_u64 {
        delay.store(round / 3 % 5, Ordering::SeqCst);
        let post = client.post(url.clone()).header("x-round", &round.to_string());
        let post = match round % 3 {
            0 => post,
            1 => post.json("x"),
            _ => post.body("video/mp4", Bytes::from(vec![0; 100_000])),
        };
        let sent = post.deadline(Duration::from_millis(3)).send().await;
        match sent.map_err(|error| error.kind) {
            Ok(_) => {
                let done = done.lock().map_err(|_| "poisoned")?;
                assert!(done.contains(&round.to_string()), "{round}");
            }
            Err(NotSent) => not_sent.push(round.to_string()),
            Err(kind) => assert_eq!(kind, Lost),
        }
    }
    drop(client);
    tokio::time::sleep(Duration::from_millis(100)).await;
    let done = done.lock().map_err(|_| "poisoned")?;
    assert!(!not_sent.is_empty(), "no deadline came before the name was resolved");
    assert!(not_sent.iter().all(|round| !done.contains(round)), "{not_sent:?} {done:?}");
    Ok(())
}
