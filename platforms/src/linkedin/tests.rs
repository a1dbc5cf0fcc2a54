//! Posts against a network on loopback: texts, files, what is told of a lost answer, and the table of errors.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    Linkedin,
    error::parse_error,
    little_text::{commentary, sent_length},
    state::Organization,
};
use crate::{
    Draft, ErrorKind, Media, Platform, Progress, PublishedPost, ReconcileOutcome, Secrets, Session,
    analytics::{CallBudget, FetchContext, Metrics, MissingReason, PostRef},
    tests::test_server::{self, Network, Seen},
    validate::validate,
};

const MEMBER: &str = "urn:li:person:AbC";
const PAGE: &str = "urn:li:organization:77";

fn session(network: &Network, author: &str) -> Session {
    let secrets = Secrets::new().with("access_token", "AQtoken").with("refresh_token", "AQrefresh");
    network.session(test_server::account(author, json!({})), secrets)
}

/// A LinkedIn that takes everything.
fn willing(base: &str, seen: &Seen) -> (u16, Value) {
    let place = |part: &str| format!("{base}/upload/{part}");
    let is = |part: &str| seen.line.ends_with(part);
    match () {
        () if is("/rest/images") => {
            (200, json!({"value": {"uploadUrl": place("i"), "image": "urn:li:image:1"}}))
        }
        () if is("/rest/documents") => {
            (200, json!({"value": {"uploadUrl": place("d"), "document": "urn:li:document:1"}}))
        }
        () if is("/rest/videos") && seen.query("action") == Some("initializeUpload") => (
            200,
            json!({"value": {
            "video": "urn:li:video:1", "uploadToken": "tok", "thumbnailUploadUrl": null,
            "uploadInstructions": [
                {"uploadUrl": place("0"), "firstByte": 0, "lastByte": 3},
                {"uploadUrl": place("1"), "firstByte": 4, "lastByte": 7},
            ]}}),
        ),
        () if is("/rest/posts") && seen.line.starts_with("POST") => {
            (422, json!({"status": 422, "message": "no id here"}))
        }
        () => (200, json!({"status": "AVAILABLE"})),
    }
}

async fn network() -> Network {
    // The answers name the network's own address, which is known once it listens.
    let base = std::sync::Arc::new(std::sync::OnceLock::<String>::new());
    let known = base.clone();
    let network = Network::start(move |seen| willing(known.get().unwrap(), seen)).await;
    base.set(network.base().to_owned()).unwrap();
    network
}

/// Walks to the call that would make the post public; returns the steps and the state before that call.
async fn prepare(session: &Session, draft: &Draft) -> (Vec<String>, Option<Value>) {
    let (mut state, mut steps) = (None, Vec::new());
    loop {
        assert!(steps.len() < 30, "{steps:?}");
        let step = Linkedin.step(draft, state.as_ref());
        steps.push(step.name);
        if step.phase == crate::Phase::Commit {
            return (steps, state);
        }
        match Linkedin.publish(session, draft, state).await.unwrap() {
            Progress::Continue { state: next, .. } => state = Some(next),
            Progress::Done(published) => panic!("{published:?}"),
        }
    }
}

fn file(mime: &str) -> Media {
    test_server::media("film.mp4", mime)
}

#[test]
fn captions_are_escaped_where_they_are_no_elements() {
    let acme = Organization { name: "Acme Corp".into(), urn: "urn:li:organization:1".into() };
    let mentions = BTreeMap::from([("Acme".to_owned(), acme)]);
    for (caption, sent, counted) in [
        ("plain", "plain", 5),
        ("a (b) [c] {d} <e>", r"a \(b\) \[c\] \{d\} \<e\>", 25),
        (r"x|y~z*_ \", r"x\|y\~z\*\_ \\", 14),
        ("#tag a#b # c", r"#tag a\#b \# c", 14),
        ("mail@home and @Acme!", r"mail\@home and @[Acme Corp](urn:li:organization:1)!", 22),
        ("hi @[Max M](urn:li:person:1-x)", "hi @[Max M](urn:li:person:1-x)", 30),
        ("@[no](urn:li:share:1)", r"\@\[no\]\(urn:li:share:1\)", 26),
        (r"{hashtag|\#|go}", r"{hashtag|\#|go}", 15),
        ("@[", r"\@\[", 4),
    ] {
        assert_eq!(commentary(caption, &mentions), sent);
        assert_eq!(sent_length(caption), counted, "{caption}");
    }
}

#[tokio::test]
async fn a_text_is_one_call_and_its_body_says_everything() {
    let network = network().await;
    let settings = json!({"poll": {"question": "Tea?", "options": ["Yes", "No"]}});
    let draft = test_server::draft("Hello (you)", settings);
    let session = session(&network, MEMBER);
    let (steps, state) = prepare(&session, &draft).await;
    assert_eq!(steps, ["create_post"]);
    Linkedin.publish(&session, &draft, state).await.unwrap_err();
    let seen = network.seen();
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].line, "POST /net/rest/posts");
    assert!(
        seen[0].head.contains("linkedin-version: 2026") && seen[0].head.contains("bearer aqtoken")
    );
    let body = seen[0].json();
    assert_eq!(body["author"], MEMBER);
    assert_eq!(body["commentary"], r"Hello \(you\)");
    assert_eq!(body["lifecycleState"], "PUBLISHED");
    assert_eq!(
        body["content"]["poll"],
        json!({"question": "Tea?", "options": [{"text": "Yes"}, {"text": "No"}], "settings": {"duration": "THREE_DAYS"}})
    );
}

