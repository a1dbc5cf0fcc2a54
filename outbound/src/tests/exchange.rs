//! Bytes on the wire, and redirects.

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::Method;
use secrecy::SecretString;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::{CLOSED, Failure, OPEN, Outcome, Seen, Server, answer};
use crate::{Client, ErrorKind, Multipart, Request};

/// The request as a server gets it that answers 200.
async fn sent(build: impl Fn(&Client, url::Url) -> Request) -> Result<Seen, Failure> {
    let (note, mut notes) = mpsc::unbounded_channel();
    let server = Server::start(move |mut wire| {
        let note = note.clone();
        async move {
            let _ = note.send(wire.request().await?);
            wire.answer(200, "", "").await
        }
    })
    .await?;
    let url = server.at("/api/posts?v=1")?;
    build(&server.client(CLOSED)?, url).send().await?;
    Ok(notes.recv().await.ok_or("nothing came")?)
}

#[tokio::test]
async fn bodies_have_a_type_and_a_length() -> Outcome {
    let seen = sent(|client, url| client.post(url).json(&json!({ "text": "hi" }))).await?;
    assert!(seen.head.starts_with("POST /api/posts?v=1 HTTP/1.1\r\n"), "{}", seen.head);
    assert_eq!(seen.header("content-type"), Some("application/json"));
    assert_eq!(seen.header("content-length"), Some("13"));
    assert_eq!(seen.header("transfer-encoding"), None);
    assert_eq!(seen.header("user-agent"), Some(concat!("Fanfare/", env!("CARGO_PKG_VERSION"))));
    assert_eq!(serde_json::from_slice::<Value>(&seen.body)?, json!({ "text": "hi" }));

    let seen = sent(|client, url| client.post(url).form(&[("a", "1 & 2"), ("b", "é")])).await?;
    assert_eq!(seen.header("content-type"), Some("application/x-www-form-urlencoded"));
    assert_eq!(seen.body, b"a=1+%26+2&b=%C3%A9");

    let big = Bytes::from((0..=255).cycle().take(300_000).collect::<Vec<u8>>());
    let seen =
        sent(|client, url| client.request(Method::PUT, url).body("video/mp4", big.clone())).await?;
    assert_eq!(seen.header("content-length"), Some("300000"));
    assert_eq!(seen.header("transfer-encoding"), None);
    assert_eq!(seen.body, big);
    Ok(())
}

#[tokio::test]
async fn an_empty_body_is_announced_where_one_is_expected() -> Outcome {
    for (method, length) in [
        (Method::GET, None),
        (Method::DELETE, None),
        (Method::POST, Some("0")),
        (Method::PUT, Some("0")),
    ] {
        let seen = sent(|client, url| client.request(method.clone(), url)).await?;
        assert_eq!(seen.header("content-length"), length, "{method}");
        assert_eq!(seen.header("transfer-encoding"), None, "{method}");
    }
    Ok(())
}

