use serde_json::{Value, json};

use super::{DID, account, blob, secrets, walk, web::Web, xrpc_error};
use crate::{
    Draft, ErrorKind, Media, Platform, Progress, ReconcileOutcome, Session,
    bluesky::Bluesky,
    tests::test_server::{Network, Seen, at, draft, media},
    validate,
};

/// The record key of the nil key of [`draft`].
const KEY: &str = "2222222222222";

fn answers(seen: &Seen) -> (u16, Value) {
    match seen.line.rsplit('/').next().unwrap() {
        "com.atproto.repo.uploadBlob" => (200, json!({"blob": blob(&seen.text())})),
        "com.atproto.repo.applyWrites" => (200, json!({"results": []})),
        "com.atproto.identity.resolveHandle" => match seen.query("handle") {
            Some("bob.example") => (200, json!({"did": "did:plc:bob"})),
            _ => xrpc_error(400, "InvalidRequest"),
        },
        "app.bsky.feed.getPosts" => (
            200,
            json!({"posts": [{"uri": seen.query("uris"), "cid": "bafyquoted", "viewer": {}}]}),
        ),
        _ => xrpc_error(501, "MethodNotImplemented"),
    }
}

fn writes(network: &Network) -> Vec<Value> {
    let sent = network.seen().into_iter().rfind(|seen| seen.line.ends_with("applyWrites")).unwrap();
    assert!(sent.head.contains("authorization: bearer access-token"));
    let body = sent.json();
    assert_eq!(body["repo"], DID);
    body["writes"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_text_is_one_call_with_a_key_and_a_time_of_its_own() {
    let network = Network::start(answers).await;
    let (steps, published) =
        walk(&network.session(account(), secrets()), &draft("Hi 👋 #tag", json!({})))
            .await
            .unwrap();
    assert_eq!(steps, ["create_post"]);
    assert_eq!(network.lines(), ["POST /net/xrpc/com.atproto.repo.applyWrites"]);
    assert_eq!(
        writes(&network),
        [json!({
            "$type": "com.atproto.repo.applyWrites#create",
            "collection": "app.bsky.feed.post",
            "rkey": KEY,
            "value": {
                "$type": "app.bsky.feed.post",
                "text": "Hi 👋 #tag",
                "createdAt": "2030-03-17T17:46:40.000Z",
                "facets": [{
                    "index": {"byteStart": 8, "byteEnd": 12},
                    "features": [{"$type": "app.bsky.richtext.facet#tag", "tag": "tag"}],
                }],
            },
        })]
    );
    assert_eq!(published.id, format!("at://{DID}/app.bsky.feed.post/{KEY}"));
    let url = format!("https://bsky.app/profile/me.example/post/{KEY}");
    assert_eq!(published.url, Some(url));
}

fn rich() -> Draft {
    let settings = json!({
        "languages": ["en", "pt-BR"], "content_label": "nudity", "tags": ["hidden"], "disable_quotes": true,
        "quote_url": "https://bsky.app/profile/bob.example/post/3kquoted", "media_alt_texts": ["A cat"],
    });
    let mut draft = draft("With @bob.example and @nobody.example https://a.example", settings);
    let sized = Media { dimensions: Some((4, 3)), ..media("a.png", "image/png") };
    draft.media = vec![sized, media("b.png", "image/png")];
    draft
}

#[tokio::test]
async fn everything_is_prepared_before_the_one_call_that_publishes() {
    let network = Network::start(answers).await;
    let (steps, _) = walk(&network.session(account(), secrets()), &rich()).await.unwrap();
    let expected =
        ["upload_image_1", "upload_image_2", "resolve_mentions", "resolve_quote", "create_post"];
    assert_eq!(steps, expected);
    let changes: Vec<String> =
        network.lines().into_iter().filter(|line| line.starts_with("POST")).collect();
    assert_eq!(changes.len(), 3, "{changes:?}");

    let writes = writes(&network);
    let post = &writes[0]["value"];
    assert_eq!(post["langs"], json!(["en", "pt-BR"]));
    assert_eq!(post["tags"], json!(["hidden"]));
    assert_eq!(post["labels"]["values"], json!([{"val": "nudity"}]));
    let features: Vec<_> =
        post["facets"].as_array().unwrap().iter().map(|facet| &facet["features"][0]).collect();
    // The handle that nobody has stays text.
    assert_eq!(features.len(), 2);
    assert_eq!(features[0]["did"], "did:plc:bob");
    assert_eq!(features[1]["uri"], "https://a.example");
    let embed = &post["embed"];
    assert_eq!(embed["$type"], "app.bsky.embed.recordWithMedia");
    let quoted =
        json!({"uri": "at://did:plc:bob/app.bsky.feed.post/3kquoted", "cid": "bafyquoted"});
    assert_eq!(embed["record"]["record"], quoted);
    let images = json!([
        {"image": blob("a.png"), "alt": "A cat", "aspectRatio": {"width": 4, "height": 3}},
        {"image": blob("b.png"), "alt": ""},
    ]);
    assert_eq!(embed["media"]["images"], images);

    let gate = &writes[1];
    assert_eq!(
        (&gate["collection"], &gate["rkey"]),
        (&json!("app.bsky.feed.postgate"), &json!(KEY))
    );
    assert_eq!(gate["value"]["post"], format!("at://{DID}/app.bsky.feed.post/{KEY}"));
}

/// A chain of these texts.
fn chain(texts: &[&str], settings: Value) -> Draft {
    let mut draft = draft("", settings);
    draft.post_type = "bluesky_thread".to_owned();
    draft.metadata.insert("bluesky_thread_posts".to_owned(), json!(texts));
    draft
}

#[tokio::test]
async fn a_chain_is_one_call_whose_posts_refer_to_each_other() {
    let network = Network::start(answers).await;
    let settings = json!({
        "tags": ["hidden"], "languages": ["en"], "disable_quotes": true,
        "allow_replies_from": ["mentioned", "followers", "following"],
        "allow_reply_lists": ["https://bsky.app/profile/bob.example/lists/3klist"],
    });
    let draft = chain(&["One", "Two", "Three"], settings);
    let (steps, published) = walk(&network.session(account(), secrets()), &draft).await.unwrap();
    assert_eq!(steps, ["resolve_mentions", "create_post"]);
    let writes = writes(&network);
    let collections: Vec<_> =
        writes.iter().map(|one| one["collection"].as_str().unwrap()).collect();
    let (post, gate) = ("app.bsky.feed.post", "app.bsky.feed.postgate");
    assert_eq!(collections, [post, post, post, "app.bsky.feed.threadgate", gate, gate, gate]);
    let value = |index: usize| &writes[index]["value"];
    assert_eq!((value(0).get("reply"), &value(0)["tags"]), (None, &json!(["hidden"])));
    assert_eq!((value(1).get("tags"), &value(1)["langs"]), (None, &json!(["en"])));
    // The root is the first, the parent the one before; both by address and content.
    assert_eq!(value(1)["reply"]["root"], value(1)["reply"]["parent"]);
    assert_eq!(value(2)["reply"]["root"], value(1)["reply"]["root"]);
    let address =
        |index: usize| format!("at://{DID}/{post}/{}", writes[index]["rkey"].as_str().unwrap());
    assert_eq!(value(2)["reply"]["parent"]["uri"], address(1));
    assert!(value(2)["reply"]["parent"]["cid"].as_str().unwrap().starts_with("bafyrei"));
    // Later parts are later.
    assert!(writes[0]["rkey"].as_str() < writes[1]["rkey"].as_str());
    assert_eq!(value(2)["createdAt"], "2030-03-17T17:46:40.002Z");
    let rules = json!([
        {"$type": "app.bsky.feed.threadgate#mentionRule"},
        {"$type": "app.bsky.feed.threadgate#followerRule"},
        {"$type": "app.bsky.feed.threadgate#followingRule"},
        {"$type": "app.bsky.feed.threadgate#listRule", "list": "at://did:plc:bob/app.bsky.graph.list/3klist"},
    ]);
    assert_eq!((&value(3)["allow"], &writes[3]["rkey"]), (&rules, &writes[0]["rkey"]));
    assert_eq!(published.id, address(0));
    let parts: Vec<_> = published.parts.iter().map(|part| part.id.clone()).collect();
    assert_eq!(parts, [address(1), address(2)]);
}

#[tokio::test]
async fn nobody_may_reply_is_a_gate_without_rules() {
    let network = Network::start(answers).await;
    let draft = draft("Only this", json!({"disable_replies": true}));
    walk(&network.session(account(), secrets()), &draft).await.unwrap();
    let writes = writes(&network);
    assert_eq!(writes[1]["collection"], "app.bsky.feed.threadgate");
    assert_eq!(writes[1]["value"]["allow"], json!([]));
}

#[tokio::test]
async fn a_server_that_names_a_part_otherwise_is_told() {
    let network = Network::start(|seen| match seen.line.ends_with("applyWrites") {
        true => (200, json!({"results": [{"uri": "at://a", "cid": "bafyother"}]})),
        false => answers(seen),
    })
    .await;
    let session = network.session(account(), secrets());
    let (_, published) = walk(&session, &chain(&["One", "Two"], json!({}))).await.unwrap();
    let codes: Vec<_> = published
        .warnings
        .iter()
        .map(|warning| serde_json::to_value(warning.code).unwrap())
        .collect();
    assert_eq!(codes, ["chain_reference_mismatch"]);
}

#[test]
fn what_excludes_each_other_or_is_too_much_is_refused() {
    let list = |n: usize| format!("https://bsky.app/profile/a.example/lists/{n}");
    let five: Vec<_> = (0..5).map(list).collect();
    for (draft, field) in [
        (chain(&["One"], json!({})), "metadata.bluesky_thread_posts"),
        (chain(&["One", &"👨‍👩‍👧‍👦".repeat(150)], json!({})), "metadata.bluesky_thread_posts[1]"),
        (
            draft("a", json!({"disable_replies": true, "allow_replies_from": ["followers"]})),
            "settings.disable_replies",
        ),
        (
            draft("a", json!({"allow_replies_from": ["followers"], "allow_reply_lists": five})),
            "settings.allow_reply_lists",
        ),
        (
            draft("a", json!({"allow_reply_lists": ["https://bsky.app/profile/a.example/post/1"]})),
            "settings.allow_reply_lists[0]",
        ),
    ] {
        let found = validate(&Bluesky, &account(), &draft);
        assert!(found.iter().any(|one| one.field == field), "{field}: {found:#?}");
    }
}

#[tokio::test]
async fn many_handles_are_resolved_in_several_calls() {
    let network = Network::start(answers).await;
    let handles: Vec<String> = (0..12).map(|number| format!("@u{number}.example")).collect();
    let draft = draft(&handles.join(" "), json!({}));
    let (steps, _) = walk(&network.session(account(), secrets()), &draft).await.unwrap();
    assert_eq!(steps, ["resolve_mentions", "resolve_mentions", "create_post"]);
    assert_eq!(network.seen().len(), 13);
    assert_eq!(writes(&network)[0]["value"].get("facets"), None);
}

/// A server that answers `applyWrites` with this, and `getRecord` with that.
async fn server(apply: (u16, Value), record: (u16, Value)) -> Network {
    Network::start(
        move |seen| {
            if seen.line.ends_with("applyWrites") { apply.clone() } else { record.clone() }
        },
    )
    .await
}

fn there(text: &str) -> (u16, Value) {
    let uri = format!("at://{DID}/app.bsky.feed.post/{KEY}");
    (200, json!({"uri": uri, "cid": "bafy", "value": {"text": text}}))
}

#[tokio::test]
async fn a_record_that_exists_already_is_adopted() {
    for refusal in [xrpc_error(500, "InternalServerError"), xrpc_error(409, "RecordAlreadyExists")]
    {
        let network = server(refusal, there("again")).await;
        let session = network.session(account(), secrets());
        let (_, published) = walk(&session, &draft("again", json!({}))).await.unwrap();
        assert_eq!(published.id, format!("at://{DID}/app.bsky.feed.post/{KEY}"));
        let seen = network.seen();
        assert_eq!(seen[1].line, "GET /net/xrpc/com.atproto.repo.getRecord");
        assert_eq!(seen[1].query("rkey"), Some(KEY));
        assert_eq!(seen[1].query("repo"), Some(DID));
    }
}

#[tokio::test]
async fn a_record_of_another_post_is_not_adopted() {
    let another = there("something else");
    let network = server(xrpc_error(409, "RecordAlreadyExists"), another.clone()).await;
    let session = network.session(account(), secrets());
    let error = walk(&session, &draft("mine", json!({}))).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Rejected, "{error}");
    let network = server((500, json!({})), another).await;
    let session = network.session(account(), secrets());
    let found = Bluesky.reconcile(&session, &draft("mine", json!({})), None, at(0)).await;
    assert!(matches!(found.unwrap(), ReconcileOutcome::NotCommitted));
}

#[tokio::test]
async fn a_refusal_stands_when_there_is_no_record() {
    let missing = xrpc_error(400, "RecordNotFound");
    let cases = [
        (xrpc_error(500, "InternalServerError"), ErrorKind::Server, 2),
        (xrpc_error(400, "InvalidRecord"), ErrorKind::Rejected, 2),
        (xrpc_error(400, "ExpiredToken"), ErrorKind::TokenExpired, 1),
        (xrpc_error(429, "RateLimitExceeded"), ErrorKind::RateLimited, 1),
    ];
    for (refusal, kind, calls) in cases {
        let network = server(refusal, missing.clone()).await;
        let session = network.session(account(), secrets());
        let error = walk(&session, &draft("no", json!({}))).await.unwrap_err();
        assert_eq!((error.kind, network.seen().len()), (kind, calls), "{error}");
    }
}

#[tokio::test]
async fn an_answer_that_is_no_json_leaves_the_outcome_open() {
    let page = ("/net/xrpc/com.atproto.repo.applyWrites", "text/html", "<html>".into());
    let web = Web::start(vec![page]).await;
    let base = url::Url::parse(&format!("{}/net", web.base)).unwrap();
    let network = Network::start(answers).await;
    let session = network.session(account(), secrets());
    let http = session.http.trusting(std::slice::from_ref(&base));
    let session = Session { http, base: Some(base), ..session };
    let error = walk(&session, &draft("x", json!({}))).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Ambiguous);
    assert!(error.message.contains("not JSON"), "{error}");
}

