//! The voice of a brand: who may write it down, and that models keep to it.

use std::{io::Write, process::Stdio};

use fanfare_core::{
    BrandId, WorkspaceId,
    access::{PlanTier, Role, Scope},
};
use fanfare_people::users;
use fanfare_tests::{Options, TestApp, User, Visitor};
use serde_json::{Value, json};

use crate::{
    analytics::{after_syncs, set},
    signup::text,
    worker::command,
};

/// The claims that the simulated model invents.
const INVENTED: [&str; 5] =
    ["19.99 EUR", "31 March 2031", "+49 30 5550199", "invented-offers.com", "@inventedbar"];

/// A team with a brand; a person who manages it, with a key and a browser.
async fn team(app: &TestApp) -> (WorkspaceId, BrandId, User, Visitor) {
    let (owner, mut browser) = Visitor::person(app, "owner@example.com").await;
    let team = app.workspace(owner).await;
    let brand = app.brand(team, &[]).await;
    choose(&mut browser, team).await;
    (team, brand, app.key(owner, Some(team), &Scope::ALL).await, browser)
}

async fn choose(browser: &mut Visitor, team: WorkspaceId) {
    let csrf = browser.get("/dashboard/settings").await.hidden("csrf");
    let chosen = [("csrf", csrf), ("workspace_id", team.to_string())];
    let _ = browser.send("/dashboard/workspace", &chosen).await.expect(303);
}

