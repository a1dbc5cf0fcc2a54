//! Refusals, row by row: RFC 6749 (OAuth 2.0), 7009 (revocation), 7591 (registration), 7636 (PKCE), 8252 (native apps),
//! 8707 (resources), 9207 (issuer), 9700 (best practice), and metadata documents of clients.

use fanfare_core::{UserId, WorkspaceId, access::Scope};
use fanfare_people::oauth_provider::{self, ConsentDecision, Parameters};
use fanfare_tests::{Options, TestApp, Visitor, served::FileServer};
use serde_json::{Value, json};
use url::Url;

use super::{
    REDIRECT, Said, VERIFIER, authorize, bearer, parameter, post_form, post_json, read, register,
    rows::{
        AUTHORIZE, DOCUMENTS, EXCHANGE,
        Edit::{self, Drop, Set, Twice},
        Fate::{Back, Page},
        REFRESH, REGISTER, REVOKE,
    },
    text, usual,
};

fn edited<'a>(good: &[(&'a str, &'a str)], edits: &[Edit]) -> Vec<(&'a str, &'a str)> {
    let mut fields = good.to_vec();
    for edit in edits {
        match *edit {
            Set(name, value) => {
                fields.retain(|(known, _)| *known != name);
                fields.push((name, value));
            }
            Twice(name) => {
                let value = fields.iter().find(|(known, _)| *known == name).map_or("x", |f| f.1);
                fields.push((name, value));
            }
            Drop(name) => fields.retain(|(known, _)| *known != name),
        }
    }
    fields
}

#[tokio::test]
async fn the_authorization_endpoint_refuses() {
    let scene = Scene::new().await;
    for (what, edits, fate) in AUTHORIZE {
        let good = usual(&scene.client);
        let base = scene.app.origin.as_str();
        let fields: Vec<_> = edited(&good, edits)
            .into_iter()
            .map(|(name, value)| (name, value.replace("{base}", base)))
            .collect();
        let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let said = scene.visitor.clone().get(&authorize(&fields)).await;
        match fate {
            Page => {
                assert_eq!((said.status, said.location.as_str()), (400, ""), "{what}");
                assert!(said.html.contains("This tool cannot be let in"), "{what}");
                assert!(!said.html.contains("<script"), "{what}");
            }
            Back(error) => {
                assert_eq!(said.status, 303, "{what}: {}", said.html);
                let back: Url = said.location.parse().unwrap();
                assert!(said.location.starts_with(REDIRECT), "{what}: {back}");
                assert_eq!(parameter(&back, "error"), *error, "{what}: {back}");
                // RFC 9207: errors name their issuer too.
                assert_eq!(parameter(&back, "iss"), scene.app.origin, "{what}");
                assert!(!parameter(&back, "error_description").is_empty(), "{what}");
                let state = back.query_pairs().find(|(name, _)| name == "state");
                let doubled = edits.iter().any(|edit| matches!(edit, Twice("state")));
                assert_eq!(state.is_none(), doubled, "{what}: {back}");
            }
        }
    }
    let long = "s".repeat(1_025);
    let mut fields = usual(&scene.client);
    fields[5].1 = &long;
    let said = scene.visitor.clone().get(&authorize(&fields)).await.expect(303);
    let back: Url = said.location.parse().unwrap();
    assert_eq!(parameter(&back, "error"), "invalid_request");
    assert!(!said.location.contains("sss"), "what is too long is not echoed");
    let endless = format!("{}&x={}", authorize(&usual(&scene.client)), "x".repeat(20_000));
    assert_eq!(scene.visitor.clone().get(&endless).await.status, 400);
}

#[tokio::test]
async fn the_token_endpoint_refuses_codes() {
    let scene = Scene::new().await;
    let base = scene.app.origin.clone();
    for (what, edits, status, error, is_spent) in EXCHANGE {
        let code = scene.code().await;
        let good = [
            ("grant_type", "authorization_code"),
            ("code", code.as_str()),
            ("client_id", scene.client.as_str()),
            ("redirect_uri", REDIRECT),
            ("code_verifier", VERIFIER),
        ];
        let said = scene.token(&good, edits).await;
        assert_eq!(said.status, *status, "{what}: {}", said.body);
        if *status == 401 {
            assert!(!said.header("www-authenticate").is_empty(), "{what}");
        }
        assert!(!said.body.to_string().contains(&code), "{what}");
        said.refused(*status, error);
        // A refusal spends a code only where it must.
        let after = post_form(&base, "/api/oauth/token", &good).await;
        assert_eq!(after.status == 400, *is_spent, "{what}: {}", after.body);
    }
}