#[tokio::test]
async fn a_lost_answer_is_settled_by_looking_the_record_up() {
    let find = async |record| {
        let network = server((500, json!({})), record).await;
        let session = network.session(account(), secrets());
        let found = Bluesky.reconcile(&session, &draft("x", json!({})), None, at(0)).await;
        assert_eq!(network.lines(), ["GET /net/xrpc/com.atproto.repo.getRecord"]);
        found
    };
    let ReconcileOutcome::Committed(Progress::Done(published)) = find(there("x")).await.unwrap()
    else {
        panic!("not found")
    };
    assert!(published.id.ends_with(KEY));
    let old = json!({"error": "InvalidRequest", "message": "Could not locate record: at://x"});
    assert!(matches!(find((400, old)).await.unwrap(), ReconcileOutcome::NotCommitted));
    let unknown = find(xrpc_error(503, "UpstreamFailure")).await;
    assert!(unknown.is_err());
}

#[tokio::test]
async fn without_a_session_nothing_is_sent() {
    let network = Network::start(answers).await;
    let session = network.session(account(), crate::Secrets::new());
    let error = walk(&session, &draft("x", json!({}))).await.unwrap_err();
    assert_eq!((error.kind, network.seen().len()), (ErrorKind::TokenExpired, 0));
}

