//! Creates the client of a bucket.

use std::time::Duration;

use object_store::{
    BackoffConfig, ClientOptions, RetryConfig,
    aws::{AmazonS3, AmazonS3Builder},
};
use secrecy::{ExposeSecret, SecretString};

use crate::{Error, kind, location::Bucket};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest time from the start of a request (including an upload of a 5 MiB part) to its response, and between two
/// reads.
const READ_TIMEOUT: Duration = Duration::from_secs(30);
/// The largest number of retries of a request. More would exceed the timeout of the callers.
const MAX_RETRIES: usize = 3;
const RETRY_TIMEOUT: Duration = Duration::from_secs(30);

/// The keys and the region of an S3 bucket. Without keys, those of the machine's role are used.
#[derive(Debug, Clone, Default)]
pub struct S3 {
    /// The access key id.
    pub access_key: Option<SecretString>,
    /// The secret access key.
    pub secret_key: Option<SecretString>,
    /// The region. The default is `us-east-1`, which S3-compatible servers accept.
    pub region: Option<String>,
}

/// Creates a client for `bucket`, without connecting.
pub(crate) fn open(bucket: &Bucket, keys: &S3) -> Result<AmazonS3, Error> {
    let mut builder = AmazonS3Builder::new()
        .with_bucket_name(&bucket.name)
        .with_client_options(client_options(bucket.plain))
        .with_retry(retry_config())
        // Not every server supports deleting several files in one request.
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

fn client_options(plain: bool) -> ClientOptions {
    let options = ClientOptions::new()
        .with_allow_http(plain)
        .with_connect_timeout(CONNECT_TIMEOUT)
        // The library's timeout would limit the transfer of whole files of any size. A dead server is detected by
        // silence.
        .with_timeout_disabled()
        .with_read_timeout(READ_TIMEOUT)
        .with_default_content_type("application/octet-stream");
    kind::supported_types().fold(options, |options, (mime, extension)| {
        options.with_content_type_for_suffix(extension, mime)
    })
}

fn retry_config() -> RetryConfig {
    RetryConfig {
        backoff: BackoffConfig::default(),
        max_retries: MAX_RETRIES,
        retry_timeout: RETRY_TIMEOUT,
    }
}