#[tokio::test]
async fn a_video_goes_up_in_the_parts_that_linkedin_asks_for() {
    let network = network().await;
    let session = session(&network, MEMBER);
    let mut draft = test_server::draft("film", json!({"title": "The film"}));
    draft.media = vec![file("video/mp4")];
    let (steps, state) = prepare(&session, &draft).await;
    assert_eq!(
        steps,
        [
            "register_video_1",
            "upload_video_1_part_1",
            "upload_video_1_part_2",
            "finish_video_1",
            "wait_for_files",
            "create_post"
        ]
    );
    Linkedin.publish(&session, &draft, state).await.unwrap_err();
    let seen = network.seen();
    let puts: Vec<_> = seen.iter().filter(|one| one.line.starts_with("PUT")).collect();
    assert_eq!(puts.iter().map(|one| one.text()).collect::<Vec<_>>(), ["film", ".mp4"]);
    let finish = seen.iter().find(|one| one.query("action") == Some("finalizeUpload")).unwrap();
    assert_eq!(finish.json()["finalizeUploadRequest"]["uploadToken"], "tok");
    let media = seen.last().unwrap().json()["content"]["media"].clone();
    assert_eq!(media, json!({"id": "urn:li:video:1", "title": "The film"}));
}

#[tokio::test]
async fn images_and_documents_are_sent_whole_and_a_members_are_not_asked_after() {
    let network = network().await;
    let member = session(&network, MEMBER);
    let mut draft = test_server::draft("two", json!({"media_alt_texts": ["A cat"]}));
    draft.media = vec![file("image/png"), file("image/png")];
    let (steps, state) = prepare(&member, &draft).await;
    assert_eq!(steps.iter().filter(|step| step.starts_with("upload")).count(), 2);
    Linkedin.publish(&member, &draft, state).await.unwrap_err();
    assert!(network.lines().iter().all(|line| !line.starts_with("GET")), "{:?}", network.lines());
    let images = network.seen().last().unwrap().json()["content"]["multiImage"]["images"].clone();
    assert_eq!(images[0], json!({"id": "urn:li:image:1", "altText": "A cat"}));
    assert_eq!(images[1], json!({"id": "urn:li:image:1"}));

    let page = session(&network, PAGE);
    let mut draft = test_server::draft("", json!({"filename": "Report 2026.pdf"}));
    draft.post_type = "document".to_owned();
    draft.media = vec![file("application/pdf")];
    let (_, state) = prepare(&page, &draft).await;
    assert!(network.lines().iter().any(|line| line.starts_with("GET")));
    Linkedin.publish(&page, &draft, state).await.unwrap_err();
    let media = network.seen().last().unwrap().json()["content"]["media"].clone();
    assert_eq!(media, json!({"id": "urn:li:document:1", "title": "Report 2026"}));
}

/// A URN whose number holds this time.
fn urn_at(seconds: i64) -> String {
    format!("urn:li:share:{}", (test_server::at(seconds).timestamp_millis() << 22) | 5)
}

#[tokio::test]
async fn a_duplicate_is_a_refusal_whatever_linkedin_names() {
    let message = format!("Content is a duplicate of {}", urn_at(5));
    let network = Network::start(move |_| (422, json!({"status": 422, "message": message}))).await;
    let session = session(&network, MEMBER);
    let draft = test_server::draft("again", json!({}));
    let (_, state) = prepare(&session, &draft).await;
    let error = Linkedin.publish(&session, &draft, state).await.unwrap_err();
    assert_eq!((error.kind, error.earlier), (ErrorKind::Duplicate, Some(urn_at(5))));
}

