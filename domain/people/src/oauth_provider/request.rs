//! The authorization request with which a client sends the user (RFC 6749 section 4.1.1).

use std::collections::HashSet;

use fanfare_core::{
    Domain, WorkspaceId,
    access::Scope,
    error::{Code, Error, Result},
    input,
};
use url::form_urlencoded;
use uuid::Uuid;

use super::{
    client::{self, Client},
    pkce,
    redirect_uri::Destination,
    refusal::{OauthError, OauthFlaw, OauthRefusal},
    resource, scopes,
};

/// The parameter that can be sent more than once.
pub const RESOURCE: &str = "resource";

/// The longest `state`, in characters.
const LONGEST_STATE: usize = 1_024;

/// The parameters of a request, in the order in which they were sent. A parameter without a value counts as left out
/// (RFC 6749 section 3.1).
#[derive(Debug, Clone, Default)]
pub struct Parameters(pub Vec<(String, String)>);

impl Parameters {
    /// Parses a query or a form.
    ///
    /// # Errors
    /// [`Code::InvalidField`] for more than [`input::MAX_PARAMETERS`].
    pub fn of(encoded: &[u8]) -> Result<Self> {
        Ok(Self(input::pairs(encoded, input::MAX_PARAMETERS)?))
    }

    /// Returns the value of a parameter.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, value)| known == name && !value.is_empty());
        found.map(|(_, value)| value.as_str())
    }

    /// Returns the values of a parameter that can be sent more than once.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let found = self.0.iter().filter(move |(known, value)| known == name && !value.is_empty());
        found.map(|(_, value)| value.as_str())
    }

    /// Returns the name of a parameter that was sent more than once and may be sent once (RFC 8707 lets a client name
    /// several resources).
    #[must_use]
    pub fn repeated(&self) -> Option<&str> {
        let mut seen = HashSet::new();
        let names = self.0.iter().map(|(name, _)| name.as_str());
        names.filter(|name| *name != RESOURCE).find(|name| !seen.insert(*name))
    }

    fn count(&self, name: &str) -> usize {
        self.0.iter().filter(|(known, _)| known == name).count()
    }
}

/// A valid authorization request, which the user can decide on.
#[derive(Debug, Clone)]
pub struct AuthorizeRequest {
    /// The client that asks for access.
    pub client: Client,
    /// The address that the user is sent back to.
    pub redirect_uri: String,
    /// The value that the client gets back with the answer.
    pub state: Option<String>,
    /// The scopes it asks for.
    pub scopes: Vec<Scope>,
    /// The path below which tokens will be valid; empty for all.
    pub resource: &'static str,
    /// The challenge of the client's verifier.
    pub challenge: String,
    /// The workspace that it asks for.
    pub workspace_id: Option<WorkspaceId>,
}

/// The error of an authorization request, and how the user sees it.
#[derive(Debug)]
pub enum AuthorizeError {
    /// The client or its redirect URI is wrong, so the user is not sent there and an error page is shown.
    Page(Error),
    /// The client gets the error at this address.
    Redirect(ErrorRedirect),
}

/// An address to which a user is sent back with an error.
#[derive(Debug)]
pub struct ErrorRedirect {
    /// The address.
    pub url: String,
    /// Where it leads.
    pub destination: Destination,
    /// What is wrong with the request.
    pub description: String,
}

/// Reads an authorization request.
///
/// # Errors
/// [`AuthorizeError`].
pub async fn read(
    cx: &Domain,
    issuer: &str,
    sent: &Parameters,
    address: &str,
) -> Result<AuthorizeRequest, AuthorizeError> {
    let (client, redirect_uri) = sender(cx, sent, address).await.map_err(page)?;
    let state = sent.get("state").filter(|state| state.chars().count() <= LONGEST_STATE);
    let state = state.filter(|_| sent.count("state") == 1);
    match details(cx, sent, &client) {
        Ok((scopes, resource, challenge)) => Ok(AuthorizeRequest {
            state: state.map(str::to_owned),
            scopes,
            resource,
            challenge,
            workspace_id: sent
                .get("workspace_id")
                .and_then(|id| Uuid::parse_str(id).ok())
                .map(WorkspaceId),
            client,
            redirect_uri,
        }),
        Err(flaw) => Err(AuthorizeError::Redirect(ErrorRedirect {
            url: error_redirect(&redirect_uri, issuer, state, &flaw),
            destination: Destination::of(&redirect_uri),
            description: flaw.description,
        })),
    }
}

/// Returns the client and the redirect URI. Until both are known, errors can only be shown on a page.
async fn sender(
    cx: &Domain,
    sent: &Parameters,
    address: &str,
) -> Result<(Client, String), OauthRefusal> {
    let single = |name: &'static str| match (sent.get(name), sent.count(name)) {
        (Some(value), 1) => Ok(value),
        _ => {
            let description = format!("The request must hold {name} once.");
            Err(OauthFlaw::new(OauthError::InvalidRequest, name, description))
        }
    };
    let client = client::find(cx, single("client_id")?, address).await?;
    let redirect_uri = single("redirect_uri")?;
    if !client.allows_redirect_uri(redirect_uri) {
        let description = "The redirect_uri is none that the client has registered.";
        return Err(OauthRefusal::new(OauthError::InvalidRequest, "redirect_uri", description));
    }
    Ok((client, redirect_uri.to_owned()))
}

