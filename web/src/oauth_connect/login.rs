//! The users' log-in.

use fanfare_core::{Domain, Result, logins::LoginKind};
use fanfare_people::{
    sign_in::{self, SESSION_LIFETIME},
    signup,
};
use maud::{Markup, html};
use url::form_urlencoded;

use super::{
    layout,
    visit::{PageResponse, Visit},
};
use crate::browser::{doors, form::Cookie, login::LoginRealm};

/// The log-in of users. Its cookie is `Lax`, since a network redirects the user back from its own site.
pub static USER_LOGIN: LoginRealm = LoginRealm {
    path: "/login",
    session: Cookie { name: "fanfare_session", path: "/", same_site: "Lax" },
    form_cookie: Cookie { name: "fanfare_before", path: "/login", same_site: "Strict" },
    known_cookie: Cookie { name: "fanfare_known", path: "/login", same_site: "Strict" },
    kind: LoginKind::Persons,
    home: "/dashboard",
    other_paths: &["/connect", "/api/oauth/authorize", "/invitations"],
    intro,
    frame: layout::bare,
    log_in: |tried| {
        Box::pin(async move {
            let who = (tried.email.as_str(), tried.password.clone());
            sign_in::log_in(&tried.cx, who, tried.source()).await
        })
    },
    lifetime: SESSION_LIFETIME / 1_000,
};

/// Renders how one gets an account and a password here.
fn intro(cx: &Domain, next: &str) -> Markup {
    let next: String = form_urlencoded::byte_serialize(next.as_bytes()).collect();
    html! {
        p.soft {
            "To write posts, answer people, connect accounts and see your API keys. "
            a href="/forgot" { "Forgot your password?" }
            @if signup::require_open(cx).is_ok() {
                " No account yet? " a href={ "/signup?next=" (next) } { "Sign up" } "."
            } @else {
                " No account yet? An admin of a workspace invites you, or the operator makes one with "
                code { "fanfare admin password EMAIL" } "."
            }
        }
        (doors::on_this_machine(cx))
    }
}

/// Ends the session.
pub async fn log_out(visit: Visit) -> Result<PageResponse> {
    sign_in::log_out(&visit.cx, &visit.token).await?;
    Ok(PageResponse::LogOut)
}