#[tokio::test]
async fn a_quoted_post_that_is_gone_fails_the_post_for_good() {
    let network = Network::start(|seen| match seen.line.ends_with("getPosts") {
        true => (200, json!({"posts": []})),
        false => answers(seen),
    })
    .await;
    let settings = json!({"quote_url": "https://bsky.app/profile/bob.example/post/k"});
    let session = network.session(account(), secrets());
    let error = walk(&session, &draft("x", settings)).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Rejected);
    assert!(error.remedy.is_some_and(|remedy| remedy.contains("quote_url")));
}

#[tokio::test]
async fn a_server_that_stands_alone_is_asked_for_the_quoted_record() {
    let network = Network::start(|seen| match seen.line.rsplit('/').next().unwrap() {
        "app.bsky.feed.getPosts" => xrpc_error(400, "InvalidRequest"),
        "com.atproto.repo.getRecord" => {
            (200, json!({"uri": "at://q", "cid": "bafyq", "value": {}}))
        }
        _ => answers(seen),
    })
    .await;
    let settings = json!({"quote_url": "https://bsky.app/profile/bob.example/post/k"});
    walk(&network.session(account(), secrets()), &draft("x", settings)).await.unwrap();
    let embed = writes(&network)[0]["value"]["embed"].clone();
    let record = json!({"uri": "at://q", "cid": "bafyq"});
    assert_eq!(embed, json!({"$type": "app.bsky.embed.record", "record": record}));
}

