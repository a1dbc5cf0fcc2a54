//! Files that are copied.

use tokio::io::AsyncWriteExt;

use super::{
    ANY, Outcome, Room, files,
    server::{Server, answer, whole},
};
use crate::{CopyError, MAX_REMOTE, copy_attachment, copy_remote, sniff};

#[tokio::test]
async fn each_supported_type_is_copied_byte_for_byte() -> Outcome {
    let room = Room::new();
    let store = room.store()?;
    for (mime, bytes) in files::each() {
        let server = Server::answering(whole(&bytes)).await?;
        let copied =
            copy_remote(&store, &server.client()?, &server.at("x/a%20file.bin?t=1")?, "w1", ANY)
                .await?;
        let extension =
            copied.file.path.rsplit_once('.').map(|(_, extension)| extension.to_owned());
        assert_eq!(copied.file.mime, mime);
        assert_eq!(copied.file.bytes, bytes.len() as u64);
        assert_eq!(
            Some(copied.filename.as_str()),
            extension.map(|end| format!("a file.{end}")).as_deref()
        );
        assert!(copied.file.path.starts_with("w1/"), "{}", copied.file.path);
        let size = mime.starts_with("image/").then_some((64, 48));
        assert_eq!((copied.file.width, copied.file.height), size.unzip(), "{mime}");
        assert_eq!(store.read(&copied.file.path, MAX_REMOTE).await?, bytes);
    }
    assert_eq!(room.files()?.len(), files::each().len());
    Ok(())
}

#[tokio::test]
async fn what_was_sent_to_a_person_may_be_of_any_type_but_a_page() -> Outcome {
    let room = Room::new();
    let store = room.store()?;
    let sent: [(&[u8], &str, &str); 3] = [
        (b"OggS\0\x02\0\0 a voice", "audio/ogg", "ogg"),
        (b"PK\x03\x04\x14\0\0\0\x08\0 an archive", "application/zip", "bin"),
        (b"a letter of nothing but letters", "application/octet-stream", "bin"),
    ];
    for (bytes, mime, extension) in sent {
        let server = Server::answering(whole(bytes)).await?;
        let copied =
            copy_attachment(&store, &server.client()?, &server.at("x")?, "inbox/w", 100).await?;
        assert_eq!(copied.file.mime, mime);
        assert!(copied.file.path.ends_with(extension), "{}", copied.file.path);
        assert_eq!(store.read(&copied.file.path, MAX_REMOTE).await?, bytes);
    }
    let server =
        Server::answering(whole(b"<!doctype html><html><body>Log in</body></html>")).await?;
    let (client, at) = (server.client()?, server.at("x")?);
    let page = copy_attachment(&store, &client, &at, "inbox/w", 100).await;
    assert!(matches!(page, Err(CopyError::Unavailable { retryable: false, .. })), "{page:?}");
    let server = Server::answering(whole(&[7; 101])).await?;
    let (client, at) = (server.client()?, server.at("x")?);
    let large = copy_attachment(&store, &client, &at, "inbox/w", 100).await;
    assert!(matches!(large, Err(CopyError::TooLarge { limit: 100, .. })), "{large:?}");
    assert_eq!(room.files()?.len(), sent.len());
    Ok(())
}

#[tokio::test]
async fn the_type_is_what_the_bytes_say_whatever_header_and_name_claim() -> Outcome {
    let room = Room::new();
    let png = files::png(3, 2);
    for claim in ["text/html", "video/mp4", "application/octet-stream", "not a type"] {
        let head = format!("Content-Type: {claim}\r\nContent-Length: {}\r\n", png.len());
        let server = Server::answering(answer(&head, &png)).await?;
        let copied =
            copy_remote(&room.store()?, &server.client()?, &server.at("page.html")?, "w", ANY)
                .await?;
        assert_eq!(
            (copied.file.mime, copied.filename.as_str()),
            ("image/png", "page.png"),
            "{claim}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn a_large_film_in_small_chunks_arrives_whole() -> Outcome {
    let mut film = files::ftyp(b"isom");
    film.extend((0..3_000_000_u32).map(|at| (at % 253) as u8));
    let sent = film.clone();
    let server = Server::start(move |mut stream| {
        let film = sent.clone();
        async move {
            stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").await?;
            let mut chunks = Vec::new();
            for piece in film.chunks(613) {
                chunks.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
                chunks.extend_from_slice(piece);
                chunks.extend_from_slice(b"\r\n");
            }
            chunks.extend_from_slice(b"0\r\n\r\n");
            stream.write_all(&chunks).await
        }
    })
    .await?;
    let room = Room::new();
    let store = room.store()?;
    let copied = copy_remote(&store, &server.client()?, &server.at("film.mp4")?, "w", ANY).await?;
    assert_eq!(copied.file.bytes, film.len() as u64);
    assert!(store.read(&copied.file.path, MAX_REMOTE).await? == film, "the copy differs");
    assert_eq!(room.files()?, [room.0.join(&copied.file.path)]);
    Ok(())
}

#[tokio::test]
async fn an_image_whose_size_stands_far_behind_its_beginning_tells_it_nonetheless() -> Outcome {
    let previews = files::segment(0xe2, &[7; 65_000]).repeat(6);
    let image = files::jpeg(4000, 3000, &[files::exif(6, true), previews].concat());
    let server = Server::answering(whole(&image)).await?;
    let room = Room::new();
    let copied =
        copy_remote(&room.store()?, &server.client()?, &server.at("a.jpg")?, "w", ANY).await?;
    assert_eq!((copied.file.width, copied.file.height), (Some(3000), Some(4000)));
    Ok(())
}

#[tokio::test]
async fn redirects_are_followed_and_the_name_stays_the_users() -> Outcome {
    let gif = files::gif(2, 2);
    let server = Server::start(move |mut stream| {
        let gif = gif.clone();
        async move {
            // Every other connection is the redirect's end.
            static TURN: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
            let turn = TURN.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let reply = if turn < 5 {
                b"HTTP/1.1 302 Found\r\nLocation: /next\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".to_vec()
            } else {
                whole(&gif)
            };
            stream.write_all(&reply).await
        }
    })
    .await?;
    let room = Room::new();
    let copied =
        copy_remote(&room.store()?, &server.client()?, &server.at("mine.gif")?, "w", ANY).await?;
    assert_eq!(copied.filename, "mine.gif");
    assert_eq!(server.seen.lock().await.len(), 6);
    Ok(())
}

#[tokio::test]
async fn two_copies_of_one_address_are_two_files() -> Outcome {
    let server = Server::answering(whole(&files::png(1, 1))).await?;
    let (room, client, url) = (Room::new(), server.client()?, server.at("a.png")?);
    let store = room.store()?;
    let first = copy_remote(&store, &client, &url, "w", ANY).await?;
    let second = copy_remote(&store, &client, &url, "w", ANY).await?;
    assert_ne!(first.file.path, second.file.path);
    assert!(!format!("{first:?}").contains(&first.file.path), "the path is shown");
    let head = server.seen.lock().await.concat().to_ascii_lowercase();
    assert!(
        head.contains("accept: image/jpeg") && head.contains("accept-encoding: identity"),
        "{head}"
    );
    assert_eq!(sniff(&store.read(&second.file.path, 1000).await?), Some("image/png"));
    Ok(())
}
