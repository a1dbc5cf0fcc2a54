//! The documentation pages, made from the route table and the error catalogue.

pub mod example;
pub mod guides;
mod html;
pub mod markdown;
pub mod pages;
mod reference;
mod sample;
mod search;

use fanfare_core::{
    Code,
    remedies::{NextStep, after_post_failure, fixes, next_steps},
};
use fanfare_publishing::posts::{POST_ERRORS, post_failure};
use maud::{Markup, html};
use schemars::SchemaGenerator;
use serde_json::Value;

use crate::Route;
use html::with_code;

pub use html::{markdown as rendered, page};
#[cfg(test)]
use reference::Reference;
pub use reference::{LazyReference, reply_examples};

fn anchor(tag: &str) -> String {
    tag.replace(' ', "-")
}

/// Renders the fields of query and body.
fn fields(route: &Route) -> Markup {
    let listed = schemas(route);
    let any = listed.iter().any(|(schema, _)| !schema["properties"].is_null());
    html! {
        @if any {
            dl { @for (schema, place) in listed { (properties(&schema, &format!("in the {place}"))) } }
        }
    }
}

/// Returns the schemas of a route's query and body, each with its name.
fn schemas(route: &Route) -> Vec<(Value, &'static str)> {
    let mut generator = SchemaGenerator::default();
    let query = route.query.map(|query| (query.schema)(&mut generator).to_value());
    let body = route.body.map(|body| {
        let reference = (body.schema)(&mut generator);
        let name = reference.get("$ref").and_then(Value::as_str);
        let name = name.and_then(|path| path.rsplit('/').next());
        let schema = name.and_then(|name| generator.definitions().get(name));
        schema.unwrap_or(reference.as_value()).clone()
    });
    let query = query.into_iter().map(|schema| (schema, "query"));
    query.chain(body.into_iter().map(|schema| (schema, "body"))).collect()
}

fn properties(schema: &Value, place: &str) -> Markup {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    html! {
        @for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            dt {
                code { (name) } " "
                span.soft { (place) @if required.iter().any(|other| other == name) { ", required" } }
            }
            dd { (with_code(field["description"].as_str().unwrap_or_default())) }
        }
    }
}

/// Returns the page of errors, each with its anchor.
pub fn errors() -> String {
    let main = html! {
        p {
            "Every refusal is JSON with " code { "error" } " (a sentence), " code { "code" } " (one of these) and "
            code { "request_id" } ". What is wrong with fields stands in " code { "validation_errors" }
            ", all at once."
        }
        h2 { "Errors of requests" }
        @for code in Code::ALL {
            @let entry = code.entry();
            section id=(entry.code) {
                h3 { code { (entry.code) } " " span.soft { (entry.status) } }
                p { (with_code(entry.cause)) }
                p {
                    (with_code(entry.remedy))
                    " " span.soft { code { "retry: " (code.retry().name()) } }
                }
                @let fixes = fixes(*code);
                @if !fixes.is_empty() { p { code { "fix" } ": " (with_code(fixes)) } }
                (next_calls(next_steps(*code)))
                @if post_failure(entry.code).is_some() {
                    p { "Posts fail with it too:" }
                    (next_calls(after_post_failure(entry.code)))
                }
            }
        }
        h2 { "Errors of posts" }
        @for (code, cause) in POST_ERRORS {
            section id=(code) {
                h3 { code { (code) } }
                p { (cause) }
                @if let Some(failure) = post_failure(code) {
                    p { (failure.remedy) " " span.soft { code { "retry: " (failure.retry.name()) } } }
                }
                (next_calls(after_post_failure(code)))
            }
        }
    };
    page("Errors", &main)
}

/// Renders the calls that may follow an error.
fn next_calls(leads: &[NextStep]) -> Markup {
    html! {
        @if !leads.is_empty() {
            ul {
                @for (call, why) in leads.iter().map(NextStep::description) {
                    li { code { "next" } ": " code { (call) } ". " (why) }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routes::ROUTES;

    #[test]
    fn every_route_stands_in_the_reference_with_its_fields() {
        let page = Reference::new("https://f.example", ROUTES).page("");
        for route in ROUTES {
            assert!(page.contains(&format!("<section id=\"{}\">", route.name)), "{}", route.name);
        }
        assert!(
            page.contains("<code>scheduled_at</code>") && page.contains("in the body, required")
        );
        assert!(!page.contains("<script"));
        for part in ["class=\"as-curl\"", "class=\"as-cli\"", "class=\"as-mcp\""] {
            assert_eq!(page.matches(part).count(), ROUTES.len(), "{part}");
        }
        assert!(page.contains("/docs/errors#caption_too_long") && page.contains("Reply 201"));
    }

    #[test]
    fn a_search_finds_operations_and_errors_by_their_words() {
        let reference = Reference::new("https://f.example", ROUTES);
        let found = reference.page("multipart caption_too_long nowhere");
        assert!(found.contains("No operation has all of these words."));
        let found = reference.page("<b>dismiss SUGGESTED");
        assert!(found.contains("<section id=\"dismiss_suggestion\">"), "{found}");
        assert!(!found.contains("<section id=\"create_post\">") && !found.contains("<b>"));
        assert!(reference.page("caption_too_long").contains("/docs/errors#caption_too_long"));
    }

    #[test]
    fn every_operation_has_a_page_and_its_markdown() {
        let reference = Reference::new("https://f.example", ROUTES);
        for route in ROUTES {
            assert!(reference.operation(route.name).unwrap().contains("as-curl"), "{}", route.name);
            let text = reference.markdown(route.name).unwrap();
            assert!(text.contains(route.when) && text.contains("```json"), "{}", route.name);
        }
        assert!(
            reference.operation("nothing").is_none() && reference.markdown("nothing").is_none()
        );
    }

    #[test]
    fn every_code_has_its_anchor() {
        let page = errors();
        let codes = Code::ALL.iter().map(|code| code.entry().code);
        for code in codes.chain(POST_ERRORS.map(|(code, _)| code)) {
            assert!(page.contains(&format!("id=\"{code}\"")), "{code}");
            assert!(markdown::errors().contains(&format!("## {code}")), "{code}");
        }
    }
}
