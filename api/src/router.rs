//! The table and the pages as one service.

use std::sync::Arc;

use fanfare_domain::{Domain, processes};
use salvo::{
    Depot, FlowCtrl, Handler, Request, Response, Router, Service, async_trait,
    http::{HeaderValue, StatusCode, header::ALLOW},
};

use crate::{
    Method, admin, assets, billing, dashboard, docs,
    endpoint::Endpoint,
    feedback, guest_upload,
    health::{Alive, Ready},
    inbox, mcp,
    media::{Files, Gateway, OwnOrigin},
    middleware::{cors::Cors, rate_limit::RateLimitMiddleware, request::RequestMiddleware},
    oauth, oauth_connect, openapi,
    page::Page,
    passwords,
    path::OneSpelling,
    reads::Reads as _,
    routes::ROUTES,
    signup, updates,
};

/// Everything that is served over HTTP.
pub fn service(domain: Domain) -> Service {
    domain.limits.take_part();
    processes::keep(&domain);
    fanfare_domain::media::listen(&domain);
    let base_url = domain.settings.base_url.clone();
    let mut router = Router::new();
    for path in paths() {
        router = router.push(at(path, &domain));
    }
    router = pages(router, &domain)
        .push(guest_upload::router(&domain))
        .push(admin::router(&domain))
        .push(oauth_connect::router(&domain))
        .push(dashboard::router(&domain))
        .push(passwords::router(&domain))
        .push(signup::router(&domain))
        .push(feedback::router(&domain))
        .push(mcp::router(&domain))
        .push(updates::router(&domain.settings.base_url))
        .push(billing::router(&domain))
        .push(oauth::router(&domain))
        .push(inbox::hooks::router(&domain));
    Service::new(router)
        .hoop(RequestMiddleware::new(base_url))
        .hoop(OneSpelling)
        .hoop(Cors)
        .hoop(OwnOrigin::new(Files(domain.clone())))
        .hoop(RateLimitMiddleware(domain))
}

/// Each path of the table once. Fixed steps come before parameters, so that `/posts/batch` is no post.
fn paths() -> Vec<&'static str> {
    let mut paths: Vec<_> = ROUTES.iter().map(|route| route.path).collect();
    paths.sort_by_key(|path| path.replace('{', "~"));
    paths.dedup();
    paths
}

fn at(path: &'static str, domain: &Domain) -> Router {
    let routes = ROUTES.iter().filter(|route| route.path == path);
    let taken: Vec<_> = routes.clone().map(|route| route.method).collect();
    let router = routes.fold(Router::with_path(path.trim_start_matches('/')), |router, route| {
        let endpoint = Endpoint::new(route, domain.clone());
        match route.method {
            Method::Get => router.reads(endpoint),
            Method::Post => router.post(endpoint),
            Method::Put => router.put(endpoint),
            Method::Patch => router.patch(endpoint),
            Method::Delete => router.delete(endpoint),
        }
    });
    router.push(Router::new().goal(NoMethod::but(&taken)))
}

/// Refuses every other method of a path. Without it the search for a route would go on, and take `/posts/batch` for a post.
struct NoMethod {
    allow: HeaderValue,
}

impl NoMethod {
    fn but(taken: &[Method]) -> Self {
        let head = taken.contains(&Method::Get).then_some("HEAD");
        let named: Vec<_> = taken.iter().map(|method| method.as_str()).chain(head).collect();
        let allow = HeaderValue::from_str(&named.join(", "));
        Self { allow: allow.unwrap_or_else(|_| HeaderValue::from_static("")) }
    }
}

#[async_trait]
impl Handler for NoMethod {
    async fn handle(
        &self,
        _req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        res.status_code(StatusCode::METHOD_NOT_ALLOWED);
        res.headers_mut().insert(ALLOW, self.allow.clone());
    }
}

fn pages(router: Router, domain: &Domain) -> Router {
    let base_url = &domain.settings.base_url;
    let document = openapi::document(base_url, ROUTES).to_string();
    let page = |path: &'static str, page: Page| {
        let router = match path.trim_start_matches('/') {
            "" => Router::new(),
            path => Router::with_path(path),
        };
        router.reads(page)
    };
    let html = |route: &'static str, html: String| page(route, Page::html(route, html));
    let reference = Arc::new(docs::Reference::new(base_url, ROUTES));
    let (whole, one) = (docs::pages::Whole(Arc::clone(&reference)), docs::pages::One(reference));
    let markdown = |route: &'static str, text: String| page(route, Page::markdown(route, text));
    router
        .push(Router::with_path("healthz").reads(Alive))
        .push(Router::with_path("readyz").reads(Ready(domain.clone())))
        .push(page("/openapi.json", Page::json("/openapi.json", document)))
        .push(html("/", docs::start(base_url)))
        .push(Router::with_path("docs").reads(whole))
        .push(html("/docs/errors", docs::errors()))
        .push(markdown("/docs.md", docs::markdown::reference(base_url, ROUTES)))
        .push(markdown("/docs/errors.md", docs::markdown::errors()))
        .push(Router::with_path("docs/{operation}").reads(one))
        .push(markdown("/llms.txt", docs::markdown::index(base_url, ROUTES)))
        .push(markdown("/llms-full.txt", docs::markdown::everything(base_url, ROUTES)))
        .push(Router::with_path("media/{**path}").reads(Files(domain.clone())))
        .push(Router::with_path("upload/{token}").put(Gateway(domain.clone())))
        .push(Router::with_path("assets/{name}").reads(assets::File))
}

#[cfg(test)]
mod tests {
    use super::paths;

    #[test]
    fn fixed_steps_come_before_parameters() {
        let paths = paths();
        let place = |path: &str| paths.iter().position(|known| *known == path).unwrap();
        assert!(place("/api/v1/posts/batch") < place("/api/v1/posts/{id}"));
        let unique: std::collections::HashSet<_> = paths.iter().collect();
        assert_eq!(unique.len(), paths.len());
    }
}
