//! Signatures of requests, version 4, as Amazon's documentation of the S3 API describes them
//! (<https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html>).

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use super::http::Request;

pub const ACCESS: &str = "AKIA-TEST";
pub const SECRET: &str = "secret-of-the-test";
pub const REGION: &str = "nowhere-1";

/// The S3 error code for a request that is not signed with our key, or whose body is not the one that was signed.
pub fn refusal(request: &Request) -> Option<&'static str> {
    let Some((access, scope, names, signature)) = authorization(request.header("authorization"))
    else {
        return Some("AccessDenied");
    };
    let [date, REGION, "s3", "aws4_request"] = scope.split('/').collect::<Vec<_>>()[..] else {
        return Some("AuthorizationHeaderMalformed");
    };
    let names = names.split(';').collect::<Vec<_>>();
    let all_signed =
        ["host", "x-amz-content-sha256", "x-amz-date"].iter().all(|name| names.contains(name));
    if access != ACCESS {
        return Some("InvalidAccessKeyId");
    }
    if request.header("x-amz-content-sha256") != hex(&Sha256::digest(&request.body)) {
        return Some("XAmzContentSHA256Mismatch");
    }
    let digest = hex(&Sha256::digest(canonical(request, &names)));
    let text = format!("AWS4-HMAC-SHA256\n{}\n{scope}\n{digest}", request.header("x-amz-date"));
    let key = ["s3", "aws4_request"]
        .iter()
        .fold(sign(&sign(format!("AWS4{SECRET}").as_bytes(), date), REGION), |key, word| {
            sign(&key, word)
        });
    (!all_signed || hex(&sign(&key, &text)) != signature).then_some("SignatureDoesNotMatch")
}

/// Access key, scope, names of the signed headers, and signature.
fn authorization(header: &str) -> Option<(&str, &str, &str, &str)> {
    let fields = header.strip_prefix("AWS4-HMAC-SHA256 ")?;
    let field = |name: &str| fields.split(',').find_map(|field| field.trim().strip_prefix(name));
    let (access, scope) = field("Credential=")?.split_once('/')?;
    Some((access, scope, field("SignedHeaders=")?, field("Signature=")?))
}

fn canonical(request: &Request, names: &[&str]) -> String {
    let mut query = request.query.split('&').filter(|pair| !pair.is_empty()).collect::<Vec<_>>();
    query.sort_unstable();
    let headers =
        names.iter().map(|name| format!("{name}:{}\n", request.header(name))).collect::<String>();
    let digest = request.header("x-amz-content-sha256");
    let (method, path, query, names) =
        (&request.method, &request.path, query.join("&"), names.join(";"));
    format!("{method}\n{path}\n{query}\n{headers}\n{names}\n{digest}")
}

fn sign(key: &[u8], text: &str) -> Vec<u8> {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return Vec::new() };
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