#[tokio::test]
async fn the_token_endpoint_refuses_refreshes_and_they_spend_nothing() {
    let scene = Scene::new().await;
    let tokens = scene.tokens().await;
    let (refresh, access) = (text(&tokens, "refresh_token"), text(&tokens, "access_token"));
    let good = [
        ("grant_type", "refresh_token"),
        ("client_id", scene.client.as_str()),
        ("refresh_token", refresh),
    ];
    for (what, edits, status, error) in REFRESH {
        let said = scene.token_with(&good, edits, access).await;
        assert_eq!(said.status, *status, "{what}: {}", said.body);
        assert!(!said.body.to_string().contains(refresh), "{what}");
        said.refused(*status, error);
    }
    let _ = post_form(&scene.app.origin, "/api/oauth/token", &good).await.expect(200);
}

#[tokio::test]
async fn the_revocation_endpoint_refuses_and_wrong_bodies_are_no_forms() {
    let scene = Scene::new().await;
    let tokens = scene.tokens().await;
    let good = [("token", text(&tokens, "access_token")), ("client_id", scene.client.as_str())];
    for (what, edits, status, error) in REVOKE {
        let fields = edited(&good, edits);
        let said = post_form(&scene.app.origin, "/api/oauth/revoke", &fields).await;
        assert_eq!(said.status, *status, "{what}: {}", said.body);
        said.refused(*status, error);
    }
    let _ = bearer(&scene.app, &tokens).get("/api/v1/whoami").await.expect(200);
    let http = fanfare_tests::local_client();
    for path in ["/api/oauth/token", "/api/oauth/revoke"] {
        let url = format!("{}{path}", scene.app.origin);
        let json = http.post(&url).json(&json!({"grant_type": "refresh_token"}));
        read(json.send().await.unwrap()).await.refused(400, "invalid_request");
        let large = http.post(&url).form(&[("token", "x".repeat(70_000))]);
        read(large.send().await.unwrap()).await.refused(400, "invalid_request");
        let nothing = http.post(&url);
        read(nothing.send().await.unwrap()).await.refused(400, "invalid_request");
        let in_query =
            http.post(format!("{url}?client_id={}&token=x", scene.client)).form(&[("x", "1")]);
        read(in_query.send().await.unwrap()).await.refused(400, "invalid_request");
        for method in [reqwest::Method::GET, reqwest::Method::PUT, reqwest::Method::DELETE] {
            let sent = http.request(method, &url).send().await.unwrap();
            assert_eq!(
                (sent.status().as_u16(), sent.headers()["allow"].to_str().unwrap()),
                (405, "POST")
            );
        }
    }
}

#[tokio::test]
async fn registration_refuses() {
    let scene = Scene::new().await;
    let (http, url) =
        (fanfare_tests::local_client(), format!("{}/api/oauth/register", scene.app.origin));
    let send = async |kind: &str, body: String| {
        let request = http.post(&url).header("Content-Type", kind).body(body);
        read(request.send().await.unwrap()).await
    };
    for (what, body, error) in REGISTER {
        let said = send("application/json", (*body).to_owned()).await;
        assert_eq!(said.status, 400, "{what}: {}", said.body);
        said.refused(400, error);
    }
    let long = json!({"redirect_uris": ["https://a.b/cb"], "client_name": "x".repeat(101)});
    post_json(&scene.app.origin, "/api/oauth/register", &long)
        .await
        .refused(400, "invalid_client_metadata");
    let long = json!({"redirect_uris": [format!("https://a.b/{}", "x".repeat(2_000))]});
    post_json(&scene.app.origin, "/api/oauth/register", &long)
        .await
        .refused(400, "invalid_redirect_uri");
    let form = send("application/x-www-form-urlencoded", "redirect_uris=x".to_owned()).await;
    form.refused(400, "invalid_client_metadata");
    let huge = json!({"redirect_uris": ["https://a.b/cb"], "client_name": "x".repeat(70_000)});
    send("application/json", huge.to_string()).await.refused(400, "invalid_client_metadata");
}

