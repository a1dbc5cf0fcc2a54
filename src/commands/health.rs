//! `fanfare health`: is the process that has the same variables alive?

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use anyhow::Result;

use crate::config::Config;

/// Asks where metrics are served, which every kind of process does if it is told to, else the API.
///
/// # Errors
/// It is not alive.
pub async fn run(config: Config) -> Result<()> {
    fanfare_cli::health(reachable(config.metrics_listen.unwrap_or(config.listen))).await
}

/// An address that is listened on, as it is reached from this machine.
fn reachable(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}

#[cfg(test)]
mod tests {
    use super::reachable;

    #[test]
    fn all_addresses_are_reached_through_this_machines_own() {
        for (listen, asked) in [
            ("0.0.0.0:9100", "127.0.0.1:9100"),
            ("[::]:9100", "[::1]:9100"),
            ("10.0.0.7:80", "10.0.0.7:80"),
        ] {
            assert_eq!(reachable(listen.parse().unwrap()), asked.parse().unwrap());
        }
    }
}
