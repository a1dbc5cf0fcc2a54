//! Addresses that give no file we take. Nothing of them may stay in the store.

use std::time::Duration;

use fanfare_outbound::Client;
use tokio::{io::AsyncWriteExt, net::TcpListener};
use url::Url;

use super::{
    ANY, Failure, Outcome, Room, files,
    server::{Server, answer, whole},
};
use crate::{
    CopiedFile, CopyError, MAX_REMOTE, Sizes, copy_remote,
    remote::{Limits, copy},
};

const SMALL: Limits = Limits {
    sizes: Sizes::all(20_000),
    whole: Duration::from_secs(30),
    pause: Duration::from_secs(30),
    any_type: false,
};

/// Copies within `limits`, and sees to it that a refusal leaves nothing.
async fn attempt(
    client: &Client,
    url: &Url,
    limits: Limits,
) -> Result<Result<CopiedFile, CopyError>, Failure> {
    let room = Room::new();
    let result = copy(&room.store()?, client, url, "w", limits).await;
    assert_eq!(room.files()?.len(), usize::from(result.is_ok()), "{result:?}");
    Ok(result)
}

async fn of(server: &Server, limits: Limits) -> Result<Result<CopiedFile, CopyError>, Failure> {
    attempt(&server.client()?, &server.at("file.png")?, limits).await
}

async fn answered(bytes: Vec<u8>) -> Result<Result<CopiedFile, CopyError>, Failure> {
    of(&Server::answering(bytes).await?, SMALL).await
}

fn film(size: usize) -> Vec<u8> {
    let mut film = files::ftyp(b"isom");
    film.resize(size, 7);
    film
}

fn chunked(body: &[u8]) -> Vec<u8> {
    let chunks = [format!("{:x}\r\n", body.len()).as_bytes(), body, b"\r\n0\r\n\r\n"].concat();
    answer("Transfer-Encoding: chunked\r\n", &chunks)
}

/// Without a length: the end of the connection is the end of the body.
fn until_the_end(body: &[u8]) -> Vec<u8> {
    answer("", body)
}

/// Makes a whole reply out of a body.
type Make = fn(&[u8]) -> Vec<u8>;

#[tokio::test]
async fn the_limit_is_exact_with_and_without_a_length() -> Outcome {
    let makes: [Make; 3] = [whole, chunked, until_the_end];
    for make in makes {
        assert_eq!(answered(make(&film(20_000))).await??.file.bytes, 20_000);
        let refused = answered(make(&film(20_001))).await?;
        assert!(matches!(refused, Err(CopyError::TooLarge { limit: 20_000, .. })), "{refused:?}");
    }
    let told = answered(whole(&film(20_001))).await?;
    assert_eq!(told, Err(CopyError::TooLarge { limit: 20_000, actual: Some(20_001) }));
    let untold = answered(chunked(&film(20_001))).await?;
    assert_eq!(untold, Err(CopyError::TooLarge { limit: 20_000, actual: None }));
    Ok(())
}

#[tokio::test]
async fn a_length_over_the_limit_is_refused_before_the_body_comes() -> Outcome {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", MAX_REMOTE + 1);
    let server = Server::start(move |mut stream| {
        let head = head.clone();
        async move {
            stream.write_all(head.as_bytes()).await?;
            std::future::pending::<()>().await;
            Ok(())
        }
    })
    .await?;
    let room = Room::new();
    let refused =
        copy_remote(&room.store()?, &server.client()?, &server.at("a.mp4")?, "w", ANY).await;
    assert_eq!(refused, Err(CopyError::TooLarge { limit: 60_000_000, actual: Some(60_000_001) }));
    Ok(())
}

#[tokio::test]
async fn a_body_without_end_stops_at_the_limit() -> Outcome {
    let head = "HTTP/1.1 200 OK\r\n\r\n\0\0\0\x18ftypisom\0\0\x02\0isommp41";
    let server = Server::pouring(head, &[9; 16 * 1024]).await?;
    let limits = Limits { sizes: Sizes::all(5_000_000), ..SMALL };
    let refused = of(&server, limits).await?;
    assert_eq!(refused, Err(CopyError::TooLarge { limit: 5_000_000, actual: None }));
    Ok(())
}

#[tokio::test]
async fn a_page_without_end_is_refused_by_its_first_bytes() -> Outcome {
    let server =
        Server::pouring("HTTP/1.1 200 OK\r\n\r\n<!doctype html>", b"<p>on and on</p>").await?;
    let refused = of(&server, Limits { sizes: ANY, ..SMALL }).await?;
    assert!(matches!(refused, Err(CopyError::Unavailable { retryable: false, .. })), "{refused:?}");
    Ok(())
}

