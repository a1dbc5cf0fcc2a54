use bytes::Bytes;
use fanfare_outbound::{Client, Policy};
use serde_json::{Value, json};

use super::{account, blob, secrets, walk, web::Web, xrpc_error};
use crate::{
    ErrorKind, Session,
    tests::test_server::{Network, Seen, draft},
};

fn answers(seen: &Seen) -> (u16, Value) {
    match seen.line.ends_with("uploadBlob") {
        true => (200, json!({"blob": blob(&seen.text())})),
        false => (200, json!({})),
    }
}

/// A session that may read pages on loopback.
fn session(network: &Network) -> Session {
    let session = network.session(account(), secrets());
    let open = Client::new(Policy { allow_private: true }).unwrap();
    Session { http: open.trusting(session.base.as_slice()), ..session }
}

fn embed(network: &Network) -> Value {
    let sent = network.seen().into_iter().rfind(|seen| seen.line.ends_with("applyWrites")).unwrap();
    sent.json()["writes"][0]["value"].get("embed").cloned().unwrap_or_default()
}

#[tokio::test]
async fn the_first_address_gets_a_card_with_its_image() {
    let html = "<title>T</title><meta property=og:description content=D><meta property=og:image content=/i>";
    let image = Bytes::from_static(b"pixels");
    let web = Web::start(vec![
        ("/", "text/html; charset=utf-8", html.into()),
        ("/i", "image/png", image),
    ])
    .await;
    let network = Network::start(answers).await;
    let draft = draft(&format!("See {}/ and https://b.example", web.base), json!({}));
    let (steps, _) = walk(&session(&network), &draft).await.unwrap();
    assert_eq!(steps, ["read_link_card", "upload_card_image", "create_post"]);
    let uri = format!("{}/", web.base);
    let external = json!({"uri": uri, "title": "T", "description": "D", "thumb": blob("pixels")});
    assert_eq!(embed(&network), json!({"$type": "app.bsky.embed.external", "external": external}));
}

#[tokio::test]
async fn of_a_long_page_the_beginning_is_read() {
    let html = format!("<title>Long</title>{}", " ".repeat(3_000_000));
    let web = Web::start(vec![("/", "text/html", html.into())]).await;
    let network = Network::start(answers).await;
    let (steps, _) =
        walk(&session(&network), &draft(&format!("{}/", web.base), json!({}))).await.unwrap();
    assert_eq!(steps, ["read_link_card", "create_post"]);
    assert_eq!(embed(&network)["external"]["title"], "Long");
}

#[tokio::test]
async fn a_card_or_an_image_that_cannot_be_had_is_left_out() {
    let page = |image: &str| {
        Bytes::from(format!("<title>T</title><meta property=og:image content={image}>"))
    };
    let web = Web::start(vec![
        ("/large", "text/html", page("/huge")),
        ("/huge", "image/png", Bytes::from(vec![0; 1_000_001])),
        ("/wrong", "text/html", page("/text")),
        ("/text", "text/plain", "no image".into()),
        ("/data", "application/json", "{}".into()),
        ("/untitled", "text/html", "nothing".into()),
    ])
    .await;
    for path in ["/large", "/wrong"] {
        let network = Network::start(answers).await;
        let draft = draft(&format!("{}{path}", web.base), json!({}));
        let (steps, _) = walk(&session(&network), &draft).await.unwrap();
        assert_eq!(steps, ["read_link_card", "upload_card_image", "create_post"], "{path}");
        let external = &embed(&network)["external"];
        assert_eq!((&external["title"], external.get("thumb")), (&json!("T"), None), "{path}");
    }
    for path in ["/data", "/untitled", "/missing"] {
        let network = Network::start(answers).await;
        let draft = draft(&format!("{}{path}", web.base), json!({}));
        let (steps, _) = walk(&session(&network), &draft).await.unwrap();
        assert_eq!(steps, ["read_link_card", "create_post"], "{path}");
        assert_eq!(embed(&network), Value::Null, "{path}");
    }
}

#[tokio::test]
async fn the_image_of_a_card_fails_the_call_only_for_the_account_s_sake() {
    let html = "<title>T</title><meta property=og:image content=/i>";
    let web =
        Web::start(vec![("/", "text/html", html.into()), ("/i", "image/png", "x".into())]).await;
    let draft = draft(&format!("{}/", web.base), json!({}));
    let with = async |answer: (u16, Value)| {
        let network = Network::start(move |seen| match seen.line.ends_with("uploadBlob") {
            true => answer.clone(),
            false => (200, json!({})),
        })
        .await;
        walk(&session(&network), &draft).await.map(|_| embed(&network))
    };
    let expired = with(xrpc_error(400, "ExpiredToken")).await.unwrap_err();
    assert_eq!(expired.kind, ErrorKind::TokenExpired);
    for answer in [xrpc_error(400, "InvalidMimeType"), xrpc_error(500, "InternalServerError")] {
        assert_eq!(with(answer).await.unwrap()["external"].get("thumb"), None);
    }
}

#[tokio::test]
async fn private_pages_and_the_trusted_server_itself_are_not_read() {
    let web = Web::start(vec![("/", "text/html", "<title>Private</title>".into())]).await;
    let network = Network::start(answers).await;
    // The client trusts the network's origin and no other private address.
    let session = network.session(account(), secrets());
    for page in [format!("{}/", web.base), format!("{}/profile", network.base())] {
        let (steps, _) = walk(&session, &draft(&page, json!({}))).await.unwrap();
        assert_eq!(steps, ["read_link_card", "create_post"]);
        assert_eq!(embed(&network), Value::Null, "{page}");
    }
    assert!(network.lines().iter().all(|line| line.ends_with("applyWrites")));
}
