//! Lost answers, containers that come to nothing, fresh tokens.

use std::time::Duration;

use chrono::TimeDelta;
use serde_json::{Value, json};

use super::{chain, resumed, session};
use crate::{
    Draft, ErrorKind, Platform, Progress, ReconcileOutcome, Session,
    tests::test_server::{Network, Seen, at, draft, id, settled},
    threads::Threads,
};

fn publishing(published: &[&str]) -> Value {
    let stage = json!({"name": "publish", "container": "c1", "since": at(-60), "early": 0});
    json!({"published": published, "items": [], "stage": stage})
}

fn too_early() -> (u16, Value) {
    (400, json!({"error": {"message": "Not found", "code": 24, "error_subcode": 4_279_009}}))
}

fn post(id: &str, text: &str, seconds: i64) -> Value {
    json!({"id": id, "text": text, "timestamp": at(seconds).format("%Y-%m-%dT%H:%M:%S+0000").to_string()})
}

async fn reconcile(network: &Network, draft: &Draft, state: Value) -> ReconcileOutcome {
    settled(Threads.reconcile(&session(network), draft, Some(state), at(0)).await.unwrap())
}

#[tokio::test]
async fn the_container_tells_whether_a_lost_call_arrived() {
    for (status, wanted) in [
        ("FINISHED", "absent"),
        ("ERROR", "ended"),
        ("EXPIRED", "ended"),
        ("IN_PROGRESS", "unknown"),
    ] {
        let network = Network::start(move |_| (200, json!({"status": status}))).await;
        let found = reconcile(&network, &draft("Hello", json!({})), publishing(&[])).await;
        let said = match found {
            ReconcileOutcome::NotCommitted => "absent",
            ReconcileOutcome::HandleEnded => "ended",
            _ => "unknown",
        };
        assert_eq!(said, wanted, "{status}");
        assert!(network.lines().iter().all(|line| line.starts_with("GET")));
    }
}

#[tokio::test]
async fn a_lost_post_is_found_by_text_and_time() {
    let network = Network::start(|seen| match seen.line.as_str() {
        "GET /net/v1.0/c1" => (200, json!({"status": "PUBLISHED"})),
        "GET /net/v1.0/55/threads" => {
            let posts = [post("p3", "Other", 5), post("p2", "Hello", 3), post("p1", "Hello", -200)];
            (200, json!({ "data": posts }))
        }
        line => panic!("{line}"),
    })
    .await;
    let hello = draft("Hello ", json!({}));
    let ReconcileOutcome::Committed(progress) = reconcile(&network, &hello, publishing(&[])).await
    else {
        panic!()
    };
    let Progress::Continue { state, remote_id, public, .. } = progress else { panic!() };
    assert_eq!((remote_id.as_deref(), public), (Some("p2"), true));
    assert_eq!(Threads.step(&hello, Some(&state)).name, "permalink");
    let other = draft("Never sent", json!({}));
    assert!(matches!(
        reconcile(&network, &other, publishing(&[])).await,
        ReconcileOutcome::Unknown
    ));
}

#[tokio::test]
async fn a_lost_segment_is_found_among_the_replies() {
    let network = Network::start(|seen| match seen.line.as_str() {
        "GET /net/v1.0/c1" => (200, json!({"status": "PUBLISHED"})),
        "GET /net/v1.0/55/threads" => (200, json!({"data": [post("p1", "same", 0)]})),
        "GET /net/v1.0/p1/replies" => (200, json!({"data": [post("p2", "same", 2)]})),
        line => panic!("{line}"),
    })
    .await;
    let post = chain(&["same", "same", "end"], json!({}));
    let ReconcileOutcome::Committed(progress) =
        reconcile(&network, &post, publishing(&["p1"])).await
    else {
        panic!()
    };
    assert_eq!(Threads.step(&post, Some(&resumed(progress))).name, "create_segment_3");
}

#[tokio::test]
async fn a_state_that_was_not_publishing_tells_nothing() {
    let network = Network::start(|seen| panic!("{}", seen.line)).await;
    let state = json!({"published": [], "items": [], "stage": {"name": "create"}});
    assert!(matches!(
        reconcile(&network, &draft("x", json!({})), state).await,
        ReconcileOutcome::Unknown
    ));
}

async fn publish(network: &Network, later: i64, state: Value) -> crate::Result<Progress> {
    let session = session(network);
    let now = session.now + TimeDelta::seconds(later);
    let session = Session { now, ..session };
    Threads.publish(&session, &draft("Hello", json!({})), Some(state)).await
}

