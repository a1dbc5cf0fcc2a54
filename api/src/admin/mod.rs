//! The operator's dashboard, below `/admin`: pages made on the server, which work without scripts.
//!
//! [`PAGES`] lists every page; `gate.rs` lets nobody through without a log-in, and no form without its token, so a page
//! that is in the list cannot be left open. What is shown and done is the domain's (`domain::ops`).

mod act;
mod audit;
mod chart;
mod fleet;
mod gate;
mod layout;
mod live;
pub mod login;
mod parts;
mod platforms;
mod queues;
mod story;
mod visit;
mod waiting;
mod webhooks;
mod work;

use fanfare_domain::{Domain, Result};
use futures_util::future::BoxFuture;
use salvo::Router;

use crate::browser::login::Form;
use gate::Gate;
use visit::{Answer, Visit};

/// What answers for a page.
type Handler = fn(Visit) -> BoxFuture<'static, Result<Answer>>;

/// A page of the dashboard.
#[derive(Debug, Clone, Copy)]
pub struct Page {
    /// Its path, as the router writes it.
    path: &'static str,
    /// What answers when it is asked for.
    get: Option<Handler>,
    /// What answers when its form is sent.
    post: Option<Handler>,
}

impl Page {
    const fn of(path: &'static str, get: Handler) -> Self {
        Self { path, get: Some(get), post: None }
    }

    const fn takes(mut self, post: Handler) -> Self {
        self.post = Some(post);
        self
    }
}

/// A handler as the list wants it.
macro_rules! page {
    ($function:path) => {
        |visit| Box::pin($function(visit))
    };
}

/// Every page that needs a log-in.
const PAGES: &[Page] = &[
    Page::of("/admin", page!(queues::start)),
    Page::of("/admin/queues", page!(queues::show)),
    Page::of("/admin/work", page!(work::show)),
    Page::of("/admin/work/{kind}/{id}", page!(story::show)),
    Page::of("/admin/fleet", page!(fleet::show)),
    Page::of("/admin/platforms", page!(platforms::show)),
    Page::of("/admin/webhooks", page!(webhooks::show)),
    Page::of("/admin/waiting", page!(waiting::show)),
    Page::of("/admin/audit", page!(audit::show)),
    Page::of("/admin/act/{verb}", page!(act::ask)).takes(page!(act::carry_out)),
    Page { path: "/admin/logout", get: None, post: Some(page!(login::log_out)) },
    Page::of("/admin/live/{page}", page!(live::show)),
];

/// The dashboard's router.
pub fn router(domain: &Domain) -> Router {
    let log_in = || Form(domain.clone(), &login::OPERATORS);
    let mut router =
        Router::new().push(Router::with_path("admin/login").get(log_in()).post(log_in()));
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