/// Gives a brand a voice, as an operator does; what the command said.
fn command_line(app: &TestApp, team: WorkspaceId, brand: &str, voice: &Value) -> (bool, String) {
    let mut command = command(app);
    command.args(["admin", "brand", &team.to_string(), brand, "--profile", "-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(voice.to_string().as_bytes()).unwrap();
    let ran = child.wait_with_output().unwrap();
    let said = if ran.status.success() { ran.stdout } else { ran.stderr };
    (ran.status.success(), String::from_utf8_lossy(&said).trim().to_owned())
}

async fn profile(user: &User, brand: impl std::fmt::Display) -> Value {
    user.get(&format!("/api/v1/brands/{brand}/profile")).await.expect(200).body["profile"].clone()
}

async fn captions(user: &User, more: Value) -> Value {
    let mut body = json!({"brief": "Brunch for all [[invent-always]]", "count": 2});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    user.post("/api/v1/ai/generate-captions", body).await.expect(200).body["captions"][0].clone()
}

fn reasons(captions: &Value) -> Vec<&str> {
    let dropped = captions["dropped"].as_array().unwrap();
    dropped.iter().map(|entry| text(entry, "reason")).collect()
}

fn variants(captions: &Value) -> usize {
    captions["variants"].as_array().unwrap().len()
}

#[tokio::test]
async fn captions_claim_what_the_brand_says_and_never_say_what_it_never_says() {
    let app = TestApp::start().await;
    let (team, brand, user, _) = team(&app).await;
    let unwritten = profile(&user, brand).await;
    assert_eq!((&unwritten["voice"], &unwritten["never_say"]), (&Value::Null, &json!([])));
    let of_brand = json!({"platforms": ["bluesky"], "workspace_client_id": brand});
    let before = captions(&user, of_brand.clone()).await;
    assert_eq!((variants(&before), reasons(&before).len()), (1, 5), "{before}");
    let voice = json!({"tone": "warm", "facts": INVENTED, "never_say": ["Have you heard"], "topics_to_avoid": ["politics"]});
    let (content, said) = command_line(&app, team, &brand.to_string(), &voice);
    assert!(content && said == brand.to_string(), "{said}");
    let written = profile(&user, brand).await;
    assert_eq!((text(&written, "tone"), &written["facts"]), ("warm", &json!(INVENTED)));
    assert_eq!(written["topics_to_avoid"], json!(["politics"]));
    // The facts are the brand's, so they may be said; the second caption has the phrase that must not be.
    let after = captions(&user, of_brand).await;
    assert_eq!((variants(&after), reasons(&after)), (1, vec!["never_say"]), "{after}");
    assert!(text(&after["variants"][0], "text").contains("19.99 EUR"), "{after}");
    // Nothing of it counts for others, and accounts bring their brand with them.
    let without = captions(&user, json!({"platforms": ["bluesky"]})).await;
    assert_eq!((variants(&without), reasons(&without).len()), (1, 5), "{without}");
    let own = json!({"platform": "bluesky", "workspace_client_id": brand});
    let own = user.post("/api/v1/sandbox/accounts", own).await.expect(201).body["account"].clone();
    let by_account = captions(&user, json!({"account_ids": [own["id"]]})).await;
    assert_eq!(reasons(&by_account), ["never_say"], "{by_account}");
    let other = user.connect("bluesky").await;
    let mixed = captions(&user, json!({"account_ids": [own["id"], other]})).await;
    assert_eq!(reasons(&mixed).len(), 5, "{mixed}");
}

#[tokio::test]
async fn what_a_brand_avoids_and_examples_of_its_voice_prove_nothing() {
    let app = TestApp::start().await;
    let (team, brand, user, _) = team(&app).await;
    let voice = json!({"voice_examples": INVENTED, "topics_to_avoid": INVENTED, "competitors": INVENTED,
        "do_donts": INVENTED});
    assert!(command_line(&app, team, &brand.to_string(), &voice).0);
    let made =
        captions(&user, json!({"platforms": ["bluesky"], "workspace_client_id": brand})).await;
    assert_eq!(reasons(&made).len(), 5, "{made}");
}

#[tokio::test]
async fn answers_to_reviews_keep_to_the_voice() {
    let app = TestApp::start().await;
    let (team, brand, user, _) = team(&app).await;
    let voice = json!({"never_say": ["here it is", "have you heard"], "facts": INVENTED});
    assert!(command_line(&app, team, &brand.to_string(), &voice).0);
    let place = json!({"platform": "google_business", "workspace_client_id": brand});
    let place = user.post("/api/v1/sandbox/accounts", place).await.expect(201);
    let id = place.body["account"]["id"].clone();
    let review = json!({"account_id": id, "kind": "review", "text": "Lovely [[invent-always]]", "rating": 5});
    let _ = user.post("/api/v1/sandbox/google_business/inbound", review).await.expect(201);
    let review = app
        .eventually_in_time("the review is read", std::time::Duration::from_secs(60), || async {
            let page = user.get("/api/v1/google-business/reviews").await.expect(200).body;
            page["reviews"].as_array().unwrap().first().cloned()
        })
        .await;
    let path = "/api/v1/google-business/reviews/suggest-reply";
    let asked = json!({"review_id": review["id"], "count": 3});
    let made = user.post(path, asked).await.expect(200).body;
    assert_eq!(made["suggestions"].as_array().unwrap().len(), 1, "{made:#}");
    assert_eq!(reasons(&made), ["never_say", "never_say"], "{made:#}");
    assert!(text(&made["suggestions"][0], "text").starts_with("Good news:"), "{made:#}");
}

/// An account of a brand whose old posts did well, with suggestions after two of them: their captions, oldest post first.
async fn suggested(voice: Option<Value>, old: &str) -> Vec<String> {
    let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
    let (team, brand, user, _) = team(&app).await;
    users::set_plan(&app.domain, team, PlanTier::Agency, None).await.unwrap();
    if let Some(voice) = voice {
        assert!(command_line(&app, team, &brand.to_string(), &voice).0);
    }
    let own = json!({"platform": "threads", "workspace_client_id": brand});
    let own = user.post("/api/v1/sandbox/accounts", own).await.expect(201);
    let id = own.body["account"]["id"].as_i64().unwrap();
    for days in 20..32 {
        let said = format!("{old} Post of {days} days.");
        let post = json!({"account_id": id, "text": said, "created_at": app.at(-86_400 * days)});
        let post = user.post("/api/v1/sandbox/threads/posts", post).await.expect(201).body;
        let likes = if days % 4 == 0 { 30 } else { 10 };
        let numbers = json!({"views": 100, "likes": likes});
        set(&user, "threads", id, json!({"post_id": post["id"]}), numbers).await;
    }
    app.start_workers();
    after_syncs(&app, &user, 1).await;
    let asked = json!({"account_id": id});
    let made = user.post("/api/v1/sandbox/suggestions", asked).await.expect(200).body;
    assert_eq!(made["suggestions"], 2);
    let listed = user.get("/api/v1/suggestions?status=pending").await.expect(200).body;
    let listed = listed["suggestions"].as_array().unwrap();
    listed.iter().map(|one| text(one, "caption").to_owned()).collect()
}

#[tokio::test]
async fn suggested_posts_say_what_the_brand_says_and_never_what_it_never_says() {
    // The invented claims are not known without the brand, and known with it.
    let old = "Always the cheapest! [[invent-always]]";
    let without = suggested(None, old).await;
    assert!(without.iter().all(|caption| !caption.contains("19.99")), "{without:?}");
    assert!(without[0].contains("cheapest"), "{without:?}");
    let with = suggested(Some(json!({"facts": INVENTED})), old).await;
    assert!(with.iter().all(|caption| caption.contains("19.99 EUR")), "{with:?}");
    // A phrase of the model that the brand never says: the old caption stays, and its own such sentences go.
    let never = json!({"never_say": ["here it is", "cheapest"]});
    let kept = suggested(Some(never), "Always the cheapest! Fine paper.").await;
    assert_eq!(kept, ["Fine paper. Post of 24 days.", "Fine paper. Post of 28 days."]);
}

#[tokio::test]
async fn a_voice_is_written_on_its_page_by_admins_who_see_the_brand() {
    let app = TestApp::start().await;
    let (team, brand, user, mut owner) = team(&app).await;
    let page = format!("/dashboard/brands/{brand}");
    let shown = owner.get("/dashboard/team").await.expect(200);
    assert!(shown.html.contains(&page), "{}", shown.html);
    let hostile = "<script>alert(1)</script>";
    let sent = [
        ("csrf", owner.get(&page).await.expect(200).hidden("csrf")),
        ("voice", " Plain and short \r\nno jokes".to_owned()),
        ("never_say", format!("cheap\r\n\r\n best \r\ncheap\r\n{hostile}")),
    ];
    let _ = owner.send(&page, &sent).await.expect(303);
    let kept = profile(&user, brand).await;
    assert_eq!(text(&kept, "voice"), "Plain and short \nno jokes");
    assert_eq!(kept["never_say"], json!(["cheap", "best", hostile]));
    let shown = owner.get(&page).await.expect(200);
    assert!(shown.html.contains(">\ncheap\nbest\n") && !shown.html.contains("<script>alert"));
    // The error is shown, and the typed text stays.
    let long = "x".repeat(301);
    let sent = [("csrf", shown.hidden("csrf")), ("facts", long.clone())];
    let refused = owner.send(&page, &sent).await.expect(400);
    assert!(refused.html.contains("facts[0] has 301 characters") && refused.html.contains(&long));
    assert_eq!(profile(&user, brand).await["never_say"], kept["never_say"]);
    // A brand is made there, too.
    let csrf = owner.get("/dashboard/team").await.hidden("csrf");
    let made =
        owner.send("/dashboard/brands", &[("csrf", csrf), ("name", "Luna".to_owned())]).await;
    let made = made.expect(303).location;
    let made = made.trim_start_matches("/dashboard/brands/").split('?').next().unwrap().to_owned();
    assert_eq!(profile(&user, &made).await["voice"], Value::Null);
    // An editor reads it; a member who is locked to another brand, and another tenant, find nothing.
    let (editor, mut at_work) = Visitor::person(&app, "editor@example.com").await;
    users::set_member(&app.domain, team, editor, Role::Editor).await.unwrap();
    choose(&mut at_work, team).await;
    let shown = at_work.get(&page).await.expect(200);
    assert!(shown.html.contains("cheap") && !shown.html.contains("Save the voice"));
    let sent = [("csrf", shown.hidden("csrf")), ("voice", "Loud".to_owned())];
    assert_eq!(at_work.send(&page, &sent).await.status, 403);
    users::lock_to_brand(&app.domain, team, editor, BrandId(made.parse().unwrap())).await.unwrap();
    assert_eq!(at_work.get(&page).await.status, 404);
    let stranger = app.user().await;
    let path = format!("/api/v1/brands/{brand}/profile");
    let _ = stranger.get(&path).await.refused(404, "brand_not_found");
    let asked = json!({"brief": "Hi", "platforms": ["bluesky"], "workspace_client_id": brand});
    let path = "/api/v1/ai/generate-captions";
    let _ = stranger.post(path, asked).await.refused(404, "brand_not_found");
    assert_eq!(text(&profile(&user, brand).await, "voice"), "Plain and short \nno jokes");
}

#[tokio::test]
async fn an_operator_gives_a_brand_its_voice_by_name_and_makes_the_brand_if_there_is_none() {
    let app = TestApp::start().await;
    let (team, _, user, _) = team(&app).await;
    let (content, made) = command_line(&app, team, "Luna", &json!({"tone": "warm"}));
    assert!(content, "{made}");
    assert_eq!(text(&profile(&user, &made).await, "tone"), "warm");
    let (content, again) = command_line(&app, team, "Luna", &json!({"never_say": ["cheap"]}));
    assert!(content && again == made, "{again}");
    let kept = profile(&user, &made).await;
    assert_eq!((&kept["tone"], &kept["never_say"]), (&Value::Null, &json!(["cheap"])));
    for wrong in [json!({"tones": "warm"}), json!({"tone": 7}), json!({"facts": ["x".repeat(301)]})]
    {
        let (content, said) = command_line(&app, team, "Luna", &wrong);
        assert!(!content, "{said}");
    }
    assert_eq!(profile(&user, &made).await, kept);
}
