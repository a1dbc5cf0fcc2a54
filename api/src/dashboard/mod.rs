//! A person's own pages: made on the server, complete without scripts, behind the log-in of everybody.
//!
//! [`PAGES`] lists every page; what lies before each of them is `browser/gate.rs`.

mod api_keys;

use fanfare_domain::Domain;
use salvo::Router;

use crate::{
    browser::gate::{self, Page, page},
    handoff::Handoff,
};

/// Every page.
const PAGES: &[Page<Handoff>] = &[Page::of("/dashboard/api", page!(api_keys::show))];

/// The pages' router.
pub fn router(domain: &Domain) -> Router {
    gate::pages(domain, PAGES)
}
