//! Cards of pages that a text links to, with pictures that have to be made to fit.

use fanfare_tests::{TestApp, files::stored_png, networks};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// A PNG of noise, which nothing makes small: over 2 MB at 900 by 900.
fn noise(side: u32) -> Vec<u8> {
    let mut state = 1_u32;
    stored_png(side, side, |_, _| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    })
}

/// A server of `/big` and `/small`, pages whose pictures it calls files of no known type.
async fn pages() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (big, small) = (noise(900), noise(40));
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = vec![0; 4_096];
            let read = stream.read(&mut head).await.unwrap_or(0);
            let line = String::from_utf8_lossy(&head[..read]).into_owned();
            let page = |name: &str| {
                format!("<title>T</title><meta property=og:image content=/{name}.png>").into_bytes()
            };
            let (mime, body) = match line.split(' ').nth(1).unwrap_or_default() {
                "/big" => ("text/html", page("big")),
                "/small" => ("text/html", page("small")),
                "/none" => ("text/html", page("none")),
                "/big.png" => ("binary/octet-stream", big.clone()),
                "/small.png" => ("binary/octet-stream", small.clone()),
                _ => ("text/plain", b"no picture".to_vec()),
            };
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: {mime}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all(head.as_bytes()).await;
            let _ = stream.write_all(&body).await;
        }
    });
    address
}

#[tokio::test]
async fn a_card_has_a_picture_however_large_it_is_and_whatever_its_server_calls_it() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let pages = pages().await;
    for (page, type_of_thumb, warnings) in
        [("big", Some("image/jpeg"), 0), ("small", Some("image/png"), 0), ("none", None, 1)]
    {
        let body = json!({"account_id": account, "caption": format!("look {pages}/{page}")});
        let post = networks::publish(&app, &user, body).await;
        assert_eq!(post["status"], "published", "{page}: {post:#}");
        let lacking = post["warnings"].as_array().unwrap();
        assert_eq!(lacking.len(), warnings, "{page}: {post:#}");
        for warning in lacking {
            assert_eq!(warning["field"], "caption");
            assert!(warning["message"].as_str().unwrap().contains("/none.png"), "{warning}");
        }
        let held = user.on_network("bluesky", account).await.pop().unwrap();
        let card = &held["embed"]["external"];
        assert_eq!(card["title"], "T", "{page}: {held:#}");
        assert_eq!(card["thumb"]["mimeType"].as_str(), type_of_thumb, "{page}: {held:#}");
        assert!(card["thumb"]["size"].as_u64().unwrap_or(0) <= 1_000_000, "{page}: {held:#}");
    }

    // An answer that was lost and found again tells of it as well.
    let lost = json!([{"on": "commit", "kind": "drop_after_change", "times": 1}]);
    user.faults("bluesky", account, lost).await;
    let body = json!({"account_id": account, "caption": format!("again {pages}/none")});
    let post = networks::publish(&app, &user, body).await;
    assert_eq!(post["status"], "published", "{post:#}");
    assert_eq!(post["warnings"].as_array().unwrap().len(), 1, "{post:#}");
}
