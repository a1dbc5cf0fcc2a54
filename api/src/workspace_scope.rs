//! The workspace scope of a request: finds its workspace and the caller's membership in it.

use std::collections::HashMap;

use fanfare_core::{
    AccountId, BrandId, Code, CommentId, ConnectSessionId, ConversationId, Domain, Error, PostId,
    PostSetId, Result, SuggestionId, WebhookId, WorkspaceId,
    access::{self, Caller, Membership},
};
use serde_json::Value;
use uuid::Uuid;

use crate::{
    call::parse,
    query::{self, Pairs},
};

/// The way to find the workspace of a request. A caller who may not see the named resource learns nothing about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkspaceScope {
    /// The key's workspace, or else the user's own.
    Home,
    /// `workspace_id` in the query, or else as [`WorkspaceScope::Home`].
    Query,
    /// `workspace_id` in the body, or else as [`WorkspaceScope::Home`].
    Body,
    /// The workspace of `account_id` in the query.
    AccountInQuery,
    /// The workspace of `account_id` in the query, if the caller can see it there; else as [`WorkspaceScope::Query`].
    AccountFilter,
    /// The workspace of `account_id` in the body.
    AccountInBody,
    /// The workspace of the post `id` in the path.
    Post,
    /// The workspace of the post set `id` in the path.
    PostSet,
    /// `workspace_id` in the body, or else the workspace of the first of `targets` that the caller sees; else as
    /// [`WorkspaceScope::Home`].
    Targets,
    /// The workspace of the account `id` in the path.
    Account,
    /// The workspace of the webhook `id` in the path.
    Webhook,
    /// The workspace of the brand `id` in the path.
    Brand,
    /// The workspace of the file `id` in the path.
    Media,
    /// The workspace of the connect session `id` in the path.
    ConnectSession,
    /// The workspace of the conversation `id` in the path.
    Conversation,
    /// The workspace of the comment `id` in the path.
    Comment,
    /// The workspace of the suggestion `id` in the path.
    Suggestion,
    /// The workspace of the video job `id` in the path.
    VideoJob,
}

/// The parts of a request that may name its workspace. They are not validated yet: a malformed value counts as absent
/// here and is refused by the validation that follows.
pub struct RequestParts<'a> {
    /// Parameters of the path.
    pub path: &'a HashMap<String, String>,
    /// The query.
    pub query: &'a Pairs,
    /// The body, if it is an object.
    pub body: Option<&'a Value>,
}

impl WorkspaceScope {
    /// Returns the caller's membership in the workspace of the request.
    ///
    /// # Errors
    /// The workspace or resource does not exist for this caller.
    pub async fn membership(
        self,
        cx: &Domain,
        caller: &Caller,
        said: &RequestParts<'_>,
    ) -> Result<Membership> {
        match self {
            Self::Home => access::membership(cx, caller, None).await,
            Self::Query => {
                access::membership(cx, caller, workspace(said.in_query("workspace_id"))).await
            }
            Self::Body => {
                access::membership(cx, caller, workspace(said.in_body("workspace_id"))).await
            }
            Self::AccountInQuery => {
                let asked = workspace(said.in_query("workspace_id"));
                membership_of_account(cx, caller, asked, said.in_query("account_id")).await
            }
            Self::AccountFilter => {
                let asked = workspace(said.in_query("workspace_id"));
                membership_of_filter(cx, caller, asked, said.in_query("account_id")).await
            }
            Self::AccountInBody => {
                let asked = workspace(said.in_body("workspace_id"));
                membership_of_account(cx, caller, asked, said.in_body("account_id")).await
            }
            Self::Post => {
                let id = PostId(said.id(Code::PostNotFound)?);
                access::membership_for_post(cx, caller, id).await
            }
            Self::PostSet => {
                let id = PostSetId(said.id(Code::PostSetNotFound)?);
                access::membership_for_post_set(cx, caller, id).await
            }
            Self::Targets => {
                let asked = workspace(said.in_body("workspace_id"));
                membership_of_targets(cx, caller, asked, said.body).await
            }
            Self::Account => {
                let id = AccountId(said.id(Code::AccountNotFound)?);
                access::membership_for_account(cx, caller, id).await
            }
            Self::Webhook => {
                let id = WebhookId(said.id(Code::WebhookNotFound)?);
                access::membership_for_webhook(cx, caller, id).await
            }
            Self::Brand => {
                let id = BrandId(said.id(Code::BrandNotFound)?);
                access::membership_for_brand(cx, caller, id).await
            }
            Self::Media => {
                let id = said.id(Code::MediaNotFound)?;
                access::membership_for_media(cx, caller, id).await
            }
            Self::Conversation => {
                let id = ConversationId(said.id(Code::ConversationNotFound)?);
                access::membership_for_conversation(cx, caller, id).await
            }
            Self::Comment => {
                let id = CommentId(said.id(Code::CommentNotFound)?);
                access::membership_for_comment(cx, caller, id).await
            }
            Self::Suggestion => {
                let id = SuggestionId(said.id(Code::SuggestionNotFound)?);
                access::membership_for_suggestion(cx, caller, id).await
            }
            Self::VideoJob => {
                let id: Uuid = said.id(Code::JobNotFound)?;
                access::membership_for_video_job(cx, caller, id).await
            }
            Self::ConnectSession => {
                let id = ConnectSessionId(said.id(Code::ConnectSessionNotFound)?);
                access::membership_for_connect_session(cx, caller, id).await
            }
        }
    }
}

