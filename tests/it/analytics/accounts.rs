//! Accounts by the day.

use std::time::Duration;

use fanfare_tests::TestApp;
use serde_json::{Value, json};

use super::{DAY, account, after_syncs, dates, day, idle, next_day, set, synced};

#[tokio::test]
async fn days_are_the_networks_and_what_is_not_known_is_null() {
    let (app, user) = idle().await;
    let id = user.connect("instagram").await;
    let before = account(&user, id).await;
    assert_eq!((&before["status"], &before["synced_at"]), (&json!("syncing"), &Value::Null));
    let dates = dates(&user, id).await;
    assert_eq!(dates.len(), 30);
    let numbers = json!({"reach": 200, "views": 300, "likes": 5, "comments": 2, "shares": 1, "saves": 0, "clicks": 4});
    set(&user, "instagram", id, json!({"date": dates[25]}), numbers).await;
    set(&user, "instagram", id, json!({}), json!({"followers": 50})).await;
    app.start_workers();
    after_syncs(&app, &user, 1).await;
    let shown = account(&user, id).await;
    assert_eq!(
        (&shown["status"], &shown["day_zone"]),
        (&json!("ok"), &json!("America/Los_Angeles"))
    );
    let at = day(&user, id, &dates[25]).await;
    assert_eq!(
        (&at["reach"], &at["saves"], &at["engagements"]),
        (&json!(200), &json!(0), &json!(8))
    );
    assert_eq!((&at["provisional"], &at["revision"]), (&json!(false), &json!(0)));
    assert_eq!(at["followers"], Value::Null);
    let other = day(&user, id, &dates[20]).await;
    assert!(["reach", "views", "likes", "engagements"].iter().all(|name| other[name].is_null()));
    let yesterday = day(&user, id, &dates[28]).await;
    assert_eq!((&yesterday["followers"], &yesterday["provisional"]), (&json!(50), &json!(true)));
    let summary = &shown["summary"];
    assert_eq!((&summary["days"], &summary["days_measured"]), (&json!(30), &json!(1)));
    assert_eq!((&summary["reach"], &summary["reach_basis"]), (&json!(200), &json!("sum_of_days")));
    assert_eq!(
        (&summary["engagement_rate"], &summary["engagement_rate_basis"]),
        (&json!(4.0), &json!("reach"))
    );
    assert_eq!(summary["previous"]["reach"], Value::Null);
    let taps = &shown["display_metrics"][1];
    assert_eq!(
        (&taps["key"], &taps["value"], &taps["unit"]),
        (&json!("profile_link_taps"), &json!(4), &json!("count"))
    );
    assert_eq!(synced(&user).await[0]["data"]["backfill"], true);
}

#[tokio::test]
async fn a_number_that_changes_is_restated_and_null_takes_nothing_away() {
    let (app, user) = idle().await;
    let id = user.connect("threads").await;
    let dates = dates(&user, id).await;
    let of = json!({"date": dates[28]});
    set(&user, "threads", id, of.clone(), json!({"likes": 10, "clicks": 3})).await;
    app.start_workers();
    after_syncs(&app, &user, 1).await;
    set(&user, "threads", id, of.clone(), json!({"likes": 7, "clicks": null})).await;
    next_day(&app).await;
    after_syncs(&app, &user, 2).await;
    let at = day(&user, id, &dates[28]).await;
    assert_eq!((&at["likes"], &at["clicks"], &at["revision"]), (&json!(7), &json!(3), &json!(1)));
    set(&user, "threads", id, of, json!({"views": 9})).await;
    next_day(&app).await;
    after_syncs(&app, &user, 3).await;
    let at = day(&user, id, &dates[28]).await;
    assert_eq!(
        (&at["views"], &at["revision"]),
        (&json!(9), &json!(1)),
        "a number that comes late restates none"
    );
}

#[tokio::test]
async fn followers_are_compared_with_the_day_before() {
    let (app, user) = idle().await;
    let id = user.connect("threads").await;
    set(&user, "threads", id, json!({}), json!({"followers": 40})).await;
    app.start_workers();
    after_syncs(&app, &user, 1).await;
    set(&user, "threads", id, json!({}), json!({"followers": 37})).await;
    app.pass_time(Duration::from_secs(DAY)).await;
    // The second reading may be on its day already, or come with the hours that are left.
    app.eventually_in_time("the next reading", Duration::from_secs(900), || async {
        (synced(&user).await.len() >= 2).then_some(())
    })
    .await;
    let shown = account(&user, id).await;
    let days = shown["snapshots"].as_array().unwrap();
    let known: Vec<_> = days.iter().filter(|day| !day["followers"].is_null()).collect();
    assert_eq!(known.len(), 2);
    assert_eq!(
        (&known[0]["follower_delta"], &known[1]["follower_delta"]),
        (&Value::Null, &json!(-3))
    );
    assert_eq!(shown["summary"]["follower_delta"], -3);
}

