//! The pages on which a person connects an account: made on the server, complete without scripts.
//!
//! [`PAGES`] lists every page; `gate.rs` lets nobody through without a log-in, and no form without its token. What a
//! page does is the domain's (`domain::accounts::handoff`).

mod gate;
mod layout;
pub mod login;
mod parts;
mod session;
mod start;

use fanfare_domain::{Domain, Result};
use futures_util::future::BoxFuture;
use salvo::Router;

use crate::browser::login::Form;
use gate::{Answer, Gate, Visit};

/// What answers for a page.
type Handler = fn(Visit) -> BoxFuture<'static, Result<Answer>>;

/// A page.
#[derive(Debug, Clone, Copy)]
struct Page {
    /// Its path, as the router writes it.
    path: &'static str,
    /// What answers when it is asked for.
    get: Option<Handler>,
    /// What answers when its form is sent.
    post: Option<Handler>,
}

/// A handler as the list wants it.
macro_rules! page {
    ($function:path) => {
        Some(|visit| Box::pin($function(visit)))
    };
}

/// Every page that needs a log-in. Fixed steps come before parameters.
const PAGES: &[Page] = &[
    Page { path: "/connect", get: page!(start::list), post: None },
    Page { path: "/logout", get: None, post: page!(login::log_out) },
    Page { path: "/connect/sessions/{id}", get: page!(session::show), post: None },
    Page { path: "/connect/sessions/{id}/{verb}", get: None, post: page!(session::act) },
    Page { path: "/connect/{platform}", get: page!(start::ask), post: page!(start::begin) },
    Page { path: "/connect/{platform}/callback", get: page!(session::arrive), post: None },
];

/// The pages' router, with the log-in.
pub fn router(domain: &Domain) -> Router {
    let log_in = || Form(domain.clone(), &login::PEOPLE);
    let mut router = Router::new().push(Router::with_path("login").get(log_in()).post(log_in()));
    for page in PAGES {
        let mut at = Router::with_path(page.path.trim_start_matches('/'));
        if let Some(handler) = page.get {
            at = at.get(Gate::new(domain.clone(), page.path, handler, false));
        }
        if let Some(handler) = page.post {
            at = at.post(Gate::new(domain.clone(), page.path, handler, true));
        }
        router = router.push(at);
    }
    router
}
