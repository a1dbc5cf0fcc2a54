//! Opens clients of a Redis server. The callers decide what they store there and which connections they use.

use redis::{Client, ConnectionAddr, IntoConnectionInfo, RedisResult, io::tcp::TcpSettings};

/// Parses the URL (`redis://…` or `rediss://…`) and returns a client that is not connected yet.
///
/// # Errors
/// Returns an error if the URL is not valid.
pub fn open(url: &str) -> RedisResult<Client> {
    let info = url.into_connection_info()?;
    // The system's certificate store decides which certificates are trusted, as for every other connection. To trust a
    // private CA, add it to that store or set SSL_CERT_FILE.
    if matches!(info.addr(), ConnectionAddr::TcpTls { .. }) {
        // redis-rs uses the default provider of the process and panics without one. An `Err` means that one is already
        // set.
        _ = rustls::crypto::ring::default_provider().install_default();
    }
    Client::open(info.set_tcp_settings(TcpSettings::default().set_nodelay(true)))
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_addresses_of_redis_are_taken() {
        for good in ["redis://127.0.0.1:6379/", "rediss://:secret@redis.example/3"] {
            assert!(super::open(good).is_ok(), "{good}");
        }
        for bad in ["", "http://redis.example", "redis"] {
            assert!(super::open(bad).is_err(), "{bad}");
        }
    }
}