#[tokio::test]
async fn publishing_too_early_waits_and_is_no_error() {
    let network = Network::start(|seen| match seen.line.as_str() {
        "GET /net/v1.0/c1" => (200, json!({"status": "IN_PROGRESS"})),
        _ => too_early(),
    })
    .await;
    let mut state = publishing(&[]);
    for _ in 0..12 {
        let progress = publish(&network, 0, state).await.unwrap();
        let Progress::Continue { state: next, after, public, .. } = progress else { panic!() };
        assert_eq!((after, public), (Duration::from_secs(5), false));
        state = next;
    }
    assert_eq!(publish(&network, 0, state).await.unwrap_err().kind, ErrorKind::Transient);
}

fn dying(
    status: &'static str,
    reason: &'static str,
) -> impl FnMut(&Seen) -> (u16, Value) + Send + 'static {
    move |seen| match seen.line.as_str() {
        "GET /net/v1.0/c1" => (200, json!({"status": status, "error_message": reason})),
        "POST /net/v1.0/55/threads" => id("c2"),
        _ => too_early(),
    }
}

#[tokio::test]
async fn a_dead_container_is_the_reason_once_and_made_again_on_the_next_try() {
    let network = Network::start(dying("ERROR", "FAILED_DOWNLOADING_VIDEO")).await;
    let waiting = json!({"name": "wait", "container": "c1", "since": at(-60)});
    let waiting = json!({"published": [], "items": ["i1"], "stage": waiting});
    let fetched = resumed(publish(&network, 0, waiting.clone()).await.unwrap());
    assert_eq!(
        (&fetched["stage"]["name"], &fetched["fetched_again"]),
        (&json!("create"), &json!(1))
    );
    let mut waiting = waiting;
    waiting["fetched_again"] = json!(2);
    let broken = resumed(publish(&network, 0, waiting).await.unwrap());
    let error = publish(&network, 0, broken.clone()).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::MediaRejected);
    assert_eq!(error.reply.unwrap().message.unwrap(), "FAILED_DOWNLOADING_VIDEO");
    assert_eq!(Threads.step(&draft("Hello", json!({})), Some(&broken)).name, "create_container");
    let again = resumed(publish(&network, 60, broken).await.unwrap());
    assert_eq!(again["stage"]["container"], "c2");
    assert_eq!(again["items"], json!([]));
}

#[tokio::test]
async fn publishing_a_container_that_died_long_ago_starts_over() {
    let network = Network::start(dying("EXPIRED", "")).await;
    let state = resumed(publish(&network, 3_600, publishing(&[])).await.unwrap());
    assert_eq!(state["stage"]["name"], "create");
    let state = resumed(publish(&network, 0, publishing(&[])).await.unwrap());
    assert_eq!(publish(&network, 0, state).await.unwrap_err().kind, ErrorKind::Transient);
}

#[tokio::test]
async fn a_container_that_turns_out_to_be_public_is_looked_for() {
    let network = Network::start(|seen| match seen.line.as_str() {
        "GET /net/v1.0/c1" => (200, json!({"status": "PUBLISHED"})),
        _ => (400, json!({"error": {"message": "Already published", "code": 100}})),
    })
    .await;
    let error = publish(&network, 0, publishing(&[])).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Ambiguous);
}

#[tokio::test]
async fn a_container_is_not_awaited_for_ever() {
    let network = Network::start(|_| (200, json!({"status": "IN_PROGRESS"}))).await;
    let waiting = json!({"name": "wait", "container": "c1", "since": at(0)});
    let waiting = json!({"published": [], "items": [], "stage": waiting});
    let progress = publish(&network, 599, waiting.clone()).await.unwrap();
    let Progress::Continue { after, .. } = progress else { panic!() };
    assert_eq!(after, Duration::from_secs(3));
    assert_eq!(publish(&network, 601, waiting).await.unwrap_err().kind, ErrorKind::Transient);
}

#[tokio::test]
async fn connecting_asks_who_the_token_belongs_to() {
    let network = Network::start(|seen| {
        assert_eq!(seen.query("fields"), Some("id,username,name,threads_profile_picture_url"));
        let picture = "https://cdn.example/p.jpg";
        (200, json!({"id": "55", "username": "name", "threads_profile_picture_url": picture}))
    })
    .await;
    let identity = Threads.verify(&session(&network)).await.unwrap();
    assert_eq!(identity.meta[crate::PICTURE_URL], "https://cdn.example/p.jpg");
    assert_eq!((identity.remote_id.as_str(), identity.username.as_str()), ("55", "name"));
    assert_eq!(network.lines(), ["GET /net/v1.0/me"]);
    let refused = Network::start(|_| (400, json!({"error": {"code": 190}}))).await;
    let error = Threads.verify(&session(&refused)).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::InvalidCredentials);
}

