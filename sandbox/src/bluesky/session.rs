//! Log-in, refresh, and the caller of a request.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::blobs::BLOB_MAX;
use super::state::Change;
use super::token::{self, Claims};
use super::{Bluesky, Cx, failure, input, invalid, param, text, too_many};
use crate::call::Call;
use crate::network::Identity;
use crate::random::{self, BASE62};
use crate::rate_limit::Limit;
use crate::reply::{HandlerResult, Reply};
use crate::sim::Account;

/// The time for which an exchanged refresh token still works, in milliseconds.
const GRACE_MS: i64 = 2 * 3_600_000;
/// <https://docs.bsky.app/docs/advanced-guides/rate-limits>
const LOGINS: [Limit; 2] = [
    Limit { name: "logins-5m", units: 30, span_ms: 300_000 },
    Limit { name: "logins-day", units: 300, span_ms: 86_400_000 },
];
const ACCESS: &str = "com.atproto.appPass";

/// Returns the identifier of a log-in.
pub(super) fn identifier(call: &Call) -> Option<String> {
    let body = call.json().ok()?;
    Some(body.get("identifier")?.as_str()?.trim_start_matches('@').to_ascii_lowercase())
}

/// `com.atproto.server.createSession`
pub(super) fn create(cx: &Cx) -> HandlerResult {
    let input = input(&cx.call)?;
    text(&input, "identifier")?;
    let password = text(&input, "password")?;
    let wrong = || failure(401, "AuthenticationRequired", "Invalid identifier or password");
    let account = cx.account.as_ref().ok_or_else(wrong)?;
    let now_ms = cx.now_ms();
    for limit in LOGINS {
        let paced = account.take_units(limit, 1, now_ms);
        if !paced.allowed {
            return Err(too_many(now_ms, paced.reset_ms).with("ratelimit-limit", limit.units));
        }
    }
    if password != account.identity.private("app_password") {
        return Err(wrong());
    }
    let id = random::text(BASE62, 43);
    let expires_ms = now_ms + token::REFRESH * 1_000;
    let pair = cx.sim.change(account, |state| {
        Ok((Change::Session { id: id.clone(), expires_ms }, state.pairs + 1))
    })?;
    Ok(Reply::ok(&session(cx, &account.identity, Some((pair, &id)))))
}

/// `com.atproto.server.refreshSession`
pub(super) fn refresh(cx: &Cx) -> HandlerResult {
    let (account, claims) = bearer(cx, "com.atproto.refresh")?;
    let now_ms = cx.now_ms();
    let (pair, id) = cx.sim.change(&account, |state| {
        let revoked = || failure(400, "ExpiredToken", "Token has been revoked");
        let old = state
            .refresh
            .get(&claims.jti)
            .filter(|old| old.expires_ms > now_ms)
            .ok_or_else(revoked)?;
        // Within the grace period, the same exchange returns the same successor.
        let id = old.next.clone().unwrap_or_else(|| random::text(BASE62, 43));
        let change = Change::Rotated {
            old: claims.jti.clone(),
            old_expires_ms: old.expires_ms.min(now_ms + GRACE_MS),
            id: id.clone(),
            expires_ms: now_ms + token::REFRESH * 1_000,
        };
        Ok((change, (state.pairs + 1, id)))
    })?;
    Ok(Reply::ok(&session(cx, &account.identity, Some((pair, &id)))))
}

/// `com.atproto.server.deleteSession`
pub(super) fn delete(cx: &Cx) -> HandlerResult {
    let (account, claims) = bearer(cx, "com.atproto.refresh")?;
    cx.sim.apply(&account, Change::Ended { id: claims.jti });
    Ok(Reply::empty(200))
}

/// `com.atproto.server.getSession`
pub(super) fn get(cx: &Cx) -> HandlerResult {
    let account = access(cx)?;
    let mut shown = session(cx, &account.identity, None);
    shown["emailConfirmed"] = json!(account.read(|state| state.video.email_confirmed));
    Ok(Reply::ok(&shown))
}

/// `com.atproto.server.describeServer`
pub(super) fn describe_server(cx: &Cx) -> HandlerResult {
    Ok(Reply::ok(&json!({
        "did": server_did(cx),
        "availableUserDomains": [".test"],
        "inviteCodeRequired": true,
        "phoneVerificationRequired": false,
        "blobUploadLimit": BLOB_MAX,
        "links": {},
        "contact": {},
    })))
}

/// `com.atproto.server.getServiceAuth`
pub(super) fn service_auth(cx: &Cx) -> HandlerResult {
    let account = access(cx)?;
    let aud = param(&cx.call, "aud")?;
    if !aud.starts_with("did:") {
        return Err(invalid("Error: aud must be a valid did"));
    }
    let lxm = cx.call.query_value("lxm").unwrap_or_default();
    let now = cx.now_ms() / 1_000;
    let exp = cx.call.query_value("exp").and_then(|exp| exp.parse().ok()).unwrap_or(now + 60);
    let bad = |message| Err(failure(400, "BadExpiration", message));
    if exp < now {
        return bad("expiration is in past");
    }
    if exp > now + 3_600 {
        return bad("cannot request a token with an expiration more than an hour in the future");
    }
    if lxm.is_empty() && exp > now + 60 {
        return bad(
            "cannot request a method-less token with an expiration more than a minute in the future",
        );
    }
    let iss = account.identity.remote_id.clone();
    let claims =
        Claims { iss, lxm, aud, iat: now, exp, jti: random::text(BASE62, 16), ..Claims::default() };
    let token = claims.sign("JWT", account.identity.private("signing_key"));
    Ok(Reply::ok(&json!({"token": token})))
}

