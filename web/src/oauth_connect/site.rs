//! The pages of users: finds sessions and writes responses in the layout.

use fanfare_core::{Domain, Error, Result};
use fanfare_people::sign_in::{self, UserSession};
use maud::Markup;
use salvo::{Response, async_trait, http::StatusCode};
use secrecy::SecretString;

use super::{
    layout,
    login::USER_LOGIN,
    visit::{PageResponse, Visit},
};
use crate::{
    browser::{
        form,
        login::LoginRealm,
        response::{html, protect_with_media, redirect},
        typed,
    },
    page::{self, Site},
};

/// The pages of users.
pub struct UserSite;

#[async_trait]
impl Site for UserSite {
    type Session = UserSession;
    type Answer = PageResponse;

    fn realm() -> &'static LoginRealm {
        &USER_LOGIN
    }

    async fn find(cx: &Domain, token: &SecretString) -> Result<Option<UserSession>> {
        sign_in::find(cx, token).await
    }

    async fn write(res: &mut Response, answer: PageResponse, visit: Visit) {
        let ok = StatusCode::OK;
        match answer {
            PageResponse::Page(title, main) => html(res, ok, layout::page(&visit, title, &main)),
            PageResponse::Invalid(title, main, error) => {
                let main = typed::refused(main, &visit.address(), &visit.form, &error);
                html(res, page::status(&error), layout::page(&visit, title, &main));
            }
            PageResponse::Wide(title, main) => {
                protect_with_media(res, &visit.cx.settings.media_base_url);
                html(res, ok, layout::wide(&visit, title, &main));
            }
            PageResponse::WideInvalid(title, main, error) => {
                let main = typed::refused(main, &visit.address(), &visit.form, &error);
                protect_with_media(res, &visit.cx.settings.media_base_url);
                html(res, page::status(&error), layout::wide(&visit, title, &main));
            }
            PageResponse::Following(title, main) => {
                protect_with_media(res, &visit.cx.settings.media_base_url);
                html(res, ok, layout::following(&visit, title, &main));
            }
            PageResponse::Fragment(part) => html(res, ok, part),
            PageResponse::SwitchWorkspace(id) => {
                form::choose_workspace(res, &visit.cx, id);
                redirect(res, "/dashboard");
            }
            PageResponse::Waiting(title, main) => {
                html(res, ok, layout::waiting(&visit, title, &main))
            }
            PageResponse::Redirect(place) => redirect(res, &place),
            PageResponse::LeaveTo(label, url) => {
                html(res, ok, layout::leave_to(Some(&visit), &label, &url))
            }
            PageResponse::LogOut => {
                form::set_cookie(res.headers_mut(), &visit.cx, &USER_LOGIN.session, "", 0);
                redirect(res, USER_LOGIN.path);
            }
        }
    }

    fn refusal(error: &Error, request_id: &str, visit: Option<&Visit>) -> Markup {
        layout::refusal(error, request_id, visit)
    }
}
