//! The page of a connect session, from its link to its end.

use fanfare_core::{Code, ConnectSessionId, Error, Result};
use fanfare_people::sign_in::UserSession;
use fanfare_publishing::accounts::oauth_connect::{
    self, Callback, ConnectAccess, ConnectMethod, ConnectStage, ConnectVisitor,
};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::{parts, start, visit::PageResponse};
use crate::browser::visit::Visit;

const TITLE: &str = "Connect an account";

/// A session of the browser in which somebody connects an account.
pub trait Connects: Sized {
    /// The start of the paths of session pages.
    const PAGES: &'static str;

    /// Returns who it is.
    fn visitor(visit: &Visit<Self>) -> ConnectVisitor<'_>;
}

impl Connects for UserSession {
    const PAGES: &'static str = "/connect/sessions";

    fn visitor(visit: &Visit<Self>) -> ConnectVisitor<'_> {
        ConnectVisitor::User(visit.session.user_id)
    }
}

/// Shows the session's stage and the next step.
pub async fn show<S: Connects + Sync>(visit: Visit<S>) -> Result<PageResponse> {
    let mut access = enter(&visit).await?;
    if access.starts_automatically() && access.act.membership.active {
        return authorize(&mut access, &visit).await;
    }
    access.open().await?;
    if let Some(url) = access.return_address() {
        let app = access.app().unwrap_or("where you came from").to_owned();
        return Ok(PageResponse::LeaveTo(app.into(), url));
    }
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

/// Handles a step of the person.
pub async fn act<S: Connects + Sync>(visit: Visit<S>) -> Result<PageResponse> {
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
        Ok(()) => Ok(PageResponse::Redirect(parts::page(&access))),
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
pub async fn callback<S: Connects + Sync>(visit: Visit<S>) -> Result<PageResponse> {
    let platform = start::platform(&visit)?;
    let text = |name: &str| visit.query(name).map(str::to_owned);
    let arrival = Callback {
        state: text("state").unwrap_or_default(),
        code: text("code"),
        error: text("error"),
        description: text("error_description").or_else(|| text("error_message")),
    };
    let who = S::visitor(&visit);
    let id = oauth_connect::callback(&visit.cx, who, &visit.request_id, platform, arrival).await?;
    Ok(PageResponse::Redirect(format!("{}/{id}", S::PAGES)))
}

async fn enter<S: Connects + Sync>(visit: &Visit<S>) -> Result<ConnectAccess> {
    let absent = || Error::new(Code::ConnectSessionNotFound, "There is no such connect session.");
    let id: Uuid = visit.path("id").parse().map_err(|_| absent())?;
    let id = ConnectSessionId(id);
    ConnectAccess::enter(&visit.cx, S::visitor(visit), &visit.request_id, id).await
}

async fn authorize<S: Sync>(access: &mut ConnectAccess, visit: &Visit<S>) -> Result<PageResponse> {
    let url = access.authorize(visit.form(parts::INSTANCE)).await?;
    Ok(PageResponse::LeaveTo(access.spec().label.into(), url))
}

/// Returns the values of the platform's credential fields.
fn credentials<S>(visit: &Visit<S>, access: &ConnectAccess) -> Map<String, Value> {
    let ConnectMethod::Credentials(fields) = access.method() else { return Map::new() };
    let filled = fields.iter().filter_map(|field| Some((field.name, visit.form(field.name)?)));
    filled.map(|(name, value)| (name.to_owned(), value.into())).collect()
}

/// Returns the indexes of the ticked accounts.
fn ticked_accounts<S>(visit: &Visit<S>) -> Vec<usize> {
    let ticked = visit.form.iter().filter(|(name, _)| name == "account");
    ticked.filter_map(|(_, place)| place.parse().ok()).collect()
}