/// Returns the account of the request's access token.
pub(super) fn access(cx: &Cx) -> Result<Arc<Account<Bluesky>>, Reply> {
    let (account, claims) = bearer(cx, ACCESS)?;
    if account.read(|state| claims.pair <= state.expired_pairs) {
        return Err(failure(400, "ExpiredToken", "Token has expired"));
    }
    Ok(account)
}

/// Returns the account of the request's service token, which is for one of these audiences and methods. An access token
/// is none: it is the PDS's own, and another service cannot verify it.
pub(super) fn service(cx: &Cx, wanted: &[(&str, &str)]) -> Result<Arc<Account<Bluesky>>, Reply> {
    let refused = |error, message| failure(401, error, message);
    let claims = cx.call.bearer().and_then(token::read);
    let Some(claims) = claims else {
        return Err(refused("AuthenticationRequired", "a service token is required"));
    };
    let account = cx.account.clone().filter(|account| account.identity.remote_id == claims.iss);
    let is_signed = |account: &Arc<Account<Bluesky>>| {
        let token = cx.call.bearer().unwrap_or_default();
        token::is_signed(token, account.identity.private("signing_key"))
    };
    let Some(account) = account.filter(is_signed) else {
        return Err(refused("BadJwtSignature", "jwt signature does not match jwt issuer"));
    };
    if claims.exp * 1_000 <= cx.now_ms() {
        return Err(refused("JwtExpired", "jwt expired"));
    }
    if !wanted.iter().any(|(aud, _)| claims.aud == *aud) {
        return Err(refused("BadJwtAudience", "jwt audience does not match service did"));
    }
    if !wanted.iter().any(|(aud, lxm)| claims.aud == *aud && claims.lxm == *lxm) {
        let message = "bad jwt lexicon method";
        return Err(refused("BadJwtLexiconMethod", message));
    }
    Ok(account)
}

fn bearer(cx: &Cx, scope: &str) -> Result<(Arc<Account<Bluesky>>, Claims), Reply> {
    let unknown = || failure(400, "InvalidToken", "Token could not be verified");
    if cx.call.header("authorization").is_none() {
        return Err(failure(401, "AuthMissing", "Authentication Required"));
    }
    let token = cx
        .call
        .bearer()
        .ok_or_else(|| failure(401, "AuthenticationRequired", "Unexpected authorization type"))?;
    let claims = token::read(token).ok_or_else(unknown)?;
    let account = cx
        .account
        .clone()
        .filter(|account| account.identity.remote_id == claims.did())
        .ok_or_else(unknown)?;
    if !token::is_signed(token, account.identity.private("signing_key")) {
        return Err(unknown());
    }
    if claims.exp * 1_000 <= cx.now_ms() {
        return Err(failure(400, "ExpiredToken", "Token has expired"));
    }
    if claims.scope != scope {
        return Err(failure(400, "InvalidToken", "Bad token scope"));
    }
    Ok((account, claims))
}

/// Returns a session as the PDS shows it; with tokens if the number of a pair and its refresh token's id are given.
fn session(cx: &Cx, identity: &Identity, pair: Option<(u64, &str)>) -> Value {
    let did = &identity.remote_id;
    let mut session = Map::from_iter([
        ("did".to_owned(), json!(did)),
        ("didDoc".to_owned(), did_document(cx, identity)),
        ("handle".to_owned(), json!(identity.username)),
        ("email".to_owned(), json!(identity.private("email"))),
        ("emailConfirmed".to_owned(), json!(true)),
        ("emailAuthFactor".to_owned(), json!(false)),
        ("active".to_owned(), json!(true)),
    ]);
    if let Some((pair, id)) = pair {
        let (aud, now, key) =
            (server_did(cx), cx.now_ms() / 1_000, identity.private("signing_key"));
        let access = Claims::access(did, &aud, pair, now).sign("at+jwt", key);
        let refresh = Claims::refresh(did, &aud, pair, now, id).sign("refresh+jwt", key);
        session.insert("accessJwt".to_owned(), json!(access));
        session.insert("refreshJwt".to_owned(), json!(refresh));
    }
    Value::Object(session)
}

/// Returns the account's DID document, with this sandbox as service.
pub(super) fn did_document(cx: &Cx, identity: &Identity) -> Value {
    json!({
        "@context": ["https://www.w3.org/ns/did/v1"],
        "id": identity.remote_id,
        "alsoKnownAs": [format!("at://{}", identity.username)],
        "verificationMethod": [],
        "service": [{"id": "#atproto_pds", "type": "AtprotoPersonalDataServer", "serviceEndpoint": cx.sim.base()}],
    })
}

/// Returns the DID of the PDS: `did:web:` and its host, a port's colon encoded.
pub(super) fn server_did(cx: &Cx) -> String {
    let base = cx.sim.base();
    let host = base.split_once("://").map_or(base.as_str(), |(_, rest)| rest);
    let host = host.split('/').next().unwrap_or_default();
    format!("did:web:{}", host.replace(':', "%3A"))
}
