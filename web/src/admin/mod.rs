//! The operators' dashboard, below `/admin`: pages rendered on the server, which work without scripts.
//!
//! [`PAGES`] lists every page. `middleware/page.rs` checks the session of each of them, so that no page of the list can
//! be left open. The data and the actions are those of `domain::ops`.

mod act;
mod audit;
mod chart;
mod feedback;
mod fleet;
mod layout;
mod live;
pub mod login;
pub mod parts;
mod platforms;
mod queues;
mod readings;
mod site;
mod story;
mod visit;
mod waiting;
mod webhooks;
mod work;

use fanfare_core::Domain;
use salvo::Router;

use crate::page::{self, PageRoute, page};
use site::AdminSite;

/// Every page that needs a log-in.
const PAGES: &[PageRoute<AdminSite>] = &[
    PageRoute::get("/admin", page!(queues::start)),
    PageRoute::get("/admin/queues", page!(queues::show)),
    PageRoute::get("/admin/work", page!(work::show)),
    PageRoute::get("/admin/work/{kind}/{id}", page!(story::show)),
    PageRoute::get("/admin/fleet", page!(fleet::show)),
    PageRoute::get("/admin/platforms", page!(platforms::show)),
    PageRoute::get("/admin/readings", page!(readings::show)),
    PageRoute::get("/admin/webhooks", page!(webhooks::show)),
    PageRoute::get("/admin/waiting", page!(waiting::show)),
    PageRoute::get("/admin/feedback", page!(feedback::show)),
    PageRoute::get("/admin/audit", page!(audit::show)),
    PageRoute::get("/admin/act/{verb}", page!(act::ask)).with_form(page!(act::carry_out)),
    PageRoute::post("/admin/logout", page!(login::log_out)),
    PageRoute::get("/admin/live/{page}", page!(live::show)),
    PageRoute::get("/admin/live/{page}/{kind}/{id}", page!(live::show)),
    PageRoute::get("/admin/{**rest}", page!(visit::not_found)),
];

/// Returns the router of the dashboard.
pub fn router(domain: &Domain) -> Router {
    page::router(domain, PAGES)
}
