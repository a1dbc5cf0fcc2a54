use serde_json::{Value, json};

use super::{Hashnode, error};
use crate::{
    Account, ErrorKind, Phase, Platform, Progress, ReconcileOutcome, Secrets, Session,
    tests::test_server::{Network, account, at, draft, media, reply, settled},
};

const PUBLICATION: &str = "650b01dbd3bd5e7ab2b2ab10";

fn secrets() -> Secrets {
    Secrets::new().with("personal_access_token", "token-123456")
}

fn on(network: &Network) -> Session {
    network.session(account("u:p", json!({"publication_id": PUBLICATION})), secrets())
}

fn user(publications: &[&str]) -> Value {
    let edges: Vec<_> = publications
        .iter()
        .map(|id| json!({"node": {"id": id, "title": "Blog", "url": ""}}))
        .collect();
    json!({"data": {"me": {"id": "u", "username": "me", "name": "Me", "publications": {"edges": edges}}}})
}

#[tokio::test]
async fn an_article_is_one_call_with_a_slug_of_its_own() {
    let answer = json!({"data": {"publishPost": {"post": {"id": "9", "slug": "s", "url": "https://b.example/s"}}}});
    let network = Network::start(move |_| (200, answer.clone())).await;
    let session = on(&network);
    let mut post = draft("# Title\n\nText", json!({"tags": ["Web Dev"], "disable_comments": true}));
    post.media = vec![media("a.png", "image/png")];
    assert_eq!(Hashnode.step(&post, None).phase, Phase::Commit);
    let Progress::Done(done) = Hashnode.publish(&session, &post, None).await.unwrap() else {
        panic!()
    };
    assert_eq!((done.id.as_str(), done.url.as_deref()), ("9", Some("https://b.example/s")));
    let seen = &network.seen()[0];
    assert!(seen.head.contains("authorization: bearer token-123456"));
    let input = &seen.json()["variables"]["input"];
    assert_eq!(
        *input,
        json!({
            "publicationId": PUBLICATION, "title": "Title", "contentMarkdown": "Text",
            "slug": "title-0000000000", "tags": [{"slug": "web-dev", "name": "Web Dev"}],
            "coverImage": "https://media.example.org/a.png", "disableComments": true,
        })
    );
}

#[tokio::test]
async fn a_slug_that_was_chosen_must_be_free() {
    let post = draft("Text", json!({"slug": "mine"}));
    assert_eq!(Hashnode.step(&post, None).name, "look_up_slug");
    let free = Network::start(|_| (200, json!({"data": {"publication": {"post": null}}}))).await;
    let next = Hashnode.publish(&on(&free), &post, None).await.unwrap();
    let Progress::Continue { state, .. } = next else { panic!("{next:?}") };
    assert_eq!(Hashnode.step(&post, Some(&state)).phase, Phase::Commit);
    let taken = json!({"data": {"publication": {"post": {"id": "1", "url": null}}}});
    let taken = Network::start(move |_| (200, taken.clone())).await;
    let error = Hashnode.publish(&on(&taken), &post, None).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Rejected);
}

#[tokio::test]
async fn each_look_up_is_a_query_of_its_own() {
    let none = Network::start(|_| (200, json!({"data": {"publication": {"post": null}}}))).await;
    for _ in 0..2 {
        let post = draft("Text", json!({}));
        let _ = Hashnode.reconcile(&on(&none), &post, None, at(-10)).await.unwrap();
    }
    let seen = none.seen();
    assert_ne!(seen[0].json()["query"], seen[1].json()["query"]);
}

#[tokio::test]
async fn an_error_beside_an_article_takes_nothing_back_and_beside_a_look_up_proves_nothing() {
    let errors = json!([{"message": "Timeout", "extensions": {"code": "BAD_USER_INPUT"}}]);
    let made = json!({
        "data": {"publishPost": {"post": {"id": "9", "slug": "s", "url": "https://b.example/s"}}},
        "errors": errors,
    });
    let network = Network::start(move |_| (200, made.clone())).await;
    let post = draft("Text", json!({}));
    let done = Hashnode.publish(&on(&network), &post, None).await.unwrap();
    let Progress::Done(done) = done else { panic!("{done:?}") };
    assert_eq!(done.id, "9");
    let errors = json!([{"message": "Timeout", "extensions": {"code": "INTERNAL_SERVER_ERROR"}}]);
    for answer in [
        json!({"data": {"publication": {"post": null}}, "errors": errors}),
        json!({"data": {"publication": null}}),
        json!({"data": null}),
        json!({}),
    ] {
        let told = answer.clone();
        let network = Network::start(move |_| (200, told.clone())).await;
        let found = Hashnode.reconcile(&on(&network), &post, None, at(-10)).await;
        assert!(found.is_err(), "{answer}");
        let chosen = draft("Text", json!({"slug": "mine"}));
        assert!(Hashnode.publish(&on(&network), &chosen, None).await.is_err(), "{answer}");
    }
}

