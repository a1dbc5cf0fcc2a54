//! The bucket's client.

use std::time::Duration;

use object_store::{
    BackoffConfig, ClientOptions, RetryConfig,
    aws::{AmazonS3, AmazonS3Builder},
};
use secrecy::{ExposeSecret, SecretString};

use crate::{Error, kind, location::Bucket};

const CONNECT: Duration = Duration::from_secs(5);
/// Longest silence: from the start of a request (a part of 5 MiB included) to its answer, and between two reads.
const SILENCE: Duration = Duration::from_secs(30);
/// A request is tried this often again. More would outlast what waits for it.
const RETRIES: usize = 3;
const RETRY_FOR: Duration = Duration::from_secs(30);

/// Keys and region of an S3 bucket. Without keys, those of the machine's role are asked for.
#[derive(Debug, Clone, Default)]
pub struct S3 {
    /// Name of the key.
    pub access_key: Option<SecretString>,
    /// The key.
    pub secret_key: Option<SecretString>,
    /// Region; `us-east-1` unless given, which servers other than Amazon's take for their own.
    pub region: Option<String>,
}

/// A client for `bucket`. Connects to nothing yet.
pub(crate) fn open(bucket: &Bucket, keys: &S3) -> Result<AmazonS3, Error> {
    let mut builder = AmazonS3Builder::new()
        .with_bucket_name(&bucket.name)
        .with_client_options(options(bucket.plain))
        .with_retry(retry())
        // Not every server has the call that deletes many at once.
        .with_disable_bulk_delete(true)
        .with_virtual_hosted_style_request(bucket.in_host);
    if let Some(address) = bucket.address() {
        builder = builder.with_endpoint(address);
    }
    if let Some(region) = &keys.region {
        builder = builder.with_region(region);
    }
    match (&keys.access_key, &keys.secret_key) {
        (Some(access), Some(secret)) => {
            let (access, secret) = (access.expose_secret(), secret.expose_secret());
            builder = builder.with_access_key_id(access).with_secret_access_key(secret);
        }
        (None, None) => {}
        _ => {
            let text = "The media store takes an access key and a secret key, both or none.";
            return Err(Error::Config(text.to_owned()));
        }
    }
    builder.build().map_err(|_| {
        Error::Config("The media store's bucket, endpoint or region is not usable.".to_owned())
    })
}

fn options(plain: bool) -> ClientOptions {
    let options = ClientOptions::new()
        .with_allow_http(plain)
        .with_connect_timeout(CONNECT)
        // The library's own limit is for whole files, however large; silence is what tells a dead server.
        .with_timeout_disabled()
        .with_read_timeout(SILENCE)
        .with_default_content_type("application/octet-stream");
    kind::all().fold(options, |options, (mime, extension)| {
        options.with_content_type_for_suffix(extension, mime)
    })
}

fn retry() -> RetryConfig {
    RetryConfig {
        backoff: BackoffConfig::default(),
        max_retries: RETRIES,
        retry_timeout: RETRY_FOR,
    }
}
