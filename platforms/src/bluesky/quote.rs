//! Resolves the address of a post to the record to quote.

use serde::Deserialize;
use serde_json::Value;
use url::Url;

use super::{client::Pds, facets::is_handle, record::POSTS, state::StrongRef};
use crate::{Error, ErrorKind, Result};

/// The author and the record key in the address of a post or of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostAddress {
    /// A handle or a DID.
    pub author: String,
    /// Record key.
    pub key: String,
}

impl PostAddress {
    /// Reads `…/profile/{handle or did}/post/{key}`, as Bluesky's app and similar apps use it.
    pub fn parse(url: &str) -> Option<Self> {
        Self::parse_kind(url, "post")
    }

    /// Reads `…/profile/{handle or did}/lists/{key}`.
    pub fn parse_list(url: &str) -> Option<Self> {
        Self::parse_kind(url, "lists")
    }

    fn parse_kind(url: &str, kind: &str) -> Option<Self> {
        let url = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
        let parts: Vec<&str> = url.path().trim_end_matches('/').rsplit('/').take(4).collect();
        let [key, named, author, "profile"] = parts[..] else { return None };
        let author = author.replace("%3A", ":").replace("%3a", ":");
        let is_key = !key.is_empty()
            && key.len() <= 512
            && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._~:-".contains(&byte));
        let is_author = author.starts_with("did:") || is_handle(&author);
        (named == kind && is_key && is_author).then(|| Self { author, key: key.to_owned() })
    }
}

/// The used part of the response of `app.bsky.feed.getPosts`.
#[derive(Deserialize)]
struct Posts {
    posts: Vec<Post>,
}

#[derive(Deserialize)]
struct Post {
    uri: String,
    cid: String,
    #[serde(default)]
    viewer: Value,
}

/// Finds the post to quote. Reads only.
pub async fn resolve(pds: &Pds<'_>, url: &str) -> Result<StrongRef> {
    let Some(address) = PostAddress::parse(url) else { return Err(quote_not_found(url)) };
    let did = if address.author.starts_with("did:") {
        Some(address.author)
    } else {
        pds.resolve_handle(&address.author).await?
    };
    let Some(did) = did else { return Err(quote_not_found(url)) };
    let uri = format!("at://{did}/{POSTS}/{}", address.key);
    match pds.authorized_get("app.bsky.feed.getPosts", &[("uris", uri.as_str())]).await {
        Ok(reply) => from_posts(reply.json()?, url),
        // A standalone server does not offer feeds, but knows its own records.
        Err(error)
            if error.kind == ErrorKind::Rejected || error.kind.is_refusal_of_the_account() =>
        {
            match pds.record(&did, &address.key).await {
                Ok(Some(found)) => Ok(found),
                Ok(None) => Err(quote_not_found(url)),
                Err(_) => Err(error),
            }
        }
        Err(error) => Err(error),
    }
}

fn from_posts(found: Posts, url: &str) -> Result<StrongRef> {
    let Some(post) = found.posts.into_iter().next() else { return Err(quote_not_found(url)) };
    if post.viewer.get("embeddingDisabled").and_then(Value::as_bool) == Some(true) {
        return Err(Error::rejected(format!("The author of {url} does not allow quotes."))
            .with_remedy("Remove quote_url, or quote another post."));
    }
    Ok(StrongRef { uri: post.uri, cid: post.cid })
}

fn quote_not_found(url: &str) -> Error {
    Error::rejected(format!("The post to quote, {url}, was not found."))
        .with_remedy("Check quote_url; the post may have been deleted.")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{PostAddress, from_posts};

    #[test]
    fn the_address_of_a_post_is_read_below_any_host_and_prefix() {
        let read = |url| PostAddress::parse(url).map(|found| (found.author, found.key));
        let expected = Some(("a.example".to_owned(), "3l2s5xxv2ze2c".to_owned()));
        assert_eq!(read("https://bsky.app/profile/a.example/post/3l2s5xxv2ze2c"), expected);
        assert_eq!(
            read("https://bsky.app/profile/a.example/post/3l2s5xxv2ze2c/?ref=1#x"),
            expected
        );
        assert_eq!(
            read("http://127.0.0.1:8080/sandbox/bluesky/profile/a.example/post/3l2s5xxv2ze2c"),
            expected
        );
        let by_did = read("https://bsky.app/profile/did:plc:abc/post/k");
        assert_eq!(by_did, Some(("did:plc:abc".to_owned(), "k".to_owned())));
        assert_eq!(read("https://bsky.app/profile/did%3Aplc%3Aabc/post/k"), by_did);
        for url in [
            "https://bsky.app/profile/a.example",
            "https://bsky.app/profile/a.example/post/",
            "https://bsky.app/profile/a.example/feed/k",
            "https://bsky.app/profile/nobody/post/k",
            "https://bsky.app/profile/a.example/post/a%20b",
            "at://did:plc:abc/app.bsky.feed.post/k",
            "not an address",
        ] {
            assert_eq!(read(url), None, "{url}");
        }
    }

    #[test]
    fn a_post_that_is_gone_or_closed_to_quotes_is_told_apart() -> Result<(), serde_json::Error> {
        let message = |posts| {
            Ok::<_, serde_json::Error>(match from_posts(serde_json::from_value(posts)?, "u") {
                Ok(found) => found.cid,
                Err(error) => error.message,
            })
        };
        assert_eq!(message(json!({"posts": []}))?, "The post to quote, u, was not found.");
        let post = json!({"uri": "at://x", "cid": "c", "viewer": {"embeddingDisabled": false}});
        assert_eq!(message(json!({"posts": [post]}))?, "c");
        let post = json!({"uri": "at://x", "cid": "c", "viewer": {"embeddingDisabled": true}});
        assert_eq!(message(json!({"posts": [post]}))?, "The author of u does not allow quotes.");
        Ok(())
    }
}
