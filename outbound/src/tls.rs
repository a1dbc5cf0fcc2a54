//! TLS for every connection: the certificate authorities of this machine, read once for all clients.

use std::sync::{Arc, LazyLock};

use rustls::{
    ClientConfig, Error,
    crypto::{CryptoProvider, aws_lc_rs},
};
use rustls_platform_verifier::BuilderVerifierExt as _;

/// Returns the settings of a connection: those that reqwest makes for each client, whose hundred and more certificates take
/// longer to read than all the rest of a start.
///
/// # Errors
/// The machine has no certificate authorities.
pub fn config() -> Result<ClientConfig, Error> {
    static MADE: LazyLock<Result<ClientConfig, Error>> = LazyLock::new(make);
    MADE.clone()
}

fn make() -> Result<ClientConfig, Error> {
    let provider = CryptoProvider::get_default().cloned();
    let provider = provider.unwrap_or_else(|| Arc::new(aws_lc_rs::default_provider()));
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_platform_verifier()?;
    let mut config = builder.with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}
