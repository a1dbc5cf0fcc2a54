//! A person's own pages: made on the server, complete without scripts, behind the log-in of everybody.
//!
//! [`PAGES`] lists every page; what lies before each of them is `middleware/page.rs`.

mod api_keys;
mod apps;
mod billing;
mod confirm;
mod home;
pub mod menu;
mod operation;
mod parts;
mod seat;

use fanfare_domain::Domain;
use salvo::Router;

use crate::{
    middleware::page::{self, Page, page},
    oauth_connect::ConnectPages,
};

/// Every page.
const PAGES: &[Page<ConnectPages>] = &[
    Page::of("/dashboard", page!(home::show)),
    Page::form("/dashboard/workspace", page!(seat::choose)),
    Page::of("/dashboard/api", page!(api_keys::show)).takes(page!(api_keys::create)),
    Page::form("/dashboard/api/{id}/replace", page!(api_keys::replace)),
    Page::form("/dashboard/api/{id}/revoke", page!(api_keys::revoke)),
    Page::of("/dashboard/apps", page!(apps::show)).takes(page!(apps::create)),
    Page::form("/dashboard/apps/own/{id}", page!(apps::update)),
    Page::form("/dashboard/apps/own/{id}/delete", page!(apps::delete)),
    Page::form("/dashboard/apps/{id}/end", page!(apps::end)),
    Page::of("/dashboard/billing", page!(billing::show)),
    Page::of("/dashboard/billing/portal", page!(billing::portal)),
    Page::of("/dashboard/billing/credits", page!(billing::credits)),
];

/// The pages' router.
pub fn router(domain: &Domain) -> Router {
    page::pages(domain, PAGES)
}
