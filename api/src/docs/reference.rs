//! The reference: every route with its request in three forms, its replies and its errors; whole, by search words, or
//! one operation at a time.

use std::{ops::Deref, sync::LazyLock};

use maud::{Markup, PreEscaped, html};
use serde_json::Value;

use super::{
    anchor, example, fields, guides,
    html::{self, with_code},
    markdown,
    sample::Sampler,
    search,
};
use crate::{Route, Success, hints::Hints, openapi};

/// The rendered reference.
pub struct Reference {
    entries: Vec<Entry>,
}

/// The reference, rendered when somebody first asks for it.
pub struct LazyReference(LazyLock<Reference, Box<dyn FnOnce() -> Reference + Send>>);

impl LazyReference {
    /// Returns the reference of these routes.
    #[must_use]
    pub fn new(base_url: &str, routes: &'static [Route]) -> Self {
        let base_url = base_url.to_owned();
        Self(LazyLock::new(Box::new(move || Reference::new(&base_url, routes))))
    }
}

impl Deref for LazyReference {
    type Target = Reference;

    fn deref(&self) -> &Reference {
        &self.0
    }
}

/// An operation in the reference.
struct Entry {
    route: &'static Route,
    words: String,
    html: String,
    markdown: String,
}

/// A successful reply with an example of its body.
pub struct ReplyExample {
    /// Its status, and when it is sent.
    pub success: Success,
    /// An example.
    pub body: Value,
}

impl Reference {
    /// Renders the reference of these routes.
    #[must_use]
    pub fn new(base_url: &str, routes: &'static [Route]) -> Self {
        let document = openapi::document(base_url, routes);
        let entry = |route: &'static Route| {
            let answers = reply_examples(&document, route);
            let text = markdown::operation(base_url, route, &answers);
            let words = markdown::entry(base_url, route).to_lowercase();
            let html = section(base_url, route, &answers).into_string();
            Entry { route, words, html, markdown: text }
        };
        Self { entries: routes.iter().map(entry).collect() }
    }

    /// Returns the page with all operations, or with those that contain all words of a search.
    #[must_use]
    pub fn page(&self, query: &str) -> String {
        let words = search::words(query);
        let found: Vec<_> =
            self.entries.iter().filter(|entry| search::has(&entry.words, &words)).collect();
        let chapters = openapi::TAGS.iter().filter_map(|(tag, doc)| {
            let of_tag: Vec<_> = found.iter().filter(|entry| entry.route.tag == *tag).collect();
            (!of_tag.is_empty()).then_some((tag, doc, of_tag))
        });
        let chapters: Vec<_> = chapters.collect();
        let main = html! {
            (intro(query))
            @if words.is_empty() {
                p { "Guides:" }
                (guides::list())
                p { "Operations:" }
                ul { @for (tag, doc, _) in &chapters { li { a href={ "#" (anchor(tag)) } { (tag) } ": " (doc) } } }
            } @else {
                (search::errors(&words, found.len()))
            }
            (html::switch())
            @for (tag, doc, entries) in &chapters {
                h2 id=(anchor(tag)) { (tag) }
                p { (doc) }
                @for entry in entries { (PreEscaped(&entry.html)) }
            }
        };
        html::page("The API", &main)
    }

    /// Returns the page of one operation.
    #[must_use]
    pub fn operation(&self, name: &str) -> Option<String> {
        let entry = self.entries.iter().find(|entry| entry.route.name == name)?;
        let tag = entry.route.tag;
        let main = html! {
            (html::switch())
            h2 { a href={ "/docs#" (anchor(tag)) } { (tag) } }
            (PreEscaped(&entry.html))
        };
        Some(html::page(name, &main))
    }

    /// Returns the page of one operation as Markdown.
    #[must_use]
    pub fn markdown(&self, name: &str) -> Option<&str> {
        let entry = self.entries.iter().find(|entry| entry.route.name == name)?;
        Some(&entry.markdown)
    }
}

/// Returns the successful replies of a route, with examples from their schemas.
pub fn reply_examples(document: &Value, route: &Route) -> Vec<ReplyExample> {
    let method = route.method.as_str().to_lowercase();
    let responses = &document["paths"][route.path][method]["responses"];
    let answer = |success: &Success| {
        let response = &responses[success.status.to_string()];
        let body = Sampler(document).of(&response["content"]["application/json"]["schema"]);
        ReplyExample { success: *success, body }
    };
    route.replies.iter().flatten().map(answer).collect()
}

fn intro(query: &str) -> Markup {
    html! {
        p {
            "Send your key as " code { "Authorization: Bearer …" } ". Bodies are JSON; a field that is not known is \
             refused. Every change may carry an " code { "Idempotency-Key" } ", which makes it safe to send again. \
             Programs read " a href="/openapi.json" { "the OpenAPI document" } ", agents "
            a href="/docs.md" { "this page as Markdown" } "."
        }
        form role="search" method="get" action="/docs" {
            label for="q" { "Search " }
            input #q type="search" name="q" value=(query) maxlength="200";
            " " button { "Search" }
            @if !query.is_empty() { " " a href="/docs" { "Show everything" } }
        }
    }
}

fn section(base_url: &str, route: &Route, answers: &[ReplyExample]) -> Markup {
    let mut codes = openapi::codes(route);
    codes.sort_by_key(|code| code.entry().status);
    html! {
        section id=(route.name) {
            h3 { a href={ "/docs/" (route.name) } { code { span.method { (route.method.as_str()) } " " (route.path) } } }
            p { (with_code(route.summary)) ". " span.soft { (with_code(&openapi::needs(route))) } }
            p { (with_code(route.when)) " " span.soft { (with_code(Hints::of(route).description())) } }
            (fields(route))
            div.beside {
                div {
                    h4 { "Request" }
                    pre.as-curl tabindex="0" { code { (example::curl(base_url, route)) } }
                    pre.as-cli tabindex="0" { code { (example::command(route)) } }
                    pre.as-mcp tabindex="0" { code { (example::tool_call(route)) } }
                }
                div {
                    @for answer in answers {
                        h4 { "Reply " (answer.success.status) }
                        p.soft { (with_code(answer.success.doc)) }
                        pre tabindex="0" { code { (example::pretty(&answer.body)) } }
                    }
                    details {
                        summary { "Errors" }
                        ul {
                            @for entry in codes.iter().map(|code| code.entry()) {
                                li { (entry.status) " " a href={ "/docs/errors#" (entry.code) } { code { (entry.code) } } }
                            }
                        }
                    }
                    p.soft { a href={ "/docs/" (route.name) ".md" } { "As Markdown" } }
                }
            }
        }
    }
}
