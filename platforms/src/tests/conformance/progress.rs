//! Stored progress that cannot be read: something may be public already, so nothing is sent.

use serde_json::{Value, json};

use super::draft;
use crate::{
    Draft, ErrorKind, Platform, PlatformId, Secrets, Session, all,
    tests::test_server::{self, Network},
};

/// A session that has all that any connector asks for before it calls its network.
pub fn session(network: &Network, platform: PlatformId) -> Session {
    let base = network.base();
    let webhook = format!("{base}/api/webhooks/11/token");
    let pairs = [
        ("access_jwt", "jwt"),
        ("access_token", "token"),
        ("api_key", "key"),
        ("app_password", "password"),
        ("application_password", "password"),
        ("bot_token", "123456:abcdefghijklmnopqrstuvwxyz"),
        ("channel_id", "C0123456789"),
        ("chat_id", "-1001234"),
        ("identifier", "name"),
        ("instance_url", base),
        ("jwt", "jwt"),
        ("location", "accounts/1/locations/2"),
        ("password", "password"),
        ("personal_access_token", "token"),
        ("publication_id", "650b01dbd3bd5e7ab2b2ab10"),
        ("refresh_jwt", "jwt"),
        ("refresh_token", "token"),
        ("service", base),
        ("site_url", base),
        ("username", "name"),
        ("webhook_url", webhook.as_str()),
    ];
    let secrets = Secrets::from_pairs(pairs.map(|(name, value)| (name.into(), value.into())));
    let remote_id = match platform {
        PlatformId::GoogleBusiness => "accounts/1/locations/2",
        PlatformId::Linkedin => "urn:li:person:a",
        PlatformId::Telegram => "-1001234",
        _ => "55",
    };
    let meta = json!({
        "bot_username": "bot", "channel_id": "C0123456789", "guild_id": "77", "instance_url": base,
        "location": "accounts/1/locations/2", "name": "name", "pds": base,
        "publication_id": "650b01dbd3bd5e7ab2b2ab10", "site_url": base, "url": base,
    });
    network.session(test_server::account(remote_id, meta), secrets)
}

/// The posts that together show every way of a connector.
pub fn drafts(platform: &'static dyn Platform) -> impl Iterator<Item = Draft> {
    platform.spec().examples.iter().map(|example| draft(platform, example))
}

#[tokio::test]
async fn progress_that_cannot_be_read_is_an_error_and_nothing_is_sent() {
    for platform in all() {
        let id = platform.spec().id;
        let network = Network::start(|_| (500, json!({}))).await;
        let session = session(&network, id);
        for draft in drafts(*platform) {
            for state in [
                json!("unreadable"),
                json!({"step": 12}),
                json!(7),
                json!([{"published": true}]),
                json!({"published": {"id": 1}, "stage": "nowhere"}),
            ] {
                let told = format!("{id}, {:?} with {state}", draft.caption);
                let error = platform.publish(&session, &draft, Some(state)).await.err();
                let kind = error.map(|error| error.kind);
                assert_eq!(kind, Some(ErrorKind::Defect), "{told}");
                assert_eq!(network.lines(), Vec::<String>::new(), "{told}");
            }
        }
        // Without anything stored the same session does send.
        let first = drafts(*platform).next().expect("an example");
        let mut state: Option<Value> = None;
        for _ in 0..3 {
            match platform.publish(&session, &first, state.take()).await {
                Ok(crate::Progress::Continue { state: next, .. }) => state = Some(next),
                _ => break,
            }
        }
        assert!(!network.seen().is_empty(), "{id} has sent nothing");
    }
}
