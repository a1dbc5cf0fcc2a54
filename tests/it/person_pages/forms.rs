//! A walk over every form of the dashboard: whatever refuses it, what was typed, ticked and chosen is there again.

use std::{collections::BTreeSet, time::Duration};

use fanfare_core::access::Role;
use fanfare_people::users;
use fanfare_tests::{TestApp, Visitor, visitor::PageReply};
use serde_json::json;

use super::{
    Somebody,
    form_reader::{Field, Form, Kind},
    looks,
};
use crate::oauth;

/// The pages of lists; those of single items are made by the story.
const PAGES: [&str; 12] = [
    "/dashboard/posts/new",
    "/dashboard/accounts",
    "/dashboard/api",
    "/dashboard/apps",
    "/dashboard/billing",
    "/dashboard/usage",
    "/dashboard/inbox",
    "/dashboard/reviews",
    "/dashboard/team",
    "/dashboard/webhooks",
    "/dashboard/settings",
    "/connect/mastodon",
];

/// The longest text that a field of the dashboard takes has 10,000 characters.
fn typed(place: usize) -> String {
    format!("Field {place} <b>&\"{}", " and more of it".repeat(800))
}

/// What a browser sends: texts in all fields, another choice in each list, every second box ticked.
fn filled(form: &Form, texts: impl Fn(usize) -> String) -> Vec<(String, String)> {
    let mut sent = Vec::new();
    for (place, field) in form.fields.iter().enumerate() {
        let value = match field.kind {
            Kind::Hidden => field.value.clone(),
            Kind::Text => texts(place),
            Kind::Box if place % 2 == 0 => field.value.clone(),
            Kind::Choice => field.options.last().cloned().unwrap_or_default(),
            Kind::Box | Kind::Password => continue,
        };
        sent.push((field.name.clone(), value));
    }
    if form.is_draft {
        sent.push(("do".to_owned(), "publish".to_owned()));
    }
    sent
}

async fn send(ada: &mut Somebody, form: &Form, sent: &[(String, String)]) -> PageReply {
    let fields: Vec<_> = sent.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
    ada.browser.send(&form.action, &fields).await
}

/// The same form on the page of a refusal.
fn again(form: &Form, reply: &PageReply) -> Option<Form> {
    Form::of(&reply.html).into_iter().find(|one| one.action == form.action)
}

fn is_for_people(field: &Field) -> bool {
    matches!(field.kind, Kind::Text | Kind::Choice)
}

/// Returns what of that which was sent is missing: it has to stand in its form, which is in sight then, or beside it.
fn missing(form: &Form, sent: &[(String, String)], reply: &PageReply) -> Vec<String> {
    let mut missing = Vec::new();
    let mut note = |what: &str| missing.push(format!("{} ({}): {what}", form.action, reply.status));
    if !(400..500).contains(&reply.status) {
        note("it was not refused");
    }
    if !reply.html.contains("id=\"refusal\"") || !reply.html.contains(" autofocus") {
        note("the refusal does not take the focus");
    }
    let Some(shown) = again(form, reply) else {
        // The id of a workspace is nothing that a person could copy.
        let ids = |field: &&Field| field.name != "workspace_id";
        for field in form.fields.iter().filter(|field| is_for_people(field)).filter(ids) {
            let value = &sent.iter().find(|(name, _)| *name == field.name).unwrap().1;
            let escaped = value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            if !reply.html.contains(&escaped.replace('"', "&quot;")) {
                note(&format!("{} is not beside", field.name));
            }
        }
        return missing;
    };
    if !shown.is_shown {
        note("the form is closed");
    }
    let mut values: Vec<_> = sent.to_vec();
    for field in &shown.fields {
        // An address of a file moves into the list of the composer's files.
        if form.is_draft && ["media_url", "alt"].contains(&field.name.as_str()) {
            continue;
        }
        let place = values.iter().position(|(name, value)| {
            *name == field.name && (field.kind != Kind::Box || *value == field.value)
        });
        match (field.kind, place) {
            (Kind::Hidden | Kind::Password, _) | (Kind::Text | Kind::Choice, None) => {}
            (Kind::Box, place) if field.is_ticked == place.is_some() => {}
            (Kind::Box, _) => {
                note(&format!("{} {} is ticked: {}", field.name, field.value, field.is_ticked))
            }
            (Kind::Text | Kind::Choice, Some(place)) => {
                let (_, value) = values.remove(place);
                if field.value != value {
                    let (is, was): (String, String) =
                        (field.value.chars().take(60).collect(), value.chars().take(60).collect());
                    note(&format!("{} is {is:?}, was {was:?}", field.name));
                }
            }
        }
    }
    missing
}

