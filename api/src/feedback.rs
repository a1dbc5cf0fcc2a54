//! Feedback: the two operations and the public board.

use fanfare_core::{Code, Domain, Error, Reply, Result, clock::to_rfc3339};
use fanfare_entities::FeedbackId;
use fanfare_ops::feedback::{self, BoardMessage, StoredAgentFeedback, StoredFeedback};
use maud::{Markup, html};
use salvo::{Depot, FlowCtrl, Handler, Request, Response, Router, async_trait};

use crate::{
    Call, call::parse, docs, middleware::request::LogFields, router_ext::RouterExt as _,
    static_page::StaticPage,
};

/// Adds a message to the board.
pub async fn submit(mut call: Call) -> Result<Reply<StoredFeedback>> {
    let (new, flaws) = call.readable_body()?;
    feedback::submit(&call.act, new, flaws).await
}

/// Stores an agent's report about a tool.
pub async fn submit_agent(mut call: Call) -> Result<Reply<StoredAgentFeedback>> {
    let new = call.body()?;
    feedback::report(&call.act, new).await
}

/// Returns the router of the board.
pub fn router(domain: &Domain) -> Router {
    Router::with_path("feedback")
        .get_and_head(Board(domain.clone()))
        .push(Router::with_path("{id}").get_and_head(OneItem(domain.clone())))
}

/// `GET /feedback?before=…`: the newest messages.
struct Board(Domain);

/// `GET /feedback/{id}`: one message.
struct OneItem(Domain);

#[async_trait]
impl Handler for Board {
    async fn handle(&self, req: &mut Request, _: &mut Depot, res: &mut Response, _: &mut FlowCtrl) {
        LogFields::set_route(req, "/feedback");
        let before = req.query::<String>("before");
        let before = before.map(|id| parse(&id, Code::NotFound).map(FeedbackId)).transpose();
        let shown = match before {
            Ok(before) => feedback::list(&self.0, before).await.map(|items| list(&items)),
            Err(error) => Err(error),
        };
        show_page(res, "Feedback", "/feedback", shown);
    }
}

#[async_trait]
impl Handler for OneItem {
    async fn handle(&self, req: &mut Request, _: &mut Depot, res: &mut Response, _: &mut FlowCtrl) {
        LogFields::set_route(req, "/feedback/{id}");
        let id = req.param::<String>("id").unwrap_or_default();
        let found = match parse(&id, Code::NotFound).map(FeedbackId) {
            Ok(id) => feedback::find(&self.0, id).await,
            Err(error) => Err(error),
        };
        let title = found.as_ref().map_or("Feedback", |item| item.title.as_str()).to_owned();
        show_page(res, &title, "/feedback/{id}", found.map(|item| entry(&item)));
    }
}

fn show_page(res: &mut Response, title: &str, route: &'static str, main: Result<Markup>) {
    let (status, main) = match main {
        Ok(main) => (200, main),
        Err(error) => (error.status(), error_main(&error)),
    };
    res.status_code(salvo::http::StatusCode::from_u16(status).unwrap_or_default());
    let html = docs::page(title, &main);
    StaticPage::html(route, || html).write(res);
}

fn error_main(error: &Error) -> Markup {
    html! { p { (error.message()) } p { a href="/feedback" { "All feedback" } } }
}

fn list(items: &[BoardMessage]) -> Markup {
    html! {
        p {
            "What users of Fanfare ask for. Send yours with "
            code { "POST /api/v1/feedback" } "."
        }
        @if items.is_empty() { p.soft { "Nothing yet." } }
        @for item in items {
            section {
                h2 { a href={ "/feedback/" (item.id) } { (item.title) } }
                (facts(item))
            }
        }
        @if let Some(last) = items.last().filter(|_| items.len() >= 50) {
            p { a href={ "/feedback?before=" (last.id) } rel="next" { "Older" } }
        }
    }
}

fn entry(item: &BoardMessage) -> Markup {
    html! {
        (facts(item))
        @for line in item.description.lines() { p { (line) } }
        p { a href="/feedback" { "All feedback" } }
    }
}

fn facts(item: &BoardMessage) -> Markup {
    let day = to_rfc3339(item.created_at).chars().take(10).collect::<String>();
    html! { p.soft { (item.category) " · " strong { (item.status) } " · " time datetime=(day) { (day) } } }
}
