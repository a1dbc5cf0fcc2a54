//! Other rows of ours that may have made the same object: calls with the same words whose outcome is not known.

use fanfare_core::{
    Domain,
    db::statement,
    error::Result,
    mutation::{self, Mutation},
};
use fanfare_entities::{Millis, outgoing, outgoing::OutgoingStatus};
use fanfare_platforms::text::are_alike;
use sea_orm::{ColumnTrait, EntityTrait, FromQueryResult, QueryFilter};
use serde_json::Value as Json;

use super::{LostCall, Owner};

/// What a call was to make, as far as other calls are compared with it.
#[derive(Debug, Clone, Copy)]
pub enum Content<'a> {
    /// A post with this text, and the texts of its further segments in its metadata.
    Post {
        /// The text.
        caption: &'a str,
        /// The metadata.
        metadata: &'a Json,
    },
    /// Another change, with its scope and fingerprint.
    Change {
        /// What it is about.
        scope: &'a str,
        /// The hash of its content.
        fingerprint: &'a str,
    },
}

/// The other rows of ours that have a call whose outcome is not known.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Rivals {
    /// One of them may have made the object that a call is thought to have made.
    pub with_same_words: bool,
    /// The number of the posts among them.
    pub open: usize,
}

/// Looks for other rows of ours that may have made what a network shows.
pub(super) async fn find(cx: &Domain, call: &LostCall<'_>) -> Result<Rivals> {
    if mutation::is_on(Mutation::FoundUnowned) {
        return Ok(Rivals { with_same_words: false, open: usize::MAX });
    }
    match (call.content, call.owner) {
        (Content::Post { caption, metadata }, Owner::Post(id)) => {
            let own = texts(caption, metadata);
            let open = open_posts(cx, call, id).await?;
            let with_same_words = open.iter().any(|other| {
                let others = texts(&other.caption, &other.metadata);
                own.iter().any(|text| others.iter().any(|other| are_alike(text, other)))
            });
            Ok(Rivals { with_same_words, open: open.len() })
        }
        (Content::Change { scope, fingerprint }, owner) => {
            let with_same_words = open_change(cx, scope, fingerprint, owner.stored().1).await?;
            Ok(Rivals { with_same_words, open: 0 })
        }
        (Content::Post { .. }, Owner::Outgoing(_)) => Ok(Rivals::default()),
    }
}

#[derive(FromQueryResult)]
struct OpenPost {
    caption: String,
    metadata: Json,
}

/// Returns the posts of the account, or of the same one in another workspace, with a call whose outcome is not known.
/// One that has ended so before this call began cannot have made what this call is thought to have made.
async fn open_posts(cx: &Domain, call: &LostCall<'_>, id: i64) -> Result<Vec<OpenPost>> {
    let db = &cx.db.write;
    let sql = "SELECT posts.caption, posts.metadata FROM accounts AS own \
         JOIN accounts ON accounts.platform = own.platform AND accounts.remote_id = own.remote_id \
         JOIN posts ON posts.account_id = accounts.id \
         WHERE own.id = $1 AND posts.id <> $2 AND (posts.sending_at IS NOT NULL OR posts.duplicate_risk) \
         AND (posts.sending_at IS NOT NULL OR posts.updated_at >= $3)";
    let since: Millis = call.window.from;
    let values = [call.account_id.0.into(), id.into(), since.into()];
    Ok(OpenPost::find_by_statement(statement(db, sql, values)).all(db).await?)
}

/// Returns the texts that a post may show: its own, and each in its metadata.
fn texts<'a>(caption: &'a str, metadata: &'a Json) -> Vec<&'a str> {
    fn collect<'a>(value: &'a Json, into: &mut Vec<&'a str>) {
        match value {
            Json::String(text) => into.push(text),
            Json::Array(list) => list.iter().for_each(|one| collect(one, into)),
            Json::Object(fields) => fields.values().for_each(|one| collect(one, into)),
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }
    let mut texts = vec![caption];
    collect(metadata, &mut texts);
    texts
}

async fn open_change(cx: &Domain, scope: &str, fingerprint: &str, id: i64) -> Result<bool> {
    use outgoing::Column;
    let open = outgoing::Entity::find()
        .filter(Column::Scope.eq(scope))
        .filter(Column::Fingerprint.eq(fingerprint))
        .filter(Column::Id.ne(id))
        .filter(Column::Status.is_in([OutgoingStatus::Sending, OutgoingStatus::Unknown]))
        .one(&cx.db.write)
        .await?;
    Ok(open.is_some())
}