#[tokio::test]
async fn a_page_is_looked_through_for_a_lost_post_and_a_member_is_not() {
    let listed = json!({"elements": [
        {"id": "urn:li:share:1", "commentary": "other", "createdAt": test_server::at(1).timestamp_millis()},
        {"id": "urn:li:share:2", "commentary": r"Hello \(you\)", "createdAt": test_server::at(-9_000).timestamp_millis()},
        {"id": "urn:li:share:3", "commentary": r"Hello \(you\)", "createdAt": test_server::at(2).timestamp_millis()},
    ]});
    let network = Network::start(move |seen| match seen.query("start") {
        Some("0") => (200, listed.clone()),
        _ => (200, json!({"elements": []})),
    })
    .await;
    let draft = test_server::draft("Hello (you)", json!({}));
    let page = session(&network, PAGE);
    let found = Linkedin.reconcile(&page, &draft, None, test_server::at(0)).await.unwrap();
    let found = test_server::settled(found);
    assert!(
        matches!(found, ReconcileOutcome::Committed(Progress::Done(PublishedPost { ref id, .. })) if id == "urn:li:share:3")
    );
    let other = test_server::draft("Never sent", json!({}));
    let found = Linkedin.reconcile(&page, &other, None, test_server::at(0)).await.unwrap();
    assert!(matches!(test_server::settled(found), ReconcileOutcome::NotCommitted));
    let member = session(&network, MEMBER);
    let found = Linkedin.reconcile(&member, &draft, None, test_server::at(0)).await.unwrap();
    assert!(matches!(found, ReconcileOutcome::Unknown));
    assert_eq!(Linkedin.recovery_class(&page.account, &draft).as_str(), "search");
    assert_eq!(Linkedin.recovery_class(&member.account, &draft).as_str(), "blind");
}

fn acl(role: &str, organization: &str) -> Value {
    json!({"role": role, "organization": organization, "roleAssignee": MEMBER, "state": "APPROVED"})
}

#[tokio::test]
async fn a_page_whose_name_may_not_be_read_can_be_connected() {
    let network = Network::start(|seen| match seen.line.rsplit('/').next().unwrap() {
        "userinfo" => (200, json!({"sub": "AbC", "name": "Ann Lee"})),
        "organizationAcls" => (200, json!({"elements": [acl("CONTENT_ADMINISTRATOR", PAGE)]})),
        _ => (403, json!({"status": 403, "code": "ACCESS_DENIED"})),
    })
    .await;
    let found = Linkedin.identities(&session(&network, "")).await.unwrap();
    assert_eq!((found[1].remote_id.as_str(), found[1].username.as_str()), (PAGE, PAGE));
}

#[tokio::test]
async fn the_address_of_a_members_page_is_read_with_the_permission_for_it_alone() {
    let network = Network::start(|seen| match seen.line.rsplit('/').next().unwrap() {
        "userinfo" => (200, json!({"sub": "AbC", "name": "Ann Lee"})),
        _ => (200, json!({"id": "AbC", "vanityName": "ann-lee"})),
    })
    .await;
    for (granted, name, calls) in [
        ("openid,profile,w_member_social", "Ann Lee", 1),
        ("openid,profile,r_basicprofile", "ann-lee", 2),
    ] {
        let session = session(&network, MEMBER);
        let secrets = session.secrets.clone().with("scope", granted);
        let before = network.lines().len();
        let member = Linkedin.verify(&Session { secrets, ..session }).await.unwrap();
        assert_eq!((member.username.as_str(), network.lines().len() - before), (name, calls));
    }
}

/// A budget without end.
struct Free;

#[async_trait::async_trait]
impl CallBudget for Free {
    async fn acquire(&self) -> crate::Result<()> {
        Ok(())
    }
}

/// Reads the numbers of a member's post with this token; returns them and the permissions that were missed.
async fn member_numbers(network: &Network, granted: &str) -> (Metrics, Vec<String>) {
    let session = session(network, MEMBER);
    let secrets = session.secrets.clone().with("scope", granted);
    let session = Session { secrets, ..session };
    let skipped = std::collections::BTreeSet::new();
    let reading = FetchContext::new(&session, &Free, &skipped);
    let post = PostRef {
        id: "urn:li:share:1".to_owned(),
        post_type: "feed".to_owned(),
        format: "text".to_owned(),
        url: None,
    };
    let read = Linkedin.analytics().unwrap().posts(&reading, &[post]).await.unwrap();
    let missing = reading.findings().missing_permissions.into_iter().collect();
    (read.into_iter().next().unwrap().unwrap(), missing)
}

