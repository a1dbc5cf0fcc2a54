//! The pages on which a user connects an account, rendered on the server and complete without scripts.
//!
//! [`PAGES`] lists every page; `middleware/page.rs` checks requests to them, and `domain::accounts::oauth_connect`
//! carries them out.

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

/// Every page that needs a log-in. Fixed segments come before parameters.
const PAGES: &[Page<ConnectPages>] = &[
    Page::of("/connect", page!(start::list)),
    Page::form("/logout", page!(login::log_out)),
    Page::of("/connect/sessions/{id}", page!(session::show)),
    Page::form("/connect/sessions/{id}/{verb}", page!(session::act)),
    Page::of("/connect/{platform}", page!(start::ask)).takes(page!(start::begin)),
    Page::of("/connect/{platform}/callback", page!(session::callback)),
];

/// Returns the router of the pages, with the log-in.
pub fn router(domain: &Domain) -> Router {
    page::router(domain, PAGES)
}
