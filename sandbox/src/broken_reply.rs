//! Broken responses: connections closed at some byte, no response, oversized bodies.

use std::io;
use std::task::Poll;

use bytes::Bytes;
use futures_util::stream;
use salvo::conn::ConnCtrl;
use salvo::http::header::CONTENT_LENGTH;
use salvo::http::{HeaderValue, ResBody, Response};

use crate::reply::Reply;

/// The size of an oversized body, in bytes.
const FLOOD: u64 = 64 << 20;
const CHUNK: usize = 64 << 10;

/// Closes the connection before the first byte of a response.
pub(crate) fn close_unanswered(connection: &ConnCtrl) {
    connection.abort();
}

/// Sends the head, then `bytes` bytes of the body, then closes the connection. With 0, nothing is sent.
pub(crate) fn close_after(connection: &ConnCtrl, reply: &Reply, bytes: u64, res: &mut Response) {
    if bytes == 0 {
        return close_unanswered(connection);
    }
    let sent =
        reply.body.slice(..reply.body.len().min(usize::try_from(bytes).unwrap_or(usize::MAX)));
    reply.write_head(res);
    res.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(reply.body.len()));
    let connection = connection.clone();
    let mut step = 0;
    res.body(ResBody::stream(stream::poll_fn(move |cx| {
        step += 1;
        match step {
            1 => Poll::Ready(Some(Ok::<_, io::Error>(sent.clone()))),
            // The pause lets hyper flush its buffer before the connection closes.
            2 => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            _ => {
                connection.abort();
                Poll::Ready(Some(Err(io::Error::from(io::ErrorKind::ConnectionReset))))
            }
        }
    })));
}

/// Answers 200 with valid JSON that is far larger than any client should read.
pub(crate) fn flood(res: &mut Response) {
    Reply::raw(200, String::new()).write_head(res);
    let filler = Bytes::from(vec![b'x'; CHUNK]);
    let chunks = FLOOD / CHUNK as u64;
    let body = (0..=chunks + 1).map(move |n| match n {
        0 => Bytes::from_static(br#"{"padding":""#),
        n if n > chunks => Bytes::from_static(br#""}"#),
        _ => filler.clone(),
    });
    res.body(ResBody::stream(stream::iter(body.map(Ok::<_, io::Error>))));
}
