//! The one way to a Redis server. The callers decide what they keep there, and over which connections.

use redis::{Client, ConnectionAddr, IntoConnectionInfo, RedisResult, io::tcp::TcpSettings};

/// Reads the URL (`redis://…` or `rediss://…`); nothing is connected yet.
///
/// # Errors
/// It is no such URL.
pub fn open(url: &str) -> RedisResult<Client> {
    let info = url.into_connection_info()?;
    // The machine decides which certificates are trusted, as for every other connection: a private CA is added to its
    // store, or named by SSL_CERT_FILE.
    if matches!(info.addr(), ConnectionAddr::TcpTls { .. }) {
        // redis-rs takes the process's default and panics without one. An `Err` means there is one already.
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
