//! Google's Vertex AI: tokens of service accounts, and videos in long-running operations whose last response contains
//! them.

use std::{
    collections::BTreeMap,
    sync::Mutex,
    time::{SystemTime, UNIX_EPOCH},
};

use aws_lc_rs::{
    encoding::{AsDer, Pkcs8V1Der},
    rsa::KeySize,
    signature::{KeyPair, RSA_PKCS1_2048_8192_SHA256, RsaKeyPair, UnparsedPublicKey},
};
use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use serde_json::{Value, json};
use url::form_urlencoded;

use super::{error, videos::VideoJob};
use crate::{
    call::Call,
    env::lock,
    random,
    reply::{HandlerResult, Reply},
};

/// The lifetime of a token, in seconds.
const LIFE: i64 = 3_600;

/// The largest clock skew, in seconds.
const SKEW: i64 = 600;

/// The models that generate videos; earlier ones are retired.
const MODELS: [&str; 3] =
    ["veo-3.1-generate-001", "veo-3.1-fast-generate-001", "veo-3.1-lite-generate-001"];

/// The fields of a request for a video.
const FIELDS: [&str; 2] = ["instances", "parameters"];

/// Service accounts and their tokens.
#[derive(Default)]
pub(super) struct Accounts {
    /// Public keys, by the account's address.
    keys: Mutex<BTreeMap<String, Vec<u8>>>,
    /// When each token expires, in seconds.
    tokens: Mutex<BTreeMap<String, i64>>,
}

impl Accounts {
    /// Creates an account, as the console does; returns its key file.
    pub fn create(&self, base: &str) -> HandlerResult {
        let failed = || error(500, "No key was made.");
        let key = RsaKeyPair::generate(KeySize::Rsa2048).map_err(|_| failed())?;
        let private: Pkcs8V1Der<'_> = key.as_der().map_err(|_| failed())?;
        let name = random::text(random::BASE62, 12).to_lowercase();
        let email = format!("films-{name}@simulated.iam.gserviceaccount.example");
        let lines = STANDARD.encode(private.as_ref());
        let lines: Vec<&str> =
            lines.as_bytes().chunks(64).filter_map(|it| std::str::from_utf8(it).ok()).collect();
        lock(&self.keys).insert(email.clone(), key.public_key().as_ref().to_vec());
        Ok(Reply::ok(&json!({
            "type": "service_account", "project_id": "simulated", "private_key_id": name,
            "private_key": format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", lines.join("\n")),
            "client_email": email, "token_uri": format!("{base}/token"),
        })))
    }

    /// `POST /token`: exchanges a signed claim for a token.
    pub fn token(&self, call: &Call) -> HandlerResult {
        let refused = |why: &str| {
            Reply::json(400, &json!({"error": "invalid_grant", "error_description": why}))
        };
        let form: BTreeMap<String, String> =
            form_urlencoded::parse(&call.body).into_owned().collect();
        let grant = form.get("grant_type").map(String::as_str);
        if grant != Some("urn:ietf:params:oauth:grant-type:jwt-bearer") {
            return Err(Reply::json(400, &json!({"error": "unsupported_grant_type"})));
        }
        let claim = form.get("assertion").map(String::as_str).unwrap_or_default();
        let body = self.verified(claim).ok_or_else(|| refused("Invalid JWT Signature."))?;
        let time = |name: &str| body[name].as_i64().unwrap_or_default();
        let (issued, ends, now) = (time("iat"), time("exp"), now());
        if (now - issued).abs() > SKEW || !(1..=LIFE).contains(&(ends - issued)) {
            return Err(refused("Invalid JWT: iat and exp must be of now and an hour at most."));
        }
        let token = format!("ya29.{}", random::text(random::BASE62, 60));
        lock(&self.tokens).insert(token.clone(), now + LIFE);
        Ok(Reply::ok(&json!({"access_token": token, "expires_in": LIFE, "token_type": "Bearer"})))
    }

