//! The pages for people: the dashboard, the operators' pages, log-in and sign-up, the pages of OAuth and of links.
//!
//! A page runs the operation of the API with the same name, through the same pipeline: there is one policy and one
//! validation. Pages work without scripts.

mod admin;
mod assets;
mod browser;
mod dashboard;
mod guest_upload;
mod invitations;
mod oauth;
mod oauth_connect;
mod page;
mod passwords;
mod signup;
mod start;

use fanfare_api::{router_ext::RouterExt as _, static_page::StaticPage};
use fanfare_core::Domain;
use salvo::{Router, Service};

/// Returns the service that answers every HTTP request: the API with its documents, and the pages.
#[must_use]
pub fn service(domain: Domain) -> Service {
    let pages = pages(&domain);
    fanfare_api::service(domain, pages)
}

fn pages(domain: &Domain) -> Router {
    let cx = domain.clone();
    let start = StaticPage::html("/", move || start::start(&cx));
    Router::new()
        .push(Router::new().get_and_head(start))
        .push(Router::with_path("assets/{name}").get_and_head(assets::File))
        .push(guest_upload::router(domain))
        .push(admin::router(domain))
        .push(oauth_connect::router(domain))
        .push(dashboard::router(domain))
        .push(passwords::router(domain))
        .push(invitations::router(domain))
        .push(oauth::router(domain))
        .push(signup::router(domain))
}
