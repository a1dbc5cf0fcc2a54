//! Files as they are served.

use fanfare_tests::{Options, TestApp, files};
use serde_json::json;

use super::{app, stored};

#[tokio::test]
async fn the_same_bytes_lie_in_the_store_once_and_are_served_under_names_of_their_own() {
    let app = app().await;
    let (user, other) = (app.user().await, app.user().await);
    let one = user.upload("one.png", "image/png", &files::png()).await;
    let two = user.upload("two.png", "image/png", &files::png()).await;
    assert_ne!((&one["id"], &one["public_url"]), (&two["id"], &two["public_url"]));
    assert_eq!(stored(&app), 1);
    // Another workspace cannot learn from that whether somebody has a file.
    let theirs = other.upload("one.png", "image/png", &files::png()).await;
    assert_eq!(stored(&app), 2);
    user.delete(&format!("/api/v1/media/{}", one["id"].as_str().unwrap())).await.expect(200);
    assert_eq!(user.fetch(&one["public_url"], &[]).await.0, 404);
    assert_eq!(user.fetch(&two["public_url"], &[]).await.2, files::png());
    user.delete(&format!("/api/v1/media/{}", two["id"].as_str().unwrap())).await.expect(200);
    assert_eq!(stored(&app), 1);
    assert_eq!(user.fetch(&theirs["public_url"], &[]).await.2, files::png());
}

#[tokio::test]
async fn a_file_is_served_in_stretches_kept_for_ever_and_never_as_a_page() {
    let app = app().await;
    let user = app.user().await;
    let file = user.upload("dot.gif", "image/gif", &files::gif()).await;
    let (gif, url) = (files::gif(), &file["public_url"]);
    let (status, headers, _) = user.fetch(url, &[]).await;
    let header = |name: &str| headers.get(name).map_or("", |value| value.to_str().unwrap());
    assert_eq!((status, header("x-content-type-options")), (200, "nosniff"));
    assert_eq!(header("cache-control"), "public, max-age=31536000, immutable");
    assert_eq!(header("content-security-policy"), "sandbox; default-src 'none'");
    let tag = header("etag").to_owned();
    assert_eq!(user.fetch(url, &[("If-None-Match", &tag)]).await.0, 304);
    let (status, headers, part) = user.fetch(url, &[("Range", "bytes=3-5")]).await;
    assert_eq!((status, part.as_slice()), (206, &gif[3..6]));
    assert_eq!(headers["content-range"], format!("bytes 3-5/{}", gif.len()).as_str());
    assert_eq!(user.fetch(url, &[("Range", "bytes=900-")]).await.0, 416);
    let head = fanfare_tests::local_client().head(url.as_str().unwrap()).send().await.unwrap();
    assert_eq!(head.headers()["content-length"], gif.len().to_string().as_str());
    for path in
        ["/media/", "/media/x.png", "/media/../api/v1/media", "/media/assets", "/media/%2e%2e/x"]
    {
        let url = json!(format!("{}{path}", app.origin));
        let (status, ..) = user.fetch(&url, &[]).await;
        assert!([401, 404].contains(&status), "{path}: {status}");
    }
}

#[tokio::test]
async fn a_host_of_its_own_serves_files_and_nothing_else() {
    let own = Some("http://media.example.com/files".to_owned());
    let options = Options { workers: false, media_base_url: own, ..Options::default() };
    let app = TestApp::with(options).await;
    let user = app.user().await;
    let file = user.upload("a.png", "image/png", &files::png()).await;
    let url = file["public_url"].as_str().unwrap();
    let path = url.strip_prefix("http://media.example.com").unwrap_or_else(|| panic!("{url}"));
    let host = [("Host", "media.example.com")];
    let at = |path: &str| json!(format!("{}{path}", app.origin));
    let (status, headers, bytes) = user.fetch(&at(path), &host).await;
    assert_eq!((status, bytes), (200, files::png()));
    assert_eq!(headers["x-content-type-options"], "nosniff");
    for path in
        ["/", "/docs", "/openapi.json", "/admin/login", "/api/v1/media", "/files/", "/files/x.png"]
    {
        assert_eq!(user.fetch(&at(path), &host).await.0, 404, "{path}");
    }
    let put = user.put_bytes(&at(path), &host, files::png()).await;
    assert_eq!(put.status, 405);
    let account = user.connect("bluesky").await;
    let post = json!({"account_id": account, "caption": "x", "media_url": url, "status": "draft"});
    assert_eq!(user.publish(post).await["media"][0]["asset_id"], file["id"]);
}