#[tokio::test]
async fn documents_of_clients_are_refused() {
    let scene = Scene::new().await;
    for (what, document) in DOCUMENTS {
        let served = FileServer::templated("client.json", "application/json", document).await;
        scene.refuses_document(what, &served.url).await;
    }
    let large = format!(
        r#"{{"client_id": "{{url}}", "redirect_uris": ["{REDIRECT}"], "x": "{}"}}"#,
        "x".repeat(11_000)
    );
    let served = FileServer::templated("client.json", "application/json", &large).await;
    scene.refuses_document("too large", &served.url).await;
    let good = format!(r#"{{"client_id": "{{url}}", "redirect_uris": ["{REDIRECT}"]}}"#);
    let served = FileServer::templated("client.json", "application/json", &good).await;
    for (what, url) in [
        ("nothing there", "http://127.0.0.1:1/client.json".to_owned()),
        ("a fragment", format!("{}#x", served.url)),
        ("a user", served.url.replace("//", "//ada@")),
        ("a path that climbs", served.url.replace("/client", "/x/../client")),
        ("no path", served.url.replace("/client.json", "/")),
        ("too long", format!("{}?{}", served.url, "x".repeat(500))),
    ] {
        scene.refuses_document(what, &url).await;
    }
    let mut fields = usual(&served.url);
    fields.retain(|(name, _)| *name != "state");
    let shown = scene.visitor.clone().get(&authorize(&fields)).await.expect(200);
    assert!(shown.html.contains("Published at") && shown.html.contains(&served.url));
}

#[tokio::test]
async fn a_document_is_fetched_from_public_addresses_alone() {
    let app =
        TestApp::with(Options { workers: false, allow_private: false, ..Options::default() }).await;
    let (_, mut ada) = Visitor::person(&app, "ada@example.com").await;
    let good = format!(r#"{{"client_id": "{{url}}", "redirect_uris": ["{REDIRECT}"]}}"#);
    let served = FileServer::templated("client.json", "application/json", &good).await;
    for url in [served.url.clone(), served.url.replace("http:", "https:")] {
        let shown = ada.get(&authorize(&usual(&url))).await.expect(400);
        assert!(shown.html.contains("cannot be used"), "{url}: {}", shown.html);
    }
}

#[test]
fn there_are_many_rows() {
    let rows = AUTHORIZE.len()
        + EXCHANGE.len()
        + REFRESH.len()
        + REVOKE.len()
        + REGISTER.len()
        + DOCUMENTS.len();
    assert!(rows >= 150, "{rows}");
}

/// A client, and a person who lets it in.
struct Scene {
    app: TestApp,
    client: String,
    visitor: Visitor,
    person: UserId,
    workspace: WorkspaceId,
}

impl Scene {
    async fn new() -> Self {
        let app = TestApp::with(Options { workers: false, ..Options::default() }).await;
        let client = register(&app.origin).await;
        let (person, visitor) = Visitor::person(&app, "ada@example.com").await;
        let places = oauth_provider::consent_workspaces(&app.domain, person).await.unwrap();
        let workspace = places[0].id;
        Self { app, client, visitor, person, workspace }
    }

    /// A code, as the page gives one.
    async fn code(&self) -> String {
        let sent = usual(&self.client);
        let sent = sent.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let (cx, issuer) = (&self.app.domain, self.app.origin.as_str());
        let request = Parameters(sent.collect());
        let request = oauth_provider::read_request(cx, issuer, &request, "test").await.unwrap();
        let decision =
            ConsentDecision { scopes: Scope::ALL.to_vec(), workspace_id: self.workspace };
        let back =
            oauth_provider::allow(cx, issuer, &request, self.person, &decision).await.unwrap();
        parameter(&back.parse().unwrap(), "code")
    }

    async fn tokens(&self) -> Value {
        super::redeem(&self.app.origin, &self.client, &self.code().await).await.expect(200)
    }

    async fn token(&self, good: &[(&str, &str)], edits: &[Edit]) -> Said {
        self.token_with(good, edits, "").await
    }

    async fn token_with(&self, good: &[(&str, &str)], edits: &[Edit], access: &str) -> Said {
        let base = self.app.origin.as_str();
        let fields: Vec<_> = edited(good, edits)
            .into_iter()
            .map(|(name, value)| (name, value.replace("{base}", base).replace("{access}", access)))
            .collect();
        let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        post_form(base, "/api/oauth/token", &fields).await
    }

    async fn refuses_document(&self, what: &str, url: &str) {
        let said = self.visitor.clone().get(&authorize(&usual(url))).await;
        assert_eq!((said.status, said.location.as_str()), (400, ""), "{what}");
    }
}
