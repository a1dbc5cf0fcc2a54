//! `fanfare health`: checks whether the process with the same variables is alive.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use anyhow::Result;

use crate::config::Config;

/// Checks the metrics address, which every kind of process has if it is configured, else the API.
///
/// # Errors
/// It is not alive.
pub async fn run(config: Config) -> Result<()> {
    fanfare_cli::health(reachable(config.metrics_listen.unwrap_or(config.listen))).await
}

/// Returns how a listening address is reached from this machine.
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
