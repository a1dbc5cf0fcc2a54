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

use fanfare_domain::Domain;
use salvo::Router;

use crate::middleware::page::{self, Page, page};
use site::Dashboard;

/// Every page that needs a log-in.
const PAGES: &[Page<Dashboard>] = &[
    Page::of("/admin", page!(queues::start)),
    Page::of("/admin/queues", page!(queues::show)),
    Page::of("/admin/work", page!(work::show)),
    Page::of("/admin/work/{kind}/{id}", page!(story::show)),
    Page::of("/admin/fleet", page!(fleet::show)),
    Page::of("/admin/platforms", page!(platforms::show)),
    Page::of("/admin/readings", page!(readings::show)),
    Page::of("/admin/webhooks", page!(webhooks::show)),
    Page::of("/admin/waiting", page!(waiting::show)),
    Page::of("/admin/feedback", page!(feedback::show)),
    Page::of("/admin/audit", page!(audit::show)),
    Page::of("/admin/act/{verb}", page!(act::ask)).takes(page!(act::carry_out)),
    Page::form("/admin/logout", page!(login::log_out)),
    Page::of("/admin/live/{page}", page!(live::show)),
    Page::of("/admin/live/{page}/{kind}/{id}", page!(live::show)),
    Page::of("/admin/{**rest}", page!(visit::nowhere)),
];

/// Returns the router of the dashboard.
pub fn router(domain: &Domain) -> Router {
    page::router(domain, PAGES)
}