    /// Verifies a token that one of the accounts signed, and returns its claims.
    fn verified(&self, claim: &str) -> Option<Value> {
        let (signed, signature) = claim.rsplit_once('.')?;
        let (head, body) = signed.split_once('.')?;
        let read = |part: &str| -> Option<Value> {
            serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).ok()?).ok()
        };
        let (head, body) = (read(head)?, read(body)?);
        let key = lock(&self.keys).get(body["iss"].as_str()?).cloned()?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        let key = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, key);
        key.verify(signed.as_bytes(), &signature).ok()?;
        let is_whole = head["alg"] == "RS256"
            && body["scope"] == "https://www.googleapis.com/auth/cloud-platform"
            && body["aud"].as_str().is_some_and(|aud| aud.ends_with("/token"));
        is_whole.then_some(body)
    }

    /// Revokes all tokens, as an administrator can; the accounts can get new ones.
    pub fn end_tokens(&self) -> HandlerResult {
        lock(&self.tokens).clear();
        Ok(Reply::ok(&json!({})))
    }

    /// Returns true for a token that has not expired.
    pub fn knows(&self, token: &str) -> bool {
        lock(&self.tokens).get(token).is_some_and(|end| now() < *end)
    }
}

/// Returns the real time, by which claims are signed: the simulator's clock does not change it.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or_default()
}

/// Parses the address of a method; returns the model and the method.
pub(super) fn method<'a>(path: &[&'a str]) -> Result<(&'a str, &'a str), Reply> {
    let nothing = || error(404, "There is nothing at this address.");
    let ["vertex", "v1", "projects", _, "locations", _, "publishers", "google", "models", called] =
        path
    else {
        return Err(nothing());
    };
    let (model, method) = called.split_once(':').ok_or_else(nothing)?;
    if MODELS.contains(&model) {
        return Ok((model, method));
    }
    let message = format!(
        "Publisher Model `publishers/google/models/{model}` was not found or your project does not have access to it."
    );
    Err(error(404, &message))
}

/// Parses a request for a video.
pub(super) fn read(body: &Value) -> Result<VideoJob, Reply> {
    let invalid =
        |what: &str| error(400, &format!("Request contains an invalid argument: {what}."));
    let unknown = body.as_object().into_iter().flatten();
    if let Some((name, _)) = unknown.into_iter().find(|(name, _)| !FIELDS.contains(&name.as_str()))
    {
        let message =
            format!("Invalid JSON payload received. Unknown name \"{name}\": Cannot find field.");
        return Err(error(400, &message));
    }
    let (instances, parameters) = (&body["instances"], &body["parameters"]);
    let [instance] = instances.as_array().map_or(&[][..], Vec::as_slice) else {
        return Err(invalid("instances must hold one"));
    };
    if instance["prompt"].as_str().is_none_or(str::is_empty) {
        return Err(invalid("prompt"));
    }
    if !instance["image"].is_null() && !is_image(&instance["image"]) {
        return Err(invalid("image needs bytesBase64Encoded and mimeType"));
    }
    // Eight seconds, if left out.
    let length = &parameters["durationSeconds"];
    let seconds = if length.is_null() { Some(8) } else { length.as_i64() };
    let resolution = parameters["resolution"].as_str().unwrap_or("720p");
    let seconds = seconds.filter(|it| [4, 6, 8].contains(it) && (resolution == "720p" || *it == 8));
    let seconds = seconds.ok_or_else(|| invalid("durationSeconds"))?;
    if !matches!(resolution, "720p" | "1080p" | "4k") {
        return Err(invalid("resolution"));
    }
    if !matches!(parameters["aspectRatio"].as_str(), None | Some("16:9" | "9:16")) {
        return Err(invalid("aspectRatio"));
    }
    if !parameters["generateAudio"].is_boolean() {
        return Err(invalid("generateAudio is required"));
    }
    if !(1..=4).contains(&parameters["sampleCount"].as_i64().unwrap_or(1)) {
        return Err(invalid("sampleCount"));
    }
    Ok(VideoJob::of_seconds(seconds))
}

fn is_image(image: &Value) -> bool {
    let bytes = image["bytesBase64Encoded"].as_str().map(|text| STANDARD.decode(text));
    bytes.is_some_and(|bytes| bytes.is_ok_and(|bytes| !bytes.is_empty()))
        && matches!(image["mimeType"].as_str(), Some("image/jpeg" | "image/png" | "image/webp"))
}

/// Returns the id of the video in the name of a model's operation.
pub(super) fn id<'a>(operation: &'a Value, model: &str) -> Result<&'a str, Reply> {
    let named = operation.as_str().and_then(|name| name.rsplit_once("/operations/"));
    match named {
        Some((place, id)) if place.ends_with(&format!("/publishers/google/models/{model}")) => {
            Ok(id)
        }
        _ => Err(error(400, "The operation name is not one of this model.")),
    }
}
