//! HTTP/2 by hand: refusals after which a client may repeat a request by the book, and ours does not.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use bytes::Bytes;
use http::Method;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{CLOSED, Failure, Outcome, Server, Wire};
use crate::{Client, ErrorKind, resolver};

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// The server's reaction to a request, once it is whole or (`RefuseAtOnce`) at its head.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Act {
    Answer,
    GoAway,
    Refuse,
    RefuseAtOnce,
    Close,
}

async fn write(
    wire: &mut Wire,
    kind: u8,
    flags: u8,
    stream: u32,
    payload: &[u8],
) -> io::Result<()> {
    let length = u32::try_from(payload.len()).map_err(io::Error::other)?;
    let mut frame = length.to_be_bytes()[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    wire.stream.write_all(&frame).await
}

async fn act_on(wire: &mut Wire, act: Act, stream: u32) -> io::Result<()> {
    match act {
        // 0x88 is ":status: 200" in the static table.
        Act::Answer => write(wire, HEADERS, END_HEADERS | END_STREAM, stream, &[0x88]).await,
        // Nothing was processed (last stream 0), no error (0).
        Act::GoAway => write(wire, GOAWAY, 0, 0, &[0; 8]).await,
        Act::Refuse | Act::RefuseAtOnce => {
            write(wire, RST_STREAM, 0, stream, &7_u32.to_be_bytes()).await
        }
        Act::Close => wire.stream.shutdown().await,
    }
}

/// Counts the heads and the whole requests that came.
async fn serve(
    mut wire: Wire,
    act: Act,
    heads: Arc<AtomicUsize>,
    whole: Arc<AtomicUsize>,
) -> io::Result<()> {
    wire.stream.read_exact(&mut [0; 24]).await?;
    write(&mut wire, SETTINGS, 0, 0, &[]).await?;
    loop {
        let mut head = [0; 9];
        wire.stream.read_exact(&mut head).await?;
        let [a, b, c, kind, flags, s0, s1, s2, s3] = head;
        let length = u32::from_be_bytes([0, a, b, c]) as usize;
        wire.stream.read_exact(&mut vec![0; length]).await?;
        let stream = u32::from_be_bytes([s0, s1, s2, s3]);
        if kind == SETTINGS && flags == 0 {
            write(&mut wire, SETTINGS, 1, 0, &[]).await?;
        }
        if kind == HEADERS {
            heads.fetch_add(1, Ordering::SeqCst);
        }
        let ended = matches!(kind, HEADERS | DATA) && flags & END_STREAM != 0;
        if ended {
            whole.fetch_add(1, Ordering::SeqCst);
        }
        if (ended && act != Act::RefuseAtOnce) || (kind == HEADERS && act == Act::RefuseAtOnce) {
            act_on(&mut wire, act, stream).await?;
        }
    }
}

/// Sends one request of `size` bytes (none: without a body); returns its end, and how many heads and whole requests
/// came.
async fn send(
    act: Act,
    size: Option<usize>,
) -> Result<(Result<u16, ErrorKind>, usize, usize), Failure> {
    let (heads, whole) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let counters = (heads.clone(), whole.clone());
    let server =
        Server::start(move |wire| serve(wire, act, counters.0.clone(), counters.1.clone())).await?;
    let client = Client::assemble(CLOSED, resolver::system_lookup(), |builder| {
        builder.http2_prior_knowledge()
    })?
    .trusting(std::slice::from_ref(&server.url));
    let request = match size {
        Some(size) => {
            client.post(server.url.clone()).body("text/plain", Bytes::from(vec![b'x'; size]))
        }
        None => client.request(Method::DELETE, server.url.clone()),
    };
    let outcome = request.send().await.map(|reply| reply.status).map_err(|error| error.kind);
    Ok((outcome, heads.load(Ordering::SeqCst), whole.load(Ordering::SeqCst)))
}

#[tokio::test]
async fn a_whole_request_that_is_refused_goes_out_once() -> Outcome {
    for size in [None, Some(1), Some(1000)] {
        assert_eq!(send(Act::Answer, size).await?, (Ok(200), 1, 1), "{size:?}");
        for act in [Act::GoAway, Act::Refuse, Act::Close] {
            assert_eq!(send(act, size).await?, (Err(ErrorKind::Lost), 1, 1), "{act:?} {size:?}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn an_upload_that_is_refused_at_its_head_is_not_sent() -> Outcome {
    // More than the window of a fresh stream, so its end cannot have left.
    let refused = send(Act::RefuseAtOnce, Some(1024 * 1024)).await?;
    assert_eq!(refused, (Err(ErrorKind::NotSent), 1, 0));
    Ok(())
}
