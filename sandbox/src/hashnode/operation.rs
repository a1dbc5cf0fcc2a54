//! Runs operations.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::graphql::{self, Field, Operation};
use super::{Cx, Hashnode, arguments, publish, representations};
use crate::call::Call;
use crate::metrics::{self, MetricSubject};
use crate::reply::{HandlerResult, Reply};
use crate::sim::Account;

/// Returns an error in the API's format.
pub(super) fn failure(status: u16, code: &str, message: &str) -> Reply {
    let error = json!({"message": message, "extensions": {"code": code}});
    Reply::json(status, &json!({"errors": [error], "data": null}))
}

fn read(call: &Call) -> Result<Operation, String> {
    let body = call.json().map_err(|_| "The body is not JSON.".to_owned())?;
    let document = body["query"].as_str().ok_or("Must provide query string.")?;
    graphql::parse(document, &body["variables"])
}

/// Returns true if the request changes something.
pub(super) fn is_mutation(call: &Call) -> bool {
    read(call).is_ok_and(|operation| operation.is_mutation)
}

/// Returns the account of the request's token.
fn account(cx: &Cx) -> Result<Arc<Account<Hashnode>>, Reply> {
    let account = cx.account.clone().filter(|account| !account.read(|state| state.revoked));
    account.ok_or_else(|| failure(200, "UNAUTHENTICATED", "You must be authenticated."))
}

/// `POST /`
pub(super) fn run(cx: &Cx) -> HandlerResult {
    let operation = read(&cx.call).map_err(|why| failure(400, "GRAPHQL_PARSE_FAILED", &why))?;
    if let Some(why) = arguments::objection(&operation) {
        return Err(failure(400, "GRAPHQL_VALIDATION_FAILED", &why));
    }
    let mut data = Map::new();
    for field in &operation.fields {
        let whole = match (operation.is_mutation, field.name.as_str()) {
            (true, "publishPost") => {
                let input = field.arguments.get("input").unwrap_or(&Value::Null);
                publish::publish(cx, &*account(cx)?, input)?
            }
            (false, "me") => representations::user(&account(cx)?.identity, &cx.sim.base()),
            (false, "publication") => publication(cx, field)?,
            (false, "post") => counts(cx, field)?,
            _ => Value::Null,
        };
        let parent = if operation.is_mutation { "Mutation" } else { "Query" };
        let known = json!({ field.name.as_str(): whole });
        let known = if ["publishPost", "me", "publication", "post"].contains(&field.name.as_str()) {
            known
        } else {
            json!({})
        };
        let picked = graphql::pick(&known, std::slice::from_ref(field), parent);
        let picked = picked.map_err(|why| failure(400, "GRAPHQL_VALIDATION_FAILED", &why))?;
        data.extend(picked.as_object().cloned().unwrap_or_default());
    }
    Ok(Reply::ok(&json!({ "data": data })))
}

/// Returns an article with its metrics, by its id.
fn counts(cx: &Cx, field: &Field) -> Result<Value, Reply> {
    let account = account(cx)?;
    let id = field.arguments.get("id").and_then(Value::as_str).unwrap_or_default();
    let is_there = account.read(|state| state.articles.iter().any(|article| article.id == id));
    if !is_there {
        return Ok(Value::Null);
    }
    let mut post = json!({"id": id, "reactionCount": null, "responseCount": null, "views": null});
    let places = [("/reactionCount", "likes"), ("/responseCount", "comments"), ("/views", "views")];
    metrics::fill_metrics(&account, MetricSubject::Post(id), &mut post, &places)?;
    Ok(post)
}

/// Returns a publication, with the requested article by its slug.
fn publication(cx: &Cx, field: &Field) -> Result<Value, Reply> {
    account(cx)?;
    let id = field.arguments.get("id").and_then(Value::as_str).unwrap_or_default();
    let owner = cx.sim.find(&format!("publication:{id}"));
    let Some(owner) = owner else { return Ok(Value::Null) };
    let base = cx.sim.base();
    let wanted = field.fields.iter().find(|field| field.name == "post");
    let slug = wanted.and_then(|post| post.arguments.get("slug")).and_then(Value::as_str);
    let (post, posts) = owner.read(|state| {
        let shown = |article| representations::article(article, &owner.identity, &base);
        let post = state.articles.iter().find(|article| Some(article.slug.as_str()) == slug);
        let newest = state.articles.iter().rev().map(|article| json!({"node": shown(article)}));
        (post.map(shown), newest.collect::<Vec<_>>())
    });
    let mut publication = representations::publication(&owner.identity, &base);
    publication["post"] = json!(post);
    publication["posts"] = json!({"edges": posts, "totalDocuments": posts.len()});
    Ok(publication)
}
