//! The control API: accounts, what they posted, their calls, their faults.

use salvo::http::{Method, Request, Response};
use salvo::{Depot, FlowCtrl, Handler, async_trait};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::Sandbox;
use crate::call::Call;
use crate::faults::Fault;
use crate::reply::{Answer, Reply};
use crate::sim::NotMade;
use crate::simulated::Simulated;
use crate::world::Settings;

/// The largest control request, in bytes.
const BODY_MAX: usize = 1 << 20;

/// The handler of `/_control/…`.
pub(crate) struct Control(pub Sandbox);

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct NewAccount {
    username: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewFaults {
    remote_id: String,
    faults: Vec<Fault>,
}

#[async_trait]
impl Handler for Control {
    async fn handle(
        &self,
        req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        let reply = match Call::read(req, BODY_MAX).await {
            Ok(call) => self.answer(&call).unwrap_or_else(|refusal| refusal),
            Err(_) => refused(400, "unreadable", "the request cannot be read"),
        };
        reply.write(res);
    }
}

impl Control {
    fn answer(&self, call: &Call) -> Answer {
        let segments = call.segments();
        match (call.method.clone(), segments.as_slice()) {
            (Method::GET, ["settings"]) => Ok(Reply::ok(&self.0.world.settings())),
            (Method::PUT, ["settings"]) => {
                self.0.world.change_settings(&body::<Settings>(call)?);
                Ok(Reply::ok(&self.0.world.settings()))
            }
            (Method::GET, ["platforms"]) => {
                Ok(Reply::ok(&json!({"platforms": self.0.platforms()})))
            }
            (method, [platform, rest @ ..]) => {
                let network = self.0.network(platform);
                let network = network.ok_or_else(|| {
                    refused(404, "platform_not_found", "there is no such simulated network")
                })?;
                of_network(network, &self.0.world.base(), &method, rest, call)
            }
            _ => Err(nothing()),
        }
    }
}

fn of_network(
    network: &dyn Simulated,
    base: &str,
    method: &Method,
    rest: &[&str],
    call: &Call,
) -> Answer {
    match (method.clone(), rest) {
        (Method::POST, ["accounts"]) => create(network, base, call),
        (Method::GET, ["accounts"]) => Ok(Reply::ok(&json!({"accounts": network.accounts()}))),
        (Method::DELETE, ["accounts", remote_id]) => {
            let gone = network.remove(remote_id);
            if gone {
                Ok(Reply::ok(&json!({"deleted": true, "remote_id": remote_id})))
            } else {
                Err(no_account())
            }
        }
        (Method::GET, ["posts"]) => {
            let (_, posts) = network.posts(&remote_id(call)?).ok_or_else(no_account)?;
            Ok(Reply::ok(&json!({"posts": posts})))
        }
        (Method::GET, ["calls"]) => {
            let calls = network.calls(&remote_id(call)?).ok_or_else(no_account)?;
            Ok(Reply::ok(&json!({"calls": calls})))
        }
        (Method::PUT, ["faults"]) => set_faults(network, call),
        _ => Err(nothing()),
    }
}

fn create(network: &dyn Simulated, base: &str, call: &Call) -> Answer {
    let new: NewAccount = if call.body.is_empty() { NewAccount::default() } else { body(call)? };
    let username = new.username.as_deref().map(str::trim).filter(|name| !name.is_empty());
    let (listed, credentials) = network.create(username).map_err(|why| match why {
        NotMade::Invalid(reason) => wrong("invalid_username", "username", &reason),
        NotMade::Taken => refused(409, "username_taken", "another account has this username"),
    })?;
    let reply = json!({
        "platform": listed.platform,
        "username": listed.username,
        "remote_id": listed.remote_id,
        "created_at": listed.created_at,
        "credentials": credentials,
        "base_url": format!("{base}/{}", listed.platform),
    });
    Ok(Reply::json(201, &reply))
}

fn set_faults(network: &dyn Simulated, call: &Call) -> Answer {
    let new: NewFaults = body(call)?;
    let mut faults = new.faults.iter().enumerate();
    let flaw = faults.find_map(|(place, fault)| Some((place, fault.flaw()?)));
    if let Some((place, (field, reason))) = flaw {
        return Err(wrong("invalid_fault", &format!("faults[{place}].{field}"), &reason));
    }
    let shown = json!({"remote_id": new.remote_id, "faults": new.faults});
    if network.set_faults(&new.remote_id, new.faults) {
        Ok(Reply::ok(&shown))
    } else {
        Err(no_account())
    }
}

fn body<T: DeserializeOwned>(call: &Call) -> Result<T, Reply> {
    let body = &mut serde_json::Deserializer::from_slice(&call.body);
    serde_path_to_error::deserialize(body).map_err(|error| {
        let field = error.path().to_string();
        let said = error.into_inner().to_string();
        // Whoever made the body made no lines.
        let reason = said.split(" at line ").next().unwrap_or(&said);
        wrong("invalid_body", &field, reason)
    })
}

fn remote_id(call: &Call) -> Result<String, Reply> {
    call.query_value("remote_id")
        .ok_or_else(|| refused(400, "field_required", "remote_id is missing"))
}

fn no_account() -> Reply {
    refused(404, "account_not_found", "there is no such account on this simulated network")
}

fn nothing() -> Reply {
    refused(404, "not_found", "there is no such control route")
}

/// A body with a field that is wrong.
fn wrong(code: &str, field: &str, error: &str) -> Reply {
    Reply::json(400, &json!({"error": error, "code": code, "field": field}))
}

fn refused(status: u16, code: &str, error: &str) -> Reply {
    let body: Value = json!({"error": error, "code": code});
    Reply::json(status, &body)
}
