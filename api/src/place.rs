//! Where a request happens: how its workspace, and the caller's seat in it, are found.

use std::collections::HashMap;

use fanfare_domain::{
    AccountId, BrandId, Code, ConnectSessionId, Domain, Error, PostId, Result, WebhookId,
    WorkspaceId,
    access::{self, Caller, Seat},
};
use serde_json::Value;
use uuid::Uuid;

use crate::{call::parse, query::Pairs};

/// How the workspace of a request is found. Where a resource is named, a caller who may not see it learns nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The key's workspace, or else the person's own.
    Home,
    /// `workspace_id` in the query, or else as [`Place::Home`].
    Query,
    /// `workspace_id` in the body, or else as [`Place::Home`].
    Body,
    /// The workspace of `account_id` in the query.
    AccountInQuery,
    /// The workspace of `account_id` in the body.
    AccountInBody,
    /// The workspace of the post `id` in the path.
    Post,
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
}

/// What a request says about its place. Nothing of it has been checked yet: what is malformed counts as absent here and
/// is refused when the whole is read.
pub struct Said<'a> {
    /// Parameters of the path.
    pub path: &'a HashMap<String, String>,
    /// The query.
    pub query: &'a Pairs,
    /// The body, if it is an object.
    pub body: Option<&'a Value>,
}

impl Place {
    /// The caller's seat in the place that the request names.
    ///
    /// # Errors
    /// The place is not there for this caller.
    pub async fn seat(self, cx: &Domain, caller: &Caller, said: &Said<'_>) -> Result<Seat> {
        match self {
            Self::Home => access::seat(cx, caller, None).await,
            Self::Query => access::seat(cx, caller, workspace(said.in_query("workspace_id"))).await,
            Self::Body => access::seat(cx, caller, workspace(said.in_body("workspace_id"))).await,
            Self::AccountInQuery => {
                let asked = workspace(said.in_query("workspace_id"));
                over_account(cx, caller, asked, said.in_query("account_id")).await
            }
            Self::AccountInBody => {
                let asked = workspace(said.in_body("workspace_id"));
                over_account(cx, caller, asked, said.in_body("account_id")).await
            }
            Self::Post => {
                let id = PostId(said.id(Code::PostNotFound)?);
                access::seat_over_post(cx, caller, id).await
            }
            Self::Account => {
                let id = AccountId(said.id(Code::AccountNotFound)?);
                access::seat_over_account(cx, caller, id).await
            }
            Self::Webhook => {
                let id = WebhookId(said.id(Code::WebhookNotFound)?);
                access::seat_over_webhook(cx, caller, id).await
            }
            Self::Brand => {
                let id = BrandId(said.id(Code::BrandNotFound)?);
                access::seat_over_brand(cx, caller, id).await
            }
            Self::Media => {
                let id = said.id(Code::MediaNotFound)?;
                access::seat_over_media(cx, caller, id).await
            }
            Self::ConnectSession => {
                let id = ConnectSessionId(said.id(Code::ConnectSessionNotFound)?);
                access::seat_over_connect_session(cx, caller, id).await
            }
        }
    }
}

impl Said<'_> {
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

/// The seat over an account; if a workspace is named too, the account must be in it.
async fn over_account(
    cx: &Domain,
    caller: &Caller,
    asked: Option<WorkspaceId>,
    account: Option<String>,
) -> Result<Seat> {
    let Some(id) = account.and_then(|text| text.parse().ok()) else {
        return access::seat(cx, caller, asked).await;
    };
    let over = access::seat_over_account(cx, caller, AccountId(id)).await;
    let Some(asked) = asked else { return over };
    match over {
        Ok(seat) if seat.workspace_id == asked => Ok(seat),
        Err(error) if error.code() != Code::AccountNotFound => Err(error),
        // A workspace that is not there for the caller comes first.
        _ => {
            access::seat(cx, caller, Some(asked)).await?;
            let message = format!("There is no account {id} in that workspace.");
            Err(Error::new(Code::AccountNotFound, message))
        }
    }
}
