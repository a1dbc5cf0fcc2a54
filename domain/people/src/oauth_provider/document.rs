//! Clients whose id is the address of a document that describes them (OAuth Client ID Metadata Documents).

use std::time::Duration;

use fanfare_core::{
    Domain,
    access::Scope,
    error::Error,
    limits::{self, Bucket},
};
use fanfare_entities::{
    Millis, oauth_client,
    oauth_client::{ClientKind, Column},
};
use fanfare_outbound::ErrorKind;
use sea_orm::{ActiveModelTrait, EntityTrait, IntoActiveModel, sea_query::OnConflict};
use serde::Deserialize;
use serde_json::Value;
use url::Url;

use super::{
    HOUR, MINUTE, redirect_uri,
    refusal::{OauthError, OauthRefusal, OauthResult},
    scopes,
};

/// The longest address, in bytes.
const MAX_ADDRESS_BYTES: usize = 500;

/// The largest document, in bytes.
const MAX_DOCUMENT_BYTES: usize = 10 * 1024;

/// The most redirect URIs of a document that are read.
const MAX_URIS: usize = 20;

/// The longest time to fetch a document.
const DEADLINE: Duration = Duration::from_secs(5);

/// The time for which a document is fresh that does not say so itself, in ms, and the bounds of what it may say.
const DEFAULT_FRESHNESS: Millis = HOUR;
const MIN_FRESHNESS: Millis = 5 * MINUTE;
const MAX_FRESHNESS: Millis = 24 * HOUR;

/// The time for which a document that cannot be used is not fetched again, in ms.
const FAILURE_TTL: Millis = MINUTE;

/// The fields of a document that are used here.
#[derive(Deserialize)]
struct Document {
    client_id: String,
    #[serde(default)]
    client_name: Option<String>,
    #[serde(default)]
    redirect_uris: Vec<String>,
    #[serde(default)]
    scope: Option<String>,
    #[serde(default)]
    token_endpoint_auth_method: Option<String>,
    #[serde(default)]
    client_secret: Option<Value>,
    #[serde(default)]
    client_secret_expires_at: Option<Value>,
}

/// Returns true if a client's id looks like the address of a document.
pub(super) fn is_address(client_id: &str) -> bool {
    client_id.starts_with("https://") || client_id.starts_with("http://")
}

/// Returns the client that a document describes; fetches the document if the stored one is not fresh.
pub(super) async fn client(
    cx: &Domain,
    client_id: &str,
    address: &str,
) -> OauthResult<oauth_client::Model> {
    let url = check_address(client_id, cx.settings.allow_private).map_err(|why| unusable(&why))?;
    let now = cx.clock.now();
    let known = oauth_client::Entity::find_by_id(client_id).one(&cx.db.read).await?;
    let row = match known {
        Some(row) if row.fresh_until.is_some_and(|until| until > now) => row,
        known => {
            let counted = [(Bucket::OauthDocuments, address), (Bucket::OauthDocumentsAll, "all")];
            limits::admit_anonymous(cx, &counted).await?;
            let fetched = fetch(cx, client_id, url).await;
            store(cx, client_id, known, fetched).await?
        }
    };
    match &row.failure {
        Some(why) => Err(unusable(why)),
        None => Ok(row),
    }
}

fn unusable(why: &str) -> OauthRefusal {
    let description = format!("The client's metadata document cannot be used: {why}");
    OauthRefusal::new(OauthError::InvalidClient, "client_id", description)
}

/// Returns the address of a document. It is compared byte by byte, so it must be in normal form.
fn check_address(text: &str, allow_private: bool) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|_| "its address is not a URL.".to_owned())?;
    let flaw = if text.len() > MAX_ADDRESS_BYTES {
        "its address is longer than 500 characters."
    } else if url.scheme() != "https" && !allow_private {
        "its address must be https."
    } else if url.fragment().is_some() || text.contains('#') {
        "its address has a fragment."
    } else if !url.username().is_empty() || url.password().is_some() {
        "its address names a user."
    } else if url.path() == "/" {
        "its address has no path."
    } else if url.as_str() != text {
        "its address is not in its usual form (case, default port, dot segments)."
    } else {
        return Ok(url);
    };
    Err(flaw.to_owned())
}

/// Returns a document and how long it is fresh, or why it cannot be used.
async fn fetch(cx: &Domain, client_id: &str, url: Url) -> Result<(Document, Millis), String> {
    let http = cx.http.counted_as("oauth_client");
    let request = http.get(url).deadline(DEADLINE).max_reply(MAX_DOCUMENT_BYTES);
    let reply = request
        .header("Accept", "application/json")
        .send()
        .await
        .map_err(|error| failure(error.kind).to_owned())?;
    if reply.status != 200 {
        return Err(format!("its address answered with status {}.", reply.status));
    }
    let document: Document =
        reply.json().map_err(|_| "it is not JSON of the expected form.".to_owned())?;
    let lasts = freshness(reply.header("cache-control").unwrap_or_default());
    check_document(document, client_id).map(|document| (document, lasts))
}

/// Returns why a document could not be fetched, without details of our network.
const fn failure(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::TooLarge => "it is larger than 10 KiB.",
        ErrorKind::Blocked => "its address is not a public one.",
        ErrorKind::Invalid | ErrorKind::NotSent | ErrorKind::Lost | ErrorKind::InvalidJson => {
            "its address does not answer."
        }
    }
}

