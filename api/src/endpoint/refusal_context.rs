//! The facts about a request that an error reply needs, to say how to correct it and which call comes next.

use std::collections::HashMap;

use bytes::Bytes;
use fanfare_core::{
    Code, Error, PostId, PostSetId,
    access::{Caller, Membership},
    offload,
    remedies::{self, AccountRef, RequestContext, Rights},
};

use crate::{Route, WorkspaceScope, json};

/// The facts of a request that its error reply may name.
pub struct RefusalContext {
    situation: RequestContext,
    raw: Bytes,
}

impl RefusalContext {
    /// Returns the context of a request.
    pub fn new(
        route: &'static Route,
        uri: &str,
        path: &HashMap<String, String>,
        (caller, membership): (&Caller, &Membership),
        raw: Bytes,
    ) -> Self {
        let is_post = route.policy.workspace == WorkspaceScope::Post;
        let post = path.get("id").filter(|_| is_post).and_then(|id| id.parse().ok());
        let is_set = route.policy.workspace == WorkspaceScope::PostSet;
        let set = path.get("id").filter(|_| is_set).and_then(|id| id.parse().ok());
        let situation = RequestContext {
            account: membership.account.as_deref().map(AccountRef::from),
            post: post.map(PostId),
            post_set: set.map(PostSetId),
            request: Some((route.name, route.method.as_str(), uri.to_owned())),
            rights: Some(Rights::new(caller, Some(membership))),
            ..RequestContext::default()
        };
        Self { situation, raw }
    }

    /// Returns the context of a request without a key.
    pub fn public(raw: Bytes) -> Self {
        Self { situation: RequestContext::default(), raw }
    }

    /// Adds fixes and next calls to the error. The body is parsed again only if they depend on it.
    pub async fn add_remedies(mut self, error: Error, base_url: String) -> Error {
        self.situation.base_url = base_url;
        let fixable = error.violations().iter().any(|broken| !broken.fix.is_empty());
        let repeats = matches!(
            error.code(),
            Code::DuplicateRisk | Code::DuplicateContent | Code::TargetsRefused
        );
        if fixable || repeats {
            let raw = self.raw;
            let parsed = offload(raw.len(), move || json::parse(&raw).ok()).await;
            self.situation.body = parsed.ok().flatten();
        }
        remedies::add_remedies(error, &self.situation)
    }
}
