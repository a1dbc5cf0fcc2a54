//! Calls to the simulator: its addresses, its pages, and its control API.

use std::time::Duration;

use fanfare_core::{
    Act, Domain,
    error::{Code, Error, Result},
};
use fanfare_entities::account;
use fanfare_outbound::Reply as Answer;
use fanfare_platforms::PlatformId;
use serde_json::{Value, json};
use url::Url;

use fanfare_core::simulator::Simulator;

/// Returns the simulator.
///
/// # Errors
/// [`Code::Unavailable`] if there is none here.
pub(super) fn simulator(cx: &Domain) -> Result<&Simulator> {
    cx.settings.simulator.as_ref().ok_or_else(|| {
        let message =
            "There is no sandbox here: start `fanfare sandbox` and set FANFARE_SANDBOX_URL.";
        Error::new(Code::Unavailable, message)
    })
}

/// Returns the address of a simulated network for programs.
///
/// # Errors
/// [`Code::Unavailable`] if there is no simulator here.
pub(super) fn network(act: &Act, platform: PlatformId) -> Result<Url> {
    simulator(&act.cx)?.network(act.membership.workspace_id, platform)
}

/// Returns the address of a simulated network's pages for users.
///
/// # Errors
/// [`Code::Unavailable`] if there is no simulator here.
pub(super) fn pages(act: &Act, platform: PlatformId) -> Result<Url> {
    simulator(&act.cx)?.pages_of(act.membership.workspace_id, platform)
}

/// Returns the page that shows what was posted to a simulated account.
pub(super) fn page_of(cx: &Domain, row: &account::Model) -> Option<String> {
    let simulator = cx.settings.simulator.as_ref()?;
    let platform = row.platform.parse().ok()?;
    let pages = simulator.pages_of(row.workspace_id, platform).ok()?;
    let mut page = Url::parse(&format!("{pages}/ui")).ok()?;
    // An id may contain slashes, so it cannot be a part of the path.
    page.query_pairs_mut().append_pair("account", &row.remote_id);
    Some(page.into())
}

/// Returns the address at which a user finds a post whose network calls it `url`.
#[must_use]
pub fn browser_url(cx: &Domain, url: String) -> String {
    match &cx.settings.simulator {
        Some(simulator) => simulator.browser_url(&url),
        None => url,
    }
}

/// Makes sure that a simulated network has a user who can grant access, and may redirect the user back to us.
pub(super) async fn prepare_consent(
    act: &Act,
    platform: PlatformId,
    redirect_uri: &str,
) -> Result<()> {
    let back = json!({ "redirect_uri": redirect_uri });
    call_simulator(act, http::Method::POST, &["redirects"], &[], Some(&back)).await?;
    let path = [platform.as_str(), "accounts"];
    let known = call_simulator(act, http::Method::GET, &path, &[], None).await?;
    if known["accounts"].as_array().is_none_or(Vec::is_empty) {
        call_simulator(act, http::Method::POST, &path, &[], Some(&json!({ "username": null })))
            .await?;
    }
    Ok(())
}

/// Calls the simulator's control API for the networks of the caller's workspace.
pub(super) async fn call_simulator(
    act: &Act,
    method: http::Method,
    path: &[&str],
    query: &[(&str, &str)],
    body: Option<&Value>,
) -> Result<Value> {
    let simulator = simulator(&act.cx)?;
    let realm = simulator.realm(act.membership.workspace_id)?;
    let client = act.cx.http.trusting(std::slice::from_ref(&simulator.url));
    let mut request = client
        .request(method, simulator.control(path)?)
        .bearer(&simulator.secret)
        .query(&[("realm", realm.as_str())])
        .deadline(Duration::from_secs(10))
        .max_reply(16 << 20);
    if !query.is_empty() {
        request = request.query(query);
    }
    if let Some(body) = body {
        request = request.json(body);
    }
    let away = |error: fanfare_outbound::Error| {
        tracing::warn!(%error, "the sandbox did not answer");
        Error::new(Code::Unavailable, "The sandbox did not answer.").with_retry_after(1)
    };
    let answer = request.send().await.map_err(away)?;
    match answer.status {
        200..=299 => answer.json().map_err(away),
        401 => {
            tracing::error!("the simulator does not take FANFARE_SANDBOX_SECRET");
            Err(Error::new(Code::Unavailable, "The sandbox does not know this service."))
        }
        _ => Err(refusal(&answer)),
    }
}

fn refusal(answer: &Answer) -> Error {
    let body = answer.json::<Value>().unwrap_or_default();
    let said = body["error"].as_str().unwrap_or("the request was refused");
    let Some(field) = body["field"].as_str() else {
        let code = match (answer.status, body["code"].as_str()) {
            (404, Some("post_not_found")) => Code::PostNotFound,
            (404, Some("account_not_found")) => Code::AccountNotFound,
            (404, _) => Code::NotFound,
            _ => Code::InvalidField,
        };
        return Error::new(code, format!("The simulated network says: {said}."));
    };
    let message = format!("`{field}`: {said}.");
    let remedy = "Send what the guide about testing shows (/docs/guides/testing).";
    Error::field(Code::InvalidField, field, message, remedy)
}