#[tokio::test]
async fn a_members_numbers_are_read_where_linkedin_approved_it() {
    // Both forms in which the answer names its metric.
    let network = Network::start(|seen| {
        let asked = seen.query("queryType").unwrap();
        let named = match asked {
            "POST_SAVE" => json!({"com.linkedin.adsexternalapi.memberanalytics.v1.CreatorPostAnalyticsMetricTypeV1": asked}),
            _ => json!(asked),
        };
        let count = i64::try_from(asked.len()).unwrap();
        (200, json!({"elements": [{"count": count, "metricType": named, "targetEntity": {"share": "urn:li:share:1"}}]}))
    })
    .await;
    let (read, missing) = member_numbers(&network, "r_member_postAnalytics,w_member_social").await;
    assert_eq!((read["saves"], read["clicks"]), (Ok(9), Ok(11)), "POST_SAVE and LINK_CLICKS");
    assert_eq!((read["reach"], missing.len()), (Ok(15), 0), "MEMBERS_REACHED");
    // Without it nothing is asked, and nothing is named that to connect again would not give.
    let before = network.lines().len();
    let (read, missing) = member_numbers(&network, "openid,profile,w_member_social").await;
    assert_eq!((read["likes"], missing.len()), (Err(MissingReason::Permission), 0));
    assert_eq!(network.lines().len(), before);
}

#[tokio::test]
async fn a_token_reaches_the_member_and_its_pages() {
    let network = Network::start(|seen| match seen.line.rsplit('/').next().unwrap() {
        "userinfo" => (200, json!({"sub": "AbC", "name": "Ann Lee"})),
        "organizationAcls" => (
            200,
            json!({"elements": [
                acl("ADMINISTRATOR", PAGE),
                acl("CONTENT_ADMINISTRATOR", PAGE),
                acl("ANALYST", "urn:li:organization:8"),
            ]}),
        ),
        "organizations" => {
            assert_eq!(seen.query("ids"), Some("List(77)"));
            let named = json!({"id": 77, "localizedName": "Acme", "vanityName": "acme"});
            (200, json!({"results": {"77": named}, "statuses": {"77": 200}, "errors": {}}))
        }
        other => panic!("{other} has ended, or is not for new apps"),
    })
    .await;
    let session = session(&network, "");
    let found = Linkedin.identities(&session).await.unwrap();
    let versioned = network.seen().into_iter().filter(|seen| seen.line.contains("/rest/"));
    assert!(versioned.clone().all(|seen| seen.head.contains("linkedin-version: 202608")));
    assert_eq!(versioned.count(), 2);
    let names: Vec<_> =
        found.iter().map(|one| (one.remote_id.as_str(), one.username.as_str())).collect();
    assert_eq!(names, [(MEMBER, "Ann Lee"), (PAGE, "acme")]);
    let page = Session { secrets: found[1].secrets.clone(), ..session };
    assert_eq!(Linkedin.verify(&page).await.unwrap().remote_id, PAGE);
}

#[test]
fn errors_say_what_to_do() {
    let client = fanfare_outbound::Client::new(fanfare_outbound::Policy::default()).unwrap();
    let session = Session {
        http: client,
        base: None,
        simulated: false,
        account: test_server::account(MEMBER, json!({})),
        secrets: Secrets::new().with("access_token", "AQtoken"),
        app: None,
        picture_shrinker: None,
        usage: crate::UsageTracker::default(),
        video_service: crate::VideoService::default(),
        now: test_server::at(0),
    };
    for (status, body, kind) in [
        (401, json!({"serviceErrorCode": 65602}), ErrorKind::TokenExpired),
        (401, json!({"serviceErrorCode": 65601}), ErrorKind::Reconnect),
        (401, json!({"serviceErrorCode": 65600}), ErrorKind::Reconnect),
        (403, json!({"message": "This resource is forbidden"}), ErrorKind::Transient),
        (403, json!({"code": "ACCESS_DENIED"}), ErrorKind::PermissionMissing),
        (409, json!({}), ErrorKind::Transient),
        (422, json!({"message": "Content is a duplicate of urn:li:share:1"}), ErrorKind::Duplicate),
        (422, json!({"code": "FIELD_LENGTH_TOO_LONG"}), ErrorKind::Rejected),
        (426, json!({"code": "NONEXISTENT_VERSION"}), ErrorKind::Misconfigured),
        (429, json!({"message": "throttle limit"}), ErrorKind::RateLimited),
        (429, json!({"message": "MEMBER DAY limit"}), ErrorKind::QuotaExhausted),
        (502, json!({}), ErrorKind::Server),
    ] {
        let error = parse_error(&session, &test_server::reply(status, &[], &body));
        assert_eq!(error.kind, kind, "{status} {body}");
        assert_eq!(error.retry_after.is_some(), status == 429, "{status} {body}");
    }
    let echo = json!({"message": "bad token AQtoken"});
    let told = format!("{:?}", parse_error(&session, &test_server::reply(400, &[], &echo)));
    assert!(!told.contains("AQtoken"), "{told}");
    let ugc = json!({"message": "Duplicate post is detected: urn:li:ugcPost:99."});
    let error = parse_error(&session, &test_server::reply(422, &[], &ugc));
    assert_eq!(error.earlier.as_deref(), Some("urn:li:ugcPost:99"));
}

