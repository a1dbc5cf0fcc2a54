//! A code is exchanged once, whatever happens on the way.

use std::time::Duration;

use fanfare_tests::{Options, TestApp};
use serde_json::json;

use super::{calls, page, person, poll, session, stands, start};

#[tokio::test]
async fn a_code_is_exchanged_once_however_often_the_network_sends_back() {
    let app = start().await;
    let (mut ada, user) = person(&app).await;
    let made = session(&user, "threads", json!({"sandbox": true})).await;
    let back = {
        let network = ada.leave(&page(&made)).await;
        ada.answer(&network, None).await
    };
    let requests = (0..5).map(|_| {
        let (mut ada, back) = (ada.clone(), back.clone());
        tokio::spawn(async move { ada.get(&back).await.status })
    });
    for request in requests.collect::<Vec<_>>() {
        // A request that comes after the end finds that the way back is used up.
        assert!(matches!(request.await.unwrap(), 303 | 404));
    }
    assert_eq!(poll(&app, &user, &made).await["status"], "connected");
    assert_eq!(calls(&app, "oauth/access_token").await, 1);
    let again = ada.get(&back).await.expect(404);
    assert!(again.html.contains("has expired or belongs to someone else"), "{}", again.html);
}

#[tokio::test]
async fn a_kill_between_code_and_account_leaves_a_walk_that_can_be_walked_again() {
    for place in fanfare_core::failpoint::CONNECTING {
        let options = Options { stand_ins: true, failpoint: Some(*place), ..Options::default() };
        let app = TestApp::with(options).await;
        let (mut ada, user) = person(&app).await;
        let made = session(&user, "threads", json!({"sandbox": true})).await;
        let back = {
            let network = ada.leave(&page(&made)).await;
            ada.answer(&network, None).await
        };
        // This process never answers: it is as good as killed. Another serves from now on.
        let (mut stuck, first) = (ada.clone(), back.clone());
        let stuck = tokio::spawn(async move { stuck.get(&first).await });
        app.eventually("the code is taken", || async {
            let now = poll(&app, &user, &made).await;
            stands(&now).1.contains("being finished").then_some(())
        })
        .await;
        let other = app.second_instance().await;
        let mut elsewhere = ada.at(&other);
        let finishing = elsewhere.get(&back.replace(&app.origin, "")).await.expect(303);
        let finishing = elsewhere.get(&finishing.location).await.expect(200);
        assert!(finishing.html.contains("http-equiv=\"refresh\""), "it looks again by itself");
        app.advance(Duration::from_secs(61));
        assert!(stands(&poll(&app, &user, &made).await).1.contains("interrupted"), "{place}");
        let network = elsewhere.leave(&page(&made)).await;
        let again = elsewhere.answer(&network, None).await;
        assert_ne!(again, back);
        let _ = elsewhere.get(&again.replace(&app.origin, "")).await.expect(303);
        let done = poll(&app, &user, &made).await;
        assert_eq!(done["status"], "connected", "{place}: {done}");
        let exchanged = if *place == "code_taken" { 1 } else { 2 };
        assert_eq!(calls(&app, "oauth/access_token").await, exchanged, "{place}");
        stuck.abort();
    }
}
