//! The errors of a route: those of its policy, and its own.

use std::collections::BTreeMap;

use fanfare_core::{Code, Refusal, access::Role};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::{Route, WorkspaceScope};

/// The refusal of a request. Some codes bring fields of their own; `/docs/errors` explains each.
#[derive(Serialize, JsonSchema)]
pub struct Error {
    #[serde(flatten)]
    refusal: Refusal,
    /// Id of the request, also in its log lines and events.
    request_id: String,
    /// Address of the page that explains the code.
    #[schemars(extend("format" = "uri"))]
    doc_url: String,
}

/// Returns all error codes of a route, each once.
pub fn codes(route: &Route) -> Vec<Code> {
    let policy = &route.policy;
    let mut codes = vec![Code::UnknownField];
    if route.public.is_none() {
        codes.extend([
            Code::MissingApiKey,
            Code::InvalidApiKey,
            Code::ApiKeyExpired,
            Code::ApiKeyRevoked,
        ]);
    }
    codes.extend([Code::RateLimited, Code::InternalError, Code::Unavailable]);
    let mut when = |is_so: bool, more: &[Code]| {
        if is_so {
            codes.extend(more);
        }
    };
    when(policy.scope.is_some(), &[Code::InsufficientScope]);
    when(!policy.allows_tokens, &[Code::ApiKeyRequired]);
    when(policy.addon, &[Code::ApiAddonRequired]);
    when(policy.addon && route.method.writes(), &[Code::SubscriptionRequired]);
    when(policy.plan.is_some(), &[Code::FeatureNotAvailable]);
    when(policy.role > Role::Viewer, &[Code::InsufficientWorkspacePermissions]);
    when(route.query.is_some() || route.body.is_some(), &[Code::InvalidField, Code::FieldRequired]);
    when(
        route.method.writes(),
        &[
            Code::InvalidJson,
            route.too_large,
            Code::UnsupportedMediaType,
            Code::InvalidIdempotencyKey,
            Code::IdempotencyInProgress,
            Code::IdempotencyMismatch,
        ],
    );
    when(true, workspace(policy.workspace));
    when(route.takes_if_match(), &[Code::StaleVersion]);
    when(true, route.refusals);
    let mut once = Vec::new();
    for code in codes {
        if !once.contains(&code) {
            once.push(code);
        }
    }
    once
}

const fn workspace(scope: WorkspaceScope) -> &'static [Code] {
    match scope {
        WorkspaceScope::Home => &[],
        WorkspaceScope::Query | WorkspaceScope::Body | WorkspaceScope::AccountFilter => {
            &[Code::WorkspaceScopeMismatch, Code::WorkspaceNotFound]
        }
        WorkspaceScope::Targets => &[Code::WorkspaceScopeMismatch, Code::WorkspaceNotFound],
        WorkspaceScope::PostSet => &[Code::PostSetNotFound],
        WorkspaceScope::AccountInQuery | WorkspaceScope::AccountInBody => {
            &[Code::WorkspaceScopeMismatch, Code::WorkspaceNotFound, Code::AccountNotFound]
        }
        WorkspaceScope::Post => &[Code::PostNotFound],
        WorkspaceScope::Account => &[Code::AccountNotFound],
        WorkspaceScope::Webhook => &[Code::WebhookNotFound],
        WorkspaceScope::Brand => &[Code::BrandNotFound],
        WorkspaceScope::Media => &[Code::MediaNotFound],
        WorkspaceScope::ConnectSession => &[Code::ConnectSessionNotFound],
        WorkspaceScope::Conversation => &[Code::ConversationNotFound],
        WorkspaceScope::Comment => &[Code::CommentNotFound],
        WorkspaceScope::Suggestion => &[Code::SuggestionNotFound],
        WorkspaceScope::VideoJob => &[Code::JobNotFound],
    }
}

/// Returns the responses for these codes by status, each with these headers.
pub fn responses(codes: &[Code], headers: &Value) -> Map<String, Value> {
    let mut by_status: BTreeMap<u16, Vec<String>> = BTreeMap::new();
    for code in codes {
        let entry = code.entry();
        let line = format!("- `{}`: {}", entry.code, entry.cause);
        by_status.entry(entry.status).or_default().push(line);
    }
    let response = |status: u16, lines: Vec<String>| {
        let headers =
            if status == 429 { super::headers::with_retry(headers) } else { headers.clone() };
        json!({
            "description": lines.join("\n"),
            "headers": headers,
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
        })
    };
    let by_status = by_status.into_iter();
    by_status.map(|(status, lines)| (status.to_string(), response(status, lines))).collect()
}