#[tokio::test]
async fn a_token_is_exchanged_for_a_fresh_one() {
    let network = Network::start(|seen| {
        assert_eq!(seen.query("grant_type"), Some("th_refresh_token"));
        assert_eq!(seen.query("access_token"), Some("THtoken"));
        (200, json!({"access_token": "THfresh", "token_type": "bearer", "expires_in": 5_184_000}))
    })
    .await;
    let fresh = Threads.refresh(&session(&network)).await.unwrap().unwrap();
    assert_eq!(fresh.secrets.expose("access_token"), "THfresh");
    assert_eq!(fresh.expires_at, Some(at(5_184_000)));
}

#[tokio::test]
async fn only_a_dead_token_disconnects() {
    let table = [
        (400, json!({"error": {"code": 190, "error_subcode": 463}}), ErrorKind::Reconnect),
        (400, json!({"error": {"code": 100}}), ErrorKind::Transient),
        (500, json!({}), ErrorKind::Server),
        (200, json!({"access_token": ""}), ErrorKind::Ambiguous),
        (200, json!({}), ErrorKind::Ambiguous),
    ];
    for (status, body, kind) in table {
        let network = Network::start(move |_| (status, body.clone())).await;
        let error = Threads.refresh(&session(&network)).await.unwrap_err();
        assert_eq!(error.kind, kind, "{status}");
        assert!(!format!("{error:?}").contains("THtoken"));
    }
}

#[tokio::test]
async fn a_post_that_went_out_although_its_call_was_refused_is_looked_for() {
    for code in [10, 4, 200, 100, 190] {
        let network = Network::start(move |seen| match seen.line.as_str() {
            "GET /net/v1.0/c1" => (200, json!({"status": "PUBLISHED"})),
            _ => (400, json!({"error": {"message": "No", "code": code}})),
        })
        .await;
        let error = publish(&network, 0, publishing(&[])).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Ambiguous, "{code}");
    }
}

fn missing() -> (u16, Value) {
    (
        400,
        json!({"error": {"message": "Unsupported get request", "code": 100, "error_subcode": 33}}),
    )
}

#[tokio::test]
async fn a_container_that_is_not_found_is_waited_for_and_then_made_anew() {
    let network = Network::start(|_| missing()).await;
    let waiting = json!({"name": "wait", "container": "c1", "since": at(0)});
    let waiting = json!({"published": ["p1"], "items": [], "stage": waiting});
    let early = resumed(publish(&network, 59, waiting.clone()).await.unwrap());
    assert_eq!(early["stage"]["name"], "wait");
    let anew = resumed(publish(&network, 61, waiting).await.unwrap());
    assert_eq!((&anew["stage"]["name"], &anew["remade"]), (&json!("create"), &json!(1)));
    assert_eq!(anew["published"], json!(["p1"]), "what is public stays");
}

#[tokio::test]
async fn a_container_that_is_lost_for_good_is_looked_up_and_then_made_anew_a_few_times() {
    let network = Network::start(|seen| match seen.line.as_str() {
        "GET /net/v1.0/c1" => (200, json!({"status": "FINISHED"})),
        _ => too_early(),
    })
    .await;
    let mut state = publishing(&[]);
    state["stage"]["early"] = json!(12);
    let error = publish(&network, 0, state).await.unwrap_err();
    assert!(error.leaves_open());
    let mut looked_up = error.next_state.unwrap();
    assert_eq!(looked_up["stage"]["container"], "c1");
    for made in 1..=3 {
        let anew = resumed(publish(&network, 0, looked_up.clone()).await.unwrap());
        assert_eq!((&anew["stage"]["name"], &anew["remade"]), (&json!("create"), &json!(made)));
        looked_up["remade"] = anew["remade"].clone();
    }
    let error = publish(&network, 0, looked_up).await.unwrap_err();
    assert_eq!((error.kind, error.leaves_open()), (ErrorKind::Transient, false));
}

#[tokio::test]
async fn a_lost_container_does_not_hide_its_post() {
    let network = Network::start(|seen| match seen.line.as_str() {
        "GET /net/v1.0/55/threads" => (200, json!({"data": [post("p2", "Hello", 3)]})),
        _ => missing(),
    })
    .await;
    let found = reconcile(&network, &draft("Hello", json!({})), publishing(&[])).await;
    assert!(matches!(found, ReconcileOutcome::Committed(_)), "{found:?}");
}