#[tokio::test]
async fn a_body_cut_short_is_no_file() -> Outcome {
    let part = film(9_000);
    let cut = [
        answer("Content-Length: 18000\r\n", &part),
        answer("Transfer-Encoding: chunked\r\n", &[b"4000\r\n", &part[..]].concat()),
        answer("Content-Length: 18000\r\n", &part[..10]),
    ];
    for bytes in cut {
        let refused = answered(bytes).await?;
        assert!(
            matches!(refused, Err(CopyError::Unavailable { retryable: true, .. })),
            "{refused:?}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn a_server_that_goes_silent_is_left() -> Outcome {
    let film = film(9_000);
    let server = Server::start(move |mut stream| {
        let film = film.clone();
        async move {
            stream.write_all(&answer("Content-Length: 18000\r\n", &film)).await?;
            std::future::pending::<()>().await;
            Ok(())
        }
    })
    .await?;
    for limits in [
        Limits { pause: Duration::from_millis(300), ..SMALL },
        Limits { whole: Duration::from_millis(300), ..SMALL },
    ] {
        let refused = of(&server, limits).await?;
        assert!(
            matches!(refused, Err(CopyError::Unavailable { retryable: true, .. })),
            "{refused:?}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn private_addresses_are_refused_directly_and_behind_a_redirect() -> Outcome {
    let canary = TcpListener::bind("127.0.0.1:0").await?;
    let target = format!("http://{}/secret.png", canary.local_addr()?);
    let redirect = format!("HTTP/1.1 302 Found\r\nLocation: {target}\r\nContent-Length: 0\r\n\r\n");
    let server = Server::answering(redirect).await?;
    let client = server.client()?;
    for url in [
        server.at("a.png")?,
        target.parse()?,
        "https://169.254.169.254/a.png".parse()?,
        "https://[::1]/a.png".parse()?,
    ] {
        let refused = attempt(&client, &url, SMALL).await?;
        assert!(matches!(refused, Err(CopyError::NotAllowed(_))), "{url}: {refused:?}");
    }
    assert_eq!(server.seen.lock().await.len(), 1);
    let knocked = tokio::time::timeout(Duration::from_millis(50), canary.accept()).await;
    assert!(knocked.is_err(), "the private address was connected to");
    Ok(())
}

#[tokio::test]
async fn what_is_no_success_is_no_file_whatever_its_body() -> Outcome {
    let png = files::png(1, 1);
    for (line, again) in [
        ("404 Not Found", false),
        ("403 Forbidden", false),
        ("204 No Content", false),
        ("206 Partial Content", false),
        ("429 Too Many Requests", true),
        ("503 Service Unavailable", true),
    ] {
        let body: &[u8] = if line.starts_with("204") { b"" } else { &png };
        let length = body.len();
        let head = format!("HTTP/1.1 {line}\r\nContent-Length: {length}\r\n\r\n");
        let refused = answered([head.as_bytes(), body].concat()).await?;
        let Err(CopyError::Unavailable { message, retryable }) = refused else {
            panic!("{line}: {refused:?}")
        };
        assert_eq!(retryable, again, "{line}");
        assert!(message.contains(&line[..3]) && !message.contains("file.png"), "{message}");
    }
    // Also when the page that tells it is larger than any file may be.
    let head = format!("HTTP/1.1 404 Not Found\r\nContent-Length: {}\r\n\r\n", MAX_REMOTE * 2);
    assert!(matches!(
        answered(head.into_bytes()).await?,
        Err(CopyError::Unavailable { retryable: false, .. })
    ));
    Ok(())
}

#[tokio::test]
async fn a_circle_of_redirects_ends() -> Outcome {
    let server = Server::answering(
        "HTTP/1.1 302 Found\r\nLocation: /a.png\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
    )
    .await?;
    let refused = of(&server, SMALL).await?;
    assert!(matches!(refused, Err(CopyError::Unavailable { retryable: false, .. })), "{refused:?}");
    assert_eq!(server.seen.lock().await.len(), 6);
    Ok(())
}

#[tokio::test]
async fn nobody_there_is_worth_another_try() -> Outcome {
    let server = Server::answering("").await?;
    let (client, url) = (server.client()?, server.at("a.png")?);
    drop(server);
    let refused = attempt(&client, &url, SMALL).await?;
    assert!(matches!(refused, Err(CopyError::Unavailable { retryable: true, .. })), "{refused:?}");
    Ok(())
}

#[tokio::test]
async fn pages_drawings_and_other_types_are_refused_whatever_they_claim() -> Outcome {
    let lying = |body: &[u8]| {
        answer(&format!("Content-Type: image/png\r\nContent-Length: {}\r\n", body.len()), body)
    };
    let pages: [&[u8]; 3] = [b"<!DOCTYPE html><title>Sign in</title>", b"", b"\n\n <html>"];
    for page in pages {
        let refused = answered(lying(page)).await?;
        assert!(
            matches!(refused, Err(CopyError::Unavailable { retryable: false, .. })),
            "{refused:?}"
        );
    }
    let others: [&[u8]; 5] = [
        b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>",
        b"{\"error\": \"expired\"}",
        &files::ftyp(b"avif"),
        &files::ebml("matroska"),
        b"\x89PNG",
    ];
    for other in others {
        let refused = answered(lying(other)).await?;
        let Err(CopyError::UnsupportedType { message }) = refused else { panic!("{refused:?}") };
        assert!(message.contains("JPEG, PNG, GIF, WebP, MP4, MOV and WebM"), "{message}");
    }
    Ok(())
}

#[tokio::test]
async fn a_compressed_answer_is_not_taken_for_the_file() -> Outcome {
    let png = files::png(1, 1);
    let head = format!("Content-Encoding: gzip\r\nContent-Length: {}\r\n", png.len());
    let refused = answered(answer(&head, &png)).await?;
    assert!(matches!(refused, Err(CopyError::Unavailable { retryable: false, .. })), "{refused:?}");
    Ok(())
}

#[tokio::test]
async fn our_own_store_failing_is_told_apart() -> Outcome {
    let server = Server::answering(whole(&files::png(1, 1))).await?;
    let room = Room::new();
    let store = room.store()?;
    std::fs::write(room.0.join("w"), "in the way of the directory")?;
    let failed = copy_remote(&store, &server.client()?, &server.at("a.png")?, "w", ANY).await;
    assert!(matches!(failed, Err(CopyError::Store(_))), "{failed:?}");
    let outside = copy_remote(&store, &server.client()?, &server.at("a.png")?, "../w", ANY).await;
    assert!(matches!(outside, Err(CopyError::Store(_))), "{outside:?}");
    Ok(())
}