/// Fails unless everything that was sent is there again.
#[track_caller]
fn assert_there_again(form: &Form, sent: &[(String, String)], reply: &PageReply) {
    assert_eq!(missing(form, sent, reply), Vec::<String>::new(), "{}", reply.html);
}

/// The pages of a workspace in which everything is: its lists, and one of each thing.
async fn pages(app: &TestApp, ada: &Somebody) -> Vec<String> {
    let account = ada.user.connect("x").await;
    let single = Box::pin(looks::fill(app, ada)).await;
    let at = app.at(86_400);
    let new = json!({"account_id": account, "caption": "Soup", "scheduled_at": at});
    let scheduled = ada.user.publish(new).await["id"].to_string();
    let draft = json!({"account_id": account, "caption": "Draft", "status": "draft"});
    let draft = ada.user.publish(draft).await["id"].to_string();
    let other = ada.user.connect("bluesky").await;
    ada.user.connect("threads").await;
    let mut sets = Vec::new();
    for body in [
        json!({"caption": "Soup for two", "scheduled_at": app.at(86_400)}),
        json!({"caption": "Draft for two", "status": "draft"}),
    ] {
        let mut body = body;
        body["targets"] = json!([{"account_id": account}, {"account_id": other}]);
        let set = ada.user.post("/api/v1/post-sets", body).await.expect(201).body;
        sets.push(format!("/dashboard/sets/{}", set["post_set"]["id"].as_str().unwrap()));
    }
    let brand = app.brand(ada.home, &[]).await;
    let app_of_hers =
        json!({"client_name": "Tool", "allowed_redirect_uris": ["https://example.com/cb"]});
    let _ = ada.user.post("/api/v1/oauth/clients", app_of_hers).await.expect(201);
    let posts = [scheduled, draft].map(|id| format!("/dashboard/posts/{id}"));
    let single = single.into_iter().map(|(_, path)| path);
    PAGES
        .iter()
        .map(|path| (*path).to_owned())
        .chain(single)
        .chain(posts)
        .chain(sets)
        .chain([format!("/dashboard/brands/{brand}")])
        .collect()
}

/// The forms of these pages in which a person writes or chooses something, each once.
async fn forms(ada: &mut Somebody, pages: &[String]) -> Vec<Form> {
    let mut known = BTreeSet::new();
    let mut all = Vec::new();
    for page in pages {
        let html = ada.page(page).await.html;
        let forms = Form::of(&html).into_iter().filter(Form::takes_something);
        // The switch between workspaces takes one of those that it offers.
        let forms = forms.filter(|form| form.action != "/dashboard/workspace");
        all.extend(forms.filter(|form| known.insert(form.action.clone())));
    }
    all
}

/// Returns true for a form in which nothing is written.
fn only_chooses(form: &Form) -> bool {
    form.fields.iter().all(|field| field.kind != Kind::Text)
}

