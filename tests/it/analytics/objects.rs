//! A page's posts are stored under ids of several kinds of objects, each of which has numbers of its own. The network
//! refuses a whole call for one that the object has not.

use std::time::Duration;

use fanfare_tests::{Picture, networks};
use serde_json::{Value, json};

use super::{HOUR, account, idle, posts, set};

const NAMES: [&str; 7] = ["likes", "comments", "shares", "reach", "views", "clicks", "plays"];

/// Posts of each kind, and the numbers that are read of them.
const KINDS: [(&str, &str, &[&str]); 5] = [
    ("feed", "image/png", &["likes", "comments", "shares", "reach", "views", "clicks"]),
    ("feed", "video/mp4", &["likes", "comments", "views", "plays"]),
    ("reel", "video/mp4", &["likes", "comments", "views", "plays"]),
    ("cover_photo", "image/png", &["likes", "comments"]),
    ("story", "image/png", &[]),
];

#[tokio::test]
async fn each_kind_of_object_of_a_page_is_asked_for_what_it_has() {
    let (app, user) = idle().await;
    app.start_workers();
    let id = user.connect("facebook").await;
    let mut made = Vec::new();
    for (post_type, mime, known) in KINDS {
        let file = Picture::lasting().file(mime, 0);
        let caption = if known.len() > 2 { "Look" } else { "" };
        let mut body = json!({"account_id": id, "post_type": post_type, "media_urls": [file]});
        if !caption.is_empty() {
            body["caption"] = json!(caption);
        }
        let post = networks::publish(&app, &user, body).await;
        assert_eq!(post["status"], "published", "{post_type}: {post:#}");
        let numbers = json!({
            "likes": 11, "comments": 12, "shares": 13, "reach": 14, "views": 15, "clicks": 16, "plays": 15,
        });
        set(&user, "facebook", id, json!({"post_id": post["id"]}), numbers).await;
        made.push((post["id"].clone(), format!("{post_type} of {mime}"), known));
    }
    app.pass_time(Duration::from_secs(2 * HOUR)).await;
    for (post, kind, known) in made {
        let what = format!("{kind} is read");
        let read = app
            .eventually_in_time(&what, Duration::from_secs(60), || async {
                let mut all = posts(&user, id).await.into_iter();
                all.find(|one| one["post_id"] == post && !one["fetched_at"].is_null())
            })
            .await;
        let values = [11, 12, 13, 14, 15, 16, 15];
        for (name, value) in NAMES.iter().zip(values) {
            match known.contains(name) {
                true => assert_eq!(read[*name], value, "{kind}: {name}: {read:#}"),
                false => {
                    assert_eq!(read[*name], Value::Null, "{kind}: {name}: {read:#}");
                    assert_eq!(read["unmeasured"][*name], "platform", "{kind}: {name}");
                }
            }
        }
    }
    assert_eq!(account(&user, id).await["status"], "ok", "no object stops the account");
}
