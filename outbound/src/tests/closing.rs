//! Servers that close a connection which the client believes it may use again.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use bytes::Bytes;
use http::Method;

use super::{CLOSED, Failure, Outcome, Server, Wire};
use crate::{Error, ErrorKind};

/// A server that answers the first request of a connection, reads a second one and closes without a word. Counts all
/// requests that it has read.
async fn forgetful() -> Result<(Server, Arc<AtomicUsize>), Failure> {
    let read = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&read);
    let serve = move |mut wire: Wire| {
        let read = Arc::clone(&counted);
        async move {
            wire.request().await?;
            read.fetch_add(1, Ordering::SeqCst);
            wire.answer(200, "", "ok").await?;
            wire.request().await?;
            read.fetch_add(1, Ordering::SeqCst);
            Ok(())
        }
    };
    Ok((Server::start(serve).await?, read))
}

/// Two requests one after the other: what came of the second, and how many the server has read.
async fn second(
    method: Method,
    body: &'static str,
) -> Result<(Result<u16, Error>, usize), Failure> {
    let (server, read) = forgetful().await?;
    let client = server.client(CLOSED)?;
    client.get(server.url.clone()).send().await?;
    let mut request = client.request(method, server.url.clone());
    if !body.is_empty() {
        request = request.body("text/plain", Bytes::from_static(body.as_bytes()));
    }
    let answer = request.send().await.map(|reply| reply.status);
    Ok((answer, read.load(Ordering::SeqCst)))
}

#[tokio::test]
async fn what_changes_nothing_is_sent_once_more_on_a_fresh_connection() -> Outcome {
    for method in [Method::GET, Method::HEAD] {
        let (answer, read) = second(method.clone(), "").await?;
        assert_eq!((answer?, read), (200, 3), "{method}");
    }
    Ok(())
}

#[tokio::test]
async fn what_asks_for_a_fresh_connection_meets_no_close() -> Outcome {
    let (server, read) = forgetful().await?;
    let client = server.client(CLOSED)?;
    client.get(server.url.clone()).send().await?;
    let paid = client.request(Method::POST, server.url.clone()).on_new_connection();
    assert_eq!((paid.send().await?.status, read.load(Ordering::SeqCst)), (200, 2));
    Ok(())
}

#[tokio::test]
async fn what_may_change_something_is_never_sent_again() -> Outcome {
    let table = [
        (Method::POST, ""),
        (Method::POST, "text"),
        (Method::PUT, "text"),
        (Method::PATCH, "text"),
        (Method::DELETE, ""),
        (Method::GET, "text"),
    ];
    for (method, body) in table {
        let (answer, read) = second(method.clone(), body).await?;
        let error = answer.err().ok_or("an answer came from nowhere")?;
        assert_eq!((error.kind, read), (ErrorKind::Lost, 2), "{method} {body}");
    }
    Ok(())
}

#[tokio::test]
async fn what_a_fresh_connection_loses_is_lost() -> Outcome {
    let read = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&read);
    let server = Server::start(move |mut wire| {
        let read = Arc::clone(&counted);
        async move {
            wire.request().await?;
            read.fetch_add(1, Ordering::SeqCst);
            Ok(())
        }
    })
    .await?;
    let answer = server.client(CLOSED)?.get(server.url.clone()).send().await;
    assert!(answer.is_err());
    assert_eq!(read.load(Ordering::SeqCst), 1);
    Ok(())
}

#[tokio::test]
async fn thirty_requests_to_a_server_that_closes_after_each_answer_all_come_through() -> Outcome {
    let server = Server::answering(super::answer(200, "", "ok")).await?;
    let client = server.client(CLOSED)?;
    for _ in 0..30 {
        assert_eq!(client.get(server.url.clone()).send().await?.status, 200);
    }
    Ok(())
}
