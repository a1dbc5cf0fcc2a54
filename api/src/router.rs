//! Builds the service from the route table, the documents and the pages.

use std::{collections::BTreeSet, sync::Arc};

use fanfare_core::{Domain, input, processes};
use fanfare_publishing::platforms;
use salvo::{
    Depot, FlowCtrl, Handler, Request, Response, Router, Service, async_trait,
    http::{HeaderValue, StatusCode, header::ALLOW},
};

use crate::{
    Method, billing, docs,
    endpoint::Endpoint,
    feedback,
    health::{Alive, Ready},
    inbox, mcp,
    media::{Files, MediaOrigin, UploadEndpoint},
    middleware::{
        cors::Cors, farewell::Farewell, rate_limit::RateLimitMiddleware,
        request::RequestMiddleware, same_origin::SameOrigin,
    },
    oauth, openapi,
    path::CanonicalPath,
    router_ext::RouterExt as _,
    routes::ROUTES,
    static_page::StaticPage,
    updates,
};

/// Returns the service that answers every HTTP request; `pages` are those for people.
pub fn service(domain: Domain, pages: Router) -> Service {
    domain.limits.register();
    processes::start_heartbeat(&domain);
    fanfare_core::notices::listen(&domain);
    let base_url = domain.settings.base_url.clone();
    let mut router = Router::new();
    for path in paths() {
        router = router.push(path_router(path, &domain));
    }
    router = add_documents(router, &domain)
        .push(pages)
        .push(feedback::router(&domain))
        .push(mcp::router(&domain))
        .push(updates::router(&domain.settings.base_url))
        .push(billing::router(&domain))
        .push(oauth::router(&domain))
        .push(inbox::hooks::router(&domain));
    Service::new(router)
        .hoop(RequestMiddleware::new(base_url))
        .hoop(Farewell(domain.stopping.clone()))
        .hoop(Cors)
        .hoop(CanonicalPath)
        .hoop(SameOrigin(domain.clone()))
        .hoop(MediaOrigin::new(Files(domain.clone())))
        .hoop(RateLimitMiddleware(domain))
}

/// Returns each path of the table once, with fixed segments before parameters, so that `/posts/batch` is not taken for
/// a post.
fn paths() -> Vec<&'static str> {
    let mut paths: Vec<_> = ROUTES.iter().map(|route| route.path).collect();
    paths.sort_by_key(|path| path.replace('{', "~"));
    paths.dedup();
    paths
}

fn path_router(path: &'static str, domain: &Domain) -> Router {
    let routes = ROUTES.iter().filter(|route| route.path == path);
    let taken: Vec<_> = routes.clone().map(|route| route.method).collect();
    let router = routes.fold(Router::with_path(path.trim_start_matches('/')), |router, route| {
        let endpoint = Endpoint::new(route, domain.clone());
        match route.method {
            Method::Get => router.get_and_head(endpoint),
            Method::Post => router.post(endpoint),
            Method::Put => router.put(endpoint),
            Method::Patch => router.patch(endpoint),
            Method::Delete => router.delete(endpoint),
        }
    });
    router.push(Router::new().goal(MethodNotAllowed::allowing(&taken)))
}

/// Answers 405 for all other methods of a path. Without it, routing would go on and take `/posts/batch` for a post.
struct MethodNotAllowed {
    allow: HeaderValue,
}

impl MethodNotAllowed {
    fn allowing(taken: &[Method]) -> Self {
        let head = taken.contains(&Method::Get).then_some("HEAD");
        let named: Vec<_> = taken.iter().map(|method| method.as_str()).chain(head).collect();
        let allow = HeaderValue::from_str(&named.join(", "));
        Self { allow: allow.unwrap_or_else(|_| HeaderValue::from_static("")) }
    }
}

#[async_trait]
impl Handler for MethodNotAllowed {
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

/// Returns the names of fields, settings and choices, so that no fix takes one for another.
fn words() -> BTreeSet<String> {
    let mut words = openapi::words(&openapi::document("", ROUTES));
    for platform in platforms::ids() {
        let settings = serde_json::to_value(platforms::description(platform));
        words.extend(settings.iter().flat_map(openapi::words));
    }
    words
}

fn add_documents(router: Router, domain: &Domain) -> Router {
    input::know_words(words);
    let page = |path: &'static str, page: StaticPage| {
        let router = match path.trim_start_matches('/') {
            "" => Router::new(),
            path => Router::with_path(path),
        };
        router.get_and_head(page)
    };
    // Each page is made for the service's own address.
    let base_url: Arc<str> = domain.settings.base_url.as_str().into();
    let text = |render: fn(&str) -> String| {
        let base_url = Arc::clone(&base_url);
        move || render(&base_url)
    };
    let reference = Arc::new(docs::LazyReference::new(&base_url, ROUTES));
    let (whole, one) =
        (docs::pages::ReferencePage(Arc::clone(&reference)), docs::pages::OperationPage(reference));
    let markdown = |route: &'static str, render: fn(&str) -> String| {
        page(route, StaticPage::markdown(route, text(render)))
    };
    let html =
        |route: &'static str, render: fn() -> String| page(route, StaticPage::html(route, render));
    let guides = docs::guides::ALL.iter().flat_map(|guide| {
        let at = format!("docs/guides/{}", guide.name);
        let (of_page, of_text) = (Arc::clone(&base_url), Arc::clone(&base_url));
        let html = StaticPage::html("/docs/guides/{guide}", move || guide.page(&of_page));
        let text =
            StaticPage::markdown("/docs/guides/{guide}.md", move || guide.markdown(&of_text));
        [
            Router::with_path(format!("{at}.md")).get_and_head(text),
            Router::with_path(at).get_and_head(html),
        ]
    });
    let document = text(|base_url| openapi::document(base_url, ROUTES).to_string());
    guides
        .fold(router, Router::push)
        .push(Router::with_path("healthz").get_and_head(Alive))
        .push(Router::with_path("readyz").get_and_head(Ready(domain.clone())))
        .push(page("/openapi.json", StaticPage::json("/openapi.json", document)))
        .push(Router::with_path("docs").get_and_head(whole))
        .push(html("/docs/guides", docs::guides::index))
        .push(html("/docs/errors", docs::errors))
        .push(markdown("/docs.md", |base_url| docs::markdown::reference(base_url, ROUTES)))
        .push(markdown("/docs/errors.md", |_| docs::markdown::errors()))
        .push(Router::with_path("docs/{operation}").get_and_head(one))
        .push(markdown("/llms.txt", |base_url| docs::markdown::index(base_url, ROUTES)))
        .push(markdown("/llms-full.txt", |base_url| docs::markdown::everything(base_url, ROUTES)))
        .push(Router::with_path("media/{**path}").get_and_head(Files(domain.clone())))
        .push(
            Router::with_path("upload/{token}")
                .put(UploadEndpoint(domain.clone()))
                .get_and_head(UploadEndpoint(domain.clone())),
        )
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