#[tokio::test]
async fn every_form_of_every_page_brings_back_what_was_sent_with_every_refusal() {
    let app = TestApp::start().await;
    let mut ada = Somebody::new(&app, "ada@example.com").await;
    let pages = pages(&app, &ada).await;
    let mut all = forms(&mut ada, &pages).await;
    // A team of hers, with a member, an invitation and brands.
    let team = app.workspace(ada.id).await;
    let bob = app.person("bob@example.org").await;
    users::set_member(&app.domain, team, bob, Role::Editor).await.unwrap();
    app.brand(team, &[]).await;
    ada.choose(team).await;
    let places = ["/dashboard/team", "/dashboard/settings"].map(str::to_owned);
    let of_team = forms(&mut ada, &places).await;
    all.extend(of_team.into_iter().filter(|form| {
        form.action.contains(&bob.to_string())
            || form.action.contains("invitations")
            || form.action.contains("delete-workspace")
    }));
    assert!(all.len() >= 25, "{:?}", all.iter().map(|form| &form.action).collect::<Vec<_>>());
    let mut lost = Vec::new();
    for form in &all {
        let is_of_team = form.fields.iter().any(|field| field.value == team.to_string());
        ada.choose(if is_of_team { team } else { ada.home }).await;
        // A token of another log-in.
        let mut forged = filled(form, typed);
        forged
            .iter_mut()
            .filter(|(name, _)| name == "csrf")
            .for_each(|(_, token)| *token = "guessed".to_owned());
        lost.extend(missing(form, &forged, &send(&mut ada, form, &forged).await));
        // More than any field takes.
        if !only_chooses(form) {
            let sent = filled(form, typed);
            let reply = send(&mut ada, form, &sent).await;
            lost.extend(missing(form, &sent, &reply));
        }
        // A form that is too large.
        let count = form.fields.iter().filter(|field| field.kind == Kind::Text).count();
        let times = (40 / count.max(1)).clamp(1, 7);
        let large = filled(form, |place| typed(place).repeat(times));
        if !form.is_draft && !only_chooses(form) {
            lost.extend(missing(form, &large, &send(&mut ada, form, &large).await));
        }
        // Another workspace was chosen in another tab.
        if is_of_team {
            ada.choose(ada.home).await;
            let sent = filled(form, |place| format!("Text {place}"));
            lost.extend(missing(form, &sent, &send(&mut ada, form, &sent).await));
        }
    }
    // A log-in of a while ago: the password is asked for.
    app.advance(Duration::from_secs(3_700));
    for (workspace, page) in [
        (team, "/dashboard/team"),
        (team, "/dashboard/settings"),
        (ada.home, "/dashboard/api"),
        (ada.home, "/dashboard/billing"),
    ] {
        ada.choose(workspace).await;
        let forms = forms(&mut ada, &[page.to_owned()]).await;
        let asks = |form: &&Form| {
            form.fields.iter().filter(|field| field.kind == Kind::Password).count() == 1
        };
        for form in forms.iter().filter(asks) {
            let mut sent = filled(form, |_| "somebody@example.net".to_owned());
            sent.push(("password".to_owned(), "not the password".to_owned()));
            let reply = send(&mut ada, form, &sent).await;
            lost.extend(missing(form, &sent, &reply));
            let shown = again(form, &reply);
            let marked = shown.iter().flat_map(|form| &form.fields).find(|field| field.is_wrong);
            if marked.is_none_or(|field| field.name != "password") {
                lost.push(format!("{}: the password is not marked", form.action));
            }
        }
    }
    assert!(lost.is_empty(), "{lost:#?}");
}

#[tokio::test]
async fn a_sign_up_that_is_refused_keeps_its_plan_and_marks_its_field() {
    let app = TestApp::start().await;
    let mut nobody = Visitor::nobody(&app);
    let page = nobody.get("/signup").await.expect(200);
    let form = Form::of(&page.html).into_iter().find(|form| form.action == "/signup").unwrap();
    let sent =
        filled(&form, |place| if place < 3 { typed(place) } else { "a@b.example".to_owned() });
    let fields: Vec<_> = sent.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
    let reply = nobody.send("/signup", &fields).await;
    assert_there_again(&form, &sent, &reply);
    let shown = again(&form, &reply).unwrap();
    assert!(shown.fields.iter().any(|field| field.name == "name" && field.is_wrong), "{shown:?}");
}

#[tokio::test]
async fn what_a_tool_was_not_given_stays_unticked_after_a_wrong_password() {
    let app = TestApp::start().await;
    let (_, mut ada) = Visitor::person(&app, "ada@example.com").await;
    app.advance(Duration::from_secs(3_700));
    let client = oauth::register(&app.origin).await;
    let page = oauth::authorize(&oauth::usual(&client));
    let shown = ada.get(&page).await.expect(200);
    let form = Form::of(&shown.html).into_iter().next().expect("a form");
    let mut sent = filled(&form, typed);
    let scopes = form.fields.iter().filter(|field| field.name == "scope").count();
    let given = sent.iter().filter(|(name, _)| name == "scope").count();
    assert!(given < scopes, "{form:?}");
    let place = form.fields.iter().find(|field| field.name == "workspace_id").unwrap();
    sent.retain(|(name, _)| name != "workspace_id");
    sent.push(("workspace_id".to_owned(), place.value.clone()));
    sent.push(("decision".to_owned(), "allow".to_owned()));
    sent.push(("password".to_owned(), "not the password".to_owned()));
    let fields: Vec<_> = sent.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
    let reply = ada.send(&form.action, &fields).await;
    assert_there_again(&form, &sent, &reply);
}
