//! The operations of Hashnode's GraphQL API that Fanfare uses, and their responses.

use chrono::{DateTime, Utc};
use fanfare_outbound::Reply;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{SPEC, error};
use crate::{Error, ErrorKind, Result, Session};

const ME: &str = "query { me { id username name profilePicture publications(first: 50) { edges { node { id title url } } } } }";
const PUBLISH: &str =
    "mutation ($input: PublishPostInput!) { publishPost(input: $input) { post { id slug url } } }";
const COUNTS: &str = "query ($id: ID!) { post(id: $id) { id reactionCount responseCount views } }";
const BY_SLUG: &str = "($id: ObjectId!, $slug: String!) { publication(id: $id) { post(slug: $slug) { id slug url publishedAt } } }";

/// The owner of the token.
#[derive(Debug, Deserialize)]
pub struct User {
    pub id: String,
    pub username: String,
    pub name: Option<String>,
    #[serde(rename = "profilePicture")]
    pub profile_picture: Option<String>,
    pub publications: Edges<Publication>,
}

/// A page of a list.
#[derive(Debug, Deserialize)]
pub struct Edges<T> {
    pub edges: Vec<Edge<T>>,
}

/// One entry of a page.
#[derive(Debug, Deserialize)]
pub struct Edge<T> {
    pub node: T,
}

/// A publication of the user.
#[derive(Debug, Deserialize)]
pub struct Publication {
    pub id: String,
    pub title: String,
}

/// An existing article.
#[derive(Debug, Deserialize)]
pub struct Post {
    pub id: String,
    pub url: Option<String>,
    #[serde(rename = "publishedAt")]
    pub published_at: Option<DateTime<Utc>>,
}

/// A publication with an article that was looked up. Hashnode returns `null` for a publication that is gone or that the
/// token may not see: that says nothing about the article.
#[derive(Debug, Deserialize)]
struct PublicationPost {
    post: Option<Post>,
}

/// An article to create.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PublishPostInput {
    pub publication_id: String,
    pub title: String,
    pub content_markdown: String,
    pub slug: String,
    pub tags: Vec<Tag>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subtitle: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cover_image: Option<String>,
    #[serde(rename = "originalArticleURL", skip_serializing_if = "Option::is_none")]
    pub original_article_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meta_title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meta_description: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub disable_comments: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series_id: Option<String>,
}

/// A tag, found or created by its slug.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Tag {
    pub slug: String,
    pub name: String,
}

/// Returns the account that the token belongs to.
pub async fn me(session: &Session) -> Result<User> {
    run_query(session, ME, json!({}), "/me").await
}

/// Publishes an article.
pub async fn publish(session: &Session, input: &PublishPostInput) -> Result<Post> {
    run_query(session, PUBLISH, json!({ "input": input }), "/publishPost/post").await
}

/// Returns the article of a publication with this slug. Answers to the same query come from a cache for a while, so each
/// has a name of its own.
pub async fn by_slug(session: &Session, publication: &str, slug: &str) -> Result<Option<Post>> {
    let variables = json!({"id": publication, "slug": slug});
    let query = format!("query Uncached{} {BY_SLUG}", fanfare_outbound::unlike_any());
    let found: PublicationPost = run_query(session, &query, variables, "/publication").await?;
    Ok(found.post)
}

/// Returns a post with its counts; null if there is none.
pub async fn counts(session: &Session, id: &str) -> Result<Value> {
    run_query(session, COUNTS, json!({ "id": id }), "/post").await
}

/// Runs an operation and reads the value at `path` of its data.
async fn run_query<T: DeserializeOwned>(
    session: &Session,
    query: &str,
    variables: Value,
    path: &str,
) -> Result<T> {
    let request = session
        .http
        .post(session.url(SPEC.base_url, "/")?)
        .bearer(session.secrets.require("personal_access_token")?)
        .json(&json!({"query": query, "variables": variables}))
        .deadline(SPEC.commit_deadline);
    let reply = request.send().await?;
    let answer = answer(session, &reply)?;
    let found = answer.data.pointer(path).cloned().unwrap_or_default();
    match (serde_json::from_value(found), answer.errors.first()) {
        // An error beside an article that was made takes nothing back; one beside what was read makes it doubtful.
        (Ok(found), Some(_)) if query == PUBLISH => Ok(found),
        (_, Some(first)) => Err(error::operation_error(session, &reply, first)),
        (Ok(found), None) => Ok(found),
        (Err(_), None) => Err(Error::new(
            ErrorKind::Ambiguous,
            "Hashnode's answer does not hold what was asked for.",
        )),
    }
}

#[derive(Deserialize)]
struct GraphqlResponse {
    #[serde(default)]
    data: Value,
    #[serde(default)]
    errors: Vec<Value>,
}

/// Returns the answer of a response; errors have status 200 too.
fn answer(session: &Session, reply: &Reply) -> Result<GraphqlResponse> {
    if !reply.is_success() {
        return Err(error::error_of_reply(session, reply));
    }
    Ok(reply.json()?)
}
