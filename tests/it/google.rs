//! Behaviour of Google's networks alone: a video in several pieces, and locations that share one login.

use fanfare_core::access::Scope;
use fanfare_tests::{Picture, TestApp, User, Visitor, networks};
use serde_json::{Value, json};

/// Longer than one piece of an upload, with which the connector sends 8 MiB.
const PADDING: usize = 9 << 20;

/// The usual film with so much free space behind it that it goes out in two pieces.
async fn long_film(user: &User) -> Vec<u8> {
    let (_, _, mut film) = user.fetch(&json!(Picture::lasting().file("video/mp4", 0)), &[]).await;
    film.extend(u32::try_from(PADDING + 8).unwrap().to_be_bytes());
    film.extend(b"free");
    film.resize(film.len() + PADDING, 0);
    film
}

#[tokio::test]
async fn a_video_in_pieces_is_public_once_whatever_becomes_of_each() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("youtube").await;
    let film = long_film(&user).await;
    let place = user.announce("film.mp4", "video/mp4", film.len()).await;
    let headers = [("content-type", "video/mp4")];
    let _ = user.put_bytes(&place["upload_url"], &headers, film.clone()).await.expect(201);
    for on_last in ["drop_after_change", "reset", "error_after_change"] {
        // The first answer would have said where the film goes, the second that its first piece is there.
        let faults = json!([
            {"on": "prepare", "kind": "drop_after_change", "times": 2},
            {"on": "commit", "kind": on_last},
        ]);
        let before = user.on_network("youtube", account).await.len();
        user.faults("youtube", account, faults).await;
        let body = json!({
            "account_id": account, "caption": format!("A long film, {on_last}"), "media_url": place["public_url"],
        });
        let post = networks::publish(&app, &user, body).await;
        assert_eq!(post["status"], "published", "{on_last}: {post:#}");
        let held = user.on_network("youtube", account).await.split_off(before);
        assert_eq!(held.len(), 1, "{on_last}: {held:#?}");
        assert_eq!(held[0]["media"][0]["size"], json!(film.len()), "{on_last}");
        assert_eq!(held[0]["id"], post["platform_post_id"], "{on_last}");
    }
}

#[tokio::test]
async fn a_video_gets_its_thumbnail_and_its_place_in_a_playlist() {
    let app = TestApp::start().await;
    let user = app.user().await;
    let account = user.connect("youtube").await;
    let ask = json!({"tool": "youtube.playlists", "account_id": account});
    let listed = user.post("/api/v1/platforms/trigger", ask).await.expect(200).body;
    let playlist = listed["result"]["playlists"][0]["id"].clone();
    assert_eq!((listed["result"]["more"].as_bool(), playlist.is_string()), (Some(false), true));
    let mut body = networks::post("youtube", account);
    let cover = Picture::lasting().file("image/jpeg", 0);
    body["settings"] = json!({"playlist_id": playlist, "thumbnail_url": cover});
    let post = networks::publish(&app, &user, body.clone()).await;
    assert_eq!(post["status"], "published", "{post:#}");
    let held = user.on_network("youtube", account).await;
    assert_eq!(held[0]["playlists"], json!([playlist]), "{held:#?}");
    assert!(held[0]["thumbnail"].is_string(), "{held:#?}");
    // A failure beside a video leaves the video public.
    body["caption"] = json!("Beside the playlist");
    body["settings"] = json!({"playlist_id": "PLnone", "thumbnail_url": cover});
    let faults = json!([{"on": "confirm", "kind": "status", "status": 403, "times": 2}]);
    user.faults("youtube", account, faults).await;
    let post = networks::publish(&app, &user, body).await;
    assert_eq!(post["status"], "published", "{post:#}");
    let held = user.on_network("youtube", account).await;
    assert_eq!((held.len(), &held[1]["playlists"]), (2, &json!([])));
}

#[tokio::test]
async fn a_person_chooses_among_locations_and_posts_on_each() {
    let app = TestApp::start().await;
    let (id, mut ada) = Visitor::person(&app, "ada@example.com").await;
    let user = app.key(id, None, &Scope::ALL).await;
    let path = "/api/v1/connect/google_business/sessions";
    let made = user.post(path, json!({"sandbox": true})).await.expect(201).body;
    let url = made["connect_session"]["connect_url"].as_str().unwrap().to_owned();
    let page = url[url.find("/connect/").unwrap()..].to_owned();
    let network = ada.leave(&page).await;
    let back = ada.answer(&network, None).await;
    let _ = ada.get(&back).await.expect(303);
    let choice = ada.get(&page).await.expect(200);
    for street in ["1 Main Street", "20 Harbour Road"] {
        assert!(choice.html.contains(street), "{}", choice.html);
    }
    let both = [("account", "0"), ("account", "1")];
    let _ = ada.step(&page, "choose", &both).await.expect(303);
    let accounts = user.get("/api/v1/accounts").await.expect(200).body["accounts"].clone();
    let ids: Vec<i64> =
        accounts.as_array().unwrap().iter().map(|one| one["id"].as_i64().unwrap()).collect();
    assert_eq!(ids.len(), 2, "{accounts:#}");
    let mut seen: Vec<Value> = Vec::new();
    for (place, account) in ids.iter().enumerate() {
        let post = networks::post("google_business", *account);
        let post = networks::publish(&app, &user, post).await;
        assert_eq!(post["status"], "published", "{post:#}");
        let held = user.on_network("google_business", *account).await;
        assert_eq!(held.len(), 1, "location {place}: {held:#?}");
        assert_eq!(held[0]["id"], post["platform_post_id"]);
        seen.push(held[0]["location"].clone());
    }
    assert_ne!(seen[0], seen[1], "each has its own");
    // A post that breaks the rules of the network fails with the reason, and stays where it is.
    let body = json!({"account_id": ids[0], "caption": "Call (555) 012-34567"});
    let post = networks::publish(&app, &user, body).await;
    assert_eq!(post["error"]["code"], "content_rejected", "{post:#}");
}
