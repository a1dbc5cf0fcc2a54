//! The page of a connect session, from its link to its end.

use fanfare_domain::{
    Code, ConnectSessionId, Error, Result,
    accounts::oauth_connect::{self, Callback, ConnectAccess, ConnectMethod, ConnectStage},
};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::{
    parts, start,
    visit::{PageResponse, Visit},
};

const TITLE: &str = "Connect an account";

/// Shows the session's stage and the next step.
pub async fn show(visit: Visit) -> Result<PageResponse> {
    let mut access = enter(&visit).await?;
    if access.starts_automatically() && access.act.membership.active {
        return authorize(&mut access, &visit).await;
    }
    access.open().await?;
    let message = access.message().await?;
    let main = parts::session(&visit, &access, &message, None);
    Ok(match access.stage() {
        ConnectStage::Finishing => PageResponse::Waiting(TITLE, main),
        ConnectStage::Ready(_)
        | ConnectStage::Choose(_)
        | ConnectStage::Connected
        | ConnectStage::Ended
        | ConnectStage::Failed => PageResponse::Page(TITLE, main),
    })
}

/// Handles a step of the user.
pub async fn act(visit: Visit) -> Result<PageResponse> {
    let mut access = enter(&visit).await?;
    let verb = visit.path("verb");
    let may = if verb == "cancel" { Ok(()) } else { access.act.membership.require_active() };
    let outcome = match verb {
        _ if may.is_err() => may,
        "go" => match authorize(&mut access, &visit).await {
            Ok(answer) => return Ok(answer),
            Err(error) => Err(error),
        },
        "cancel" => access.cancel().await,
        "connect" => access.submit(credentials(&visit, &access)).await,
        "simulate" => access.simulate(visit.form("username")).await,
        "choose" => access.choose(&ticked_accounts(&visit)).await,
        _ => return Err(Error::new(Code::NotFound, "There is no such step.")),
    };
    match outcome {
        Ok(()) => Ok(PageResponse::Redirect(page(access.id()))),
        // An error in a form is shown on the same page.
        Err(error)
            if (400..500).contains(&error.status())
                || error.code() == Code::ProviderUnreachable =>
        {
            let again = enter(&visit).await?;
            let message = again.message().await?;
            let main = parts::session(&visit, &again, &message, Some(&error));
            Ok(PageResponse::Invalid(TITLE, main, error))
        }
        Err(error) => Err(error),
    }
}

/// Handles the redirect back from the network.
pub async fn callback(visit: Visit) -> Result<PageResponse> {
    let platform = start::platform(&visit)?;
    let text = |name: &str| visit.query(name).map(str::to_owned);
    let arrival = Callback {
        state: text("state").unwrap_or_default(),
        code: text("code"),
        error: text("error"),
        description: text("error_description").or_else(|| text("error_message")),
    };
    let who = visit.session.user_id;
    let id = oauth_connect::callback(&visit.cx, who, &visit.request_id, platform, arrival).await?;
    Ok(PageResponse::Redirect(page(id)))
}

async fn enter(visit: &Visit) -> Result<ConnectAccess> {
    let absent = || Error::new(Code::ConnectSessionNotFound, "There is no such connect session.");
    let id: Uuid = visit.path("id").parse().map_err(|_| absent())?;
    let id = ConnectSessionId(id);
    ConnectAccess::enter(&visit.cx, visit.session.user_id, &visit.request_id, id).await
}

fn page(id: ConnectSessionId) -> String {
    format!("/connect/sessions/{id}")
}

async fn authorize(access: &mut ConnectAccess, visit: &Visit) -> Result<PageResponse> {
    let url = access.authorize(visit.form(parts::INSTANCE)).await?;
    Ok(PageResponse::LeaveTo(access.spec().label, url))
}

/// Returns the values of the platform's credential fields.
fn credentials(visit: &Visit, access: &ConnectAccess) -> Map<String, Value> {
    let ConnectMethod::Credentials(fields) = access.method() else { return Map::new() };
    let filled = fields.iter().filter_map(|field| Some((field.name, visit.form(field.name)?)));
    filled.map(|(name, value)| (name.to_owned(), value.into())).collect()
}

/// Returns the indexes of the ticked accounts.
fn ticked_accounts(visit: &Visit) -> Vec<usize> {
    let ticked = visit.form.iter().filter(|(name, _)| name == "account");
    ticked.filter_map(|(_, place)| place.parse().ok()).collect()
}