#[tokio::test]
async fn a_lost_article_is_looked_up_by_its_slug() {
    let post = draft("Text", json!({}));
    let none = Network::start(|_| (200, json!({"data": {"publication": {"post": null}}}))).await;
    let absent = Hashnode.reconcile(&on(&none), &post, None, at(-10)).await.unwrap();
    assert!(matches!(absent, ReconcileOutcome::NotCommitted));
    let there =
        json!({"data": {"publication": {"post": {"id": "1", "url": "https://b.example/s"}}}});
    let there = Network::start(move |_| (200, there.clone())).await;
    let found = Hashnode.reconcile(&on(&there), &post, None, at(-10)).await.unwrap();
    assert!(matches!(found, ReconcileOutcome::Committed(Progress::Done(_))));
    // An article with a slug that was chosen may be another's: its time decides.
    let chosen = draft("Text", json!({"slug": "mine"}));
    let unknown = Hashnode.reconcile(&on(&there), &chosen, None, at(0)).await.unwrap();
    assert!(matches!(unknown, ReconcileOutcome::Unknown));
    for (seconds, is_it) in [(1, true), (-60, false)] {
        let article = json!({"id": "1", "url": null, "publishedAt": at(seconds)});
        let there = json!({"data": {"publication": {"post": article}}});
        let there = Network::start(move |_| (200, there.clone())).await;
        let found = settled(Hashnode.reconcile(&on(&there), &chosen, None, at(0)).await.unwrap());
        assert_eq!(matches!(found, ReconcileOutcome::Committed(_)), is_it, "{found:?}");
    }
}

#[tokio::test]
async fn one_publication_is_chosen_and_of_several_one_is_named() {
    let verify = async |publications: &'static [&'static str], named: &str| {
        let network = Network::start(move |_| (200, user(publications))).await;
        let secrets = secrets().with("publication_id", named);
        Hashnode.verify(&network.session(Account::default(), secrets)).await
    };
    assert_eq!(verify(&["p1"], "").await.unwrap().remote_id, "u:p1");
    assert_eq!(verify(&["p1", "p2"], "p2").await.unwrap().remote_id, "u:p2");
    for (all, named) in [(&["p1", "p2"][..], ""), (&[][..], ""), (&["p1"][..], "p3")] {
        let error = verify(all, named).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::InvalidCredentials);
        assert!(error.remedy.is_some());
    }
}

#[tokio::test]
async fn every_error_says_what_to_do() {
    let network = Network::start(|_| (200, json!({}))).await;
    let session = on(&network);
    for (code, said, kind) in [
        ("UNAUTHENTICATED", "no", ErrorKind::Reconnect),
        ("FORBIDDEN", "Publication does not have an active Pro plan", ErrorKind::PermissionMissing),
        ("FORBIDDEN", "no", ErrorKind::PermissionMissing),
        ("NOT_FOUND", "Publication not found", ErrorKind::TargetGone),
        ("BAD_USER_INPUT", "title is too short", ErrorKind::Rejected),
        ("INTERNAL_SERVER_ERROR", "", ErrorKind::Server),
        ("SOMETHING_NEW", "why", ErrorKind::Rejected),
    ] {
        let body =
            json!({"errors": [{"message": said, "extensions": {"code": code}}], "data": null});
        let error = error::operation_error(&session, &reply(200, &[], &body), &body["errors"][0]);
        assert_eq!(error.kind, kind, "{code}");
        assert_eq!(error.reply.unwrap().code.as_deref(), Some(code));
    }
    for (status, kind) in
        [(400, ErrorKind::Rejected), (429, ErrorKind::RateLimited), (503, ErrorKind::Server)]
    {
        assert_eq!(error::error_of_reply(&session, &reply(status, &[], &json!({}))).kind, kind);
    }
}
