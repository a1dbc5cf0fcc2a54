//! The pages for people, made from the table of routes and the catalogue of errors.

mod example;
mod html;

use fanfare_domain::Code;
use schemars::SchemaGenerator;
use serde_json::Value;

use crate::{Route, openapi};
use html::{escape, marked, page};

/// The start page.
pub fn start(base_url: &str) -> String {
    let base_url = escape(base_url);
    page(
        "Fanfare",
        &format!(
            "<p>Publishes posts on social networks at their time, once, and proves what was sent.</p>\n\
             <pre><code>curl {base_url}/api/v1/whoami \\\n  \
             -H \"Authorization: Bearer $FANFARE_API_KEY\"</code></pre>\n\
             <ul>\n<li><a href=\"/docs\">The API</a>, route by route, with examples</li>\n\
             <li><a href=\"/docs/errors\">The errors</a>, each with its cause and its remedy</li>\n\
             <li><a href=\"/openapi.json\">The OpenAPI document</a>, for programs</li>\n</ul>\n"
        ),
    )
}

/// The reference: every route of the table.
pub fn reference(base_url: &str, routes: &[Route]) -> String {
    let mut main = String::from(
        "<p>Send your key as <code>Authorization: Bearer …</code>. Bodies are JSON; a field that is not known is \
         refused. Every change may carry an <code>Idempotency-Key</code>, which makes it safe to send again.</p>\n\
         <ul>\n",
    );
    for (tag, doc) in openapi::TAGS {
        main += &format!("<li><a href=\"#{tag}\">{tag}</a>: {}</li>\n", escape(doc));
    }
    main += "</ul>\n";
    for (tag, doc) in openapi::TAGS {
        main += &format!("<h2 id=\"{tag}\">{tag}</h2>\n<p>{}</p>\n", escape(doc));
        for route in routes.iter().filter(|route| route.tag == tag) {
            main += &entry(base_url, route);
        }
    }
    page("The API", &main)
}

fn entry(base_url: &str, route: &Route) -> String {
    let mut entry = format!(
        "<section id=\"{name}\">\n<h3><code><span class=\"method\">{method}</span> {path}</code></h3>\n\
         <p>{summary}. <span class=\"soft\">{needs}</span></p>\n",
        name = route.name,
        method = route.method.as_str(),
        path = escape(route.path),
        summary = marked(route.summary),
        needs = marked(&openapi::needs(route)),
    );
    entry += &fields(route);
    entry += &format!("<pre><code>{}</code></pre>\n", escape(&example::curl(base_url, route)));
    let answers = route.replies.iter().flatten();
    let answers = answers.map(|reply| format!("{}: {}", reply.status, reply.doc));
    entry += &format!("<p class=\"soft\">{}</p>\n", escape(&answers.collect::<Vec<_>>().join(" ")));
    entry + "</section>\n"
}

/// The fields of query and body.
fn fields(route: &Route) -> String {
    let mut generator = SchemaGenerator::default();
    let mut list = String::new();
    if let Some(query) = route.query {
        list += &properties((query.schema)(&mut generator).as_value(), "in the query");
    }
    if let Some(body) = route.body {
        let reference = (body.schema)(&mut generator);
        let name =
            reference.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next());
        let schema = name.and_then(|name| generator.definitions().get(name));
        list += &properties(schema.unwrap_or(reference.as_value()), "in the body");
    }
    if list.is_empty() { list } else { format!("<dl>\n{list}</dl>\n") }
}

fn properties(schema: &Value, place: &str) -> String {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let one = |(name, field): (&String, &Value)| {
        let doc = field["description"].as_str().unwrap_or_default();
        let needed = if required.iter().any(|other| other == name) { ", required" } else { "" };
        format!(
            "<dt><code>{}</code> <span class=\"soft\">{place}{needed}</span></dt><dd>{}</dd>\n",
            escape(name),
            marked(doc)
        )
    };
    schema["properties"].as_object().into_iter().flatten().map(one).collect()
}

/// The errors, each with its anchor.
pub fn errors() -> String {
    let mut main = String::from(
        "<p>Every refusal is JSON with <code>error</code> (a sentence), <code>code</code> (one of these) and \
         <code>request_id</code>. What is wrong with fields stands in <code>validation_errors</code>, all at \
         once.</p>\n",
    );
    for code in Code::ALL {
        let entry = code.entry();
        let again = if entry.retryable { "The same request may succeed later." } else { "" };
        main += &format!(
            "<section id=\"{code}\">\n<h3><code>{code}</code> <span class=\"soft\">{status}</span></h3>\n\
             <p>{cause}</p>\n<p>{remedy} <span class=\"soft\">{again}</span></p>\n</section>\n",
            code = entry.code,
            status = entry.status,
            cause = marked(entry.cause),
            remedy = marked(entry.remedy),
        );
    }
    page("Errors", &main)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routes::ROUTES;

    #[test]
    fn every_route_stands_in_the_reference_with_its_fields() {
        let page = reference("https://f.example", ROUTES);
        for route in ROUTES {
            assert!(page.contains(&format!("<section id=\"{}\">", route.name)), "{}", route.name);
        }
        assert!(
            page.contains("<code>scheduled_at</code>") && page.contains("in the body, required")
        );
        assert!(!page.contains("<script"));
    }

    #[test]
    fn every_code_has_its_anchor() {
        let page = errors();
        for code in Code::ALL {
            assert!(page.contains(&format!("id=\"{}\"", code.entry().code)), "{code:?}");
        }
    }
}
