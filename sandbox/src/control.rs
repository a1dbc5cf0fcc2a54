//! The control API: accounts, their posts, their calls, their faults. It requires the simulator's secret; `?realm=`
//! selects one workspace's networks, by default all are used.

use std::sync::Arc;

use salvo::http::{Method, Request};
use secrecy::ExposeSecret;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use subtle::ConstantTimeEq;

use crate::any_network::AnyNetwork;
use crate::behaviour::Behaviour;
use crate::call::Call;
use crate::env::{Settings, rfc3339};
use crate::faults::Fault;
use crate::mailbox::{ItemChanges, NewItem};
use crate::metrics;
use crate::native_post::NativePost;
use crate::realms::{self, SHARED};
use crate::reply::{HandlerResult, Reply};
use crate::root_handler::RequestAccess;
use crate::sim::CreateError;
use crate::{Sandbox, page, video_control};

/// The first segment of its paths.
pub(crate) const NAME: &str = "_control";
/// The largest control request, in bytes.
const BODY_MAX: usize = 1 << 20;
/// The most seconds that a realm's clock may be ahead: ten years.
const AHEAD_MAX: i64 = 10 * 365 * 86_400;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct NewAccount {
    username: Option<String>,
    /// Accounts of which the one with this name is made usable again, in place of a new one.
    #[serde(default)]
    revive: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewFaults {
    remote_id: String,
    faults: Vec<Fault>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewBehaviour {
    remote_id: String,
    behaviour: Behaviour,
}

#[derive(Deserialize)]
struct NewMetrics {
    remote_id: String,
    #[serde(flatten)]
    change: metrics::Change,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewPost {
    remote_id: String,
    text: String,
    created_ms: Option<i64>,
    post_type: Option<String>,
    #[serde(default)]
    media_urls: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewDecisions {
    remote_id: String,
    #[serde(default)]
    reply: Option<String>,
    #[serde(default)]
    video_days: Option<i64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewClock {
    ahead_seconds: i64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewRedirect {
    redirect_uri: String,
}

/// Answers `/_control/{path}`, if the caller has the secret.
pub(crate) async fn serve(
    sandbox: &Sandbox,
    req: &mut Request,
    path: &str,
    reach: RequestAccess,
) -> Reply {
    if !reach.programs {
        return page::no_such_page();
    }
    let call = match Call::read(req, path.to_owned(), BODY_MAX).await {
        Ok(call) if is_authorized(sandbox, &call) => call,
        Ok(_) => {
            return refused(
                401,
                "unauthorized",
                "the simulator's secret is asked for as a bearer token",
            );
        }
        Err(_) => return refused(400, "unreadable", "the request cannot be read"),
    };
    let reply = answer(sandbox, &call).unwrap_or_else(|refusal| refusal);
    match sandbox.env.journal.synced().await {
        Ok(()) => reply,
        Err(_) => refused(500, "not_written", "the change could not be written to the disk"),
    }
}

fn is_authorized(sandbox: &Sandbox, call: &Call) -> bool {
    let secret = sandbox.secret.expose_secret().as_bytes();
    call.bearer().is_some_and(|given| bool::from(given.as_bytes().ct_eq(secret)))
}

fn answer(sandbox: &Sandbox, call: &Call) -> HandlerResult {
    let env = &sandbox.env;
    let segments = call.segments();
    match (call.method.clone(), segments.as_slice()) {
        (Method::GET, ["settings"]) => Ok(Reply::ok(&env.settings())),
        (Method::PUT, ["settings"]) => {
            env.change_settings(&body::<Settings>(call)?);
            Ok(Reply::ok(&env.settings()))
        }
        (Method::GET, ["clock"]) => Ok(clock(sandbox, &realm(call)?)),
        (Method::PUT, ["clock"]) => {
            let (realm, new): (_, NewClock) = (realm(call)?, body(call)?);
            if !(0..=AHEAD_MAX).contains(&new.ahead_seconds) {
                let why = format!("it is 0 to {AHEAD_MAX}");
                return Err(invalid_field("invalid_clock", "ahead_seconds", &why));
            }
            env.set_ahead(&realm, new.ahead_seconds * 1_000);
            Ok(clock(sandbox, &realm))
        }
        (Method::POST, ["redirects"]) => {
            let new: NewRedirect = body(call)?;
            env.allow_redirect(&new.redirect_uri);
            Ok(Reply::ok(&json!({"redirect_uri": new.redirect_uri})))
        }
        (Method::GET, ["platforms"]) => Ok(Reply::ok(&json!({"platforms": realms::names()}))),
        (method, [platform, rest @ ..]) => network_route(sandbox, platform, &method, rest, call),
        _ => Err(no_route()),
    }
}

/// Returns the realm that a call names, or the shared one.
fn realm(call: &Call) -> Result<String, Reply> {
    let realm = call.query_value("realm").unwrap_or_else(|| SHARED.to_owned());
    if realms::is_name(&realm) {
        return Ok(realm);
    }
    let why = "a realm's name has 1 to 64 small letters, digits and hyphens";
    Err(invalid_field("invalid_realm", "realm", why))
}

/// Returns the clock of a realm.
fn clock(sandbox: &Sandbox, realm: &str) -> Reply {
    let ahead_ms = sandbox.env.ahead_ms(realm);
    let now = rfc3339(sandbox.env.now_ms() + ahead_ms);
    Reply::ok(&json!({"ahead_seconds": ahead_ms / 1_000, "now": now}))
}

/// Returns the networks of this name: of the realm that a call names, or of every realm.
fn selected_networks(sandbox: &Sandbox, platform: &str, call: &Call) -> Vec<Arc<dyn AnyNetwork>> {
    match call.query_value("realm") {
        Some(realm) => sandbox.realms.find(&realm, platform).into_iter().collect(),
        None => sandbox.realms.in_all_realms(platform),
    }
}

fn network_route(
    sandbox: &Sandbox,
    platform: &str,
    method: &Method,
    rest: &[&str],
    call: &Call,
) -> HandlerResult {
    if !realms::names().contains(&platform) {
        let why = "there is no such simulated network";
        return Err(refused(404, "platform_not_found", why));
    }
    let networks = selected_networks(sandbox, platform, call);
    match (method.clone(), rest) {
        (Method::POST, ["accounts"]) => create(sandbox, platform, call),
        (Method::GET, ["accounts"]) => {
            let accounts: Vec<_> = networks.iter().flat_map(|network| network.accounts()).collect();
            Ok(Reply::ok(&json!({"accounts": accounts})))
        }
        (Method::DELETE, ["accounts", remote_id]) => {
            let gone = networks.iter().any(|network| network.remove(remote_id));
            let reply = json!({"deleted": true, "remote_id": remote_id});
            if gone { Ok(Reply::ok(&reply)) } else { Err(no_account()) }
        }
        (Method::GET, ["posts"]) => {
            let remote_id = remote_id(call)?;
            let found = networks.iter().find_map(|network| network.posts(&remote_id));
            let (_, posts) = found.ok_or_else(no_account)?;
            Ok(Reply::ok(&json!({"posts": posts})))
        }
        (Method::GET, ["calls"]) => {
            let remote_id = remote_id(call)?;
            let found = networks.iter().find_map(|network| network.calls(&remote_id));
            Ok(Reply::ok(&json!({"calls": found.ok_or_else(no_account)?})))
        }
        (Method::GET, ["faults"]) => {
            let remote_id = remote_id(call)?;
            let left = networks.iter().find_map(|network| network.faults(&remote_id));
            Ok(Reply::ok(&json!({"faults": left.ok_or_else(no_account)?})))
        }
        (Method::PUT, ["faults"]) => set_faults(&networks, call),
        (Method::PUT, ["behaviour"]) => set_behaviour(&networks, call),
        (Method::POST, ["inbound"]) => {
            let new: NewItem = body(call)?;
            let made = networks.iter().find_map(|network| network.receive(new.clone()));
            let id = made.ok_or_else(no_account)?;
            let id = id.map_err(|why| invalid_field("invalid_item", "inbound", &why))?;
            Ok(Reply::json(201, &json!({ "id": id })))
        }
        (Method::GET, ["inbox"]) => {
            let remote_id = remote_id(call)?;
            let items = networks.iter().find_map(|network| network.inbox(&remote_id));
            Ok(Reply::ok(&json!({"inbox": items.ok_or_else(no_account)?})))
        }
        (Method::PUT, ["reviews"]) => {
            let new: NewDecisions = body(call)?;
            let rejects = match new.reply.as_deref() {
                None => None,
                Some("approve") => Some(false),
                Some("reject") => Some(true),
                Some(_) => {
                    return Err(invalid_field("invalid_body", "reply", "it is approve or reject"));
                }
            };
            let video_ms = new.video_days.map(|days| days.saturating_mul(86_400_000));
            let decide = |network: &Arc<dyn AnyNetwork>| {
                network.set_decisions(&new.remote_id, rejects, video_ms)
            };
            let decides = networks.iter().find_map(decide).ok_or_else(no_account)?;
            if !decides {
                return Err(invalid_field("invalid_body", "reply", "this network has no reviews"));
            }
            Ok(Reply::ok(&json!({"remote_id": new.remote_id})))
        }
        (Method::PUT, ["video"]) => video_control::set(&networks, call),
        (Method::PATCH, ["inbox", id]) => {
            let changes: ItemChanges = body(call)?;
            let remote_id = changes.remote_id.clone();
            change_item(&networks, &remote_id, id, Some(changes))
        }
        (Method::DELETE, ["inbox", id]) => change_item(&networks, &remote_id(call)?, id, None),
        (Method::PUT, ["metrics"]) => set_metrics(&networks, call),
        (Method::POST, ["posts"]) => create_native_post(sandbox, &networks, call),
        (Method::DELETE, ["posts"]) => {
            let (remote_id, id) = (remote_id(call)?, call.query_value("id").unwrap_or_default());
            if networks.iter().any(|network| network.delete_post(&remote_id, &id)) {
                return Ok(Reply::ok(&json!({"deleted": true, "id": id})));
            }
            Err(refused(404, "post_not_found", "the account has no such post"))
        }
        _ => Err(no_route()),
    }
}

fn change_item(
    networks: &[Arc<dyn AnyNetwork>],
    remote_id: &str,
    id: &str,
    changes: Option<ItemChanges>,
) -> HandlerResult {
    let change =
        |network: &Arc<dyn AnyNetwork>| network.change_item(remote_id, id, changes.clone());
    let item = networks.iter().find_map(change).ok_or_else(no_account)?;
    let item = item.map_err(|why| refused(404, "item_not_found", &why))?;
    Ok(Reply::ok(&json!({ "item": item })))
}

fn create(sandbox: &Sandbox, platform: &str, call: &Call) -> HandlerResult {
    let new: NewAccount = if call.body.is_empty() { NewAccount::default() } else { body(call)? };
    let realm = realm(call)?;
    let network = sandbox.realms.open(&sandbox.env, &realm, platform).ok_or_else(no_route)?;
    let username = new.username.as_deref().map(str::trim).filter(|name| !name.is_empty());
    let refusal = |why| match why {
        CreateError::Invalid(reason) => invalid_field("invalid_username", "username", &reason),
        CreateError::Taken => {
            invalid_field("username_taken", "username", "another account has this name")
        }
    };
    let (listed, credentials) = match network.revive(username, &new.revive) {
        Some(revived) => revived,
        None => network.create(username).map_err(refusal)?,
    };
    let reply = json!({
        "platform": listed.platform,
        "realm": listed.realm,
        "username": listed.username,
        "remote_id": listed.remote_id,
        "created_at": listed.created_at,
        "credentials": credentials,
        "base_url": network.base(),
    });
    Ok(Reply::json(201, &reply))
}

fn set_faults(networks: &[Arc<dyn AnyNetwork>], call: &Call) -> HandlerResult {
    let new: NewFaults = body(call)?;
    let mut faults = new.faults.iter().enumerate();
    let flaw = faults.find_map(|(place, fault)| Some((place, fault.invalid_field()?)));
    if let Some((place, (field, reason))) = flaw {
        return Err(invalid_field("invalid_fault", &format!("faults[{place}].{field}"), &reason));
    }
    let shown = json!({"remote_id": new.remote_id, "faults": new.faults});
    let has = |network: &&Arc<dyn AnyNetwork>| network.calls(&new.remote_id).is_some();
    let network = networks.iter().find(has).ok_or_else(no_account)?;
    network.set_faults(&new.remote_id, new.faults);
    Ok(Reply::ok(&shown))
}

fn set_behaviour(networks: &[Arc<dyn AnyNetwork>], call: &Call) -> HandlerResult {
    let NewBehaviour { remote_id, behaviour } = body(call)?;
    let shown = json!({ "remote_id": remote_id, "behaviour": behaviour });
    if networks.iter().any(|network| network.set_behaviour(&remote_id, behaviour.clone())) {
        return Ok(Reply::ok(&shown));
    }
    Err(no_account())
}

fn set_metrics(networks: &[Arc<dyn AnyNetwork>], call: &Call) -> HandlerResult {
    let new: NewMetrics = body(call)?;
    let shown = json!({"remote_id": new.remote_id, "metrics": new.change.metrics});
    let is_there = |id: &str| networks.iter().any(|network| network.has_post(&new.remote_id, id));
    if new.change.post.as_deref().is_some_and(|id| !is_there(id)) {
        let why = "the account has no such public post, so nobody would ever read its numbers";
        return Err(invalid_field("post_not_found", "post_id", why));
    }
    if networks.iter().any(|network| network.set_metrics(&new.remote_id, new.change.clone())) {
        return Ok(Reply::ok(&shown));
    }
    Err(no_account())
}

fn create_native_post(
    sandbox: &Sandbox,
    networks: &[Arc<dyn AnyNetwork>],
    call: &Call,
) -> HandlerResult {
    let new: NewPost = body(call)?;
    let now_ms = networks.iter().find_map(|network| network.time_of(&new.remote_id));
    let post = NativePost {
        remote_id: new.remote_id,
        unique: sandbox.env.unique_number(),
        at_ms: new.created_ms.or(now_ms).ok_or_else(no_account)?,
        text: new.text,
        post_type: new.post_type.unwrap_or_default(),
        media_urls: new.media_urls,
    };
    let id = networks.iter().find_map(|network| network.create_native_post(&post));
    Ok(Reply::json(201, &json!({ "id": id.ok_or_else(no_account)? })))
}

pub(crate) fn body<T: DeserializeOwned>(call: &Call) -> Result<T, Reply> {
    let body = &mut serde_json::Deserializer::from_slice(&call.body);
    serde_path_to_error::deserialize(body).map_err(|error| {
        let field = error.path().to_string();
        let said = error.into_inner().to_string();
        // Line numbers mean nothing to the author of a request, so they are cut off.
        let reason = said.split(" at line ").next().unwrap_or(&said);
        invalid_field("invalid_body", &field, reason)
    })
}

fn remote_id(call: &Call) -> Result<String, Reply> {
    call.query_value("remote_id")
        .ok_or_else(|| refused(400, "field_required", "remote_id is missing"))
}

pub(crate) fn no_account() -> Reply {
    refused(404, "account_not_found", "there is no such account on this simulated network")
}

fn no_route() -> Reply {
    refused(404, "not_found", "there is no such control route")
}

/// Returns the response for a body with an invalid field.
pub(crate) fn invalid_field(code: &str, field: &str, error: &str) -> Reply {
    Reply::json(400, &json!({"error": error, "code": code, "field": field}))
}

fn refused(status: u16, code: &str, error: &str) -> Reply {
    let body: Value = json!({"error": error, "code": code});
    Reply::json(status, &body)
}
