//! The pages on which a user connects an account, rendered on the server and complete without scripts.
//!
//! [`PAGES`] lists every page; `middleware/page.rs` checks requests to them, and `domain::accounts::oauth_connect`
//! carries them out.

mod guest;
mod layout;
pub mod login;
mod parts;
mod session;
mod site;
mod start;
mod visit;

use fanfare_core::Domain;
use salvo::Router;

use crate::page::{self, PageRoute, page};
pub use site::UserSite;
pub use visit::{PageResponse, Visit};

/// Every page that needs a log-in. Fixed segments come before parameters.
const PAGES: &[PageRoute<UserSite>] = &[
    PageRoute::get("/connect", page!(start::list)),
    PageRoute::post("/logout", page!(login::log_out)),
    PageRoute::get("/connect/sessions/{id}", page!(session::show)),
    PageRoute::post("/connect/sessions/{id}/{verb}", page!(session::act)),
    PageRoute::get("/connect/{platform}", page!(start::ask)).with_form(page!(start::begin)),
    PageRoute::get("/connect/{platform}/callback", page!(session::callback)),
];

/// Returns the router of the pages, with the log-in.
pub fn router(domain: &Domain) -> Router {
    Router::new().push(guest::router(domain)).push(page::router(domain, PAGES))
}
