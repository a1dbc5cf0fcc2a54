//! Runs operations of the API for the user of a page.
//!
//! The action of a form is a request to the route of the operation. It goes through the same pipeline (`endpoint.rs`),
//! so that limits, roles, validation and idempotency are those of the API; only the API add-on is not required.

use fanfare_api::{
    endpoint::{Admitted, Endpoint},
    mcp::{ToolInput, request},
    request_id,
    routes::ROUTES,
};
use fanfare_core::{Error, Result, access::Caller, page::Listed};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::oauth_connect::Visit;

/// Runs an operation by its name, with the arguments of its path, query and body. With `idempotency_key` among them, a
/// form that is sent twice acts once.
///
/// # Errors
/// The operation's.
pub async fn run(visit: &Visit, name: &str, arguments: Value) -> Result<Value> {
    read(visit, name, arguments).await
}

/// Runs an operation that lists something and returns the list.
///
/// # Errors
/// The operation's.
pub async fn list<T: DeserializeOwned>(visit: &Visit, name: &str, arguments: Value) -> Result<T> {
    read::<Listed<T>>(visit, name, arguments).await.map(Listed::into_list)
}

/// Runs an operation and reads the reply as a `T`, the type that it replies with.
///
/// # Errors
/// The operation's.
pub async fn read<T: DeserializeOwned>(visit: &Visit, name: &str, arguments: Value) -> Result<T> {
    let route = ROUTES.iter().find(|route| route.name == name);
    let route = route.ok_or_else(|| Error::internal(format!("there is no operation {name}")))?;
    let Value::Object(arguments) = arguments else {
        return Err(Error::internal("arguments are an object"));
    };
    let mut req = request(route, &ToolInput::of(route), arguments)?;
    req.extensions_mut().insert(Admitted(Caller::browser_session(visit.session.user_id)));
    request_id::set(&mut req, &visit.request_id);
    let endpoint = Endpoint::new(route, visit.cx.clone());
    let reply = endpoint.answer(&mut req, &visit.request_id).await?;
    serde_json::from_str(reply.body()).map_err(Error::internal)
}