#[tokio::test]
async fn a_refused_number_costs_one_number() {
    let (app, user) = idle().await;
    let id = user.connect("instagram").await;
    let dates = dates(&user, id).await;
    let numbers = json!({"likes": 5, "views": 9, "shares": "refused"});
    set(&user, "instagram", id, json!({"date": dates[27]}), numbers).await;
    app.start_workers();
    after_syncs(&app, &user, 1).await;
    let at = day(&user, id, &dates[27]).await;
    assert_eq!((&at["likes"], &at["views"], &at["shares"]), (&json!(5), &json!(9), &Value::Null));
    assert_eq!(account(&user, id).await["status"], "ok");
}

#[tokio::test]
async fn a_missing_permission_makes_nulls_and_the_account_stays() {
    let (app, user) = idle().await;
    let id = user.connect("instagram").await;
    let dates = dates(&user, id).await;
    set(&user, "instagram", id, json!({"date": dates[27]}), json!({"likes": "permission"})).await;
    set(&user, "instagram", id, json!({"date": dates[26]}), json!({"likes": 2})).await;
    app.start_workers();
    after_syncs(&app, &user, 1).await;
    let shown = account(&user, id).await;
    assert_eq!(shown["status"], "needs_permission");
    assert_eq!(shown["missing_permissions"], json!(["instagram_manage_insights"]));
    assert_eq!(day(&user, id, &dates[26]).await["likes"], 2);
    let accounts = user.get("/api/v1/accounts").await.expect(200).body["accounts"].clone();
    assert_eq!(accounts[0]["status"], "connected");
}

#[tokio::test]
async fn the_networks_own_reach_stands_for_its_periods() {
    let (app, user) = idle().await;
    let id = user.connect("instagram").await;
    let dates = dates(&user, id).await;
    for date in &dates[15..28] {
        set(&user, "instagram", id, json!({ "date": date }), json!({"reach": 10})).await;
    }
    set(&user, "instagram", id, json!({}), json!({"reach_7": 33})).await;
    app.start_workers();
    after_syncs(&app, &user, 1).await;
    let through = account(&user, id).await["complete_through"].as_str().unwrap().to_owned();
    let last = dates.iter().position(|date| *date == through).unwrap();
    let of = |from: &str, to: &str| {
        format!("/api/v1/analytics/accounts?account_id={id}&from={from}&to={to}")
    };
    let week = user.get(&of(&dates[last - 6], &through)).await.expect(200).body;
    let summary = &week["accounts"][0]["summary"];
    assert_eq!((&summary["reach"], &summary["reach_basis"]), (&json!(33), &json!("period")));
    let six = user.get(&of(&dates[last - 5], &through)).await.expect(200).body;
    let summary = &six["accounts"][0]["summary"];
    assert_eq!((&summary["reach"], &summary["reach_basis"]), (&json!(60), &json!("sum_of_days")));
}

#[tokio::test]
async fn a_dead_token_stops_readings_until_a_reconnect() {
    let (app, user) = idle().await;
    let id = user.connect("threads").await;
    app.start_workers();
    after_syncs(&app, &user, 1).await;
    // The first reading finds the token dead, and so does each after it.
    let dead = json!([{"on": "read", "kind": "status", "status": 401, "times": 1000}]);
    user.faults("threads", id, dead).await;
    next_day(&app).await;
    app.eventually("the account is to be connected again", || async {
        (account(&user, id).await["status"] == "reconnect_required").then_some(())
    })
    .await;
    assert_eq!(synced(&user).await.len(), 1);
}

#[tokio::test]
async fn numbers_outlive_a_disconnect_on_instagram_and_go_elsewhere() {
    let (app, user) = idle().await;
    let (kept, gone) = (user.connect("instagram").await, user.connect("threads").await);
    let dates = dates(&user, kept).await;
    set(&user, "instagram", kept, json!({"date": dates[27]}), json!({"likes": 5})).await;
    set(&user, "threads", gone, json!({"date": dates[27]}), json!({"likes": 5})).await;
    app.start_workers();
    after_syncs(&app, &user, 2).await;
    // The numbers that the last reading still finds.
    set(&user, "instagram", kept, json!({"date": dates[28]}), json!({"likes": 8})).await;
    for id in [kept, gone] {
        let _ = user.delete(&format!("/api/v1/accounts/{id}")).await.expect(200);
    }
    let shown = account(&user, kept).await;
    assert_eq!(shown["status"], "archived");
    assert_eq!(day(&user, kept, &dates[28]).await["likes"], 8);
    let all = user.get("/api/v1/analytics/accounts").await.expect(200).body;
    assert_eq!(all["accounts"], json!([]));
    let path = format!("/api/v1/analytics/accounts?account_id={gone}");
    let _ = user.get(&path).await.refused(404, "account_not_found");
    app.pass_time(Duration::from_secs(31 * DAY)).await;
    let left = || async { days_of(&app, gone).await };
    app.eventually("the rows are gone", || async { (left().await == 0).then_some(()) }).await;
    assert!(days_of(&app, kept).await > 0);
}