#[test]
fn rules_of_the_network_are_checked_before_anything_is_sent() {
    let codes = |draft: &Draft| -> Vec<String> {
        validate(&Bluesky, &crate::Account::default(), draft)
            .into_iter()
            .map(|found| format!("{} {}", found.field, found.code))
            .collect()
    };
    assert_eq!(codes(&rich()), Vec::<String>::new());
    assert_eq!(codes(&draft(&"👨‍👩‍👧‍👦".repeat(120), json!({}))), Vec::<String>::new());
    assert_eq!(codes(&draft(&"👨‍👩‍👧‍👦".repeat(121), json!({}))), ["caption caption_too_long"]);
    assert_eq!(codes(&draft(&"e\u{301}".repeat(301), json!({}))), ["caption caption_too_long"]);
    let bad = json!({
        "languages": ["english"], "tags": ["#a"], "quote_url": "https://a.example",
        "media_alt_texts": ["no image"], "quote": 1,
    });
    let expected = [
        "settings.quote unknown_field",
        "settings.media_alt_texts setting_invalid",
        "settings.languages[0] setting_invalid",
        "settings.tags[0] setting_invalid",
        "settings.quote_url setting_invalid",
    ];
    assert_eq!(codes(&draft("x", bad)), expected);
    let mut captions = draft("x", json!({}));
    captions.media = vec![media("a.vtt", "text/vtt")];
    assert_eq!(codes(&captions), ["media_urls[0] media_type_unsupported"]);
}
