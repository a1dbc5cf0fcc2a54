//! The users' log-in.

use fanfare_domain::{
    Result,
    sign_in::{self, SESSION_LIFETIME},
};
use maud::html;
use url::form_urlencoded;

use super::{
    layout,
    visit::{PageResponse, Visit},
};
use crate::browser::{form::Cookie, login::LoginRealm};

/// The log-in of users. Its cookie is `Lax`, since a network redirects the user back from its own site.
pub static USER_LOGIN: LoginRealm = LoginRealm {
    path: "/login",
    session: Cookie { name: "fanfare_session", path: "/", same_site: "Lax" },
    form_cookie: Cookie { name: "fanfare_before", path: "/login", same_site: "Strict" },
    home: "/dashboard",
    other_paths: &["/connect", "/api/oauth/authorize", "/invitations"],
    intro: |next| {
        let next: String = form_urlencoded::byte_serialize(next.as_bytes()).collect();
        html! {
            "To connect accounts, let tools in and see your API keys. "
            a href="/forgot" { "Forgot your password?" }
            " The operator of this service can also set one with "
            code { "fanfare admin password EMAIL" } ". No account yet? "
            a href={ "/signup?next=" (next) } { "Sign up" } "."
        }
    },
    frame: layout::bare,
    log_in: |tried| {
        Box::pin(async move {
            let who = (tried.email.as_str(), tried.password);
            sign_in::log_in(&tried.cx, who, &tried.address).await
        })
    },
    lifetime: SESSION_LIFETIME / 1_000,
};

/// Ends the session.
pub async fn log_out(visit: Visit) -> Result<PageResponse> {
    sign_in::log_out(&visit.cx, &visit.token).await?;
    Ok(PageResponse::LogOut)
}
