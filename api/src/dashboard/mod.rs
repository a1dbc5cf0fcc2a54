//! A person's own pages: made on the server, complete without scripts, behind the log-in of everybody.
//!
//! [`PAGES`] lists every page; what lies before each of them is `middleware/page.rs`.

mod api_keys;
mod billing;

use fanfare_domain::Domain;
use salvo::Router;

use crate::{
    middleware::page::{self, Page, page},
    oauth_connect::ConnectPages,
};

/// Every page.
const PAGES: &[Page<ConnectPages>] = &[
    Page::of("/dashboard/api", page!(api_keys::show)),
    Page::of("/dashboard/billing", page!(billing::show)),
    Page::of("/dashboard/billing/portal", page!(billing::portal)),
    Page::of("/dashboard/billing/credits", page!(billing::credits)),
];

/// The pages' router.
pub fn router(domain: &Domain) -> Router {
    page::pages(domain, PAGES)
}
