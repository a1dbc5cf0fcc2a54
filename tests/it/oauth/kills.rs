//! A process that is killed while a tool redeems a code or refreshes.

use fanfare_core::{db::Db, failpoint};
use fanfare_tests::{User, Visitor};
use sea_orm::ConnectionTrait;
use serde_json::{Value, json};

use super::{authorize, decide, parameter, redeem, refresh, register, text, usual};
use crate::{
    command_login::set_password,
    service::{Dir, Service, eventually},
};

/// A service that stops at a failpoint, with somebody who has let a tool in there.
struct Let {
    dir: Dir,
    service: Service,
    owner: Visitor,
    user: User,
    client: String,
}

impl Let {
    async fn start(place: &str) -> Self {
        let dir = Dir::new();
        let service = Service::start(&dir, true, &[("FANFARE_FAILPOINT", place)]);
        let (mut owner, user) = (Visitor::of(&service.origin), service.user());
        set_password(&mut owner, &service.origin).await;
        let client = register(&service.origin).await;
        Self { dir, service, owner, user, client }
    }

    async fn code(&mut self) -> String {
        parameter(&decide(&mut self.owner, &authorize(&usual(&self.client)), "allow").await, "code")
    }

    /// Kills the process where it stopped, and starts it at the same address. As the restart may take any time, a code lasts longer;
    /// what was used before was used `ago` ms earlier than it was.
    async fn kill(&mut self, ago: i64, variables: &[(&str, &str)]) {
        let service = &self.service;
        eventually("the failpoint is reached", || async {
            let said = service.logged().iter().any(|line| line.contains("stopped at a failpoint"));
            said.then_some(())
        })
        .await;
        let address = service.origin.trim_start_matches("http://").to_owned();
        // Its end is waited for; the address is free then.
        self.service.kill();
        let url = format!("sqlite://{}", self.dir.join("fanfare.db").display());
        let db = Db::open(&url, 1).await.unwrap();
        for sql in [
            "UPDATE oauth_codes SET expires_at = expires_at + 3600000".to_owned(),
            format!("UPDATE oauth_tokens SET used_at = used_at - {ago}"),
        ] {
            db.write.execute_unprepared(&sql).await.unwrap();
        }
        let Db { write, read } = db;
        write.close().await.unwrap();
        read.close().await.unwrap();
        let mut all = vec![("FANFARE_LISTEN", address.as_str())];
        all.extend(variables);
        self.service = Service::start(&self.dir, false, &all);
    }

    /// The tokens of this reply open the service.
    async fn opens(&self, tokens: &Value) -> bool {
        let tool = User::new(&self.service.origin, text(tokens, "access_token").to_owned());
        tool.get("/api/v1/whoami").await.status == 200
    }

    async fn grants(&self) -> usize {
        let listed = self.user.get("/api/v1/oauth/grants").await.expect(200).body;
        listed["grants"].as_array().unwrap().len()
    }
}

#[tokio::test]
async fn a_kill_while_a_code_is_redeemed_uses_it_at_most_once() {
    for place in failpoint::EXCHANGING {
        let mut at = Let::start(place).await;
        let code = at.code().await;
        let (origin, client, sent) = (at.service.origin.clone(), at.client.clone(), code.clone());
        let lost = tokio::spawn(async move { post_once(&origin, &client, &sent).await });
        at.kill(0, &[]).await;
        assert!(!lost.await.unwrap(), "{place}: nobody was answered");
        let again = redeem(&at.service.origin, &at.client, &code).await;
        let was_committed = ["tool_code_spent", "tool_code_answered"].contains(place);
        if was_committed {
            again.refused(400, "invalid_grant");
            assert!(at.grants().await <= 1, "{place}");
        } else {
            let tokens = again.expect(200);
            assert!(at.opens(&tokens).await, "{place}");
            assert_eq!(at.grants().await, 1, "{place}: a transaction that was cut left nothing");
        }
        // A client that got no answer asks anew, and gets its tokens.
        let code = at.code().await;
        let tokens = redeem(&at.service.origin, &at.client, &code).await.expect(200);
        assert!(at.opens(&tokens).await, "{place}");
    }
}

/// True if the request was answered.
async fn post_once(origin: &str, client: &str, code: &str) -> bool {
    let fields = [
        ("grant_type", "authorization_code"),
        ("code", code),
        ("client_id", client),
        ("redirect_uri", super::REDIRECT),
        ("code_verifier", super::VERIFIER),
    ];
    sent(origin, &fields).await
}

async fn sent(origin: &str, fields: &[(&str, &str)]) -> bool {
    let http = fanfare_tests::local_client();
    http.post(format!("{origin}/api/oauth/token")).form(fields).send().await.is_ok()
}

#[tokio::test]
async fn a_kill_while_a_token_is_refreshed_loses_no_grant() {
    for place in failpoint::REFRESHING {
        let mut at = Let::start(place).await;
        let code = at.code().await;
        let first = redeem(&at.service.origin, &at.client, &code).await.expect(200);
        let (origin, client) = (at.service.origin.clone(), at.client.clone());
        let token = text(&first, "refresh_token").to_owned();
        let lost = tokio::spawn(async move {
            let fields = [
                ("grant_type", "refresh_token"),
                ("client_id", client.as_str()),
                ("refresh_token", token.as_str()),
            ];
            sent(&origin, &fields).await
        });
        // A reply that was on its way looks to the service like one that came: that is what the grace is for.
        let (ago, grace) = if *place == "refresh_answered" { (0, "60s") } else { (61_000, "0s") };
        at.kill(ago, &[("FANFARE_OAUTH_GRACE", grace)]).await;
        assert!(!lost.await.unwrap(), "{place}: nobody was answered");
        assert!(at.opens(&first).await, "{place}");
        let token = text(&first, "refresh_token");
        let next = refresh(&at.service.origin, &at.client, token).await.expect(200);
        assert!(at.opens(&next).await, "{place}");
        assert_eq!(at.grants().await, 1, "{place}");
        let token = text(&next, "refresh_token");
        let last = refresh(&at.service.origin, &at.client, token).await.expect(200);
        assert!(at.opens(&last).await, "{place}");
        // From now on the first one is a stolen one, but for the rest of the grace.
        if grace != "0s" {
            continue;
        }
        let stolen = text(&first, "refresh_token");
        refresh(&at.service.origin, &at.client, stolen).await.refused(400, "invalid_grant");
        assert!(!at.opens(&last).await, "{place}");
        assert_eq!(json!(at.grants().await), json!(0), "{place}");
    }
}
