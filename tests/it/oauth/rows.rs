//! The rows of what is refused: a name with the number of its RFC, the change of a good request, and what comes of it.

use super::CHALLENGE;

/// A change of a good request.
#[derive(Clone, Copy)]
pub enum Edit {
    /// Sends this value in the place of the good one.
    Set(&'static str, &'static str),
    /// Sends the parameter twice.
    Twice(&'static str),
    /// Leaves it out.
    Drop(&'static str),
}
use Edit::{Drop, Set, Twice};

/// The outcome of a request to the authorization endpoint.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Fate {
    /// A page says so: the person is sent nowhere.
    Page,
    /// The person is sent back with this error.
    Back(&'static str),
}
use Fate::{Back, Page};

const SHORT: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-c";

const LONG: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

#[rustfmt::skip]
pub const AUTHORIZE: &[(&str, &[Edit], Fate)] = &[
    // RFC 6749, section 4.1.2.1: neither a wrong client nor a wrong address is told anything.
    ("6749 no client", &[Drop("client_id")], Page),
    ("6749 an empty client", &[Set("client_id", "")], Page),
    ("6749 an unknown client", &[Set("client_id", "dyn_000000000000000000000000")], Page),
    ("6749 an unknown app", &[Set("client_id", "app_000000000000000000000000")], Page),
    ("6749 a client with odd characters", &[Set("client_id", "dyn_\u{0}'--")], Page),
    ("6749 two clients", &[Twice("client_id")], Page),
    ("6749 no address", &[Drop("redirect_uri")], Page),
    ("6749 an empty address", &[Set("redirect_uri", "")], Page),
    ("6749 two addresses", &[Twice("redirect_uri")], Page),
    ("6749 another address", &[Set("redirect_uri", "https://evil.example/callback")], Page),
    ("6749 a relative address", &[Set("redirect_uri", "/callback")], Page),
    ("9700 an address below it", &[Set("redirect_uri", "https://tool.example/callback/x")], Page),
    ("9700 an address above it", &[Set("redirect_uri", "https://tool.example/")], Page),
    ("9700 an address with a query", &[Set("redirect_uri", "https://tool.example/callback?x=1")], Page),
    ("9700 an address with a fragment", &[Set("redirect_uri", "https://tool.example/callback#x")], Page),
    ("9700 an address with a slash more", &[Set("redirect_uri", "https://tool.example/callback/")], Page),
    ("9700 another case", &[Set("redirect_uri", "https://tool.example/Callback")], Page),
    ("9700 another case of the host", &[Set("redirect_uri", "https://TOOL.example/callback")], Page),
    ("9700 another scheme", &[Set("redirect_uri", "http://tool.example/callback")], Page),
    ("9700 another port", &[Set("redirect_uri", "https://tool.example:8443/callback")], Page),
    ("9700 the usual port spelt out", &[Set("redirect_uri", "https://tool.example:443/callback")], Page),
    ("9700 a host below it", &[Set("redirect_uri", "https://x.tool.example/callback")], Page),
    ("9700 a host that begins like it", &[Set("redirect_uri", "https://tool.example.evil.example/callback")], Page),
    ("9700 a user before another host", &[Set("redirect_uri", "https://tool.example@evil.example/callback")], Page),
    ("9700 a host in another spelling", &[Set("redirect_uri", "https://TOOL.example/callback")], Page),
    ("9700 a path that climbs", &[Set("redirect_uri", "https://tool.example/x/../callback")], Page),
    ("9700 an encoded path", &[Set("redirect_uri", "https://tool.example/%63allback")], Page),
    ("9700 a line break", &[Set("redirect_uri", "https://tool.example/callback\r\nSet-Cookie: x")], Page),
    ("9700 a script", &[Set("redirect_uri", "javascript:alert(1)")], Page),
    ("8252 a port of this computer that was not registered", &[Set("redirect_uri", "http://127.0.0.1:7/callback")], Page),
    ("6749 out of band", &[Set("redirect_uri", "urn:ietf:wg:oauth:2.0:oob")], Page),
    // The rest goes back.
    ("6749 no response type", &[Drop("response_type")], Back("invalid_request")),
    ("6749 an empty response type", &[Set("response_type", "")], Back("invalid_request")),
    ("6749 the implicit grant", &[Set("response_type", "token")], Back("unsupported_response_type")),
    ("9700 a hybrid grant", &[Set("response_type", "code token")], Back("unsupported_response_type")),
    ("6749 an id token", &[Set("response_type", "id_token")], Back("unsupported_response_type")),
    ("6749 another case of the response type", &[Set("response_type", "Code")], Back("unsupported_response_type")),
    ("6749 two response types", &[Twice("response_type")], Back("invalid_request")),
    ("6749 two states", &[Twice("state")], Back("invalid_request")),
    ("6749 two scopes", &[Set("scope", "posts:read"), Twice("scope")], Back("invalid_request")),
    ("6749 two unknown parameters", &[Set("x", "1"), Twice("x")], Back("invalid_request")),
    ("9700 another response mode", &[Set("response_mode", "fragment")], Back("invalid_request")),
    ("9700 a form as response mode", &[Set("response_mode", "form_post")], Back("invalid_request")),
    ("OpenID nobody is asked", &[Set("prompt", "none")], Back("interaction_required")),
    ("OpenID nobody is asked, among others", &[Set("prompt", "login none")], Back("interaction_required")),
    // RFC 7636
    ("7636 no challenge", &[Drop("code_challenge")], Back("invalid_request")),
    ("7636 an empty challenge", &[Set("code_challenge", "")], Back("invalid_request")),
    ("7636 no method", &[Drop("code_challenge_method")], Back("invalid_request")),
    ("7636 an empty method", &[Set("code_challenge_method", "")], Back("invalid_request")),
    ("7636 the plain method", &[Set("code_challenge_method", "plain")], Back("invalid_request")),
    ("7636 another case of the method", &[Set("code_challenge_method", "s256")], Back("invalid_request")),
    ("7636 an unknown method", &[Set("code_challenge_method", "S512")], Back("invalid_request")),
    ("7636 a challenge that is too short", &[Set("code_challenge", SHORT)], Back("invalid_request")),
    ("7636 a challenge that is too long", &[Set("code_challenge", LONG)], Back("invalid_request")),
    ("7636 a padded challenge", &[Set("code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM=")], Back("invalid_request")),
    ("7636 a challenge of another alphabet", &[Set("code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw+cM")], Back("invalid_request")),
    ("7636 a challenge with a space", &[Set("code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw cM")], Back("invalid_request")),
    ("7636 two challenges", &[Twice("code_challenge")], Back("invalid_request")),
    ("7636 two methods", &[Twice("code_challenge_method")], Back("invalid_request")),
    // RFC 8707
    ("8707 a foreign resource", &[Set("resource", "https://elsewhere.example")], Back("invalid_target")),
    ("8707 no address", &[Set("resource", "fanfare")], Back("invalid_target")),
    ("8707 an unknown path", &[Set("resource", "{base}/api/v2")], Back("invalid_target")),
    ("8707 a path below", &[Set("resource", "{base}/api/v1/posts")], Back("invalid_target")),
    ("8707 a fragment", &[Set("resource", "{base}/mcp#x")], Back("invalid_target")),
    ("8707 a query", &[Set("resource", "{base}/mcp?x=1")], Back("invalid_target")),
    ("8707 two slashes more", &[Set("resource", "{base}/mcp//")], Back("invalid_target")),
    ("8707 a user", &[Set("resource", "http://x@127.0.0.1/mcp")], Back("invalid_target")),
    ("8707 another port", &[Set("resource", "http://127.0.0.1:1/mcp")], Back("invalid_target")),
    ("8707 another scheme", &[Set("resource", "https://127.0.0.1/mcp")], Back("invalid_target")),
    ("8707 two resources, one foreign", &[Set("resource", "https://elsewhere.example"), Twice("resource")], Back("invalid_target")),
];

/// A wrong request of the token endpoint, with the status and the error, and whether the code is spent by it.
pub type TokenRow = (&'static str, &'static [Edit], u16, &'static str, bool);

#[rustfmt::skip]
pub const EXCHANGE: &[TokenRow] = &[
    ("6749 no grant type", &[Drop("grant_type")], 400, "invalid_request", false),
    ("6749 an empty grant type", &[Set("grant_type", "")], 400, "invalid_request", false),
    ("6749 an unknown grant type", &[Set("grant_type", "magic")], 400, "unsupported_grant_type", false),
    ("9700 the password grant", &[Set("grant_type", "password")], 400, "unsupported_grant_type", false),
    ("6749 client credentials", &[Set("grant_type", "client_credentials")], 400, "unsupported_grant_type", false),
    ("6749 another case of the grant type", &[Set("grant_type", "Authorization_Code")], 400, "unsupported_grant_type", false),
    ("8628 a device code", &[Set("grant_type", "urn:ietf:params:oauth:grant-type:device_code")], 400, "unsupported_grant_type", false),
    ("8693 a token exchange", &[Set("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange")], 400, "unsupported_grant_type", false),
    ("7523 an assertion", &[Set("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer")], 400, "unsupported_grant_type", false),
    ("6749 two grant types", &[Twice("grant_type")], 400, "invalid_request", false),
    ("6749 no client", &[Drop("client_id")], 400, "invalid_request", false),
    ("6749 an empty client", &[Set("client_id", "")], 400, "invalid_request", false),
    ("6749 an unknown client", &[Set("client_id", "dyn_000000000000000000000000")], 401, "invalid_client", false),
    ("6749 a client with odd characters", &[Set("client_id", "\u{0}")], 401, "invalid_client", false),
    ("6749 an unknown document", &[Set("client_id", "https://unknown.example/client")], 401, "invalid_client", false),
    ("6749 two clients", &[Twice("client_id")], 400, "invalid_request", false),
    ("6749 another client", &[Set("client_id", "app_fanfare_cli")], 400, "invalid_grant", false),
    ("6749 no code", &[Drop("code")], 400, "invalid_request", false),
    ("6749 an empty code", &[Set("code", "")], 400, "invalid_request", false),
    ("6749 an unknown code", &[Set("code", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")], 400, "invalid_grant", false),
    ("6749 a code with odd characters", &[Set("code", "\u{0}\u{1}'--")], 400, "invalid_grant", false),
    ("6749 two codes", &[Twice("code")], 400, "invalid_request", false),
    ("6749 no address", &[Drop("redirect_uri")], 400, "invalid_request", false),
    ("6749 an empty address", &[Set("redirect_uri", "")], 400, "invalid_request", false),
    ("6749 another address", &[Set("redirect_uri", "https://tool.example/other")], 400, "invalid_grant", false),
    ("6749 another case of the address", &[Set("redirect_uri", "https://TOOL.example/callback")], 400, "invalid_grant", false),
    ("6749 a slash more", &[Set("redirect_uri", "https://tool.example/callback/")], 400, "invalid_grant", false),
    ("6749 two addresses", &[Twice("redirect_uri")], 400, "invalid_request", false),
    ("7636 no verifier", &[Drop("code_verifier")], 400, "invalid_request", false),
    ("7636 an empty verifier", &[Set("code_verifier", "")], 400, "invalid_request", false),
    ("7636 two verifiers", &[Twice("code_verifier")], 400, "invalid_request", false),
    ("7636 the challenge as verifier", &[Set("code_verifier", CHALLENGE)], 400, "invalid_grant", true),
    ("7636 another verifier", &[Set("code_verifier", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")], 400, "invalid_grant", true),
    ("7636 a verifier in another case", &[Set("code_verifier", "DBJFTJEZ4CVP-MB92K27UHBUJU1P1R_WW1GFWFOEJXK")], 400, "invalid_grant", true),
    ("7636 a verifier that is too short", &[Set("code_verifier", "dBjftJeZ4CVP")], 400, "invalid_grant", true),
    ("7636 a verifier that is too long", &[Set("code_verifier", LONG)], 400, "invalid_grant", true),
    ("7636 a verifier with a line break", &[Set("code_verifier", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk\n")], 400, "invalid_grant", true),
    ("8707 a foreign resource", &[Set("resource", "https://elsewhere.example")], 400, "invalid_target", false),
    ("8707 an unknown path", &[Set("resource", "{base}/api/v2")], 400, "invalid_target", false),
    ("8707 two resources, one foreign", &[Set("resource", "https://elsewhere.example"), Twice("resource")], 400, "invalid_target", false),
    ("6749 two unknown parameters", &[Set("x", "1"), Twice("x")], 400, "invalid_request", false),
];

#[rustfmt::skip]
pub const REFRESH: &[(&str, &[Edit], u16, &str)] = &[
    ("6749 no token", &[Drop("refresh_token")], 400, "invalid_request"),
    ("6749 an empty token", &[Set("refresh_token", "")], 400, "invalid_request"),
    ("6749 an unknown token", &[Set("refresh_token", "frt_000000000000000000000000000000000000WL")], 400, "invalid_grant"),
    ("6749 nonsense", &[Set("refresh_token", "nonsense")], 400, "invalid_grant"),
    ("6749 an access token", &[Set("refresh_token", "{access}")], 400, "invalid_grant"),
    ("6749 an API key", &[Set("refresh_token", "fan_000000000000000000000000000000000000WL")], 400, "invalid_grant"),
    ("6749 two tokens", &[Twice("refresh_token")], 400, "invalid_request"),
    ("6749 no client", &[Drop("client_id")], 400, "invalid_request"),
    ("6749 an unknown client", &[Set("client_id", "app_000000000000000000000000")], 401, "invalid_client"),
    ("6749 another client", &[Set("client_id", "app_fanfare_cli")], 400, "invalid_grant"),
    ("6749 more scope than was granted", &[Set("scope", "posts:read billing:write")], 400, "invalid_scope"),
    ("6749 an unknown scope", &[Set("scope", "everything")], 400, "invalid_scope"),
    ("6749 two scopes", &[Set("scope", "posts:read"), Twice("scope")], 400, "invalid_request"),
    ("8707 a foreign resource", &[Set("resource", "https://elsewhere.example")], 400, "invalid_target"),
    ("8707 a path below", &[Set("resource", "{base}/mcp/x")], 400, "invalid_target"),
    ("8707 two resources, one foreign", &[Set("resource", "https://elsewhere.example"), Twice("resource")], 400, "invalid_target"),
    ("6749 no grant type", &[Drop("grant_type")], 400, "invalid_request"),
];

#[rustfmt::skip]
pub const REVOKE: &[(&str, &[Edit], u16, &str)] = &[
    ("7009 no token", &[Drop("token")], 400, "invalid_request"),
    ("7009 an empty token", &[Set("token", "")], 400, "invalid_request"),
    ("7009 two tokens", &[Twice("token")], 400, "invalid_request"),
    ("7009 no client", &[Drop("client_id")], 400, "invalid_request"),
    ("7009 an unknown client", &[Set("client_id", "dyn_000000000000000000000000")], 401, "invalid_client"),
    ("7009 two clients", &[Twice("client_id")], 400, "invalid_request"),
];

#[rustfmt::skip]
pub const REGISTER: &[(&str, &str, &str)] = &[
    ("7591 no addresses", r#"{}"#, "invalid_redirect_uri"),
    ("7591 an empty list", r#"{"redirect_uris": []}"#, "invalid_redirect_uri"),
    ("7591 eleven addresses", r#"{"redirect_uris": ["https://a.b/1","https://a.b/2","https://a.b/3","https://a.b/4","https://a.b/5","https://a.b/6","https://a.b/7","https://a.b/8","https://a.b/9","https://a.b/10","https://a.b/11"]}"#, "invalid_redirect_uri"),
    ("7591 a relative address", r#"{"redirect_uris": ["/cb"]}"#, "invalid_redirect_uri"),
    ("7591 an empty address", r#"{"redirect_uris": [""]}"#, "invalid_redirect_uri"),
    ("9700 plain http", r#"{"redirect_uris": ["http://example.com/cb"]}"#, "invalid_redirect_uri"),
    ("9700 a wildcard", r#"{"redirect_uris": ["https://*.example.com/cb"]}"#, "invalid_redirect_uri"),
    ("9700 a fragment", r#"{"redirect_uris": ["https://example.com/cb#x"]}"#, "invalid_redirect_uri"),
    ("9700 a user", r#"{"redirect_uris": ["https://ada@example.com/cb"]}"#, "invalid_redirect_uri"),
    ("9700 a script", r#"{"redirect_uris": ["javascript:alert(1)"]}"#, "invalid_redirect_uri"),
    ("9700 data", r#"{"redirect_uris": ["data:text/html,x"]}"#, "invalid_redirect_uri"),
    ("9700 a file", r#"{"redirect_uris": ["file:///etc/passwd"]}"#, "invalid_redirect_uri"),
    ("8252 a scheme without a dot", r#"{"redirect_uris": ["myapp://cb"]}"#, "invalid_redirect_uri"),
    ("8252 a name like that of this computer", r#"{"redirect_uris": ["http://localhost.example.com/cb"]}"#, "invalid_redirect_uri"),
    ("8252 another address of this computer", r#"{"redirect_uris": ["http://127.0.0.2/cb"]}"#, "invalid_redirect_uri"),
    ("7591 one bad address among good ones", r#"{"redirect_uris": ["https://example.com/cb", "http://example.com/cb"]}"#, "invalid_redirect_uri"),
    ("7591 a space in an address", r#"{"redirect_uris": ["https://example.com/a b"]}"#, "invalid_redirect_uri"),
    ("7591 an address in other letters", r#"{"redirect_uris": ["https://exämple.com/cb"]}"#, "invalid_redirect_uri"),
    ("7591 addresses that are no list", r#"{"redirect_uris": "https://example.com/cb"}"#, "invalid_client_metadata"),
    ("7591 an address that is no text", r#"{"redirect_uris": [7]}"#, "invalid_client_metadata"),
    ("7591 a name that is no text", r#"{"redirect_uris": ["https://example.com/cb"], "client_name": 7}"#, "invalid_client_metadata"),
    ("7591 no grant type that there is", r#"{"redirect_uris": ["https://example.com/cb"], "grant_types": ["implicit"]}"#, "invalid_client_metadata"),
    ("7591 refresh tokens alone", r#"{"redirect_uris": ["https://example.com/cb"], "grant_types": ["refresh_token"]}"#, "invalid_client_metadata"),
    ("7591 the implicit response", r#"{"redirect_uris": ["https://example.com/cb"], "response_types": ["token"]}"#, "invalid_client_metadata"),
    ("7591 no response type", r#"{"redirect_uris": ["https://example.com/cb"], "response_types": []}"#, "invalid_client_metadata"),
    ("7591 an unknown type of application", r#"{"redirect_uris": ["https://example.com/cb"], "application_type": "toaster"}"#, "invalid_client_metadata"),
    ("7591 a list as body", r#"[]"#, "invalid_client_metadata"),
    ("7591 a text as body", r#""x""#, "invalid_client_metadata"),
    ("7591 no JSON", r#"{"redirect_uris": "#, "invalid_client_metadata"),
    ("7591 a key twice", r#"{"redirect_uris": ["https://example.com/cb"], "redirect_uris": ["https://evil.example/cb"]}"#, "invalid_client_metadata"),
];

/// Documents of clients that cannot be used; `{url}` is where each is.
#[rustfmt::skip]
pub const DOCUMENTS: &[(&str, &str)] = &[
    ("no JSON", "hello"),
    ("a list", "[]"),
    ("no id", r#"{"redirect_uris": ["https://tool.example/callback"]}"#),
    ("another id", r#"{"client_id": "https://other.example/client", "redirect_uris": ["https://tool.example/callback"]}"#),
    ("another case of the id", r#"{"client_id": "{URL}", "redirect_uris": ["https://tool.example/callback"]}"#),
    ("a slash more", r#"{"client_id": "{url}/", "redirect_uris": ["https://tool.example/callback"]}"#),
    ("a secret", r#"{"client_id": "{url}", "client_secret": "x", "redirect_uris": ["https://tool.example/callback"]}"#),
    ("the end of a secret", r#"{"client_id": "{url}", "client_secret_expires_at": 0, "redirect_uris": ["https://tool.example/callback"]}"#),
    ("a client that has a secret", r#"{"client_id": "{url}", "token_endpoint_auth_method": "client_secret_post", "redirect_uris": ["https://tool.example/callback"]}"#),
    ("a client that signs", r#"{"client_id": "{url}", "token_endpoint_auth_method": "private_key_jwt", "redirect_uris": ["https://tool.example/callback"]}"#),
    ("no addresses", r#"{"client_id": "{url}"}"#),
    ("no usable address", r#"{"client_id": "{url}", "redirect_uris": ["http://tool.example/callback", "javascript:x"]}"#),
    ("addresses that are no list", r#"{"client_id": "{url}", "redirect_uris": "https://tool.example/callback"}"#),
    ("another address", r#"{"client_id": "{url}", "redirect_uris": ["https://tool.example/other"]}"#),
];