/// The number of an account's stored days.
async fn days_of(app: &TestApp, id: i64) -> u64 {
    use fanfare_entities::{AccountId, account_day};
    use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter};
    account_day::Entity::find()
        .filter(account_day::Column::AccountId.eq(AccountId(id)))
        .count(&app.domain.db.read)
        .await
        .unwrap()
}

#[tokio::test]
async fn days_that_cannot_be_are_refused_at_once() {
    let (_app, user) = idle().await;
    let id = user.connect("threads").await;
    let _ = user.connect("telegram").await;
    for query in [
        "from=2026-02-30",
        "from=2020-01-02&to=2020-01-01",
        "to=2999-01-01",
        "from=2020-01-01&to=2021-12-31",
    ] {
        let path = format!("/api/v1/analytics/accounts?account_id={id}&{query}");
        let refused = user.get(&path).await.expect(400);
        assert_eq!(refused.body["validation_errors"][0]["code"], "invalid_field", "{query}");
    }
    let both = format!("/api/v1/analytics/accounts?account_id={id}&from=2999-01-02&to=2999-01-01");
    let both = user.get(&both).await.expect(400);
    assert_eq!(both.body["validation_errors"].as_array().unwrap().len(), 2);
    let all = user.get("/api/v1/analytics/accounts").await.expect(200).body;
    let shown: Vec<_> = all["accounts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (&one["account"]["platform"], &one["status"]))
        .collect();
    // Those whose networks do not count are there, too, and say so.
    let expected = [("threads", "syncing"), ("telegram", "not_measurable")]
        .map(|(platform, status)| (json!(platform), json!(status)));
    assert_eq!(shown, expected.each_ref().map(|(platform, status)| (platform, status)));
}

#[tokio::test]
async fn a_network_that_does_not_count_says_so() {
    let (_app, user) = idle().await;
    let id = user.connect("telegram").await;
    let shown = account(&user, id).await;
    assert_eq!(shown["status"], "not_measurable");
    assert_eq!(shown["snapshots"], json!([]));
}

#[tokio::test]
async fn a_day_that_has_not_begun_everywhere_is_cut_off_and_days_of_nothing_say_why() {
    let (app, user) = idle().await;
    let id = user.connect("instagram").await;
    let known = dates(&user, id).await;
    let (first, today) = (known[0].clone(), known[29].clone());
    // Somewhere the next day has begun, or begins within 14 hours; the day after that is nowhere.
    let list =
        |to: &str| format!("/api/v1/analytics/accounts?account_id={id}&from={first}&to={to}");
    let now = fanfare_core::clock::to_rfc3339(app.clock.now() + 14 * 3_600_000);
    let latest = now[..10].to_owned();
    let shown = user.get(&list(&latest)).await.expect(200).body["accounts"][0].clone();
    assert_eq!(shown["to"], today, "{shown:#}");
    let cut = if latest == today { Value::Null } else { json!(latest) };
    assert_eq!(shown["cut_off"], cut, "{shown:#}");
    let far = fanfare_core::clock::to_rfc3339(app.clock.now() + 62 * 3_600_000);
    user.get(&list(&far[..10])).await.refused(400, "invalid_field");
    app.start_workers();
    set(&user, "instagram", id, json!({"date": known[25]}), json!({"reach": 200})).await;
    after_syncs(&app, &user, 1).await;
    let of = async |date: &str| day(&user, id, date).await;
    let counted = of(&known[25]).await;
    assert_eq!((&counted["reach"], &counted["reason"]), (&json!(200), &Value::Null), "{counted}");
    let running = of(&today).await;
    assert_eq!(running["posts"], 0, "{running}");
    // Nor is anything claimed of days before the connection that the network was asked about and says nothing of.
    let silent = user.connect("threads").await;
    let path = format!("/api/v1/analytics/accounts?account_id={silent}");
    let read = app
        .eventually_in_time("it is read", Duration::from_secs(5), || async {
            let shown = user.get(&path).await.expect(200).body["accounts"][0].clone();
            (!shown["synced_at"].is_null()).then_some(shown)
        })
        .await;
    let long_ago = &read["snapshots"][0];
    assert_eq!(
        (&long_ago["posts"], &long_ago["provisional"], &long_ago["reason"]),
        (&Value::Null, &Value::Null, &json!("before_connection")),
        "{long_ago}"
    );
    // A year before there was an account: nothing is known, and nothing is claimed.
    let before =
        format!("/api/v1/analytics/accounts?account_id={id}&from=2020-01-01&to=2020-01-02");
    let before = user.get(&before).await.expect(200).body["accounts"][0]["snapshots"].clone();
    for day in before.as_array().unwrap() {
        assert_eq!(
            (&day["posts"], &day["provisional"], &day["reason"]),
            (&Value::Null, &Value::Null, &json!("before_connection")),
            "{day}"
        );
    }
}