impl RequestParts<'_> {
    fn id<T: std::str::FromStr>(&self, absent: Code) -> Result<T> {
        parse(self.path.get("id").map(String::as_str).unwrap_or_default(), absent)
    }

    fn in_query(&self, name: &str) -> Option<String> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone())
    }

    fn in_body(&self, name: &str) -> Option<String> {
        match self.body?.get(name)? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }
}

fn workspace(text: Option<String>) -> Option<WorkspaceId> {
    text?.parse::<Uuid>().ok().map(WorkspaceId)
}

/// Returns the membership in the workspace of the account that a list is filtered by. An account that is not there for
/// this caller, or not in the workspace that is named too, selects nothing.
async fn membership_of_filter(
    cx: &Domain,
    caller: &Caller,
    asked: Option<WorkspaceId>,
    account: Option<String>,
) -> Result<Membership> {
    let id = account.and_then(|text| query::number(&text)?.as_i64());
    if let (Some(id), None) = (id, asked) {
        match access::membership_for_account(cx, caller, AccountId(id)).await {
            Err(error) if error.code() == Code::AccountNotFound => {}
            found => return found,
        }
    }
    access::membership(cx, caller, asked).await
}

/// The most targets that are looked at: a set has no more.
const MAX_TARGETS: usize = 50;

/// Returns the membership in the workspace that is asked for, or else in that of the first target that the caller sees.
async fn membership_of_targets(
    cx: &Domain,
    caller: &Caller,
    asked: Option<WorkspaceId>,
    body: Option<&Value>,
) -> Result<Membership> {
    let targets = body.and_then(|body| body["targets"].as_array()).filter(|_| asked.is_none());
    for target in targets.into_iter().flatten().take(MAX_TARGETS) {
        let account = target["account_id"].as_i64();
        let account = account.or_else(|| target["account_id"].as_str()?.parse().ok());
        let brand = target["workspace_client_id"].as_str().and_then(|id| id.parse().ok());
        let found = match (account, brand) {
            (Some(id), _) => access::membership_for_account(cx, caller, AccountId(id)).await,
            (None, Some(id)) => access::membership_for_brand(cx, caller, BrandId(id)).await,
            (None, None) => continue,
        };
        match found {
            Err(error) if error.status() == 404 => {}
            found => return found,
        }
    }
    access::membership(cx, caller, asked).await
}

/// Returns the membership in the workspace of an account; if a workspace is named too, the account must be in it.
async fn membership_of_account(
    cx: &Domain,
    caller: &Caller,
    asked: Option<WorkspaceId>,
    account: Option<String>,
) -> Result<Membership> {
    let id = account.and_then(|text| query::number(&text)?.as_i64());
    let Some(id) = id else {
        return access::membership(cx, caller, asked).await;
    };
    let over = access::membership_for_account(cx, caller, AccountId(id)).await;
    let Some(asked) = asked else { return over };
    match over {
        Ok(membership) if membership.workspace_id == asked => Ok(membership),
        Err(error) if error.code() != Code::AccountNotFound => Err(error),
        // An unknown workspace is reported first.
        _ => {
            access::membership(cx, caller, Some(asked)).await?;
            let message = format!("There is no account {id} in that workspace.");
            Err(Error::new(Code::AccountNotFound, message))
        }
    }
}
