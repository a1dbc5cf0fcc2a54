//! Connecting without a link: the user chooses a platform and a workspace.

use fanfare_core::{
    Act, Code, Error, Result, WorkspaceId,
    access::{self, Caller, Role},
    limits::Meter,
};
use fanfare_people::users;
use fanfare_publishing::{
    accounts::{self, ConnectOptionMethod, oauth_connect},
    brands,
};
use maud::html;

use super::{
    parts,
    visit::{PageResponse, Visit},
};
use crate::browser::visit::{self, parse};

/// Lists the platforms.
pub async fn list(visit: Visit) -> Result<PageResponse> {
    let act = act(&visit, visit.parsed("workspace_id")?).await?;
    let options = accounts::all_options(&act).await?;
    let here = options.iter().filter(|option| option.method != ConnectOptionMethod::Planned);
    Ok(PageResponse::Page(
        "Connect an account",
        html! {
            h1 { "Connect an account" }
            p.soft { "Choose where Fanfare should post for you." }
            ul.choices {
                @for option in here {
                    li { (parts::platform_link(option)) }
                }
            }
        },
    ))
}

/// Shows a platform, with the workspace of the account and a button.
pub async fn ask(visit: Visit) -> Result<PageResponse> {
    let platform = platform(&visit)?;
    let asked: Option<uuid::Uuid> = visit.parsed("workspace_id")?;
    let act = act(&visit, asked).await?;
    let options = accounts::platform_options(&act, platform).await?;
    let workspaces =
        users::workspaces_of(&visit.cx, visit.session.user_id, Role::Publisher).await?;
    let here = act.membership.workspace_id;
    let brands = brands::brands_to_choose(&act).await?;
    Ok(PageResponse::Page(
        "Connect an account",
        parts::start(&visit, &options, (&workspaces, here), &brands),
    ))
}

/// Creates a connect session and redirects to it.
pub async fn begin(visit: Visit) -> Result<PageResponse> {
    let platform = platform(&visit)?;
    let workspace =
        visit.form("workspace_id").map(|text| parse("workspace_id", text)).transpose()?;
    let act = act(&visit, workspace).await?;
    act.membership.require_active()?;
    let brand = visit.form("workspace_client_id");
    let new = oauth_connect::NewConnectSession {
        workspace_id: None,
        workspace_client_id: brand.map(|text| parse("brand", text)).transpose()?,
        auto_start: false,
        sandbox: visit.form("sandbox").is_some(),
        ..Default::default()
    };
    let id = oauth_connect::begin(&act, platform, new).await?;
    Ok(PageResponse::Redirect(format!("/connect/sessions/{id}")))
}

/// Returns the platform in the path.
pub fn platform<S>(visit: &visit::Visit<S>) -> Result<fanfare_core::PlatformId> {
    let name = visit.path("platform");
    let missing = || {
        Error::new(
            Code::PlatformNotFound,
            format!("There is no platform called {:?}.", fanfare_core::error::excerpt(name)),
        )
    };
    name.parse().map_err(|_| missing())
}

/// Returns the user's access to a workspace, by default to the user's own.
async fn act(visit: &Visit, workspace: Option<uuid::Uuid>) -> Result<Act> {
    let caller = Caller::browser_session(visit.session.user_id);
    let membership = access::membership(&visit.cx, &caller, workspace.map(WorkspaceId)).await?;
    membership.require(Role::Publisher)?;
    let (cx, request_id) = (visit.cx.clone(), visit.request_id.clone());
    Ok(Act {
        cx,
        caller,
        membership,
        request_id,
        reservation: None,
        meter: Meter::default(),
        if_match: None,
    })
}
