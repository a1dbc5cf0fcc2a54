//! Every page shows, names and takes one time zone: that of the workspace.

use fanfare_tests::TestApp;
use serde_json::json;

use super::Somebody;

const PAGES: [&str; 14] = [
    "/dashboard",
    "/dashboard/posts",
    "/dashboard/posts?view=month",
    "/dashboard/posts/new",
    "/dashboard/accounts",
    "/dashboard/inbox",
    "/dashboard/reviews",
    "/dashboard/team",
    "/dashboard/webhooks",
    "/dashboard/usage",
    "/dashboard/api",
    "/dashboard/apps",
    "/dashboard/billing",
    "/dashboard/settings",
];

#[tokio::test]
async fn pages_show_name_and_take_the_zone_of_the_workspace() {
    let app = TestApp::start().await;
    let mut ada = Somebody::new(&app, "ada@example.com").await;
    let account = ada.user.connect("bluesky").await;
    let settings = "/dashboard/settings";
    // A city is enough; the clocks of Berlin and New York change before summer, those of Kathmandu never.
    for (typed, zone) in [
        ("berlin", "Europe/Berlin"),
        ("New York", "America/New_York"),
        ("kathmandu", "Asia/Kathmandu"),
    ] {
        let fields = [("name", "Work"), ("timezone", typed)];
        let _ = ada.send(settings, &format!("{settings}/workspace"), &fields).await.expect(303);
        for path in PAGES {
            let html = ada.page(path).await.html;
            let main = &html[html.find("<main").unwrap()..];
            assert!(html.contains(&format!(">{zone}</a>")), "{path}: {html}");
            let foreign = path != settings && main.contains("UTC");
            assert!(!foreign, "{path} in {zone}: {main}");
        }
        // What was typed comes back, in winter and in summer.
        for day in ["2030-01-15", "2030-07-15"] {
            let new = json!({"account_id": account, "caption": "Soup", "status": "draft"});
            let post = format!("/dashboard/posts/{}", ada.user.publish(new).await["id"]);
            let time = format!("{day}T10:30");
            let fields = [("scheduled_at", time.as_str())];
            let _ = ada.send(&post, &format!("{post}/schedule"), &fields).await.expect(303);
            let html = ada.page(&post).await.html;
            assert!(html.contains(&format!("value=\"{time}\"")), "{zone}: {html}");
            assert!(html.contains("2030, 10:30</time>"), "{zone}: {html}");
        }
    }
}

#[tokio::test]
async fn the_attempts_of_a_post_stand_in_the_same_zone_as_its_time() {
    let app = TestApp::start().await;
    let mut ada = Somebody::new(&app, "ada@example.com").await;
    let account = ada.user.connect("bluesky").await;
    let fields = [("name", "Work"), ("timezone", "Asia/Kathmandu")];
    let settings = "/dashboard/settings";
    let _ = ada.send(settings, &format!("{settings}/workspace"), &fields).await.expect(303);
    let id = ada.user.publish(json!({"account_id": account, "caption": "Now"})).await["id"].clone();
    app.wait_for_status(&ada.user, id.as_i64().unwrap(), &["published"]).await;
    let html = ada.page(&format!("/dashboard/posts/{id}")).await.html;
    assert!(times_in_kathmandu(&html) >= 3, "{html}");
}

/// Fails unless all times of a page stand in the zone of Kathmandu, whose minutes are those of nobody else here; their number.
#[track_caller]
fn times_in_kathmandu(html: &str) -> usize {
    let shown: Vec<_> = html.split("<time datetime=\"").skip(1).collect();
    for time in &shown {
        let (written, rest) = time.split_once("\">").unwrap();
        let local = rest.split("</time>").next().unwrap();
        let Some(shown) = local.split(':').nth(1) else { continue };
        let minute: i64 = written[14..16].parse().unwrap();
        assert_eq!(shown[..2].parse::<i64>().unwrap(), (minute + 45) % 60, "{time}");
    }
    shown.len()
}

#[tokio::test]
async fn every_time_of_every_page_with_something_on_it_stands_in_the_zone() {
    let app = TestApp::start().await;
    let mut ada = Somebody::new(&app, "ada@example.com").await;
    let single = Box::pin(super::looks::fill(&app, &ada)).await;
    let fields = [("name", "Work"), ("timezone", "Asia/Kathmandu")];
    let settings = "/dashboard/settings";
    let _ = ada.send(settings, &format!("{settings}/workspace"), &fields).await.expect(303);
    let singles = single.iter().map(|(_, path)| path.as_str());
    let views = ["/dashboard/inbox?view=comments", "/dashboard/analytics"];
    let mut times = 0;
    for path in PAGES.into_iter().chain(views).chain(singles) {
        let html = ada.page(path).await.html;
        let main = &html[html.find("<main").unwrap()..];
        assert!(path == settings || !main.contains("UTC"), "{path}: {main}");
        times += times_in_kathmandu(main);
    }
    assert!(times >= 20, "{times} times");
}
