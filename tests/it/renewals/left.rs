//! Renewals at each network, with each time that an access token may have left, while the network answers and while it fails:
//! a post goes out, at once or after the failure, and the account is connected still.

use std::time::Duration;

use fanfare_core::AccountId;
use fanfare_entities::{Millis, account};
use fanfare_tests::{TestApp, networks};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, sea_query::Expr};

use super::Place;

/// The time that a token has left when a post is made, in ms: less than an hour of a token, less than a call may take, and
/// nothing.
const LEFT: [Millis; 3] = [20 * 60_000, 20_000, -60_000];

/// Networks that renew no token that has ended
/// (<https://developers.facebook.com/docs/threads/get-started/long-lived-tokens>).
const NOT_AFTERWARDS: [&str; 2] = ["threads", "instagram"];

/// The number of times that a renewal is asked for before it counts as failed.
const ASKED: u32 = 3;

/// Leaves the account alone, so that nothing but a post has its token renewed.
async fn without_upkeep(app: &TestApp, place: &Place) {
    app.wait_until_idle().await;
    account::Entity::update_many()
        .col_expr(account::Column::DueAt, Expr::value(None::<Millis>))
        .filter(account::Column::Id.eq(AccountId(place.id)))
        .exec(&app.domain.db.write)
        .await
        .unwrap();
}

async fn play(app: &TestApp, name: &str, left: Millis, is_away: bool) -> bool {
    let Some(place) = Place::open(app, name).await else { return false };
    let story = format!("{name}, {} s left, away: {is_away}", left / 1_000);
    without_upkeep(app, &place).await;
    let before = place.row(app).await;
    let Some(end) = before.token_expires_at else { return false };
    let wait = u64::try_from(end - left - app.domain.clock.now()).unwrap();
    app.pass_time(Duration::from_millis(wait)).await;
    if is_away {
        place.fault("status", ASKED).await;
    }
    let post = place.publishes(app).await;
    let after = place.row(app).await;
    let ends_for_good = NOT_AFTERWARDS.contains(&name);
    let may_be_over = ends_for_good && is_away && left < 60_000;
    let is_over = ends_for_good && left <= 0 || may_be_over && post["status"] == "failed";
    let status = if is_over { "failed" } else { "published" };
    assert_eq!(post["status"], status, "{story}: {post:#}");
    let there = place.user.on_network(name, place.id).await.len();
    assert_eq!(there, usize::from(!is_over), "{story}");
    if is_over {
        assert_eq!(post["error"]["retry_safe"], true, "{story}: {post:#}");
    } else {
        assert_eq!(after.status, before.status, "{story}: the account is connected");
        // A token that still serves is used while it cannot be renewed.
        let is_kept = after.secret_id == before.secret_id;
        assert!(is_kept || !is_away || left < 60_000, "{story}: it was not renewed");
        assert!(!is_kept || is_away, "{story}: it was renewed");
        assert!(place.receiver.received().is_empty(), "{story}: nobody has to do anything");
    }
    let path = format!("/api/v1/accounts/{}", place.id);
    let _ = place.user.delete(&path).await.expect(200);
    true
}

#[tokio::test]
async fn a_post_goes_out_whatever_time_its_token_has_left() {
    let mut renewing = Vec::new();
    for name in networks::all() {
        // One clock for each: it goes on for months.
        let app = TestApp::start().await;
        let mut is_renewed = false;
        for left in LEFT {
            for is_away in [false, true] {
                is_renewed |= play(&app, name, left, is_away).await;
            }
        }
        renewing.extend(is_renewed.then_some(name));
    }
    assert!(renewing.len() >= 8, "{renewing:?} renew tokens");
}
