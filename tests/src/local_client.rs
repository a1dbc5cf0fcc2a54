//! The HTTP client of the tests, which talk to servers on this machine alone.

use reqwest::{Client, ClientBuilder};

/// Returns a client.
///
/// # Panics
/// It cannot be built.
#[must_use]
pub fn local_client() -> Client {
    local_client_builder().build().expect("a client")
}

/// Returns the builder of a client that trusts no certificate authority: reading those of the machine takes longer than
/// most requests of a test.
pub fn local_client_builder() -> ClientBuilder {
    Client::builder().tls_certs_only([])
}
