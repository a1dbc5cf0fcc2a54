//! The pages of users: finds sessions and writes responses in the layout.

use fanfare_domain::{
    Domain, Error, Result,
    sign_in::{self, Session},
};
use maud::Markup;
use salvo::{Response, async_trait, http::StatusCode};
use secrecy::SecretString;

use super::{
    layout,
    login::PEOPLE,
    visit::{Answer, Visit},
};
use crate::{
    browser::{
        answer::{html, protect_with_media, see},
        form,
        login::Realm,
    },
    middleware::page::{self, Site},
};

/// The pages of users.
pub struct ConnectPages;

#[async_trait]
impl Site for ConnectPages {
    type Session = Session;
    type Answer = Answer;

    fn realm() -> &'static Realm {
        &PEOPLE
    }

    async fn find(cx: &Domain, token: &SecretString) -> Result<Option<Session>> {
        sign_in::find(cx, token).await
    }

    async fn write(res: &mut Response, answer: Answer, visit: Visit) {
        let ok = StatusCode::OK;
        match answer {
            Answer::Page(title, main) => html(res, ok, layout::page(&visit, title, &main)),
            Answer::Wrong(title, main, error) => {
                html(res, page::status(&error), layout::page(&visit, title, &main));
            }
            Answer::Wide(title, main) => {
                protect_with_media(res, &visit.cx.settings.media_base_url);
                html(res, ok, layout::wide(&visit, title, &main));
            }
            Answer::WideWrong(title, main, error) => {
                protect_with_media(res, &visit.cx.settings.media_base_url);
                html(res, page::status(&error), layout::wide(&visit, title, &main));
            }
            Answer::Part(part) => html(res, ok, part),
            Answer::Workspace(id) => {
                form::choose_workspace(res, &visit.cx, id);
                see(res, "/dashboard");
            }
            Answer::Waiting(title, main) => html(res, ok, layout::waiting(&visit, title, &main)),
            Answer::See(place) => see(res, &place),
            Answer::Away(label, url) => html(res, ok, layout::away(&visit, label, &url)),
            Answer::LogOut => {
                form::set_cookie(res.headers_mut(), &visit.cx, &PEOPLE.session, "", 0);
                see(res, PEOPLE.path);
            }
        }
    }

    fn refusal(error: &Error, request_id: &str, visit: Option<&Visit>) -> Markup {
        layout::refusal(error, request_id, visit)
    }
}
