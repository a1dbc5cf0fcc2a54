//! Serves the reference: `/docs`, with a search in `?q=`, and `/docs/{operation}`, also as `.md`.

use std::sync::Arc;

use salvo::{
    Depot, FlowCtrl, Handler, Request, Response, async_trait,
    http::{ResBody, StatusCode},
};

use super::LazyReference;
use crate::{middleware::request::LogFields, query, static_page::StaticPage};

/// The longest search, in characters.
const LONGEST: usize = 200;

/// `GET /docs`.
#[derive(Clone)]
pub struct ReferencePage(pub Arc<LazyReference>);

/// `GET /docs/{operation}` and `GET /docs/{operation}.md`.
#[derive(Clone)]
pub struct OperationPage(pub Arc<LazyReference>);

#[async_trait]
impl Handler for ReferencePage {
    async fn handle(
        &self,
        req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        LogFields::set_route(req, "/docs");
        let pairs = query::pairs(req.uri().query()).unwrap_or_default();
        let asked =
            pairs.iter().find(|(name, _)| name == "q").map_or("", |(_, asked)| asked.as_str());
        let asked: String = asked.trim().chars().take(LONGEST).collect();
        let html = self.0.page(&asked);
        StaticPage::html("/docs", || html).write(res);
    }
}

#[async_trait]
impl Handler for OperationPage {
    async fn handle(
        &self,
        req: &mut Request,
        _depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        const ROUTE: &str = "/docs/{operation}";
        LogFields::set_route(req, ROUTE);
        let name = req.params().get("operation").map(String::as_str).unwrap_or_default();
        let page = match name.strip_suffix(".md") {
            Some(name) => {
                let text = self.0.markdown(name).map(str::to_owned);
                text.map(|text| StaticPage::markdown(ROUTE, || text))
            }
            None => self.0.operation(name).map(|html| StaticPage::html(ROUTE, || html)),
        };
        match page {
            Some(page) => page.write(res),
            None => {
                res.status_code(StatusCode::NOT_FOUND);
                res.replace_body(ResBody::None);
            }
        }
    }
}