fn broken(draft: &Draft) -> Vec<(String, &'static str)> {
    let found = validate(&Linkedin, &crate::Account::default(), draft);
    found.into_iter().map(|one| (one.field, one.code)).collect()
}

#[test]
fn what_does_not_go_together_is_told() {
    let poll = json!({"poll": {"question": "Tea?", "options": ["Yes", "No"]}});
    let mut beside = test_server::draft("", poll.clone());
    assert_eq!(broken(&beside), []);
    beside.media = vec![file("image/png")];
    assert_eq!(broken(&beside), [("settings.poll".to_owned(), "setting_invalid")]);
    let button = test_server::draft("a", json!({"content_call_to_action_label": "JOIN"}));
    assert_eq!(broken(&button), [("settings.content_landing_page".to_owned(), "setting_required")]);
    let still = test_server::draft("a", json!({"thumbnail_url": "https://example.org/a.png"}));
    assert_eq!(broken(&still), [("settings.thumbnail_url".to_owned(), "setting_invalid")]);
    let both =
        json!({"mentions": [{"name": "A", "urn": "urn:li:organization:1", "vanity_name": "a"}]});
    let both = test_server::draft("@A", both);
    assert_eq!(broken(&both), [("settings.mentions[0]".to_owned(), "setting_invalid")]);
    let mut large = test_server::draft("a", json!({}));
    large.media = vec![Media { dimensions: Some((8_000, 8_000)), ..file("image/png") }];
    assert_eq!(broken(&large), [("media_urls[0]".to_owned(), "media_too_large")]);
}

#[test]
fn a_document_is_a_post_of_its_own() {
    let mut draft = test_server::draft("a", json!({}));
    draft.media = vec![file("application/pdf")];
    assert_eq!(broken(&draft), [("media_urls[0]".to_owned(), "media_type_unsupported")]);
    draft.post_type = "document".to_owned();
    assert_eq!(broken(&draft), []);
    draft.media[0].bytes = Some(super::DOCUMENT_BYTES_MAX + 1);
    assert_eq!(broken(&draft), [("media_urls[0]".to_owned(), "media_too_large")]);
    draft.media = vec![file("image/png")];
    assert_eq!(broken(&draft), [("media_urls[0]".to_owned(), "media_type_unsupported")]);
    draft.media = Vec::new();
    assert_eq!(broken(&draft), [("media_urls".to_owned(), "media_required")]);
}

#[tokio::test]
async fn a_file_that_is_not_found_is_waited_for_and_then_uploaded_anew() {
    let network =
        Network::start(|_| (404, json!({"status": 404, "code": "NOT_FOUND", "message": "gone"})))
            .await;
    let mut session = session(&network, PAGE);
    let mut draft = test_server::draft("Look", json!({}));
    draft.media = vec![file("image/jpeg")];
    let waiting = json!({"files": ["urn:li:image:1"]});
    let Progress::Continue { state, after, .. } =
        Linkedin.publish(&session, &draft, Some(waiting)).await.unwrap()
    else {
        panic!("it goes on");
    };
    assert!(after > std::time::Duration::ZERO);
    assert_eq!(Linkedin.step(&draft, Some(&state)).name, "wait_for_files");
    session.now += chrono::TimeDelta::minutes(2);
    let Progress::Continue { mut state, .. } =
        Linkedin.publish(&session, &draft, Some(state)).await.unwrap()
    else {
        panic!("it goes on");
    };
    assert_eq!(Linkedin.step(&draft, Some(&state)).name, "register_image_1");
    // Not for ever.
    state["files"] = json!(["urn:li:image:2"]);
    state["restarts"] = json!(2);
    state["waiting_since"] = json!(test_server::at(-600));
    let error = Linkedin.publish(&session, &draft, Some(state)).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Transient);
}