fn check_document(mut document: Document, client_id: &str) -> Result<Document, String> {
    if document.client_id != client_id {
        return Err("its client_id is not its address.".to_owned());
    }
    if document.client_secret.is_some() || document.client_secret_expires_at.is_some() {
        return Err("it holds a client secret.".to_owned());
    }
    if document.token_endpoint_auth_method.as_deref().is_some_and(|method| method != "none") {
        return Err("its token_endpoint_auth_method is not none.".to_owned());
    }
    document.redirect_uris.retain(|uri| redirect_uri::check(uri).is_ok());
    document.redirect_uris.truncate(MAX_URIS);
    if document.redirect_uris.is_empty() {
        return Err("it names no redirect URI that may be used.".to_owned());
    }
    Ok(document)
}

/// Returns how long a document is fresh according to its `Cache-Control`.
fn freshness(header: &str) -> Millis {
    let directives = || header.split(',').map(|directive| directive.trim().to_ascii_lowercase());
    if directives().any(|directive| directive == "no-store" || directive == "no-cache") {
        return MIN_FRESHNESS;
    }
    let seconds = directives().find_map(|directive| {
        directive.strip_prefix("max-age=")?.trim_matches('"').parse::<Millis>().ok()
    });
    seconds.map_or(DEFAULT_FRESHNESS, |seconds| {
        seconds.saturating_mul(1_000).clamp(MIN_FRESHNESS, MAX_FRESHNESS)
    })
}

/// Stores the content of a document, or why it cannot be used; in that case the content of an earlier one is kept.
async fn store(
    cx: &Domain,
    client_id: &str,
    known: Option<oauth_client::Model>,
    fetched: Result<(Document, Millis), String>,
) -> Result<oauth_client::Model, Error> {
    let now = cx.clock.now();
    let before = known.unwrap_or_else(|| oauth_client::Model {
        client_id: client_id.to_owned(),
        kind: ClientKind::Document,
        owner_id: None,
        name: String::new(),
        redirect_uris: String::new(),
        scopes: scopes::join_scopes(&Scope::default_set()),
        failure: None,
        fresh_until: None,
        created_at: now,
        updated_at: now,
    });
    let row = match fetched {
        Ok((document, lasts)) => oauth_client::Model {
            name: client_name(document.client_name.as_deref(), client_id),
            redirect_uris: document.redirect_uris.join("\n"),
            scopes: scopes::join_scopes(&scopes::requested_scopes(
                document.scope.as_deref(),
                &Scope::default_set(),
            )),
            failure: None,
            fresh_until: Some(now + lasts),
            updated_at: now,
            ..before
        },
        Err(why) => oauth_client::Model {
            failure: Some(why),
            fresh_until: Some(now + FAILURE_TTL),
            updated_at: now,
            ..before
        },
    };
    let again = OnConflict::column(Column::ClientId)
        .update_columns([
            Column::Name,
            Column::RedirectUris,
            Column::Scopes,
            Column::Failure,
            Column::FreshUntil,
            Column::UpdatedAt,
        ])
        .to_owned();
    let stored = row.clone().into_active_model().reset_all();
    oauth_client::Entity::insert(stored)
        .on_conflict(again)
        .exec_without_returning(&cx.db.write)
        .await?;
    Ok(row)
}

/// Returns a client's name as pages show it, or the host of its document if it has none.
fn client_name(said: Option<&str>, client_id: &str) -> String {
    let plain = plain_name(said.unwrap_or_default());
    if !plain.is_empty() {
        return plain;
    }
    let host = Url::parse(client_id).ok().and_then(|url| url.host_str().map(str::to_owned));
    host.unwrap_or_default()
}

/// Returns a name without control characters and those that Unicode wants ignored (`Default_Ignorable_Code_Point`) or
/// blank, which could change how the text around it is displayed, or make two names look alike.
pub(super) fn plain_name(said: &str) -> String {
    let odd = |c: char| {
        c.is_control()
            || matches!(c,
                '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
                | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
                | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
    };
    said.chars().filter(|c| !odd(*c)).take(100).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_document_has_one_form() {
        assert!(check_address("https://example.com/client.json", false).is_ok());
        assert!(check_address("https://example.com/client?v=1", false).is_ok());
        assert!(check_address("http://127.0.0.1:7/client", true).is_ok());
        let long = format!("https://example.com/{}", "x".repeat(481));
        for bad in [
            "http://example.com/client",
            "https://example.com",
            "https://example.com/",
            "https://example.com/client#x",
            "https://example.com/client#",
            "https://user@example.com/client",
            "https://example.com/a/../client",
            "https://example.com/./client",
            "https://EXAMPLE.com/client",
            "https://example.com:443/client",
            "https://",
            &long,
        ] {
            assert!(check_address(bad, false).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_document_says_for_how_long_it_is_fresh() {
        for (header, wanted) in [
            ("", HOUR),
            ("public, max-age=7200", 2 * HOUR),
            ("max-age=1", 5 * MINUTE),
            ("max-age=99999999999999999", 24 * HOUR),
            ("no-store, max-age=7200", 5 * MINUTE),
            ("max-age=soon", HOUR),
        ] {
            assert_eq!(freshness(header), wanted, "{header}");
        }
    }

    #[test]
    fn a_name_cannot_turn_the_text_around_it() {
        assert_eq!(plain_name(" Good\u{202e}\u{200b} App\n "), "Good App");
        for odd in
            ['\u{61c}', '\u{ad}', '\u{3164}', '\u{115f}', '\u{2800}', '\u{e0041}', '\u{fe0f}']
        {
            assert_eq!(plain_name(&format!("Go{odd}od{odd}")), "Good", "{odd:?}");
        }
        assert_eq!(client_name(Some("\u{200b}"), "https://example.com/x"), "example.com");
    }
}
