//! Pages of others, in the charset that they say.

use fanfare_tests::{TestApp, served::FileServer};
use serde_json::json;

use super::published;

#[tokio::test]
async fn a_cards_title_is_the_pages_title_in_its_own_charset() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("bluesky").await;
    let shift_jis = b"<html><head><title>\x93\xfa\x96{\x8c\xea\x82\xcc\x83^\x83C\x83g\x83\x8b</title></head></html>";
    let windows = b"<html><head><meta charset=\"windows-1251\"><title>\xcf\xf0\xe8\xe2\xe5\xf2, \xec\xe8\xf0</title></head></html>";
    let latin = b"<html><head><title>Caf\xe9 d\xe9j\xe0 vu</title></head></html>";
    let rows: [(&str, &[u8], &str); 3] = [
        ("text/html; charset=Shift_JIS", shift_jis, "日本語のタイトル"),
        ("text/html", windows, "Привет, мир"),
        ("text/html; charset=ISO-8859-1", latin, "Café déjà vu"),
    ];
    for (mime, page, title) in rows {
        let page = FileServer::file("page", mime, page.to_vec()).await;
        let post = json!({"caption": format!("look {}", page.url)});
        let held = published(&app, &user, ("bluesky", account), &post).await;
        assert_eq!(held["embed"]["external"]["title"], title, "{held:#}");
    }
}
