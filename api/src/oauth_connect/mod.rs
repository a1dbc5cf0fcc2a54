//! The pages on which a person connects an account: made on the server, complete without scripts.
//!
//! [`PAGES`] lists every page; what lies before each of them is `middleware/page.rs`, and what a page does is the domain's
//! (`domain::accounts::oauth_connect`).

mod layout;
pub mod login;
mod parts;
mod session;
mod site;
mod start;
mod visit;

use fanfare_domain::Domain;
use salvo::Router;

use crate::middleware::page::{self, Page, page};
pub use site::ConnectPages;
pub use visit::{Answer, Visit};

/// Every page that needs a log-in. Fixed steps come before parameters.
const PAGES: &[Page<ConnectPages>] = &[
    Page::of("/connect", page!(start::list)),
    Page::form("/logout", page!(login::log_out)),
    Page::of("/connect/sessions/{id}", page!(session::show)),
    Page::form("/connect/sessions/{id}/{verb}", page!(session::act)),
    Page::of("/connect/{platform}", page!(start::ask)).takes(page!(start::begin)),
    Page::of("/connect/{platform}/callback", page!(session::callback)),
];

/// The pages' router, with the log-in.
pub fn router(domain: &Domain) -> Router {
    page::router(domain, PAGES)
}