fn page(refused: OauthRefusal) -> AuthorizeError {
    AuthorizeError::Page(match refused {
        OauthRefusal::Service(error) => error,
        OauthRefusal::Flaw(flaw) => Error::field(
            Code::InvalidField,
            flaw.parameter,
            format!("This request to let a tool in cannot be trusted. {}", flaw.description),
            "Remove the connection in the tool, and add it anew.",
        ),
    })
}

/// The other parts of a request: scopes, resource, challenge.
type Details = (Vec<Scope>, &'static str, String);

fn details(cx: &Domain, sent: &Parameters, client: &Client) -> Result<Details, OauthFlaw> {
    use OauthError::{InteractionRequired, InvalidRequest, UnsupportedResponseType};
    if let Some(name) = sent.repeated() {
        let shown: String = name.chars().take(40).collect();
        let description = format!("{shown} was sent more than once.");
        return Err(OauthFlaw::new(InvalidRequest, "request", description));
    }
    let flawed = |error, name, description: &str| Err(OauthFlaw::new(error, name, description));
    if sent.get("state").is_some_and(|state| state.chars().count() > LONGEST_STATE) {
        return flawed(InvalidRequest, "state", "state has at most 1,024 characters.");
    }
    match sent.get("response_type") {
        Some("code") => {}
        None => return flawed(InvalidRequest, "response_type", "response_type=code is missing."),
        Some(_) => {
            let description = "The only response_type is code.";
            return flawed(UnsupportedResponseType, "response_type", description);
        }
    }
    if sent.get("response_mode").is_some_and(|mode| mode != "query") {
        return flawed(InvalidRequest, "response_mode", "The only response_mode is query.");
    }
    let challenge = challenge(sent)?;
    let scopes = scopes::requested_scopes(sent.get("scope"), &client.scopes);
    let resource = resource::path(&cx.settings, sent.all(RESOURCE))?;
    if sent.get("prompt").is_some_and(|prompt| prompt.split(' ').any(|word| word == "none")) {
        let description = "The person is always asked, so prompt=none cannot succeed.";
        return flawed(InteractionRequired, "prompt", description);
    }
    Ok((scopes, resource, challenge))
}

fn challenge(sent: &Parameters) -> Result<String, OauthFlaw> {
    let flawed = |name, description: &str| {
        Err(OauthFlaw::new(OauthError::InvalidRequest, name, description))
    };
    let Some(challenge) = sent.get("code_challenge") else {
        return flawed("code_challenge", "code_challenge is missing: PKCE is required.");
    };
    if sent.get("code_challenge_method") != Some("S256") {
        return flawed("code_challenge_method", "code_challenge_method must be S256.");
    }
    if !pkce::is_well_formed(challenge) {
        let description = "code_challenge must be 43 to 128 letters, digits, -, ., _ and ~.";
        return flawed("code_challenge", description);
    }
    Ok(challenge.to_owned())
}

/// Checks the request of an app that signs a user up, by the same rules as an authorization request.
///
/// # Errors
/// The first flaw, or the client is unknown.
pub(crate) async fn check(
    cx: &Domain,
    sent: &Parameters,
    address: &str,
) -> Result<(), OauthRefusal> {
    let (client, _) = sender(cx, sent, address).await?;
    Ok(details(cx, sent, &client).map(drop)?)
}

/// Returns the address to which the user is redirected with the response, which names its issuer (RFC 9207).
#[must_use]
pub fn callback_url(
    redirect_uri: &str,
    issuer: &str,
    state: Option<&str>,
    answer: &[(&str, &str)],
) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(answer);
    if let Some(state) = state {
        query.append_pair("state", state);
    }
    query.append_pair("iss", issuer);
    let joint = if redirect_uri.contains('?') { '&' } else { '?' };
    format!("{redirect_uri}{joint}{}", query.finish())
}

fn error_redirect(
    redirect_uri: &str,
    issuer: &str,
    state: Option<&str>,
    flaw: &OauthFlaw,
) -> String {
    let answer = [("error", flaw.error.as_str()), ("error_description", flaw.description.as_str())];
    callback_url(redirect_uri, issuer, state, &answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_without_a_value_is_left_out_and_a_doubled_one_is_named() {
        let sent = Parameters::of(b"a=1&b=&c=x%20y&c=z&resource=r&resource=s").unwrap();
        assert_eq!((sent.get("a"), sent.get("b"), sent.repeated()), (Some("1"), None, Some("c")));
    }

    #[test]
    fn an_answer_is_added_to_what_the_address_has() {
        let plain =
            callback_url("https://x.example/cb", "https://f", Some("a b&c"), &[("code", "k")]);
        assert_eq!(plain, "https://x.example/cb?code=k&state=a+b%26c&iss=https%3A%2F%2Ff");
        let more = callback_url("cursor://x?y=1", "https://f", None, &[("code", "k")]);
        assert_eq!(more, "cursor://x?y=1&code=k&iss=https%3A%2F%2Ff");
    }
}