#[tokio::test]
async fn queries_and_credentials_are_encoded() -> Outcome {
    let (token, word) = (SecretString::from("t0ken"), SecretString::from("open sesame"));
    let seen = sent(|client, url| client.get(url).query(&[("q", "a&b")]).bearer(&token)).await?;
    assert!(seen.head.starts_with("GET /api/posts?v=1&q=a%26b HTTP/1.1\r\n"), "{}", seen.head);
    assert_eq!(seen.header("authorization"), Some("Bearer t0ken"));
    let seen = sent(|client, url| {
        client.get(url).basic("Aladdin", &word).header("X-Kind", "one").header("x-kind", "two")
    })
    .await?;
    assert_eq!(seen.header("authorization"), Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="));
    assert_eq!(seen.head.matches("x-kind").count(), 1);
    assert_eq!(seen.header("x-kind"), Some("two"));
    Ok(())
}

#[tokio::test]
async fn multipart_forms_carry_fields_and_files() -> Outcome {
    for (size, streamed) in [(10, false), (200_000, false), (10, true), (200_000, true)] {
        let form = || {
            let content = Bytes::from(vec![b'v'; size]);
            let (form, filename) = (Multipart::new().text("caption", "hé"), "a\r\n.mp4");
            if streamed {
                let pieces = stream::iter([Ok(content.slice(..4)), Ok(content.slice(4..))]).boxed();
                form.stream("me\"dia", filename, "video/mp4", (size as u64, pieces))
            } else {
                form.file("me\"dia", filename, "video/mp4", content)
            }
        };
        let seen = sent(|client, url| client.post(url).multipart(form())).await?;
        let kind = seen.header("content-type").ok_or("no type")?.to_owned();
        let boundary = kind.strip_prefix("multipart/form-data; boundary=").ok_or("no boundary")?;
        let expected = [
            format!(
                "--{boundary}\r\nContent-Disposition: form-data; name=\"caption\"\r\n\r\nhé\r\n"
            ),
            format!(
                "--{boundary}\r\nContent-Disposition: form-data; name=\"me%22dia\"; filename=\"a%0D%0A.mp4\"\r\n"
            ),
            format!("Content-Type: video/mp4\r\n\r\n{}\r\n--{boundary}--\r\n", "v".repeat(size)),
        ];
        assert_eq!(String::from_utf8(seen.body)?, expected.concat());
    }
    Ok(())
}

#[tokio::test]
async fn a_file_is_sent_as_it_is_read_and_one_that_breaks_off_is_not_sent() -> Outcome {
    let pieces = || [Ok(Bytes::from(vec![b'a'; 150_000])), Ok(Bytes::from_static(b"end"))];
    let whole = |client: &Client, url| {
        client.post(url).file("video/mp4", 150_003, stream::iter(pieces()).boxed())
    };
    let seen = sent(whole).await?;
    assert_eq!((seen.body.len(), seen.header("content-length")), (150_003, Some("150003")));
    assert_eq!(seen.header("content-type"), Some("video/mp4"));
    let server = Server::start(|mut wire| async move { wire.request().await.map(drop) }).await?;
    let broken = stream::iter([Ok(Bytes::from(vec![b'a'; 150_000])), Err("gone".into())]).boxed();
    let request = server.client(CLOSED)?.post(server.at("/")?).file("video/mp4", 150_003, broken);
    let error = request.send().await.err().ok_or("it was sent")?;
    assert_eq!(error.kind, ErrorKind::NotSent);
    Ok(())
}

#[tokio::test]
async fn what_cannot_be_sent_is_invalid() -> Outcome {
    let server = Server::answering(answer(200, "", "")).await?;
    let client = server.client(CLOSED)?;
    let post = || client.post(server.url.clone());
    let bad_file = Multipart::new().file("f", "f", "text/plain\r\nX-Evil: 1", Bytes::new());
    let bad = [
        post().header("bad name", "x"),
        post().header("x", "line\r\nbreak"),
        post().header("Content-Length", "0"),
        post().header("Transfer-Encoding", "chunked"),
        post().header("host", "elsewhere"),
        post().body("text/plain\n", Bytes::new()),
        post().multipart(bad_file),
        post().query("not pairs"),
        post().form("not pairs"),
        post().json(&std::collections::HashMap::from([((), 1)])),
        post().bearer(&SecretString::from("line\nbreak")),
    ];
    for (index, request) in bad.into_iter().enumerate() {
        let error = request.send().await.err().ok_or(format!("{index} was sent"))?;
        assert_eq!(error.kind, ErrorKind::Invalid, "{index}");
        assert!(!error.maybe_sent());
    }
    Ok(())
}

#[tokio::test]
async fn any_status_is_an_answer() -> Outcome {
    for status in [200, 302, 404, 429, 503] {
        let server = Server::answering(answer(
            status,
            "Location: /on\r\nRetry-After: 7\r\n",
            "\u{feff}no json",
        ))
        .await?;
        let client = server.client(CLOSED)?;
        for request in
            [client.get(server.url.clone()), client.post(server.url.clone()).redirects(3)]
        {
            let reply = request.send().await?;
            assert_eq!((reply.status, reply.is_success()), (status, status == 200));
            assert_eq!(
                (reply.url.as_str(), reply.header("location")),
                (server.url.as_str(), Some("/on"))
            );
            assert_eq!(reply.retry_after().map(|wait| wait.as_secs()), Some(7));
            assert_eq!(reply.text(), "\u{feff}no json");
            let error = reply.json::<Value>().err().ok_or("it is no JSON")?;
            assert_eq!(error.kind, ErrorKind::InvalidJson);
            assert!(error.maybe_sent());
        }
    }
    Ok(())
}

/// Says what arrived, or sends on to the address in the query.
async fn teller() -> Result<Server, Failure> {
    Server::start(|mut wire| async move {
        let seen = wire.request().await?;
        let target = seen.head.split(' ').nth(1).unwrap_or_default();
        match target.split_once("?to=") {
            Some((_, to)) => wire.answer(307, &format!("Location: {to}\r\n"), "").await,
            None => wire.answer(200, "", &seen.head).await,
        }
    })
    .await
}

#[tokio::test]
async fn credentials_stay_with_their_origin() -> Outcome {
    let (first, second) = (teller().await?, teller().await?);
    let client = first.client(OPEN)?;
    let token = SecretString::from("t0ken");
    let get = |url| {
        let request =
            client.get(url).bearer(&token).header("Cookie", "s=1").header("X-Api-Key", "k3y");
        request.header("Accept", "text/plain").redirects(5)
    };
    let within = get(first.at("/a?to=/b")?).send().await?;
    assert_eq!(within.url, first.at("/b")?);
    for secret in ["t0ken", "s=1", "k3y"] {
        assert!(within.text().contains(secret), "{secret} was dropped");
    }
    let there = second.at("/there")?;
    let back = format!("{}?to={}", second.at("/via")?, first.at("/back")?);
    for (to, end) in [(there.to_string(), there), (back, first.at("/back")?)] {
        let reply = get(first.at(&format!("/a?to={to}"))?).send().await?;
        assert_eq!(reply.url, end);
        assert!(reply.text().contains("accept: text/plain"), "{}", reply.text());
        for secret in ["t0ken", "s=1", "k3y", "authorization", "cookie", "x-api-key", "referer"] {
            assert!(!reply.text().contains(secret), "{secret} went along");
        }
    }
    Ok(())
}

#[tokio::test]
async fn redirects_end_at_the_limit_and_are_returned() -> Outcome {
    let server = teller().await?;
    let client = server.client(CLOSED)?;
    let start = server.at("/a?to=/b?to=/c?to=/d")?;
    // Each hop peels one target off.
    for (max, status) in [(0, 307), (1, 307), (2, 307), (3, 200)] {
        let reply = client.get(start.clone()).redirects(max).send().await?;
        assert_eq!(reply.status, status, "{max}");
    }
    let posted = client.post(start).redirects(3).json("x").send().await?;
    assert_eq!(posted.status, 307, "a POST is not sent anywhere else");
    Ok(())
}
